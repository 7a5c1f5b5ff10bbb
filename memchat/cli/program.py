"""The program's commands in one tree, with the options that stand before every command."""

from typing import Annotated

import typer

from memchat import __version__
from memchat.cli import completing, files, health, learning, memories, recalling, sessions, talking
from memchat.cli.chatting import hold_chat
from memchat.cli.invocation import Invocation

_HELP = """A chat assistant with a long-term memory that never leaves this machine.

Without a command it starts the chat.

Exit statuses: 0 done, 1 failed (also a message too long for the model's context), 2 wrong usage or a file that cannot
be read, 3 no such id or nothing found, 4 no engine, no model, or it broke, 5 refused for privacy, 130 interrupted.

Example: memchat remember "I moved to Berlin in March."
"""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"memchat {__version__}")
        raise typer.Exit


def build() -> typer.Typer:
    """Return the whole command tree."""
    program = typer.Typer(
        name="memchat",
        help=_HELP,
        invoke_without_command=True,
        rich_markup_mode=None,  # plain help: importing rich would be half of its time
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    program.callback()(_options)
    for module in (talking, memories, recalling, learning, files, sessions, health):
        module.register(program)
    return program


def _options(
    context: typer.Context,
    db: Annotated[str | None, typer.Option(envvar="MEMCHAT_DB", help="The memory file.", metavar="PATH")] = None,
    config: Annotated[
        str | None, typer.Option(envvar="MEMCHAT_CONFIG", help="The config file.", metavar="PATH")
    ] = None,
    user: Annotated[
        str | None, typer.Option(envvar="MEMCHAT_USER", help="Whose memories to use.", metavar="NAME")
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            envvar="MEMCHAT_ENGINE",
            help="auto, ollama or embedded.",
            metavar="ENGINE",
            autocompletion=completing.engines,
        ),
    ] = None,
    host: Annotated[
        str | None, typer.Option(envvar="MEMCHAT_HOST", help="Where Ollama listens.", metavar="URL")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            envvar="MEMCHAT_MODEL", help="The chat model.", metavar="NAME", autocompletion=completing.chat_models
        ),
    ] = None,
    embed_model: Annotated[
        str | None, typer.Option(envvar="MEMCHAT_EMBED_MODEL", help="The embedding model.", metavar="NAME")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    context.obj = Invocation(
        config=config,
        overrides={
            "db": db,
            "user": user,
            "engine": engine,
            "host": host,
            "model": model,
            "embed_model": embed_model,
        },
        command=context.invoked_subcommand or "chat",
    )
    context.call_on_close(context.obj.close)
    if context.invoked_subcommand is None:
        status = hold_chat(context.obj)
        if status:
            raise typer.Exit(status)
