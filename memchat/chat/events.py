"""What a turn tells whoever shows it, in the order it happens."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from memchat.records import Done, Memory, Recall


class Mode(StrEnum):
    """What the memory may do: everything, read only, or nothing at all."""

    NORMAL = "normal"
    READ_ONLY = "read-only"
    INCOGNITO = "incognito"


@dataclass(frozen=True, slots=True)
class Attachment:
    """Material beside a message; it is shown to the model and never a source of memories."""

    name: str
    content: str
    image: str = ""  # base64, where it is a picture


@dataclass(frozen=True, slots=True)
class Recalled:
    """The read path is done; the model is asked next."""

    recall: Recall


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence of the program to the user, not of the model."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A piece of the model's reasoning; never stored."""

    text: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class TurnResult:
    """A finished turn. `turn` and `session` are None in incognito; times in milliseconds."""

    turn: int | None
    session: int | None
    reply: str
    interrupted: bool
    recall: Recall
    model: str
    saved: tuple[Memory, ...] = ()
    queued: bool = False
    done: Done | None = None
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    context_used: int = 0
    context_size: int = 0


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of every turn that got as far as the model."""

    result: TurnResult


TurnEvent = Recalled | Notice | Thinking | Piece | Finished
