"""A rough guess of a text's language: enough to choose tables by, never a reason to refuse anything."""

import re
from collections import Counter
from functools import cache
from typing import Final

from memchat.learn.lexicon import skeleton, word_table

_SCRIPTS: Final = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("bn", re.compile("[\u0980-\u09ff]")),
    ("ta", re.compile("[\u0b80-\u0bff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("uk", re.compile("[іїєґІЇЄҐ]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
)
_WORDS: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]*)?")


_PERSIAN: Final = re.compile("[پچژگ]|\\b(?:است|هستم|دارم|داریم|را|که|فردا|دیروز|امروز|می‌?\\w+م)\\b")


def guess_language(text: str) -> str:
    """Return the ISO 639-1 code of the likeliest language, "en" when nothing speaks for another."""
    return likely_languages(text)[0]


def likely_languages(text: str) -> list[str]:
    """Return the languages that a text may be in, the likeliest first: a short one may pass for two or three."""
    letters = len(re.findall(r"[^\W\d_]", text))
    for code, pattern in _SCRIPTS:
        if letters and len(pattern.findall(text)) * 5 >= letters:
            return ["fa" if code == "ar" and _PERSIAN.search(text) else code]
    found = Counter(word for typed in _WORDS.findall(skeleton(text)) for word in _parts(typed))
    lowered = text.lower()
    scores = {code: _score(code, found) + _marks(code, lowered) for code in _latin()}
    best = max(scores.values())
    likely = sorted(
        (code for code in scores if scores[code] >= 0.6 * best), key=lambda code: (-scores[code], code != "en")
    )
    return likely if best > scores["en"] else ["en", *(code for code in likely if code != "en")]


def _parts(word: str) -> tuple[str, ...]:
    head, apostrophe, _ = word.partition("'")
    return (word, head + apostrophe) if apostrophe else (word,)


def _score(code: str, found: Counter[str]) -> float:
    """Return the share of the words that this language claims; a word of many languages says little."""
    shares = _shares()
    return sum(shares[word] * count for word, count in found.items() if word in _vocabulary(code))


# "Trabzon'da", "İzmir'den": Turkish puts its endings to a name behind an apostrophe.
_TURKISH: Final = re.compile(
    r"\w['’](?:da|de|ta|te|dan|den|tan|ten|ya|ye|nın|nin|nun|nün|un|ın|in)\b|"
    r"\w(?:ıyorum|iyorum|uyorum|üyorum)\b"
)


def _marks(code: str, lowered: str) -> float:
    if code == "en":  # letters with accents are not English, but names have them
        return -0.5 * min(2, len(re.findall("[à-öø-ÿąćęłńśźżğışřěůčžđơư]", lowered)))
    if code == "tr" and _TURKISH.search(lowered):
        return 1.4
    letters = word_table("languages")[code].get("letters", "")
    return 0.7 * min(3, sum(1 for letter in lowered if letter in letters))


def _latin() -> list[str]:
    return [code for code in word_table("languages") if len(code) == 2]


@cache
def _vocabulary(code: str) -> frozenset[str]:
    table = word_table("languages")[code]
    common = [*table["words"].split(), *table.get("more", "").split()]
    words = set(common)
    for name in ("first_person", "negation", "question_start", "request_start"):
        row = word_table("speech")[name].get(code, "")
        words.update(skeleton(phrase) for phrase in row.split("|") if phrase and not re.search(r"[* ]", phrase))
    dates = word_table("dates").get(code, {})
    for key in ("days", "weekdays", "months", "units", "numbers"):
        words.update(word for word in _WORDS.findall(skeleton(dates.get(key, ""))) if len(word) > 2)
    return frozenset(word for word in words if len(word) > 1 or word in common)


@cache
def _shares() -> dict[str, float]:
    counts = Counter(word for code in _latin() for word in _vocabulary(code))
    return {word: 1 / count for word, count in counts.items()}
