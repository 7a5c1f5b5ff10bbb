"""One short line that says what is going on, gone again as soon as there is something to show.

It never wraps and is rubbed out before anything else is printed, so it leaves no trace in the scroll-back.
"""

from collections.abc import Callable
from threading import Condition, Thread
from time import monotonic
from typing import Final, TextIO

_FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_AFTER: Final = 0.3  # seconds before it appears: a quick answer needs no comfort
_BEAT: Final = 0.12
_RUB_OUT: Final = "\r\x1b[K"


class WaitingLine:
    """Shows `⠙ waiting 3 s · Ctrl-C stops` between `show` and `hide`; does nothing when not `alive`."""

    def __init__(self, out: TextIO, *, width: Callable[[], int] = lambda: 80, alive: bool) -> None:
        self._out = out
        self._width = width
        self._alive = alive
        self._turn = Condition()
        self._text = self._way_out = ""
        self._since = 0.0
        self._visible = False
        self._thread: Thread | None = None

    def show(self, text: str, way_out: str = "Ctrl-C stops") -> None:
        """Say `text` until it is hidden or replaced; the seconds go on counting when it is replaced."""
        if not self._alive:
            return
        with self._turn:
            if not self._text:
                self._since = monotonic()
            self._text, self._way_out = text, way_out
            if self._thread is None:
                self._thread = Thread(target=self._live, name="waiting-line", daemon=True)
                self._thread.start()
            self._turn.notify()

    def hide(self) -> None:
        """Rub the line out; after this the screen belongs to the caller."""
        with self._turn:
            self._text = ""
            self._rub_out()

    def close(self) -> None:
        """Rub the line out and end the thread."""
        self.hide()
        with self._turn:
            self._alive = False
            self._turn.notify()

    def _live(self) -> None:
        beat = 0
        with self._turn:
            while self._alive:
                waited = monotonic() - self._since
                if self._text and waited >= _AFTER:
                    self._draw(_FRAMES[beat % len(_FRAMES)], int(waited))
                    beat += 1
                self._turn.wait(_BEAT if self._text else None)

    def _draw(self, frame: str, seconds: int) -> None:
        spent = f" {seconds} s" if seconds else ""
        line = f"{frame} {self._text}{spent} · {self._way_out}"[: max(0, self._width() - 1)]
        self._out.write(f"{_RUB_OUT}\x1b[2m{line}\x1b[0m")
        self._out.flush()
        self._visible = True

    def _rub_out(self) -> None:
        if self._visible:
            self._out.write(_RUB_OUT)
            self._out.flush()
            self._visible = False
