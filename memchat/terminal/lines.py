"""Piped chat: one message a line, only answers on stdout, everything else on stderr."""

from collections.abc import Iterator
from io import TextIOWrapper
from threading import Event
from typing import TextIO

from memchat.app import App
from memchat.chat import Chat, Finished, Notice, Piece
from memchat.errors import EngineUnreachable, MemchatError, ModelMissing, UsageError
from memchat.terminal.background import Background
from memchat.terminal.commands import in_chat, read_call, run_command
from memchat.terminal.desk import Desk, Leave, Say, Write
from memchat.terminal.leaving import finish_learning
from memchat.terminal.notices import NoticeBoard
from memchat.terminal.render import make_console, print_error, quiet
from memchat.terminal.stream import PlainReply
from memchat.terminal.waiting import WaitingLine


def run_lines(app: App, chat: Chat, stdin: TextIO | None, stdout: TextIO, stderr: TextIO) -> int:
    """Answer each line of `stdin`; return 0, or the status of the last message that failed.

    A line that is a command runs it. Raises EngineError when there is no model: no later line would fare better.
    """
    desk = Desk(app, chat, make_console(stdout), make_console(stderr), plain=True)
    board = NoticeBoard()
    background = Background(desk, board)
    desk.learn, desk.hush = background.wake, background.paused
    background.start_learning()
    status = 0
    for line in _messages(stdin, desk):
        try:
            if not _take(desk, background, line):
                break
        except MemchatError as error:
            if isinstance(error, EngineUnreachable | ModelMissing) and read_call(line) is None:
                chat.abandon()
                raise
            status = status or error.exit_status
            print_error(desk.remarks, in_chat(error.sentence))
        _tell(desk, board)
    finish_learning(desk, background, WaitingLine(stderr, alive=False))
    _tell(desk, board)
    return status


def _messages(stdin: TextIO | None, desk: Desk) -> Iterator[str]:
    if stdin is None:  # it was closed
        return
    if isinstance(stdin, TextIOWrapper):
        stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
    for number, line in enumerate(stdin, 1):
        text = (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")
        told = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if told != text:
            quiet(desk.remarks, f"Line {number} is not all UTF-8; what could not be read stands as \ufffd.")
        if told.strip():
            yield told


def _tell(desk: Desk, board: NoticeBoard) -> None:
    for sentence in board.take():
        quiet(desk.remarks, sentence)


def _take(desk: Desk, background: Background, line: str) -> bool:
    """Deal with one line; False when the chat ends."""
    call = read_call(line)
    outcome = Say(line) if call is None else run_command(desk, call)
    if isinstance(outcome, Write):
        raise UsageError("Without a terminal name the new text: /edit-last TEXT")
    if isinstance(outcome, Say):
        with background.paused():
            _answer(desk, outcome)
    return not isinstance(outcome, Leave)


def _answer(desk: Desk, message: Say) -> None:
    reply = PlainReply(desk.console.file)
    along = desk.next_message(message.text, instead=message.instead)
    try:
        for event in desk.chat.turn(message.text, Event(), along, instead=message.instead):
            if isinstance(event, Piece):
                reply.feed(event.text)
            elif isinstance(event, Notice):
                quiet(desk.remarks, event.sentence)
            elif isinstance(event, Finished) and event.result.interrupted:
                quiet(desk.remarks, "The reply broke off.")
    finally:
        reply.finish()
    desk.attached = ()
