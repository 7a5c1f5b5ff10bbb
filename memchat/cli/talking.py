"""`chat` and `ask`: talking."""

import os
import select
import stat
import sys
from collections.abc import Iterator
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from memchat.cli import completing
from memchat.cli.chatting import hold_chat, tell_of_memory
from memchat.cli.flags import JsonFlag
from memchat.cli.invocation import print_json, read_typed, tell
from memchat.errors import Cancelled, MemchatError, UsageError

if TYPE_CHECKING:
    from memchat.app import App
    from memchat.chat import Attachment, TurnResult

_FIRST_TIMES = 3  # conversations after which one knows that what is said is learnt from later
_STDIN_WAIT = 0.5  # seconds to wait for a pipe to show data; a longer wait is asked for with "-"
PersonaOption = Annotated[
    str | None,
    typer.Option(
        "--persona", help="Who answers: a name under [personas].", metavar="NAME", autocompletion=completing.personas
    ),
]
SystemOption = Annotated[
    str | None, typer.Option("--system", help="Instructions in place of the usual ones.", metavar="TEXT")
]
ContinueFlag = Annotated[bool, typer.Option("--continue", "-c", help="Go on with the latest session.")]
ResumeOption = Annotated[
    int | None,
    typer.Option("--resume", help="Go on with this session.", metavar="ID", autocompletion=completing.session_ids),
]


def register(program: typer.Typer) -> None:
    """Add the commands to the program."""
    program.command("chat")(chat)
    program.command("ask")(ask)


def chat(
    context: typer.Context,
    continue_: ContinueFlag = False,
    resume: ResumeOption = None,
    incognito: Annotated[bool, typer.Option(help="Read no memories, store nothing.")] = False,
    read_only: Annotated[bool, typer.Option(help="Use the memories, store nothing.")] = False,
    plain: Annotated[bool, typer.Option(help="No Markdown, no colours.")] = False,
    persona: PersonaOption = None,
    system: SystemOption = None,
) -> None:
    """Talk in the terminal; with piped stdin one message a line.

    Example: memchat chat --continue
    """
    if incognito and read_only:
        raise UsageError("Choose one of --incognito and --read-only.")
    _refuse_both(incognito, continue_, resume)
    _instruct(context.obj.app, persona, system)
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
    attach: Annotated[
        list[str] | None, typer.Option("--attach", "-a", help="A text file or a picture; may be given again.")
    ] = None,
    continue_: ContinueFlag = False,
    resume: ResumeOption = None,
    persona: PersonaOption = None,
    system: SystemOption = None,
) -> None:
    """Ask one thing; piped input and attached files are material and never learnt from.

    What you say is kept to be learnt from by the next `ask` or `chat`, after its answer, or at once by `memchat learn`.

    Example: git diff | memchat ask "review this"
    """
    from memchat.chat import Mode
    from memchat.chat.attaching import read_attachment
    from memchat.chat.idle import name_by_first_words
    from memchat.paths import typed_path

    _refuse_both(incognito, continue_, resume)
    question, attachments = _question(text)
    attachments += [read_attachment(typed_path(file)) for file in attach or ()]
    app = context.obj.app
    _instruct(app, persona, system)
    mode = Mode.INCOGNITO if incognito else Mode.NORMAL
    conversation = app.open_chat(mode=mode, continue_=continue_, resume=resume)
    tell_of_memory(app, conversation)
    conversation.learning = conversation.learning and not no_learn
    try:
        result = _answer(conversation.turn(question, Event(), attachments), quiet=json_)
    except (MemchatError, KeyboardInterrupt):
        conversation.abandon()
        raise
    if result.session is not None and app.settings.flag("chat.titles"):
        name_by_first_words(app.store, result.session)  # nobody is idle here, and one question needs no model for it
    if json_:
        print_json(_as_json(result))
    if result.interrupted:
        raise Cancelled("The reply was interrupted.")
    if result.queued and result.turn is not None:
        _learn_from_before(app, result.turn)


def _learn_from_before(app: "App", turn: int) -> None:
    """Take up what earlier questions left, and say to whoever sits there what becomes of this one."""
    from memchat.app.learning import take_up  # late: an answer needs none of it

    sys.stdout.flush()
    watched = sys.stderr is not None and sys.stderr.isatty()
    for memory in take_up(app, turn):
        if watched:
            tell(f"Learnt from before: #{memory.id} {memory.text}")
    if watched and len(app.store.list_sessions(limit=_FIRST_TIMES + 1)) <= _FIRST_TIMES:
        tell("Kept to be learnt from by the next ask or chat; at once: memchat learn")


def _refuse_both(incognito: bool, continue_: bool, resume: int | None) -> None:
    if incognito and (continue_ or resume is not None):
        raise UsageError("An incognito chat reads nothing, so it cannot go on with a stored conversation.")
    if continue_ and resume is not None:
        raise UsageError("Choose one of --continue and --resume.")


def _instruct(app: "App", persona: str | None, system: str | None) -> None:
    """Change the instructions for this run; raises NotFound when there is no such persona."""
    if persona is not None and system is not None:
        raise UsageError("Choose one of --persona and --system.")
    if persona is not None:
        app.change_setting("chat.persona", persona)
        app.settings.instructions()  # before anything is begun: there may be no such persona
    if system is not None:
        app.change_setting("chat.persona", "")
        app.change_setting("chat.system_prompt", system)


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
    from memchat.chat.attaching import as_attachment

    wanted = "-" in parts
    material = _read_stdin(wait=wanted) or b""
    question = " ".join(part for part in parts if part != "-").strip()
    if question:
        attached = as_attachment("stdin", material)
        if not attached.image:
            read_typed(material)  # says so where it is not all text
        return question, [attached] if material.strip() else []
    if not material.strip():
        raise UsageError('There is no question; try: memchat ask "what do you know about me?"')
    return read_typed(material), []


def _read_stdin(wait: bool) -> bytes | None:
    """Return what is piped in, None when nothing is: a terminal, a closed stdin, a pipe that stays silent."""
    if sys.stdin is None or sys.stdin.closed or (sys.stdin.isatty() and not wait):
        return None
    try:
        descriptor = sys.stdin.fileno()
    except (OSError, ValueError):  # not a real file: a test's or a host program's
        return sys.stdin.buffer.read()
    if not wait and not _data_at_hand(descriptor):
        return None
    return sys.stdin.buffer.read()


def _data_at_hand(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return True
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return False
    if sys.platform == "win32":
        return True
    return bool(select.select([descriptor], [], [], _STDIN_WAIT)[0])
