"""The list of every column that can hold words of a memory or a conversation, and of those that never do.

A test compares both with the schema: a new column must be put in one of them, and a forget reaches all of the first.
"""

from collections.abc import Collection
from typing import Final

from memchat.store.connection import Database
from memchat.store.part import in_list

WORDED: Final = {
    "users": ("name",),
    "memories": ("text", "folded", "subject", "attribute", "value", "slot", "ref"),
    "sources": ("evidence",),
    "keys": ("text",),
    "memories_fts": ("text", "cues"),
    "sessions": ("title", "summary", "profile"),
    "turns": ("user_text", "reply"),
    "queue": ("reason",),
    "recalls": ("query", "candidates", "block", "profile"),
    "changes": ("before", "after"),
}
WORDLESS: Final = {
    "meta": ("name", "value"),
    "embedders": ("model", "digest", "scheme", "languages", "calibration"),
    "memories": ("kind", "state", "event_date"),
    "keys": ("role",),
    "memories_fts": ("shelf",),
    "turns": ("zone", "model"),
    "recalls": ("embed_model", "timings", "keywords_only"),
    "changes": ("action", "cause"),
    "drops": ("reason",),
    "tombstones": ("hash",),
}
_EXACT: Final = (
    ("memories", "text"),
    ("keys", "text"),
    ("sources", "evidence"),
    ("turns", "user_text"),
    ("turns", "reply"),
)


def surviving(database: Database, texts: Collection[str]) -> set[str]:
    """Return those of the texts that are still stored as they are, and rightly so: for another memory or user."""
    found: set[str] = set()
    for table, column in _EXACT:
        wanted = f"SELECT DISTINCT {column} FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))"
        found.update(database.column(wanted, in_list(texts)))
    return found


def stands_in(database: Database, words: str) -> bool:
    """Tell whether anything stored holds the words, in any case: then their bytes are in the file rightly."""
    columns = [("sqlite_schema", "sql")]
    columns += [(table, column) for places in (WORDED, WORDLESS) for table in places for column in places[table]]
    return any(
        database.value(f"SELECT 1 FROM {table} WHERE instr(lower({column}), lower(?)) LIMIT 1", (words,)) is not None
        for table, column in columns
    )
