"""A turn while it is made, and what the newest one was."""

from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Self

from memchat.chat.events import TurnResult
from memchat.chat.private import Typed
from memchat.chat.window import Exchange
from memchat.records import Change, Done, Memory, Recall, Session, Turn
from memchat.store import Store
from memchat.text import estimate_tokens


@dataclass(slots=True)
class Draft:
    """A turn while it is made."""

    typed: Typed
    started: float
    now: datetime
    kept: bool = False  # whether this turn is to be stored at all
    instead: int | None = None  # the stored turn whose place it takes
    again: bool = False  # it is the same message as the one whose place it takes
    replaced: Exchange | None = None  # what left the live context for it
    taken_back: tuple[Change, ...] = ()  # what had been learnt from the message whose place it takes
    turn: Turn | None = None
    recall: Recall | None = None
    saved: tuple[Memory, ...] = ()
    reply: str = ""
    done: Done | None = None
    queued: bool = False
    first_token: float = 0.0
    used: int = 0  # tokens of the prompt
    size: int = 0  # tokens of the context window
    model: str = ""
    images: tuple[str, ...] = ()  # of the attached pictures
    shown_later: str = ""  # the message as the following turns see it: without what was recalled for it

    def result(self, session: Session | None) -> TurnResult:
        """Return the turn as it ended, now."""
        assert self.recall is not None
        ended = perf_counter()
        timings = {
            "embed": self.recall.timings_ms.get("embed", 0.0),
            "search": self.recall.timings_ms.get("search", 0.0),
            "first_token": ((self.first_token or ended) - self.started) * 1000,
            "total": (ended - self.started) * 1000,
        }
        return TurnResult(
            turn=self.turn.id if self.turn else None,
            session=session.id if session and self.turn else None,
            reply=self.reply,
            interrupted=self.done is None,
            recall=self.recall,
            model=self.model,
            saved=self.saved,
            queued=self.queued,
            done=self.done,
            timings_ms=timings,
            context_used=self.used + estimate_tokens(self.reply),
            context_size=self.size,
        )


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest message of a conversation: its turn where stored, what was kept of it, whether a reply came."""

    turn: int | None = None
    said: str = ""
    answered: bool = True

    @classmethod
    def stored(cls, store: Store | None, session: Session | None) -> Self:
        """Return that of a conversation which goes on; nothing when its newest turn was erased."""
        turns = store.list_turns(session.id) if store is not None and session is not None else []
        if not turns or turns[-1].forgotten:
            return cls()
        return cls(turns[-1].id, turns[-1].user_text, bool(turns[-1].reply))
