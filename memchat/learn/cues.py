"""Cues: other words under which a memory is found as well, written by the model when the user is idle.

They are short questions that the memory answers; but where the embedder reads English only and the memory is in another
language, the one cue that counts is the memory in English.
"""

import re
from collections.abc import Sequence
from threading import Event
from typing import Final

from memchat.engine import ChatModel
from memchat.learn.datewords import date_words
from memchat.learn.guard import is_example
from memchat.learn.json_reply import Json, read_values
from memchat.learn.language import guess_language
from memchat.learn.lexicon import said, skeleton, word_table
from memchat.learn.statements import stem, stop_words
from memchat.learn.wording import CUES_SCHEMA, ENGLISH_SCHEMA, cue_messages, english_messages
from memchat.records import EmbedderCard, Memory
from memchat.text import fold, one_line

MOST: Final = 4
_LONGEST: Final = 90
_TOKENS: Final = 120
_LATIN: Final = re.compile(r"[A-Za-z]{2}")
_NUMBER: Final = re.compile(r"\d+")
_NAME: Final = re.compile(r"(?<!^)(?<![.?!] )\b[A-ZÀ-ÞА-Я][\w'-]+")
# Languages and peoples, which English writes with a capital whatever the text does.
_ENGLISH_ADJECTIVE: Final = re.compile(r"(?:ish|ese|an|ic|ch|eek|abs?|ew|indi)$")


def write_cues(model: ChatModel, text: str, card: EmbedderCard | None, stop: Event) -> tuple[str, ...]:
    """Return a memory's cues for the embedder that will read them, () when the model gives none of use.

    Raises Cancelled and EngineError from the model.
    """
    if card is None or card.languages != "english" or guess_language(text) == "en":
        return _write_questions(model, text, stop)
    reply = model.complete_json(english_messages(text), ENGLISH_SCHEMA, max_tokens=_TOKENS, stop=stop)
    english = one_line(_rendering(reply))
    return (english,) if renders(english, text) else ()


def draft_questions(model: ChatModel, memory: Memory) -> tuple[str, ...]:
    """Return questions for `eval --make`: what the user might ask that this memory answers."""
    return _write_questions(model, memory.text, Event())


def _write_questions(model: ChatModel, text: str, stop: Event) -> tuple[str, ...]:
    reply = model.complete_json(cue_messages(text), CUES_SCHEMA, max_tokens=_TOKENS, stop=stop)
    return clean_cues(_listed(reply), text)


def renders(english: str, text: str) -> bool:
    """Tell whether a sentence may be an English rendering of `text`: no number, name or negation gained or lost."""
    language = guess_language(text)
    return (
        guess_language(english) == "en"
        and _LATIN.search(english) is not None
        and fold(english) != fold(text)
        and not is_example(english)
        and set(_NUMBER.findall(english)) <= _numbers(text, language)
        and bool(said("speech.negation", text, language)) == bool(said("speech.negation", english, "en"))
        and all(_may_be_from(name, text) for name in _NAME.findall(english))
    )


def _numbers(text: str, language: str) -> set[str]:
    """Return the numbers of a text in digits, those written in words included."""
    numbers = set(_NUMBER.findall(fold(text)))
    words = date_words(language)
    if words is not None:
        said_so = (words.number(word) for word in re.findall(r"\w+", skeleton(text)))
        numbers.update(str(number) for number in said_so if number is not None)
    return numbers


def _may_be_from(name: str, text: str) -> bool:
    """Tell whether a name may be one of the text's, which English may write differently (Sevilla, Seville)."""
    if not _LATIN.search(text) or _ENGLISH_ADJECTIVE.search(name):
        return True
    plain = skeleton(name)
    months = word_table("dates")["en"]
    return plain[:3] in {word[:3] for word in re.findall(r"\w+", skeleton(text))} or any(
        plain.removesuffix("s") in skeleton(months[key]) for key in ("months", "weekdays")
    )


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
    names = [word for word in _NAME.findall(cue) if skeleton(word) not in stop_words(language)]
    numbers = _NUMBER.findall(cue)
    return all(stem(skeleton(name), language) in known for name in names) and all(number in text for number in numbers)


def _listed(reply: str) -> list[str]:
    for value in read_values(reply):
        listed: Json = value.get("cues") if isinstance(value, dict) else value
        if isinstance(listed, list):
            return [item for item in listed if isinstance(item, str)]
    return []


def _rendering(reply: str) -> str:
    for value in read_values(reply):
        english = value.get("english") if isinstance(value, dict) else None
        if isinstance(english, str):
            return english
    return ""
