"""A program in a pseudo-terminal, seen through a terminal emulator that keeps its scroll-back."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pexpect
import pyte


class Terminal:
    """A Python module in a window of some rows and columns, `environ` its whole environment."""

    def __init__(self, argv: Sequence[str], environ: Mapping[str, str], rows: int = 20, columns: int = 80) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=5000, ratio=0.5)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", *argv],
            cwd=str(Path(__file__).parent.parent),
            env={"TERM": "xterm-256color", "COLUMNS": "", "LINES": ""} | dict(environ),
            dimensions=(rows, columns),
        )

    def type(self, text: str) -> None:
        self.child.send(text)

    def resize(self, rows: int, columns: int) -> None:
        self.child.setwinsize(rows, columns)
        self.screen.resize(rows, columns)

    def until(self, condition: Callable[[], bool], seconds: float = 30.0) -> None:
        """Read the program's output until `condition` holds."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "\n".join(self.lines())
            assert self.child.isalive() or self._read(), "\n".join(self.lines())
            self._read()

    def until_shown(self, text: str, seconds: float = 30.0) -> None:
        self.until(lambda: text in "\n".join(self.lines()), seconds)

    def until_prompt(self) -> None:
        """Wait until the newest line is an empty prompt with the toolbar under it."""
        self.until(lambda: any(line in (">", "incognito>", "read-only>") for line in self.lines()[-8:]))

    def until_over(self) -> int:
        """Wait for the end; return the exit status."""
        deadline = time.monotonic() + 30
        while self.child.isalive():
            assert time.monotonic() < deadline, "\n".join(self.lines())
            self._read()
        self._read()
        assert self.child.signalstatus is None
        return self.child.exitstatus

    def lines(self) -> list[str]:
        """Return scroll-back and window as text, oldest line first."""
        past = ["".join(row[x].data for x in range(self.screen.columns)) for row in self.screen.history.top]
        return [line.rstrip() for line in (*past, *self.screen.display) if line.strip()]

    def _read(self) -> bool:
        try:
            piece = self.child.read_nonblocking(65536, timeout=0.05)
        except (pexpect.TIMEOUT, pexpect.EOF):
            return False
        self.raw += piece
        self._stream.feed(piece)
        return True
