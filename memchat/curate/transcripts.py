"""Conversations held elsewhere, read as turns to learn from: JSON Lines, plain text, ChatGPT's and Claude's exports."""

import hashlib
import lzma
import os.path
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from memchat.curate.import_lines import BadLine, name_faults
from memchat.curate.spoken_lines import read_spoken
from memchat.errors import UsageError
from memchat.paths import read_outside
from memchat.text import clean

if TYPE_CHECKING:
    from memchat.curate.shapes import ClaudeConversation, GptConversation

Form = Literal["lines", "text", "chatgpt", "claude"]
FORMS: Final = (
    'JSON Lines of {"user","assistant","at"}, text with "User: …" and "Assistant: …" before what was said, '
    "or a ChatGPT or Claude export"
)
_DATED: Final = re.compile(rb"\[\d{4}-")
_BEGIN: Final = 4096  # bytes in which the first sign stands
_MEMBER: Final = "conversations.json"
_BIGGEST_BYTES: Final = 1 << 30
_LAST_EPOCH: Final = 7_000_000_000  # seconds; the year 2191


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
    """One exchange of another program. `key` stays the same when the file is exported again and has grown."""

    key: str
    conversation: str
    title: str | None
    user_text: str
    reply: str
    at: datetime | None  # aware, in the zone the file gives; None where it tells no time


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a file holds; `bad` are the lines (of an export: the conversations) that cannot be read."""

    form: Form
    turns: tuple[TranscriptTurn, ...]
    bad: tuple[BadLine, ...]


def read_transcript(path: Path, *, skip_bad: bool = False) -> Transcript:
    """Read a transcript or an export (also the zip it comes in); raises UsageError naming every bad line."""
    return parse_transcript(_read(path), str(path), skip_bad=skip_bad)


def parse_transcript(content: bytes, name: str, *, skip_bad: bool = False) -> Transcript:
    """Read the content of a transcript called `name`; raises UsageError naming every bad line unless `skip_bad`."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    transcript = _read_any(content, name)
    if transcript.bad and not skip_bad:
        raise UsageError(name_faults(name, transcript.bad))
    return transcript


def _read_any(content: bytes, name: str) -> Transcript:
    """Read a content by its form; a text too may begin with a bracket, around a date."""
    begin = content[:_BEGIN].lstrip()
    if begin.startswith(b"{"):
        return _read_lines(content)
    if begin.startswith(b"[") and not _DATED.match(begin):
        return _read_export(content, name)
    spoken = read_spoken(content.decode("utf-8", "replace"))
    if spoken:
        said = [_Said(line.by_user, line.text, line.at) for line in spoken if line.by_user is not None and line.text]
        return Transcript("text", tuple(_pair("", None, said)), ())
    if content.strip() and b'{"' not in content:
        raise UsageError(f"{name} is no transcript that can be read. It may be: {FORMS}.")
    return _read_lines(content)


def _read(path: Path) -> bytes:
    if os.path.isfile(path) and zipfile.is_zipfile(path):  # a pipe can be read only once
        return _read_zip(path)
    return read_outside(path)


def _read_zip(path: Path) -> bytes:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if Path(member.filename).name == _MEMBER]
            if not members or members[0].file_size > _BIGGEST_BYTES:
                raise UsageError(f"{path} holds no {_MEMBER} of a size that can be read.")
            return archive.read(members[0])
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {(error.strerror or 'unknown reason').lower()}.") from None
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError, EOFError) as error:
        raise UsageError(f"{path} cannot be unpacked: {error}.") from None


# -- plain lines


def _read_lines(content: bytes) -> Transcript:
    # pydantic is imported here since only reading transcripts needs it.
    from pydantic import ValidationError

    from memchat.curate.shapes import ExchangeLine, first_fault

    turns: list[TranscriptTurn] = []
    bad: list[BadLine] = []
    for number, raw in enumerate(content.splitlines(), 1):
        if not raw.strip():
            continue
        try:
            line = ExchangeLine.model_validate_json(raw)
        except ValidationError as error:
            bad.append(BadLine(number, first_fault(error)))
            continue
        turns += _turn(
            str(line.conversation or ""), line.title, line.user, line.assistant or "", _moment_of_date(line.at)
        )
    return Transcript("lines", tuple(turns), tuple(bad))


def _turn(conversation: str, title: str | None, user: str, reply: str, at: datetime | None) -> list[TranscriptTurn]:
    """Return the exchange as a list of one, or of none when the user said nothing."""
    user, reply = clean(user).strip(), clean(reply).strip()
    if not user:
        return []
    stamp = at.astimezone(UTC).isoformat() if at else ""
    key = hashlib.sha256("\x00".join((conversation, stamp, user, reply)).encode()).hexdigest()[:32]
    return [TranscriptTurn(key, conversation, clean(title).strip() or None if title else None, user, reply, at)]


def _moment_of_date(value: datetime | date | None) -> datetime | None:
    """Return a time with its zone; one without is taken as UTC, a date as its noon."""
    if value is None or not 1970 <= value.year <= 2190:
        return None
    if not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day, 12, tzinfo=UTC)
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value


# -- exports


def _read_export(content: bytes, name: str) -> Transcript:
    from pydantic import TypeAdapter, ValidationError

    from memchat.curate.shapes import ClaudeConversation, GptConversation, first_fault

    try:
        conversations = TypeAdapter(list[dict[str, object]]).validate_json(content)
    except ValidationError as error:
        raise UsageError(f"{name} is not an export that can be read: {first_fault(error)}.") from None
    turns: list[TranscriptTurn] = []
    bad: list[BadLine] = []
    form: Form = "claude" if any("chat_messages" in item for item in conversations) else "chatgpt"
    for number, item in enumerate(conversations, 1):
        try:
            if form == "claude":
                turns += _claude_turns(ClaudeConversation.model_validate(item, strict=False))
            else:
                turns += _gpt_turns(GptConversation.model_validate(item, strict=False))
        except ValidationError as error:
            bad.append(BadLine(number, f"conversation {number}: {first_fault(error)}"))
    return Transcript(form, tuple(turns), tuple(bad))


@dataclass(frozen=True, slots=True)
class _Said:
    """One message of an export."""

    by_user: bool
    text: str
    at: datetime | None


def _pair(conversation: str, title: str | None, messages: Iterable[_Said]) -> Iterator[TranscriptTurn]:
    """Yield exchanges: what the user said up to an answer, and the answer up to the user's next words."""
    said: list[str] = []
    replies: list[str] = []
    at: datetime | None = None
    for message in messages:
        if message.by_user and replies:
            yield from _turn(conversation, title, "\n\n".join(said), "\n\n".join(replies), at)
            said, replies, at = [], [], None
        at = at or (message.at if message.by_user else None)
        (said if message.by_user else replies).append(message.text)
    yield from _turn(conversation, title, "\n\n".join(said), "\n\n".join(replies), at)


def _gpt_turns(talk: "GptConversation") -> Iterator[TranscriptTurn]:
    messages: list[_Said] = []
    for message in talk.shown_branch():
        role = message.author.role
        # A recipient other than "all" is a call to a tool, not something said to the user.
        if role not in ("user", "assistant") or message.recipient not in (None, "all") or not message.content:
            continue
        if message.content.content_type not in ("text", "multimodal_text"):
            continue
        text = "\n\n".join(part for part in message.content.parts if isinstance(part, str) and part.strip())
        if text:
            messages.append(_Said(role == "user", text, _epoch(message.create_time or talk.create_time)))
    return _pair(talk.conversation_id or talk.id or _epoch_name(talk.create_time), talk.title, messages)


def _claude_turns(talk: "ClaudeConversation") -> Iterator[TranscriptTurn]:
    messages = [
        _Said(message.sender == "human", message.said(), _moment_of_date(message.created_at or talk.created_at))
        for message in talk.chat_messages
        if message.said().strip()
    ]
    return _pair(talk.uuid or "", talk.name, messages)


def _epoch(seconds: float | None) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds is not None and 0 < seconds < _LAST_EPOCH else None


def _epoch_name(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.3f}"
