"""The schema as a numbered list of migrations: append only, each with its version bump in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memchat.errors import StoreUnusable
from memchat.store import location
from memchat.store.connection import Database


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from schema `number - 1` to `number`."""

    number: int
    statements: tuple[str, ...]


_FIRST: Final = (
    "CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE) STRICT",
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    # One row per embedder whose vectors the file holds, in the vec0 table vectors_<generation>.
    """CREATE TABLE embedders (
        generation INTEGER PRIMARY KEY AUTOINCREMENT, live INTEGER NOT NULL, model TEXT NOT NULL,
        digest TEXT NOT NULL, dimensions INTEGER NOT NULL, scheme TEXT NOT NULL, languages TEXT NOT NULL,
        calibration TEXT) STRICT""",
    """CREATE TABLE memories (
        id INTEGER PRIMARY KEY AUTOINCREMENT, user INTEGER NOT NULL REFERENCES users, text TEXT NOT NULL,
        folded TEXT NOT NULL, kind TEXT NOT NULL, importance INTEGER NOT NULL, confidence REAL NOT NULL,
        pinned INTEGER NOT NULL, state TEXT NOT NULL, created_at INTEGER NOT NULL, last_seen_at INTEGER NOT NULL,
        last_recalled_at INTEGER, recall_count INTEGER NOT NULL DEFAULT 0, subject TEXT, attribute TEXT, value TEXT,
        slot TEXT, event_date TEXT, ref TEXT, superseded_by INTEGER, superseded_at INTEGER) STRICT""",
    "CREATE INDEX memories_by_text ON memories (user, folded)",
    "CREATE INDEX memories_by_state ON memories (user, state)",
    "CREATE INDEX memories_by_slot ON memories (user, slot) WHERE slot IS NOT NULL",
    "CREATE UNIQUE INDEX memories_by_ref ON memories (user, ref) WHERE ref IS NOT NULL",
    "CREATE INDEX memories_by_successor ON memories (superseded_by) WHERE superseded_by IS NOT NULL",
    """CREATE TABLE sources (
        id INTEGER PRIMARY KEY AUTOINCREMENT, memory INTEGER NOT NULL REFERENCES memories, session INTEGER,
        turn INTEGER, evidence TEXT NOT NULL, at INTEGER NOT NULL) STRICT""",
    "CREATE INDEX sources_by_memory ON sources (memory)",
    "CREATE INDEX sources_by_turn ON sources (turn) WHERE turn IS NOT NULL",
    "CREATE INDEX sources_by_session ON sources (session) WHERE session IS NOT NULL",
    # generation: whose vector stands in the live table, NULL while it is pending; rebuilt: the same for a reindex.
    """CREATE TABLE keys (
        id INTEGER PRIMARY KEY AUTOINCREMENT, memory INTEGER NOT NULL REFERENCES memories, role TEXT NOT NULL,
        text TEXT NOT NULL, generation INTEGER, rebuilt INTEGER) STRICT""",
    "CREATE INDEX keys_by_memory ON keys (memory)",
    "CREATE INDEX keys_pending ON keys (id) WHERE generation IS NULL",
    "CREATE INDEX keys_to_rebuild ON keys (id) WHERE rebuilt = 0",
    """CREATE VIRTUAL TABLE memories_fts USING fts5(
        text, cues, shelf, tokenize = 'porter unicode61 remove_diacritics 2')""",
    "INSERT INTO memories_fts (memories_fts, rank) VALUES ('secure-delete', 1)",
    "INSERT INTO memories_fts (memories_fts, rank) VALUES ('rank', 'bm25(1.0, 0.6, 0.0)')",
    """CREATE TABLE sessions (
        id INTEGER PRIMARY KEY AUTOINCREMENT, user INTEGER NOT NULL REFERENCES users, title TEXT,
        created_at INTEGER NOT NULL, last_turn_at INTEGER, summary TEXT, summarised_to INTEGER NOT NULL DEFAULT 0,
        profile TEXT) STRICT""",
    "CREATE INDEX sessions_by_user ON sessions (user, last_turn_at)",
    # origin: the turn that a fork copied this one from.
    """CREATE TABLE turns (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL REFERENCES sessions, user_text TEXT NOT NULL,
        reply TEXT NOT NULL, at INTEGER NOT NULL, zone TEXT NOT NULL, model TEXT NOT NULL,
        interrupted INTEGER NOT NULL, forgotten INTEGER NOT NULL DEFAULT 0, origin INTEGER) STRICT""",
    "CREATE INDEX turns_by_session ON turns (session)",
    "CREATE INDEX turns_by_origin ON turns (origin) WHERE origin IS NOT NULL",
    """CREATE TABLE queue (
        id INTEGER PRIMARY KEY AUTOINCREMENT, turn INTEGER NOT NULL UNIQUE REFERENCES turns,
        attempts INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL, explicit INTEGER NOT NULL,
        reason TEXT NOT NULL DEFAULT '') STRICT""",
    """CREATE TABLE recalls (
        turn INTEGER PRIMARY KEY REFERENCES turns, query TEXT NOT NULL, embed_model TEXT, floor REAL,
        candidates TEXT NOT NULL, block TEXT NOT NULL, tokens INTEGER NOT NULL, profile TEXT NOT NULL,
        profile_tokens INTEGER NOT NULL, timings TEXT NOT NULL, keywords_only TEXT) STRICT""",
    # Which recall records quote which memory, so that a forget finds them without reading them all.
    """CREATE TABLE quotations (
        memory INTEGER NOT NULL, turn INTEGER NOT NULL REFERENCES recalls, PRIMARY KEY (memory, turn))
        STRICT, WITHOUT ROWID""",
    "CREATE INDEX quotations_by_turn ON quotations (turn)",
    """CREATE TABLE changes (
        id INTEGER PRIMARY KEY AUTOINCREMENT, user INTEGER NOT NULL REFERENCES users, memory INTEGER NOT NULL,
        at INTEGER NOT NULL, action TEXT NOT NULL, cause TEXT NOT NULL, turn INTEGER, before TEXT NOT NULL,
        after TEXT NOT NULL, undone INTEGER NOT NULL DEFAULT 0) STRICT""",
    "CREATE INDEX changes_by_memory ON changes (memory)",
    "CREATE INDEX changes_by_user ON changes (user)",
    """CREATE TABLE drops (
        user INTEGER NOT NULL REFERENCES users, reason TEXT NOT NULL, count INTEGER NOT NULL,
        PRIMARY KEY (user, reason)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE tombstones (
        user INTEGER NOT NULL REFERENCES users, hash BLOB NOT NULL, memory INTEGER NOT NULL,
        PRIMARY KEY (user, hash, memory)) STRICT, WITHOUT ROWID""",
    "CREATE INDEX tombstones_by_memory ON tombstones (user, memory)",
    "INSERT INTO meta (name, value) VALUES ('tombstone_key', lower(hex(randomblob(32))))",
)

MIGRATIONS: Final = (Migration(1, _FIRST),)
NEWEST: Final = MIGRATIONS[-1].number


def migrate(database: Database, migrations: Sequence[Migration] = MIGRATIONS) -> Path | None:
    """Bring the file to the newest schema, after a copy of a filled one; return the copy's path if one was made."""
    newest = migrations[-1].number
    version: int = database.value("PRAGMA user_version")
    location.refuse_newer(database.path, version, newest)
    if version == newest:
        return None
    if not database.writable:
        raise StoreUnusable(f"{database.path} has an older schema; open it once with the right to write.")
    copy = _copy_first(database, version) if version else None
    with database.transaction():
        version = database.value("PRAGMA user_version")  # another process may have been quicker
        for migration in migrations[version:]:
            for statement in migration.statements:
                database.write(statement)
        database.write(f"PRAGMA user_version={newest}")
    return copy


def copy_to(database: Database, target: Path) -> None:
    """Write a consistent, compact copy of the live file to `target`, which is created 0600 and must be new."""
    location.create_new(target)
    try:
        database.rows("VACUUM INTO ?", (str(target),))  # a file that cannot be written can be copied
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _copy_first(database: Database, version: int) -> Path:
    target = location.backup_path(database.path, version)
    target.unlink(missing_ok=True)
    copy_to(database, target)
    return target
