"""Shorter vectors of a model that was trained to have them: the first numbers, brought back to norm 1.

Source: Kusupati et al., Matryoshka Representation Learning (2022). Other models lose more; `memchat eval` tells.
"""

import math
from array import array
from collections.abc import Sequence
from dataclasses import replace

from memchat.engine import Embedder
from memchat.records import EmbedderCard, Vector


class ShortenedEmbedder:
    """An embedder with only the first `dimensions` numbers of each vector; all of them where it has no more."""

    def __init__(self, whole: Embedder, dimensions: int) -> None:
        self._whole = whole
        self._dimensions = dimensions

    def card(self) -> EmbedderCard:
        """Return the model's card with the shorter length."""
        card = self._whole.card()
        return replace(card, dimensions=min(card.dimensions, self._dimensions))

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts as what is found."""
        return [self._shortened(vector) for vector in self._whole.embed_documents(texts)]

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts as what is asked."""
        return [self._shortened(vector) for vector in self._whole.embed_queries(texts)]

    def close(self) -> None:
        """Free the model."""
        self._whole.close()

    def _shortened(self, vector: Vector) -> Vector:
        kept = vector[: self._dimensions]
        norm = math.sqrt(math.fsum(value * value for value in kept))
        return array("f", (value / norm for value in kept)) if norm else kept
