"""Conversations as plain text, read by who is named before each message: "User: …", "**Assistant:** …"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

_USERS: Final = frozenset({"user", "you", "you said", "me", "human"})
_OTHERS: Final = frozenset(
    {"assistant", "ai", "bot", "chatbot", "model", "llm", "gpt", "chatgpt", "claude", "gemini", "copilot", "memchat"}
) | {"system", "tool", "chatgpt said", "claude said", "gemini said"}
_NAMES: Final = "|".join(sorted(map(re.escape, _USERS | _OTHERS), key=len, reverse=True))
_TIME: Final = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?"
_SPEAKER: Final = re.compile(
    rf"\s*(?:\#{{1,6}}\s+|>\s+|[-*]\s+)?(?:[\[(]?(?P<before>{_TIME})[\])]?\s+)?(?P<bold>\*\*|__)?"
    rf"(?P<name>{_NAMES})(?:\s*[\[(](?P<after>{_TIME})[\])])?"
    r"(?(bold)(?:\s*:\s*(?P=bold)|\s*(?P=bold)\s*:?)|\s*:)(?:\s+|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """One message of a text; `by_user` is None for a speaker who is neither the user nor who answers."""

    by_user: bool | None
    text: str
    at: datetime | None


def read_spoken(text: str) -> list[SpokenLine]:
    """Return the messages of a text in which speakers are named; empty where the user is never named."""
    messages = list(_messages(text))
    return messages if any(message.by_user for message in messages) else []


def _messages(text: str) -> Iterator[SpokenLine]:
    speaker: re.Match[str] | None = None
    lines: list[str] = []
    for line in text.splitlines():
        named = _SPEAKER.match(line)
        if named is None:
            lines.append(line)
            continue
        if speaker is not None:
            yield _message(speaker, lines)
        speaker, lines = named, [line[named.end() :]]
    if speaker is not None:
        yield _message(speaker, lines)


def _message(speaker: re.Match[str], lines: list[str]) -> SpokenLine:
    name = speaker["name"].lower()
    by_user = None if name in ("system", "tool") else name in _USERS
    return SpokenLine(by_user, "\n".join(lines).strip(), _moment(speaker["before"] or speaker["after"]))


def _moment(written: str | None) -> datetime | None:
    """Return a time that is written beside a name, in UTC unless it says otherwise; a date as its noon."""
    if written is None:
        return None
    try:
        moment = datetime.fromisoformat(written if len(written) > len("2026-11-30") else f"{written}T12:00")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
