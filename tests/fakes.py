"""A chat model and an embedder that follow a script: real enough for every layer above the engines."""

import hashlib
import json
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from threading import Event
from typing import Literal

from memchat.errors import Cancelled
from memchat.records import ChatCard, Chunk, Done, EmbedderCard, Message, Sampling, Vector
from memchat.text import estimate_tokens, words


class FakeChat:
    """Answers with the scripted replies in turn (then "ok") and remembers what it was asked.

    A reply that is an exception is raised; a list of strings is streamed in those pieces. `json_replies` serves
    `complete_json` (then an empty list of memories).
    """

    def __init__(self, *replies: object, json_replies: Sequence[object] = (), context: int = 8192) -> None:
        self.replies = list(replies)
        self.json_replies = list(json_replies)
        self.prompts: list[list[Message]] = []
        self.json_prompts: list[list[Message]] = []
        self.context = context
        self.closed = False
        self.before_json: Event | None = None  # when set, complete_json waits for it (or for stop)

    def card(self) -> ChatCard:
        return ChatCard(
            "fake-chat", "fake", digest="f" * 64, context=self.context, capabilities=frozenset({"completion"})
        )

    def stream(self, messages: Sequence[Message], sampling: Sampling, stop: Event) -> Iterator[Chunk]:
        self.prompts.append(list(messages))
        reply = self.replies.pop(0) if self.replies else "ok"
        pieces = reply if isinstance(reply, list) else [reply]
        for piece in pieces:
            if stop.is_set():
                return
            if isinstance(piece, BaseException):
                raise piece
            if isinstance(piece, Chunk):
                yield piece
            else:
                yield Chunk(text=str(piece))
        if not stop.is_set():
            prompt_tokens = sum(estimate_tokens(message.content) for message in messages)
            yield Chunk(done=Done(prompt_tokens=prompt_tokens, reply_tokens=estimate_tokens("".join(map(str, pieces)))))

    def complete_json(
        self, messages: Sequence[Message], schema: Mapping[str, object], *, max_tokens: int, stop: Event
    ) -> str:
        self.json_prompts.append(list(messages))
        if self.before_json is not None:
            while not self.before_json.wait(0.005):
                if stop.is_set():
                    raise Cancelled("Stopped.")
        if stop.is_set():
            raise Cancelled("Stopped.")
        reply = self.json_replies.pop(0) if self.json_replies else {"memories": []}
        if isinstance(reply, BaseException):
            raise reply
        return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    def warm_up(self, messages: Sequence[Message], stop: Event) -> None:
        self.prompts_warmed = list(messages)

    def close(self) -> None:
        self.closed = True


class FakeEmbedder:
    """Hashes words into a unit vector: texts that share words are near, others nearly orthogonal.

    `meanings` maps a word to another word with the same direction, so that a test can make "live" mean "moved".
    """

    def __init__(
        self,
        dimensions: int = 64,
        *,
        model: str = "fake-embed",
        digest: str = "d1",
        scheme: str = "none",
        languages: Literal["english", "multilingual", "unknown"] = "english",
        meanings: Mapping[str, str] | None = None,
    ) -> None:
        self._card = EmbedderCard(model, digest, dimensions, scheme, languages)
        self.meanings = dict(meanings or {})
        self.documents: list[str] = []
        self.queries: list[str] = []
        self.failure: Exception | None = None

    def card(self) -> EmbedderCard:
        return self._card

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        self.documents.extend(texts)
        return [self._vector(text) for text in texts]

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        self.queries.extend(texts)
        return [self._vector(text) for text in texts]

    def close(self) -> None:
        pass

    def _vector(self, text: str) -> Vector:
        if self.failure is not None:
            raise self.failure
        if not text.strip():
            raise ValueError("blank text")
        sums = [0.0] * self._card.dimensions
        for word in words(text) or [text]:
            direction = hashlib.sha256(self.meanings.get(word, word).encode()).digest()
            for place in range(4):
                sums[direction[place] % len(sums)] += 1.0 if direction[place + 8] % 2 else -1.0
        norm = math.sqrt(sum(x * x for x in sums))
        if norm == 0:
            sums[0] = norm = 1.0
        return array("f", (x / norm for x in sums))
