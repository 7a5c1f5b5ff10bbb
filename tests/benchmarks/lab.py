"""What every row has at hand: where to work, how much to do, which models and peers there are."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from memchat.engine.embedded import open_chat, open_embedder
from memchat.engine.packs import has_chat
from memchat.errors import MemchatError
from tests.benchmarks.peers import Peers
from tests.benchmarks.report import Line, Skipped
from tests.benchmarks.stock import stock

if TYPE_CHECKING:
    from memchat.engine.llama import LlamaChat
    from memchat.engine.minilm import MiniLmEmbedder

Row = Callable[["Lab"], list[Line]]


@dataclass(frozen=True, slots=True)
class Lab:
    """`work` is emptied afterwards, `cache` kept; `shrink` below 1 makes everything small, to try the suite itself."""

    work: Path
    cache: Path
    models: Path
    peers: Peers
    full: bool = False
    shrink: float = 1.0
    tell: Callable[[str], None] = field(default=lambda sentence: None)

    def count(self, wanted: int) -> int:
        """Return how many memories to use where `wanted` is the honest number."""
        return max(20, int(wanted * self.shrink))

    def rounds(self, wanted: int) -> int:
        """Return how many rounds to measure."""
        return max(3, int(wanted * self.shrink))

    def sizes(self, *wanted: int) -> list[int]:
        """Return the sizes to measure; those above 10,000 only in a full run, and one when shrunk."""
        if self.shrink < 1:
            return [self.count(wanted[0])]
        return [size for size in wanted if self.full or size <= 10_000]

    def stock(self, memories: int, users: int = 1) -> Path:
        """Return a file of that size, which must not be changed."""
        if memories >= 10_000:
            self.tell(f"a file of {memories:,} memories of {users} users (made once)")
        return stock(self.cache, memories, users)

    def folder(self, name: str) -> Path:
        """Return a fresh folder."""
        fresh = self.work / f"{name}-{len(list(self.work.iterdir()))}"
        fresh.mkdir()
        return fresh

    def embedder(self) -> "MiniLmEmbedder":
        """Load the embedded embedder; raises Skipped without its pack."""
        try:
            return open_embedder(self.models)
        except MemchatError as error:
            raise Skipped(error.sentence) from error

    def chat(self, num_ctx: int = 4096) -> "LlamaChat":
        """Load the small chat pack, in a full run the standard one, or whichever is there; raises Skipped."""
        wanted = ["standard", "small"] if self.full else ["small", "standard"]
        there = next((name for name in wanted if has_chat(self.models, name)), wanted[0])
        try:
            return open_chat(self.models, there, num_ctx=num_ctx)
        except MemchatError as error:
            raise Skipped(error.sentence) from error
