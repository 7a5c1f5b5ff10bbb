"""Taking a change back: the fields as they were before, and what was learnt is not learnt again from that turn."""

from dataclasses import replace
from datetime import datetime

from memchat.errors import NotFound, UsageError
from memchat.records import Cause, Change
from memchat.store import keys, keywords, tombstones, vec0
from memchat.store.part import Fields, found
from memchat.store.revisions import Revisions
from memchat.store.rows import CHANGE_COLUMNS, to_change


class Undo(Revisions):
    """Takes back changes of the user's memories."""

    def undo_change(self, id: int, now: datetime) -> Change:
        """Take back one change and return it marked as undone.

        NotFound when there is none, UsageError when it is taken back already or a later one stands on it.
        """
        with self._db.transaction():
            change = self._get_change(id)
            self._refuse_undo(change)
            self._take_back(change)
            self._mark_undone(change, now)
            return replace(change, undone=True)

    def _get_change(self, id: int) -> Change:
        row = self._db.row(f"SELECT {CHANGE_COLUMNS} FROM changes WHERE id = ? AND user = ?", (id, self._user_id))
        return to_change(found(row, f"There is no change {id}; `memchat history` shows those there are."))

    def _refuse_undo(self, change: Change) -> None:
        if change.undone or change.action == "undone":
            raise UsageError(f"Change {change.id} is taken back already.")
        later = self._db.value(
            "SELECT max(id) FROM changes WHERE memory = ? AND id > ? AND undone = 0 AND action != 'undone'",
            (change.memory, change.id),
        )
        if later is not None:
            raise UsageError(f"Memory {change.memory} was changed again since; take back change {later} first.")

    def _take_back(self, change: Change) -> None:
        if change.action == "added":
            self._remove(change)
            return
        if self._db.value("SELECT 1 FROM memories WHERE id = ?", (change.memory,)) is None:
            raise NotFound(f"Memory {change.memory} is gone; there is nothing to take back.")
        if change.action == "restated":
            self._unteach(change, self._db.value("SELECT evidence FROM sources WHERE id = ?", _source(change)))
            self._db.write("DELETE FROM sources WHERE id = ?", _source(change))
        self._write_fields(change.memory, dict(change.before))

    def _remove(self, change: Change) -> None:
        """Take an added memory out of every table but the history, and bring back what it had replaced."""
        memory = self.get_memory(change.memory)
        for superseded in self._db.column("SELECT id FROM memories WHERE superseded_by = ?", (memory.id,)):
            self._revive(superseded)
        self._unteach(change, memory.text, *(source.evidence for source in self.list_sources(memory.id)))
        ids = keys.key_ids(self._db, (memory.id,))
        vec0.delete_vectors(self._db, ids)
        keys.delete_keys(self._db, ids)
        keywords.delete_rows(self._db, (memory.id,))
        self._db.write("DELETE FROM sources WHERE memory = ?", (memory.id,))
        self._db.write("DELETE FROM memories WHERE id = ?", (memory.id,))

    def _revive(self, memory: int) -> None:
        row = self._db.row(
            f"""SELECT {CHANGE_COLUMNS} FROM changes WHERE memory = ? AND action = 'superseded' AND undone = 0
            ORDER BY id DESC LIMIT 1""",
            (memory,),
        )
        before: Fields = {"state": "current", "superseded_by": None, "superseded_at": None}
        if row is not None:
            before = dict(to_change(row).before)
            self._db.write("UPDATE changes SET undone = 1 WHERE id = ?", (row[0],))
        self._write_fields(memory, before)

    def _unteach(self, change: Change, *wordings: str | None) -> None:
        """Keep the turn that taught this from teaching it again."""
        if change.turn is not None and change.cause in (Cause.LEARNED, Cause.USER):
            marks = [(tombstones.undone_in(change.turn), wording) for wording in wordings]
            tombstones.add_tombstones(self._db, self._owner(), change.memory, marks)
            self._db.write("DELETE FROM queue WHERE turn = ?", (change.turn,))

    def _mark_undone(self, change: Change, now: datetime) -> None:
        self._db.write("UPDATE changes SET undone = 1 WHERE id = ?", (change.id,))
        self._add_change(
            change.memory, "undone", Cause.UNDONE, now, before=dict(change.after), after=dict(change.before)
        )


def _source(change: Change) -> tuple[int]:
    source = change.after.get("source", 0)
    return (source if isinstance(source, int) else 0,)
