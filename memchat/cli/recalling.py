"""`inspect`, `log`, `eval`: what is found for a question, and why."""

import os.path
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memchat.cli import completing
from memchat.cli.flags import JsonFlag
from memchat.cli.invocation import Invocation, on_terminal, parse_moment, print_json, print_line, tell, typed_words
from memchat.errors import NotFound, UsageError
from memchat.paths import typed_path
from memchat.text import counted

if TYPE_CHECKING:
    from datetime import datetime

    from memchat.recall import RecallOptions
    from memchat.recall.evaluate import EvalResult, Score
    from memchat.recall.explain import Expected, Replayed
    from memchat.recall.rerank import SecondLook
    from memchat.records import Recall
    from memchat.settings import Settings


def register(program: typer.Typer) -> None:
    """Add the commands to the program."""
    program.command("inspect")(inspect)
    program.command("log")(log)
    program.command("eval")(evaluate)


def inspect(
    context: typer.Context,
    query: Annotated[str | None, typer.Option(help="A question, as you would ask it.", metavar="Q")] = None,
    turn: Annotated[
        int | None, typer.Option(help="What that reply was given.", metavar="N", autocompletion=completing.turn_ids)
    ] = None,
    expect: Annotated[
        str | None,
        typer.Option(
            help="The memory that should be found: its id or text.",
            metavar="ID|TEXT",
            autocompletion=completing.memory_ids,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("-k", help="At most so many memories, beside those repeated from the profile.", min=0, max=50),
    ] = None,
    as_of: Annotated[str | None, typer.Option(help="As it was on that day.", metavar="DATE")] = None,
    replay: Annotated[bool, typer.Option("--replay", help="With --turn: what it would be given now.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Run the read path and show every stage, or what a past reply was given.

    Example: memchat inspect --query "Where do I live?" --expect 17
    """
    if (query is None) == (turn is None):
        raise UsageError('Give one of --query and --turn; for example: memchat inspect --query "Where do I live?"')
    if turn is not None and (as_of is not None or (not replay and (expect is not None or limit is not None))):
        raise UsageError("--expect and -k go with --query, or with --turn and --replay; --as-of with --query only.")
    if turn is None and replay:
        raise UsageError("--replay goes with --turn: memchat inspect --turn 12 --replay")
    if turn is not None:
        _inspect_turn(context.obj, turn, replay, expect, limit, json_)
    else:
        query = typed_words(query or "", "--query")
        expect = None if expect is None else typed_words(expect, "--expect")
        _inspect_query(context.obj, query, expect, limit, as_of, json_)


def _inspect_query(
    run: Invocation, query: str, expect: str | None, limit: int | None, as_of: str | None, json_: bool
) -> None:
    from memchat.recall import build_profile, recall
    from memchat.recall.explain import expectation
    from memchat.wire import recall_json

    options, now = _options(run, limit), run.app.clock()
    moment = parse_moment(as_of, "--as-of", end_of_day=True)
    profile = build_profile(run.store, options, now, as_of=moment)
    embedder = run.app.embedder()
    found = recall(
        run.store,
        embedder,
        query,
        options,
        now,
        profile=profile,
        as_of=moment,
        why_no_vectors=run.app.engines.why_no_embedder,
        look=_look(run),
    )
    expected = expectation(run.store, found, expect, options, as_of=moment) if expect is not None else None
    if json_:
        print_json(recall_json(found, expected))
    else:
        from memchat.terminal.recall_text import print_expected, print_inspection
        from memchat.terminal.render import make_console

        console = make_console()
        print_inspection(console, found)
        if expected is not None:
            print_expected(console, expected)
    _refuse_absent(expected)


def _inspect_turn(run: Invocation, turn: int, again: bool, expect: str | None, limit: int | None, json_: bool) -> None:
    from memchat.recall.explain import expectation

    then = run.store.get_recall(turn)
    replayed = _replay(run, turn, limit) if again else None
    expected = None
    if replayed is not None and expect is not None:
        expected = expectation(run.store, replayed.now, expect, _options(run, limit))
    if json_:
        print_json(_turn_json(turn, then, replayed, expected))
    else:
        _print_turn(then, replayed, expected)
    _refuse_absent(expected)


def _turn_json(
    turn: int, then: "Recall", replayed: "Replayed | None", expected: "Expected | None"
) -> dict[str, object]:
    from memchat.wire import candidate_json, recall_json

    document = recall_json(then) | {"turn": turn}
    if replayed is not None:
        document["replay"] = recall_json(replayed.now, expected) | {
            "added": [candidate_json(one) for one in replayed.added],
            "gone": [candidate_json(one) for one in replayed.gone],
        }
    return document


def _refuse_absent(expected: "Expected | None") -> None:
    from memchat.records import Verdict

    if expected is not None and expected.verdict is Verdict.NOT_STORED:
        raise typer.Exit(NotFound.exit_status)


def _print_turn(then: "Recall", replayed: "Replayed | None", expected: "Expected | None") -> None:
    from memchat.terminal.recall_text import print_expected, print_inspection
    from memchat.terminal.render import make_console, say

    console = make_console()
    print_inspection(console, then)
    if replayed is not None:
        say(console, "Now it would be given:")
        print_inspection(console, replayed.now)
        for sign, group in (("+", replayed.added), ("-", replayed.gone)):
            for one in group:
                say(console, f"{sign} #{one.id} {one.text}")
        if not replayed.added and not replayed.gone:
            say(console, "The same memories as then.")
    if expected is not None:
        print_expected(console, expected)


def _replay(run: Invocation, turn: int, limit: int | None) -> "Replayed":
    from memchat.recall import build_profile
    from memchat.recall.explain import replay

    options, now, store = _options(run, limit), run.app.clock(), run.store
    turns = store.list_turns(store.get_turn(turn).session)
    earlier = [one.user_text for one in turns if one.id < turn]
    return replay(
        store,
        run.app.embedder(),
        store.get_recall(turn),
        options,
        now,
        previous=earlier[-1] if earlier else None,
        profile=build_profile(store, options, now),
        why_no_vectors=run.app.engines.why_no_embedder,
        look=_look(run),
    )


def _look(run: Invocation) -> "SecondLook":
    from threading import Event

    from memchat.recall import second_look

    return second_look(run.app.chat_model, Event())


def _options(run: Invocation, limit: int | None) -> "RecallOptions":
    from dataclasses import replace

    from memchat.recall import RecallOptions

    options = RecallOptions.of(run.app.settings)
    return options if limit is None else replace(options, limit=limit)


def log(
    context: typer.Context,
    limit: Annotated[int | None, typer.Option(help="At most so many, the newest.", min=0)] = None,
    json_: JsonFlag = False,
) -> None:
    """Show the retrieval log, newest first: each reply's question and what it was given.

    Example: memchat log --limit 10
    """
    run: Invocation = context.obj
    rows = run.store.list_recalls(limit if limit is not None or json_ else 20 if on_terminal() else None)
    if json_:
        from memchat.wire import log_json

        print_json([log_json(turn, found) for turn, found in rows])
        return
    from memchat.terminal.recall_text import print_log
    from memchat.terminal.render import make_console

    print_log(make_console(), rows, run.app.clock())


def evaluate(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help='JSON Lines of {"q","gold"}; with --make the file to write.')],
    sizes: Annotated[str, typer.Option("-k", help="The cut-offs, separated by commas.")] = "3,5,10",
    versus: Annotated[
        str | None, typer.Option("--vs", help="Measure a second time with this setting.", metavar="KEY=VALUE")
    ] = None,
    make: Annotated[bool, typer.Option("--make", help="Draft questions from your memories.")] = False,
    as_of: Annotated[str | None, typer.Option(help="Ask as on that day.", metavar="DATE")] = None,
    json_: JsonFlag = False,
) -> None:
    """Measure what is found for your own questions.

    Each line of the file holds "q", the question, and "gold", the ids or refs of the memories that it needs: a list, or
    one alone; [] where nothing should be recalled. It may hold "prev", your message before it, and "category".

    Example: memchat eval questions.jsonl -k 3,5 --vs recall.limit=8
    """
    run: Invocation = context.obj
    if not run.store.count_memories():
        raise NotFound("There are no memories to be asked about yet.")
    if make:
        _draft(run, file)
        return
    ks = _cut_offs(sizes)
    first, second = _measure(run, typed_path(file), ks, parse_moment(as_of, "--as-of", end_of_day=True), versus)
    if json_:
        from memchat.wire import record_json

        document = record_json(first)
        if versus is not None and second is not None:
            document["vs"] = {"setting": versus} | record_json(second)
        print_json(document)
        return
    _print_result("", first, ks)
    if versus is not None and second is not None:
        _print_result(versus, second, ks)


def _cut_offs(text: str) -> tuple[int, ...]:
    try:
        ks = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        ks = ()
    if not ks or ks[0] < 1 or ks[-1] > 1000:
        raise UsageError(f"-k takes numbers from 1 to 1000 such as 3,5,10; not {text!r}.")
    return ks


def _measure(
    run: Invocation, file: Path, ks: tuple[int, ...], moment: "datetime | None", versus: str | None
) -> "tuple[EvalResult, EvalResult | None]":
    from memchat.recall import RecallOptions
    from memchat.recall.evaluate import compare
    from memchat.recall.evaluate import evaluate as measure
    from memchat.recall.questions import read_questions

    options = RecallOptions.of(run.app.settings)
    embedder = run.app.embedder()
    questions, missing = read_questions(file, run.store)
    for label in missing[:10]:
        tell(f"No memory is called {label}; it counts as not found.")
    now, why_not, look = run.app.clock(), run.app.engines.why_no_embedder, _look(run)
    if versus is None:
        return measure(
            run.store, embedder, questions, options, now, ks=ks, as_of=moment, why_no_vectors=why_not, look=look
        ), None
    both = (options, RecallOptions.of(_changed_settings(run, versus)))
    compared = compare(
        run.store, embedder, questions, both, now, ks=ks, as_of=moment, why_no_vectors=why_not, look=look
    )
    return compared.first, compared.second


def _changed_settings(run: Invocation, versus: str) -> "Settings":
    from memchat.settings import find_setting, parse_value

    key, equals, value = versus.partition("=")
    if not equals:
        raise UsageError("--vs takes KEY=VALUE, for example recall.limit=8.")
    if key == "embed_model":
        raise UsageError("To compare embedding models, reindex a backup with the other one and eval that file.")
    return run.app.settings.with_values({key: parse_value(find_setting(key), value)}, "--vs")


def _print_result(label: str, result: "EvalResult", ks: tuple[int, ...]) -> None:
    if label:
        print_line(f"\nwith {label}")
    if result.keywords_only:
        tell(result.keywords_only)
    head = ["", "n", *(f"recall@{k}" for k in ks), *(f"hit@{k}" for k in ks), "mrr", "given", "false recall"]
    rows = [head, _score_row("all", result, ks)]
    rows += [_score_row(name or "(none)", score, ks) for name, score in result.by_category.items()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for first, *rest in rows:
        print_line("  ".join([first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(rest, widths[1:], strict=True))]))
    print_line(f"search {result.search_ms['p50']:.1f} ms median, {result.search_ms['p95']:.1f} ms 95th percentile")


def _score_row(name: str, score: "EvalResult | Score", ks: tuple[int, ...]) -> list[str]:
    def share(value: float | None) -> str:
        return "" if value is None else f"{value:.2f}"

    recalls = [score.k.get(str(k), {}) for k in ks]
    return [
        name,
        str(score.n),
        *(share(one.get("recall")) for one in recalls),
        *(share(one.get("hit")) for one in recalls),
        share(score.mrr),
        share(score.given),
        share(score.false_recall),
    ]


def _draft(run: Invocation, file: str) -> None:
    from memchat.curate.private_files import refuse_target, write_private
    from memchat.learn.cues import draft_questions
    from memchat.wire import json_text

    target = typed_path(file)
    if os.path.exists(target):
        raise UsageError(f"{file} exists already; name a new file.")
    refuse_target(run.store, target)
    model = run.app.chat_model()
    lines: list[str] = []
    for memory in run.store.list_memories():
        for question in draft_questions(model, memory):
            row = {"q": question, "gold": [memory.ref or memory.id], "category": memory.kind.value}
            lines.append(json_text(row) + "\n")
    write_private(target, lines)
    print_line(f"Drafted {counted(len(lines), 'question')} in {file}; correct them before you trust their figures.")
