"""Completion of commands and of what follows them, each with a description; text for the model is left alone."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from memchat.terminal.render import shortened
from memchat.text import fold

if TYPE_CHECKING:
    from memchat.records import Memory, Session
    from memchat.terminal.desk import Command, Completes

_MOST: Final = 50  # rows of the menu


Offer = tuple[str, str]  # what is inserted, what it is


@dataclass(frozen=True, slots=True)
class Choices:
    """Where the words after a command come from; each is asked when it is first needed."""

    memories: "Callable[[], Sequence[Memory]]"
    sessions: "Callable[[], Sequence[Session]]"
    models: Callable[[], Sequence[Offer]]
    personas: Callable[[], Mapping[str, str]] = dict


class CommandCompleter(Completer):
    """Completes `/word` and its arguments; `forget` drops what it has read, since it may have changed."""

    def __init__(self, choices: Choices, wait: Callable[[], object] = lambda: None) -> None:
        """Complete from `choices`; `wait` returns once the commands are loaded, where another thread does that."""
        self._choices = choices
        self._wait = wait
        self._read: dict[Completes, list[Offer]] = {}
        self._files = PathCompleter(expanduser=True)

    def forget(self) -> None:
        """Read memories, sessions and models anew at the next completion."""
        self._read = {}

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield what may stand at the cursor, the likeliest first."""
        line = document.text_before_cursor
        if not line.startswith("/") or "\n" in document.text:
            return
        # Late, here and below: the commands bring all that they work with, and the first prompt stands without.
        self._wait()
        from memchat.terminal.commands import find_command
        from memchat.terminal.desk import Completes

        word, space, rest = line[1:].partition(" ")
        if not space:
            yield from _insert(word, match(word, _command_offers()))
            return
        command = find_command(word.lower())
        if command is None:
            return
        if command.completes is Completes.FILE:
            yield from self._files.get_completions(Document(rest), complete_event)
            return
        last = rest.rpartition(" ")[2]
        yield from _insert(last, match(last, self._offers(command)))

    def _offers(self, command: "Command") -> list[Offer]:
        from memchat.terminal.desk import Completes

        if command.completes is Completes.CHOICE:
            return [(choice, "") for choice in command.choices]
        if command.completes is Completes.COMMAND:
            return _command_offers()
        if command.completes not in self._read:
            self._read[command.completes] = list(self._ask(command.completes))
        return self._read[command.completes]

    def _ask(self, what: "Completes") -> Iterator[Offer]:
        from memchat.records import KIND_MEANINGS
        from memchat.terminal.desk import Completes

        if what is Completes.KIND:
            yield from ((kind.value, meaning) for kind, meaning in KIND_MEANINGS.items())
        elif what is Completes.MEMORY:
            newest_first = reversed(self._choices.memories())
            yield from ((str(memory.id), shortened(memory.text, 70)) for memory in newest_first)
        elif what is Completes.SESSION:
            yield from ((str(session.id), session.title or "") for session in self._choices.sessions())
        elif what is Completes.MODEL:
            yield from self._choices.models()
        elif what is Completes.PERSONA:
            yield from ((name, shortened(text, 70)) for name, text in self._choices.personas().items())
            yield "off", "The usual instructions."


def match(typed: str, offers: Iterable[Offer]) -> list[Offer]:
    """Return the offers that `typed` may mean: those that begin so, then those it is spread over or that say it."""
    sought = fold(typed.removeprefix("#"))
    beginning, spread, saying = [], [], []
    for offer in offers:
        name = fold(offer[0])
        if name.startswith(sought):
            beginning.append(offer)
        elif _is_spread(sought, name):
            spread.append(offer)
        elif sought in fold(offer[1]):
            saying.append(offer)
    return [*beginning, *spread, *saying][:_MOST]


def _is_spread(sought: str, name: str) -> bool:
    """Tell whether the characters of `sought` come in `name` in this order, the first one first."""
    if not sought or not name or name[0] != sought[0] or sought[0].isdecimal():
        return False
    characters = iter(name)
    return all(character in characters for character in sought)


def _command_offers() -> list[Offer]:
    from memchat.terminal.commands import COMMANDS

    return [(f"{row.name} " if row.usage else row.name, row.help) for row in COMMANDS]


def _insert(typed: str, offers: Iterable[Offer]) -> Iterator[Completion]:
    for text, meaning in offers:
        yield Completion(text, start_position=-len(typed), display=text.rstrip(), display_meta=meaning)
