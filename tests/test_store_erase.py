"""Forgetting: no byte stays, nothing else goes, and it stays forgotten."""

import random
import subprocess
import sys
from array import array

import pytest

from memchat.errors import NotFound, StoreBusy
from memchat.records import Cause, Source
from memchat.store import connection, location, places, slot_value, traces
from memchat.store.exchanges import MARK
from tests.fakes import FakeEmbedder
from tests.store_stage import (
    EMBEDDER,
    LATER,
    NOW,
    bytes_under,
    embed_all,
    files_with,
    near,
    open_store,
    python,
    reader,
    recall_of,
    say,
    tell,
    worded,
)

MARKER = "XQZJMARKER"


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path) as store:
        yield store


def test_every_column_is_known_to_hold_words_or_not(store):
    """A column that is in neither list of `places` would be missed by a forget."""
    store.adopt_embedder(EMBEDDER.card())
    shadows = ("memories_fts_", "vectors_1_", "sqlite_")
    tables = store._db.column("SELECT name FROM sqlite_schema WHERE type = 'table'")
    columns = {
        (table, name)
        for table in tables
        if not table.startswith(shadows) and table != "vectors_1"
        for _, name, kind, *_ in store._db.rows(f"PRAGMA table_info({table})")
        if kind not in ("INTEGER", "REAL")
    }
    known = [
        (table, column) for listed in (places.WORDED, places.WORDLESS) for table in listed for column in listed[table]
    ]
    assert columns == set(known)
    assert len(known) == len(set(known))


def _spread(store):
    """Put the marker into every place that can hold it, and other text beside it."""
    turn = say(store, f"I moved to {MARKER} in March", f"{MARKER} is nice!", learn=True)
    old = tell(store, f"I live in old {MARKER}", f"Where is {MARKER}?", subject="user", attribute="home", value=MARKER)
    memory = tell(
        store,
        f"I live in {MARKER} now",
        f"Do I live in {MARKER}?",
        turn=turn,
        subject="user",
        attribute="home",
        value=MARKER,
        ref=f"ref-{MARKER}",
    )
    store.supersede_memory(old.id, by=memory.id, cause=Cause.LEARNED, now=NOW)
    store.update_memory(memory.id, cause=Cause.USER, now=NOW, text=f"I live in {MARKER} still", cues=(MARKER,))
    embed_all(store)
    memory = store.get_memory(memory.id)
    store.restate_memory(memory.id, source=Source(turn.session, turn.id, f"in {MARKER}"), confidence=1.0, now=NOW)
    store.update_session(turn.session, title=f"About {MARKER}", summary=f"User moved to {MARKER}", profile=MARKER)
    kept = tell(store, "I keep bees", "What animals do I keep?")
    later = say(store, "weekend trip?", "Sure.", recall=recall_of(memory, kept, profile=(memory,)))
    fork = store.fork_session(turn.session, LATER)
    queued = store.list_queued(1, NOW)[0]
    store.postpone_queued(queued.id, f"the model said {MARKER}", NOW)
    return memory, old, kept, turn, later, fork


def test_a_forget_leaves_no_byte_and_takes_nothing_else(store, tmp_path):
    memory, old, kept, turn, later, fork = _spread(store)
    vectors = [EMBEDDER.embed_documents([key.text])[0].tobytes()[:64] for key in store.list_keys(memory.id)]
    assert len(files_with(store.path, MARKER)) == 1 or len(files_with(store.path, MARKER)) == 2
    receipt = store.erase([memory.id])
    assert files_with(store.path, MARKER, MARKER.lower(), *vectors) == []
    assert (receipt.forgotten, receipt.verified, receipt.found_in) == ((old.id, memory.id), True, ())
    assert receipt.erased == {"memories": 2, "vectors": 4, "keys": 4, "history": 5, "turns": 2, "log": 1, "queue": 1}
    assert receipt.checked[:2] == ("memory.db", "memory.db-wal")
    assert (store.list_memories(state=None), near(store, "animals keep"), worded(store, "bees")) == (
        [kept],
        [kept.id],
        [kept.id],
    )
    told = store.get_turn(turn.id)
    assert (told.user_text, told.reply, told.forgotten) == (MARK, MARK, True)
    assert [copy.user_text for copy in store.list_turns(fork.id)] == [MARK]
    assert store.get_turn(later.id) == later
    recall = store.get_recall(later.id)
    assert ([candidate.id for candidate in recall.candidates], recall.block, recall.profile) == ([kept.id], MARK, ())
    session = store.get_session(turn.session)
    assert (session.title, session.summary, session.summarised_to, session.profile) == (None, None, 0, None)
    assert store.check() == []
    for ask in (store.get_memory, store.list_sources):
        with pytest.raises(NotFound):
            ask(memory.id)


def test_other_memories_of_a_forgotten_exchange_stay_without_its_words(store):
    turn = say(store, f"I moved to {MARKER} and keep bees")
    memory, other = tell(store, f"I live in {MARKER}", turn=turn), tell(store, "I keep bees", turn=turn)
    assert store.erase([memory.id]).verified
    assert [source.evidence for source in store.list_sources(other.id)] == [""]
    assert near(store, "I keep bees") == [other.id]
    assert files_with(store.path, MARKER) == []


def test_an_earlier_version_goes_without_the_later_one(store):
    old, new = tell(store, f"I live in {MARKER}"), tell(store, "I live in Berlin")
    store.supersede_memory(old.id, by=new.id, cause=Cause.LEARNED, now=NOW)
    assert store.erase([old.id]).forgotten == (old.id,)
    assert [memory.id for memory in store.list_memories()] == [new.id]
    assert files_with(store.path, MARKER) == []


def test_exchanges_that_repeat_the_memory_word_for_word_go_too(store):
    memory = tell(store, f"I live in {MARKER} street")
    quoting = say(store, "what do you know?", f"You told me: “I LIVE in {MARKER.lower()}  street”.")
    other = say(store, "I live in Berlin street", "Good.")
    store.update_session(other.session, summary=f"i live in {MARKER} street, they said")
    store.erase([memory.id])
    assert store.get_turn(quoting.id).forgotten
    assert not store.get_turn(other.id).forgotten
    assert store.get_session(other.session).summary is None
    assert files_with(store.path, MARKER) == []


def test_a_word_that_stands_in_texts_that_are_kept_is_no_trace(store):
    memory = tell(store, "tea time", "What do I drink?")
    tell(store, "my steam engine likes tea time a lot", "What do I drink?")
    receipt = store.erase([memory.id])
    assert (receipt.verified, receipt.found_in) == (True, ())
    assert store.count_memories() == 1


def test_a_missing_memory_is_named_and_nothing_is_erased(store):
    memory = tell(store, "I keep bees")
    with pytest.raises(NotFound, match="no memory 7"):
        store.erase([memory.id, 7])
    assert store.list_memories() == [memory]


def test_the_forgotten_stays_forgotten_until_allowed_again(store):
    turn = say(store, "I moved to Berlin")
    memory = tell(store, "I live in Berlin.", turn=turn, subject="User", attribute="home", value="Berlin")
    store.update_memory(memory.id, cause=Cause.USER, now=NOW, text="I live in Berlin, Mitte.")
    store.erase([memory.id])
    slot = slot_value("user", "Home", "berlin")
    assert store.is_forgotten("i live in  BERLIN, Mitte.")
    assert store.is_forgotten("I live in Berlin.")
    assert store.is_forgotten("User moved", evidence="I moved to Berlin")
    assert store.is_forgotten("User lives there", forms=[slot])
    assert not store.is_forgotten("I keep bees", evidence="I keep bees", forms=[slot_value("user", "home", "Rome")])
    assert not store.for_user("ana").is_forgotten("I live in Berlin.")
    assert store.allow_again("I live in Berlin.") is True
    assert not store.is_forgotten("I live in Berlin, Mitte.", evidence="I moved to Berlin", forms=[slot])
    assert store.allow_again("I live in Berlin.") is False


def test_marks_of_the_forgotten_tell_nothing_without_the_key(tmp_path):
    marks = []
    for name in ("a.db", "b.db"):
        with type(open_store(tmp_path)).open(tmp_path / name) as store:
            store.erase([tell(store, "I live in Berlin").id])
            marks.append(store._db.column("SELECT hash FROM tombstones"))
    assert marks[0]
    assert not set(marks[0]) & set(marks[1])


def test_forgetting_a_user_takes_all_and_leaves_the_others(store, tmp_path):
    _spread(store)
    store.erase([tell(store, f"I like {MARKER} cakes").id])
    store.count_drops({"secret": 1})
    other = store.for_user("ana")
    turn = say(other, "I like tea too", learn=True)
    kept = tell(other, "I like tea", turn=turn)
    receipt = store.erase_user()
    assert receipt.verified
    assert files_with(store.path, MARKER) == []
    rows = store.sizes()
    assert (rows["users"], rows["memories"], rows["turns"], rows["queue"]) == (1, 1, 1, 1)
    assert (rows["recalls"], rows["changes"], rows["tombstones"], store.list_drops()) == (0, 1, 0, {})
    assert (near(other, "tea"), worded(other, "tea"), other.get_turn(turn.id)) == ([kept.id], [kept.id], turn)
    assert store.check() == []
    assert tell(store, "I am back").id > kept.id


def test_forgetting_sessions_takes_what_was_learnt_there(store):
    turn, elsewhere = say(store, f"I moved to {MARKER}", learn=True), say(store, "I keep bees")
    here = tell(store, f"I live in {MARKER}", turn=turn)
    there = tell(store, "I keep bees", turn=elsewhere)
    store.restate_memory(there.id, source=Source(turn.session, turn.id, MARKER), confidence=1.0, now=NOW)
    receipt = store.erase_sessions([turn.session])
    assert (receipt.forgotten, receipt.verified) == ((here.id,), True)
    assert files_with(store.path, MARKER) == []
    assert [session.id for session in store.list_sessions()] == [elsewhere.session]
    assert [source.turn for source in store.list_sources(there.id)] == [elsewhere.id]
    assert (store.count_queued(), store.check()) == (0, [])
    with pytest.raises(NotFound, match="no session"):
        store.erase_sessions([turn.session])


def test_copies_in_forks_are_told_when_a_session_goes(store):
    turn = say(store, "just chatting along")
    fork = store.fork_session(turn.session, LATER)
    receipt = store.erase_sessions([turn.session])
    assert any("forked" in place for place in receipt.unreachable)
    assert [copy.user_text for copy in store.list_turns(fork.id)] == ["just chatting along"]
    assert receipt.verified


def test_redacting_leaves_the_memory_and_no_byte_of_its_old_wording(store):
    turn = say(store, f"I moved to {MARKER} lane")
    memory = tell(store, f"I live in {MARKER} lane", f"Where is {MARKER}?", turn=turn)
    store.update_memory(memory.id, cause=Cause.USER, now=NOW, text="I live in the city", cues=("Where do I live?",))
    embed_all(store)
    receipt = store.erase_wording(memory.id)
    assert (receipt.forgotten, receipt.verified) == ((), True)
    assert files_with(store.path, MARKER, MARKER.lower()) == []
    assert (store.get_memory(memory.id).text, store.list_changes(memory.id)) == ("I live in the city", [])
    assert (store.get_turn(turn.id).forgotten, near(store, "live city")) == (True, [memory.id])
    assert store.is_forgotten(f"I live in {MARKER} lane")
    assert not store.is_forgotten("I live in the city")
    assert store.check() == []


def test_other_files_are_read_and_named_when_the_words_are_still_there(store, tmp_path):
    memory = tell(store, f"I live in {MARKER} street")
    history, clean = tmp_path / "history", tmp_path / "log"
    history.write_text(f"hello\nI live in {MARKER} street\n", encoding="utf-16")
    clean.write_text("nothing")
    receipt = store.erase([memory.id], extra_files=[history, clean, tmp_path / "missing"])
    assert (receipt.verified, receipt.found_in) == (False, ("history",))
    assert {"history", "log"} <= set(receipt.checked)
    assert "missing" not in receipt.checked


@pytest.mark.parametrize(("line", "clean"), [("+well hello there", True), ("+Hello", False)])
def test_one_short_word_is_a_trace_only_as_a_line_of_its_own(store, tmp_path, line, clean):
    turn = say(store, "Hello", "Good.")
    history = tmp_path / "history"
    history.write_text(f"{line}\n")
    assert store.erase_sessions([turn.session], extra_files=[history]).verified is clean


def test_copies_made_before_migrations_go_with_the_first_forget(store):
    copy = location.backup_path(store.path, 1)
    memory = tell(store, f"I live in {MARKER}")
    store.backup(copy)
    assert store.erase([memory.id]).verified
    assert not copy.exists()


def test_the_search_for_traces_finds_what_a_plain_delete_leaves(store):
    """The byte search itself must be able to find: text, UTF-16, long texts and vectors planted as leftovers."""
    memory = tell(store, f"I live in {MARKER} street")
    vector = array("f", (random.gauss(0, 1) for _ in range(384))).tobytes()
    planted = [
        f"{MARKER} plain",
        "word " * 300 + "longtail" * 10,
        "日本語の長い文章です",
        'a "quoted" text\nof two lines',
    ]
    for number, text in enumerate(planted):
        store._db.write("INSERT INTO meta VALUES (?, ?)", (f"leftover {number}", text))
    store._db.write("INSERT INTO tombstones VALUES (1, ?, 0)", (vector,))
    for needles in (traces.text_needles([text]) for text in planted):
        found = traces.search_store(store._db, needles)
        assert any(found.values())
        many = needles + traces.text_needles(f"needle number {number} is not there" for number in range(100))
        assert any(traces.search_store(store._db, many).values())
    assert any(traces.search_store(store._db, traces.vector_needles([vector])).values())
    assert not any(traces.search_store(store._db, traces.text_needles(["not there at all"])).values())
    assert memory.id == 1


def test_a_trace_makes_the_receipt_say_so(store, monkeypatch):
    """Without VACUUM and checkpoint the words stay, and the receipt must not claim otherwise."""
    memory = tell(store, f"I live in {MARKER} street")
    monkeypatch.setattr("memchat.store.scrubbing.scrub", lambda database: None)
    receipt = store.erase([memory.id])
    assert files_with(store.path, MARKER) == [f"{store.path}-wal"]
    assert (receipt.verified, receipt.found_in) == (False, ("memory.db-wal",))


def test_a_reader_elsewhere_is_waited_for(store):
    memory = tell(store, f"I live in {MARKER}")
    with reader(store.path) as process:
        ended = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(0.4)"])
        ended.wait()
        process.stdin.write("\n")
        process.stdin.flush()
        receipt = store.erase([memory.id])
    assert receipt.verified
    assert files_with(store.path, MARKER) == []


def test_a_reader_that_stays_is_named_and_the_wiping_is_made_up_for(store):
    memory, kept = tell(store, f"I live in {MARKER}"), tell(store, "I keep bees")
    store._db.rows("PRAGMA busy_timeout = 200")
    with reader(store.path) as process:
        with pytest.raises(StoreBusy, match=rf"process {process.pid}") as refusal:
            store.erase([memory.id])
        assert "deleted" in refusal.value.sentence
        assert store.list_memories() == [kept]
        assert [fault.name for fault in store.check()] == ["wiping"]
    assert files_with(store.path, MARKER) != []
    assert store.fix() != []
    assert files_with(store.path, MARKER) == []
    assert store.check() == []


def test_a_forget_in_another_process_is_seen_by_the_next_query(store):
    memory = tell(store, "I keep bees")
    code = (
        "import sys; from pathlib import Path; from memchat.store import Store; "
        "print(Store.open(Path(sys.argv[1])).erase([int(sys.argv[2])]).verified)"
    )
    assert python(code, store.path, memory.id).communicate() == ("True\n", "")
    assert (near(store, "bees"), worded(store, "bees"), store.list_memories()) == ([], [], [])


def test_forgetting_works_without_sqlite_vec(tmp_path, monkeypatch):
    with open_store(tmp_path) as store:
        memory, kept = tell(store, f"I live in {MARKER}"), tell(store, "I keep bees")
        vector = EMBEDDER.embed_documents([memory.text])[0].tobytes()
    monkeypatch.setattr(connection, "PathFinder", type("Nothing", (), {"find_spec": lambda name: None}))
    with open_store(tmp_path) as store:
        assert store.erase([memory.id]).verified
    assert MARKER.encode() not in bytes_under(tmp_path)
    assert vector not in bytes_under(tmp_path)
    monkeypatch.undo()
    with open_store(tmp_path) as store:
        assert [key.memory for key in store.list_pending_keys()] == [kept.id]
        embed_all(store)
        assert (near(store, "bees"), store.check()) == ([kept.id], [])


def test_200_random_memories_one_by_one_and_in_bulk_leave_no_byte(store):
    random.seed(7)
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = ["".join(random.choices(letters, k=12)) for _ in range(220)]
    ids = {}
    with store.transaction():
        for name in names:
            turn = say(store, f"my {name} is here", f"noted {name}")
            ids[name] = tell(store, f"I own one {name} of them", f"Where is my {name}?", turn=turn).id
    gone, kept = names[:200], names[200:]
    for name in gone[:10]:
        assert store.erase([ids[name]]).verified
        assert files_with(store.path, name) == []
    receipt = store.erase([ids[name] for name in gone[10:]])
    assert receipt.verified
    assert files_with(store.path, *gone) == []
    assert store.count_memories() == 20
    assert all(worded(store, name) == [ids[name]] for name in kept)
    assert store.check() == []


def test_another_embedders_half_built_index_is_reached_too(store):
    memory = tell(store, f"I live in {MARKER}")
    other = FakeEmbedder(32, model="other")
    store.begin_reindex(other.card())
    key = store.list_reindex_keys(1)[0]
    vector = other.embed_documents([key.text])[0]
    store.set_reindex_vectors([(key.id, vector)], other.card())
    assert store.erase([memory.id]).erased["vectors"] == 2
    assert files_with(store.path, vector.tobytes()[:32]) == []
