"""Holding a chat, on a terminal or with lines from a pipe; and the usual start of one, which needs no Typer.

Typer and pydantic behind it take longer to load than everything that the first prompt needs.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from memchat.cli.invocation import Invocation, on_terminal, tell

if TYPE_CHECKING:
    from memchat.app import App
    from memchat.chat import Chat

GLOBALS: Final = ("db", "config", "user", "engine", "host", "model", "embed_model")  # the options before every command


def variable(name: str) -> str:
    """Return the environment variable that stands for a global option."""
    return f"MEMCHAT_{name.upper()}"


def read_plain_start(arguments: Sequence[str], environ: Mapping[str, str]) -> dict[str, str | None] | None:
    """Return the global options where nothing else than a chat is asked for, None where Typer has to read."""
    if "_MEMCHAT_COMPLETE" in environ:  # the shell asks what could be typed
        return None
    options = {f"--{name.replace('_', '-')}": name for name in GLOBALS}
    given: dict[str, str | None] = {name: environ.get(variable(name)) or None for name in GLOBALS}
    left = list(arguments)
    while left and left[0].startswith("-"):
        option, equals, value = left.pop(0).partition("=")
        if option not in options or not (equals or (left and not left[0].startswith("-"))):
            return None
        given[options[option]] = value if equals else left.pop(0)
    return given if left in ([], ["chat"]) else None


def start_plainly(options: Mapping[str, str | None]) -> int:
    """Hold a chat with these global options; return the exit status."""
    overrides = dict(options)
    invocation = Invocation(config=overrides.pop("config", None), overrides=overrides)
    try:
        return hold_chat(invocation)
    finally:
        invocation.close()


def hold_chat(
    invocation: Invocation, mode: str = "normal", *, continue_: bool = False, resume: int | None = None
) -> int:
    """Talk until the user leaves or the lines end; `mode` is a `Mode`. Return the exit status."""
    app = invocation.app
    if on_terminal() and not continue_ and resume is None:
        from memchat.terminal.front import run_chat  # late, here and below: what a chat is made of is half of the start

        return run_chat(app, mode)
    from memchat.chat import Mode

    conversation = app.open_chat(mode=Mode(mode), continue_=continue_, resume=resume)
    if on_terminal():
        from memchat.terminal.repl import run_repl

        return run_repl(app, conversation)
    from memchat.terminal.lines import run_lines

    tell_of_memory(app, conversation)
    return run_lines(app, conversation, sys.stdin, sys.stdout, sys.stderr)


def tell_of_memory(app: "App", conversation: "Chat") -> None:
    """Say why this conversation has no memory, or what is odd about its file."""
    if app.why_no_memory:
        tell(f"No memory in this chat: {app.why_no_memory}")
    for notice in conversation.store.notices if conversation.store else ():
        tell(notice)
