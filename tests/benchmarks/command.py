"""The one command: choose rows, run them, print one table, keep the numbers."""

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from memchat.paths import locate
from tests.benchmarks import conversing, forgetting, growing, searching, starting, talking, writing
from tests.benchmarks.lab import Lab, Row
from tests.benchmarks.peers import Peers
from tests.benchmarks.report import Line, Skipped, print_comparison, print_table, write_json

ROWS: Final[Mapping[str, Row]] = {
    "search": searching.search,
    "peers": searching.peers,
    "store": writing.store,
    "before": talking.before,
    "start": starting.start,
    "prompt": starting.prompt,
    "beside": conversing.beside,
    "forget": forgetting.forget,
    "memory": growing.memory,
    "growth": growing.growth,
    "import": writing.import_,
    "prefix": talking.prefix,
    "learning": talking.learning,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the suite; 0 unless it cannot run at all: a missed target is a finding, not a failure."""
    # One thread for numpy, or its product would count the work of all cores; before it is first imported.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    options = _parser().parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="memchat-benchmarks-") as work:
        lab = Lab(
            Path(work),
            options.cache / "stock",
            options.models,
            Peers(options.peers or options.cache / "peers"),
            full=options.full,
            tell=_tell,
        )
        lines = run(lab, options.rows or list(ROWS))
    print_table(lines, sys.stdout)
    if options.json:
        write_json(lines, options.json, full=options.full)
    if options.compare:
        print_comparison(lines, options.compare, sys.stdout)
    return 0


def run(lab: Lab, names: Sequence[str]) -> list[Line]:
    """Run rows one after the other; a row that cannot be measured here says why in its line."""
    lines: list[Line] = []
    for name in names:
        lab.tell(f"{name}: {(ROWS[name].__doc__ or '').strip()}")
        try:
            lines += ROWS[name](lab)
        except Skipped as reason:
            lines.append(Line(name, "", note=str(reason)))
    return lines


def _parser() -> argparse.ArgumentParser:
    import platformdirs

    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], metavar="ROW", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--full", action="store_true", help="also the sizes that take minutes (100,000 memories)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the raw numbers")
    parser.add_argument("--compare", type=Path, metavar="OLD.json", help="say what changed since")
    cache = Path(platformdirs.user_cache_dir("memchat-benchmarks", appauthor=False))
    parser.add_argument("--cache", type=Path, default=cache, help="where memory files and peers are kept")
    parser.add_argument("--peers", type=Path, help="the environment of the programs measured against")
    parser.add_argument("--models", type=Path, default=locate().models, help="where the packs lie")
    return parser


def _tell(sentence: str) -> None:
    sys.stderr.write(f"- {sentence}\n")
    sys.stderr.flush()
