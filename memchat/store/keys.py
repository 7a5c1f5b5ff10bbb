"""The keys a memory is found by: its own text and the questions it answers."""

from collections.abc import Iterable
from typing import Final

from memchat.records import Key
from memchat.store.connection import Database
from memchat.store.part import Part, in_list
from memchat.store.rows import KEY_COLUMNS, SEARCHED, to_keys

_PENDING: Final = f"""FROM keys JOIN memories ON memories.id = keys.memory
    WHERE keys.generation IS NULL AND {SEARCHED}"""


class Keys(Part):
    """Lists keys and those that wait for their vector."""

    def list_keys(self, id: int) -> list[Key]:
        """Return the keys of one memory, its text first."""
        return to_keys(
            self._db.rows(
                f"""SELECT {KEY_COLUMNS} FROM keys JOIN memories ON memories.id = keys.memory
                WHERE keys.memory = ? AND memories.user = ? ORDER BY keys.role = 'cue', keys.id""",
                (id, self._user_id),
            )
        )

    def list_pending_keys(self, limit: int = 64) -> list[Key]:
        """Return keys of all users that wait for their vector, oldest first."""
        return to_keys(self._db.rows(f"SELECT {KEY_COLUMNS} {_PENDING} ORDER BY keys.id LIMIT ?", (limit,)))

    def count_pending_keys(self) -> int:
        """Return how many keys of all users wait for their vector."""
        count: int = self._db.value(f"SELECT count(*) {_PENDING}")
        return count


def key_ids(database: Database, memories: Iterable[int]) -> list[int]:
    """Return the ids of all keys of memories."""
    return database.column("SELECT id FROM keys WHERE memory IN (SELECT value FROM json_each(?))", in_list(memories))


def list_of(database: Database, memory: int, role: str) -> list[Key]:
    """Return the keys of one memory in one role."""
    rows = database.rows(f"SELECT {KEY_COLUMNS} FROM keys WHERE memory = ? AND role = ? ORDER BY id", (memory, role))
    return to_keys(rows)


def mark_pending(database: Database, ids: Iterable[int]) -> None:
    """Note that keys have no vector."""
    database.write("UPDATE keys SET generation = NULL WHERE id IN (SELECT value FROM json_each(?))", in_list(ids))


def list_cues(database: Database, memory: int) -> list[str]:
    """Return the cues of one memory in their order."""
    return database.column("SELECT text FROM keys WHERE memory = ? AND role = 'cue' ORDER BY id", (memory,))


def add_keys(database: Database, memory: int, wordings: Iterable[tuple[str, str]]) -> None:
    """Add keys, each a role and a text, as pending, also for a reindex that is running."""
    rebuilt = 0 if database.value("SELECT 1 FROM embedders WHERE live = 0") else None
    database.write_many(
        "INSERT INTO keys (memory, role, text, rebuilt) VALUES (?, ?, ?, ?)",
        [(memory, role, text, rebuilt) for role, text in wordings],
    )


def delete_keys(database: Database, ids: Iterable[int]) -> int:
    """Delete keys; their vectors are the caller's to delete."""
    return database.write("DELETE FROM keys WHERE id IN (SELECT value FROM json_each(?))", in_list(ids))
