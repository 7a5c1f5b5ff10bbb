"""Taking off what carries no content: "By the way,", "OK, final answer,", "…, put that on my list"."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from memchat.learn.lexicon import phrases, phrases_of, skeleton
from memchat.text import has_unspaced_script

_SEPARATOR: Final = re.compile(r"\s*(?:[,.:;!…，。：；！、،]|\s[-–—]\s|\.{2,})+\s*")
_NOISE: Final = re.compile(r"^[\s\"'(\[*•#>~_-]+|[\s\"')\]*~_]+$")


@dataclass(frozen=True, slots=True)
class Trimmed:
    """A clause without its openings; `introduces` when one of them announced facts about the user."""

    text: str
    introduces: bool = False


def trim_clause(quote: str, language: str) -> Trimmed:
    """Return the content of a clause: openings, an empty part before a colon and wishes to remember are taken off."""
    text, introduces = _unwrap(quote), False
    while True:
        rest, opening = _without_opening(text, language)
        if rest == text:
            break
        introduces = introduces or phrases("wishes.introduces_self").begins(opening) is not None
        text = rest
    text = _without_lead(text, language)
    return Trimmed(_without_consequence(_without_nod(_without_wish(text)), language), introduces)


def as_sentence(text: str) -> str:
    """Return a clause as it is stored: first letter large, one closing mark, on one line."""
    text = re.sub(r"\s+", " ", text).strip(" ,;:-–—，、；：")
    text = re.sub(r"[!！]+$|\.{2,}$|…$", ".", text)
    if not text:
        return ""
    dense = has_unspaced_script(text)
    if text[-1] in "!！":
        text = text[:-1] + ("。" if dense else ".")
    elif (
        text[-1].isalnum()
        or unicodedata.category(text[-1]).startswith("M")
        or text[-1] in ")%'\"”»#+*]"
        or (ord(text[-1]) > 0x2E7F and text[-1] not in "。」』）")
    ):
        text += "。" if dense else "।" if re.search("[\u0900-\u097f]", text) else "."
    return text[0].upper() + text[1:]


def _unwrap(text: str) -> str:
    text = text.strip()
    if re.fullmatch(r"\([^()]*\)[.!]?", text, re.S):
        text = text.strip("().! ")
    return _NOISE.sub("", text) if not text.endswith(")") else _NOISE.sub("", text, count=1)


def _without_opening(text: str, language: str) -> tuple[str, str]:
    for code in dict.fromkeys((language, "en")):
        found = phrases_of("wishes.opening", code).begins(text)
        if found is None or found.end() >= len(text):
            continue
        separator = _SEPARATOR.match(text, found.end())
        if separator and separator.end() < len(text):
            return text[separator.end() :], text[: found.end()]
        if _goes_straight_on(text, found.end(), found.group(), language):
            return text[found.end() :].lstrip(), text[: found.end()]
    return text, ""


def _goes_straight_on(text: str, end: int, opening: str, language: str) -> bool:
    """Tell whether an opening without a comma may go: "By the way I …", but not the "no" of "no como carne"."""
    if opening in phrases("speech.negation"):
        return False
    if has_unspaced_script(opening) or opening in phrases("wishes.adverbs"):
        return True
    return phrases_of("speech.first_person", language).begins(text, end + 1) is not None


def _without_lead(text: str, language: str) -> str:
    """Return the text after a colon when what stands before says nothing: "Wait, I told you wrong: the party is …"."""
    head, colon, rest = re.split(r"\s*([:：])\s+", text, maxsplit=1) if re.search(r"[:：]\s", text) else (text, "", "")
    if not colon or len(head.split()) > 8 or (len(rest.split()) < 2 and not has_unspaced_script(rest)):
        return text
    own = phrases_of("speech.first_person", language)
    says_nothing = head in phrases("wishes.takes_back") or head in phrases("wishes.introduces_self")
    if says_nothing or (own.begins(rest) and head not in phrases("people.limit")):
        return rest
    return text


def _without_nod(text: str) -> str:
    """Return the text without a closing "…, nice to meet you"."""
    head, comma, tail = text.rpartition(", ")
    rest = phrases("moment.small_talk").strip(skeleton(tail)) if comma else tail
    return head if comma and head and not re.search(r"\w", rest) else text


def _without_consequence(text: str, language: str) -> str:
    """Return the text without a closing "…, so tell me about ramps" or "…, so I need it smooth"."""
    for found in phrases_of("speech.so", language).find_all(text):
        head, rest = text[: found.start()].rstrip(" ,;–—-"), text[found.end() :].lstrip()
        if len(head.split()) < 3:
            continue
        asks = any(phrases_of(f"speech.{name}", language).begins(rest) for name in ("request_start", "question_start"))
        needs = phrases_of("kinds.at_hand", language).begins(rest) is not None
        if asks or needs:
            return head
    return text


def _without_wish(text: str) -> str:
    """Return the text without a closing "put that on my list" or "don't forget"."""
    for found in phrases("wishes.remember_after").find_all(text):
        head = text[: found.start()]
        ends = not re.search(r"\w", skeleton(text[found.end() :]).replace("please", "").replace("ok", ""))
        if ends and (
            re.search(r"[,.;:!，。、—–-]\s*(?:and|so|please|und|bitte|y|et|e)?\s*$", head) or has_unspaced_script(head)
        ):
            kept = re.sub(r"[\s,;:，、—–-]*(?:and|so|please|und|bitte|y|et|e|ので|から)?\s*$", "", head)
            return kept or text
    return text
