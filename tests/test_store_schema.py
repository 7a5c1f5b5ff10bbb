"""Migrations: forward from every released schema, a copy first, all or nothing."""

import re
import shutil
import stat
from pathlib import Path

import pytest

from memchat.errors import StoreError, StoreUnusable
from memchat.records import Cause, Kind
from memchat.store import Store, location, migrations
from memchat.store.connection import Database, open_database
from memchat.store.migrations import MIGRATIONS, Migration, migrate
from tests.store_stage import NOW, embed_all, near, open_store, recall_of, say, tell, worded

DATA = Path(__file__).parent / "data"
NEXT = Migration(migrations.NEWEST + 1, ("ALTER TABLE memories ADD COLUMN mood TEXT", "CREATE TABLE moods (x) STRICT"))
GOOD = (*MIGRATIONS, Migration(NEXT.number, ("ALTER TABLE memories ADD COLUMN mood TEXT",)))
BAD = (*MIGRATIONS, Migration(NEXT.number, ("ALTER TABLE memories ADD COLUMN mood TEXT", "CREATE TABLE memories (x)")))


def _schema(database):
    """Return the SQL of all tables and indexes but those that an embedder or SQLite itself adds."""
    rows = database.rows("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
    return {name: re.sub(r"\s+", " ", sql) for name, sql in rows if not name.startswith(("vectors_", "sqlite_"))}


def test_numbers_count_from_one_without_a_gap():
    assert [migration.number for migration in MIGRATIONS] == list(range(1, migrations.NEWEST + 1))


@pytest.mark.parametrize("file", sorted(DATA.glob("schema_*.db")), ids=lambda file: file.stem)
def test_a_file_of_every_released_schema_opens_with_all_it_holds(tmp_path, file):
    path = tmp_path / "memchat" / "memory.db"
    path.parent.mkdir(mode=0o700)
    shutil.copy(file, path)
    path.chmod(0o600)
    with open_store(tmp_path) as old, Store.open(tmp_path / "new.db") as new:
        assert _schema(old._db) == _schema(new._db)
        assert old._db.value("PRAGMA user_version") == migrations.NEWEST
        assert [memory.text for memory in old.list_memories(state=None)] == ["I live in Munich", "I live in Berlin"]
        assert (near(old, "Where do I live?"), near(old, "Where do I live?", past=True)) == ([2], [1])
        assert (worded(old, "berlin"), len(old.list_sessions()), len(old.list_recalls())) == ([2], 1, 1)
        assert (old.count_queued(), old.check(), old.notices) == (1, [], [])
        assert old.erase([2]).verified


def test_there_is_a_file_of_the_newest_schema():
    assert (DATA / f"schema_{migrations.NEWEST}.db").exists()


@pytest.fixture
def database(tmp_path):
    with open_store(tmp_path) as store:
        tell(store, "I keep bees")
        say(store, "hello")
    database = open_database(store.path, migrations.NEWEST, writable=True)
    yield database
    database.close()


def test_an_older_file_is_copied_and_then_migrated(database):
    copy = migrate(database, GOOD)
    assert copy == database.path.with_name("memory.db.v1.backup")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert database.value("PRAGMA user_version") == NEXT.number
    assert database.value("SELECT mood FROM memories") is None
    assert migrate(database, GOOD) is None
    with Store.open(copy) as old:
        assert [memory.text for memory in old.list_memories()] == ["I keep bees"]
    assert location.backups(database.path) == [copy]


def test_a_migration_that_fails_leaves_the_old_schema(database):
    before = _schema(database)
    with pytest.raises(StoreError):
        migrate(database, BAD)
    assert (_schema(database), database.value("PRAGMA user_version")) == (before, migrations.NEWEST)
    assert migrate(database, GOOD) is not None


def test_a_file_from_the_future_is_refused(database):
    migrate(database, GOOD)
    database.close()
    with pytest.raises(StoreUnusable, match="newer memchat"):
        Store.open(database.path)


def test_an_older_file_that_may_only_be_read_is_refused(database):
    database.close()
    reading = open_database(database.path, NEXT.number, writable=False)
    with pytest.raises(StoreUnusable, match="right to write"):
        migrate(reading, GOOD)
    reading.close()


def test_the_first_run_makes_no_copy(tmp_path):
    with open_store(tmp_path) as store:
        embed_all(store)
    assert [file.name for file in (tmp_path / "memchat").iterdir()] == ["memory.db"]


def test_no_question_of_the_chat_reads_a_whole_table(tmp_path, monkeypatch):
    """Each statement that these calls run must search by an index, whatever the file's size."""
    scans = []

    def watched(rows):
        def run(self, sql, bindings=()):
            if sql.lstrip().startswith(("SELECT", "WITH")):
                plan = rows(self, f"EXPLAIN QUERY PLAN {sql}", bindings)
                big = ("memories", "keys", "turns", "sources", "changes", "recalls", "quotations", "m", "sessions")
                steps = [step[3] for step in plan if "USING INDEX keys_pending" not in step[3]]  # holds only those
                scans.extend((step, sql) for step in steps if step.split()[:2] in [["SCAN", name] for name in big])
            return rows(self, sql, bindings)

        return run

    with open_store(tmp_path) as store:
        turn = say(store, "I keep bees", learn=True)
        memory = tell(store, "I keep bees", "animals?", turn=turn, subject="user", attribute="pet", ref="r")
        monkeypatch.setattr(Database, "rows", watched(Database.rows))
        assert (near(store, "bees"), worded(store, "bees")) == ([1], [1])
        store.get_memories([1])
        store.find_exact("I keep bees")
        store.find_slot("user", "pet")
        store.find_by_ref("r")
        store.list_keys(1)
        store.list_pending_keys()
        store.count_pending_keys()
        store.list_memories(kind=Kind.FACT)
        store.list_turns(turn.session)
        store.get_recall(say(store, "hm", recall=recall_of(memory)).id)
        store.list_queued(5, NOW)
        store.list_changes(1)
        store.list_sources(1)
        store.find_latest_session()
        store.restate_memory(1, source=None, confidence=1.0, now=NOW)
        store.update_memory(1, cause=Cause.USER, now=NOW, text="I keep wasps")
        store.undo_change(store.list_changes(limit=1)[0].id, NOW)
        store.is_forgotten("x", evidence="y")
    assert scans == []
