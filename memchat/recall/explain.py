"""Why one memory was or was not recalled, and what the smallest change is that would let it in.

The stages a memory can be lost at, in order: not stored, another user's, not embedded, not a candidate, in the profile,
no longer true, below the floor, twin of one chosen, over the budget, beyond the limit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memchat.engine import Embedder
from memchat.errors import NotFound
from memchat.recall.admitting import would_admit
from memchat.recall.options import RecallOptions
from memchat.recall.read import recall
from memchat.recall.rerank import SecondLook
from memchat.records import Candidate, Memory, ProfileEntry, Recall, State, Verdict
from memchat.store import Store
from memchat.text import fold, words


@dataclass(frozen=True, slots=True)
class Expected:
    """What became of the memory that was expected, in words; `would_admit` is empty when it was recalled."""

    id: int | None
    verdict: Verdict
    reason: str
    would_admit: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a past reply was given against what it would be given now."""

    then: Recall
    now: Recall
    added: tuple[Candidate, ...]
    gone: tuple[Candidate, ...]


def explain(
    store: Store,
    embedder: Embedder | None,
    query: str,
    expect: str,
    options: RecallOptions,
    *,
    now: datetime,
    previous: str | None = None,
    profile: Sequence[ProfileEntry] = (),
    as_of: datetime | None = None,
    why_no_vectors: str | None = None,
) -> tuple[Recall, Expected]:
    """Run the read path for `query` and say what became of `expect`, an id or words of a memory's text.

    Raises NotFound for an id that never was, and for words that no memory of this user holds.
    """
    given = recall(
        store,
        embedder,
        query,
        options,
        now,
        previous=previous,
        profile=profile,
        as_of=as_of,
        why_no_vectors=why_no_vectors,
    )
    return given, expectation(store, given, expect, options, as_of=as_of)


def expectation(
    store: Store, given: Recall, expect: str, options: RecallOptions, *, as_of: datetime | None = None
) -> Expected:
    """Say what became of `expect` in a recall that was run with `options`."""
    memory = _find(store, expect)
    if memory is None:
        return _absent(store, expect)
    candidate = next((one for one in given.candidates if one.id == memory.id), None)
    if candidate is None:
        return _not_a_candidate(store, memory, given, as_of)
    return Expected(memory.id, candidate.verdict, candidate.reason, would_admit(candidate, given, options))


def replay(
    store: Store,
    embedder: Embedder | None,
    then: Recall,
    options: RecallOptions,
    now: datetime,
    *,
    previous: str | None = None,
    profile: Sequence[ProfileEntry] = (),
    why_no_vectors: str | None = None,
    look: SecondLook | None = None,
) -> Replayed:
    """Run the read path again for a stored recall and say which memories came and went."""
    fresh = recall(
        store,
        embedder,
        then.query,
        options,
        now,
        previous=previous,
        profile=profile,
        why_no_vectors=why_no_vectors,
        look=look,
    )
    before, after = _by_id(then), _by_id(fresh)
    return Replayed(
        then,
        fresh,
        added=tuple(one for id, one in after.items() if id not in before),
        gone=tuple(one for id, one in before.items() if id not in after),
    )


def _by_id(given: Recall) -> Mapping[int, Candidate]:
    return {one.id: one for one in given.injected}


def _find(store: Store, expect: str) -> Memory | None:
    if expect.strip().isdigit():
        try:
            return store.get_memory(int(expect))
        except NotFound:
            return None
    wanted = set(words(expect))
    if not wanted:
        return None
    memories = store.list_memories(state=None)
    holding = [memory for memory in memories if fold(expect) in fold(memory.text)]
    holding = holding or [memory for memory in memories if wanted <= set(words(memory.text))]
    return max(holding, key=lambda memory: (memory.state is State.CURRENT, memory.id), default=None)


def _absent(store: Store, expect: str) -> Expected:
    owner = store.find_owner(int(expect)) if expect.strip().isdigit() else None
    if owner is not None:
        reason = f"memory {expect} belongs to the user {owner}"
        return Expected(int(expect), Verdict.OTHER_USER, reason, f"--user {owner}")
    if expect.strip().isdigit():
        reason = f"no memory of this user has the id {expect.strip()}"
        return Expected(None, Verdict.NOT_STORED, reason, "nothing: memchat list shows the ids there are")
    return Expected(None, Verdict.NOT_STORED, "no memory of this user says that", "memchat remember")


def _not_a_candidate(store: Store, memory: Memory, given: Recall, as_of: datetime | None) -> Expected:
    if as_of is not None and memory.created_at > as_of:
        reason = f"it was learnt only on {memory.created_at:%Y-%m-%d}"
        return Expected(memory.id, Verdict.NOT_STORED, reason, "a later --as-of")
    if memory.state is State.PROPOSED:
        return Expected(
            memory.id, Verdict.NOT_A_CANDIDATE, "it waits for approval", f"memchat pending approve {memory.id}"
        )
    if given.keywords_only is None and all(not key.embedded for key in store.list_keys(memory.id)):
        reason = "it has no vector yet, and it shares no word with the question"
        return Expected(memory.id, Verdict.NOT_EMBEDDED, reason, "memchat reindex")
    near = "shares no word with the question" if given.keywords_only else "is not among the nearest"
    return Expected(memory.id, Verdict.NOT_A_CANDIDATE, f"it {near}", "a cue that is nearer to the question")
