"""Health: every planted fault is named, what can be mended is, and a sound file has none."""

import os
from array import array
from contextlib import suppress

import pytest

from memchat.errors import StoreUnusable
from memchat.records import Cause
from memchat.store import vec0
from tests.store_stage import EMBEDDER, NOW, embed_all, near, open_store, recall_of, say, tell, worded


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path) as store:
        tell(store, "I keep bees", "What animals do I keep?")
        tell(store.for_user("ana"), "I drive a tram")
        old = tell(store, "I live in Munich")
        new = tell(store, "I live in Berlin", turn=say(store, "I live in Berlin", learn=True, recall=recall_of(old)))
        store.supersede_memory(old.id, by=new.id, cause=Cause.LEARNED, now=NOW)
        yield store


def _write(sql, *bindings):
    return lambda store: store._db.write(sql, bindings)


def _put_vector(numbers, shelf=1, key=1):
    def plant(store):
        store._db.write("DELETE FROM vectors_1 WHERE rowid = ?", (key,))
        store._db.write(
            "INSERT INTO vectors_1 (rowid, shelf, embedding) VALUES (?, ?, ?)",
            (key, shelf, array("f", numbers).tobytes()),
        )

    return plant


def _widen(store):
    store.path.chmod(0o644)


PLANTED = {
    "text changed by another tool": (
        _write("UPDATE memories SET text = 'I keep wasps', folded = 'i keep wasps' WHERE id = 1"),
        {"keys", "words"},
    ),
    "old folding": (_write("UPDATE memories SET folded = 'I KEEP' WHERE id = 1"), {"comparison"}),
    "key lost": (_write("DELETE FROM keys WHERE id = 1"), {"keys", "vectors without a key"}),
    "words lost": (_write("DELETE FROM memories_fts WHERE rowid = 1"), {"words"}),
    "words of nobody": (
        _write("INSERT INTO memories_fts (rowid, text, cues, shelf) VALUES (99, 'a', 'b', 'c')"),
        {"words"},
    ),
    "words on a wrong shelf": (_write("UPDATE memories_fts SET shelf = 'past1' WHERE rowid = 1"), {"words"}),
    "word index broken": (_write("UPDATE memories_fts_content SET c0 = 'other words' WHERE id = 1"), {"words"}),
    "vector lost": (_write("DELETE FROM vectors_1 WHERE rowid = 1"), {"vectors missing"}),
    "vector of nobody": (_put_vector([1.0] * 64, key=999), {"vectors without a key"}),
    "zero vector": (_put_vector([0.0] * 64), {"bad vectors"}),
    "vector of no numbers": (_put_vector([float("nan")] * 64), {"bad vectors"}),
    "vector with another user": (_put_vector([1.0] * 64, shelf=2), {"misplaced vectors"}),
    "past vector among the present": (_put_vector([1.0] * 64, shelf=1, key=4), {"misplaced vectors"}),
    "successor gone": (_write("UPDATE memories SET superseded_by = 77 WHERE id = 3"), {"superseded"}),
    "replaced and yet current": (_write("UPDATE memories SET superseded_by = 4 WHERE id = 1"), {"superseded"}),
    "a log that is no JSON": (_write("UPDATE recalls SET candidates = 'x'"), {"log"}),
    "a log of another shape": (_write("UPDATE recalls SET profile = '{}'"), {"log"}),
    "open to others": (_widen, {"file modes"}),
    "not wiped": (_write("INSERT INTO meta VALUES ('scrub_due', '1')"), {"wiping"}),
}


def test_a_sound_file_has_no_fault_and_nothing_to_fix(store):
    assert (store.check(), store.fix()) == ([], [])


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
@pytest.mark.parametrize(("plant", "names"), PLANTED.values(), ids=PLANTED.keys())
def test_a_planted_fault_is_named_and_mended(store, plant, names):
    plant(store)
    faults = store.check()
    assert {fault.name for fault in faults} == names
    assert all(fault.fixable and fault.found and "memchat doctor --fix" in fault.mend for fault in faults)
    assert store.check() == faults, "a look changes nothing"
    assert len(store.fix()) == len(names)
    embed_all(store)
    assert (store.check(), store.fix()) == ([], [])
    assert near(store, "What animals do I keep?", limit=1) in ([1], [4])
    assert store.for_user("ana").list_memories()[0].text == "I drive a tram"
    assert (near(store.for_user("ana"), "tram"), worded(store.for_user("ana"), "tram")) == ([2], [2])


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memories SET kind = 'x' WHERE id = 1",
        "UPDATE memories SET state = '' WHERE id = 1",
        "UPDATE memories SET created_at = 1 << 62 WHERE id = 1",
        "UPDATE memories SET event_date = '2026-02-30' WHERE id = 1",
        "UPDATE changes SET before = '[' WHERE id = 1",
        "UPDATE changes SET cause = 'x' WHERE id = 1",
        "UPDATE turns SET at = -1 << 62",
        "UPDATE embedders SET calibration = '[1]'",
        "UPDATE meta SET value = 'x' WHERE name = 'tombstone_key'",
    ],
)
def test_a_value_that_nobody_can_have_written_is_named_and_refused_without_a_traceback(store, statement):
    store._db.write(statement)
    (fault,) = [fault for fault in store.check() if fault.name == "contents"]
    assert not fault.fixable
    assert "export" in fault.mend
    for look in (
        lambda: store.list_memories(state=None),
        store.list_changes,
        lambda: store.list_turns(1),
        store.calibration,
        lambda: store.is_forgotten("x"),
    ):
        with suppress(StoreUnusable):
            look()


def test_a_text_that_is_not_utf8_is_damage(store):
    store._db.write("UPDATE memories SET text = CAST(x'49ff20' AS TEXT) WHERE id = 1")
    with pytest.raises(StoreUnusable, match="not UTF-8"):
        store.list_memories()


def test_drift_both_ways_is_mended_so_that_search_is_right_again(store):
    store._db.write("UPDATE memories SET text = 'I grow roses', folded = 'i grow roses' WHERE id = 1")
    store._db.write("DELETE FROM vectors_1 WHERE rowid IN (SELECT id FROM keys WHERE memory = 4)")
    store.fix()
    embed_all(store)
    assert (near(store, "grow roses", limit=1), near(store, "I live in Berlin", limit=1)) == ([1], [4])
    assert (worded(store, "roses"), worded(store, "bees")) == ([1], [])


def test_a_broken_file_is_named_and_not_touched(store):
    store._db.write("PRAGMA writable_schema = ON")
    store._db.write("UPDATE sqlite_schema SET rootpage = 3 WHERE name = 'memories_by_slot'")
    store.close()
    with open_store(store.path.parent.parent) as again:
        before = store.path.stat().st_size
        fault = next(fault for fault in again.check() if fault.name == "integrity")
        assert not fault.fixable
        assert "backup" in fault.mend
        again.fix()
        assert "integrity" in {fault.name for fault in again.check()}
        assert before == store.path.stat().st_size


def test_a_sparse_index_is_written_anew(store, monkeypatch):
    for number in range(20):
        user = store.for_user(f"user {number}")
        tell(user, f"I like the number {number}")
    monkeypatch.setattr("memchat.store.vector_health._SMALL", 4)
    for number in range(19):
        store.for_user(f"user {number}").erase_user()
    assert store.check() == [], "a user's chunks go with the user"
    chunks = "SELECT count(*) FROM vectors_1_chunks"
    before = store._db.value(chunks)
    monkeypatch.setattr("memchat.store.vector_health._SMALL", 0)
    assert [fault.name for fault in store.check()] == ["sparse vectors"]
    vec0.rebuild(store._db, 1, 64)
    assert store._db.value(chunks) <= before
    assert near(store.for_user("user 19"), "I like the number 19") != []
    assert near(store, "What animals do I keep?")[0] == 1


def test_checks_of_a_file_without_any_embedder_work(tmp_path):
    with open_store(tmp_path) as store:
        assert store.check() == []
        assert EMBEDDER.card() != store.embedder()
