"""The screen of the program: consoles, ages in words, and the few shapes that all text for people is made of.

Every text is cleaned of control characters here, and nothing in it is ever read as markup.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final, TextIO

from memchat.terminal.flow import Flow, cells, cut
from memchat.text import clean, counted, one_line

if TYPE_CHECKING:
    from rich.console import Console

Cell = str | tuple[str, str]  # text, or text with a style
Row = Sequence[Cell]

_DAY: Final = 86400
_YEAR: Final = 365.25 * _DAY
_STEPS: Final = (  # below this many seconds, counted in units of so many
    (60, 1, "second"),
    (3600, 60, "minute"),
    (_DAY, 3600, "hour"),
    (14 * _DAY, _DAY, "day"),
    (60 * _DAY, 7 * _DAY, "week"),
    (2 * _YEAR, _YEAR / 12, "month"),
)
_NO_WRAP: Final = 1 << 30


def make_console(out: TextIO | None = None, *, stderr: bool = False) -> "Console":
    """Return a console that prints text as it is: no markup, no emoji codes, colours only on a terminal."""
    # Late: commands that print JSON never load rich.
    import sys

    from rich.console import Console

    file = out or (sys.stderr if stderr else sys.stdout)
    return Console(file=file, force_terminal=file.isatty(), markup=False, emoji=False, highlight=False)


def say(console: "Console", text: str, style: str = "") -> None:
    """Print a text of one or more lines, wrapped at words on a terminal."""
    flow = _flow(console)
    for line in clean(text).split("\n"):
        flow.begin("", "", 0)
        flow.add(line.replace("\t", "    "), style)
        flow.end()


def quiet(console: "Console", text: str) -> None:
    """Print a remark beside the conversation."""
    say(console, text, "dim")


def print_error(console: "Console", text: str) -> None:
    """Print what went wrong."""
    say(console, text, "red")


def print_columns(console: "Console", rows: Iterable[Row], *, indent: int = 0) -> None:
    """Print rows in columns; the last column wraps under itself on a terminal and stays whole elsewhere."""
    parts = [[_cell(cell) for cell in row] for row in rows]
    columns = max((len(row) for row in parts), default=0) - 1
    sizes = [max((cells(row[at][0]) for row in parts if len(row) > at + 1), default=0) for at in range(columns)]
    flow = _flow(console)
    for row in parts:
        flow.begin(" " * indent, "", indent + sum(size + 2 for size in sizes if size))
        for (text, style), size in zip(row[:-1], sizes, strict=False):
            if size:
                flow.add(text, style)
                flow.add(" " * (size - cells(text) + 2))
        flow.add(*row[-1])
        flow.end()


def print_fields(console: "Console", fields: Iterable[tuple[str, str]], *, indent: int = 0) -> None:
    """Print named values, one a line; those without a value are left out."""
    print_columns(console, [((name, "dim"), value) for name, value in fields if value], indent=indent)


def age(then: datetime, now: datetime) -> str:
    """Return how long ago something was, in words; both times are aware."""
    return days_ago((now - then).total_seconds() / _DAY)


def days_ago(days: float) -> str:
    """Return an age given in days, in words."""
    seconds = days * _DAY
    if seconds < 10:
        return "just now"
    for limit, size, name in _STEPS:
        if seconds < limit:
            return f"{counted(max(1, int(seconds / size)), name)} ago"
    return f"{counted(int(seconds / _YEAR), 'year')} ago"


def moment(at: datetime) -> str:
    """Return a time on the user's own clock."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M")


def shortened(text: str, size: int) -> str:
    """Return `text` on one line, cut at `size` cells with an ellipsis."""
    return cut(one_line(text), size, cells)


def _cell(cell: Cell) -> tuple[str, str]:
    text, style = (cell, "") if isinstance(cell, str) else cell
    return one_line(text), style


def _flow(console: "Console") -> Flow:
    line: list[tuple[str, str]] = []

    def write(text: str, style: str) -> None:
        line.append((text, style))
        if text == "\n":  # the end of the line: word by word the console would take seconds for a long text
            for style_of_run, run in groupby(line, key=itemgetter(1)):
                console.out("".join(text for text, _ in run), style=style_of_run or None, highlight=False, end="")
            line.clear()

    return Flow(write, lambda: console.width if console.is_terminal else _NO_WRAP)
