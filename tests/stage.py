"""A whole program with engines that follow a script: for tests of what people see and type."""

import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memchat.app import App
from memchat.app.engines import Choice
from memchat.chat import Chat, Mode
from memchat.paths import Paths
from memchat.settings import Settings
from memchat.terminal.desk import Desk
from memchat.terminal.render import make_console
from tests.fakes import FakeChat, FakeEmbedder

START = datetime(2026, 8, 4, 12, 0, tzinfo=UTC)


class FakeEngines:
    """The engines of a run, without any engine."""

    why_no_embedder: str | None = None

    def __init__(self, chat: FakeChat, embedder: FakeEmbedder | None) -> None:
        self._chat = chat
        self._embedder = embedder
        self.switched: list[str] = []
        self.failure: Exception | None = None

    def chat(self) -> FakeChat:
        if self.failure is not None:
            raise self.failure
        return self._chat

    def embedder(self) -> FakeEmbedder | None:
        return self._embedder

    def choose(self) -> Choice:
        if self.failure is not None:
            raise self.failure
        return Choice("embedded")

    def switch(self, model: str) -> FakeChat:
        self.switched.append(model)
        return self._chat

    def close(self) -> None:
        pass


class Clock:
    """A clock that moves a second whenever it is read."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def make_app(folder: Path, chat: FakeChat | None = None, **settings: object) -> App:
    """Return an app whose files lie in `folder`; settings are named with `__` for the dot."""
    values = {"learn.mode": "off"} | {key.replace("__", "."): value for key, value in settings.items()}
    paths = Paths(*(folder / name for name in ("config.toml", "memory.db", "models", "history", "memchat.log")))
    app = App(Settings(values), paths, Clock())
    app.engines = FakeEngines(chat or FakeChat(), FakeEmbedder())
    return app


class Stage:
    """An app, its chat and a desk whose screen is a text; `answers` are given to its questions, then no."""

    def __init__(
        self, folder: Path, chat: FakeChat | None = None, mode: Mode = Mode.NORMAL, **settings: object
    ) -> None:
        self.app = make_app(folder, chat, **settings)
        self.out, self.err = io.StringIO(), io.StringIO()
        self.questions: list[str] = []
        self.answers: list[bool] = []
        self.desk = Desk(self.app, self.app.open_chat(mode=mode), make_console(self.out), make_console(self.err))
        self.desk.ask = self.answer

    @property
    def chat(self) -> Chat:
        return self.desk.chat

    def answer(self, question: str) -> bool:
        self.questions.append(question)
        return self.answers.pop(0) if self.answers else False

    def seen(self) -> str:
        """Return what was printed since the last look."""
        text = self.out.getvalue() + self.err.getvalue()
        for stream in (self.out, self.err):
            stream.seek(0)
            stream.truncate()
        return text


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until a thread has made `condition` true."""
    import time

    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)
