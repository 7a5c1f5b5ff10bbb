"""Embedding what is stale: pending keys, or everything anew for another embedder, beside the old index until done."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Event

from memchat.engine import Embedder
from memchat.recall import RecallOptions
from memchat.recall.calibrate import calibrate
from memchat.recall.embed import embed_keys, same_space
from memchat.records import EmbedderCard, Key, Vector
from memchat.store import Store

_BATCH = 64


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is: `done` of `total` keys, and the memories that the last batch belongs to."""

    done: int
    total: int
    memories: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What was embedded with which model; `left` keys got no usable vector and stay pending."""

    embed_model: str
    keys: int
    memories: int
    left: int
    ids: tuple[int, ...]


def reindex(
    store: Store,
    embedder: Embedder,
    options: RecallOptions | None = None,
    *,
    everything: bool = False,
    stop: Event | None = None,
) -> Iterator[Progress]:
    """Embed pending keys; every key when the embedder is not the file's, or with `everything`; yields after each batch.

    A run that is stopped, fails (EngineError) or is killed is taken up where it was: the old index serves until the
    new one is whole. The whole file is done, all users. Nothing stale yields one finished step.
    """
    card, own = embedder.card(), store.embedder()
    if own is None:
        store.adopt_embedder(card)
    if own is not None and (everything or not same_space(own, card)):
        yield from _rebuild(store, embedder, card, options or RecallOptions(), stop)
    else:
        yield from _catch_up(store, embedder, card, options or RecallOptions(), stop)


def sum_up(store: Store, card: EmbedderCard, steps: Iterable[Progress]) -> Reindexed:
    """Run a reindex to its end and return what it did."""
    done = 0
    memories: set[int] = set()
    for step in steps:
        done = step.done
        memories.update(step.memories)
    ids = tuple(sorted(memories))
    return Reindexed(card.model, done, len(ids), store.count_pending_keys(), ids)


def _rebuild(
    store: Store, embedder: Embedder, card: EmbedderCard, options: RecallOptions, stop: Event | None
) -> Iterator[Progress]:
    total = store.begin_reindex(card)
    steps = _embed_all(embedder, store.list_reindex_keys, lambda vectors: store.set_reindex_vectors(vectors, card))
    yield from _counted(steps, total, stop)
    if _is_set(stop):
        return
    calibration = calibrate(embedder, options.false_alarm, options.personal_weight)
    with store.transaction():
        store.finish_reindex()
        store.set_calibration(calibration)


def _catch_up(
    store: Store, embedder: Embedder, card: EmbedderCard, options: RecallOptions, stop: Event | None
) -> Iterator[Progress]:
    total = store.count_pending_keys()
    if total and store.calibration() is None:
        store.set_calibration(calibrate(embedder, options.false_alarm, options.personal_weight))
    steps = _embed_all(embedder, store.list_pending_keys, lambda vectors: store.set_vectors(vectors, card))
    yield from _counted(steps, total, stop)


def _counted(batches: Iterator[tuple[Key, ...]], total: int, stop: Event | None) -> Iterator[Progress]:
    done = 0
    yield Progress(0, total)
    while not _is_set(stop) and (batch := next(batches, None)) is not None:
        done += len(batch)
        yield Progress(done, max(total, done), tuple(dict.fromkeys(key.memory for key in batch)))


_Placed = Callable[[Sequence[tuple[int, Vector]]], None]


def _embed_all(embedder: Embedder, pending: Callable[[int], list[Key]], place: _Placed) -> Iterator[tuple[Key, ...]]:
    """Yield the keys that got their vector, batch by batch; a key that is still listed afterwards is passed over."""
    tried: set[int] = set()
    listed, stuck = pending(_BATCH), 0
    while len(listed) > stuck:
        keys = [key for key in listed if key.id not in tried]
        tried.update(key.id for key in keys)
        placed = _place(embed_keys(embedder, keys), place) if keys else set()
        yield tuple(key for key in keys if key.id in placed)
        stuck = len([key for key in listed if key.id not in placed])
        listed = pending(_BATCH + stuck)


def _place(vectors: Sequence[tuple[int, Vector]], place: _Placed) -> set[int]:
    """Store a batch, or each of its vectors alone when one of them is unusable; return the keys that are stored."""
    try:
        place(vectors)
    except ValueError:
        return set().union(*(_place([vector], place) for vector in vectors)) if len(vectors) > 1 else set()
    return {key for key, _ in vectors}


def _is_set(stop: Event | None) -> bool:
    return stop is not None and stop.is_set()
