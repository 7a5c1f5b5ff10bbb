"""How long Ollama keeps a model loaded: numbers are seconds, words are durations, and the two must not be mixed up."""

import re
from typing import Final

from memchat.errors import UsageError
from memchat.text import one_line

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,9}")
_DURATION: Final = re.compile(r"[+-]?(?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:ns|us|µs|ms|s|m|h))+")
_FOREVER: Final = ("forever", "always")


def parse_keep_alive(value: str | int, origin: str = "chat.keep_alive") -> str | int:
    """Return what the server takes: whole seconds as a number (negative is for ever), "30m" as it stands.

    A text that is only a number becomes one, since the server refuses "300" and "-1". Raises UsageError.
    """
    if isinstance(value, int):
        return value
    text = value.strip().casefold()
    if text in _FOREVER:
        return -1
    if _NUMBER.fullmatch(text):
        return int(text)
    if _DURATION.fullmatch(text):
        return text
    raise UsageError(
        f'{origin} is {one_line(value)[:40]!r}: write "30m", "1h30m", 0 (unload at once) or -1 (for ever).'
    )
