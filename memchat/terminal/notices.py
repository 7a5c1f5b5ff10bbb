"""What other threads have to say, kept until it can be shown without cutting into what the user types."""

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memchat.learn import Learned
    from memchat.records import Memory


class NoticeBoard:
    """Takes sentences from any thread; `nudge`, when set, is called from that thread after each."""

    def __init__(self) -> None:
        self.nudge: Callable[[], None] | None = None
        self._sentences: list[str] = []
        self._lock = Lock()

    def post(self, *sentences: str) -> None:
        """Leave sentences to be shown at the next good moment; none only nudges."""
        with self._lock:
            self._sentences += sentences
            nudge = self.nudge
        if nudge is not None:
            nudge()

    def take(self) -> list[str]:
        """Return what is there, once."""
        with self._lock:
            sentences, self._sentences = self._sentences, []
        return sentences

    def __bool__(self) -> bool:
        return bool(self._sentences)


def learnt_lines(learned: "Learned") -> list[str]:
    """Return what the user is told of a learning: new memories, replaced ones, and what waits for approval."""
    from memchat.terminal.memory_text import memory_line  # late: the first prompt has nothing to tell of memories

    lines = [f"+ {memory_line(memory)} · /undo" for memory in learned.added]
    lines += [f"− {memory_line(memory)} ({_fate(memory)})" for memory in learned.superseded]
    lines += [f"? {memory_line(memory)} · /pending" for memory in learned.proposed]
    return lines


def _fate(memory: "Memory") -> str:
    return f"replaced by #{memory.superseded_by}" if memory.superseded_by else "no longer true"
