"""Finds the candidates of one question in the store: by meaning and by words, current and past memories apart."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from memchat.records import KeywordHit, Vector, VectorHit
from memchat.store import Store

CANDIDATES: Final = 30  # memories looked at by meaning, half as many by words: 50 of both found nothing more
_PAST_CANDIDATES: Final = 10  # of those no longer true


@dataclass(frozen=True, slots=True)
class Found:
    """One memory that the search came up with; `matched` is the share of the question's words that it holds."""

    memory: int
    past: bool
    similarity: float | None
    key_text: str
    bm25: float
    matched: float


def find(
    store: Store,
    vectors: Sequence[Vector],
    groups: Sequence[Sequence[str]],
    limit: int = CANDIDATES,
    *,
    cue_discount: float = 0.0,
) -> list[Found]:
    """Return current and past memories near any of the vectors (norm 1) or holding a word of any of the groups.

    `limit` is the most current ones by each vector, and half of it by words; for `cue_discount` see `search_vectors`.
    Without vectors only words count. Raises ValueError when the store cannot search with a vector.
    """
    return [
        *_find(store, vectors, groups, limit, cue_discount, past=False),
        *_find(store, vectors, groups, _PAST_CANDIDATES, cue_discount, past=True),
    ]


def _find(
    store: Store,
    vectors: Sequence[Vector],
    groups: Sequence[Sequence[str]],
    limit: int,
    cue_discount: float,
    *,
    past: bool,
) -> list[Found]:
    near = _nearest(
        hit for vector in vectors for hit in store.search_vectors(vector, limit, past=past, cue_discount=cue_discount)
    )
    terms = [term for group in groups for term in group]
    most = -(-limit // 2) if vectors else limit
    worded = {hit.memory: hit for hit in store.search_keywords(terms, most, past=past)} if terms else {}
    return [
        _found(memory, past, near.get(memory), worded.get(memory), groups) for memory in dict.fromkeys((*near, *worded))
    ]


def _nearest(hits: Iterable[VectorHit]) -> dict[int, VectorHit]:
    best: dict[int, VectorHit] = {}
    for hit in hits:
        if hit.memory not in best or hit.similarity > best[hit.memory].similarity:
            best[hit.memory] = hit
    return best


def _found(
    memory: int, past: bool, near: VectorHit | None, worded: KeywordHit | None, groups: Sequence[Sequence[str]]
) -> Found:
    return Found(
        memory,
        past,
        similarity=near.similarity if near else None,
        key_text=near.key_text if near else "",
        bm25=worded.bm25 if worded else 0.0,
        matched=_share(groups, worded.matched) if worded else 0.0,
    )


def _share(groups: Sequence[Sequence[str]], matched: Sequence[str]) -> float:
    """Return the share of the groups of which any word was matched."""
    return sum(any(word in matched for word in group) for group in groups) / len(groups)
