"""Forgetting by hand: what is selected, what goes, what is said of it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memchat.curate.forget import (
    forget,
    merge_receipts,
    select_all,
    select_before,
    select_ids,
    select_query,
    select_sessions,
)
from memchat.curate.quotes import Quotes
from memchat.curate.remember import remember
from memchat.curate.repl_history import strip_history
from memchat.errors import MemchatError, NotFound
from memchat.recall import RecallOptions
from memchat.records import Cause, NewMemory, Receipt, Source
from memchat.store import Store
from tests.fakes import FakeEmbedder

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "memchat" / "memory.db") as opened:
        yield opened


def learn(store, *texts, at=NOW, session=None):
    """Store memories as learning does, one turn each, all in one conversation."""
    session = session or store.add_session(at).id
    memories = []
    for text in texts:
        turn = store.add_turn(
            session, user_text=f"Well, {text}", reply="I see.", at=at, zone="UTC", model="m", learn=False, recall=None
        )
        new = NewMemory(text, source=Source(session, turn.id, text), created_at=at)
        memories.append(store.add_memory(new, cause=Cause.LEARNED, now=at))
    return session, memories


def history_file(folder, *entries):
    path = folder / "history"
    path.write_text("".join(f"\n# 2026\n+{entry}\n" for entry in entries), encoding="utf-8")
    return path


def entries_of(path):
    return [line[1:] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("+")]


def bytes_of(folder):
    return b"".join(file.read_bytes() for file in Path(folder).rglob("*") if file.is_file())


# -- selecting


def test_ids_that_are_not_there_are_all_named_and_nothing_goes(store):
    _, (memory,) = learn(store, "I keep bees.")
    with pytest.raises(NotFound, match="7, 9"):
        select_ids(store, [memory.id, 9, 7])
    assert store.count_memories() == 1
    assert select_ids(store, [memory.id, memory.id]).memories == (memory,)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("bees", {"I keep bees in the garden.", "My sister keeps bees too."}),
        ("keeping bees", {"I keep bees in the garden.", "My sister keeps bees too."}),
        ("bees garden", {"I keep bees in the garden."}),
        ("the garden", {"I keep bees in the garden."}),
        ("東京", {"東京に住んでいます。"}),
        ("I am", {"I am Ada."}),
    ],
    ids=["a word", "inflected", "all words", "with a stop word", "a script without spaces", "stop words only"],
)
def test_a_query_selects_what_holds_all_its_words(store, query, found):
    learn(
        store,
        "I keep bees in the garden.",
        "My sister keeps bees too.",
        "東京に住んでいます。",
        "I am Ada.",
        "I like tea.",
    )
    assert {memory.text for memory in select_query(store, query, now=NOW).memories} == found


@pytest.mark.parametrize("query", ["", "  ", "wasps", "bees wasps", '"', "*"], ids=repr)
def test_a_query_without_a_match_selects_nothing(store, query):
    learn(store, "I keep bees.")
    with pytest.raises(NotFound):
        select_query(store, query, now=NOW)


def test_a_query_finds_past_and_proposed_memories_too(store):
    _, (old, new) = learn(store, "I live in Berlin.", "I live in Porto.")
    store.supersede_memory(old.id, by=new.id, cause=Cause.LEARNED, now=NOW)
    assert [memory.id for memory in select_query(store, "Berlin", now=NOW).memories] == [old.id]


def test_meaning_is_asked_only_where_it_is_wanted_and_words_fail(store):
    embedder = FakeEmbedder(meanings={"hound": "dog"})
    memory = remember(store, "My dog barks.", now=NOW, embedder=embedder).memory
    for number in range(3):
        remember(store, f"Unlike thing {number}", now=NOW, embedder=embedder)
    with pytest.raises(NotFound):
        select_query(store, "my hound", now=NOW, embedder=embedder)
    options = RecallOptions(floor=0.3)
    chosen = select_query(store, "my hound", now=NOW, embedder=embedder, options=options, by_meaning=True)
    assert (chosen.by, chosen.memories[0].id) == ("meaning", memory.id)


def test_a_session_selects_what_was_learnt_there(store):
    session, memories = learn(store, "I keep bees.", "I grow figs.")
    learn(store, "I like tea.")
    chosen = select_sessions(store, [session])
    assert (chosen.sessions, [m.id for m in chosen.memories]) == ((session,), [m.id for m in memories])
    with pytest.raises(NotFound):
        select_sessions(store, [99])


def test_a_date_selects_what_is_older(store):
    old, (bees,) = learn(store, "I keep bees.", at=NOW - timedelta(days=9))
    learn(store, "I like tea.", at=NOW)
    chosen = select_before(store, NOW - timedelta(days=1))
    assert (chosen.sessions, [m.id for m in chosen.memories]) == ((old,), [bees.id])
    with pytest.raises(NotFound):
        select_before(store, NOW - timedelta(days=30))


# -- erasing


def test_a_forgotten_memory_is_in_no_file_and_the_receipt_says_so(store, tmp_path):
    _, (memory, kept) = learn(store, "I keep zanzibarian honeybees.", "I like tea.")
    history = history_file(tmp_path, "Well, I keep zanzibarian honeybees.", "/forget --query zanzibar", "what is 2+2")
    log = tmp_path / "memchat.log"
    log.write_text("nothing\n")
    receipt = forget(store, select_ids(store, [memory.id]), history=history, log=log)
    assert (receipt.forgotten, receipt.verified, receipt.found_in) == ((memory.id,), True, ())
    assert receipt.erased["memories"] == 1
    assert receipt.erased["turns"] == 1
    assert receipt.erased["input_lines"] == 2
    assert {"memory.db", "memory.db-wal", "history", "memchat.log"} <= set(receipt.checked)
    assert entries_of(history) == ["what is 2+2"]
    assert b"anzibar" not in bytes_of(tmp_path)
    assert [m.id for m in store.list_memories()] == [kept.id]
    for place in ("backups", "scroll-back", "spare blocks", "snapshots", "prompt cache", "shell"):
        assert any(place in words for words in receipt.unreachable), place


def test_earlier_versions_and_wordings_go_with_a_memory(store, tmp_path):
    _, (old, new) = learn(store, "I live in Reykjavik.", "I live in Valparaiso.")
    store.update_memory(new.id, cause=Cause.USER, now=NOW, text="I live in Antananarivo.")
    store.supersede_memory(old.id, by=new.id, cause=Cause.LEARNED, now=NOW)
    history = history_file(tmp_path, "Well, I live in Reykjavik.", "/edit 2 I live in Antananarivo.", "/stats")
    receipt = forget(store, select_ids(store, [new.id]), history=history)
    assert (set(receipt.forgotten), receipt.verified) == ({old.id, new.id}, True)
    assert entries_of(history) == ["/stats"]
    for word in (b"eykjavik", b"alparaiso", b"ntananarivo"):
        assert word not in bytes_of(tmp_path)


def test_a_forgotten_session_goes_with_its_words_and_memories(store, tmp_path):
    session, (memory,) = learn(store, "I keep bees.")
    store.add_turn(
        session, user_text="Is quicksand real?", reply="Yes.", at=NOW, zone="UTC", model="m", learn=True, recall=None
    )
    history = history_file(tmp_path, "Is quicksand real?", "/stats")
    receipt = forget(store, select_sessions(store, [session]), history=history)
    assert (receipt.forgotten, receipt.verified) == ((memory.id,), True)
    assert (store.list_sessions(), store.count_queued()) == ([], 0)
    assert entries_of(history) == ["/stats"]
    assert b"quicksand" not in bytes_of(tmp_path)


def test_a_date_takes_conversations_and_memories_made_by_hand(store):
    learn(store, "I keep bees.", at=NOW - timedelta(days=9))
    by_hand = remember(store, "I grow figs.", now=NOW - timedelta(days=8)).memory
    _, (kept,) = learn(store, "I like tea.", at=NOW)
    receipt = forget(store, select_before(store, NOW - timedelta(days=1)))
    assert by_hand.id in receipt.forgotten
    assert len(receipt.forgotten) == 2
    assert [m.id for m in store.list_memories(state=None)] == [kept.id]
    assert len(store.list_sessions()) == 1
    assert "input_lines" not in receipt.erased


def test_forgetting_all_leaves_the_other_users_alone(store, tmp_path):
    learn(store, "I keep bees.")
    other = store.for_user("bob")
    learn(other, "I like tea.")
    history = history_file(tmp_path, "anything at all")
    receipt = forget(store, select_all(store), history=history)
    assert receipt.verified
    assert receipt.erased["input_lines"] == 1
    assert (store.list_memories(state=None), store.list_sessions()) == ([], [])
    assert not store.is_forgotten("I keep bees.")
    assert [m.text for m in other.list_memories()] == ["I like tea."]


def test_what_went_meanwhile_is_told_and_the_rest_stays(store):
    _, (bees, figs) = learn(store, "I keep bees.", "I grow figs.")
    chosen = select_ids(store, [bees.id, figs.id])
    forget(store, select_ids(store, [bees.id]))
    with pytest.raises(NotFound):
        forget(store, chosen)
    assert store.get_memory(figs.id).text == "I grow figs."


def test_receipts_add_up():
    one = Receipt((2,), {"memories": 1}, True, ("a",), ("x",))
    two = Receipt((1,), {"memories": 2, "turns": 3}, False, ("a", "b"), ("x", "y"), ("b",))
    assert merge_receipts([one, two]) == Receipt(
        (1, 2), {"memories": 3, "turns": 3}, False, ("a", "b"), ("x", "y"), ("b",)
    )


# -- the input history


def test_an_entry_of_several_lines_goes_whole_and_the_rest_stays_to_the_byte(tmp_path):
    path = tmp_path / "history"
    path.write_bytes(b"\n# 1\n+first\n+second bees\n\n# 2\n+odd \xff bytes\n+\n\n# 3\n+third\n")
    assert strip_history(path, lambda text: "bees" in text) == 1
    assert path.read_bytes() == b"\n# 2\n+odd \xff bytes\n+\n\n# 3\n+third\n"
    assert path.stat().st_mode & 0o077 == 0


def test_a_history_without_a_quote_is_not_touched(tmp_path):
    path = history_file(tmp_path, "one", "two")
    before = path.stat()
    assert strip_history(path, lambda text: False) == 0
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert strip_history(tmp_path / "missing", lambda text: True) == 0


def test_a_history_that_is_a_folder_is_told(tmp_path):
    with pytest.raises(MemchatError, match="cannot be read"):
        strip_history(tmp_path, lambda text: True)


QUOTES = Quotes(
    wordings=["I moved to Berlin in March.", "hi", "Well, I moved to Berlin in March. hi"],
    told=["I moved to Berlin in March."],
    kept=["March is my favourite month."],
)


@pytest.mark.parametrize(
    ("entry", "quoted"),
    [
        ("I moved to Berlin in March.", True),
        ("/remember i moved to  BERLIN in march.", True),
        ("moved to Berlin in", True),
        ("what about berliner food?", True),
        ("hi", True),
        ("hi there", False),
        ("in March", True),
        ("what happens next March?", False),
        ("Do you like cheese?", False),
        ("", False),
    ],
    ids=str,
)
def test_what_quotes_a_memory(entry, quoted):
    assert QUOTES.found_in(entry) is quoted
