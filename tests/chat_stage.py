"""A conversation on a real store with a scripted model: for tests of what turns do."""

from datetime import UTC, datetime
from threading import Event

from memchat.chat import Chat, ChatOptions, Finished, TurnEvent, TurnResult
from memchat.recall import RecallOptions, ensure_embedded
from memchat.records import Cause, Kind, Memory, NewMemory, Sampling
from memchat.store import Store
from tests.fakes import FakeChat, FakeEmbedder

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
MARCH = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


def add(store: Store, text: str, kind: Kind = Kind.FACT, **fields: object) -> Memory:
    new = NewMemory(text, kind, created_at=MARCH, last_seen_at=MARCH, **fields)  # type: ignore[arg-type]
    return store.add_memory(new, cause=Cause.USER, now=MARCH)


def chat_with(store: Store | None, model: FakeChat, embedder: FakeEmbedder | None = None, **more: object) -> Chat:
    embedder = embedder or FakeEmbedder(meanings={"live": "moved", "trip": "berlin"})
    if store is not None:
        ensure_embedded(store, embedder)
    options = more.pop("options", ChatOptions(sampling=Sampling(max_tokens=256)))
    return Chat(store, lambda: model, lambda: embedder, options, RecallOptions(), clock=lambda: NOW, **more)  # type: ignore[arg-type]


def say(chat: Chat, text: str, **more: object) -> list[TurnEvent]:
    return list(chat.turn(text, Event(), **more))  # type: ignore[arg-type]


def result_of(events: list[TurnEvent]) -> TurnResult:
    last = events[-1]
    assert isinstance(last, Finished)
    return last.result
