"""A store with memories and a fake embedder, as the recall tests need it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from memchat.recall import RecallOptions, ensure_embedded
from memchat.records import Cause, Kind, Memory, NewMemory, Recall, Verdict
from memchat.store import Store
from tests.fakes import FakeEmbedder

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
OPTIONS = RecallOptions(floor=0.25)  # a floor of its own, since the noise of a fake embedder says nothing
MEANINGS = {"live": "moved", "reside": "moved", "eat": "allergic", "cook": "allergic"}


def open_store(folder: Path, user: str = "default") -> Store:
    return Store.open(folder / "memory.db", user, now=NOW)


def embedder(**options: object) -> FakeEmbedder:
    return FakeEmbedder(**({"dimensions": 256, "meanings": MEANINGS} | options))


def tell(store: Store, text: str, kind: Kind = Kind.FACT, *, days_ago: float = 0, **fields: object) -> Memory:
    said = NOW - timedelta(days=days_ago)
    new = NewMemory(text, kind, created_at=said, last_seen_at=said, **fields)
    return store.add_memory(new, cause=Cause.USER, now=NOW)


def replace(store: Store, old: Memory, new: Memory, *, days_ago: float = 0) -> None:
    store.supersede_memory(old.id, by=new.id, cause=Cause.USER, now=NOW - timedelta(days=days_ago))


def fill(store: Store, *texts: str) -> list[Memory]:
    memories = [tell(store, text) for text in texts]
    ensure_embedded(store, embedder())
    return memories


def verdicts(recall: Recall) -> dict[int, Verdict]:
    return {candidate.id: candidate.verdict for candidate in recall.candidates}


def given(recall: Recall) -> list[str]:
    return [candidate.text for candidate in recall.injected]
