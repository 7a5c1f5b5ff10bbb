"""`sessions` and what can be done with them."""

import sys
from typing import Annotated

import typer

from memchat.cli import completing
from memchat.cli.flags import JsonFlag
from memchat.cli.invocation import Invocation, confirm, on_terminal, print_json, print_line, tell, typed_words
from memchat.errors import MemchatError, NotFound, UsageError
from memchat.paths import typed_path
from memchat.text import counted


def register(program: typer.Typer) -> None:
    """Add the commands to the program."""
    group = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
    group.callback()(sessions)
    group.command("rename")(rename)
    group.command("fork")(fork)
    group.command("export")(export)
    group.command("delete")(delete)
    program.add_typer(group, name="sessions")


def sessions(
    context: typer.Context,
    search: Annotated[str | None, typer.Option(help="Only those in which this was said.", metavar="Q")] = None,
    limit: Annotated[int | None, typer.Option(help="At most so many, the newest.", min=0)] = None,
    json_: JsonFlag = False,
) -> None:
    """List past conversations, newest first.

    Example: memchat sessions --search Berlin
    """
    if context.invoked_subcommand is not None:
        return
    run: Invocation = context.obj
    if search is not None:
        typed_words(search, "--search")
    found = run.store.list_sessions(search=search, limit=limit)
    if json_:
        from memchat.wire import session_json

        print_json([session_json(session) for session in found])
    if search is not None and not found:
        raise NotFound(f"Nothing was said about {search!r}.")
    if json_:
        return
    from memchat.terminal.memory_text import print_sessions
    from memchat.terminal.render import make_console

    print_sessions(make_console(), found, run.app.clock())


def rename(
    context: typer.Context,
    id: Annotated[int, typer.Argument(help="The session.", autocompletion=completing.session_ids)],
    title: Annotated[list[str], typer.Argument(help="Its new title.")],
) -> None:
    """Give a conversation another title.

    Example: memchat sessions rename 3 "Kitchen plans"
    """
    from memchat.curate.sessions import rename_session

    session = rename_session(context.obj.store, id, " ".join(title))
    print_line(f"Session {session.id} is now called {session.title}.")


def fork(
    context: typer.Context,
    id: Annotated[int, typer.Argument(help="The session.", autocompletion=completing.session_ids)],
    json_: JsonFlag = False,
) -> None:
    """Copy a conversation, to go on from it in another way.

    Example: memchat sessions fork 3
    """
    from memchat.curate.sessions import fork_session
    from memchat.wire import session_json

    run: Invocation = context.obj
    session = fork_session(run.store, id, run.app.clock())
    if json_:
        print_json(session_json(session))
    else:
        print_line(f"Session {session.id} is a copy of {id}; go on with: memchat chat --resume {session.id}")


def export(
    context: typer.Context,
    id: Annotated[int, typer.Argument(help="The session.", autocompletion=completing.session_ids)],
    file: Annotated[str, typer.Argument(help="Where to; - is stdout.")] = "-",
) -> None:
    """Write a conversation as Markdown.

    Example: memchat sessions export 3 kitchen.md
    """
    from memchat.curate.sessions import session_markdown, write_session

    run: Invocation = context.obj
    if file == "-":
        sys.stdout.write(session_markdown(run.store, id))
        return
    turns = write_session(run.store, id, typed_path(file))
    print_line(f"Wrote {counted(turns, 'turn')} to {file}.")


def delete(
    context: typer.Context,
    id: Annotated[int, typer.Argument(help="The session.", autocompletion=completing.session_ids)],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Erase a conversation and what was learnt in it, as `forget --session` does.

    Example: memchat sessions delete 3
    """
    from memchat.cli.memories import erase
    from memchat.curate.forget import select_sessions

    run: Invocation = context.obj
    choice = select_sessions(run.store, [id])
    if not yes:
        if not on_terminal():
            raise UsageError(f"Nothing is erased without a word: add --yes to erase session {id}.")
        for memory in choice.memories:
            tell(f"#{memory.id}\t{memory.text}")
        learnt = f" and {counted(len(choice.memories), 'memory', 'memories')} learnt in it" if choice.memories else ""
        if not confirm(f"Erase session {id}{learnt} for good?"):
            raise MemchatError("Nothing was erased.")
    erase(run, choice, json_)
