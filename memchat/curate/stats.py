"""How a user's memories stand: counts, ages, growth, use, what learning dropped, what waits, what it all takes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memchat.engine import Embedder
from memchat.recall.embed import same_space
from memchat.records import EmbedderCard, Kind, Memory, State
from memchat.store import Store

_MOST_SHOWN = 5
_AGES = (("day", 1), ("week", 7), ("month", 30), ("year", 365))  # days up to which a memory counts as that old


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory and how often it was given to a reply."""

    id: int
    text: str
    times: int


@dataclass(frozen=True, slots=True)
class Stuck:
    """An exchange that could not be learnt yet."""

    turn: int
    attempts: int
    reason: str


@dataclass(frozen=True, slots=True)
class Stats:
    """The whole picture for one user; `queue`, `vectors` and `sizes` (bytes) are of the whole file.

    `kinds`, `ages`, `growth` and the use of memories tell of current ones. `ages` counts each memory once, under the
    shortest span that holds it; `growth` has a row for each month from the first memory on.
    """

    user: str
    memories: int
    proposed: int
    superseded: int
    pinned: int
    kinds: Mapping[str, int]
    ages: Mapping[str, int]
    growth: Mapping[str, int]
    most_recalled: tuple[Recalled, ...]
    never_recalled: int
    without_cues: int
    drops: Mapping[str, int]
    queue: int
    stuck: tuple[Stuck, ...]
    embed_model: str | None
    dimensions: int | None
    pending_keys: int
    stale: bool  # another embedder is in use than the one that made the vectors
    sessions: int
    turns: int
    sizes: Mapping[str, int]


def collect_stats(store: Store, now: datetime, embedder: Embedder | None = None) -> Stats:
    """Return the picture; `embedder` is the one in use, to tell whether the file's vectors are of another."""
    memories = store.list_memories(state=State.CURRENT)
    sessions = store.list_sessions()
    card = store.embedder()
    return Stats(
        user=store.user,
        memories=len(memories),
        proposed=store.count_memories(State.PROPOSED),
        superseded=store.count_memories(State.SUPERSEDED),
        pinned=sum(memory.pinned for memory in memories),
        kinds=count_kinds(memories),
        ages=count_ages(memories, now),
        growth=count_growth(memories, now),
        most_recalled=_most_recalled(memories),
        never_recalled=sum(memory.recall_count == 0 for memory in memories),
        without_cues=sum(not memory.cues for memory in memories),
        drops=store.list_drops(),
        queue=store.count_queued(),
        stuck=tuple(Stuck(queued.turn.id, queued.attempts, reason) for queued, reason in store.list_stuck()),
        embed_model=card.model if card else None,
        dimensions=card.dimensions if card else None,
        pending_keys=store.count_pending_keys(),
        stale=is_stale(card, embedder),
        sessions=len(sessions),
        turns=sum(session.turns for session in sessions),
        sizes=store.sizes(),
    )


def count_kinds(memories: Sequence[Memory]) -> dict[str, int]:
    """Return how many memories each kind has, in the order of the kinds, kinds without any left out."""
    counts = Counter(memory.kind for memory in memories)
    return {kind.value: counts[kind] for kind in Kind if counts[kind]}


def count_ages(memories: Sequence[Memory], now: datetime) -> dict[str, int]:
    """Return how many memories are at most a day, a week, a month (30 days), a year old, and older."""
    counts = dict.fromkeys([name for name, _ in _AGES] + ["older"], 0)
    for memory in memories:
        age = now - memory.created_at
        name = next((name for name, days in _AGES if age <= timedelta(days=days)), "older")
        counts[name] += 1
    return counts


def count_growth(memories: Sequence[Memory], now: datetime) -> dict[str, int]:
    """Return how many memories each month (UTC, "2026-03") brought, from the first one to now without gaps."""
    counts = Counter(memory.created_at.strftime("%Y-%m") for memory in memories)
    if not counts:
        return {}
    first, last = min(memory.created_at for memory in memories), max(now, *(m.created_at for m in memories))
    months = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
    names = (f"{month // 12:04d}-{month % 12 + 1:02d}" for month in months)
    return {name: counts[name] for name in names}


def _most_recalled(memories: Sequence[Memory]) -> tuple[Recalled, ...]:
    used = sorted((memory for memory in memories if memory.recall_count), key=lambda m: (-m.recall_count, m.id))
    return tuple(Recalled(memory.id, memory.text, memory.recall_count) for memory in used[:_MOST_SHOWN])


def is_stale(card: EmbedderCard | None, embedder: Embedder | None) -> bool:
    """Tell whether the file's vectors were made by another embedder than the one in use."""
    return card is not None and embedder is not None and not same_space(card, embedder.card())
