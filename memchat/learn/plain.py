"""What a clause says in plain words: chat spellings written out, a left-out "I" put back; only to judge it by.

What is stored stays as it was typed.
"""

import re
from functools import cache, lru_cache
from typing import Final

from memchat.learn.lexicon import phrases_of, skeleton, word_table

_ADVERBS: Final = re.compile(
    r"(?:(?:just|finally|recently|already|also|now|currently|still|only|actually|so|and|then|anyway|well|but|oh|"
    r"yes|yep|no|"
    r"auch|noch|jetzt|gerade|grad|seit heute|endlich|und|also|nu|nog|ook|eindelijk|nyss|numera|nu)[ ,]+)*"
)


@lru_cache(maxsize=2048)
def spell_out(text: str, language: str) -> str:
    """Return a clause with short spellings written out and its left-out subject put back."""
    return _with_subject(_spelled(text, language), language)


def _spelled(text: str, language: str) -> str:
    known = _spellings(language)
    if known is None:
        return text
    if language == "en":
        text = _WERE.sub("we're", text)
    pattern, meant = known
    plain = skeleton(text)
    parts: list[str] = []
    end = 0
    for found in pattern.finditer(plain):
        parts += [text[end : found.start()], meant[re.sub(r"\s+", " ", found[0])]]
        end = found.end()
    return "".join((*parts, text[end:]))


_WERE: Final = re.compile(r"^were(?= (?:\w+ing|off|both|all|from|not)\b)", re.IGNORECASE)


@cache
def _spellings(language: str) -> tuple[re.Pattern[str], dict[str, str]] | None:
    row = word_table("spelling")["spelling"].get(language)
    if row is None:
        return None
    meant = {skeleton(typed): stands for typed, _, stands in (pair.partition("=") for pair in row.split("|"))}
    typed = "|".join(r"\s+".join(map(re.escape, word.split())) for word in sorted(meant, key=len, reverse=True))
    return re.compile(rf"(?<![\w'])(?:{typed})(?!\w|'(?!s\b))"), meant


def _with_subject(text: str, language: str) -> str:
    subject = _subjects(language)
    if not subject:
        return text
    adverbs = _ADVERBS.match(skeleton(text))
    start = adverbs.end() if adverbs else 0
    for place in dict.fromkeys((0, start)):
        if phrases_of("spelling.verb_alone", language).begins(text, place):
            return f"{subject['verb']}{text[place:]}"
        if "state" in subject and phrases_of("spelling.state_alone", language).begins(text, place):
            return f"{subject['state']}{text[place:]}"
    if "state" in subject and _ends_with_state(text, language):
        return f"{subject['state']}a {text[start:]}"
    return text


def _ends_with_state(text: str, language: str) -> bool:
    bare = text.rstrip(" .!")
    ends = any(found.end() == len(bare) for found in phrases_of("spelling.state_end", language).find_all(bare))
    speaks = phrases_of("speech.first_person", language).find(re.sub(r",\s*me$", "", bare, flags=re.I))
    return ends and speaks is None and len(bare.split()) <= 7 and _IS.search(skeleton(bare)) is None


_IS: Final = re.compile(
    r"\b(?:is|are|was|were|it|this|that|there|nothing|anyone|everyone|works|fine|stuck|out|up|new)\b"
)


@cache
def _subjects(language: str) -> dict[str, str]:
    row = word_table("spelling")["subject"].get(language, "")
    return dict(pair.split("=", 1) for pair in row.split("|") if pair)
