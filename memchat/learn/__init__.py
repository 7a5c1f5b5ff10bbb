"""The write path: what the user says of themself becomes memories; the model proposes, code disposes."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from memchat.learn.explicit import explicit_request
    from memchat.learn.options import LearnOptions
    from memchat.learn.secrets import redact_secrets
    from memchat.learn.turn import Learned, learn_turn
    from memchat.learn.wishes import approve, reject, store_explicit
    from memchat.learn.worker import Learner

__all__ = [
    "LearnOptions",
    "Learned",
    "Learner",
    "approve",
    "explicit_request",
    "learn_turn",
    "redact_secrets",
    "reject",
    "store_explicit",
]

_PARTS: Final = {
    "explicit": ("explicit_request",),
    "options": ("LearnOptions",),
    "secrets": ("redact_secrets",),
    "turn": ("Learned", "learn_turn"),
    "wishes": ("approve", "reject", "store_explicit"),
    "worker": ("Learner",),
}


def __getattr__(name: str) -> object:
    """Load a part when it is first asked for: all of them together are a fifth of the way to the prompt."""
    for module, names in _PARTS.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
