"""One turn on the screen: what is going on, the reply as it comes, and the quiet line after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Final

from memchat.chat import Finished, Notice, Piece, Recalled, Thinking, TurnEvent, TurnResult
from memchat.terminal.desk import Desk
from memchat.terminal.recall_text import recalled_line
from memchat.terminal.render import quiet
from memchat.terminal.stream import Aside, MarkdownReply, PlainReply, Reply
from memchat.terminal.waiting import WaitingLine

_CUT: Final = "The reply reached its longest length (chat.max_reply_tokens); say “go on” for more."


class Speaker:
    """Shows turns on a terminal."""

    def __init__(self, desk: Desk, waiting: WaitingLine) -> None:
        self._desk = desk
        self._waiting = waiting
        self._reply: Reply | None = None
        self._aside: Aside | None = None

    def say(self, text: str, stop: Event, *, instead: bool = False) -> TurnResult | None:
        """Hold one turn with the model. Raises what the turn raises, with the screen in order."""
        desk = self._desk
        along = desk.next_message(text, instead=instead)
        result: TurnResult | None = None
        self._waiting.show("recalling")
        with self._screen_in_order():
            for event in desk.chat.turn(text, stop, along, instead=instead):
                self._show(event)
                result = event.result if isinstance(event, Finished) else result
        desk.attached = ()
        if result is not None:
            self._conclude(result, stop)
        return result

    @contextmanager
    def _screen_in_order(self) -> Iterator[None]:
        self._reply = self._aside = None
        try:
            yield
        finally:
            self._waiting.hide()
            self._end_aside()
            if self._reply is not None:
                self._reply.finish()

    def _show(self, event: TurnEvent) -> None:
        if isinstance(event, Recalled):
            self._waiting.show("waiting for the model")
        elif isinstance(event, Notice):
            self._waiting.hide()
            quiet(self._desk.remarks, event.sentence)
        elif isinstance(event, Thinking):
            self._waiting.hide()
            self._aside = self._aside or Aside(self._desk.console, "dim" if self._desk.thinking == "dim" else "italic")
            self._aside.feed(event.text)
        elif isinstance(event, Piece):
            self._waiting.hide()
            self._end_aside()
            self._reply = self._reply or self._new_reply()
            self._reply.feed(event.text)

    def _new_reply(self) -> Reply:
        console = self._desk.console
        if self._desk.plain or not console.is_terminal or console.is_dumb_terminal:
            return PlainReply(console.file)
        return MarkdownReply(console, self._hint)

    def _hint(self, held: str) -> None:
        if held:
            self._waiting.show(held)
        else:
            self._waiting.hide()

    def _end_aside(self) -> None:
        if self._aside is not None:
            self._aside.finish()
            self._aside = None

    def _conclude(self, result: TurnResult, stop: Event) -> None:
        remarks = self._desk.remarks
        if result.interrupted:
            quiet(remarks, "[stopped]" if stop.is_set() else "[interrupted: the model broke off]")
        elif result.done is not None and result.done.reason == "length":
            quiet(remarks, _CUT)
        if self._desk.app.settings.flag("terminal.notices") and (line := recalled_line(result.recall)):
            quiet(remarks, line)
        quiet(remarks, "")
