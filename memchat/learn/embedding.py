"""Giving new keys their vectors, in batches between which the work can be stopped."""

from collections.abc import Sequence
from threading import Event

from memchat.engine import Embedder
from memchat.errors import Cancelled, EngineError
from memchat.recall import ensure_embedded
from memchat.records import EmbedderCard, Vector
from memchat.store import Store


def embed_new(store: Store, embedder: Embedder | None, stop: Event) -> int:
    """Embed the keys that wait and return how many; what fails or is stopped stays pending, found by words."""
    if embedder is None:
        return 0
    try:
        return ensure_embedded(store, _Stoppable(embedder, stop))
    except (EngineError, Cancelled):
        return 0


class _Stoppable:
    """An embedder that does not begin another batch once it is told to stop."""

    def __init__(self, embedder: Embedder, stop: Event) -> None:
        self._embedder = embedder
        self._stop = stop

    def card(self) -> EmbedderCard:
        return self._embedder.card()

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        if self._stop.is_set():
            raise Cancelled("Stopped.")
        return self._embedder.embed_documents(texts)

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        return self._embedder.embed_queries(texts)

    def close(self) -> None:
        self._embedder.close()
