"""What a memory's text must be before it is kept by hand: its form, and what may stand in it."""

from typing import Final

from memchat.errors import ForgottenBefore, SecretFound, UsageError
from memchat.learn.secrets import redact_secrets
from memchat.store import Store, slot_value
from memchat.text import fold, one_line, words

LONGEST_TEXT: Final = 2000  # characters; a longer one would not fit beside a message, nor an embedder's window


def tidy(text: str) -> str:
    """Return a text as it is stored: cleaned, on one line; raises UsageError when it is blank or too long."""
    line = one_line(text)
    if not fold(line):
        raise UsageError("The text of a memory cannot be blank.")
    if len(line) > LONGEST_TEXT:
        raise UsageError(f"The text has {len(line)} characters; {LONGEST_TEXT} are the most. Split it into several.")
    return line


def refuse_secret(text: str) -> None:
    """Raise SecretFound when the text has the shape of a secret."""
    _, kinds = redact_secrets(text)
    if kinds:
        raise SecretFound(f"The text looks as if it held a secret ({', '.join(kinds)}); confirm it to keep it.")


def refuse_forgotten(store: Store, text: str) -> None:
    """Raise ForgottenBefore when the user had this text forgotten, or the same thing in other words."""
    if store.has_forgotten() and store.is_forgotten(text, slot_value=value_of(text)):
        raise ForgottenBefore("You had this forgotten; it is kept again only with --allow-again.")


def value_of(text: str) -> str | None:
    """Return what a statement says in the form in which it stays forgotten: "me / home = porto"; None for most."""
    from memchat.learn.reconcile import slot_of  # late: the prompt need not wait for what compares statements

    slot = slot_of(text)
    return None if slot is None else slot_value(slot.subject, slot.attribute, slot.value)


def says_nothing_new(old: str, new: str) -> bool:
    """Tell whether every word of `new` stands in `old`, so that what was derived from `old` still holds."""
    return set(words(new)) <= set(words(old))
