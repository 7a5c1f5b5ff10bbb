"""The chat layer: turns of a conversation. It knows nothing of the terminal."""

from memchat.chat.conversation import Chat, ChatOptions
from memchat.chat.events import (
    Attachment,
    Finished,
    Mode,
    Notice,
    Piece,
    Recalled,
    Thinking,
    TurnEvent,
    TurnResult,
)
from memchat.chat.window import Exchange

__all__ = [
    "Attachment",
    "Chat",
    "ChatOptions",
    "Exchange",
    "Finished",
    "Mode",
    "Notice",
    "Piece",
    "Recalled",
    "Thinking",
    "TurnEvent",
    "TurnResult",
]
