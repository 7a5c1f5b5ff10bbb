"""Faults of the vector index, each found by comparing it with the keys, and mended by making keys pending."""

from array import array
from typing import Final

from memchat.records import State
from memchat.store import keys, scrubbing, vec0
from memchat.store.part import Part, reads
from memchat.store.rows import SEARCHED

_SPARSE: Final = 2  # chunk places for each row above which a search reads mostly nothing
_SMALL: Final = 64  # chunks up to which that costs nothing


class VectorHealth(Part):
    """Checks the index that is searched."""

    def look_at_missing(self) -> str:
        """Find keys that should have a vector and have none."""
        return _told("key has lost its vector", self._missing())

    def mark_missing(self) -> None:
        """Make such keys pending."""
        keys.mark_pending(self._db, self._missing())

    def look_at_orphans(self) -> str:
        """Find vectors whose key is gone or pending."""
        return _told("vector belongs to no key", self._orphans())

    def delete_orphans(self) -> None:
        """Delete such vectors."""
        with self._db.transaction():
            vec0.delete_vectors(self._db, self._orphans())

    def look_at_bad(self) -> str:
        """Find vectors of a wrong length, not finite, or of norm 0: they would stand first in a search."""
        return _told("vector is of a wrong length, not finite or zero", self._bad())

    def delete_bad(self) -> None:
        """Delete such vectors and make their keys pending."""
        with self._db.transaction():
            bad = self._bad()
            vec0.delete_vectors(self._db, bad)
            keys.mark_pending(self._db, bad)

    def look_at_misplaced(self) -> str:
        """Find vectors on the shelf of another user or of another state."""
        return _told("vector stands on a wrong shelf", list(self._misplaced()))

    def move_misplaced(self) -> None:
        """Move such vectors."""
        with self._db.transaction():
            for key, shelf in self._misplaced().items():
                vec0.move_vectors(self._db, [key], shelf)

    def look_at_sparse(self) -> str:
        """Find an index with far more places than rows, which makes every search slower."""
        live = self._live()
        if live is None:
            return ""
        places = vec0.CHUNK_ROWS * self._db.value(f"SELECT count(*) FROM vectors_{live[0]}_chunks")
        rows = self._db.value(f"SELECT count(*) FROM vectors_{live[0]}_rowids")
        sparse = places > vec0.CHUNK_ROWS * _SMALL and places > _SPARSE * rows
        return f"the vector index has {places} places for {rows} vectors" if sparse else ""

    def rebuild_sparse(self) -> None:
        """Write the vector index anew."""
        live = self._live()
        if live is not None:
            with self._db.transaction():
                vec0.rebuild(self._db, *live)

    def scrub_due(self) -> None:
        """Wipe what an earlier forget left."""
        scrubbing.scrub(self._db)

    def _live(self) -> tuple[int, int] | None:
        """Return generation and dimensions of the index that is searched, None when it cannot be read."""
        if self._db.why_no_vectors is not None:
            return None
        row = self._db.row("SELECT generation, dimensions FROM embedders WHERE live = 1")
        return (row[0], row[1]) if row else None

    def _missing(self) -> list[int]:
        live = self._live()
        if live is None:
            return []
        return self._db.column(
            f"SELECT id FROM keys WHERE generation IS NOT NULL AND id NOT IN (SELECT rowid FROM vectors_{live[0]})"
        )

    def _orphans(self) -> list[int]:
        live = self._live()
        if live is None:
            return []
        return self._db.column(
            f"""SELECT rowid FROM vectors_{live[0]}
            WHERE rowid NOT IN (SELECT id FROM keys WHERE generation = ?)""",
            (live[0],),
        )

    def _bad(self) -> list[int]:
        live = self._live()
        if live is None:
            return []
        rows = self._db.rows(f"SELECT rowid, embedding FROM vectors_{live[0]}")
        return [key for key, embedding in rows if not _is_sound(embedding, live[1])]

    @reads
    def _misplaced(self) -> dict[int, int]:
        """Return the right shelf of every vector that stands on another one."""
        live = self._live()
        if live is None:
            return {}
        rows = self._db.rows(
            f"""SELECT keys.id, placed.shelf, memories.user, memories.state FROM vectors_{live[0]} AS placed
            JOIN keys ON keys.id = placed.rowid JOIN memories ON memories.id = keys.memory
            WHERE {SEARCHED}"""
        )
        right = {key: (shelf, vec0.shelf_number(user, State(state))) for key, shelf, user, state in rows}
        return {key: wanted for key, (shelf, wanted) in right.items() if shelf != wanted}


def _told(sentence: str, faulty: list[int]) -> str:
    return f"{len(faulty)} x: {sentence}" if faulty else ""


def _is_sound(embedding: bytes, dimensions: int) -> bool:
    try:
        vec0.pack(array("f", embedding), dimensions)
    except ValueError:
        return False
    return True
