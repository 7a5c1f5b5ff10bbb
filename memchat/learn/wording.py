"""Every prompt and schema of the write path. Examples use made-up words, so that a copied example is known at sight."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from memchat.records import Kind, Message, Role

KINDS: Final = tuple(kind.value for kind in Kind)
# A memory that holds one of these is a copied example.
EXAMPLE_WORDS: Final = ("zelbin", "qorvane", "drufto", "plonteg")

_JUDGE: Final = (
    "Pick from the numbered sentences those that tell something lasting about the person who says them: who they are, "
    "home, family, friends, pets, work, belongings, tastes, habits, limits, skills, goals, decisions, dated plans. "
    "Do not pick problems, questions, files, code, errors, sums, remarks on the talk, wishes for the answer, doings of "
    f"the moment. Give each one you pick its kind ({', '.join(KINDS)}) and its importance from 1 to 10. Reply in JSON."
)
_PICKED: Final = '{"memories":[{"line":1,"kind":"fact","importance":5}]}'
_NONE_PICKED: Final = '{"memories":[]}'
# Turns teach a small model more than sentences about them: one that picks, one that picks nothing.
_EXAMPLES: Final = (
    ("1. My zelbin Qorvane sleeps in the barn.\n2. The second drufto still fails.", _PICKED),
    ("1. I need a drufto for tonight.", _NONE_PICKED),
)
# Stand below the sentences in question: a model that picks one of these picks anything.
KNOWN_EMPTY: Final = (
    "My drufto won't open since this morning.",
    "I liked the second zelbin better.",
    "I followed your steps but the plonteg stays red.",
)
_JUDGE_SHORT: Final = (
    "Which of these sentences tell something lasting about the person who says them? Reply with JSON only, like "
    '{"memories":[{"line":1,"kind":"fact","importance":5}]} or {"memories":[]}.'
)
JUDGE_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "line": {"type": "integer"},
                    "kind": {"type": "string", "enum": list(KINDS)},
                    "importance": {"type": "integer", "minimum": 1, "maximum": 10},
                },
                "required": ["line", "kind", "importance"],
            },
        }
    },
    "required": ["memories"],
}


def judge_messages(lines: Sequence[str], context: Sequence[Message], *, short: bool = False) -> list[Message]:
    """Return the prompt that has the model judge numbered sentences; it rides on `context` where there is one.

    `KNOWN_EMPTY` follows them, numbered on.
    """
    task = _JUDGE_SHORT if short else _JUDGE
    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate((*lines, *KNOWN_EMPTY), 1))
    if context:
        shown = "" if short else "\n\n".join(f"Example:\n{asked}\n{reply}" for asked, reply in _EXAMPLES)
        parts = ["[Not from the person: a task of the program.]", task, shown, numbered]
        return [*context, Message(Role.USER, "\n\n".join(part for part in parts if part))]
    examples = [] if short else [_turn(asked, reply) for asked, reply in _EXAMPLES]
    return [
        Message(Role.SYSTEM, task),
        *(message for turn in examples for message in turn),
        Message(Role.USER, numbered),
    ]


def _turn(asked: str, reply: str) -> tuple[Message, Message]:
    return Message(Role.USER, asked), Message(Role.ASSISTANT, reply)


_ACCEPT: Final = (
    "An assistant suggested something and the person took it up. Say in one short sentence in the first person, in the "
    "person's language and only with words of the suggestion, what the person has decided. Reply with JSON only."
)
ACCEPT_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"sentence": {"type": "string"}},
    "required": ["sentence"],
}


def accept_messages(suggestion: str, acceptance: str) -> list[Message]:
    """Return the prompt for what an acceptance of the last suggestion means."""
    return [
        Message(Role.SYSTEM, _ACCEPT),
        Message(Role.USER, f"Suggestion: {suggestion}\nThe person: {acceptance}"),
    ]


_RELATION: Final = (
    "Two statements of one person, the older ones numbered. How does the new one stand to them?\n"
    "same: it says the same as one of them\n"
    "update: it replaces one of them, both cannot be true now\n"
    "different: all can be true\n"
    'Reply with JSON only, like {"relation":"different","id":0}; id is the number of the statement that is meant.'
)


def relation_messages(new: str, older: Mapping[int, str]) -> list[Message]:
    """Return the prompt that has the model choose how a new statement stands to older ones."""
    lines = "\n".join(f"{id}. {text}" for id, text in older.items())
    return [Message(Role.SYSTEM, _RELATION), Message(Role.USER, f"{lines}\nNew: {new}")]


def relation_schema(ids: Sequence[int]) -> Mapping[str, object]:
    """Return the schema of the closed choice: one relation, one of the ids offered or 0."""
    return {
        "type": "object",
        "properties": {
            "relation": {"type": "string", "enum": ["same", "update", "different"]},
            "id": {"type": "integer", "enum": [0, *ids]},
        },
        "required": ["relation", "id"],
    }


_CUES: Final = (
    "Write 3 short questions that the person might ask their assistant later and that this note about them would help "
    "to answer: asked from their side (I, my), in the note's language, the first one without the note's own words. "
    "Reply with JSON only.\n"
    'Example note: I keep a zelbin in the barn. -> {"cues":["Which animals do I have?","What lives in my barn?",'
    '"Do I own a plonteg?"]}'
)
CUES_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"cues": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 4}},
    "required": ["cues"],
}


def cue_messages(text: str) -> list[Message]:
    """Return the prompt for the questions that a memory answers."""
    return [Message(Role.SYSTEM, _CUES), Message(Role.USER, f"Note: {text}")]


# Turns show a small model what to do better than an instruction does: told to translate, it answers in the note's
# language; shown it three times, it translates.
_ENGLISH: Final = (
    "A person told one fact about themselves, in any language. Say the same in plain English, in the first person (I, "
    "my); names, numbers and words you do not know stay as they are. Reply with JSON only."
)
_ENGLISH_EXAMPLES: Final = (
    ("La usuaria trabaja de noche y cuida zelbins.", "I work at night and look after zelbins."),
    ("Mein Bruder Qorvane isst keine Plontegs.", "My brother Qorvane does not eat plontegs."),
    ("我妹妹在Drufto当护士。", "My sister works as a nurse in Drufto."),
)
ENGLISH_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"english": {"type": "string", "maxLength": 160}},
    "required": ["english"],
}


def english_messages(text: str) -> list[Message]:
    """Return the prompt for a memory's plain English rendering."""
    messages = [Message(Role.SYSTEM, _ENGLISH)]
    for fact, english in _ENGLISH_EXAMPLES:
        messages += [
            Message(Role.USER, f"Fact: {fact}"),
            Message(Role.ASSISTANT, json.dumps({"english": english})),
        ]
    return [*messages, Message(Role.USER, f"Fact: {text}")]


# -- the plain way, to measure against

_PLAIN: Final = (
    "Extract the durable facts about the user from the exchange below: who and where they are, work, people around "
    "them, limits, preferences, decisions, goals. Leave out small talk, questions and what is true only today. Reply "
    "with JSON; an empty list when there is nothing durable."
)
PLAIN_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "kind": {"type": "string"},
                    "confidence": {"type": "number"},
                },
                "required": ["text", "kind", "confidence"],
            },
        }
    },
    "required": ["memories"],
}


def plain_messages(user: str, assistant: str) -> list[Message]:
    """Return the prompt of a memory layer without any checks: the whole exchange and a wish for facts."""
    return [Message(Role.SYSTEM, _PLAIN), Message(Role.USER, f"EXCHANGE:\nUser: {user}\nAssistant: {assistant}")]
