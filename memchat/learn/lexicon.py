"""Finding words and phrases of many languages in a text without moving its characters."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from memchat.text import has_unspaced_script

_PLAIN: Final = {"’": "'", "‘": "'", "ʼ": "'", "´": "'", "`": "'", "“": '"', "”": '"', "„": '"', "–": "-", "—": "-"}
_ARABIC: Final = {"أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه"}
_WORDS: Final = Path(__file__).parent / "words"
_HANGUL: Final = re.compile("[\uac00-\ud7af]")


class _Skeletons(dict[int, str]):
    """Character to comparison form, always one character for one, worked out when first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = _PLAIN.get(character) or _ARABIC.get(character) or _without_accent(character)
        self[code] = plain if len(plain) == 1 else character
        return self[code]


def _without_accent(character: str) -> str:
    # Beyond Latin, Greek and Cyrillic a mark changes the letter itself (が is not か), so it stays.
    if ord(character) < 0x0530 or 0x1E00 <= ord(character) < 0x2000:
        parts = unicodedata.normalize("NFD", character)
        character = "".join(part for part in parts if not unicodedata.combining(part)) or character
    return character.lower()


_SKELETONS: Final = _Skeletons()


def skeleton(text: str) -> str:
    """Return `text` lower-cased and without accents, character for character, so that positions stay."""
    return text.translate(_SKELETONS)


class Phrases:
    """A set of phrases, compiled when first used; the notation is told at the top of the files in `words`."""

    def __init__(self, rows: Iterable[str]) -> None:
        self._rows = tuple(rows)

    @cached_property
    def pattern(self) -> str:
        """The regular expression that finds the longest phrase in a skeleton."""
        phrases = {skeleton(phrase.strip()) for row in self._rows for phrase in row.split("|") if phrase.strip()}
        if not phrases:
            return r"(?!)"  # an empty alternative would match everywhere
        groups: dict[str, list[str]] = {}
        for phrase in sorted(phrases, key=lambda phrase: (-len(phrase), phrase)):
            before, body = _to_pattern(phrase)
            groups.setdefault(before, []).append(body)
        return "(?:" + "|".join(f"{before}(?:{'|'.join(bodies)})" for before, bodies in groups.items()) + ")"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def find(self, text: str, start: int = 0) -> re.Match[str] | None:
        """Return the first match in `text` from `start` on."""
        return self._compiled.search(skeleton(text), start)

    def find_all(self, text: str) -> Iterator[re.Match[str]]:
        """Yield every match."""
        return self._compiled.finditer(skeleton(text))

    def begins(self, text: str, start: int = 0) -> re.Match[str] | None:
        """Return the match that stands at `start`."""
        return self._compiled.match(skeleton(text), start)

    def strip(self, text: str) -> str:
        """Return the skeleton of `text` with every match blanked."""
        return self._compiled.sub(" ", skeleton(text))

    def __contains__(self, text: str) -> bool:
        return self.find(text) is not None


@cache
def phrases(name: str) -> Phrases:
    """Return the phrases of all languages under "file.section" of the word files."""
    return Phrases(_section(name).values())


@cache
def phrases_of(name: str, language: str) -> Phrases:
    """Return the phrases of one language under "file.section"; finds nothing where there are none."""
    section = _section(name)
    row = section.get(language, "")
    if language in _COMPOUNDING and name in _COMPOUNDED:
        row = "|".join(f"*{word}" if len(word) > 5 and " " not in word else word for word in row.split("|"))
    return Phrases([row, section.get("xx", "")])


# Languages that join nouns: what is sought may be the end of a longer word ("Blutdrucktabletten").
_COMPOUNDING: Final = frozenset(("de", "nl", "sv", "da", "fi", "hu"))
_COMPOUNDED: Final = frozenset(("people.illness", "people.symptom", "people.treatment"))


def said(name: str, text: str, language: str) -> re.Match[str] | None:
    """Return the first phrase under `name` in the text's own language, or else in English."""
    found = phrases_of(name, language).find(text)
    return found if found is not None or language == "en" else phrases_of(name, "en").find(text)


@cache
def word_table(file: str) -> dict[str, dict[str, str]]:
    """Return a file of `words` as it stands there: section, language or key, text."""
    return tomllib.loads((_WORDS / f"{file}.toml").read_text(encoding="utf-8"))


def _section(name: str) -> dict[str, str]:
    file, _, section = name.partition(".")
    return word_table(file)[section]


# Quick typing leaves apostrophes out: "im", "ive", "dont", "thats"; not where another word would come of it ("well").
_APOSTROPHE: Final = re.compile(
    r"\b(i)'(m|ve)\b|(n)'(t)\b|\b(we)'(ve)\b|\b(you|they)'(re)\b|\b(he|she|that|what|there|here|let)'(s)\b"
)


def _to_pattern(phrase: str) -> tuple[str, str]:
    """Return what must stand before a phrase and the pattern of the phrase itself."""
    open_start, open_end = phrase.startswith("*"), phrase.endswith("*")
    inner = phrase.strip("*")
    body = r"[\s-]+".join(r"\S+(?:\s+\S+){0,2}?" if word == "*" else re.escape(word) for word in inner.split())
    body = _APOSTROPHE.sub(lambda found: "'?".join(filter(None, found.groups())), body)
    if has_unspaced_script(inner):
        return "", body
    if _HANGUL.search(inner):
        return r"(?<!\w)", body  # particles are joined to the word
    # Arabic and Hebrew write "and" as a prefix of the word.
    before = "" if open_start else r"(?<!\w)(?:[وו](?=[\u0590-\u06ff]))?"
    return before, body + (r"\w*" if open_end else r"(?!\w|'t\b)")
