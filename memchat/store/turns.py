"""The exchanges of a conversation, each stored with what its reply was given and its place in the queue."""

from collections.abc import Sequence
from datetime import datetime

from memchat.errors import UsageError
from memchat.records import Recall, Turn
from memchat.store import exchanges
from memchat.store.part import Part, found, in_list, storable, to_ms
from memchat.store.recalls import add_recall, find_erased, ids_given, without
from memchat.store.rows import TURN_COLUMNS, to_turn


class Turns(Part):
    """Keeps the user's exchanges."""

    def add_turn(
        self,
        session: int,
        *,
        user_text: str,
        reply: str,
        at: datetime,
        zone: str,
        model: str,
        learn: bool,
        recall: Recall | None,
        interrupted: bool = False,
        explicit: bool = False,
    ) -> Turn:
        """Store an exchange with what the reply was given, and queue it if it is to be learnt from."""
        with self._db.transaction():
            self._touch_session(session, to_ms(at))
            id = self._db.insert(
                """INSERT INTO turns (session, user_text, reply, at, zone, model, interrupted)
                VALUES (?, ?, ?, ?, ?, ?, ?)""",
                (session, storable(user_text), storable(reply), to_ms(at), zone, model, int(interrupted)),
            )
            if recall is not None:
                add_recall(self._db, id, recall)
            if learn:
                self._db.write(
                    "INSERT INTO queue (turn, due_at, explicit) VALUES (?, ?, ?)", (id, to_ms(at), int(explicit))
                )
            return self.get_turn(id)

    def complete_turn(
        self, id: int, *, reply: str, model: str, interrupted: bool, learn: bool, recall: Recall | None
    ) -> Turn:
        """Give a turn that was opened without a reply its reply, its recall record and its place in the queue.

        A turn that was forgotten meanwhile stays forgotten: nothing is written. One whose reply was given a memory that
        was forgotten meanwhile is forgotten with it.
        """
        with self._db.transaction():
            turn = self.get_turn(id)
            if turn.forgotten:
                return turn
            erased = find_erased(self._db, recall) if recall is not None else set()
            if recall is not None and erased & ids_given(recall):
                exchanges.mark_forgotten(self._db, [id])
                return self.get_turn(id)
            self._db.write(
                "UPDATE turns SET reply = ?, model = ?, interrupted = ? WHERE id = ?",
                (storable(reply), model, int(interrupted), id),
            )
            if recall is not None:
                add_recall(self._db, id, without(recall, erased))
            if learn:
                self._db.write("INSERT INTO queue (turn, due_at, explicit) VALUES (?, ?, 0)", (id, to_ms(turn.at)))
            return self.get_turn(id)

    def get_turn(self, id: int) -> Turn:
        """Return one exchange, or raise NotFound."""
        row = self._db.row(
            f"""SELECT {TURN_COLUMNS} FROM turns JOIN sessions ON sessions.id = turns.session
            WHERE turns.id = ? AND sessions.user = ?""",
            (id, self._user_id),
        )
        return to_turn(found(row, f"There is no turn {id}; `memchat log` shows those there are."))

    def list_unforgotten(self, turns: Sequence[int]) -> set[int]:
        """Return those of the turns that are there and were not forgotten."""
        return set(
            self._db.column(
                """SELECT turns.id FROM turns JOIN sessions ON sessions.id = turns.session
                WHERE NOT forgotten AND sessions.user = ? AND turns.id IN (SELECT value FROM json_each(?))""",
                (self._user_id, *in_list(turns)),
            )
        )

    def list_turns(self, session: int) -> list[Turn]:
        """Return the exchanges of a conversation, oldest first."""
        rows = self._db.rows(
            f"""SELECT {TURN_COLUMNS} FROM turns JOIN sessions ON sessions.id = turns.session
            WHERE turns.session = ? AND sessions.user = ? ORDER BY turns.id""",
            (session, self._user_id),
        )
        return [to_turn(row) for row in rows]

    def replace_reply(self, turn: int, reply: str, model: str) -> Turn:
        """Put another reply in the place of a turn's."""
        with self._db.transaction():
            if self.get_turn(turn).forgotten:
                raise UsageError(f"Turn {turn} was forgotten; it cannot get another reply.")
            self._db.write(
                "UPDATE turns SET reply = ?, model = ?, interrupted = 0 WHERE id = ?", (storable(reply), model, turn)
            )
            return self.get_turn(turn)

    def _touch_session(self, session: int, at: int) -> None:
        found(
            self._db.row("SELECT 1 FROM sessions WHERE id = ? AND user = ?", (session, self._user_id)),
            f"There is no session {session}; `memchat sessions` shows those there are.",
        )
        self._db.write(
            "UPDATE sessions SET last_turn_at = max(coalesce(last_turn_at, 0), ?) WHERE id = ?", (at, session)
        )
