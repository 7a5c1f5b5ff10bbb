"""Finding memories that say the same and slipped past the comparison when they were learnt."""

from datetime import datetime
from threading import Event
from typing import Final

from memchat.learn.compare import Relation, compare
from memchat.records import Cause, Memory
from memchat.store import Store
from memchat.text import words

_AT_ONCE: Final = 50  # memories compared in one go, so that a long list gives way soon


def merge_duplicates(store: Store, now: datetime, stop: Event, *, after: int = 0) -> tuple[int, int]:
    """Compare the next memories after the id `after` with older ones; return the last id looked at and how many merged.

    Of two that say the same the older id stays. Pinned memories stay; cosine takes no part. Ends early when `stop` is
    set: the user waits for it.
    """
    merged, last = 0, after
    for memory in store.list_memories(after=after, limit=_AT_ONCE):
        if stop.is_set():
            break
        last = memory.id
        twin = _twin_of(store, memory)
        if twin is not None:
            merged += _merge(store, twin, memory, now)
    return last, merged


def _twin_of(store: Store, memory: Memory) -> Memory | None:
    """Return an older memory that says the same as this one in so many words."""
    if memory.pinned:
        return None
    ids = [hit.memory for hit in store.search_keywords(words(memory.text), 6) if hit.memory < memory.id]
    for other in store.get_memories(ids):
        found = compare(memory.text, other.text)
        if (
            found.relation is Relation.SAME
            and found.sure
            and compare(other.text, memory.text).relation is Relation.SAME
        ):
            return other
    return None


def _merge(store: Store, kept: Memory, repeated: Memory, now: datetime) -> int:
    with store.transaction():
        for source in store.list_sources(repeated.id):
            kept = store.restate_memory(
                kept.id, source=source, confidence=max(kept.confidence, repeated.confidence), now=now
            )
        store.supersede_memory(repeated.id, by=kept.id, cause=Cause.MERGED, now=now)
    return 1
