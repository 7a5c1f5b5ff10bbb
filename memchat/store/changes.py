"""The history: one row for every change to a memory, with its cause and what the fields were."""

from datetime import datetime

from memchat.records import Cause, Change
from memchat.store.part import Fields, Part, to_json, to_ms
from memchat.store.rows import CHANGE_COLUMNS, to_change


class Changes(Part):
    """Writes and lists changes."""

    def list_changes(
        self, memory: int | None = None, limit: int | None = None, *, turn: int | None = None
    ) -> list[Change]:
        """Return the user's changes, newest first, or those of one memory, or those that a turn caused."""
        wanted = {"memory": memory, "turn": turn}
        asked = {column: value for column, value in wanted.items() if value is not None}
        rows = self._db.rows(
            f"""SELECT {CHANGE_COLUMNS} FROM changes WHERE user = ? {"".join(f" AND {column} = ?" for column in asked)}
            ORDER BY id DESC LIMIT ?""",
            (self._user_id, *asked.values(), -1 if limit is None else limit),
        )
        return [to_change(row) for row in rows]

    def _add_change(
        self,
        memory: int,
        action: str,
        cause: Cause,
        now: datetime,
        *,
        turn: int | None = None,
        before: Fields | None = None,
        after: Fields | None = None,
    ) -> int:
        return self._db.insert(
            """INSERT INTO changes (user, memory, at, action, cause, turn, before, after)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
            (self._owner(), memory, to_ms(now), action, cause, turn, to_json(before or {}), to_json(after or {})),
        )
