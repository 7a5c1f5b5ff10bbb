"""A progress bar on stderr: nothing at all where stderr is no terminal."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress


class Step(Protocol):
    """One step of a long work."""

    @property
    def done(self) -> int:
        """How much is done."""
        ...

    @property
    def total(self) -> int:
        """How much there is."""
        ...


AnyStep = TypeVar("AnyStep", bound=Step)


class Bar:
    """Shows how far a work is; does nothing without a terminal."""

    def __init__(self, label: str, shown: "Progress | None") -> None:
        self._shown = shown
        self._task = shown.add_task(label, total=None) if shown is not None else None

    def update(self, done: float, total: float, label: str | None = None) -> None:
        """Move the bar."""
        if self._shown is not None and self._task is not None:
            self._shown.update(self._task, completed=done, total=total or None, description=label)

    def follow(self, steps: Iterable[AnyStep]) -> Iterator[AnyStep]:
        """Yield the steps and move the bar with them."""
        for step in steps:
            self.update(step.done, step.total)
            yield step


@contextmanager
def progress_bar(label: str, *, in_bytes: bool = False) -> Iterator[Bar]:
    """Show a bar while the work runs."""
    if not sys.stderr.isatty():
        yield Bar(label, None)
        return
    from rich.console import Console  # late: only a person sees it
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    amount = DownloadColumn() if in_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), amount, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        yield Bar(label, shown)
