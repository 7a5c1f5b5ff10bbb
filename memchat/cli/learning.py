"""`learn`, `pending`, `rules`: finish what waits, settle what waits for a word, try the never-learn rules."""

from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from memchat.cli import completing
from memchat.cli.flags import JsonFlag
from memchat.cli.invocation import Invocation, print_json, print_line, tell
from memchat.cli.progress import progress_bar
from memchat.errors import NotFound, UsageError
from memchat.paths import typed_path
from memchat.text import counted

if TYPE_CHECKING:
    from memchat.app.learning import Outcome
    from memchat.records import Memory


def register(program: typer.Typer) -> None:
    """Add the commands to the program."""
    program.command("learn")(learn)
    program.command("pending")(pending)
    rules = typer.Typer(rich_markup_mode=None)
    rules.command("test")(try_rules)
    rules.callback()(_rules)
    program.add_typer(rules, name="rules")


def learn(
    context: typer.Context,
    file: Annotated[
        str | None,
        typer.Option(
            help='A transcript: JSON Lines of {"user","assistant","at"}, text with "User: …" and "Assistant: …" (also '
            "You/AI, Me, Human, bold, a date beside the name), or a ChatGPT or Claude export.",
            metavar="TRANSCRIPT",
        ),
    ] = None,
    cues: Annotated[bool, typer.Option("--cues", help="Write the questions that memories lack.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be learnt.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out exchanges that are wrong.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Finish what waits to be learnt, or learn from a transcript.

    Example: memchat learn --file conversations.json --dry-run
    """
    from memchat.app.learning import Outcome, dry, finish, write_cues  # late: most commands learn nothing

    run: Invocation = context.obj
    if dry_run:
        with progress_bar("reading") as bar:
            outcome = dry(run.app, file, Event(), bar.update, skip_bad=skip_bad)
        _report(run, outcome, json_, "would be learnt")
        return
    queued = _queue(run, file, skip_bad) if file is not None else {}
    outcome = Outcome()
    if not cues or file is not None:
        with progress_bar("learning") as bar:
            outcome = finish(run.app, Event(), bar.update)
    written = 0
    if cues:
        with progress_bar("writing questions") as bar:
            written = write_cues(run.app, Event(), bar.update)
    _report(run, outcome, json_, "learnt", {"cues": written} | queued)


def _queue(run: Invocation, file: str, skip_bad: bool) -> dict[str, object]:
    from memchat.curate.transcript_queue import queue_transcript
    from memchat.curate.transcripts import read_transcript

    path = typed_path(file)
    transcript = read_transcript(path, skip_bad=skip_bad)
    now = run.app.clock()
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    queued = queue_transcript(run.store, transcript, now=now, zone=now.astimezone().strftime("%z"), undated=written)
    tell(f"{counted(queued.queued, 'exchange')} to learn from" + _rest(queued.known, queued.forgotten))
    return {"queued": queued.queued, "known": queued.known, "held_back": queued.forgotten}


def _report(
    run: Invocation, outcome: "Outcome", json_: bool, verb: str, extra: dict[str, object] | None = None
) -> None:
    left = run.store.count_queued()
    if json_:
        from memchat.wire import memory_json, plain

        print_json(
            {
                "turns": outcome.turns,
                "learned": len(outcome.added),
                "restated": len(outcome.restated),
                "superseded": len(outcome.superseded),
                "proposed": len(outcome.proposed),
                "dropped": plain(outcome.dropped),
                "left": left,
                "ids": [memory.id for memory in outcome.added],
                "memories": [memory_json(memory) for memory in (*outcome.added, *outcome.proposed)],
            }
            | (extra or {})
        )
        return
    for memory in outcome.added:
        print_line(f"+ {f'#{memory.id} ' if memory.id else ''}{memory.text}")
    for memory in outcome.superseded:
        print_line(f"- #{memory.id} {memory.text}")
    for memory in outcome.proposed:
        print_line(f"? #{memory.id} {memory.text}  (memchat pending approve {memory.id})")
    print_line(
        f"{counted(len(outcome.added), 'memory')} {verb} from {counted(outcome.turns, 'exchange')}" + _waiting(left)
    )
    cues = (extra or {}).get("cues")
    if isinstance(cues, int) and cues:
        print_line(f"Wrote questions for {counted(cues, 'memory')}.")


def _rest(known: int, held_back: int) -> str:
    """Tell what of a transcript is not learnt from, where there is such."""
    parts = [f"{known:,} known already"] if known else []
    parts += [f"{held_back:,} held back: you had them forgotten"] if held_back else []
    return f"; {', '.join(parts)}." if parts else "."


def _waiting(left: int) -> str:
    return f"; {counted(left, 'exchange waits', 'exchanges wait')} for later." if left else "."


def pending(
    context: typer.Context,
    action: Annotated[
        str | None,
        typer.Argument(help="approve or reject; without one they are listed.", autocompletion=completing.decisions),
    ] = None,
    ids: Annotated[
        list[int] | None, typer.Argument(help="Which; without ids all of them.", autocompletion=completing.proposal_ids)
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """List, approve or reject what waits for your word (learn.mode = "review").

    In JSON such a memory has "state": "proposed"; "pending" and "embedded" there tell of its vector.

    Example: memchat pending approve 17 18
    """
    run: Invocation = context.obj
    store = run.store
    from memchat.records import State

    waiting = store.list_memories(state=State.PROPOSED)
    if action is not None:
        waiting = _settle(run, action, waiting, ids)
    if json_:
        from memchat.wire import memory_json

        print_json([memory_json(memory) for memory in reversed(waiting)])
        return
    for memory in waiting:
        print_line(f"#{memory.id}\t{memory.kind.value}\t{memory.text}")
    if not waiting:
        tell("Nothing waits for approval.")


def _settle(run: Invocation, action: str, waiting: "list[Memory]", ids: list[int] | None) -> "list[Memory]":
    from memchat.learn import approve, reject

    if action not in ("approve", "reject"):
        raise UsageError(f"It is approve or reject, not {action!r}.")
    known = {memory.id: memory for memory in waiting}
    missing = [str(id) for id in ids or () if id not in known]
    if missing:
        raise NotFound(f"No memory {', '.join(missing)} waits for approval.")
    chosen = [known[id] for id in ids] if ids else waiting
    settle = approve if action == "approve" else reject
    return [settle(run.store, memory, run.app.clock()) for memory in chosen]


def _rules() -> None:
    """Try the never-learn rules.

    Example: memchat rules test
    """


def try_rules(context: typer.Context, json_: JsonFlag = False) -> None:
    """Show what the rules would have stopped in past turns, and which memories are against them.

    Example: memchat rules test
    """
    from memchat.learn.rules import replay

    run: Invocation = context.obj
    outcome = replay(run.store, run.app.settings.words("learn.never_learn"))
    if json_:
        from memchat.wire import record_json

        print_json(record_json(outcome))
        return
    for turn in outcome.turns:
        print_line(f"turn {turn.turn}\t{turn.rule}\t{turn.text}")
    for memory in outcome.memories:
        print_line(f"#{memory.id}\t{memory.rule}\t{memory.text}")
    if not outcome.turns and not outcome.memories:
        tell("The rules stop nothing that was said so far, and no memory is against them.")
