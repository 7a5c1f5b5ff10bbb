"""The forms in which a statement stays forgotten: what it says in the words that carry weight, and the slot it fills.

Only keyed hashes of them are kept. They hold back a rewording ("I have lived in Porto for years" after "I live in
Porto" was forgotten) and let another fact about the same thing pass ("I work in Porto").
"""

from functools import cache
from typing import Final

from memchat.learn.lexicon import skeleton, word_table
from memchat.learn.reconcile import slot_of
from memchat.learn.statements import Statement, stem, take_apart
from memchat.store import slot_value
from memchat.text import fold

_TELLING: Final = frozenset(("job",))  # what a statement says by verbs too common to carry weight
LONGEST: Final = 300  # characters; a longer text says more than one thing, and takes long to take apart


def forgotten_forms(text: str) -> tuple[str, ...]:
    """Return the forms of a statement, at most two; none for a long text."""
    if len(text) > LONGEST:
        return ()
    slot = slot_of(text)
    value = slot_value(slot.subject, slot.attribute, slot.value) if slot is not None else None
    return tuple(form for form in (value, _gist(take_apart(text))) if form is not None)


def _gist(statement: Statement) -> str | None:
    words = statement.words - _weightless(statement.language)
    told = sorted(
        words
        | (statement.slots & _TELLING)
        | statement.numbers
        | {time for time in statement.times if not time.startswith("y:")}
    )
    if not words:
        return None
    turned = [name for name in ("negated", "likes", "past", "over") if getattr(statement, name)]
    return f"says {' '.join((*told, *turned))}"


@cache
def _weightless(language: str) -> frozenset[str]:
    row = word_table("weightless")["words"].get(language, "")
    return frozenset(stem(skeleton(fold(word)), language) for word in row.split("|"))
