"""What asks rather than tells: questions, the statements that lead up to them, requests, and lasting wishes."""

import re
from typing import Final

from memchat.learn.datewords import date_words
from memchat.learn.lexicon import phrases, phrases_of, said, skeleton
from memchat.learn.mask import is_hypothetical
from memchat.learn.plain import spell_out
from memchat.learn.shape import is_habit, is_lasting_state
from memchat.learn.spans import Span
from memchat.learn.trim import trim_clause

# Where the speaker is named in every sentence, a clause without them is about something else.
NAMES_SPEAKER: Final = frozenset(("en", "de", "fr", "nl", "sv", "da", "ru", "uk"))
# Among them, those where often only the verb names them: "Живу один".
VERB_TELLS: Final = frozenset(("ru", "uk", "de"))


def asks(sentence: str, language: str) -> bool:
    """Tell whether a sentence is a question, by its mark or by how it begins or ends."""
    if sentence.rstrip("\"'”’»)]」』 ")[-1:] in ("?", "？", "؟") or "¿" in sentence:
        return True
    if language in ("ja", "zh", "ko", "tr"):
        ending = sentence.rstrip("。.!！ ")
        return any(found.end() == len(ending) for found in phrases_of("speech.question_end", language).find_all(ending))
    if language in _HUNG_ON and _HUNG_ON[language].search(skeleton(sentence)) is not None:
        return True
    trimmed = trim_clause(sentence, language).text
    return _begins_question(trimmed, language)


# A question hung on a statement without its mark: "im 62 and learning to swim, what stroke next".
_HUNG_ON: Final = {
    "en": re.compile(
        r"[,;–-]\s*(?:so |and |but )?(?:what(?:'s| is| are| do| can| should| shall| would| could| \w+)|"
        r"how (?:do|can|should|much|many|long|"
        r"often|to|would|is)|any (?:ideas?|tips?|advice|thoughts)|can (?:i|you|we)|should (?:i|we)|do (?:i|you|"
        r"we)|is (?:it|there)|"
        r"are there|would it|which (?!is|are|was|has|had|have|can|will|i|we|means|makes|of)\w+ \w+)\b[^,.;]*$"
    ),
    "de": re.compile(
        r"[,;–-]\s*(?:also |und )?(?:wie (?:kann|soll|mach|geht|viel|lang|lern|schlaf|ubt|oft)\w*|welche\w* \w+|"
        r"kann (?:ich|man|du)|"
        r"soll ich|muss ich|darf ich|gibt es|gibts)\b[^,.;]*$"
    ),
}


def _begins_question(text: str, language: str) -> bool:
    found = phrases_of("speech.question_start", language).begins(text)
    if found is None or _WERE.match(skeleton(text)) or _WHENEVER.match(skeleton(text)):
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


# "were off to Fife" lacks its apostrophe; "were you …" asks.
_WERE: Final = re.compile(r"were\s+(?:\w+ing|off|both|all|only|not|from|in|at|on|having|a|an)\b")


def before_question(masked: str, sentence: Span, language: str) -> list[Span]:
    """Return what a question or request is hung on: "I'm vegan, what can I cook?" has a statement, "if I …" none."""
    whole = sentence.of(masked)
    joints = _joints(whole, language)
    asking = [joint for joint in joints if _begins_question(_after_and(whole[joint.end() :]), language)]
    if not asking and not _begins_question(trim_clause(whole, language).text, language):
        asking = [joint for joint in joints if len(whole[joint.end() :].strip()) > 1][-1:]
    for joint in asking:
        head, rest = whole[: joint.start()], _after_and(whole[joint.end() :])
        if _is_no_statement(head, language) or _only_sets_question(head, rest, language):
            return []
        return [Span(sentence.start, sentence.start + joint.start())]
    return _after_question(sentence, whole, joints, language)


def after_request(masked: str, sentence: Span, language: str) -> list[Span]:
    """Return a request and the statement that gives its reason, cut apart: "don't ring me, I'm deaf"."""
    whole = sentence.of(masked)
    after = _after_question(sentence, whole, _joints(whole, language), language)
    if not after:
        return []
    request = masked[sentence.start : after[0].start].rstrip(" ,;:–—-")
    return [Span(sentence.start, sentence.start + len(request)), *after]


def _joints(whole: str, language: str) -> list[re.Match[str]]:
    joints = _JOINTS.get(language, _JOINT)
    return [joint for joint in joints.finditer(whole) if joint.start() > 2]


def _after_and(rest: str) -> str:
    return re.sub(
        r"^(?:and|so|but|then|und|also|y|et|e|ma|mais|pero|entonces|alors|dus|en|men|wie|a|i|и|а|ve|so that)\s+",
        "",
        rest.lstrip(" ¿¡"),
    )


_JOINT: Final = re.compile(
    r"\s*[,;:，；：、،…]+\s*|\s+[-–—]+\s+|\.{2,}\s*|\s*(?=¿)"
    r"|\s(?=(?:and|so|but|und|also|y|et|e|ma|dus|så|więc|так что) )"
)
# Languages that hang the question on by an ending: "…です|が、", "…있는데 ".
_JOINTS: Final = {
    "ja": re.compile(r"(?:けれども|けれど|けども|けど|ので|から|のに|し|が)?[、,]\s*|(?:けど|ので)(?=[^、。])"),
    "ko": re.compile(r"[,，]\s*|(?<=[는은인한]데)\s+|(?<=니까)\s+|(?<=[라아어해]서)\s+"),
}


def _is_no_statement(head: str, language: str) -> bool:
    """Tell whether what stands before a question is one itself, a supposition, a mere adverbial or not of the user."""
    said_plainly = spell_out(trim_clause(head, language).text, language)
    if _begins_question(said_plainly, language) or is_hypothetical(head) or is_hypothetical(said_plainly):
        return True
    if phrases_of("speech.if", language).begins(said_plainly) or starts_request(said_plainly, language):
        return True
    if phrases_of("speech.adverbial", language).begins(said_plainly) and "," not in said_plainly:
        return True
    if language not in NAMES_SPEAKER:
        return len(said_plainly) < 5
    if language in VERB_TELLS and (is_habit(said_plainly, language) or is_lasting_state(said_plainly, language)):
        return False
    return phrases_of("speech.first_person", language).find(said_plainly) is None


def _after_question(sentence: Span, whole: str, joints: list[re.Match[str]], language: str) -> list[Span]:
    """Return the statement that gives a question its reason: "which bread can I have, I'm coeliac"."""
    if language not in NAMES_SPEAKER or whole.rstrip()[-1:] in ("?", "？"):
        return []
    for joint in joints:
        rest = whole[joint.end() :]
        said_plainly = spell_out(rest, language)
        own = phrases_of("speech.subject", language).begins(said_plainly)
        if re.search(r"[,;:–—.]", joint.group()) and own is not None and len(rest.split()) > 1:
            return [Span(sentence.start + joint.end(), sentence.end)]
    return []


def _only_sets_question(head: str, rest: str, language: str) -> bool:
    """Tell whether a statement only leads up: "we have 14 apples, how many each?", "I want to bake a cake, how?"."""
    if _has_number(head, language) and phrases_of("speech.how_many", language).find(rest):
        return True
    if phrases_of("speech.wants", language).begins(trim_clause(head, language).text):
        return True
    wants = said("kinds.goal", head, language) or said("kinds.task", head, language)
    return wants is not None and phrases_of("speech.how", language).begins(rest) is not None


def _has_number(text: str, language: str) -> bool:
    words = date_words(language)
    said_so = (words.number(word) for word in re.findall(r"\w+", skeleton(text))) if words is not None else ()
    return re.search(r"\d", text) is not None or any(number is not None and number > 1 for number in said_so)


# "When you give me recipes, leave out the story."
_WHENEVER: Final = re.compile(
    r"when(?:ever)? you (?:give|answer|write|suggest|recommend|reply|explain|show|tell|send|help|list|quote|"
    r"mention|make)\b[^?]*, [^?]+$"
    r"|wenn du (?:mir )?(?:\w+ )?(?:antwortest|schreibst|vorschlagst|empfiehlst|erklarst|gibst)\b[^?]*, [^?]+$"
    r"|cuando (?:me )?(?:respondas|escribas|recomiendes|expliques|des)\b[^?]*, [^?]+$"
    r"|quand tu (?:me )?(?:reponds|ecris|recommandes|expliques|donnes)\b[^?]*, [^?]+$"
)


def begins_standing_wish(text: str, language: str) -> bool:
    """Tell whether a clause starts with "from now on" or "never" and then asks: "never use emojis"."""
    if _WHENEVER.match(skeleton(text)):
        return True
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
    if _RATHER.match(skeleton(text)):
        return False
    if begins_standing_wish(text, language):
        return True
    if ends_in_request(text):
        return True
    for code in dict.fromkeys((language, "en")):
        found = phrases_of("speech.request_start", code).begins(text)
        if found is not None and not (language != "en" and code == "en" and len(found[0]) < 5):
            return True
    # A short order may pass for another language: a long verb gives it away all the same.
    found = phrases("speech.request_start").begins(text)
    return found is not None and len(found[0]) >= 6 and language not in ("ja", "zh", "ko")


_RATHER: Final = re.compile(
    r"(?:give|gimme) me .{2,40} over (?:a|an|any|the|your|some)\b|(?:give|"
    r"gimme) me .{2,40} any day\b"
)


def ends_in_request(text: str) -> bool:
    """Tell whether a sentence ends in a request, where the verb stands last."""
    end = len(text.rstrip("。.!！ "))
    return any(found.end() >= end for found in phrases("speech.request_end").find_all(text))


def is_standing(text: str, language: str) -> bool:
    """Tell whether a request is a lasting wish for the form of answers, not one for the next reply."""
    polite = phrases_of("speech.polite", language).begins(text)
    wish = text[polite.end() :].lstrip(" ,") if polite is not None else text
    lasting = said("speech.standing", text, language) or phrases_of("speech.bare_standing", language).begins(wish)
    return lasting is not None and said("speech.once", text, language) is None
