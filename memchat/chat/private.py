"""What of a typed message may be written down: secrets and `<private>` spans are replaced before anything is."""

import re
from dataclasses import dataclass
from typing import Final

from memchat.learn.secrets import redact_secrets
from memchat.text import clean

_PRIVATE: Final = re.compile(r"<private>(.*?)(?:</private>|\Z)", re.IGNORECASE | re.DOTALL)
PRIVATE_MARK: Final = "[private]"


@dataclass(frozen=True, slots=True)
class Typed:
    """A message twice: `spoken` goes to the model, `kept` is what may be stored, searched and learnt from."""

    spoken: str
    kept: str
    secrets: tuple[str, ...]  # kinds of secrets that were replaced


def separate(text: str) -> Typed:
    """Return what the model reads and what may be kept of a message."""
    text = clean(text).strip("\n")
    spoken = _PRIVATE.sub(lambda span: span.group(1), text)
    kept, secrets = redact_secrets(_PRIVATE.sub(PRIVATE_MARK, text))
    return Typed(spoken, kept, secrets)
