"""The keyboard while a reply is coming: what is typed is kept for the next prompt, and Ctrl-C stops the reply."""

import contextlib
import signal
import sys
from collections.abc import Iterator
from threading import Event
from types import FrameType
from typing import TextIO

_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"


@contextlib.contextmanager
def interruptible(stop: Event) -> Iterator[None]:
    """Within: the first Ctrl-C sets `stop`, so that the work ends in order; a second one raises KeyboardInterrupt."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    try:
        before = signal.signal(signal.SIGINT, interrupt)
    except ValueError:  # not the main thread (a test): nothing to listen to
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def ending_in_order() -> Iterator[None]:
    """Within: a signal to end (a closed window, `kill`) leaves the terminal as it was found."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    try:
        before = {name: signal.signal(getattr(signal, name), end) for name in names}
    except ValueError:  # not the main thread
        before = {}
    try:
        yield
    finally:
        for name, former in before.items():
            signal.signal(getattr(signal, name), former)


@contextlib.contextmanager
def typing_ahead(out: TextIO) -> Iterator[None]:
    """Within: keys are not echoed into the reply; the terminal keeps them for the next prompt, a paste as a paste."""
    try:
        import termios  # POSIX only; elsewhere the console keeps keys to itself anyway
    except ImportError:
        yield
        return
    try:
        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
    except (termios.error, OSError, ValueError):
        yield
        return
    still = termios.tcgetattr(terminal)
    still[0] &= ~termios.ICRNL
    still[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(terminal, termios.TCSANOW, still)
    out.write(_PASTE_ON)
    out.flush()
    try:
        yield
    finally:
        out.write(_PASTE_OFF)
        out.flush()
        termios.tcsetattr(terminal, termios.TCSANOW, before)
