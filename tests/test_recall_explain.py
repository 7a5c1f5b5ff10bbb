"""Why a memory was not recalled: each stage it can be lost at, and what would let it in."""

import re
from dataclasses import replace as changed

import pytest

from memchat.recall import RecallOptions, ensure_embedded, explain, recall, replay
from memchat.records import Cause, Kind, ProfileEntry, State, Verdict
from tests.recall_stage import NOW, OPTIONS, embedder, fill, given, open_store, replace, tell


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path) as store:
        yield store


def expected(store, query, expect, options=OPTIONS, **more):
    more = {"embedder": embedder()} | more
    return explain(store, more.pop("embedder"), query, str(expect), options, now=NOW, **more)[1]


def test_a_recalled_one_needs_nothing(store):
    memory = fill(store, "moved to Berlin")[0]
    found = expected(store, "live", memory.id)
    assert (found.id, found.verdict, found.would_admit) == (memory.id, Verdict.INJECTED, "")


def test_words_of_its_text_name_it_too(store):
    memory = fill(store, "moved to Berlin", "oat milk in coffee")[0]
    assert expected(store, "live", "to BERLIN").id == memory.id
    assert expected(store, "live", "berlin moved").id == memory.id


@pytest.mark.parametrize(
    ("expect", "advice"),
    [("77", "memchat list"), ("I keep bees", "memchat remember"), ("?", "memchat remember")],
    ids=["id", "text", "no words"],
)
def test_what_is_not_stored(store, expect, advice):
    fill(store, "moved to Berlin")
    found = expected(store, "live", expect)
    assert (found.id, found.verdict) == (None, Verdict.NOT_STORED)
    assert advice in found.would_admit
    assert expect != "77" or "remember" not in found.would_admit


def test_what_belongs_to_another_user(store):
    fill(store, "moved to Berlin")
    theirs = tell(store.for_user("ana"), "moved to Rome")
    found = expected(store, "live", theirs.id)
    assert (found.verdict, found.would_admit) == (Verdict.OTHER_USER, "--user ana")
    assert "Rome" not in found.reason


def test_what_has_no_vector_yet(store):
    fill(store, "oat milk in coffee")
    memory = tell(store, "moved to Berlin")
    found = expected(store, "live", memory.id)
    assert (found.verdict, found.would_admit) == (Verdict.NOT_EMBEDDED, "memchat reindex")


def test_what_waits_for_approval(store):
    fill(store, "oat milk in coffee")
    memory = tell(store, "moved to Berlin", state=State.PROPOSED)
    found = expected(store, "live", memory.id)
    assert (found.verdict, found.reason) == (Verdict.NOT_A_CANDIDATE, "it waits for approval")
    assert found.would_admit == f"memchat pending approve {memory.id}"


def test_what_is_not_among_the_nearest(store):
    for number in range(60):
        tell(store, f"live number {number}")
    far = tell(store, "oat milk in coffee")
    ensure_embedded(store, embedder())
    found = expected(store, "live", far.id)
    assert (found.verdict, found.reason) == (Verdict.NOT_A_CANDIDATE, "it is not among the nearest")
    assert "cue" in found.would_admit


def test_what_words_alone_do_not_find(store):
    memory = fill(store, "moved to Berlin")[0]
    found = expected(store, "live", memory.id, embedder=None)
    assert (found.verdict, found.reason) == (Verdict.NOT_A_CANDIDATE, "it shares no word with the question")


def test_what_is_below_the_floor_and_how_low_it_must_be(store):
    memory = fill(store, "moved to Berlin in March for a new job")[0]
    found = expected(store, "Where do I live?", memory.id, RecallOptions(floor=0.8))
    assert found.verdict is Verdict.BELOW_FLOOR
    assert "below the floor of 0.80" in found.reason
    floor = float(found.would_admit.split("= ")[1].split(",")[0])
    again = expected(store, "Where do I live?", memory.id, RecallOptions(floor=floor))
    assert again.verdict is Verdict.INJECTED


def test_what_is_no_longer_true(store):
    old, new = tell(store, "moved to Munich"), tell(store, "moved to Berlin")
    replace(store, old, new)
    ensure_embedded(store, embedder())
    found = expected(store, "live", old.id)
    assert found.verdict is Verdict.SUPERSEDED
    assert "past" in found.would_admit


def test_what_stands_in_the_profile(store):
    memories = fill(store, "live there", "live here now", "moved out")
    profile = [ProfileEntry(memory.id, memory.text) for memory in memories]
    found = [expected(store, "live", memory.id, profile=profile) for memory in memories]
    last = next(one for one in found if one.verdict is Verdict.IN_PROFILE)
    assert last.would_admit == "nothing: the model has it already"


def test_the_twin_is_named(store):
    first, second = fill(store, "moved to Berlin", "moved to Berlin!")
    found = [expected(store, "live", memory.id) for memory in (first, second)]
    twin = next(one for one in found if one.verdict is Verdict.NEAR_DUPLICATE)
    assert twin.reason == f"it says the same as {first.id + second.id - twin.id}, which is chosen already"


def test_what_is_beyond_the_limit_and_which_would_do(store):
    fill(store, "live one", "live two", "live three")
    options = changed(OPTIONS, limit=1)
    ids = [one.id for one in recall(store, embedder(), "live", options, NOW).candidates]
    found = expected(store, "live", ids[2], options)
    assert (found.verdict, found.would_admit) == (Verdict.BEYOND_K, "recall.limit = 3")
    assert expected(store, "live", ids[2], changed(OPTIONS, limit=3)).verdict is Verdict.INJECTED


def test_what_is_over_the_budget_and_which_would_do(store):
    memory = fill(store, "live " + "far " * 100)[0]
    options = changed(OPTIONS, budget_tokens=60)
    found = expected(store, "live far", memory.id, options)
    assert found.verdict is Verdict.OVER_BUDGET
    enough = int(found.would_admit.split("= ")[1])
    assert expected(store, "live far", memory.id, changed(OPTIONS, budget_tokens=enough)).verdict is Verdict.INJECTED


def admitting(advice, options):
    """Return the options with the changes that an advice names."""
    named = dict(re.findall(r"recall\.(\w+) = (-?\d+(?:\.\d+)?)", advice))
    return changed(options, **{key: float(value) if key == "floor" else int(value) for key, value in named.items()})


@pytest.mark.parametrize(
    "options",
    [
        changed(OPTIONS, limit=1, budget_tokens=70),
        changed(OPTIONS, limit=3, budget_tokens=60),
        changed(OPTIONS, floor=0.95, limit=2, budget_tokens=60),
    ],
    ids=["limit", "budget", "floor"],
)
def test_all_that_has_to_change_is_named_at_once(store, options):
    fill(store, *(f"live {'there ' * (40 if n == 2 else n)}{n}" for n in range(8)))
    found = recall(store, embedder(), "live", options, NOW).candidates
    advised = []
    for one in found:
        advice = expected(store, "live", one.id, options).would_admit
        if one.verdict is not Verdict.INJECTED:
            advised.append(advice)
            again = expected(store, "live", one.id, admitting(advice, options))
            assert again.verdict is Verdict.INJECTED, (advice, again)
    assert any(" and " in advice for advice in advised), advised


def test_a_twin_of_one_that_would_come_first_is_told(store):
    fill(store, "live there now", "live one", "live one!")
    found = recall(store, embedder(), "live one", changed(OPTIONS, limit=5), NOW).candidates
    last = next(one for one in found if one.verdict is Verdict.NEAR_DUPLICATE)
    options = changed(OPTIONS, limit=0)
    assert expected(store, "live one", last.id, options).verdict is Verdict.BEYOND_K
    assert "says the same" in expected(store, "live one", last.id, options).would_admit


def test_what_no_setting_admits_is_advised_a_cue(store):
    fill(store, *("live " + f"there{n} " * 150 for n in range(45)))
    options = changed(OPTIONS, floor=-1.0, limit=1, budget_tokens=8000)
    last = recall(store, embedder(), "live", options, NOW).candidates[-1]
    assert expected(store, "live", last.id, options).would_admit == "a cue that is nearer to the question"


def test_what_was_learnt_only_later(store):
    fill(store, "moved to Berlin")
    found = expected(store, "live", "moved to Berlin", as_of=NOW.replace(year=2025))
    assert found.verdict is Verdict.NOT_STORED
    assert found.reason == "it was learnt only on 2026-11-30"


def test_a_replay_tells_what_came_and_what_went(store):
    old = fill(store, "moved to Munich")[0]
    then = recall(store, embedder(), "live", OPTIONS, NOW)
    new = tell(store, "moved to Berlin", Kind.IDENTITY)
    store.supersede_memory(old.id, by=new.id, cause=Cause.USER, now=NOW)
    ensure_embedded(store, embedder())
    again = replay(store, embedder(), then, OPTIONS, NOW)
    assert (given(again.then), given(again.now)) == (["moved to Munich"], ["moved to Berlin"])
    assert [one.id for one in again.added] == [new.id]
    assert [one.id for one in again.gone] == [old.id]
