"""Cutting a message into sentences and a sentence into clauses, by position, in any script."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memchat.learn.lexicon import phrases_of, skeleton

HOLE: Final = "\ufffc"  # stands for each character that is not the user speaking for themself


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text, without the white space around it."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the stretch of `text`."""
        return text[self.start : self.end]


# A full stop does not end a sentence after an abbreviation, an initial or a number that is an ordinal ("28. Mai").
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(])(?:[A-Za-zÀ-ž]|mr|mrs|ms|dr|prof|st|vs|etc|approx|no|nr|ca|bzw|usw|ggf|inkl|evtl|tel|str|sr|sra|dott|"
    r"sig|mme|mlle|av|jan|feb|mar|apr|jun|jul|aug|sept?|oct|okt|nov|dec|dez|e\.g|i\.e|z\.b|d\.h|u\.a|p\.ej|p\.s)$",
    re.IGNORECASE,
)
_END: Final = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|[。！？｡]+[」』”）]*|[؟।۔]+|\n+")


def split_sentences(text: str) -> list[Span]:
    """Return the sentences of `text` with their closing marks, in order; a line break ends one too."""
    spans: list[Span] = []
    start = 0
    for mark in _END.finditer(text):
        if _goes_on(text, start, mark):
            continue
        spans += _trimmed(text, start, mark.end())
        start = mark.end()
    return spans + _trimmed(text, start, len(text))


def _goes_on(text: str, start: int, mark: re.Match[str]) -> bool:
    if not mark.group().startswith(".") or len(mark.group()) > 1:
        return False
    before = text[start : mark.start()]
    if _ABBREVIATION.search(before):
        return True
    if re.search(r"(?<![\d.])[0-3]?\d\.[01]?\d$", before) and re.match(r"\s+[a-zà-ÿ]", text[mark.end() :]):
        return True  # "am 14.3. ist die Prüfung"
    # "am 28. Januar": a number, a stop, then a word; "at 9. Then" starts with a capital in English as well, so the
    # number must be a possible day and the line must go on.
    return (
        re.search(r"(?<![\d.])[0-3]?\d$", before) is not None
        and re.match(r"\s+[^\W\d_]", text[mark.end() :]) is not None
    )


def _trimmed(text: str, start: int, end: int) -> list[Span]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return [Span(start, end)] if end > start else []


def split_clauses(text: str, sentence: Span, language: str) -> list[Span]:
    """Return the clauses of a sentence that can stand alone: each new one starts with the speaker ("…, and I …").

    Two clauses divided by a bare comma stay together, since the second mostly explains the first.
    """
    joints = list(_speaker_joints(text, sentence, language))
    commas = [joint for joint in joints if not joint[2]]
    if len(commas) < 2:
        joints = [joint for joint in joints if joint[2]]
    spans: list[Span] = []
    start = sentence.start
    for end, begin, _ in joints:
        spans += _trimmed(text, start, end)
        start = begin
    return spans + _trimmed(text, start, sentence.end)


def _speaker_joints(text: str, sentence: Span, language: str) -> Iterator[tuple[int, int, bool]]:
    """Yield (end of clause, start of next, strong) where the next clause starts with the first person.

    Strong joints have a conjunction, a semicolon or a dash; weak ones only a comma.
    """
    plain = skeleton(text)
    and_words = _AND.get(language, _AND["en"])
    pattern = re.compile(rf"\s*[,;，；،]\s*(?:(?:{and_words})\s+)?|\s+(?:{and_words})\s+|\s+[-–—]+\s+|[—]")
    speaker = phrases_of("speech.first_person", language)
    for joint in pattern.finditer(plain, sentence.start + 1, sentence.end):
        found = speaker.begins(text, joint.end())
        if found is None or found.end() >= sentence.end or joint.start() - sentence.start < 3:
            continue
        if _TOGETHER.match(plain, found.end()) or found[0] in _OBJECTS:
            continue  # "my granddaughter and I are …" has one subject, "… and me" none
        if _is_only_whom(text[sentence.start : joint.start()], language):
            continue  # "my husband and I run …"
        strong = re.search(r"[^\s,，،]", joint.group()) is not None
        yield joint.start(), joint.end(), strong


def _is_only_whom(head: str, language: str) -> bool:
    """Tell whether nothing but somebody stands before a joint: "my husband", "Kwame"."""
    words = head.split()
    named = len(words) == 1 and language in ("en", "de", "fr", "nl", "sv", "da")  # elsewhere it may be the verb
    return len(words) <= 3 and (named or phrases_of("speech.article", language).begins(head) is not None)


_TOGETHER: Final = re.compile(
    r"\s+(?:are|were|have been|both|share|sind|waren|beide|sommes|avons|somos|siamo|zijn|ar|er)\b"
)
_OBJECTS: Final = frozenset(("me", "moi", "mich", "mir", "uns", "us", "mim", "mij", "mig", "mnie"))
_AND: Final = {
    "en": "and also|and|plus|so|n|&",
    "de": "und|ausserdem|sowie",
    "fr": "et",
    "es": "y|e|ademas",
    "pt": "e|alem disso",
    "it": "e|ed",
    "nl": "en",
    "sv": "och",
    "da": "og",
    "fi": "ja",
    "pl": "i|a|oraz",
    "cs": "a",
    "ro": "si",
    "hu": "es",
    "ru": "и|а",
    "uk": "і|та|а",
    "el": "και",
    "tr": "ve",
    "id": "dan",
    "vi": "va",
    "ar": "و",
    "he": "ו",
    "hi": "और|तथा",
    "ja": "そして",
    "zh": "而且|并且|同时",
    "ko": "그리고",
}
