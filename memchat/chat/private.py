"""What of a typed message may be written down: secrets and `<private>` spans are replaced before anything is."""

import re
from dataclasses import dataclass
from typing import Final

from memchat.learn.secrets import find_secrets, redact_secrets
from memchat.text import clean

_PRIVATE: Final = re.compile(r"<private>(.*?)(?:</private>|\Z)", re.IGNORECASE | re.DOTALL)
PRIVATE_MARK: Final = "[private]"
_TOLD: Final = "what you marked private and the reply to it"
SECRET_MARK: Final = "[secret: repeated]"


@dataclass(frozen=True, slots=True)
class Typed:
    """A message twice: `spoken` goes to the model, `kept` is what may be stored, searched and learnt from."""

    spoken: str
    kept: str
    secrets: tuple[str, ...]  # kinds of secrets that were replaced
    values: tuple[str, ...] = ()  # the secrets themselves
    private: bool = False  # whether something was marked as private

    @property
    def left_out(self) -> tuple[str, ...]:
        """What of the message and its reply is kept nowhere, in words."""
        return (*self.secrets, *((_TOLD,) if self.private else ()))


def separate(text: str) -> Typed:
    """Return what the model reads and what may be kept of a message."""
    text = clean(text).strip("\n")
    spoken = _PRIVATE.sub(lambda span: span.group(1), text)
    open_text, private = _PRIVATE.subn(PRIVATE_MARK, text)
    kept, secrets = redact_secrets(open_text)
    values = tuple(open_text[secret.start : secret.end] for secret in find_secrets(open_text))
    return Typed(spoken, kept, secrets, values, bool(private))


def rehearse() -> None:
    """Read a message ahead of the first one: to compile the grammar of secrets and wishes takes a fifth of a second."""
    from memchat.learn import explicit_request  # late: the prompt need not wait for it

    explicit_request(separate("Where do I live?").kept)


def kept_reply(typed: Typed, reply: str) -> str:
    """Return what may be stored of a reply: nothing when it answers something private, and no secret it repeats."""
    if typed.private:
        return PRIVATE_MARK if reply else ""
    for value in typed.values:
        reply = re.sub(re.escape(value), SECRET_MARK, reply, flags=re.IGNORECASE)
    return redact_secrets(reply)[0]
