"""What a memory's text must be before it is kept by hand: its form, and what may stand in it."""

from typing import Final

from memchat.errors import ForgottenBefore, SecretFound, UsageError
from memchat.learn.secrets import redact_secrets
from memchat.store import Store
from memchat.text import fold, one_line, words

_SURELY_TOO_LONG: Final = 100_000
LONGEST_TEXT: Final = 2000  # characters; a longer one would not fit beside a message, nor an embedder's window


def tidy(text: str) -> str:
    """Return a text as it is stored: cleaned, on one line; raises UsageError when it is blank or too long."""
    if len(text) > _SURELY_TOO_LONG:  # cleaning ten megabytes takes seconds
        raise _too_long(len(text))
    line = one_line(text)
    if not fold(line):
        raise UsageError("The text of a memory cannot be blank.")
    if len(line) > LONGEST_TEXT:
        raise _too_long(len(line))
    return line


def _too_long(length: int) -> UsageError:
    return UsageError(f"The text has {length} characters; {LONGEST_TEXT} are the most. Split it into several.")


def refuse_secret(text: str) -> None:
    """Raise SecretFound when the text has the shape of a secret."""
    _, kinds = redact_secrets(text)
    if kinds:
        raise SecretFound(f"The text looks as if it held a secret ({', '.join(kinds)}); --yes keeps it all the same.")


def refuse_forgotten(store: Store, text: str) -> None:
    """Raise ForgottenBefore when the user had this text forgotten, or the same thing in other words."""
    if is_forgotten(store, text):
        raise ForgottenBefore("You had this forgotten; it is kept again only with --allow-again.")


def is_forgotten(store: Store, text: str, *, evidence: str | None = None, own: str | None = None) -> bool:
    """Tell whether the user had a text forgotten, or the same thing in other words; `own` is its `slot_value`."""
    forms = forms_of(text) if store.has_forgotten_form() else ()
    return store.is_forgotten(text, evidence=evidence, forms=(*forms, own) if own else forms)


def forms_of(text: str) -> tuple[str, ...]:
    """Return the forms in which a statement stays forgotten."""
    from memchat.learn.gist import forgotten_forms  # late: it brings the grammar of many languages

    return forgotten_forms(text)


def says_nothing_new(old: str, new: str) -> bool:
    """Tell whether every word of `new` stands in `old`, so that what was derived from `old` still holds."""
    return set(words(new)) <= set(words(old))
