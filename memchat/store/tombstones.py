"""What was forgotten, kept as keyed hashes only, so that it is not learnt again."""

import hashlib
import hmac
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from memchat.store.connection import Database
from memchat.store.part import Part, reads
from memchat.text import fold, words

_HASH_BYTES: Final = 16
FORM: Final = "slot"  # so it is called in the files that there are
_ANY: Final = "any slot"
_SHORT_FORMS: Final = (("n't", " not"), ("'m", " am"), ("'re", " are"), ("'ve", " have"), ("'ll", " will"))


class Tombstones(Part):
    """Knows what the user had forgotten."""

    def is_forgotten(
        self, text: str, *, evidence: str | None = None, forms: Collection[str] = (), turn: int | None = None
    ) -> bool:
        """Tell whether a text, its evidence or another form of it was forgotten, or undone in this very turn.

        `forms` are what was given to `erase` for the memories of then: `slot_value()`, or the text reworded.
        """
        marks = [("text", text), ("evidence", evidence), *((FORM, form) for form in forms)]
        marks += [(undone_in(turn), text), (undone_in(turn), evidence)] if turn is not None else []
        hashes = _hashes(self._db, [(kind, value) for kind, value in marks if value])
        places = ", ".join("?" * len(hashes))
        sql = f"SELECT 1 FROM tombstones WHERE user = ? AND hash IN ({places}) LIMIT 1"
        return self._db.value(sql, (self._user_id, *hashes)) is not None

    def has_forgotten_form(self) -> bool:
        """Tell whether anything was forgotten with its forms: where not, no statement need be taken apart."""
        sql = "SELECT 1 FROM tombstones WHERE user = ? AND hash = ? LIMIT 1"
        return self._db.value(sql, (self._user_id, *_hashes(self._db, [(FORM, _ANY)]))) is not None

    def allow_again(self, text: str, *, forms: Collection[str] = ()) -> bool:
        """Lift the forgetting of a text or of a form, with all that went with it; False if there was none."""
        hashes = _hashes(self._db, [("text", text), *((FORM, form) for form in forms)])
        places = ", ".join(f"?{number}" for number in range(2, 2 + len(hashes)))
        return bool(
            self._db.write(
                f"""DELETE FROM tombstones WHERE user = ?1 AND memory IN
                (SELECT memory FROM tombstones WHERE user = ?1 AND hash IN ({places}))""",
                (self._user_id, *hashes),
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
    kept = [(kind, value) for kind, value in marks if value and fold(value)]
    kept += [(FORM, _ANY)] if any(kind == FORM for kind, _ in kept) else []
    hashes = _hashes(database, kept)
    database.write_many(
        "INSERT OR IGNORE INTO tombstones (user, hash, memory) VALUES (?, ?, ?)",
        [(user, digest, memory) for digest in hashes],
    )


@reads
def _hashes(database: Database, marks: Sequence[tuple[str, str]]) -> list[bytes]:
    key = bytes.fromhex(database.value("SELECT value FROM meta WHERE name = 'tombstone_key'"))
    return [
        hmac.new(key, f"{kind}\n{_form(value)}".encode(), hashlib.sha256).digest()[:_HASH_BYTES]
        for kind, value in marks
    ]


def _form(text: str) -> str:
    """Return the form in which forgotten texts are compared: words alone, short forms written out."""
    folded = fold(text)
    for short, long in _SHORT_FORMS:
        folded = folded.replace(short, long)
    return " ".join(words(folded)) or folded
