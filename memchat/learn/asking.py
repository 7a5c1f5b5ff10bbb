"""What asks rather than tells: questions, the statements that lead up to them, requests, and lasting wishes."""

import re
from typing import Final

from memchat.learn.datewords import date_words
from memchat.learn.lexicon import phrases, phrases_of, said, skeleton
from memchat.learn.mask import is_hypothetical
from memchat.learn.spans import Span
from memchat.learn.trim import trim_clause

# Where the speaker is named in every sentence, a clause without them is about something else.
NAMES_SPEAKER: Final = frozenset(("en", "de", "fr", "nl", "sv", "da", "ru", "uk"))


def asks(sentence: str, language: str) -> bool:
    """Tell whether a sentence is a question, by its mark or by how it begins or ends."""
    if sentence.rstrip("\"'”’»)]」』 ")[-1:] in ("?", "？", "؟") or "¿" in sentence:
        return True
    if language in ("ja", "zh", "ko", "tr"):
        ending = sentence.rstrip("。.!！ ")
        return any(found.end() == len(ending) for found in phrases_of("speech.question_end", language).find_all(ending))
    trimmed = trim_clause(sentence, language).text
    return _begins_question(trimmed, language)


def _begins_question(text: str, language: str) -> bool:
    found = phrases_of("speech.question_start", language).begins(text)
    if found is None:
        return False
    # "When I was twelve we moved": after the question word the subject comes at once, so it is no question.
    rest = text[found.end() :].lstrip()
    if language == "en" and re.match(r"(?:i|we|my|our)\b", skeleton(rest)):
        return (
            re.match(r"(?:am|is|are|was|were|do|did|can|could|will|would|should|shall|may|must|might)$", found[0])
            is not None
        )
    if language in ("es", "fr", "pt", "it"):
        typed = text[: found.end()].lower()
        return typed != skeleton(typed) or phrases("speech.question_words_with_accent").begins(found[0]) is None
    return True


def before_question(masked: str, sentence: Span, language: str) -> list[Span]:
    """Return the statement that leads up to a question: "I'm vegan, what can I cook?" has one."""
    whole = sentence.of(masked)
    for joint in re.finditer(r"[,;:，；：、،]\s*|\s[-–—]+\s|\s(?=(?:and|so|but|und|y|et|e) )", whole):
        rest = re.sub(r"^(?:and|so|but|und|also|y|et|e|ma|mais|pero|so that)\s+", "", whole[joint.end() :])
        head = whole[: joint.start()]
        if not _begins_question(rest, language) and not (language in ("zh", "ja", "ko") and len(head) > 4):
            continue
        if _begins_question(trim_clause(head, language).text, language) or is_hypothetical(head):
            return []
        if phrases_of("speech.if", language).begins(head):
            return []
        if phrases_of("speech.first_person", language).find(head) is None or _only_sets_question(head, rest, language):
            return []
        return [Span(sentence.start, sentence.start + joint.start())]
    return []


def _only_sets_question(head: str, rest: str, language: str) -> bool:
    """Tell whether a statement only leads up: "we have 14 apples, how many each?", "I want to bake a cake, how?"."""
    if _has_number(head, language) and phrases_of("speech.how_many", language).find(rest):
        return True
    wants = said("kinds.goal", head, language) or said("kinds.task", head, language)
    return wants is not None and phrases_of("speech.how", language).begins(rest) is not None


def _has_number(text: str, language: str) -> bool:
    words = date_words(language)
    said_so = (words.number(word) for word in re.findall(r"\w+", skeleton(text))) if words is not None else ()
    return re.search(r"\d", text) is not None or any(number is not None and number > 1 for number in said_so)


def begins_standing_wish(text: str, language: str) -> bool:
    """Tell whether a clause starts with "from now on" or "never" and then asks: "never use emojis"."""
    for code in dict.fromkeys((language, "en")):
        found = phrases_of("speech.standing", code).begins(text) or phrases_of("speech.bare_standing", code).begins(
            text
        )
        if found is not None:
            rest = text[found.end() :].lstrip(" ,")
            head = " ".join(rest.split()[:2])
            return phrases_of("speech.subject", language).find(head) is None and _no_own_verb(head, language)
    return False


def _no_own_verb(head: str, language: str) -> bool:
    # Where the verb alone says "I", the first person of the word table tells a statement from an order.
    return language in NAMES_SPEAKER or phrases_of("speech.first_person", language).begins(head) is None


_CALL_ME: Final = re.compile(
    r"\b(?:to|can|may|please|don't|do not|never|stop) call(?:ing)? me\b(?! (?:a|an|back|when|if|on|at|in)\b)"
)


def starts_request(text: str, language: str) -> bool:
    """Tell whether a clause tells the assistant to do something, once or for good."""
    if said("wishes.accepts", text, language) is not None or _CALL_ME.search(skeleton(text)) is not None:
        return False
    if begins_standing_wish(text, language):
        return True
    if any(found.end() >= len(text.rstrip("。.!！ ")) for found in phrases("speech.request_end").find_all(text)):
        return True
    for code in dict.fromkeys((language, "en")):
        found = phrases_of("speech.request_start", code).begins(text)
        if found is not None and not (language != "en" and code == "en" and len(found[0]) < 5):
            return True
    # A short order may pass for another language: a long verb gives it away all the same.
    found = phrases("speech.request_start").begins(text)
    return found is not None and len(found[0]) >= 6 and language not in ("ja", "zh", "ko")


def is_standing(text: str, language: str) -> bool:
    """Tell whether a request is a lasting wish for the form of answers, not one for the next reply."""
    polite = phrases_of("speech.polite", language).begins(text)
    wish = text[polite.end() :].lstrip(" ,") if polite is not None else text
    lasting = said("speech.standing", text, language) or phrases_of("speech.bare_standing", language).begins(wish)
    return lasting is not None and said("speech.once", text, language) is None
