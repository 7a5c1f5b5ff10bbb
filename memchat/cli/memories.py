"""`remember`, `list`, `show`, `edit`, `forget`, `history`, `undo`: memories by hand."""

from typing import TYPE_CHECKING, Annotated

import typer

from memchat.cli import completing
from memchat.cli.flags import JsonFlag
from memchat.cli.invocation import (
    Invocation,
    confirm,
    on_terminal,
    parse_moment,
    print_json,
    print_line,
    tell,
    typed_words,
)
from memchat.errors import ForgottenBefore, MemchatError, PrivacyRefusal, SecretFound, UsageError
from memchat.text import counted

if TYPE_CHECKING:
    from memchat.curate.forget import Selection
    from memchat.curate.remember import Kept
    from memchat.records import Kind, Memory

KindOption = Annotated[
    str | None,
    typer.Option("--kind", help="identity, fact, preference, …", metavar="KIND", autocompletion=completing.kinds),
]
ImportanceOption = Annotated[int | None, typer.Option("--importance", help="From 1 to 10.", metavar="N")]
YesFlag = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def register(program: typer.Typer) -> None:
    """Add the commands to the program."""
    program.command("remember")(remember)
    program.command("list")(list_)
    program.command("show")(show)
    program.command("edit")(edit)
    program.command("forget")(forget)
    program.command("history")(history)
    program.command("undo")(undo)


def remember(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(help="What to remember, in your own words; - reads stdin.")],
    kind: KindOption = None,
    importance: ImportanceOption = None,
    pin: Annotated[bool, typer.Option("--pin", help="Never fades, always in the profile.")] = False,
    yes: YesFlag = False,
    allow_again: Annotated[bool, typer.Option("--allow-again", help="Even if it was forgotten before.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Store a memory word for word.

    Example: memchat remember "My sister Ana is allergic to nuts." --kind constraint
    """
    from memchat.curate.remember import remember as keep
    from memchat.wire import memory_json

    run: Invocation = context.obj
    words = run.argument(text)

    def attempt(confirmed: bool) -> "Kept":
        kept = keep(
            run.store,
            words,
            now=run.app.clock(),
            embedder=run.app.embedder(),
            kind=parse_kind(kind),
            importance=importance,
            pinned=True if pin else None,
            confirmed=confirmed,
            allow_again=allow_again,
        )
        if kept.pending:
            tell(f"Stored; found by keywords until it is embedded. {run.app.engines.why_no_embedder or kept.pending}")
        return kept

    try:
        kept = attempt(yes)
    except SecretFound as refusal:
        if not confirm(f"{refusal.sentence} Keep it all the same?"):
            raise
        kept = attempt(True)
    except ForgottenBefore as refusal:
        raise PrivacyRefusal(refusal.sentence) from None
    if json_:
        print_json(memory_json(kept.memory))
    else:
        print_line(f"{'Known already,' if kept.restated else 'Saved'} #{kept.memory.id}: {kept.memory.text}")


def list_(
    context: typer.Context,
    kind: KindOption = None,
    limit: Annotated[int | None, typer.Option(help="At most so many, from the oldest on.", min=0)] = None,
    every: Annotated[bool, typer.Option("--all", help="Superseded and proposed ones too, each marked.")] = False,
    as_of: Annotated[str | None, typer.Option(help="What was current on that day.", metavar="DATE")] = None,
    json_: JsonFlag = False,
) -> None:
    """List the memories, oldest first.

    Example: memchat list --kind preference --limit 20
    """
    from memchat.records import State

    run: Invocation = context.obj
    memories = run.store.list_memories(
        kind=parse_kind(kind),
        state=None if every else State.CURRENT,
        limit=limit,
        as_of=parse_moment(as_of, "--as-of", end_of_day=True),
    )
    if json_:
        from memchat.wire import memory_json

        print_json([memory_json(memory) for memory in memories])
    elif on_terminal():
        from memchat.terminal.memory_text import print_memories
        from memchat.terminal.render import make_console

        print_memories(make_console(), memories, run.app.clock())
    else:
        for memory in memories:
            line = f"{memory.id}\t{memory.kind.value}\t{memory.created_at:%Y-%m-%d}\t{memory.text}"
            print_line(f"{line}\t{mark}" if every and (mark := _standing(memory)) else line)


def _standing(memory: "Memory") -> str:
    """Return what is to be known of a memory that is not current, "" of one that is."""
    from memchat.records import State

    if memory.state is State.SUPERSEDED:
        return f"replaced by #{memory.superseded_by}" if memory.superseded_by else "ended"
    return "waits for approval" if memory.state is State.PROPOSED else ""


def show(
    context: typer.Context,
    id: Annotated[int, typer.Argument(help="The memory's id.", autocompletion=completing.memory_ids)],
    json_: JsonFlag = False,
) -> None:
    """Show one memory whole: times, evidence, what it is found by, its history.

    Example: memchat show 17
    """
    run: Invocation = context.obj
    store = run.store
    memory = store.get_memory(id)
    sources, keys, changes = store.list_sources(id), store.list_keys(id), store.list_changes(id)
    if json_:
        from memchat.wire import change_json, memory_json, plain

        turn = store.get_turn(memory.source.turn) if memory.source and memory.source.turn else None
        print_json(
            memory_json(memory)
            | {
                "sources": plain(sources),
                "keys": plain(keys),
                "history": [change_json(change) for change in changes],
                "turn": None if turn is None else {"id": turn.id, "user": turn.user_text, "at": plain(turn.at)},
            }
        )
        return
    from memchat.terminal.memory_text import print_memory
    from memchat.terminal.render import make_console

    print_memory(make_console(), memory, run.app.clock(), sources=sources, keys=keys, changes=changes)


def edit(
    context: typer.Context,
    id: Annotated[int, typer.Argument(help="The memory's id.", autocompletion=completing.memory_ids)],
    text: Annotated[list[str] | None, typer.Argument(help="The new wording; without one $EDITOR opens.")] = None,
    kind: KindOption = None,
    importance: ImportanceOption = None,
    pin: Annotated[bool | None, typer.Option("--pin/--unpin", help="Never fades, always in the profile.")] = None,
    redact: Annotated[bool, typer.Option("--redact", help="Leave no byte of the old wording.")] = False,
    yes: YesFlag = False,
    json_: JsonFlag = False,
) -> None:
    """Correct a memory; the old wording stays in its history unless --redact.

    Example: memchat edit 17 "I moved to Potsdam in April."
    """
    from memchat.curate.edit import Revision
    from memchat.curate.edit import edit as change
    from memchat.curate.edit import redact as replace
    from memchat.wire import memory_json, receipt_json

    run: Invocation = context.obj
    memory = run.store.get_memory(id)
    wording = run.argument(text) if text else None
    if wording is None and kind is None and importance is None and pin is None and not redact:
        wording = _wording_from_editor(memory.text)
    revision = Revision(wording, parse_kind(kind), importance, pin, confirmed=yes, allow_again=yes)
    now, embedder, paths = run.app.clock(), run.app.embedder(), run.app.paths
    if redact:
        edited = replace(run.store, id, revision, now=now, embedder=embedder, history=paths.history, log=paths.log)
    else:
        edited = change(run.store, id, revision, now=now, embedder=embedder)
    if edited.pending:
        tell(f"Found by keywords until it is embedded. {edited.pending}")
    if json_:
        extra = {"receipt": receipt_json(edited.receipt)} if edited.receipt else {}
        print_json(memory_json(edited.memory) | extra)
    else:
        print_line(f"{'Changed' if edited.changed else 'Unchanged'} #{id}: {edited.memory.text}")


def _wording_from_editor(text: str) -> str:
    if not on_terminal():
        raise UsageError("Give the new wording, or an option such as --kind.")
    from memchat.terminal.editor import edit_text

    return edit_text(text)


def forget(
    context: typer.Context,
    ids: Annotated[
        list[int] | None,
        typer.Argument(help="Memories to erase.", metavar="[ID]...", autocompletion=completing.memory_ids),
    ] = None,
    query: Annotated[str | None, typer.Option(help="Erase what this question finds.", metavar="Q")] = None,
    session: Annotated[
        int | None,
        typer.Option(help="Erase a conversation and what was learnt in it.", autocompletion=completing.session_ids),
    ] = None,
    before: Annotated[str | None, typer.Option(help="Erase what is older than that day.", metavar="DATE")] = None,
    every: Annotated[bool, typer.Option("--all", help="Erase everything of this user.")] = False,
    yes: YesFlag = False,
    json_: JsonFlag = False,
) -> None:
    """Erase memories for good, read the files again to be sure, and print a receipt.

    An id says exactly what is meant, so nothing is asked. Every other way lists what it means and asks; without a
    terminal it needs --yes.

    Example: memchat forget --query "my old address"
    """
    from memchat.curate import forget as forgetting

    run: Invocation = context.obj
    asked = [ids or None, query, session, before, every or None]
    if sum(one is not None for one in asked) != 1:
        raise UsageError("Name what to forget: ids, --query, --session, --before or --all, one of them.")
    store, now = run.store, run.app.clock()
    if ids:
        choice = forgetting.select_ids(store, ids)  # an id says exactly what is meant: nothing is asked
    elif query is not None:
        words = typed_words(query, "--query")
        embedder = run.app.embedder() if on_terminal() and not yes else None
        by_meaning = embedder is not None
        choice = forgetting.select_query(store, words, now=now, embedder=embedder, by_meaning=by_meaning)
    elif session is not None:
        choice = forgetting.select_sessions(store, [session])
    elif every:
        choice = forgetting.select_all(store)
    else:
        moment = parse_moment(before, "--before")
        assert moment is not None
        choice = forgetting.select_before(store, moment)
    if not ids and not yes:
        _ask_to_forget(choice.memories, "everything of this user" if every else None)
    erase(run, choice, json_)


def erase(run: Invocation, choice: "Selection", json_: bool) -> None:
    """Erase what was selected and print the receipt; exit 1 when a byte of it was still found."""
    from memchat.curate.forget import forget as erase_selection

    receipt = erase_selection(run.store, choice, history=run.app.paths.history, log=run.app.paths.log)
    if json_:
        from memchat.wire import receipt_json

        print_json(receipt_json(receipt))
    else:
        from memchat.terminal.memory_text import print_receipt
        from memchat.terminal.render import make_console

        print_receipt(make_console(), receipt)
    if not receipt.verified:
        raise typer.Exit(1)


def _ask_to_forget(memories: "tuple[Memory, ...]", what: str | None) -> None:
    for memory in memories[:50]:
        tell(f"#{memory.id}\t{memory.text}")
    if len(memories) > 50:
        tell(f"… and {len(memories) - 50} more")
    named = what or ("this memory" if len(memories) == 1 else f"these {counted(len(memories), 'memory')}")
    if not on_terminal():
        raise UsageError(f"Nothing is forgotten without a word: add --yes to erase {named}.")
    if not confirm(f"Erase {named} for good?"):
        raise MemchatError("Nothing was forgotten.")


def history(
    context: typer.Context,
    id: Annotated[
        int | None, typer.Argument(help="Only the changes of this memory.", autocompletion=completing.memory_ids)
    ] = None,
    limit: Annotated[int | None, typer.Option(help="At most so many, the newest.", min=0)] = None,
    json_: JsonFlag = False,
) -> None:
    """Tell every change to the memories and its cause, newest first.

    Example: memchat history 17
    """
    run: Invocation = context.obj
    if id is not None:
        run.store.get_memory(id)
    changes = run.store.list_changes(id, limit=limit)
    if json_:
        from memchat.wire import change_json

        print_json([change_json(change) for change in changes])
        return
    from memchat.terminal.memory_text import print_changes
    from memchat.terminal.render import make_console

    print_changes(make_console(), changes, run.app.clock())


def undo(
    context: typer.Context,
    steps: Annotated[int, typer.Argument(help="How many learnings or edits to take back.", metavar="[N]")] = 1,
    json_: JsonFlag = False,
) -> None:
    """Take back the last learning, edit or superseding; a forget can never be taken back.

    Example: memchat undo 2
    """
    from memchat.curate.undo import undo as take_back

    run: Invocation = context.obj
    undone = take_back(run.store, run.app.clock(), steps)
    if json_:
        from memchat.wire import change_json

        changes = [change_json(change) for change in undone.changes]
        print_json({"undone": undone.steps, "ids": list(undone.ids), "changes": changes, "note": undone.note})
        return
    for change in undone.changes:
        text = change.after.get("text") or change.before.get("text") or ""
        print_line(f"Took back: #{change.memory} was {change.action}{f': {text}' if text else ''}")
    if undone.note:
        tell(undone.note)


def parse_kind(kind: str | None) -> "Kind | None":
    """Return the kind named; raises UsageError listing the kinds."""
    if kind is None:
        return None
    from memchat.records import Kind

    try:
        return Kind(kind.lower())
    except ValueError:
        raise UsageError(f"{kind!r} is no kind of memory; the kinds are {', '.join(Kind)}.") from None
