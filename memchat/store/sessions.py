"""Conversations and their turns."""

from datetime import datetime
from typing import Final, TypedDict, Unpack

from memchat.records import Session
from memchat.store.connection import Row
from memchat.store.part import Part, assignments, found, reads, storable, to_ms, to_time, to_time_or_none
from memchat.store.recalls import Recalls
from memchat.text import fold

_SESSION: Final = """SELECT id, title, created_at, last_turn_at,
    (SELECT count(*) FROM turns WHERE session = sessions.id), summary, summarised_to, profile FROM sessions"""
_HAS_WORDS: Final = """AND (instr(folded(title), ?2) OR instr(folded(summary), ?2) OR EXISTS (SELECT 1 FROM turns
    WHERE session = sessions.id AND (instr(folded(user_text), ?2) OR instr(folded(reply), ?2))))"""


class SessionFields(TypedDict, total=False):
    """What may change of a session; a field that is not given stays as it is."""

    title: str | None
    summary: str | None
    summarised_to: int
    profile: str | None


class Sessions(Recalls, Part):
    """Keeps the user's conversations."""

    def add_session(self, now: datetime) -> Session:
        """Begin a conversation."""
        with self._db.transaction():
            id = self._db.insert("INSERT INTO sessions (user, created_at) VALUES (?, ?)", (self._owner(), to_ms(now)))
            return self.get_session(id)

    def get_session(self, id: int) -> Session:
        """Return one conversation, or raise NotFound."""
        row = self._db.row(f"{_SESSION} WHERE id = ? AND user = ?", (id, self._user_id))
        return self._to_session(found(row, f"There is no session {id}; `memchat sessions` shows those there are."))

    def find_latest_session(self) -> Session | None:
        """Return the conversation that was last spoken in."""
        row = self._db.row(
            f"{_SESSION} WHERE user = ? ORDER BY coalesce(last_turn_at, created_at) DESC, id DESC LIMIT 1",
            (self._user_id,),
        )
        return self._to_session(row) if row else None

    def list_sessions(self, *, search: str | None = None, limit: int | None = None) -> list[Session]:
        """Return conversations, newest first; `search` keeps those that hold its words in this order."""
        words = fold(search or "")
        rows = self._db.rows(
            f"{_SESSION} WHERE user = ?1 {_HAS_WORDS if words else ''} ORDER BY id DESC LIMIT ?3",
            (self._user_id, words, -1 if limit is None else limit),
        )
        return [self._to_session(row) for row in rows]

    def update_session(self, id: int, **fields: Unpack[SessionFields]) -> Session:
        """Change the fields given."""
        with self._db.transaction():
            self.get_session(id)
            if fields:
                values = [storable(value) if isinstance(value, str) else value for value in _values(fields)]
                self._db.write(f"UPDATE sessions SET {assignments(fields)} WHERE id = ?", (*values, id))
            return self.get_session(id)

    def drop_empty_session(self, id: int) -> None:
        """Take a conversation out of the list if nothing was said in it."""
        self._db.write(
            "DELETE FROM sessions WHERE id = ? AND user = ? AND NOT EXISTS (SELECT 1 FROM turns WHERE session = ?)",
            (id, self._user_id, id),
        )

    def fork_session(self, id: int, now: datetime) -> Session:
        """Begin a conversation with a copy of another one's turns; a forget reaches the copies too."""
        with self._db.transaction():
            old = self.get_session(id)
            new = self._db.insert(
                """INSERT INTO sessions (user, title, created_at, last_turn_at)
                SELECT user, title, ?, last_turn_at FROM sessions WHERE id = ?""",
                (to_ms(now), old.id),
            )
            self._db.write(
                """INSERT INTO turns (session, user_text, reply, at, zone, model, interrupted, forgotten, origin)
                SELECT ?, user_text, reply, at, zone, model, interrupted, forgotten, coalesce(origin, id)
                FROM turns WHERE session = ? ORDER BY id""",
                (new, old.id),
            )
            return self.get_session(new)

    @reads
    def _to_session(self, row: Row) -> Session:
        id, title, created, last, turns, summary, summarised_to, profile = row
        return Session(
            id, self.user, title, to_time(created), to_time_or_none(last), turns, summary, summarised_to, profile
        )


def _values(fields: SessionFields) -> list[str | int | None]:
    return [value for value in fields.values() if value is None or isinstance(value, str | int)]
