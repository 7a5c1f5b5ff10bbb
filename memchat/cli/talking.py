"""`chat` and `ask`: talking."""

import os
import select
import stat
import sys
from collections.abc import Iterator
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from memchat.cli.chatting import hold_chat, tell_of_memory
from memchat.cli.flags import JsonFlag
from memchat.cli.invocation import print_json, tell
from memchat.errors import Cancelled, UsageError

if TYPE_CHECKING:
    from memchat.chat import Attachment, TurnResult

_STDIN_WAIT = 0.5  # seconds to wait for a pipe to show data; a longer wait is asked for with "-"


def register(program: typer.Typer) -> None:
    """Add the commands to the program."""
    program.command("chat")(chat)
    program.command("ask")(ask)


def chat(
    context: typer.Context,
    continue_: Annotated[bool, typer.Option("--continue", "-c", help="Go on with the latest session.")] = False,
    resume: Annotated[int | None, typer.Option(help="Go on with this session.", metavar="ID")] = None,
    incognito: Annotated[bool, typer.Option(help="Read no memories, store nothing.")] = False,
    read_only: Annotated[bool, typer.Option(help="Use the memories, store nothing.")] = False,
    plain: Annotated[bool, typer.Option(help="No Markdown, no colours.")] = False,
) -> None:
    """Talk in the terminal; with piped stdin one message a line.

    Example: memchat chat --continue
    """
    if incognito and read_only:
        raise UsageError("Choose one of --incognito and --read-only.")
    if plain:
        context.obj.app.change_setting("terminal.plain", True)
    status = hold_chat(context.obj, _mode(incognito, read_only), continue_=continue_, resume=resume)
    if status:
        raise typer.Exit(status)


def _mode(incognito: bool, read_only: bool) -> str:
    return "incognito" if incognito else "read-only" if read_only else "normal"


def ask(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(help="The question; - stands for what comes on stdin.")],
    json_: JsonFlag = False,
    no_learn: Annotated[bool, typer.Option("--no-learn", help="Learn nothing from this turn.")] = False,
    incognito: Annotated[bool, typer.Option(help="Read no memories, store nothing.")] = False,
) -> None:
    """Ask one thing; piped input is attached as material and never learnt from.

    Example: git diff | memchat ask "review this"
    """
    from memchat.chat import Mode

    question, attachments = _question(text)
    app = context.obj.app
    conversation = app.open_chat(mode=Mode.INCOGNITO if incognito else Mode.NORMAL)
    tell_of_memory(app, conversation)
    conversation.learning = conversation.learning and not no_learn
    result = _answer(conversation.turn(question, Event(), attachments), quiet=json_)
    if json_:
        print_json(_as_json(result))
    if result.interrupted:
        raise Cancelled("The reply was interrupted.")


def _as_json(result: "TurnResult") -> dict[str, object]:
    from memchat.wire import injected_json, plain

    return {
        "reply": result.reply,
        "session": result.session,
        "turn": result.turn,
        "memories": injected_json(result.recall),
        "saved": [memory.id for memory in result.saved],
        "learned": "queued" if result.queued else "off",
        "model": result.model,
        "timings_ms": plain(result.timings_ms),
    }


def _answer(events: Iterator[object], quiet: bool) -> "TurnResult":
    from memchat.chat import Finished, Notice, Piece
    from memchat.text import clean

    result: TurnResult | None = None
    ended_line = True
    try:
        for event in events:
            if isinstance(event, Piece) and not quiet:
                piece = clean(event.text)
                sys.stdout.write(piece)
                sys.stdout.flush()
                ended_line = piece.endswith("\n") if piece else ended_line
            elif isinstance(event, Notice):
                tell(event.sentence)
            elif isinstance(event, Finished):
                result = event.result
    finally:
        if not ended_line:
            sys.stdout.write("\n")
    assert result is not None, "a turn ends with Finished or an error"
    return result


def _question(parts: list[str]) -> "tuple[str, list[Attachment]]":
    from memchat.chat import Attachment

    wanted = "-" in parts
    material = _read_stdin(wait=wanted)
    question = " ".join(part for part in parts if part != "-").strip()
    if not question:
        if not (material or "").strip():
            raise UsageError('There is no question; try: memchat ask "what do you know about me?"')
        return material or "", []
    return question, [Attachment("stdin", material)] if material and material.strip() else []


def _read_stdin(wait: bool) -> str | None:
    """Return what is piped in, None when nothing is: a terminal, a closed stdin, a pipe that stays silent."""
    if sys.stdin is None or sys.stdin.closed or (sys.stdin.isatty() and not wait):
        return None
    try:
        descriptor = sys.stdin.fileno()
    except (OSError, ValueError):  # not a real file: a test's or a host program's
        return sys.stdin.read()
    if not wait and not _data_at_hand(descriptor):
        return None
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _data_at_hand(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return True
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return False
    if sys.platform == "win32":
        return True
    return bool(select.select([descriptor], [], [], _STDIN_WAIT)[0])
