"""Files beside a message: text as text, pictures for models that see; neither is ever learnt from."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from memchat.chat.events import Attachment
from memchat.errors import UsageError
from memchat.records import ChatCard, Message
from memchat.text import clean, counted

_LARGEST_TEXT: Final = 1_000_000  # bytes
_LARGEST_PICTURE: Final = 20_000_000  # bytes
_PICTURE: Final = "(a picture)"  # what stands for it in the text of the message


def read_attachment(path: Path) -> Attachment:
    """Return a file as it goes with a message; raises UsageError when it cannot be read or is neither kind."""
    try:
        with path.open("rb") as stream:
            content = stream.read(_LARGEST_PICTURE + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {(error.strerror or 'unknown reason').lower()}.") from None
    largest = _LARGEST_PICTURE if is_picture(content) else _LARGEST_TEXT
    if len(content) > largest:
        raise UsageError(f"{path} is larger than {counted(largest, 'byte')}; attach a part of it.")
    if not is_picture(content) and b"\0" in content[:8192]:
        raise UsageError(f"{path} is neither a text file nor a picture (PNG, JPEG or WebP).")
    return as_attachment(path.name, content)


def as_attachment(name: str, content: bytes) -> Attachment:
    """Return bytes as an attachment: a picture where they are one, else text."""
    if is_picture(content):
        return Attachment(name, _PICTURE, b64encode(content).decode("ascii"))
    return Attachment(name, clean(content.decode("utf-8", "replace")))


def is_picture(content: bytes) -> bool:
    """Tell by its first bytes whether this is a picture in a format that servers read."""
    webp = content[:4] == b"RIFF" and content[8:12] == b"WEBP"
    return webp or content.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"))


def can_see(card: ChatCard) -> bool:
    """Tell whether a model takes pictures; one that tells nothing of what it can do may."""
    return not card.capabilities or "vision" in card.capabilities


def as_seen(messages: Sequence[Message], card: ChatCard) -> list[Message]:
    """Return a prompt as this model can take it: pictures shown to another one before are left out."""
    return list(messages) if can_see(card) else [replace(message, images=()) for message in messages]


def refuse_unseen(card: ChatCard) -> None:
    """Raise UsageError when a model cannot see."""
    if not can_see(card):
        raise UsageError(
            f"{card.model} cannot see pictures; answer with a model that does, "
            "for example: ollama pull gemma3:4b, then --model gemma3:4b (in the chat /model gemma3:4b)."
        )
