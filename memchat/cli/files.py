"""`import`, `export`, `backup`, `reindex`: the memories as files, and their index."""

import sys
from typing import Annotated

import typer

from memchat.cli.flags import JsonFlag
from memchat.cli.invocation import Invocation, print_json, print_line, tell
from memchat.cli.progress import progress_bar
from memchat.paths import read_outside, typed_path
from memchat.text import counted


def register(program: typer.Typer) -> None:
    """Add the commands to the program."""
    program.command("import")(import_)
    program.command("export")(export)
    program.command("backup")(backup)
    program.command("reindex")(reindex)


def import_(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="JSON Lines, one memory a line; - is stdin.")],
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out lines that are wrong.")] = False,
    keep_secrets: Annotated[bool, typer.Option("--keep-secrets", help="Import what looks like a secret too.")] = False,
    allow_again: Annotated[bool, typer.Option("--allow-again", help="Import what was forgotten before too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be imported.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Import memories; a second import of the same file adds nothing.

    Example: memchat import memories.jsonl
    """
    from memchat.curate.transfer import import_lines
    from memchat.wire import record_json

    run: Invocation = context.obj
    imported = import_lines(
        run.store,
        _read_lines(file),
        name="stdin" if file == "-" else file,
        now=run.app.clock(),
        skip_bad=skip_bad,
        keep_secrets=keep_secrets,
        allow_again=allow_again,
        dry_run=dry_run,
    )
    for bad in imported.bad:
        tell(f"{file}, line {bad.line}: {bad.reason}")
    embedded = 0 if dry_run or not imported.ids else _embed(run)
    if json_:
        print_json(record_json(imported) | {"embedded": embedded})
        return
    print_line(f"{'Would import' if dry_run else 'Imported'} {counted(imported.added, 'memory')}.")
    for number, why in (
        (imported.known, "were there already (same ref)"),
        (imported.duplicates, "were there already (same text)"),
        (imported.forgotten, "held back, as you had them forgotten; --allow-again imports them"),
        (imported.secrets, "held back, as they look like secrets; --keep-secrets imports them"),
        (len(imported.bad), "left out, as their lines are wrong"),
    ):
        if number:
            print_line(f"{number} {why}.")


def _read_lines(file: str) -> list[bytes]:
    if file == "-":
        return sys.stdin.buffer.read().splitlines() if sys.stdin is not None else []
    return read_outside(typed_path(file)).splitlines()


def _embed(run: Invocation) -> int:
    """Embed what an import left pending; return how many keys, 0 where no embedder is at hand."""
    from memchat.curate.reindex import reindex as steps
    from memchat.errors import EngineError, PrivacyRefusal, StoreError

    embedder = run.app.embedder()
    if embedder is None:
        tell(f"Found by keywords until embedded: {run.app.engines.why_no_embedder}")
        return 0
    done = 0
    try:
        with progress_bar("embedding") as bar:
            for step in steps(run.store, embedder):
                done = step.done
                bar.update(step.done, step.total)
    except (EngineError, PrivacyRefusal, StoreError) as error:
        tell(f"Found by keywords until embedded: {error.sentence}")
    return done


def export(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="Where to; - is stdout.")] = "-",
    json_: JsonFlag = False,
) -> None:
    """Export all memories as JSON Lines, superseded ones too; to stdout with --json as one JSON array.

    Example: memchat export memories.jsonl
    """
    from memchat.curate.transfer import export_lines, write_export

    run: Invocation = context.obj
    if file == "-" and json_:
        from memchat.wire import memory_json

        print_json([memory_json(memory) for memory in run.store.list_memories(state=None)])
        return
    if file == "-":
        for line in export_lines(run.store):
            sys.stdout.write(line)
        return
    count = write_export(run.store, typed_path(file))
    if json_:
        print_json({"exported": count, "path": file})
    else:
        print_line(f"Exported {counted(count, 'memory')} to {file}.")


def backup(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="The copy to make.")],
    json_: JsonFlag = False,
) -> None:
    """Make a consistent copy of the memory file, also while it is in use.

    Example: memchat backup ~/memory-2026-11-30.db
    """
    from memchat.curate.backup import backup as copy
    from memchat.wire import record_json

    run: Invocation = context.obj
    made = copy(run.store, typed_path(file))
    if json_:
        print_json(record_json(made) | {"ids": [memory.id for memory in run.store.list_memories(state=None)]})
    else:
        print_line(f"Copied to {file}; a later forget does not reach the copy.")


def reindex(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Embed everything anew.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Embed whatever is stale; stop it any time, it goes on where it was.

    Example: memchat --embed-model nomic-embed-text reindex
    """
    from memchat.curate.reindex import reindex as steps
    from memchat.curate.reindex import sum_up
    from memchat.recall import RecallOptions
    from memchat.wire import record_json

    run: Invocation = context.obj
    store, embedder = run.store, run.app.engines.wanted_embedder()
    with progress_bar("embedding") as bar:
        walk = steps(store, embedder, RecallOptions.of(run.app.settings), everything=everything)
        done = sum_up(store, embedder.card(), bar.follow(walk))
    if json_:
        print_json(record_json(done))
    elif not done.keys and not done.left:
        print_line(f"Nothing to do: every key has its vector by {done.embed_model}.")
    else:
        print_line(
            f"Embedded {counted(done.keys, 'key')} of {counted(done.memories, 'memory')} with {done.embed_model}."
        )
        if done.left:
            tell(f"{counted(done.left, 'key')} got no usable vector; what they lead to is found by keywords.")
