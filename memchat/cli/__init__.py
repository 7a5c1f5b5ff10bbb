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
    if sys.stdout is None:
        _say("There is no stdout to write the result to.")
        return 1
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        status = _dispatch(argv)
        sys.stdout.flush()
        return status
    except MemchatError as error:
        _say(error.sentence)
        return error.exit_status
    except BrokenPipeError:
        # Whoever read our output has gone (`| head`): nothing went wrong, and nothing more can be said.
        _silence(sys.stdout)
        return 0
    except OSError as error:
        what = "The result cannot be written" if error.filename is None else f"{error.filename} cannot be used"
        _say(f"{what}: {(error.strerror or 'unknown').lower()}.")
        _silence(sys.stdout)
        return 1
    except KeyboardInterrupt:
        return 130


def _dispatch(argv: Sequence[str] | None) -> int:
    from memchat.cli.chatting import read_plain_start, start_plainly

    plain = read_plain_start(sys.argv[1:] if argv is None else argv, os.environ)
    if plain is not None:
        return start_plainly(plain)
    from memchat.cli.program import build

    try:
        build()(args=None if argv is None else list(argv), prog_name="memchat")
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):
            raise ended.__context__ from None  # Typer calls that a failure
        return ended.code if isinstance(ended.code, int) else 0
    return 0


def _say(sentence: str) -> None:
    from memchat.text import clean

    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"memchat: {clean(sentence)}\n")
        sys.stderr.flush()


def _silence(stream: object) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # type: ignore[attr-defined]
