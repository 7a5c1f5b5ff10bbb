"""What would let a memory in that was found and not given: every setting at once that has to change, or why none does.

It is found as the read path itself goes: those ranked before it that would come in by the same change take their places
and their share of the budget first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memchat.recall.options import RecallOptions
from memchat.recall.select import PASSED_OVER, REPEATS, are_twins, block_of
from memchat.records import Candidate, Recall, Verdict
from memchat.settings import find_setting
from memchat.text import estimate_tokens

_SPARE: Final = 0.005  # what a floor must lie below a similarity that is printed with two digits
_NEARER: Final = "a cue that is nearer to the question"


@dataclass(frozen=True, slots=True)
class _Beside:
    """The candidates that would be given, the wanted one last; `twin` says the same as it and comes first."""

    given: tuple[Candidate, ...]
    twin: Candidate | None = None


def would_admit(candidate: Candidate, recall: Recall, options: RecallOptions) -> str:
    """Name the smallest change of settings, or of the memory, that would let the candidate in; "" where it is in."""
    match candidate.verdict:
        case Verdict.IN_PROFILE:
            return "nothing: the model has it already"
        case Verdict.SUPERSEDED:
            return "a question about the past, or an --as-of before it was replaced"
        case Verdict.BELOW_FLOOR:
            return _lower_floor(candidate, recall, options)
        case Verdict.NEAR_DUPLICATE:
            return "nothing: its twin is recalled; merge the two, or raise recall.duplicate_similarity"
        case Verdict.BEYOND_K if candidate.reason == PASSED_OVER:
            return "recall.rerank = false, or a question nearer to it"
        case Verdict.OVER_BUDGET | Verdict.BEYOND_K:
            return _changes(candidate, recall, options)
        case _:
            return ""


def _lower_floor(candidate: Candidate, recall: Recall, options: RecallOptions) -> str:
    if candidate.similarity is None or recall.floor is None:
        return "more words of the memory in the question, or a cue that holds them"
    floor = round(max(-1.0, candidate.similarity - _SPARE), 2)
    return _changes(candidate, recall, options, floor)


def _changes(candidate: Candidate, recall: Recall, options: RecallOptions, floor: float | None = None) -> str:
    """Return the settings that have to change, together; a cue where none within its bounds would do."""
    beside = _needed(candidate, recall, options, floor)
    if beside.twin is not None:
        return f"nothing: #{beside.twin.id}, which would come first, says the same"
    profile = {entry.id for entry in recall.profile}
    needed = {
        "recall.limit": (options.limit, sum(one.id not in profile for one in beside.given)),
        "recall.budget_tokens": (options.budget_tokens, _tokens(beside)),
    }
    if any(number > (find_setting(key).high or number) for key, (_, number) in needed.items()):
        return _NEARER
    told = [f"{key} = {number}" for key, (now, number) in needed.items() if number > now]
    if floor is None:
        return " and ".join(told)
    return f"{' and '.join([f'recall.floor = {floor:.2f}', *told])}, or {_NEARER}"


def _needed(candidate: Candidate, recall: Recall, options: RecallOptions, floor: float | None) -> _Beside:
    beside = _beside(candidate, recall, options, floor, (Verdict.INJECTED, Verdict.BEYOND_K))
    if _tokens(beside) <= options.budget_tokens:
        return beside
    # A larger budget also lets in what stands before it and was too long.
    every = (Verdict.INJECTED, Verdict.BEYOND_K, Verdict.OVER_BUDGET)
    return _beside(candidate, recall, options, floor, every)


def _tokens(beside: _Beside) -> int:
    return estimate_tokens(block_of(beside.given))


def _beside(
    candidate: Candidate, recall: Recall, options: RecallOptions, floor: float | None, verdicts: Sequence[Verdict]
) -> _Beside:
    given: list[Candidate] = []
    for place, one in enumerate(recall.candidates):
        wanted = one.id == candidate.id
        if not wanted and not _comes_in(one, place, floor, verdicts):
            continue
        twin = next((other for other in given if _same(one, other, options.duplicate_similarity)), None)
        if wanted:
            return _Beside((*given, one), twin)
        if twin is None:
            given.append(one)
    return _Beside(tuple(given))


def _comes_in(one: Candidate, place: int, floor: float | None, verdicts: Sequence[Verdict]) -> bool:
    if one.verdict in verdicts:
        return one.reason != PASSED_OVER
    near = floor is not None and one.similarity is not None and one.similarity >= floor
    return near and (one.verdict is Verdict.BELOW_FLOOR or (one.verdict is Verdict.IN_PROFILE and place < REPEATS))


def _same(a: Candidate, b: Candidate, share: float) -> bool:
    return (a.superseded_at is None) == (b.superseded_at is None) and are_twins(a.text, b.text, share)
