"""What is not said of the user, or not for long: others' words, the moment, small talk, the matter at hand."""

import re
from datetime import date
from typing import Final

from memchat.learn.dates import absolute_dates
from memchat.learn.lexicon import phrases, phrases_of, said, skeleton
from memchat.text import has_unspaced_script

ANY_DAY: Final = date(2026, 1, 1)  # to see whether a clause holds a date at all


def is_reported(text: str, language: str) -> bool:
    """Tell whether a clause passes on what others say or what stands somewhere, without the user as its subject."""
    found = said("speech.reported", text, language)
    if found is None or said("speech.no_report", text, language):
        return False
    own = phrases_of("speech.subject", language).begins(text) is not None
    return not own or found[0] in phrases("speech.hearsay")


def is_momentary(text: str, language: str) -> bool:
    """Tell whether a clause holds only now: what one does this minute, how one feels, the weather."""
    if _is_standing_fact(text, language) or _IN_PLACE.match(text) or _HERE_IN.search(skeleton(text)):
        return False
    if _AT_HAND_FOOD.search(skeleton(text)) or _AT_A_PLACE.match(text):
        return True
    if phrases_of("moment.moment", language).find(text):
        return True
    happened = phrases_of("moment.happened", language).find(_GOT.sub("have", text)) is not None
    if phrases_of("moment.today", language).find(text) and not happened:
        return True
    count = len(re.findall(r"\w+", text))
    now = phrases_of("moment.progress_now", language).begins(text) is not None
    now = now or (count <= 7 and phrases_of("moment.state_now", language).begins(text) is not None)
    if now and absolute_dates(text, ANY_DAY, language).text == text:
        return phrases_of("moment.lasting_progress", language).find(text) is None and not happened
    short = len(text) <= 14 if has_unspaced_script(text) else count <= 8
    return short and not happened and _feels(text, language)


# "I'm in Tulsa." says where one lives unless it says for how long; "here in Bozen it rarely rains".
_IN_PLACE: Final = re.compile(
    r"(?i:i'm|im|i am|we're|we are) (?i:in|from|near|"
    r"outside) [A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?[.,!]?$"
)
_HERE_IN: Final = re.compile(
    r"\b(?:here|hier|aca|aqui|ici|qui|tutaj) (?:in|en|em|a|w) \w{3,}.*\b(?:rarely|"
    r"never|always|selten|nie|immer|siempre|nunca)\b"
)
_AT_A_PLACE: Final = re.compile(
    r"(?:我|人)?现?在(?!.*[开教做当住学卖读念养干])\S{1,6}[。！!.]?$"
)  # "我在候诊室": where one is, nothing done there
_AT_HAND_FOOD: Final = re.compile(
    r"\b(?:i've|i have|we've|we have|i've got|we've got)\b.*\b(?:some|half an? (?!acre|dozen|brother|sister|"
    r"share)|left(?! (?:hand|foot|ear|eye))\b|a bit of)\b.*"
    r"(?:\band\b|,|left\b)|\bich hab(?:e)? noch .*\b(?:da|ubrig)\b|\bme quedan? \b|\bil me reste\b|\bmi (?:e|"
    r"sono) rimast"
)
_GOT: Final = re.compile(r"(?<=['’ ]ve) got\b|\bgot to\b", re.IGNORECASE)  # "I've got a meeting" tells of no event


def _is_standing_fact(text: str, language: str) -> bool:
    return any(said(name, text, language) for name in ("speech.standing", "speech.habit"))


def _feels(text: str, language: str) -> bool:
    found = phrases_of("moment.feeling", language).find(text)
    if found is None:
        return False
    head = skeleton(text)[: found.start()]
    return has_unspaced_script(text) or len(re.findall(r"\w+", head)) <= 4


_CODE_LIKE: Final = re.compile(
    r"\w\(\)|\w\(\w|::|->|=>|==|!=|[\w)]\s?=\s?[\w(\"']|\\\w|[{}<>]|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*\(|\^\w|[Σ∑∫√≤≥≠∈∞±]|"
    r"\b0x[0-9a-f]+|\w\.(?:py|js|ts|java|cpp|rs|go|json|csv|html|sql|log|yml|yaml|toml|sh)\b|"
    r"[\w.-]+@[\w.-]+\.\w+|https?://|"
    r"\b(?:\w*Error|\w*Exception|stack trace|traceback|segfault|null pointer|stdout|stderr|localhost|npm|"
    r"pip install)\b"
)


def is_working_matter(text: str, language: str) -> bool:
    """Tell whether a clause is about code, formulas or an error in front of the user, and states no limit."""
    return _CODE_LIKE.search(text) is not None and said("people.limit", text, language) is None


def is_small_talk(text: str) -> bool:
    """Tell whether nothing is left of a clause when greetings, thanks, nods and "I mixed that up" are taken out."""
    said_more = phrases("wishes.takes_back").strip(text)
    rest = phrases("moment.small_talk").strip(phrases("moment.small_talk_run").strip(said_more))
    return re.search(r"\w", rest) is None
