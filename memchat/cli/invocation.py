"""What one command has at hand: the app, built at first use, and where results and messages go."""

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from memchat.errors import UsageError
from memchat.text import clean

if TYPE_CHECKING:
    from memchat.app import App
    from memchat.settings import Value
    from memchat.store import Store

NO_TEXT: Final = "What came on stdin is not all UTF-8; what could not be read stands as \ufffd."
# Commands that only read: a memory file that is not there is an empty one to them.
_LOOKS: Final = frozenset(
    ("list", "show", "history", "inspect", "log", "eval", "export", "sessions", "pending", "rules", "stats"),
)


class Invocation:
    """One run of the program with its global options."""

    def __init__(self, config: str | None, overrides: Mapping[str, str | None], command: str = "chat") -> None:
        self.config = config
        self._command = command
        self._overrides = overrides
        self._app: App | None = None

    @property
    def app(self) -> "App":
        """The composed program; reads the config at first use and raises ConfigError when it is wrong."""
        if self._app is None:
            from memchat.app import App  # late, here and below: `--help` needs nothing of it

            self._require_config()
            self._app = App.build(self.config, self._checked_overrides())
            self._app.only_looks = self._command in _LOOKS
        return self._app

    def _require_config(self) -> None:
        """Refuse a config file that somebody named and that is not there, unless the command may make it."""
        if self.config and self._command != "setup" and not os.path.lexists(os.path.expanduser(self.config)):
            from memchat.errors import ConfigError

            raise ConfigError(f"There is no config file {self.config}; `memchat --config … config set` makes one.")

    @property
    def store(self) -> "Store":
        """The memory file of this run; what it has to say about itself goes to stderr once."""
        first = not self.app.has_store
        store = self.app.store
        if first:
            for notice in store.notices:
                tell(notice)
        return store

    def argument(self, words: Sequence[str]) -> str:
        """Return the words of an argument as one text; a lone `-` reads stdin."""
        if list(words) == ["-"]:
            return "" if sys.stdin is None else read_typed(sys.stdin.buffer.read())
        return " ".join(words)

    def use_defaults(self) -> None:
        """Go on without the config file, for the command that says what is wrong with it."""
        from memchat.app import App

        self._app = App.build(None, self._checked_overrides(), use_file=False)

    def close(self) -> None:
        """Close what was opened."""
        if self._app is not None:
            self._app.close()

    def _checked_overrides(self) -> "dict[str, Value]":
        from memchat.settings import find_setting, parse_value

        given = {key: value for key, value in self._overrides.items() if value is not None}
        return {key: parse_value(find_setting(key), value) for key, value in given.items()}


def read_typed(raw: bytes) -> str:
    """Return what came on stdin as text, and say so where it is none."""
    text = raw.decode("utf-8", "replace")
    if "\ufffd" in text and "\ufffd".encode() not in raw:
        tell(NO_TEXT)
    return text


def on_terminal() -> bool:
    """Tell whether a person sits at both ends, so that asking makes sense."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def confirm(question: str) -> bool:
    """Ask the person; False where nobody sits there or the answer is not yes."""
    if not on_terminal():
        return False
    sys.stderr.write(clean(question) + " [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def parse_moment(text: str | None, option: str, *, end_of_day: bool = False) -> datetime | None:
    """Read a local date or time in ISO form; a bare date means its beginning, or its end with `end_of_day`."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        local = moment if moment.tzinfo else moment.astimezone()
        bare = len(text.strip()) <= len("2026-11-30")
        return (local + timedelta(days=1) if bare and end_of_day else local).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"{option} takes a date such as 2026-03-31, not {text!r}.") from None


def typed_words(text: str, place: str) -> str:
    """Return what was typed at `place`, an option; raises UsageError when it is blank."""
    if not clean(text).strip():
        raise UsageError(f"{place} is blank: give it the words to look for.")
    return text


def print_json(document: object) -> None:
    """Print one JSON document."""
    from memchat.wire import json_text  # late: few commands print JSON

    sys.stdout.write(json_text(document, indent=2) + "\n")
    sys.stdout.flush()


def print_line(text: str) -> None:
    """Print one line of a result, free of control characters."""
    sys.stdout.write(clean(text) + "\n")


def tell(text: str) -> None:
    """Say something beside the result, on stderr."""
    sys.stderr.write(clean(text) + "\n")
    sys.stderr.flush()
