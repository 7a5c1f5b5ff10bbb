"""`stats`, `doctor`, `setup`, `config`: how things stand, what is wrong, getting a working engine, settings."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memchat.cli import completing
from memchat.cli.flags import JsonFlag
from memchat.cli.invocation import Invocation, confirm, on_terminal, print_json, print_line, tell
from memchat.cli.progress import progress_bar
from memchat.errors import ConfigError, EngineFailed, MemchatError, StoreError, UsageError

if TYPE_CHECKING:
    from memchat.settings import Value


def register(program: typer.Typer) -> None:
    """Add the commands to the program."""
    program.command("stats")(stats)
    program.command("doctor")(doctor)
    program.command("setup")(setup)
    config = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
    config.callback()(show_config)
    config.command("show")(show_settings)
    config.command("set")(set_config)
    config.command("unset")(unset_config)
    config.command("path")(config_path)
    program.add_typer(config, name="config")


def stats(context: typer.Context, json_: JsonFlag = False) -> None:
    """Tell what is remembered, how it grows, what was left out and why, and what still waits.

    Example: memchat stats
    """
    from memchat.curate.stats import collect_stats

    run: Invocation = context.obj
    collected = collect_stats(run.store, run.app.clock(), run.app.engines.reachable_embedder())
    if json_:
        from memchat.wire import record_json

        print_json(record_json(collected))
        return
    from memchat.terminal.health_text import print_stats
    from memchat.terminal.render import make_console

    print_stats(make_console(), collected)


def doctor(
    context: typer.Context,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended.")] = False,
    privacy: Annotated[bool, typer.Option("--privacy", help="List every place where text is or can go.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Look at everything and say what is wrong, each with the line that mends it.

    Example: memchat doctor --privacy
    """
    from memchat.app.looking import look
    from memchat.curate import doctor as health
    from memchat.curate.meaning import find_meaningless
    from memchat.curate.privacy import list_places

    run: Invocation = context.obj
    try:
        app, fault = run.app, ""
    except ConfigError as error:  # a wrong config is one of the things it is asked about
        run.use_defaults()
        app, fault = run.app, error.sentence
    store, store_fault = None, ""
    try:
        store = run.store
    except StoreError as error:
        store_fault = error.sentence
    if fix and store is not None:
        try:
            for line in health.fix(store, app.paths):
                tell(line)
        except StoreError as error:  # the report below names what is left
            tell(error.sentence)
    fault = fault or find_meaningless(app.settings)
    engine, card = look(app)
    if privacy:
        report = list_places(store, app.paths, app.settings, engine)
    else:
        report = health.examine(
            store,
            app.paths,
            engine,
            now=app.clock(),
            num_ctx=app.settings.whole("chat.num_ctx"),
            embedder=card,
            store_fault=store_fault,
            config_fault=fault,
        )
    if json_:
        from memchat.wire import record_json

        print_json(record_json(report))
    else:
        from memchat.terminal.health_text import print_report
        from memchat.terminal.render import make_console

        print_report(make_console(), report)
    if not report.ok:
        raise typer.Exit(1)


def setup(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Fetch without asking.")] = False,
    small: Annotated[bool, typer.Option("--small", help="The smaller embedded model: quicker, much weaker.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Delete the embedded models.")] = False,
) -> None:
    """Get a working engine and models, then ask each of them something.

    Example: memchat setup --yes
    """
    from memchat.app import setup as getting

    run: Invocation = context.obj
    if remove:
        freed = getting.remove_packs(run.app)
        print_line(f"Removed the embedded models: {freed / 1e9:.2f} GB freed." if freed else "There were none.")
        return
    if small:
        run.app.change_setting("embedded.chat", "small")
    plan = getting.plan(run.app)
    for line in plan.lines:
        print_line(line)
    if plan.problem:
        raise EngineFailed(plan.problem)
    if plan.downloads and not yes:
        if not on_terminal():
            raise UsageError("Nothing is fetched without a word: add --yes.")
        if not confirm("Fetch this now?"):
            raise MemchatError("Nothing was fetched.")
    for download in plan.downloads:
        with progress_bar(download.name, in_bytes=True) as bar:
            for step in download.run():
                bar.update(step.done, step.total, step.label)
    run.app.engines.choose_again()
    for line in getting.try_out(run.app):
        print_line(line)


def show_config(context: typer.Context, json_: JsonFlag = False) -> None:
    """Show or change the settings.

    Example: memchat config set recall.limit 8
    """
    if context.invoked_subcommand is None:
        _show(context.obj, None, json_)


def show_settings(
    context: typer.Context,
    key: Annotated[
        str | None,
        typer.Argument(help="A setting, or a section such as recall.", autocompletion=completing.setting_keys),
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """Show the settings in force and where each comes from.

    Example: memchat config show recall
    """
    _show(context.obj, key, json_)


def _show(run: Invocation, key: str | None, json_: bool) -> None:
    from memchat.curate.configuring import list_settings

    lines = list_settings(run.app.settings, key)
    if json_:
        from memchat.wire import record_json

        print_json([record_json(line) for line in lines])
        return
    for line in lines:
        print_line(f"{line.key} = {_shown(line.value)}  ({line.origin})")
        print_line(f"    {line.sentence}")


def _shown(value: "Value") -> str:
    from memchat.settings import to_toml

    return "not set" if value is None else to_toml(value)


def set_config(
    context: typer.Context,
    key: Annotated[str, typer.Argument(help="The setting.", autocompletion=completing.setting_keys)],
    value: Annotated[
        str, typer.Argument(help="Its value; a list is separated by commas.", autocompletion=completing.setting_values)
    ],
) -> None:
    """Change one setting in the config file; comments in it stay.

    Example: memchat config set chat.thinking dim
    """
    from memchat.curate.configuring import set_value
    from memchat.settings import find_setting

    find_setting(key)
    change = set_value(_config_file(context.obj), key, value)
    print_line(f"{change.key} = {_shown(change.after)}")


def unset_config(
    context: typer.Context,
    key: Annotated[str, typer.Argument(help="The setting.", autocompletion=completing.setting_keys)],
) -> None:
    """Take one setting out of the config file, so that its default holds.

    Example: memchat config unset recall.floor
    """
    from memchat.curate.configuring import unset_value
    from memchat.settings import Settings

    unset_value(_config_file(context.obj), key)
    print_line(f"{key} = {_shown(Settings()[key])}  (default)")


def config_path(context: typer.Context) -> None:
    """Print where the config file is, whether it exists or not.

    Example: memchat config path
    """
    sys.stdout.write(f"{_config_file(context.obj)}\n")


def _config_file(run: Invocation) -> Path:
    from memchat.paths import locate

    return locate(config=run.config).config
