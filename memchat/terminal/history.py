"""Arrow-up and search over what was typed, kept in the private history file."""

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path

from prompt_toolkit.history import History

from memchat.terminal.typed import add_typed, read_typed


class MessageHistory(History):
    """What was typed, in memory and in the file; while `may_keep()` is false the file gets nothing."""

    def __init__(self, path: Path, may_keep: Callable[[], bool], now: Callable[[], datetime]) -> None:
        super().__init__()
        self._path = path
        self._may_keep = may_keep
        self._now = now

    def load_history_strings(self) -> Iterable[str]:
        """Yield the kept messages, newest first."""
        return reversed(read_typed(self._path))

    def store_string(self, string: str) -> None:
        """Keep one message; a disk that is full or not ours loses the history, never the chat."""
        if self._may_keep():
            try:
                add_typed(self._path, string, self._now())
            except OSError:
                self._may_keep = _never

    def reload(self) -> None:
        """Read the file anew at the next prompt: something was forgotten."""
        self._loaded = False
        self._loaded_strings = []


def _never() -> bool:
    return False
