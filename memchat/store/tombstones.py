"""What was forgotten, kept as keyed hashes only, so that it is not learnt again."""

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from typing import Final

from memchat.store.connection import Database
from memchat.store.part import Part
from memchat.text import fold

_HASH_BYTES: Final = 16


class Tombstones(Part):
    """Knows what the user had forgotten."""

    def is_forgotten(
        self, text: str, *, evidence: str | None = None, slot_value: str | None = None, turn: int | None = None
    ) -> bool:
        """Tell whether a text, its evidence or its `slot_value()` was forgotten, or undone in this very turn."""
        marks = [("text", text), ("evidence", evidence), ("slot", slot_value)]
        marks += [(undone_in(turn), text), (undone_in(turn), evidence)] if turn is not None else []
        hashes = _hashes(self._db, [(kind, value) for kind, value in marks if value])
        places = ", ".join("?" * len(hashes))
        sql = f"SELECT 1 FROM tombstones WHERE user = ? AND hash IN ({places}) LIMIT 1"
        return self._db.value(sql, (self._user_id, *hashes)) is not None

    def allow_again(self, text: str) -> bool:
        """Lift the forgetting of a text, with the evidence and slot that went with it; False if there was none."""
        return bool(
            self._db.write(
                """DELETE FROM tombstones WHERE user = ?1 AND memory IN
                (SELECT memory FROM tombstones WHERE user = ?1 AND hash = ?2)""",
                (self._user_id, *_hashes(self._db, [("text", text)])),
            )
        )


def slot_value(subject: str | None, attribute: str | None, value: str | None) -> str | None:
    """Return the one form in which subject, attribute and value are compared; None unless all are known."""
    if not (subject and attribute and value):
        return None
    return f"{fold(subject)} / {fold(attribute)} = {fold(value)}"


def undone_in(turn: int) -> str:
    """Return the kind of mark that holds for one turn only."""
    return f"undone in {turn}"


def add_tombstones(database: Database, user: int, memory: int, marks: Iterable[tuple[str, str | None]]) -> None:
    """Keep the hashes of (kind, value) marks; blank ones are skipped."""
    hashes = _hashes(database, [(kind, value) for kind, value in marks if value and fold(value)])
    database.write_many(
        "INSERT OR IGNORE INTO tombstones (user, hash, memory) VALUES (?, ?, ?)",
        [(user, digest, memory) for digest in hashes],
    )


def _hashes(database: Database, marks: Sequence[tuple[str, str]]) -> list[bytes]:
    key = bytes.fromhex(database.value("SELECT value FROM meta WHERE name = 'tombstone_key'"))
    return [
        hmac.new(key, f"{kind}\n{fold(value)}".encode(), hashlib.sha256).digest()[:_HASH_BYTES] for kind, value in marks
    ]
