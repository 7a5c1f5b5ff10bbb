"""The arithmetic of recall: pure functions of numbers, so that every weight can be checked by hand."""

import math
from collections.abc import Sequence
from operator import mul

_MIDDLE_IMPORTANCE = 5  # what a memory has when nobody judged it


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the cosine of the angle between two vectors of one length, -1 to 1; ValueError for one of norm 0."""
    norms = math.hypot(*a) * math.hypot(*b)
    if norms == 0 or len(a) != len(b):
        raise ValueError("cosine needs two vectors of one length and a norm above 0")
    return dot(a, b) / norms


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the sum of products, which for vectors of norm 1 is their cosine."""
    return sum(map(mul, a, b), 0.0)


def decay(age_days: float, half_life_days: float | None, least: float = 0.0) -> float:
    """Return what age leaves: 0.5 ** (age / half-life), from `least` to 1; 1 without a half-life or in the future."""
    if half_life_days is None:
        return 1.0
    return max(least, min(1.0, math.exp2(-age_days / half_life_days)))


def spread(values: Sequence[float], least_range: float = 0.0) -> list[float]:
    """Return `values` moved and stretched so that the best is 1 and the worst 0.

    When they lie closer together than `least_range`, they are stretched only as if they filled it: the small
    differences among few candidates must not look like large ones.
    """
    low, high = min(values, default=0.0), max(values, default=0.0)
    width = max(high - low, least_range)
    return [1 - (high - value) / width if width > 0 else 1.0 for value in values]


def keyword_scores(bm25: Sequence[float], shares: Sequence[float]) -> list[float]:
    """Return keyword scores 0-1: BM25 against the best of this search, times the share of the words found.

    The second factor keeps one accidental common word from counting as much as the whole question.
    """
    best = max(bm25, default=0.0)
    return [share * score / best if best > 0 else 0.0 for score, share in zip(bm25, shares, strict=True)]


def fuse(similarity: float, keywords: float, semantic_weight: float) -> float:
    """Return the relevance: the weighted sum of two scores from 0 to 1."""
    return semantic_weight * similarity + (1 - semantic_weight) * keywords


def importance_factor(importance: int, weight: float) -> float:
    """Return a gentle factor around 1: importance 5 leaves the score as it is, 10 and 0 move it by `weight`."""
    return 1 + weight * (importance - _MIDDLE_IMPORTANCE) / _MIDDLE_IMPORTANCE


def use_factor(recall_count: int, weight: float) -> float:
    """Return a factor from 1 up to 1 + `weight` that grows with earlier use, ever more slowly."""
    return 1 + weight * (1 - 1 / (1 + math.log1p(max(0, recall_count))))


def score(relevance: float, decay: float, importance: float, use: float) -> float:
    """Return what the order goes by: the product of relevance and the three factors."""
    return relevance * decay * importance * use


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of `values` do not exceed, interpolated between neighbours; ValueError if none."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("a quantile needs values")
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the standard deviation of the whole population; ValueError if none."""
    if not values:
        raise ValueError("a mean needs values")
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
