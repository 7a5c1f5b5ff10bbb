"""Engines: what streams replies and embeds texts, behind two small interfaces.

Every implementation turns foreign exceptions into those of `memchat.errors`, also while a stream is being read.
"""

from collections.abc import Iterator, Mapping, Sequence
from threading import Event
from typing import Protocol

from memchat.records import ChatCard, Chunk, EmbedderCard, Message, Sampling, Vector

JsonSchema = Mapping[str, object]


class ChatModel(Protocol):
    """A model that talks."""

    def card(self) -> ChatCard:
        """Say which model this is; may ask the server, never sends the user's text."""
        ...

    def stream(self, messages: Sequence[Message], sampling: Sampling, stop: Event) -> Iterator[Chunk]:
        """Yield the reply piece by piece; the last chunk has `done`.

        Setting `stop` (from any thread) ends the work at once, and the iterator ends without `done`. A stream
        that breaks off before its end raises `EngineFailed` after what came.
        """
        ...

    def complete_json(self, messages: Sequence[Message], schema: JsonSchema, *, max_tokens: int, stop: Event) -> str:
        """Return the model's raw answer to a JSON schema (temperature 0, no thinking): a hint, not a promise.

        Raises `Cancelled` when `stop` is set meanwhile. The work must not push the chat's prompt prefix out
        of the engine's cache where the engine can help it.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens in `text`: exact where that costs nothing, else an estimate that errs upwards."""
        ...

    def warm_up(self, messages: Sequence[Message], stop: Event) -> None:
        """Load the model and read `messages` into its prompt cache, producing nothing."""
        ...

    def close(self) -> None:
        """Free what is held; may be called twice."""
        ...


class Embedder(Protocol):
    """A model that turns texts into vectors of L2 norm 1, shape `(len(texts), dimensions)`."""

    def card(self) -> EmbedderCard:
        """Say which model this is, with its digest and dimensions."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts as what is found. Blank texts are refused with ValueError; too long ones are cut."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts as what is asked."""
        ...

    def close(self) -> None:
        """Free what is held; may be called twice."""
        ...
