"""The thread that learns while the user is idle, with a store of its own, and gives way the moment it is asked to.

Nothing is kept in memory that is not in the queue: a crash, a kill or a closed terminal loses nothing. Only one process
learns from a file at a time.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from threading import Condition, Event, Thread
from time import monotonic
from typing import Final

from memchat.alone import alone
from memchat.engine import ChatModel, Embedder
from memchat.errors import Cancelled, EngineError, EngineUnreachable, MemchatError, ModelMissing
from memchat.learn.chores import Chores
from memchat.learn.extract import Trust
from memchat.learn.options import LearnOptions
from memchat.learn.turn import Learned, learn_turn
from memchat.records import Message, QueuedTurn
from memchat.store import Store

_LOG: Final = logging.getLogger(__name__)
_GIVING_WAY: Final = 2.0  # seconds that `pause` waits for a running call to end; it is then on its way out
_LOCKED_OUT: Final = 5.0  # seconds until it looks again whether the other process is done
LOCK_SUFFIX: Final = ".learning"

# Does one piece of idle work with the worker's store; False when there is none.
Chore = Callable[[Store, Callable[[], ChatModel], Event], bool]


class Learner:
    """Learns queued turns in the background.

    `model` and `embedder` are asked for when they are needed, from the worker's thread. `context` gives the prompt
    that a queued turn was answered with, for engines where learning rides on it. Callbacks run in the worker's thread.
    """

    def __init__(
        self,
        open_store: Callable[[], Store],
        model: Callable[[], ChatModel],
        embedder: Callable[[], Embedder | None],
        options: LearnOptions,
        *,
        clock: Callable[[], datetime],
        context: Callable[[QueuedTurn], Sequence[Message]] = lambda queued: (),
        on_learned: Callable[[Learned], None] = lambda learned: None,
    ) -> None:
        self.options = options
        self.on_learned = on_learned
        self.context = context
        self.more_chores: Sequence[Chore] = ()  # idle work that others bring, done when there is no other left
        self._open_store = open_store
        self._model = model
        self._embedder = embedder
        self._clock = clock
        self._state = Condition()
        self._stop = Event()  # of the engine call that runs now
        self._paused = False
        self._working = False
        self._closed = False
        self._hurry = False  # `drain` does not wait for the user to be idle
        self._dry = False  # nothing is left to do until somebody wakes it
        self._due = 0.0  # monotonic time from which it may work
        self._chores = Chores()
        self._trust = Trust()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin to work; what is left from earlier runs comes first."""
        if self._thread is None:
            self._due = monotonic() + self.options.idle_seconds
            self._thread = Thread(target=self._run, name="learning", daemon=True)
            self._thread.start()

    def wake(self) -> None:
        """Say that there is something new to learn."""
        self._change(dry=False)

    def pause(self) -> None:
        """Stop at once and stay still until `resume`: the user has pressed Enter."""
        with self._state:
            self._paused = True
            self._stop.set()
            self._state.notify_all()
            self._state.wait_for(lambda: not self._working, timeout=_GIVING_WAY)

    def resume(self) -> None:
        """Go on once the user has been idle for a while."""
        self._change(paused=False, dry=False, due=monotonic() + self.options.idle_seconds)

    def drain(self, seconds: float, stop: Event) -> int:
        """Learn what waits without waiting for idle time, at most `seconds` or until `stop`; return what is left."""
        self.start()
        self._change(paused=False, dry=False, hurry=True)
        end = monotonic() + seconds
        with self._state:
            while not (self._dry or self._closed or stop.is_set() or monotonic() >= end):
                self._state.wait(timeout=0.1)
        self.pause()
        self._change(hurry=False)
        with self._open_store() as store:
            return store.count_queued()

    def close(self) -> None:
        """Stop and end the thread; may be called twice."""
        self.pause()
        self._change(closed=True)
        if self._thread is not None:
            self._thread.join(timeout=_GIVING_WAY)

    def _change(self, **changes: bool | float) -> None:
        with self._state:
            for name, value in changes.items():
                setattr(self, f"_{name}", value)
            self._state.notify_all()

    # -- the worker's thread

    def _run(self) -> None:
        try:
            with self._open_store() as store:
                while self._wait_for_leave():
                    self._work(store, store.path.with_name(store.path.name + LOCK_SUFFIX))
        except MemchatError as error:
            _LOG.warning("learning ended: %s", type(error).__name__)
            self._change(closed=True)

    def _wait_for_leave(self) -> bool:
        """Sleep until there is leave to work; False when it is closed."""
        with self._state:
            while not self._closed:
                wait = 0.0 if self._hurry else self._due - monotonic()
                if not self._paused and not self._dry and wait <= 0:
                    self._working = True
                    self._stop = Event()
                    return True
                self._state.wait(timeout=None if self._paused or self._dry else max(wait, 0.01))
            return False

    def _work(self, store: Store, lock: Path) -> None:
        try:
            with alone(lock) as mine:
                if not mine:
                    self._change(due=monotonic() + _LOCKED_OUT, dry=self._hurry)
                elif not self._learn_next(store) and not self._do_chore(store):
                    self._change(dry=True)
        except Cancelled:
            pass  # the row is still in the queue
        except MemchatError as error:
            _LOG.warning("learning put off: %s", type(error).__name__)
            self._change(dry=True)
        finally:
            self._change(working=False)

    def _learn_next(self, store: Store) -> bool:
        """Learn one queued turn; False when none is due."""
        queued = next(iter(store.list_queued(1, self._clock())), None)
        if queued is None:
            return False
        try:
            learned = learn_turn(
                store,
                self._model(),
                self._embedder(),
                queued,
                self.options,
                self._clock(),
                self._stop,
                context=self.context(queued),
                trust=self._trust,
            )
        except (EngineUnreachable, ModelMissing):
            raise  # nothing is wrong with the turn: it is tried again when there is a model
        except EngineError as error:
            store.postpone_queued(queued.id, error.sentence, self._clock())
            return True
        self.on_learned(learned)
        return True

    def _do_chore(self, store: Store) -> bool:
        if self._chores.do_next(store, self._model, self._embedder(), self._clock(), self._stop):
            return True
        return any(chore(store, self._model, self._stop) for chore in self.more_chores)
