"""How a memory's text is said in the first person, which is nearer to how people ask than "The user …"."""

import re
from typing import Final

_THIRD_PERSON: Final = (
    (re.compile(r"\b(?:the user's|user's)\b", re.IGNORECASE), "my"),
    (re.compile(r"\b(?:the )?user is\b", re.IGNORECASE), "I am"),
    (re.compile(r"\b(?:the )?user has\b", re.IGNORECASE), "I have"),
    (re.compile(r"\b(?:the )?user (?:does not|doesn't)\b", re.IGNORECASE), "I do not"),
    (re.compile(r"^(?:the )?user\b", re.IGNORECASE), "I"),
    (re.compile(r"\bthe user\b", re.IGNORECASE), "me"),
    (re.compile(r"^(?:a )?(?:la usuaria|al usuario|el usuario) (?:se )?", re.IGNORECASE), ""),
    (re.compile(r"^(?:der benutzer|die benutzerin|der nutzer|die nutzerin)\b", re.IGNORECASE), "ich"),
    (re.compile(r"^l'utilisa(?:teur|trice)\b", re.IGNORECASE), "je"),
)
_SUBJECT: Final = re.compile(
    r"^(?:(?:the )?user(?:'s)?|(?:a )?la usuaria|al usuario|el usuario|der benutzer|die benutzerin|der nutzer"
    r"|die nutzerin|l'utilisateur|l'utilisatrice)\s+",
    re.IGNORECASE,
)


def as_spoken(text: str) -> str:
    """Return `text` in the first person where it speaks of "the user"; the verbs' endings stay as they are."""
    spoken = text.replace("\u2019", "'")
    for pattern, first_person in _THIRD_PERSON:
        spoken = pattern.sub(first_person, spoken)
    return spoken[:1].upper() + spoken[1:] if spoken != text else text


def without_subject(text: str) -> str:
    """Return `text` without "The user" in front and without the full stop, as a line of a list about one person.

    A text in the first person is left whole: "never work on Sundays" would read as an order.
    """
    short = _SUBJECT.sub("", text.strip().replace("\u2019", "'")).removesuffix(".")
    return short[:1].upper() + short[1:]
