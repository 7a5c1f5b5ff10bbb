"""Taking back: each kind of change, in the right order, and not learnt again from the same exchange."""

import pytest

from memchat.errors import NotFound, UsageError
from memchat.records import Cause, Kind, NewMemory, Source, State
from tests.store_stage import LATER, NOW, embed_all, files_with, near, open_store, say, tell, worded


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path) as store:
        yield store


def last(store, memory=None):
    return store.list_changes(memory, limit=1)[0]


def test_a_learnt_memory_is_taken_back_whole(store):
    turn = say(store, "I keep bees", learn=True)
    memory = tell(store, "I keep bees", "animals?", turn=turn)
    taken = store.undo_change(last(store).id, LATER)
    assert (taken.action, taken.undone, taken.memory, taken.after["text"]) == ("added", True, memory.id, "I keep bees")
    assert (store.list_memories(state=None), near(store, "bees"), worded(store, "bees")) == ([], [], [])
    assert (store.count_pending_keys(), store.check()) == (0, [])
    assert [change.action for change in store.list_changes()] == ["undone", "added"]
    assert last(store).cause is Cause.UNDONE


def test_what_was_taken_back_is_not_learnt_again_from_the_same_exchange(store):
    turn, later = say(store, "well, I keep bees", learn=True), say(store, "I keep bees", learn=True)
    source = Source(turn.session, turn.id, "I keep bees")
    store.add_memory(NewMemory("I keep bees", source=source), cause=Cause.LEARNED, now=NOW)
    store.undo_change(last(store).id, LATER)
    assert [queued.turn for queued in store.list_queued(9, NOW)] == [later]
    assert store.is_forgotten("User has bees", evidence="i keep bees", turn=turn.id)
    assert store.is_forgotten("I keep  bees", turn=turn.id)
    assert not store.is_forgotten("I keep bees", evidence="I keep bees", turn=later.id)
    assert not store.is_forgotten("I keep bees", evidence="I keep bees")


def test_taking_back_the_new_brings_back_what_it_replaced(store):
    old = tell(store, "I live in Munich", "Where do I live?")
    new = tell(store, "I live in Berlin", "Where do I live?", turn=say(store, "I live in Berlin"))
    added = last(store)
    store.supersede_memory(old.id, by=new.id, cause=Cause.LEARNED, now=LATER)
    store.undo_change(added.id, LATER)
    assert store.list_memories(state=None) == [old]
    assert (near(store, "Where do I live?"), near(store, "Where do I live?", past=True)) == ([old.id], [])
    assert (worded(store, "live"), store.check()) == ([old.id], [])


def test_an_edit_is_taken_back_with_its_cues(store):
    memory = tell(store, "I keep bees", "animals?", kind=Kind.SKILL, subject="user", attribute="pet")
    store.update_memory(
        memory.id, cause=Cause.USER, now=LATER, text="I drive a tram", kind=Kind.FACT, attribute="job", pinned=True
    )
    store.undo_change(last(store).id, LATER)
    embed_all(store)
    back = store.get_memory(memory.id)
    assert back == memory
    assert (near(store, "animals?")[:1], worded(store, "tram"), worded(store, "bees")) == ([memory.id], [], [memory.id])
    assert [found.id for found in store.find_slot("user", "pet")] == [memory.id]


@pytest.mark.parametrize("by", [True, False], ids=["superseded", "ended"])
def test_a_superseding_is_taken_back(store, by):
    old, new = tell(store, "I live in Munich"), tell(store, "I live in Berlin")
    store.supersede_memory(old.id, by=new.id if by else None, cause=Cause.USER, now=LATER)
    store.undo_change(last(store).id, LATER)
    assert store.get_memory(old.id) == old
    assert near(store, "live in Munich")[0] == old.id


def test_a_restatement_is_taken_back(store):
    memory = tell(store, "I keep bees", turn=say(store, "I keep bees"), confidence=0.8)
    again = say(store, "still bees")
    store.restate_memory(memory.id, source=Source(again.session, again.id, "bees"), confidence=0.9, now=LATER)
    store.undo_change(last(store).id, LATER)
    assert store.get_memory(memory.id) == memory
    assert len(store.list_sources(memory.id)) == 1
    assert store.is_forgotten("x", evidence="bees", turn=again.id)


def test_an_approval_is_taken_back(store):
    memory = store.add_memory(NewMemory("I keep bees", state=State.PROPOSED), cause=Cause.LEARNED, now=NOW)
    store.set_state(memory.id, State.CURRENT, cause=Cause.USER, now=NOW)
    embed_all(store)
    store.undo_change(last(store).id, LATER)
    assert store.get_memory(memory.id).state is State.PROPOSED
    assert (near(store, "bees"), worded(store, "bees"), store.check()) == ([], [], [])


def test_changes_are_taken_back_in_their_order(store):
    memory = tell(store, "one text")
    store.update_memory(memory.id, cause=Cause.USER, now=NOW, text="two texts")
    added, edited = reversed(store.list_changes())
    with pytest.raises(UsageError, match=f"change {edited.id} first"):
        store.undo_change(added.id, LATER)
    store.undo_change(edited.id, LATER)
    with pytest.raises(UsageError, match="already"):
        store.undo_change(edited.id, LATER)
    with pytest.raises(UsageError, match="already"):
        store.undo_change(last(store).id, LATER)
    store.undo_change(added.id, LATER)
    assert store.list_memories(state=None) == []


def test_what_is_not_there_or_another_users_is_not_taken_back(store):
    tell(store, "I keep bees")
    for id, whose in ((99, store), (1, store.for_user("ana"))):
        with pytest.raises(NotFound, match="no change"):
            whose.undo_change(id, LATER)


def test_a_memory_that_was_taken_back_can_still_be_forgotten(store):
    """Its text stands in the history until then."""
    memory = tell(store, "I live in XQZJMARKER", turn=say(store, "I live in XQZJMARKER"))
    store.undo_change(last(store).id, LATER)
    assert files_with(store.path, "XQZJMARKER") != []
    assert store.erase([memory.id]).verified
    assert files_with(store.path, "XQZJMARKER") == []
    assert store.list_changes() == []


def test_a_forget_cannot_be_taken_back(store):
    memory = tell(store, "I keep bees")
    added = last(store).id
    store.erase([memory.id])
    with pytest.raises(NotFound):
        store.undo_change(added, LATER)
