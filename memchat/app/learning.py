"""Learning in the foreground, for `memchat learn`: what waits, a transcript tried out, missing cues."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

from memchat.alone import alone
from memchat.app import App
from memchat.errors import (
    Cancelled,
    EngineError,
    EngineUnreachable,
    MemchatError,
    ModelMissing,
    StoreBusy,
    StoreUnusable,
)
from memchat.learn import Learned, LearnOptions, learn_turn
from memchat.learn.chores import write_missing_cues
from memchat.learn.extract import Trust
from memchat.learn.worker import LOCK_SUFFIX
from memchat.paths import memory_folder, typed_path
from memchat.records import Memory, QueuedTurn
from memchat.store import Store

_AT_ONCE = 3  # exchanges that a question takes up after its answer: nobody waits for more
_END_OF_TIME = datetime(9999, 1, 1, tzinfo=UTC)  # turns that were put off are due then too
Progress = Callable[[float, float], None]


def _silent(done: float, of: float) -> None:
    """Show no progress."""


@dataclass(slots=True)
class Outcome:
    """What learning did to the memories; `turns` were learnt from, `failed` put off."""

    turns: int = 0
    failed: int = 0
    added: list[Memory] = field(default_factory=list)
    restated: list[Memory] = field(default_factory=list)
    superseded: list[Memory] = field(default_factory=list)
    proposed: list[Memory] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)

    def note(self, learned: Learned) -> None:
        """Add what one turn gave."""
        self.turns += 1
        self.added += learned.added
        self.restated += learned.restated
        self.superseded += learned.superseded
        self.proposed += learned.proposed
        self.dropped.update(learned.dropped)


def finish(app: App, stop: Event, progress: Progress) -> Outcome:
    """Learn everything that waits, put-off turns too; raises EngineError when there is no model for it."""
    outcome = Outcome()
    with _learning_alone(app.store):
        _learn_all(app, app.store, outcome, stop, progress)
    return outcome


def take_up(app: App, before: int) -> list[Memory]:
    """Learn a few exchanges that waited before turn `before`; return what is new. What fails now waits on."""
    outcome = Outcome()
    try:
        waiting = [queued for queued in app.store.list_queued(_AT_ONCE, app.clock()) if queued.turn.id < before]
        if waiting:
            with _learning_alone(app.store):
                _learn_each(app, app.store, waiting, outcome, Event())
    except (MemchatError, KeyboardInterrupt):
        pass  # the answer was given; the rows are still in the queue
    return outcome.added


def dry(app: App, file: str | None, stop: Event, progress: Progress, *, skip_bad: bool = False) -> Outcome:
    """Tell what would be learnt from a transcript, or from what waits; the memory file is not touched."""
    from memchat.curate.transcript_queue import queue_transcript
    from memchat.curate.transcripts import read_transcript

    outcome = Outcome()
    with TemporaryDirectory(prefix="memchat-", dir=memory_folder()) as folder:
        copy = Path(folder) / "memory.db"
        app.store.backup(copy)
        with Store.open(copy, app.user) as store:
            if file is not None:
                for queued in store.list_queued(1 << 30, app.clock()):
                    store.finish_queued(queued.id)  # only the transcript is asked about
                transcript = read_transcript(typed_path(file), skip_bad=skip_bad)
                queue_transcript(store, transcript, now=app.clock(), zone=app.clock().astimezone().strftime("%z"))
            _learn_all(app, store, outcome, stop, progress)
    return outcome


def write_cues(app: App, stop: Event, progress: Progress) -> int:
    """Write the cues that memories lack; return for how many."""
    with _learning_alone(app.store):
        return write_missing_cues(app.store, app.chat_model(), app.embedder(), app.clock(), stop, progress)


@contextmanager
def _learning_alone(store: Store) -> Iterator[None]:
    if store.read_only:
        raise StoreUnusable(f"{store.path} cannot be written, so nothing can be learnt.")
    with alone(store.path.with_name(store.path.name + LOCK_SUFFIX)) as mine:
        if not mine:
            raise StoreBusy("Another memchat is learning from this file right now; it takes up all that waits.")
        yield


def _learn_all(app: App, store: Store, outcome: Outcome, stop: Event, progress: Progress) -> None:
    _learn_each(app, store, store.list_queued(1 << 30, _END_OF_TIME), outcome, stop, progress)


def _learn_each(  # noqa: PLR0917 - as `learn_turn`
    app: App, store: Store, waiting: Sequence[QueuedTurn], outcome: Outcome, stop: Event, progress: Progress = _silent
) -> None:
    options, trust = LearnOptions.of(app.settings), Trust()
    for number, queued in enumerate(waiting):
        progress(number, len(waiting))
        if stop.is_set():
            raise Cancelled("Stopped; what waits is still in the queue.")
        try:
            model, embedder = app.chat_model(), app.embedder()
            outcome.note(learn_turn(store, model, embedder, queued, options, app.clock(), stop, trust=trust))
        except (EngineUnreachable, ModelMissing):
            raise
        except EngineError as error:
            store.postpone_queued(queued.id, error.sentence, app.clock())
            outcome.failed += 1
