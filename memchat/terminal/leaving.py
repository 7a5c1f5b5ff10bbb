"""The end of a chat: what was said last is learnt first, for a bounded time that Ctrl-C cuts short."""

from threading import Event

from memchat.terminal.background import Background
from memchat.terminal.desk import Desk
from memchat.terminal.keyboard import interruptible
from memchat.terminal.render import quiet
from memchat.terminal.waiting import WaitingLine
from memchat.text import counted


def finish_learning(desk: Desk, background: Background, waiting: WaitingLine) -> None:
    """Wait at most `learn.exit_seconds` for what is queued; what is left is learnt at the next start, and told."""
    lost = desk.chat.settle()
    if lost:
        quiet(desk.remarks, f"{counted(lost, 'exchange')} could not be written down.")
    seconds = desk.app.settings.whole("learn.exit_seconds")
    queued = desk.chat.store.count_queued() if desk.chat.store else 0
    if not queued or not seconds:
        return
    stop = Event()
    with interruptible(stop):
        waiting.show(f"learning from {counted(queued, 'exchange')}", "Ctrl-C skips")
        left = background.drain(seconds, stop)
    waiting.hide()
    if left:
        quiet(desk.remarks, f"{counted(left, 'exchange')} left to learn from: the next start takes it up.")
