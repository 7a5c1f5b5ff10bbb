"""Slash commands that explain: what was recalled and why, what the chat knows, how things stand."""

from threading import Event

from memchat.curate.stats import collect_stats
from memchat.errors import UsageError
from memchat.recall import recall, second_look
from memchat.terminal.desk import Desk, Outcome, read_id
from memchat.terminal.health_text import print_report, print_stats
from memchat.terminal.keyboard import interruptible
from memchat.terminal.recall_text import print_ablation, print_inspection, print_log, print_profile, print_why
from memchat.terminal.render import quiet

_LOGGED = 10


def why(desk: Desk, rest: str) -> Outcome:
    """Show what the last reply, or that of a turn, was given, what nearly was, and what learning has left out.

    With `--ablate` the last reply is made again without each memory in turn.
    """
    if rest == "--ablate":
        _ablate(desk)
        return None
    if rest:
        print_why(desk.console, desk.store.get_recall(read_id(rest)))
        return None
    last = desk.chat.last
    if last is None:
        raise UsageError("There is no reply in this chat yet; /log shows earlier ones.")
    drops = desk.chat.store.list_drops() if desk.chat.store else {}
    print_why(desk.console, last.recall, drops)
    return None


def _ablate(desk: Desk) -> None:
    from memchat.chat.ablation import ablate  # late: seldom asked for, and it brings difflib

    stop = Event()
    quiet(desk.remarks, "The last reply again, without one memory at a time (temperature 0; Ctrl-C stops):")
    with interruptible(stop), desk.hush():
        for ablation in ablate(desk.chat, stop):
            print_ablation(desk.console, ablation)


def inspect(desk: Desk, rest: str) -> Outcome:
    """Run the read path for a text and show every stage."""
    if not rest:
        raise UsageError("Say what to look for: /inspect Where do I live?")
    chat = desk.chat
    with desk.hush():  # the model may be asked for a second look
        found = recall(
            desk.store,
            desk.app.embedder(),
            rest,
            chat.recall_options,
            desk.now(),
            profile=chat.profile().entries,
            why_no_vectors=desk.app.engines.why_no_embedder,
            look=second_look(lambda: chat.model, Event()),
        )
    print_inspection(desk.console, found)
    return None


def profile(desk: Desk, rest: str) -> Outcome:
    """Show the memories that stand in the system prompt."""
    entries = desk.chat.profile().entries
    if entries:
        print_profile(desk.console, entries)
    else:
        quiet(desk.console, "The profile is empty: nothing is known of you yet, or this chat reads no memories.")
    return None


def log(desk: Desk, rest: str) -> Outcome:
    """Show what the last replies were given."""
    if rest and not rest.isdecimal():
        raise UsageError("Say how many replies: /log or /log 20")
    print_log(desk.console, desk.store.list_recalls(limit=int(rest or _LOGGED)), desk.now())
    return None


def stats(desk: Desk, rest: str) -> Outcome:
    """Show how the memories stand."""
    print_stats(desk.console, collect_stats(desk.store, desk.now()))
    return None


def doctor(desk: Desk, rest: str) -> Outcome:
    """Look at everything and show what is wrong, each with what mends it."""
    # Late: it reaches for every engine.
    from memchat.app.looking import look
    from memchat.curate.doctor import examine

    app = desk.app
    engine, card = look(app)
    report = examine(
        desk.chat.store,
        app.paths,
        engine,
        now=desk.now(),
        num_ctx=app.settings.whole("chat.num_ctx"),
        embedder=card,
        store_fault=app.why_no_memory or "",
    )
    print_report(desk.console, report)
    return None
