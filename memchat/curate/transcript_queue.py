"""Foreign conversations put into the memory file as conversations of its own, queued to be learnt from.

The queue makes it resumable: what is stored is not stored again, what is queued is learnt by the next `learn`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from memchat.curate.transcripts import Form, Transcript, TranscriptTurn
from memchat.learn.secrets import redact_secrets
from memchat.records import Turn
from memchat.store import Store

_SPEAKERS: Final[dict[Form, str]] = {
    "lines": "transcript",
    "text": "transcript",
    "chatgpt": "ChatGPT",
    "claude": "Claude",
}
_Mark = tuple[str, str, datetime | None]
_CLAUSE_END: Final = re.compile(r"[.!?;…。！？]+\s+|\n+|, (?:and|but) ")


@dataclass(frozen=True, slots=True)
class TranscriptQueued:
    """What became of a transcript's exchanges; `ids` are the new turns."""

    queued: int
    known: int  # stored already, by an earlier run
    forgotten: int  # held back: the user had forgotten what they say
    secrets: int  # exchanges in which a secret was replaced
    sessions: int  # new conversations
    ids: tuple[int, ...]


def queue_transcript(
    store: Store, transcript: Transcript, *, now: datetime, zone: str = "UTC", undated: datetime | None = None
) -> TranscriptQueued:
    """Store the new exchanges with their times and queue them, in one transaction; secrets are replaced first.

    `zone` is the user's, for exchanges whose own zone is unknown; `undated` stands in for a missing time, else `now`.
    """
    with store.transaction():
        intake = _Intake(store, _SPEAKERS[transcript.form], zone, undated or now)
        for turn in transcript.turns:
            intake.take(turn)
    return TranscriptQueued(
        queued=len(intake.ids),
        known=intake.known,
        forgotten=intake.forgotten,
        secrets=intake.secrets,
        sessions=intake.sessions,
        ids=tuple(intake.ids),
    )


@dataclass(slots=True)
class _Intake:
    """Takes one exchange after the other, against what is stored."""

    store: Store
    speaker: str
    zone: str
    undated: datetime
    ids: list[int] = field(default_factory=list)
    known: int = 0
    forgotten: int = 0
    secrets: int = 0
    sessions: int = 0
    _session_of: dict[str, int] = field(default_factory=dict)  # conversation → session
    _stored: dict[_Mark, int] = field(default_factory=dict)  # exchange → session
    _erased: set[datetime] = field(default_factory=set)  # when forgotten exchanges of this program were said

    def __post_init__(self) -> None:
        for session in self.store.list_sessions():
            for turn in self.store.list_turns(session.id):
                self._note(turn)

    def _note(self, turn: Turn) -> None:
        if not turn.forgotten:
            for at in (turn.at, None):
                self._stored.setdefault(_mark(turn.user_text, turn.reply, at), turn.session)
        elif turn.model == self.speaker:
            self._erased.add(turn.at)

    def take(self, turn: TranscriptTurn) -> None:
        """Store one exchange unless it is there, or says what was forgotten."""
        user_text, found = redact_secrets(turn.user_text)
        reply, found_too = redact_secrets(turn.reply)
        mark = _mark(user_text, reply, turn.at)
        if mark in self._stored:
            self.known += 1
            self._session_of.setdefault(turn.conversation, self._stored[mark])
        elif self._is_forgotten(turn):
            self.forgotten += 1
        else:
            self.secrets += bool(found or found_too)
            self._store(turn, user_text, reply)
            self._stored[mark] = self._session_of[turn.conversation]

    def _is_forgotten(self, turn: TranscriptTurn) -> bool:
        """Tell whether this very exchange was erased, or it says in so many words what was forgotten."""
        if turn.at is not None and _moment(turn.at) in self._erased:
            return True
        return any(self.store.is_forgotten(clause, evidence=clause) for clause in clauses(turn.user_text))

    def _store(self, turn: TranscriptTurn, user_text: str, reply: str) -> None:
        at = turn.at or self.undated
        if turn.conversation not in self._session_of:
            self._session_of[turn.conversation] = self._open(turn.title, at)
        stored = self.store.add_turn(
            self._session_of[turn.conversation],
            user_text=user_text,
            reply=reply,
            at=at.astimezone(UTC),
            zone=_zone(turn.at) or self.zone,
            model=self.speaker,
            learn=True,
            recall=None,
        )
        self.ids.append(stored.id)

    def _open(self, title: str | None, at: datetime) -> int:
        session = self.store.add_session(at.astimezone(UTC))
        if title:
            self.store.update_session(session.id, title=redact_secrets(title)[0])
        self.sessions += 1
        return session.id


def _mark(user_text: str, reply: str, at: datetime | None) -> _Mark:
    """Return what an exchange is known by: its words, with its moment where it has one."""
    return user_text, reply, None if at is None else _moment(at)


def _moment(at: datetime) -> datetime:
    """Return a time as the store keeps it, to the millisecond."""
    return at.replace(microsecond=at.microsecond // 1000 * 1000).astimezone(UTC)


def clauses(text: str) -> Iterable[str]:
    """Return the sentences and clauses of a message, and the message whole, as a forgotten evidence may stand."""
    parts = (part.strip(" .!?;…。！？") for part in _CLAUSE_END.split(text))
    return dict.fromkeys(clause for part in (text.strip(), *parts) for clause in (part, f"{part}.") if part)


def _zone(at: datetime | None) -> str | None:
    """Return the offset of a time that carries one other than UTC, as "+0200"."""
    return at.strftime("%z") if at is not None and at.utcoffset() else None
