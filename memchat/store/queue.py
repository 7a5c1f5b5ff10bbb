"""Exchanges that wait to be learnt from; a row vanishes in the transaction that stores what was learnt."""

from datetime import datetime
from typing import Final

from memchat.records import QueuedTurn
from memchat.store.connection import Row
from memchat.store.part import Part, storable, to_ms
from memchat.store.rows import TURN_COLUMNS, TURN_WIDTH, to_turn

STUCK_ATTEMPTS: Final = 5
_FIRST_PAUSE_MS: Final = 30_000
_LONGEST_PAUSE_MS: Final = 6 * 3_600_000
_QUEUED: Final = f"""SELECT {TURN_COLUMNS}, queue.id, queue.attempts, queue.explicit, queue.reason FROM queue
    JOIN turns ON turns.id = queue.turn JOIN sessions ON sessions.id = turns.session WHERE sessions.user = ?"""


class Queue(Part):
    """Hands out the user's queued exchanges."""

    def list_queued(self, limit: int, now: datetime) -> list[QueuedTurn]:
        """Return exchanges that are due, oldest first."""
        rows = self._db.rows(
            f"{_QUEUED} AND queue.due_at <= ? ORDER BY queue.id LIMIT ?", (self._user_id, to_ms(now), limit)
        )
        return [_to_queued(row) for row in rows]

    def count_queued(self) -> int:
        """Return how many exchanges wait, due or not."""
        count: int = self._db.value(
            """SELECT count(*) FROM queue JOIN turns ON turns.id = queue.turn
            JOIN sessions ON sessions.id = turns.session WHERE sessions.user = ?""",
            (self._user_id,),
        )
        return count

    def finish_queued(self, id: int) -> bool:
        """Take an exchange out of the queue; False when it is gone, and then nothing of it may be stored."""
        return self._db.write("DELETE FROM queue WHERE id = ?", (id,)) > 0

    def postpone_queued(self, id: int, reason: str, now: datetime) -> None:
        """Note a failed attempt; the pause doubles from half a minute up to six hours."""
        self._db.write(
            """UPDATE queue SET attempts = attempts + 1, reason = ?,
            due_at = ? + min(? << min(attempts, 20), ?) WHERE id = ?""",
            (storable(reason), to_ms(now), _FIRST_PAUSE_MS, _LONGEST_PAUSE_MS, id),
        )

    def list_stuck(self) -> list[tuple[QueuedTurn, str]]:
        """Return exchanges that failed too often, with the last reason; they are still tried again."""
        rows = self._db.rows(f"{_QUEUED} AND queue.attempts >= ? ORDER BY queue.id", (self._user_id, STUCK_ATTEMPTS))
        return [(_to_queued(row), row[-1]) for row in rows]


def _to_queued(row: Row) -> QueuedTurn:
    id, attempts, explicit, _ = row[TURN_WIDTH:]
    return QueuedTurn(id, to_turn(row), attempts, bool(explicit))
