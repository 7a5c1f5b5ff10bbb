"""The command line: parse, call, render. `main` is the one place that turns errors into exit statuses."""

import contextlib
import os
import sys
from collections.abc import Sequence

from memchat.errors import MemchatError


def run() -> None:
    """Run memchat as the shell does."""
    sys.exit(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; errors become one sentence on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        return _dispatch(argv)
    except MemchatError as error:
        _say(error.sentence)
        return error.exit_status
    except BrokenPipeError:
        # Whoever read our output has gone (`| head`): nothing went wrong, and nothing more can be said.
        _silence(sys.stdout)
        return 0
    except KeyboardInterrupt:
        return 130


def _dispatch(argv: Sequence[str] | None) -> int:
    from memchat.cli.program import build

    try:
        build()(args=None if argv is None else list(argv), prog_name="memchat")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 0


def _say(sentence: str) -> None:
    from memchat.text import clean

    with contextlib.suppress(BrokenPipeError, ValueError):
        sys.stderr.write(f"memchat: {clean(sentence)}\n")
        sys.stderr.flush()


def _silence(stream: object) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # type: ignore[attr-defined]
