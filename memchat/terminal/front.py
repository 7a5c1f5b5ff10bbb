"""The prompt of a chat that is still being loaded: it takes keys at once, and what answers comes up behind it."""

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from memchat.errors import MemchatError
from memchat.terminal.keyboard import ending_in_order, interruptible
from memchat.terminal.notices import NoticeBoard
from memchat.terminal.prompting import make_prompt
from memchat.terminal.reading import GREETING, is_dumb
from memchat.terminal.toolbar import Standing

if TYPE_CHECKING:
    from memchat.app import App
    from memchat.records import Memory, Session
    from memchat.terminal.repl import Repl

_BEHIND: Final = ("memchat.terminal.repl", "memchat.recall", "memchat.store", "rich.console")  # what a chat is made of


def run_chat(app: "App", mode: str) -> int:
    """Begin a conversation in the terminal and hold it until the user leaves; return the exit status."""
    if is_dumb():
        from memchat.chat import Mode
        from memchat.terminal.repl import run_repl

        return run_repl(app, app.open_chat(mode=Mode(mode)))
    with ending_in_order():
        return Front(app, mode).run()


class Front:
    """The first prompt. Another thread imports the chat, the main thread makes it: at once then, or when it is needed.

    `mode` is a `Mode`, whose module is not loaded yet.
    """

    def __init__(self, app: "App", mode: str) -> None:
        self._app = app
        self._mode = mode
        self._repl: Repl | None = None
        self._loaded = Event()
        self._loading = Thread(target=self._load, name="load", daemon=True)
        self.board = NoticeBoard()
        self.reader = make_prompt(app, self.board, self, self._wait)
        self.reader.ready = self._begin

    def run(self) -> int:
        """Read and answer until the user leaves; return the exit status."""
        from prompt_toolkit import print_formatted_text
        from prompt_toolkit.formatted_text import FormattedText

        print_formatted_text(FormattedText([("fg:ansibrightblack", GREETING)]))
        typed = self._read()
        if typed is not None:
            with interruptible(Event()):  # a Ctrl-C meant for the reply must not end the program
                repl = self.finish()
            return repl.go_on(typed)
        if self._repl is not None:
            self._repl.leave()
        return 0

    def finish(self) -> "Repl":
        """Wait for the chat and return it."""
        if self._repl is None:
            self._wait()
            self._make()
        assert self._repl is not None
        return self._repl

    # -- what the input line asks for

    def standing(self) -> Standing:
        """Return how things stand; called whenever another thread has news, so that the chat is made here."""
        if self._repl is None and self._loaded.is_set():
            with suppress(MemchatError):  # the first message meets it again, and tells it
                self._make()
        return self._repl.standing() if self._repl else Standing(self._app.user, self._mode, opening=True)

    def show_notices(self) -> None:
        """Print what other threads had to say."""
        if self._repl is not None:
            self._repl.show_notices()

    def may_keep_typed(self) -> bool:
        """Tell whether the input history may take in what is typed now."""
        self._wait()  # what keeps it is a part of the chat
        if self._repl is not None:
            return self._repl.may_keep_typed()
        return self._app.settings.flag("terminal.history") and self._mode == "normal"

    def memories(self) -> "Sequence[Memory]":
        """Return the memories to choose from."""
        return self.finish().memories()

    def sessions(self) -> "Sequence[Session]":
        """Return the conversations to choose from."""
        return self.finish().sessions()

    def remark(self, sentence: str) -> None:
        """Print what went wrong."""
        self.finish().remark(sentence)

    def _wait(self) -> None:
        """Return once the chat is loaded; two threads that import the same modules could meet half of one."""
        if self._loading.ident is not None:
            self._loading.join()

    def _begin(self) -> None:
        self.reader.ready = lambda: None
        self._loading.start()

    def _load(self) -> None:
        for module in _BEHIND:
            import_module(module)
        self._loaded.set()
        self.board.post()

    def _make(self) -> None:
        from memchat.chat import Mode
        from memchat.terminal.repl import Repl, make_desk

        chat = self._app.open_chat(mode=Mode(self._mode))
        desk = make_desk(self._app, chat)
        self._repl = Repl(desk, self.board, self.reader)
        self.board.post(*desk.faults())
        self._repl.begin()

    def _read(self) -> str | None:
        """Return the first message, None when the user leaves before there is one."""
        while True:
            try:
                typed = self.reader.read()
            except EOFError:
                return None
            except KeyboardInterrupt:
                continue
            if typed.strip():
                return typed
