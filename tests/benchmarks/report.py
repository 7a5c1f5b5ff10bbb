"""What the suite found: one line for each comparison, as a table for people and as JSON for the next revision."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TextIO

from tests.benchmarks.measure import Pairs, quartiles

_ROOT: Final = Path(__file__).parents[2]
_NOISE: Final = 1.25  # smaller changes say nothing on a shared machine


@dataclass(frozen=True, slots=True)
class Line:
    """One comparison. `value` is what `limit` judges (at most), written by `form`; numbers are seconds or `unit`."""

    row: str
    what: str
    against: str = ""
    measured: float | None = None
    reference: float | None = None
    value: float | None = None
    limit: float | None = None
    form: str = "{:.2f}x"
    spread: tuple[float, float] | None = None
    unit: str = "ms"
    clock: str = "cpu"
    note: str = ""
    ours: tuple[float, ...] = ()
    theirs: tuple[float, ...] = ()

    @property
    def met(self) -> bool | None:
        """Tell whether the target was reached; None where there is none, or nothing was measured."""
        return None if self.limit is None or self.value is None else self.value <= self.limit

    def numbered(self, note: str) -> "Line":
        """Return the line with a remark."""
        return replace(self, note=note)


class Skipped(Exception):
    """A row cannot be measured here; the sentence says why and what to do."""


def ratio_line(
    row: str, what: str, against: str, pairs: Pairs, limit: float | None = None, *, clock: str = "cpu", note: str = ""
) -> Line:
    """Return the line of a duel in seconds."""
    return Line(
        row,
        what,
        against,
        pairs.measured * 1000,
        pairs.reference * 1000,
        pairs.ratio,
        limit,
        spread=pairs.spread,
        clock=clock,
        note=note,
        ours=pairs.ours,
        theirs=pairs.theirs,
    )


def difference_line(
    row: str, what: str, against: str, pairs: Pairs, limit: float | None = None, *, clock: str = "wall", note: str = ""
) -> Line:
    """Return the line of a duel of which the milliseconds between the two are judged."""
    more = [(ours - theirs) * 1000 for ours, theirs in zip(pairs.ours, pairs.theirs, strict=True)]
    line = ratio_line(row, what, against, pairs, limit, clock=clock, note=note)
    return replace(line, value=sorted(more)[len(more) // 2], spread=quartiles(more), form="{:.1f} ms more")


def print_table(lines: Sequence[Line], out: TextIO) -> None:
    """Write the table."""
    from rich.console import Console
    from rich.table import Table

    table = Table(show_edge=False, pad_edge=False)
    for heading in ("row", "what", "measured", "against", "took", "ratio", "spread", "target", "met"):
        table.add_column(heading, justify="right" if heading in ("measured", "took", "ratio", "spread") else "left")
    for line in lines:
        if line.value is None:
            table.add_row(line.row, line.what, "", line.note, "", "", "", "", "skipped")
            continue
        table.add_row(
            line.row,
            line.what,
            _number(line.measured, line.unit, line.clock),
            line.against,
            _number(line.reference, line.unit, ""),
            line.form.format(line.value),
            " to ".join(f"{end:.2f}" for end in line.spread) if line.spread else "",
            "" if line.limit is None else f"<= {line.form.format(line.limit)}",
            {True: "yes", False: "NO", None: ""}[line.met],
        )
    console = Console(file=out, width=None if out.isatty() else 170, markup=False, highlight=False)
    console.print(table)
    for line in lines:
        if line.value is not None and line.note:
            console.print(f"{line.row}, {line.what}: {line.note}")


def write_json(lines: Sequence[Line], path: Path, *, full: bool) -> None:
    """Keep the lines with the raw numbers of every round, and what they were measured on."""
    document = {
        "revision": _revision(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "full": full,
        "lines": [asdict(line) | {"met": line.met} for line in lines],
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def print_comparison(lines: Sequence[Line], old: Path, out: TextIO) -> None:
    """Write how each ratio changed since an older run; only ratios, since milliseconds belong to their moment."""
    document = json.loads(old.read_text(encoding="utf-8"))
    before = {(line["row"], line["what"], line["against"]): line["value"] for line in document["lines"]}
    out.write(f"\nAgainst revision {document['revision']} of {document['at']}:\n")
    for line in lines:
        value = before.get((line.row, line.what, line.against))
        if not value or not line.value:
            continue
        change = line.value / value
        said = "slower" if change >= _NOISE else "quicker" if change <= 1 / _NOISE else "as before"
        out.write(f"  {line.row}, {line.what}, {line.against}: {value:.3g} -> {line.value:.3g} ({said})\n")


def _number(value: float | None, unit: str, clock: str) -> str:
    if value is None:
        return ""
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f} {unit}" + (f" {clock}" if clock else "")


def _revision() -> str:
    try:
        ran = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=_ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return "unknown"
    return ran.stdout.strip() or f"unknown, {Path(sys.prefix).name}"
