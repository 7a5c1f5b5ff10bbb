"""Builds the profile: who the user is, what binds them and who is around them, in few tokens, for the system prompt.

What a question needs often shares nothing with it ("what should I cook?" and an allergy), and no search finds it. But
such memories are few and short, so they stand in the prompt always. What room is left goes to other lasting memories,
the most important first and of those the shortest, since as many as fit serve more questions than a few long ones.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final

from memchat.recall.options import RecallOptions
from memchat.recall.spoken import without_subject
from memchat.records import Kind, Memory, ProfileEntry
from memchat.store import Store
from memchat.text import estimate_tokens, fold

_CORE: Final = {Kind.IDENTITY: 1, Kind.CONSTRAINT: 2, Kind.RELATIONSHIP: 4}
_FILLING: Final = frozenset({Kind.PREFERENCE, Kind.DECISION, Kind.GOAL, Kind.SKILL, Kind.FACT})
_EACH: Final = 300  # memories of a kind that are looked at: the budget holds far fewer
_TRIED: Final = 200  # memories that are too long for the room left, after which the profile is full
_PINNED, _WISH, _REST = 0, 3, 5
_REPLY_WISH: Final = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|respon[ds]\w*|emojis?|explanations?|voice notes?|respuestas?|antwort\w*"
    r"|réponses?|rispost[ae]|respostas?|antwoord\w*)\b",
    re.IGNORECASE,
)


def build_profile(
    store: Store,
    options: RecallOptions,
    now: datetime,
    *,
    as_of: datetime | None = None,
    count: Callable[[str], int] = estimate_tokens,
) -> tuple[ProfileEntry, ...]:
    """Return the profile of the store's user, at most `options.profile_tokens` as `count` counts them.

    Of several memories about one thing of the user's identity only the newest counts; what is dated and over by
    `now` does not fill the room that is left.
    """
    if options.profile_tokens <= 0:
        return ()
    memories = _newest_of_slot(store.list_memories(as_of=as_of, each=_EACH))
    ranked = sorted((memory for memory in memories if _may_stand(memory, now)), key=_rank)
    chosen = _fitting(ranked, options.profile_tokens, count)
    chosen.sort(key=lambda memory: (_tier(memory), memory.id))
    return tuple(_entry(memory) for memory in chosen)


def profile_size(profile: Iterable[ProfileEntry], count: Callable[[str], int] = estimate_tokens) -> int:
    """Return the tokens of a profile as the lines of a list."""
    return sum(count(_line(entry)) for entry in profile)


def _tier(memory: Memory) -> int | None:
    if memory.pinned:
        return _PINNED
    if memory.kind in _CORE:
        return _CORE[memory.kind]
    if memory.kind is Kind.PREFERENCE and _REPLY_WISH.search(memory.text):
        return _WISH
    return _REST if memory.kind in _FILLING else None


def _may_stand(memory: Memory, now: datetime) -> bool:
    tier = _tier(memory)
    over = memory.event_date is not None and memory.event_date < now.date()
    return tier is not None and not (tier == _REST and over)


def _rank(memory: Memory) -> tuple[int, int, int, int]:
    tier = _tier(memory) or _PINNED
    length = len(memory.text) if tier == _REST else 0
    return tier, -memory.importance, length, memory.id


def _newest_of_slot(memories: Iterable[Memory]) -> list[Memory]:
    newest: dict[tuple[str, str] | int, Memory] = {}
    for memory in sorted(memories, key=lambda memory: (memory.last_seen_at, memory.id)):
        slotted = memory.subject and memory.attribute and memory.kind is Kind.IDENTITY
        newest[(fold(memory.subject or ""), fold(memory.attribute or "")) if slotted else memory.id] = memory
    return list(newest.values())


def _fitting(ranked: Sequence[Memory], budget: int, count: Callable[[str], int]) -> list[Memory]:
    chosen, left, too_long = list[Memory](), budget, 0
    for memory in ranked:
        size = count(_line(_entry(memory)))
        if size <= left:
            chosen.append(memory)
            left -= size
        else:
            too_long += 1
        if too_long >= _TRIED:  # among thousands one will fit the last few tokens, and is not worth the search
            break
    return chosen


def _entry(memory: Memory) -> ProfileEntry:
    return ProfileEntry(memory.id, without_subject(memory.text))


def _line(entry: ProfileEntry) -> str:
    return f"- {entry.text}\n"
