"""The chat in the terminal: read a message, run a command or hold a turn, and never die of Ctrl-C."""

import sys
from contextlib import nullcontext, suppress
from threading import Event
from typing import TYPE_CHECKING

from memchat.app import App
from memchat.chat import Chat, Mode
from memchat.errors import MemchatError
from memchat.records import Memory, Session
from memchat.terminal.background import Background
from memchat.terminal.commands import in_chat, read_call, run_command
from memchat.terminal.desk import Desk, Leave, Outcome, Say, Write
from memchat.terminal.keyboard import ending_in_order, interruptible, typing_ahead
from memchat.terminal.leaving import finish_learning
from memchat.terminal.notices import NoticeBoard
from memchat.terminal.reading import GREETING, LineReader, Reader, is_dumb
from memchat.terminal.render import make_console, print_error, quiet
from memchat.terminal.speaking import Speaker
from memchat.terminal.toolbar import Standing
from memchat.terminal.waiting import WaitingLine

if TYPE_CHECKING:
    from rich.console import Console


def run_repl(app: App, chat: Chat) -> int:
    """Talk until Ctrl-D or /quit; return the exit status."""
    with ending_in_order():
        return Repl(make_desk(app, chat)).run()


def make_desk(app: App, chat: Chat) -> Desk:
    """Put together what the commands of a chat have at hand."""
    console = make_console()
    return Desk(app, chat, console, console, plain=app.settings.flag("terminal.plain"))


class Repl:
    """The loop around one desk; `reader` is the prompt that stands already, with its `board`, if one does."""

    def __init__(self, desk: Desk, board: NoticeBoard | None = None, reader: Reader | None = None) -> None:
        self._desk = desk
        self._board = board if board is not None else NoticeBoard()
        self._background = Background(desk, self._board)
        self._waiting = WaitingLine(sys.stdout, width=lambda: desk.console.width, alive=_can_rub_out(desk.console))
        self._speaker = Speaker(desk, self._waiting)
        self._written = ""  # what the next prompt starts with
        self._instead = False  # the next message takes the place of the last exchange
        self._warm = (desk.chat, desk.card)  # which conversation and model the background serves
        self._shown = Standing(desk.app.user)
        self._reader = reader if reader is not None else self._make_reader()
        desk.ask, desk.forgot = self._reader.ask, self._reader.forget
        desk.learn, desk.hush = self._background.wake, self._background.paused

    def run(self) -> int:
        """Greet, read and answer until the user leaves; return the exit status."""
        self._greet()
        self._reader.ready = self.begin
        return self.go_on()

    def go_on(self, typed: str | None = None) -> int:
        """Read and answer until the user leaves, beginning with what was `typed` already; return the exit status."""
        stays = typed is None or self._round(typed)
        while stays:
            stays = self._round()
        self.leave()
        return 0

    def begin(self) -> None:
        """Start what goes on beside the prompt, once it stands: the imports of that would hold it up."""
        self._reader.ready = lambda: None
        self._background.start_learning()
        self._background.warm_up()

    def _greet(self) -> None:
        desk = self._desk
        quiet(desk.remarks, GREETING)
        for sentence in desk.faults():
            (print_error if desk.app.why_no_memory else quiet)(desk.remarks, sentence)
        if desk.chat.session is not None:
            title = f" “{desk.chat.session.title}”" if desk.chat.session.title else ""
            quiet(desk.remarks, f"Going on with conversation {desk.chat.session.id}{title}.")

    def _round(self, typed: str | None = None) -> bool:
        """Read and take one message; False when the user leaves. No Ctrl-C gets past here."""
        written, self._written = self._written, ""
        try:
            message = self._reader.read(written) if typed is None else typed
            return not message.strip() or self._take(message)
        except EOFError:
            return False
        except KeyboardInterrupt:
            self._waiting.hide()
        except MemchatError as error:
            print_error(self._desk.remarks, in_chat(error.sentence))
        return True

    def _take(self, message: str) -> bool:
        """Deal with one message; False when the user leaves."""
        call = read_call(message)
        if call is None:
            instead, self._instead = self._instead, False
            self._speak(message, instead=instead)
            return True
        stays = self._follow(run_command(self._desk, call))
        self._keep_warm()
        return stays

    def _keep_warm(self) -> None:
        """Warm up anew when a command went over to another conversation or model."""
        chat, card = self._warm
        self._warm = (self._desk.chat, self._desk.card)
        if self._desk.chat is not chat or (card is not None and self._desk.card is not card):
            self._background.warm_up()

    def _follow(self, outcome: Outcome) -> bool:
        if isinstance(outcome, Say):
            self._speak(outcome.text, instead=outcome.instead)
        elif isinstance(outcome, Write):
            self._written, self._instead = outcome.text, True
        return not isinstance(outcome, Leave)

    def _speak(self, text: str, *, instead: bool) -> None:
        stop = Event()
        with interruptible(stop), nullcontext() if is_dumb() else typing_ahead(sys.stdout):
            self._waiting.show("getting ready")
            try:
                with self._background.paused():
                    self._speaker.say(text, stop, instead=instead)
            finally:
                self._waiting.hide()

    def leave(self) -> None:
        """Wait for what is still to be learnt, a bounded time, and say what is left."""
        finish_learning(self._desk, self._background, self._waiting)
        self._background.close()
        self.show_notices()
        self._waiting.close()

    # -- what the input line needs

    def _make_reader(self) -> Reader:
        if is_dumb():
            return LineReader(self.standing, self.show_notices)
        from memchat.terminal.prompting import (
            make_prompt,  # late: prompt-toolkit, which a dumb terminal need not wait for
        )

        return make_prompt(self._desk.app, self._board, self)

    def remark(self, sentence: str) -> None:
        """Print what went wrong."""
        print_error(self._desk.remarks, sentence)

    def may_keep_typed(self) -> bool:
        """Tell whether the input history may take in what is typed now."""
        return self._desk.app.settings.flag("terminal.history") and self._desk.chat.mode is Mode.NORMAL

    def memories(self) -> list[Memory]:
        """Return the memories to choose from."""
        return self._desk.chat.store.list_memories() if self._desk.chat.store else []

    def sessions(self) -> list[Session]:
        """Return the conversations to choose from."""
        return self._desk.chat.store.list_sessions() if self._desk.chat.store else []

    def _queued(self) -> int:
        return self._desk.chat.store.count_queued() if self._desk.chat.store else 0

    def show_notices(self) -> None:
        """Print what other threads had to say."""
        for sentence in self._board.take():
            quiet(self._desk.remarks, sentence)

    def standing(self) -> Standing:
        """Return how things stand; while the file cannot be read, as they stood."""
        self._background.look()
        with suppress(MemchatError):  # the next message meets it again, and tells it
            self._shown = self._look()
        return self._shown

    def _look(self) -> Standing:
        chat, card = self._desk.chat, self._desk.card
        return Standing(
            user=self._desk.app.user,
            mode=chat.mode,
            model=card.model if card else None,
            no_model=self._desk.no_model,
            engine=card.engine if card else None,
            remote=card.remote if card else None,
            memories=chat.store.count_memories() if chat.store else None,
            pending=self._queued() if self._desk.app.settings.text("learn.mode") != "off" else 0,
            context_used=chat.last.context_used if chat.last else 0,
            context_size=chat.last.context_size if chat.last else 0,
            attached=len(self._desk.attached),
            persona=self._desk.app.settings.text("chat.persona"),
        )


def _can_rub_out(console: "Console") -> bool:
    return console.is_terminal and not is_dumb() and not console.legacy_windows
