"""A Markdown table, drawn to fit the window."""

import re
from typing import TYPE_CHECKING, Final, Literal

from memchat.terminal.inline import read_inline

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_DELIMITER: Final = re.compile(r"\s*:?-+:?\s*$")

Justify = Literal["left", "center", "right"]


def split_row(row: str) -> list[str]:
    """Return the cells of one row; a pipe in backticks or after a backslash is text."""
    inner = row.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    cells, current, quoted, escaped = [], "", False, False
    for character in inner:
        if character == "|" and not quoted and not escaped:
            cells.append(current.strip())
            current = ""
            continue
        quoted ^= character == "`"
        escaped = character == "\\" and not escaped
        current += character
    return [*cells, current.strip()]


def markdown_table(rows: list[str]) -> "Table | None":
    """Return the rows as a table; None when the second one is not the line of dashes that makes it one."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    if len(rows) < 2 or not all(_DELIMITER.match(cell) for cell in split_row(rows[1])):
        return None
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    header, dashes = split_row(rows[0]), split_row(rows[1])
    for place, title in enumerate(header):
        side = dashes[place] if place < len(dashes) else ""
        table.add_column(_styled(title), justify=_justify(side), overflow="fold")
    for row in rows[2:]:
        cells = split_row(row)[: len(header)]
        table.add_row(*map(_styled, cells))
    return table


def _justify(dashes: str) -> Justify:
    if dashes.endswith(":"):
        return "center" if dashes.startswith(":") else "right"
    return "left"


def _styled(cell: str) -> "Text":
    from rich.text import Text

    spans, _ = read_inline(cell, final=True)
    return Text.assemble(*((text.replace("\\|", "|"), style) for text, style in spans))
