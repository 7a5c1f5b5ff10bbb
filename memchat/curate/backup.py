"""A copy of the live memory file."""

from dataclasses import dataclass
from pathlib import Path

from memchat.store import Store


@dataclass(frozen=True, slots=True)
class BackedUp:
    """Where the copy lies and what it holds; `ids` is empty, since a copy changes no memory."""

    path: Path
    bytes: int
    memories: int
    ids: tuple[int, ...] = ()


def backup(store: Store, path: Path) -> BackedUp:
    """Write a consistent copy to the new file `path`, readable by the owner only; raises UsageError when it exists."""
    path = path.expanduser()
    store.backup(path)
    return BackedUp(path.resolve(), path.stat().st_size, store.count_memories())
