"""The arithmetic of recall, with the worked examples that the system was designed from."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memchat.recall import ranking

QUESTION = [0.9, 0.1, 0.2]  # "Where do I live?" on the axes place, food, time


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        pytest.param([0.8, 0.0, 0.4], 0.964, id="moved to Berlin"),
        pytest.param([0.1, 0.9, 0.1], 0.237, id="oat milk"),
        pytest.param([-0.9, -0.1, -0.2], -1.0, id="opposite"),
        pytest.param([1.8, 0.2, 0.4], 1.0, id="length does not matter"),
    ],
)
def test_cosine_is_the_angle_alone(memory, expected):
    assert ranking.cosine(QUESTION, memory) == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize("bad", [[0.0, 0.0, 0.0], [1.0, 0.0]], ids=["zero", "other length"])
def test_cosine_refuses_what_has_no_angle(bad):
    with pytest.raises(ValueError, match="cosine"):
        ranking.cosine(QUESTION, bad)


@pytest.mark.parametrize(
    ("age", "half_life", "least", "expected"),
    [
        pytest.param(0, 90, 0.0, 1.0, id="fresh"),
        pytest.param(90, 90, 0.0, 0.5, id="one half-life"),
        pytest.param(180, 90, 0.0, 0.25, id="two half-lives"),
        pytest.param(180, None, 0.0, 1.0, id="never fades"),
        pytest.param(3650, 90, 0.9, 0.9, id="not below the least"),
        pytest.param(-5, 90, 0.0, 1.0, id="a clock set back"),
    ],
)
def test_decay_halves_with_every_half_life(age, half_life, least, expected):
    assert ranking.decay(age, half_life, least) == pytest.approx(expected)


def test_a_stale_memory_falls_behind_a_fresh_one():
    """0.90 after two half-lives is 0.225: under a floor of 0.35, and far under a fresh 0.70."""
    stale = ranking.score(0.90, ranking.decay(180, 90), 1.0, 1.0)
    fresh = ranking.score(0.70, ranking.decay(0, 90), 1.0, 1.0)
    assert stale == pytest.approx(0.225)
    assert stale < 0.35 < fresh


def test_an_allergy_is_as_strong_after_years():
    assert ranking.score(0.6, ranking.decay(2000, None), 1.0, 1.0) == pytest.approx(0.6)


def test_spread_reaches_from_0_to_1():
    assert ranking.spread([0.2, 0.6, 0.4]) == pytest.approx([0.0, 1.0, 0.5])
    assert ranking.spread([0.3, 0.3]) == [1.0, 1.0]
    assert ranking.spread([]) == []


def test_small_differences_are_not_stretched_to_the_full():
    assert ranking.spread([0.30, 0.28], least_range=0.2) == pytest.approx([1.0, 0.9])


def test_one_accidental_word_counts_less_than_the_whole_question():
    assert ranking.keyword_scores([4.0, 4.0, 0.0], [1.0, 0.25, 0.0]) == pytest.approx([1.0, 0.25, 0.0])
    assert ranking.keyword_scores([0.0], [0.0]) == [0.0]


@pytest.mark.parametrize(
    ("weight", "expected"), [(1.0, 0.8), (0.0, 0.2), (0.65, 0.59)], ids=["meaning alone", "words alone", "both"]
)
def test_fuse_weighs_meaning_against_words(weight, expected):
    assert ranking.fuse(0.8, 0.2, weight) == pytest.approx(expected)


def test_importance_and_use_are_gentle():
    assert [ranking.importance_factor(level, 0.1) for level in (1, 5, 10)] == pytest.approx([0.92, 1.0, 1.1])
    assert ranking.use_factor(0, 0.05) == 1.0
    assert 1.0 < ranking.use_factor(1, 0.05) < ranking.use_factor(100, 0.05) < 1.05


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_more_of_either_never_lowers_relevance(meaning, more, words, more_words, weight):
    low = ranking.fuse(min(meaning, more), min(words, more_words), weight)
    assert low <= ranking.fuse(max(meaning, more), max(words, more_words), weight) + 1e-12


@given(st.floats(0, 1e5), st.floats(0, 1e5), st.floats(0.5, 1e4), st.floats(0, 1))
def test_older_is_never_stronger(age, other, half_life, least):
    young, old = sorted((age, other))
    assert least <= ranking.decay(old, half_life, least) <= ranking.decay(young, half_life, least) <= 1


def test_quantile_lies_between_its_neighbours():
    assert ranking.quantile([4, 1, 3, 2], 0.5) == pytest.approx(2.5)
    assert [ranking.quantile([1, 2, 3], share) for share in (0, 1)] == [1, 3]
    with pytest.raises(ValueError, match="needs values"):
        ranking.quantile([], 0.5)


def test_mean_and_deviation_of_a_population():
    mean, deviation = ranking.mean_and_deviation([2, 4, 4, 4, 5, 5, 7, 9])
    assert (mean, deviation) == (5, 2)
    with pytest.raises(ValueError, match="needs values"):
        ranking.mean_and_deviation([])


def test_dot_of_unit_vectors_is_their_cosine():
    a, b = [0.6, 0.8], [math.sqrt(0.5), math.sqrt(0.5)]
    assert ranking.dot(a, b) == pytest.approx(ranking.cosine(a, b))
