"""The shape of a statement: a habit, a state that lasts, a thing owned; known by grammar, not by a list of occupations.

The speaker's verb in the simple present tells what they do as a rule, in every language here; the verbs that do not
(think, want, see, try …) are a short list under `kinds.no_habit`.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Final

from memchat.learn.lexicon import phrases_of, skeleton

_LONGEST: Final = 400  # characters looked at; a clause is shorter, and what is not one must not take long
_SHAPES: Final = Path(__file__).parent / "words" / "shapes.toml"


def is_habit(text: str, language: str) -> bool:
    """Tell whether a clause in plain words says what the speaker does as a rule."""
    pattern = _pattern("habit", language)
    found = pattern.match(_form("habit", text, language)) if pattern is not None else None
    if found is None:
        return False
    verb = next(group for group in found.groups() if group is not None)
    if language == "en" and verb.endswith("ed"):
        return False
    return phrases_of("kinds.no_habit", language).begins(verb) is None


def is_lasting_state(text: str, language: str) -> bool:
    """Tell whether a clause in plain words has the form of a state that lasts, or of something owned."""
    pattern = _pattern("state", language)
    return pattern is not None and pattern.search(_form("state", text, language)) is not None


def _form(shape: str, text: str, language: str) -> str:
    text = text[:_LONGEST]
    return text.lower() if language in _shapes()["marks"][shape] else skeleton(text)


@cache
def _pattern(shape: str, language: str) -> re.Pattern[str] | None:
    forms = _shapes()[shape].get(language)
    return re.compile("|".join(forms)) if forms else None


@cache
def _shapes() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(_SHAPES.read_text(encoding="utf-8"))
