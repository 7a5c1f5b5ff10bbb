"""Decides which candidates the model is given, and says of each in plain words why or why not."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from memchat.prompts import BlockLine, memory_block
from memchat.recall.ages import age_in_words, day_in_words
from memchat.recall.options import RecallOptions
from memchat.recall.query import worth_searching
from memchat.recall.weigh import Weighed
from memchat.records import Candidate, Rankable, Verdict
from memchat.text import estimate_tokens, words

REPEATS: Final = 2  # so many of the first places may repeat a memory of the profile beside the message
PASSED_OVER: Final = "the model, asked to pick, passed it over"
_NEGATION_WORDS: Final = """no not never none nothing don't doesn't didn't can't cannot won't isn't aren't wasn't
    without nunca nada sin nicht kein keine keinen nie ohne ne pas jamais sans non mai senza não nem sem niet geen nooit
    zonder"""
_NEGATIONS: Final = frozenset(_NEGATION_WORDS.split())


@dataclass(frozen=True, slots=True)
class Bar:
    """What a candidate has to pass: the floor of this question (None: words alone decide) and how it is asked."""

    floor: float | None
    matched: float  # share of the question's words that does instead of the floor
    about_past: bool = False
    profile: Collection[int] = ()
    passed_over: Collection[int] = ()  # by the second look


@dataclass(frozen=True, slots=True)
class _Wording:
    """What twins have in common: their words without endings, their numbers, and whether something is denied."""

    stems: frozenset[str]
    numbers: frozenset[str]
    denies: bool


@dataclass(slots=True)
class _Chosen:
    """What was chosen so far, as it will stand beside the message."""

    wordings: list[tuple[Weighed, _Wording]] = field(default_factory=list)
    lines: list[BlockLine] = field(default_factory=list)
    counted: int = 0  # those that count towards the limit

    last: tuple[str, _Wording] | None = None  # the text looked at last, which is often the one to be added

    def add(self, one: Weighed, *, counts: bool) -> None:
        self.wordings.append((one, self._wording_of(one)))
        self.lines.append(block_line(one))
        self.counted += counts

    def twin_of(self, one: Weighed, share: float) -> int | None:
        """Return the chosen memory that says the same; one that is no longer true is no twin of one that is."""
        wording = self._wording_of(one)
        for chosen, other in self.wordings:
            if chosen.found.past == one.found.past and _alike(wording, other, share):
                return chosen.memory.id
        return None

    def _wording_of(self, one: Weighed) -> _Wording:
        text = one.memory.text
        if self.last is None or self.last[0] != text:
            self.last = text, _wording(text)
        return self.last[1]


@dataclass(frozen=True, slots=True)
class Selection:
    """All candidates with their verdicts, in order, and the block made of the injected ones."""

    candidates: tuple[Candidate, ...]
    block: str
    tokens: int


def select(weighed: Sequence[Weighed], bar: Bar, options: RecallOptions) -> Selection:
    """Go through the candidates best first: profile, past, floor, twins, limit, budget."""
    chosen = _Chosen()
    judged = []
    for place, one in enumerate(weighed):
        verdict, reason = _judge(one, place, bar, chosen, options)
        if verdict is Verdict.INJECTED:
            chosen.add(one, counts=one.memory.id not in bar.profile)
        judged.append(_candidate(one, verdict, reason))
    block = memory_block(chosen.lines)
    return Selection(tuple(judged), block, estimate_tokens(block))


def raised(bar: Bar, weighed: Sequence[Weighed], share: float) -> Bar:
    """Return the bar with a floor of at least `share` of the best similarity: beside a near one, far ones are noise."""
    best = max((one.found.similarity or 0.0 for one in weighed if not one.found.past), default=0.0)
    return bar if bar.floor is None else replace(bar, floor=max(bar.floor, share * best))


def passes(one: Weighed, bar: Bar) -> bool:
    """Tell whether a candidate is near enough, or shares enough words with the question."""
    near = bar.floor is not None and one.found.similarity is not None and one.found.similarity >= bar.floor
    return near or (one.found.matched > 0 and one.found.matched >= bar.matched)


def block_line(one: Weighed) -> BlockLine:
    """Return a candidate as the model is shown it: with its age, or with the day until which it was true."""
    return _line(one.memory.text, one.age_days, one.memory.superseded_at, past=one.found.past)


def _line(text: str, age_days: float, ended: datetime | None, *, past: bool) -> BlockLine:
    if past:
        return BlockLine(text, f"until {day_in_words(ended)}" if ended else "until lately", past=True)
    return BlockLine(text, age_in_words(age_days))


def block_of(candidates: Sequence[Candidate]) -> str:
    """Return the memory block of candidates that were chosen already, in their order."""
    lines = [_line(one.text, one.age_days, one.superseded_at, past=one.superseded_at is not None) for one in candidates]
    return memory_block(lines)


def are_twins(a: str, b: str, share: float) -> bool:
    """Tell whether two texts say the same: `share` of their words in common, and the same numbers and negations."""
    return _alike(_wording(a), _wording(b), share)


def _judge(one: Weighed, place: int, bar: Bar, chosen: _Chosen, options: RecallOptions) -> tuple[Verdict, str]:
    in_profile = one.memory.id in bar.profile
    if in_profile and not (place < REPEATS and passes(one, bar)):
        return Verdict.IN_PROFILE, "it stands in the profile"
    if one.found.past and not bar.about_past:
        return Verdict.SUPERSEDED, f"{_ended(one.memory)}, and the question is not about the past"
    if not passes(one, bar):
        return Verdict.BELOW_FLOOR, _below(one, bar)
    twin = chosen.twin_of(one, options.duplicate_similarity)
    if twin is not None:
        return Verdict.NEAR_DUPLICATE, f"it says the same as {twin}, which is chosen already"
    if one.memory.id in bar.passed_over:
        return Verdict.BEYOND_K, PASSED_OVER
    if not in_profile and chosen.counted >= options.limit:
        return Verdict.BEYOND_K, f"{options.limit} better ones are recalled already"
    needed = estimate_tokens(memory_block([*chosen.lines, block_line(one)]))
    if needed > options.budget_tokens:
        return Verdict.OVER_BUDGET, f"with it the notes would take {needed} tokens of {options.budget_tokens}"
    return Verdict.INJECTED, _admitted(one, bar, in_profile)


def _candidate(one: Weighed, verdict: Verdict, reason: str) -> Candidate:
    memory = one.memory
    return Candidate(
        id=memory.id,
        ref=memory.ref,
        text=memory.text,
        kind=memory.kind,
        age_days=one.age_days,
        similarity=one.found.similarity,
        keyword_score=one.keyword_score,
        relevance=one.relevance,
        decay=one.decay,
        importance=memory.importance,
        score=one.score,
        verdict=verdict,
        reason=reason,
        matched_key=one.found.key_text,
        superseded_at=memory.superseded_at,
    )


def _ended(memory: Rankable) -> str:
    when = f" since {day_in_words(memory.superseded_at)}" if memory.superseded_at else ""
    return f"no longer true{when}" + (f", replaced by {memory.superseded_by}" if memory.superseded_by else "")


def _below(one: Weighed, bar: Bar) -> str:
    similarity = one.found.similarity
    if bar.floor is None or similarity is None:
        return f"it holds {one.found.matched:.0%} of the question's words, {bar.matched:.0%} are needed"
    return f"similarity {similarity:.2f}, {bar.floor - similarity:.2f} below the floor of {bar.floor:.2f}"


def _admitted(one: Weighed, bar: Bar, in_profile: bool) -> str:
    similarity = one.found.similarity
    if bar.floor is not None and similarity is not None and similarity >= bar.floor:
        reason = f"similarity {similarity:.2f}, the floor is {bar.floor:.2f}"
    else:
        reason = f"it holds {one.found.matched:.0%} of the question's words"
    return f"{reason}; repeated from the profile" if in_profile else reason


def _wording(text: str) -> _Wording:
    found = words(text)
    stems = frozenset(term.removesuffix("s") for term in worth_searching(found))
    numbers = frozenset(word for word in found if not word.isalpha() and any(map(str.isdigit, word)))
    return _Wording(stems, numbers, not _NEGATIONS.isdisjoint(found))


def _alike(a: _Wording, b: _Wording, share: float) -> bool:
    if not a.stems or not b.stems or a.numbers != b.numbers or a.denies != b.denies:
        return False
    return 2 * len(a.stems & b.stems) / (len(a.stems) + len(b.stems)) >= share
