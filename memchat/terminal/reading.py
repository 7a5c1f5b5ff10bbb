"""The input line: prompt-toolkit where the terminal can, plain `input()` where it cannot."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from memchat import __version__
from memchat.errors import MemchatError
from memchat.terminal.notices import NoticeBoard
from memchat.terminal.toolbar import Standing, prompt_text, toolbar_text

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    from memchat.terminal.completion import CommandCompleter
    from memchat.terminal.history import MessageHistory

GREETING: Final = f"memchat {__version__} · /help · Ctrl-D leaves"
QUOTES: Final = '"""'


class Reader(Protocol):
    """Where messages come from; `ready` is called whenever the prompt stands."""

    ready: Callable[[], None]

    def read(self, default: str = "") -> str:
        """Return the next message; raises EOFError at Ctrl-D and KeyboardInterrupt at Ctrl-C."""
        ...

    def ask(self, question: str) -> bool:
        """Put a yes-or-no question; anything but yes is no."""
        ...

    def forget(self) -> None:
        """Drop what was typed so far."""
        ...


def is_dumb() -> bool:
    """Tell whether the terminal can do nothing but print lines."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown", "emacs")


def without_quotes(text: str) -> str:
    """Return a message without the three quotes that let it run over lines."""
    bare = text.strip()
    if bare.startswith(QUOTES) and bare.endswith(QUOTES) and len(bare) >= 2 * len(QUOTES):
        return bare[len(QUOTES) : -len(QUOTES)].strip("\n")
    return text


def is_open(text: str) -> bool:
    """Tell whether `text` begins a message in three quotes that has not ended."""
    bare = text.strip()
    return bare.startswith(QUOTES) and (len(bare) < 2 * len(QUOTES) or not bare.endswith(QUOTES))


def _do_nothing() -> None:
    """Stand in for whoever wants to know that the prompt stands (`ready`)."""


def means_yes(answer: str) -> bool:
    """Tell whether an answer is yes."""
    return answer.strip().lower() in ("y", "yes")


class LineReader:
    """Reads with `input()`: no colours, no keys, no completion."""

    def __init__(self, standing: Callable[[], Standing], notices: Callable[[], None]) -> None:
        self.ready = _do_nothing
        self._standing = standing
        self._notices = notices

    def read(self, default: str = "") -> str:
        """Return the next message; one that starts with three quotes runs until they come again."""
        self._notices()
        self.ready()
        text = input(prompt_text(self._standing()))
        while is_open(text):
            text += "\n" + input("... ")
        return without_quotes(text)

    def ask(self, question: str) -> bool:
        """Put a yes-or-no question."""
        try:
            return means_yes(input(f"{question} [y/N] "))
        except (EOFError, KeyboardInterrupt):
            return False

    def forget(self) -> None:
        """Keep nothing, as ever."""


class PromptReader:
    """Reads with prompt-toolkit; notices appear above the prompt, and only while nothing stands on it."""

    def __init__(
        self,
        standing: Callable[[], Standing],
        notices: Callable[[], None],
        board: NoticeBoard,
        *,
        history: "MessageHistory",
        completer: "CommandCompleter",
        vi: bool,
        edit: Callable[[str], str],
        remark: Callable[[str], None],
    ) -> None:
        self.ready = _do_nothing
        self._standing = standing
        self._notices = notices
        self._board = board
        self._completer = completer
        self._edit = edit
        self._remark = remark
        self._history = history
        self._session = self._make_session(history, completer, vi)

    def read(self, default: str = "") -> str:
        """Return the next message; the toolbar and notices live while it is being typed."""
        self._notices()
        self._completer.forget()
        self._shown = self._standing()
        try:
            return without_quotes(self._session.prompt(default=default, pre_run=self._listen))
        finally:
            self._board.nudge = None

    def forget(self) -> None:
        """Drop what was typed, cut and searched for: something was erased, and any of it may quote that."""
        from prompt_toolkit.history import InMemoryHistory
        from prompt_toolkit.layout import BufferControl

        self._history.reload()
        session = self._session
        session.clipboard.set_text("")
        session.search_buffer.history = InMemoryHistory()
        session.search_buffer.reset()
        for control in session.app.layout.find_all_controls():
            if isinstance(control, BufferControl):
                control.search_state.text = ""

    def ask(self, question: str) -> bool:
        """Put a yes-or-no question on a line of its own."""
        from prompt_toolkit import PromptSession

        try:
            answer: str = PromptSession[str](output=self._session.output).prompt(f"{question} [y/N] ")
        except (EOFError, KeyboardInterrupt):
            return False
        return means_yes(answer)

    def _make_session(self, history: "MessageHistory", completer: "CommandCompleter", vi: bool) -> "PromptSession[str]":
        from prompt_toolkit import PromptSession
        from prompt_toolkit.application.current import get_app_session
        from prompt_toolkit.enums import EditingMode
        from prompt_toolkit.filters import Condition
        from prompt_toolkit.styles import Style

        from memchat.terminal.screen import quiet_output

        output = quiet_output(get_app_session().output)
        session: PromptSession[str] = PromptSession(
            lambda: [("class:prompt", prompt_text(self._shown))],
            history=history,
            completer=completer,
            complete_while_typing=Condition(lambda: session.default_buffer.text.startswith("/")),
            editing_mode=EditingMode.VI if vi else EditingMode.EMACS,
            key_bindings=self._keys(),
            bottom_toolbar=lambda: toolbar_text(self._shown, output.get_size().columns),
            prompt_continuation="  ",
            style=Style.from_dict({"prompt": "bold", "bottom-toolbar": "noreverse fg:ansibrightblack"}),
            enable_open_in_editor=False,
            reserve_space_for_menu=6,
            output=output,
        )
        session.default_buffer.on_text_changed += lambda _: self._show_notices()
        return session

    # -- notices while the prompt waits

    def _listen(self) -> None:
        loop = self._session.app.loop
        assert loop is not None

        def nudge() -> None:
            loop.call_soon_threadsafe(self._refresh)

        self._board.nudge = nudge
        loop.call_soon(self.ready)  # which comes after the first drawing

    def _refresh(self) -> None:
        self._shown = self._standing()
        self._show_notices()
        self._session.app.invalidate()

    def _show_notices(self) -> None:
        from prompt_toolkit.application import run_in_terminal

        if self._board and self._session.app.is_running and not self._session.default_buffer.text:
            run_in_terminal(self._notices)

    # -- keys

    def _keys(self) -> "KeyBindings":
        from prompt_toolkit.filters import Condition, vi_navigation_mode
        from prompt_toolkit.key_binding import KeyBindings

        keys = KeyBindings()
        quoted = Condition(lambda: is_open(self._session.default_buffer.text))
        keys.add("escape", "enter")(_new_line)
        keys.add("enter", filter=quoted)(_new_line)
        keys.add("c-x", "c-e")(self._open_editor)
        keys.add("v", filter=vi_navigation_mode)(self._open_editor)
        return keys

    def _open_editor(self, event: "KeyPressEvent") -> None:
        from prompt_toolkit.application import run_in_terminal

        buffer = event.current_buffer

        def edit() -> None:
            try:
                text = self._edit(buffer.text)
            except MemchatError as error:
                self._remark(error.sentence)
            else:
                buffer.text = text
                buffer.cursor_position = len(text)

        run_in_terminal(edit)


def _new_line(event: "KeyPressEvent") -> None:
    event.current_buffer.newline(copy_margin=False)
