"""Score what is learnt on labelled sets, with the embedded model or with the code alone.

    python -m tests.evaluation extraction SET.jsonl [--code-only] [--baseline] [--models FOLDER]
    python -m tests.evaluation conflicts SET.jsonl [--code-only] [--models FOLDER]

`--baseline` runs a plain extraction prompt without any check in code beside it. The models are those that `memchat
setup` fetched, unless `--models` names another folder.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from memchat.engine import ChatModel, Embedder
from memchat.engine.embedded import open_chat, open_embedder
from memchat.learn.evaluate import (
    ConflictScore,
    ExtractionScore,
    extract_plainly,
    extract_with,
    read_rows,
    score_conflicts,
    score_extraction,
)
from memchat.paths import locate


def main() -> int:
    """Score the set named on the command line and print the table."""
    options = _read_options()
    rows = read_rows(options.set)
    with _models(options.models, code_only=options.code_only) as (model, embedder):
        if options.what == "conflicts":
            _print_conflicts(score_conflicts(rows, model, embedder, progress=_progress))
            return 0
        with extract_with(model, embedder) as extract:
            _print_extraction("memchat", score_extraction(rows, extract, _progress))
        if options.baseline and model is not None:
            _print_extraction("plain prompt", score_extraction(rows, extract_plainly(model), _progress))
    return 0


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.evaluation", description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("extraction", "conflicts"))
    parser.add_argument("set", type=Path)
    parser.add_argument("--code-only", action="store_true", help="ask no model")
    parser.add_argument("--baseline", action="store_true", help="score a plain prompt beside it")
    parser.add_argument("--models", type=Path, default=locate().models)
    return parser.parse_args()


@contextmanager
def _models(folder: Path, *, code_only: bool) -> Iterator[tuple[ChatModel | None, Embedder | None]]:
    if code_only:
        yield None, None
        return
    model, embedder = open_chat(folder, "standard", num_ctx=4096), open_embedder(folder)
    try:
        yield model, embedder
    finally:
        model.close()
        embedder.close()


def _progress(done: float, total: float) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done:.0f} of {total:.0f}")


def _print_extraction(label: str, score: ExtractionScore) -> None:
    _say(f"\n{label}: {score.expected} expected, {score.stored} stored, {score.nothing_rows} rows with nothing in them")
    _say(f"  recall {score.recall:.3f}  precision {score.precision:.3f}  junk {score.junk_rate:.3f}")
    _say(f"  forbidden {score.forbidden}  doubled {score.doubled}")
    _print_shares(score.by_tag)
    for row in (*score.missed, *score.wrong):
        _say(f"  {row}")


def _print_conflicts(score: ConflictScore) -> None:
    _say(f"\n{score.pairs} pairs: right {score.right:.3f}, dropped {score.wrongly_dropped}, kept {score.wrongly_kept}")
    _print_shares(score.by_relation)
    for row in score.wrong:
        _say(f"  {row}")


def _print_shares(shares: Mapping[str, tuple[int, int]]) -> None:
    for name, (met, every) in sorted(shares.items()):
        _say(f"  {name:<26}{met:>4} of {every}")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
