"""Each verdict, with its reason in plain words, made from numbers alone."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memchat.recall.ages import age_in_words, day_in_words
from memchat.recall.options import RecallOptions
from memchat.recall.search import Found
from memchat.recall.select import Bar, are_twins, raised, select
from memchat.recall.weigh import Weighed
from memchat.records import Kind, Rankable, State, Verdict

NOW = datetime(2026, 11, 30, tzinfo=UTC)
BAR = Bar(floor=0.25, matched=0.6)


def one(id, text, similarity=0.5, *, matched=0.0, past=False, ended=None, by=None):
    state = State.SUPERSEDED if past else State.CURRENT
    memory = Rankable(id, text, Kind.FACT, 5, False, state, NOW, NOW, superseded_by=by, superseded_at=ended)
    found = Found(id, past, similarity, text, 1.0 if matched else 0.0, matched)
    return Weighed(memory, found, 0.0, matched, similarity or 0.0, 1.0, similarity or 0.0)


def verdict(weighed, bar=BAR, **options):
    return [(c.verdict.value, c.reason) for c in select(weighed, bar, RecallOptions(**options)).candidates]


def test_a_near_memory_is_injected():
    assert verdict([one(1, "moved to Berlin", 0.41)]) == [("injected", "similarity 0.41, the floor is 0.25")]


def test_a_far_one_is_below_the_floor_by_so_much():
    assert verdict([one(1, "oat milk", 0.21)]) == [("below_floor", "similarity 0.21, 0.04 below the floor of 0.25")]


@pytest.mark.parametrize(
    ("floor", "similarities", "wanted"),
    [
        (0.03, [0.6, 0.1, None], 0.18),
        (0.25, [0.6], 0.25),
        (0.03, [None], 0.03),
        (0.03, [], 0.03),
        (None, [0.6], None),
    ],
)
def test_the_floor_rises_with_the_nearest_memory(floor, similarities, wanted):
    weighed = [one(id, "x", similarity) for id, similarity in enumerate(similarities)]
    assert raised(Bar(floor, 0.6), weighed, 0.3).floor == pytest.approx(wanted)


def test_what_is_no_longer_true_does_not_raise_the_floor():
    assert raised(Bar(0.03, 0.6), [one(1, "x", 0.9, past=True)], 0.3).floor == 0.03


def test_shared_words_do_instead_of_nearness():
    assert verdict([one(1, "Yaw's coach", 0.1, matched=1.0)]) == [("injected", "it holds 100% of the question's words")]
    assert verdict([one(1, "Yaw's coach", None, matched=0.5)]) == [
        ("below_floor", "it holds 50% of the question's words, 60% are needed")
    ]


def test_a_keyword_floor_of_zero_admits_only_what_shares_a_word():
    bar = Bar(floor=0.9, matched=0.0)
    assert [name for name, _ in verdict([one(1, "a b", 0.1), one(2, "c d", 0.1, matched=0.1)], bar)] == [
        "below_floor",
        "injected",
    ]


def test_the_profile_is_not_repeated_from_the_third_place_on():
    bar = Bar(0.25, 0.6, profile=frozenset({1, 2, 3}))
    weighed = [one(1, "red house", 0.9), one(2, "blue house", 0.8), one(3, "green house", 0.7)]
    assert verdict(weighed, bar) == [
        ("injected", "similarity 0.90, the floor is 0.25; repeated from the profile"),
        ("injected", "similarity 0.80, the floor is 0.25; repeated from the profile"),
        ("in_profile", "it stands in the profile"),
    ]


def test_a_profile_memory_below_the_floor_stays_in_the_profile():
    assert verdict([one(1, "red house", 0.2)], Bar(0.25, 0.6, profile=frozenset({1}))) == [
        ("in_profile", "it stands in the profile")
    ]


def test_what_is_no_longer_true_says_since_when_and_what_replaced_it():
    ended = datetime(2026, 3, 3, tzinfo=UTC)
    old = one(1, "moved to Munich", 0.9, past=True, ended=ended, by=2)
    assert verdict([old]) == [
        ("superseded", "no longer true since 3 March 2026, replaced by 2, and the question is not about the past")
    ]
    chosen = select([old], Bar(0.25, 0.6, about_past=True), RecallOptions())
    assert "- moved to Munich (no longer true, until 3 March 2026)" in chosen.block


def test_of_twins_only_the_better_one_is_given():
    weighed = [one(1, "I am a vegetarian.", 0.9), one(2, "I'm vegetarian", 0.8)]
    assert verdict(weighed)[1] == ("near_duplicate", "it says the same as 1, which is chosen already")


def test_twelve_copies_do_not_crowd_out_the_allergy():
    """Retrieval collapse: a fact said twelve times must not fill the five places."""
    copies = [one(number, "I am vegetarian" + "!" * number, 0.95) for number in range(1, 13)]
    others = [one(20, "I am allergic to nuts", 0.6), one(21, "My budget is 20 euros", 0.5)]
    chosen = select([*copies, *others], BAR, RecallOptions())
    assert [c.id for c in chosen.candidates if c.verdict is Verdict.INJECTED] == [1, 20, 21]


def test_beyond_the_limit():
    weighed = [one(number, f"fact {number}") for number in range(1, 4)]
    assert verdict(weighed, limit=2)[2] == ("beyond_k", "2 better ones are recalled already")
    assert {name for name, _ in verdict(weighed, limit=0)} == {"beyond_k"}


def test_over_the_budget_a_shorter_one_still_fits():
    weighed = [one(1, "short one"), one(2, "long " * 60), one(3, "small thing")]
    names = [name for name, _ in verdict(weighed, budget_tokens=90)]
    assert names == ["injected", "over_budget", "injected"]
    assert "tokens of 90" in verdict(weighed, budget_tokens=90)[1][1]


@given(st.lists(st.tuples(st.text(min_size=1, max_size=200), st.floats(-1, 1)), max_size=12), st.integers(0, 400))
def test_the_budget_and_the_limit_are_never_exceeded(texts, budget):
    weighed = [one(number, text, similarity) for number, (text, similarity) in enumerate(texts, start=1)]
    chosen = select(weighed, BAR, RecallOptions(limit=3, budget_tokens=budget))
    assert chosen.tokens <= budget
    assert sum(c.verdict is Verdict.INJECTED for c in chosen.candidates) <= 3
    assert len(chosen.candidates) == len(texts)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("I am a vegetarian.", "I'm vegetarian", True),
        ("I have two cats.", "I have two cat", True),
        ("I eat meat.", "I do not eat meat.", False),
        ("My rent is 900 euros.", "My rent is 950 euros.", False),
        ("I live in Munich.", "I live in Berlin.", False),
        ("", "", False),
    ],
)
def test_twins_have_the_same_words_numbers_and_negation(a, b, expected):
    assert are_twins(a, b, 0.95) is expected


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (0, "today"), (0.9, "today"), (1.2, "yesterday"), (2, "2 days ago"), (13, "13 days ago"), (14, "2 weeks ago"),
        (60, "8 weeks ago"), (62, "2 months ago"), (250, "8 months ago"), (366, "1 year ago"), (800, "2 years ago"),
    ],
)  # fmt: skip
def test_age_is_said_in_whole_units(days, words):
    assert age_in_words(days) == words


def test_a_day_is_said_in_full():
    assert day_in_words(datetime(2026, 3, 3, tzinfo=UTC)) == "3 March 2026"
