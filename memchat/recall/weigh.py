"""Gives every candidate its numbers and brings the candidates into order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memchat.recall import ranking
from memchat.recall.options import RecallOptions
from memchat.recall.search import Found
from memchat.records import Kind, Rankable
from memchat.text import fold

_LASTING: Final = frozenset({Kind.IDENTITY, Kind.CONSTRAINT, Kind.RELATIONSHIP})  # age takes nothing from these
_PASSING: Final = frozenset({Kind.EVENT, Kind.TASK})
_SECONDS_A_DAY: Final = 86400.0
_DEVIATIONS: Final = 3.0  # of the noise, over which similarities are spread at least


@dataclass(frozen=True, slots=True)
class Weighed:
    """A candidate with the numbers that place it (shares and scores 0-1)."""

    memory: Rankable
    found: Found
    age_days: float
    keyword_score: float
    relevance: float
    decay: float
    score: float


def weigh(
    found: Sequence[Found], memories: Mapping[int, Rankable], options: RecallOptions, now: datetime, noise: float = 0.0
) -> list[Weighed]:
    """Return the candidates best first; a newer memory of the same subject and attribute goes before an older one.

    `noise` is the deviation of unrelated similarities: candidates within a few of it are hardly told apart by meaning.
    """
    known = [hit for hit in found if hit.memory in memories]
    weighed = [
        _weighed(memories[hit.memory], hit, scores, options, now)
        for hit, scores in zip(known, _scores(known, options, noise), strict=True)
    ]
    weighed.sort(key=lambda one: (-one.score, -one.memory.id))
    return _newest_of_slot_first(weighed)


def half_life(memory: Rankable, options: RecallOptions) -> float | None:
    """Return the days after which `memory` counts half; None for what never fades."""
    if memory.pinned or memory.kind in _LASTING:
        return None
    return options.half_life_days if memory.kind in _PASSING else options.slow_half_life_days


def age_days(memory: Rankable, now: datetime) -> float:
    """Return the days since the memory was last said, never negative."""
    return max(0.0, (now - memory.last_seen_at).total_seconds() / _SECONDS_A_DAY)


def _scores(found: Sequence[Found], options: RecallOptions, noise: float) -> list[tuple[float, float]]:
    """Return each candidate's keyword score and relevance; without any similarity words alone are relevance."""
    by_meaning = any(hit.similarity is not None for hit in found)
    weight = options.semantic_weight if by_meaning else 0.0
    words = ranking.keyword_scores([hit.bm25 for hit in found], [hit.matched for hit in found])
    return [
        (word, ranking.fuse(meaning, word, weight))
        for meaning, word in zip(_meanings(found, noise), words, strict=True)
    ]


def _meanings(found: Sequence[Found], noise: float) -> list[float]:
    """Spread the similarities over 0-1; what only words found is at most as near as the farthest of the others."""
    known = [hit.similarity for hit in found if hit.similarity is not None]
    farthest = min(known, default=0.0)
    similarities = [farthest if hit.similarity is None else hit.similarity for hit in found]
    return ranking.spread(similarities, _DEVIATIONS * noise)


def _weighed(
    memory: Rankable, hit: Found, scores: tuple[float, float], options: RecallOptions, now: datetime
) -> Weighed:
    words, relevance = scores
    age = age_days(memory, now)
    decay = ranking.decay(age, half_life(memory, options), options.decay_floor)
    importance = ranking.importance_factor(memory.importance, options.importance_weight)
    use = ranking.use_factor(memory.recall_count, options.use_weight)
    return Weighed(memory, hit, age, words, relevance, decay, ranking.score(relevance, decay, importance, use))


def _newest_of_slot_first(weighed: list[Weighed]) -> list[Weighed]:
    places: dict[tuple[str, str], list[int]] = {}
    for place, one in enumerate(weighed):
        memory = one.memory
        if memory.subject and memory.attribute:
            places.setdefault((fold(memory.subject), fold(memory.attribute)), []).append(place)
    ordered = list(weighed)
    for shared in places.values():
        newest = sorted((weighed[place] for place in shared), key=lambda one: one.memory.created_at, reverse=True)
        for place, one in zip(shared, newest, strict=True):
            ordered[place] = one
    return ordered
