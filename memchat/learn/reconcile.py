"""What a new statement does to the memories there are: nothing new, a newer value, an end, or one more memory.

Memories that are near are only looked at because of it. Numbers, dates, names, negation and whose fact it is are
compared in code; where code cannot tell, the model chooses from a closed list of relations and ids, and can only ever
have a memory superseded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Event
from typing import Final

from memchat.engine import ChatModel
from memchat.learn.compare import Comparison, Relation, compare
from memchat.learn.json_reply import read_json
from memchat.learn.language import likely_languages
from memchat.learn.statements import take_apart
from memchat.learn.wording import relation_messages, relation_schema
from memchat.recall.embed import Ahead
from memchat.records import Memory
from memchat.store import Store
from memchat.text import words

_NEAR: Final = 12  # memories looked at for each statement
_CHOICE_TOKENS: Final = 40


@dataclass(frozen=True, slots=True)
class Slot:
    """What a statement gives a value of: "me", "home", "porto"."""

    subject: str
    attribute: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The memory that says the same already, or those that the statement puts an end to."""

    same: Memory | None = None
    replaced: tuple[Memory, ...] = ()
    newer: Memory | None = None  # a memory of the same thing that was said after this statement


Choose = Callable[[str, Sequence[Memory]], tuple[Relation, Memory] | None]


def find_near(store: Store, text: str, slot: Slot | None, ahead: Ahead | None) -> list[Memory]:
    """Return the current memories that a statement may have to do with, by wording, slot, words and meaning."""
    exact = store.find_exact(text)
    ids = [exact.id] if exact is not None else []
    if slot is not None:
        ids += [memory.id for memory in store.find_slot(slot.subject, slot.attribute)]
    ids += [hit.memory for hit in store.search_vectors(ahead.vector, _NEAR)] if ahead is not None else []
    ids += [hit.memory for hit in store.search_keywords(words(text), _NEAR)]
    return store.get_memories(list(dict.fromkeys(ids))[: 2 * _NEAR])


def slot_of(text: str) -> Slot | None:
    """Return the slot that a statement fills: something one has one of, or whom of the user's people it is about."""
    statements = [take_apart(text, language) for language in likely_languages(text)]
    for statement in statements:
        slot = next(iter(sorted(statement.slots - {"job"})), None)
        if slot is not None:
            subject = " ".join(sorted(statement.people | statement.called)) or "me"
            value = " ".join(sorted(statement.names or statement.numbers or statement.times)) or None
            return Slot(subject, slot, value)
    people = sorted(statements[0].people)
    return Slot(people[0], "person", None) if len(people) == 1 else None


def reconcile(text: str, said_at: datetime, near: Sequence[Memory], choose: Choose | None = None) -> Outcome:
    """Return what a statement does to the memories near it."""
    compared = [(memory, compare(text, memory.text)) for memory in near]
    same = next((memory for memory, found in compared if found.relation is Relation.SAME and found.sure), None)
    if same is not None:
        return Outcome(same=same)
    doubtful = [memory for memory, found in compared if not found.sure]
    if choose is not None and doubtful:
        compared = _with_choice(compared, choose(text, doubtful))
    same = next((memory for memory, found in compared if found.relation is Relation.SAME), None)
    if same is not None:
        return Outcome(same=same)
    replaced = [memory for memory, found in compared if found.relation is not Relation.DIFFERENT]
    newer = max((memory for memory in replaced if memory.created_at > said_at), key=_created, default=None)
    return Outcome(replaced=tuple(m for m in replaced if m.created_at <= said_at), newer=newer)


def _created(memory: Memory) -> datetime:
    return memory.created_at


def _with_choice(
    compared: list[tuple[Memory, Comparison]], choice: tuple[Relation, Memory] | None
) -> list[tuple[Memory, Comparison]]:
    """Return the comparisons with the model's choice in the place of code's guess about that memory."""
    if choice is None:
        return compared
    relation, chosen = choice
    return [
        (memory, replace(found, relation=relation, why="the model's choice") if memory.id == chosen.id else found)
        for memory, found in compared
    ]


def chooser(model: ChatModel, stop: Event) -> Choose:
    """Return a function that has the model choose among the doubtful ones; what it invents counts as no choice."""

    def choose(text: str, doubtful: Sequence[Memory]) -> tuple[Relation, Memory] | None:
        numbered = dict(enumerate(doubtful[:5], 1))
        messages = relation_messages(text, {number: memory.text for number, memory in numbered.items()})
        reply = model.complete_json(messages, relation_schema(list(numbered)), max_tokens=_CHOICE_TOKENS, stop=stop)
        value = read_json(reply)
        if not isinstance(value, dict):
            return None
        id = value.get("id")
        memory = numbered.get(id) if isinstance(id, int) else None
        if memory is None or value.get("relation") not in ("same", "update"):
            return None
        return _allowed(text, memory, Relation(str(value["relation"])))

    return choose


def _allowed(text: str, memory: Memory, relation: Relation) -> tuple[Relation, Memory] | None:
    """Return the choice unless numbers, names or yes and no speak against it."""
    new, old = take_apart(text), take_apart(memory.text)
    if relation is Relation.SAME and (
        new.numbers != old.numbers or new.times != old.times or new.negated != old.negated
    ):
        return None
    if new.people != old.people or (new.names and old.names and new.names.isdisjoint(old.names)):
        return None
    return relation, memory
