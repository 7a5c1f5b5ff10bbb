"""Memories: what is written comes back, in every way it can be asked for."""

from datetime import date, timedelta

import pytest

from memchat.errors import NotFound, UsageError
from memchat.records import Cause, Kind, NewMemory, Source, State
from tests.store_stage import LATER, NOW, embed_all, near, open_store, say, tell, worded


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path) as store:
        yield store


def test_every_field_of_a_memory_comes_back(store):
    turn = say(store, "I moved to Berlin in March")
    new = NewMemory(
        "I moved to Berlin.",
        kind=Kind.EVENT,
        importance=8,
        confidence=0.75,
        pinned=True,
        created_at=NOW - timedelta(days=3),
        last_seen_at=NOW - timedelta(days=2),
        subject="user",
        attribute="home",
        value="Berlin",
        event_date=date(2026, 3, 1),
        ref="import-7",
        source=Source(turn.session, turn.id, "moved to Berlin"),
        cues=("Where do I live?", "Which city am I in?"),
    )
    memory = store.add_memory(new, cause=Cause.LEARNED, now=NOW)
    told = store.get_memory(memory.id)
    assert told == memory
    fields = list(NewMemory.__dataclass_fields__)
    assert {name: getattr(told, name) for name in fields} == {name: getattr(new, name) for name in fields}
    assert (told.user, told.pending, told.recall_count, told.superseded_by) == ("default", True, 0, None)


@pytest.mark.parametrize(
    "new",
    [
        NewMemory("I keep bees."),
        NewMemory("  I\x1b[1m keep\x00 bees.\r\n ", subject="a\x07", value="b\u202e", attribute="c", ref="r 1"),
        NewMemory("I keep bees.", state=State.PROPOSED, cues=("", " Who? ", "Who?")),
        NewMemory("I keep bees.", state=State.SUPERSEDED, confidence=1, pinned=True),
        NewMemory(
            "I keep bees.", created_at=NOW + timedelta(microseconds=1_999), source=Source(None, None, "be\ud800")
        ),
    ],
    ids=["bare", "odd characters", "proposed", "superseded", "fractions"],
)
def test_a_new_memory_is_returned_as_it_will_be_read(store, new):
    memory = store.add_memory(new, cause=Cause.USER, now=NOW)
    assert store.get_memory(memory.id) == memory


@pytest.mark.parametrize(
    "text",
    [
        "naïve café",
        "東京に住んでいる",
        "emoji 👩‍👩‍👧 and\nnewline",
        "'); DROP TABLE memories; --",
        '"quoted" \\ %s {}',
        "x" * 100_000,
    ],
    ids=["accents", "japanese", "emoji", "sql", "quotes", "long"],
)
def test_any_text_is_stored_and_found_exactly(store, text):
    memory = tell(store, text)
    assert memory.text == text
    assert store.find_exact(f"  {text.upper() if text.isascii() else text} ") == memory


@pytest.mark.parametrize("text", ["", "  \n ", "\x00\x1b[31m"], ids=["empty", "blank", "controls only"])
def test_a_memory_without_text_is_refused(store, text):
    with pytest.raises(UsageError):
        store.add_memory(NewMemory(text), cause=Cause.USER, now=NOW)
    assert store.list_memories(state=None) == []


def test_lone_surrogates_are_stored_as_replacements(store):
    assert tell(store, "broken \ud800 half").text == "broken ? half"


def test_ids_are_never_reused(store):
    first = tell(store, "I keep bees")
    store.erase([first.id])
    assert tell(store, "I drive a tram").id > first.id


def test_get_memories_keeps_the_order_asked_for_and_leaves_out_the_missing(store):
    ids = [tell(store, f"memory number {number}").id for number in range(4)]
    asked = [ids[2], 999, ids[0], ids[2]]
    assert [memory.id for memory in store.get_memories(asked)] == [ids[2], ids[0]]


def test_a_missing_memory_is_named(store):
    with pytest.raises(NotFound, match="no memory 41"):
        store.get_memory(41)


def test_a_ref_is_found_and_taken_once(store):
    memory = tell(store, "I keep bees", ref="r1")
    assert store.find_by_ref("r1") == memory
    assert store.find_by_ref("r2") is None
    with pytest.raises(UsageError, match="ref r1"):
        store.add_memory(NewMemory("I keep wasps", ref="r1"), cause=Cause.IMPORTED, now=NOW)


def test_a_slot_gives_its_current_memories_newest_first(store):
    old = tell(store, "I live in Munich", subject="user", attribute="home", created_at=NOW - timedelta(days=9))
    new = tell(store, "I live in Berlin", subject="User", attribute="HOME")
    tell(store, "Ana lives in Rome", subject="Ana", attribute="home")
    assert [memory.id for memory in store.find_slot("user", "Home")] == [new.id, old.id]
    store.supersede_memory(old.id, by=new.id, cause=Cause.LEARNED, now=NOW)
    assert [memory.id for memory in store.find_slot("user", "home")] == [new.id]
    store.update_memory(new.id, cause=Cause.USER, now=NOW, attribute="city")
    assert [memory.id for memory in store.find_slot("user", "city")] == [new.id]
    assert store.find_slot("user", "home") == []


def test_lists_are_by_state_kind_and_limit(store):
    bees = tell(store, "I keep bees", kind=Kind.SKILL)
    tram = tell(store, "I drive a tram")
    wait = store.add_memory(NewMemory("I may move", state=State.PROPOSED), cause=Cause.LEARNED, now=NOW)
    store.supersede_memory(tram.id, by=None, cause=Cause.USER, now=NOW)
    ids = lambda memories: [memory.id for memory in memories]  # noqa: E731
    assert ids(store.list_memories()) == [bees.id]
    assert ids(store.list_memories(state=None)) == [bees.id, tram.id, wait.id]
    assert ids(store.list_memories(state=None, limit=2)) == [bees.id, tram.id]
    assert ids(store.list_memories(kind=Kind.SKILL, state=None)) == [bees.id]
    assert [store.count_memories(state) for state in State] == [1, 1, 1]


def test_a_list_may_hold_only_the_leading_ones_of_each_kind(store):
    """Most important first, then shortest; a pinned memory does not take the place of another."""
    long, short = tell(store, "I keep bees on the roof.", importance=5), tell(store, "I keep bees.", importance=5)
    tell(store, "I like trams.", importance=4)
    pinned, goal = tell(store, "I am tall.", pinned=True), tell(store, "Learn Thai", kind=Kind.GOAL)
    ids = lambda memories: [memory.id for memory in memories]  # noqa: E731
    assert ids(store.list_memories(each=1)) == [short.id, pinned.id, goal.id]
    assert ids(store.list_memories(each=2)) == [long.id, short.id, pinned.id, goal.id]
    tell(store.for_user("other"), "I win.", importance=10)
    assert ids(store.list_memories(each=1, kind=Kind.FACT)) == [short.id, pinned.id]


def test_a_list_may_begin_after_an_id_and_hold_only_what_lacks_questions(store):
    asked = tell(store, "I keep bees.", "What do I keep?")
    first, second, third = (tell(store, text) for text in ("I ski.", "I row.", "I sing."))
    store.supersede_memory(second.id, by=third.id, cause=Cause.USER, now=NOW)
    assert [memory.id for memory in store.list_memories(after=asked.id, limit=1)] == [first.id]
    assert [memory.id for memory in store.list_without_cues()] == [third.id, first.id]
    assert [memory.id for memory in store.list_without_cues(limit=1)] == [third.id]


def test_as_of_lists_what_was_true_then(store):
    day = [NOW + timedelta(days=number) for number in range(4)]
    munich = tell(store, "I live in Munich", created_at=day[0])
    berlin = tell(store, "I live in Berlin", created_at=day[2])
    store.add_memory(NewMemory("I may move", state=State.PROPOSED), cause=Cause.LEARNED, now=day[0])
    store.supersede_memory(munich.id, by=berlin.id, cause=Cause.LEARNED, now=day[2])
    listed = [[memory.id for memory in store.list_memories(as_of=moment)] for moment in (day[1], day[3])]
    assert listed == [[munich.id], [berlin.id]]


def test_an_edit_replaces_the_keys_and_the_old_wording_finds_nothing(store):
    memory = tell(store, "I keep bees", "What animals do I keep?")
    edited = store.update_memory(memory.id, cause=Cause.USER, now=LATER, text="I drive a tram")
    assert (edited.text, edited.cues, edited.pending) == ("I drive a tram", (), True)
    assert near(store, "keep bees animals") == []
    embed_all(store)
    assert near(store, "drive tram") == [memory.id]
    assert worded(store, "bees", "animals") == []
    assert worded(store, "tram") == [memory.id]


def test_an_edit_of_other_fields_keeps_the_vectors(store):
    memory = tell(store, "I keep bees", "What animals do I keep?")
    edited = store.update_memory(
        memory.id, cause=Cause.USER, now=LATER, kind=Kind.SKILL, importance=9, pinned=True, event_date=date(2026, 1, 2)
    )
    assert (edited.kind, edited.importance, edited.pinned) == (Kind.SKILL, 9, True)
    assert (edited.event_date, edited.pending, edited.cues) == (date(2026, 1, 2), False, memory.cues)
    assert near(store, "keep bees") == [memory.id]


def test_an_edit_that_changes_nothing_leaves_no_trace(store):
    memory = tell(store, "I keep bees", "What animals do I keep?")
    assert store.update_memory(memory.id, cause=Cause.USER, now=LATER, text="I keep bees") == memory
    assert len(store.list_changes(memory.id)) == 1


def test_new_cues_are_found_and_replace_the_old(store):
    memory = tell(store, "I keep bees", "animals?")
    store.update_memory(memory.id, cause=Cause.LEARNED, now=NOW, cues=("hobbies?",))
    embed_all(store)
    assert [(key.role, key.text, key.embedded) for key in store.list_keys(memory.id)] == [
        ("text", "I keep bees", True),
        ("cue", "hobbies?", True),
    ]


def test_a_restatement_adds_a_source_and_no_memory(store):
    memory = tell(store, "I keep bees", turn=say(store, "I keep bees"))
    again = say(store, "as I said, I keep bees")
    seen = store.restate_memory(
        memory.id, source=Source(again.session, again.id, "I keep bees"), confidence=0.95, now=LATER
    )
    assert (seen.confidence, seen.last_seen_at, seen.created_at) == (0.95, LATER, memory.created_at)
    assert [source.turn for source in store.list_sources(memory.id)] == [again.id - 1, again.id]
    assert store.count_memories() == 1


def test_a_superseded_memory_leaves_the_present_and_is_found_in_the_past(store):
    old = tell(store, "I live in Munich", "Where do I live?")
    new = tell(store, "I live in Berlin", "Where do I live?")
    gone = store.supersede_memory(old.id, by=new.id, cause=Cause.LEARNED, now=LATER)
    assert (gone.state, gone.superseded_by, gone.superseded_at) == (State.SUPERSEDED, new.id, LATER)
    assert (near(store, "Where do I live?"), near(store, "Where do I live?", past=True)) == ([new.id], [old.id])
    assert (worded(store, "live"), worded(store, "live", past=True)) == ([new.id], [old.id])
    back = store.set_state(old.id, State.CURRENT, cause=Cause.USER, now=LATER)
    assert (back.superseded_by, back.pending) == (None, False)
    assert sorted(near(store, "Where do I live?")) == [old.id, new.id]


def test_supersedings_cannot_form_a_circle(store):
    one, two, three = (tell(store, f"I live in city {number}") for number in range(3))
    store.supersede_memory(one.id, by=two.id, cause=Cause.USER, now=NOW)
    store.supersede_memory(two.id, by=three.id, cause=Cause.USER, now=NOW)
    for id, by in ((three.id, one.id), (three.id, three.id)):
        with pytest.raises(UsageError):
            store.supersede_memory(id, by=by, cause=Cause.USER, now=NOW)
    with pytest.raises(NotFound):
        store.supersede_memory(three.id, by=99, cause=Cause.USER, now=NOW)


def test_a_proposal_is_found_only_once_approved(store):
    memory = store.add_memory(NewMemory("I keep bees", state=State.PROPOSED), cause=Cause.LEARNED, now=NOW)
    embed_all(store)
    assert (store.count_pending_keys(), near(store, "bees"), worded(store, "bees")) == (0, [], [])
    assert store.find_exact("I keep bees") is None
    store.set_state(memory.id, State.CURRENT, cause=Cause.USER, now=NOW)
    assert (store.count_pending_keys(), worded(store, "bees")) == (1, [memory.id])
    embed_all(store)
    assert near(store, "I keep bees") == [memory.id]


def test_a_rejected_proposal_is_found_nowhere(store):
    memory = store.add_memory(NewMemory("I keep bees", state=State.PROPOSED), cause=Cause.LEARNED, now=NOW)
    store.set_state(memory.id, State.SUPERSEDED, cause=Cause.USER, now=NOW)
    embed_all(store)
    assert [near(store, "bees", past=past) for past in (False, True)] == [[], []]
    assert [worded(store, "bees", past=past) for past in (False, True)] == [[], []]
    assert store.list_memories(as_of=LATER) == []
    assert store.list_changes(memory.id)[0].action == "rejected"


def test_recalls_are_counted(store):
    memory = tell(store, "I keep bees")
    store.mark_recalled([memory.id, 99], LATER)
    store.mark_recalled([memory.id], LATER)
    told = store.get_memory(memory.id)
    assert (told.recall_count, told.last_recalled_at) == (2, LATER)


def test_a_time_without_a_zone_is_a_mistake_of_the_program(store):
    with pytest.raises(ValueError, match="zone"):
        store.add_memory(NewMemory("I keep bees"), cause=Cause.USER, now=NOW.replace(tzinfo=None))


def test_users_never_see_each_other(store):
    mine = tell(store, "I keep bees", "animals?", subject="user", attribute="pet", ref="r")
    other = store.for_user("ana")
    theirs = tell(other, "I keep bees", "animals?", subject="user", attribute="pet", ref="r")
    assert (near(store, "keep bees"), near(other, "keep bees")) == ([mine.id], [theirs.id])
    assert (worded(store, "bees"), worded(other, "bees")) == ([mine.id], [theirs.id])
    assert (store.find_by_ref("r").id, other.find_by_ref("r").id) == (mine.id, theirs.id)
    assert other.get_memories([mine.id, theirs.id]) == [theirs]
    assert other.list_keys(mine.id) == []
    for touch in (
        lambda: other.get_memory(mine.id),
        lambda: other.update_memory(mine.id, cause=Cause.USER, now=NOW, text="x"),
        lambda: other.supersede_memory(mine.id, by=None, cause=Cause.USER, now=NOW),
        lambda: other.erase([mine.id]),
        lambda: other.list_sources(mine.id),
    ):
        with pytest.raises(NotFound):
            touch()
    assert store.for_user("nobody").list_memories(state=None) == []
    assert store.sizes()["users"] == 2, "a look must not make a user"


def test_a_failed_step_takes_the_whole_transaction_back(store):
    def inner():
        with store.transaction():
            tell(store, "I drive a tram")
            store.add_memory(NewMemory(" "), cause=Cause.USER, now=NOW)

    def outer():
        with store.transaction():
            tell(store, "I keep bees")
            with pytest.raises(UsageError):
                inner()
            assert [memory.text for memory in store.list_memories()] == ["I keep bees"]
            store.get_memory(99)

    with pytest.raises(NotFound):
        outer()
    assert (store.list_memories(), store.count_pending_keys(), worded(store, "bees", "tram")) == ([], 0, [])
    assert store.check() == []


def test_every_change_is_told_with_its_cause(store):
    turn = say(store, "I keep bees")
    memory = tell(store, "I keep bees", turn=turn)
    store.update_memory(memory.id, cause=Cause.USER, now=LATER, text="I keep wasps")
    store.supersede_memory(memory.id, by=None, cause=Cause.USER, now=LATER)
    changes = store.list_changes(memory.id)
    assert [(change.action, change.cause, change.turn) for change in changes] == [
        ("ended", Cause.USER, None),
        ("edited", Cause.USER, None),
        ("added", Cause.LEARNED, turn.id),
    ]
    assert (changes[1].before["text"], changes[1].after["text"]) == ("I keep bees", "I keep wasps")
    assert store.list_changes(limit=1) == changes[:1]
    assert store.for_user("ana").list_changes() == []
