"""Cues: short questions that a memory answers, under which it is found as well; written when the user is idle."""

import re
from collections.abc import Sequence
from threading import Event
from typing import Final

from memchat.engine import ChatModel
from memchat.learn.guard import is_example
from memchat.learn.json_reply import Json, read_values
from memchat.learn.language import guess_language
from memchat.learn.lexicon import skeleton
from memchat.learn.statements import stem, stop_words
from memchat.learn.wording import CUES_SCHEMA, cue_messages
from memchat.records import Memory
from memchat.text import fold, one_line

MOST: Final = 4
_LONGEST: Final = 90
_TOKENS: Final = 120


def write_cues(model: ChatModel, text: str, stop: Event) -> tuple[str, ...]:
    """Return up to four questions that a memory answers, () when the model gives none of use.

    Raises Cancelled and EngineError from the model.
    """
    reply = model.complete_json(cue_messages(text), CUES_SCHEMA, max_tokens=_TOKENS, stop=stop)
    return clean_cues(_listed(reply), text)


def draft_questions(model: ChatModel, memory: Memory) -> tuple[str, ...]:
    """Return questions for `eval --make`: what the user might ask that this memory answers."""
    return write_cues(model, memory.text, Event())


def clean_cues(cues: Sequence[str], text: str) -> tuple[str, ...]:
    """Return the cues of use: questions, short, not the memory again, not twice, not copied from the prompt."""
    kept: dict[str, str] = {}
    for cue in map(one_line, cues):
        folded = fold(cue).rstrip("?？؟ .。")
        useful = 4 <= len(cue) <= _LONGEST and folded not in kept and folded != fold(text).rstrip(" .。")
        if useful and not is_example(cue) and _is_on_topic(cue, text):
            kept[folded] = cue if cue[-1] in "?？؟" else f"{cue.rstrip('.。')}?"
    return tuple(kept.values())[:MOST]


def _is_on_topic(cue: str, text: str) -> bool:
    """Tell whether a cue brings in no name or number that the memory does not have: those would be made up."""
    language = guess_language(text)
    known = {stem(word, language) for word in re.findall(r"[^\W_]+", skeleton(text))}
    names = [
        word
        for word in re.findall(r"(?<!^)(?<![.?!] )\b[A-ZÀ-ÞА-Я][\w'-]+", cue)
        if skeleton(word) not in stop_words(language)
    ]
    numbers = re.findall(r"\d+", cue)
    return all(stem(skeleton(name), language) in known for name in names) and all(number in text for number in numbers)


def _listed(reply: str) -> list[str]:
    for value in read_values(reply):
        listed: Json = value.get("cues") if isinstance(value, dict) else value
        if isinstance(listed, list):
            return [item for item in listed if isinstance(item, str)]
    return []
