"""The exchanges of a conversation, each stored with what its reply was given and its place in the queue."""

from collections.abc import Sequence
from datetime import datetime

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
        """Give a turn its reply, its recall record and its place in the queue; one that had a reply gets another one.

        What was learnt from already is not queued again. A turn that was forgotten meanwhile stays forgotten: nothing
        is written. One whose reply was given a memory that was forgotten meanwhile is forgotten with it.
        """
        with self._db.transaction():
            turn = self.get_turn(id)
            if turn.forgotten:
                return turn
            erased = find_erased(self._db, recall) if recall is not None else set()
            if recall is not None and erased & ids_given(recall):
                exchanges.mark_forgotten(self._db, [id])
                return self.get_turn(id)
            waited = exchanges.delete_records(self._db, [id])["queue"]
            self._db.write(
                "UPDATE turns SET reply = ?, model = ?, interrupted = ? WHERE id = ?",
                (storable(reply), model, int(interrupted), id),
            )
            if recall is not None:
                add_recall(self._db, id, without(recall, erased))
            if learn and (waited or turn.interrupted):
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

    def delete_turn(self, id: int) -> None:
        """Take an exchange out of its conversation with its recall record and its place in the queue."""
        with self._db.transaction():
            self.get_turn(id)
            exchanges.delete_records(self._db, [id])
            self._db.write("DELETE FROM turns WHERE id = ?", (id,))

    def _touch_session(self, session: int, at: int) -> None:
        found(
            self._db.row("SELECT 1 FROM sessions WHERE id = ? AND user = ?", (session, self._user_id)),
            f"There is no session {session}; `memchat sessions` shows those there are.",
        )
        self._db.write(
            "UPDATE sessions SET last_turn_at = max(coalesce(last_turn_at, 0), ?) WHERE id = ?", (at, session)
        )
