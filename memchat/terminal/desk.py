"""What a slash command has at hand, and what it may answer."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from memchat.app import App
from memchat.chat import Attachment, Chat, Mode
from memchat.curate.forget import Selection, forget
from memchat.curate.quotes import gather_quotes
from memchat.errors import UsageError
from memchat.records import ChatCard
from memchat.settings import Value
from memchat.store import Store
from memchat.terminal.memory_text import print_receipt

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class Say:
    """Send this message to the model; with `instead` it takes the place of the last exchange."""

    text: str
    instead: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    """Put this text on the input line for the user to change; what is sent takes the place of the last exchange."""

    text: str


@dataclass(frozen=True, slots=True)
class Leave:
    """End the chat."""


Outcome = Say | Write | Leave | None


def _nothing() -> None:
    return None


@dataclass(slots=True)
class Desk:
    """One run of the chat: what is talked with, the screen, and what the next message takes along.

    `ask` puts a yes-or-no question; it is None where nobody can answer. `attached` leaves with the next message.
    """

    app: App
    chat: Chat
    console: "Console"  # results
    remarks: "Console"  # everything else; the same screen on a terminal
    ask: Callable[[str], bool] | None = None
    plain: bool = False
    attached: tuple[Attachment, ...] = ()
    last_text: str = ""
    last_attached: tuple[Attachment, ...] = ()
    card: ChatCard | None = None  # of the chat model, once it is loaded
    no_model: bool = False  # it could not be loaded
    learn: Callable[[], None] = _nothing  # has the queue looked at now
    hush: Callable[[], AbstractContextManager[None]] = nullcontext  # keeps the background still meanwhile
    forgot: Callable[[], None] = _nothing  # called when something was erased that the input line may still know

    @property
    def thinking(self) -> str:
        """How reasoning is treated: off, hide, dim or show."""
        return self.app.settings.text("chat.thinking") or "off"

    def change(self, key: str, value: Value) -> None:
        """Change a setting of the chat until the user leaves; None brings back what it began with."""
        self.app.change_setting(key, value)
        self.chat.options = self.app.chat_options()

    def now(self) -> datetime:
        """Return the time, as the app has it."""
        return self.app.clock()

    @property
    def store(self) -> Store:
        """The memory file; raises UsageError when this chat has none."""
        if self.chat.store is None:
            raise UsageError(f"This chat has no memory: {self.app.why_no_memory or 'no file is in use.'}")
        return self.chat.store

    def writable(self) -> Store:
        """Return the memory file for a change by hand; raises UsageError in a mode that changes nothing."""
        if self.chat.mode is not Mode.NORMAL:
            raise UsageError(f"This chat is {self.chat.mode.value}; /{self.chat.mode.value} switches that off.")
        return self.store

    def faults(self) -> list[str]:
        """Return why this chat has no memory, or what is odd about its file."""
        if self.app.why_no_memory:
            return [f"No memory in this chat: {self.app.why_no_memory}"]
        return list(self.chat.store.notices) if self.chat.store else []

    def next_message(self, text: str, *, instead: bool) -> tuple[Attachment, ...]:
        """Note what is about to be said and return what goes with it; `instead` is the last message anew."""
        along = self.attached or (self.last_attached if instead else ())
        self.last_text, self.last_attached = text, along
        return along

    def erase(self, chosen: Selection) -> None:
        """Erase what was chosen, also from the live context and the input line, and print the receipt."""
        with self.hush():
            quotes = gather_quotes(self.store, chosen.memories, chosen.sessions, chosen.undone)
            try:
                receipt = forget(self.store, chosen, history=self.app.paths.history, log=self.app.paths.log)
            finally:  # also when the bytes could not be wiped yet: the rows are gone
                self.chat.forget(quotes.found_in)
                self.last_text, self.last_attached = "", ()
                self.forgot()
        print_receipt(self.console, receipt)

    def confirm(self, question: str, refusal: str) -> bool:
        """Ask the user; where nobody can answer raise UsageError with what to say instead."""
        if self.ask is None:
            raise UsageError(refusal)
        return self.ask(question)


class Completes(StrEnum):
    """What the words after a command are, for completion."""

    NOTHING = "nothing"
    MEMORY = "memory"
    KIND = "kind"
    MODEL = "model"
    SESSION = "session"
    FILE = "file"
    COMMAND = "command"
    PERSONA = "persona"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Command:
    """One row of the table: what is typed, what it does, and how it is completed."""

    name: str
    run: Callable[[Desk, str], Outcome]
    usage: str  # what follows the name
    help: str
    aliases: tuple[str, ...] = ()
    completes: Completes = Completes.NOTHING
    choices: tuple[str, ...] = ()


_ON, _OFF = ("on", "yes", "true", "1"), ("off", "no", "false", "0")
SWITCH = ("on", "off")


def read_switch(words: str, now_on: bool, name: str) -> bool:
    """Return whether a switch shall be on: as said, or the other way round when nothing was said.

    Raises UsageError naming the command for anything else.
    """
    word = words.lower()
    if word and word not in _ON + _OFF:
        raise UsageError(f"/{name} takes on or off, or nothing to switch over; not {words!r}.")
    return word in _ON if word else not now_on


def read_ids(words: Sequence[str]) -> list[int]:
    """Return memory or session ids as typed, with or without `#`; raises UsageError for anything else."""
    ids = []
    for word in words:
        bare = word.strip(",").removeprefix("#")
        if not bare.isdecimal() or len(bare) > 18:
            raise UsageError(f"{word!r} is no id; ids are numbers such as 17.")
        ids.append(int(bare))
    return ids


def read_id(words: str) -> int:
    """Return the one id that was typed; raises UsageError when there is none or more."""
    ids = read_ids(words.split())
    if len(ids) != 1:
        raise UsageError("Name one id, for example 17.")
    return ids[0]


def is_ids(words: str) -> bool:
    """Tell whether the words are ids and nothing else."""
    parts = words.split()
    return bool(parts) and all(part.strip(",").removeprefix("#").isdecimal() for part in parts)
