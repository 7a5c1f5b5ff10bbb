"""What goes on while the user types: the models are loaded and read the prompt's beginning, and turns are learnt."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

from memchat.chat.private import rehearse
from memchat.errors import MemchatError
from memchat.records import Message
from memchat.terminal.desk import Desk
from memchat.terminal.notices import NoticeBoard, learnt_lines

if TYPE_CHECKING:
    from memchat.learn import Learned, Learner

_LETTING_GO = 2.0  # seconds
_MOMENT = 0.05  # seconds between looks at whether the prompt's beginning is there


class Background:
    """The threads beside the prompt. They have connections of their own; the chat stays in the main thread."""

    def __init__(self, desk: Desk, board: NoticeBoard) -> None:
        self._desk = desk
        self._app = desk.app
        self._board = board
        self._learner: Learner | None = None
        self._warming: Thread | None = None
        self._stop = Event()
        self._prefix: Callable[[], Sequence[Message]] | None = None
        self._messages: Sequence[Message] | None = None

    def start_learning(self) -> None:
        """Begin to learn what waits, unless learning is off or there is no memory file."""
        if self._desk.chat.store is not None and self._app.settings.text("learn.mode") != "off":
            self._learner = self._app.learner()
            self._learner.on_learned = self._tell
            self._learner.start()

    def warm_up(self) -> None:
        """Load the models and have the chat model read what every message of this chat begins with."""
        self._stop.set()
        self._stop = Event()
        self._prefix, self._messages = self._desk.chat.prompt_prefix, None
        self._warming = Thread(target=self._warm_up, args=(self._stop,), name="warm-up", daemon=True)
        self._warming.start()

    def look(self) -> None:
        """Do the share of the main thread: the prompt's beginning comes from its connection."""
        if self._desk.card is not None and self._prefix is not None:
            prefix, self._prefix = self._prefix, None
            try:
                self._messages = prefix()
            except MemchatError:
                self._stop.set()  # the next turn meets the same fault, and tells it

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Within: the engine and the file belong to the caller."""
        self._stop.set()
        if self._learner is not None:
            self._learner.pause()
        try:
            yield
        finally:
            if self._learner is not None:
                self._learner.resume()

    def wake(self) -> None:
        """Have the learner look at the queue now."""
        if self._learner is not None:
            self._learner.wake()

    def drain(self, seconds: float, stop: Event) -> int:
        """Wait for what is queued to be learnt; return what is left."""
        self._stop.set()
        return self._learner.drain(seconds, stop) if self._learner is not None else 0

    def close(self) -> None:
        """Let go of the engine; the app ends the learner."""
        self._stop.set()
        if self._warming is not None:
            self._warming.join(timeout=_LETTING_GO)

    def _tell(self, learned: "Learned") -> None:
        told = self._app.settings.flag("terminal.notices")
        self._board.post(*(learnt_lines(learned) if told else ()))

    def _load_embedder(self) -> None:
        if self._app.embedder() is None and (why := self._app.engines.why_no_embedder):
            self._board.post(f"Memories are found by their words only. {why}")

    def _warm_up(self, stop: Event) -> None:
        try:
            self._load_embedder()
            model = self._app.chat_model()
            self._desk.card = model.card()
            self._board.post()
            rehearse()
            while self._messages is None:
                if stop.wait(_MOMENT):
                    return
            model.warm_up(self._messages, stop)
        except MemchatError as error:
            self._desk.no_model = True
            self._board.post(error.sentence)
