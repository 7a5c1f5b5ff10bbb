"""Two facts in one sentence, parted, so that each can change alone: "I live in Porto and work as a beekeeper".

A sentence is parted only where each half says what one has one of (a home, a job, a diet …), or the second begins with
a verb of owning, doing or liking; "two cats and a dog" stays one fact.
"""

import re
from typing import Final

from memchat.learn.lexicon import phrases_of, skeleton
from memchat.learn.sensitive import is_limit

_KINDS: Final = ("home", "job", "diet", "marital", "age", "birthday")
_JOINTS: Final = {
    "en": r",? and (?:also |now |then )?|, (?=i\b)",
    "de": r",? und (?:auch )?",
    "fr": r",? et (?:aussi )?",
    "es": r",? y (?:también )?",
    "pt": r",? e (?:também )?",
    "it": r",? e (?:anche )?",
    "nl": r",? en (?:ook )?",
}
# The first words of a second half that is a statement once it has the subject of the first.
_VERBS: Final = {
    "en": "have|own|keep|play|speak|love|like|hate|drive|study|teach|has|owns|keeps|plays|speaks|loves|likes|hates",
    "de": "habe|spiele|spreche|liebe|mag|hasse|studiere|hat|spielt|spricht|liebt|hasst|studiert",
    "fr": "ai|joue|parle|aime|déteste|étudie|a",
    "es": "tengo|toco|hablo|odio|estudio|tiene|toca|habla|odia|estudia",
    "pt": "tenho|toco|falo|adoro|odeio|estudo|tem|toca|fala|adora|odeia",
    "it": "ho|suono|parlo|adoro|odio|studio|ha|suona|parla|odia",
    "nl": "heb|speel|spreek|haat|studeer|heeft|speelt|spreekt",
}


def part_facts(text: str, language: str) -> list[str]:
    """Return the facts of a sentence, each with its subject; the sentence alone where it is one fact."""
    joint = _JOINTS.get(language)
    first = _slot(text, language)
    if joint is None or first is None:
        return [text]
    for found in re.finditer(joint, skeleton(text)):
        left, right = text[: found.start()].rstrip(), text[found.end() :]
        if found.start() > first[1] and (whole := _with_subject(text[: first[1]], right, first[0], language)):
            return [left, *part_facts(whole, language)]
    return [text]


def _slot(text: str, language: str) -> tuple[str, int] | None:
    """Return the first thing that one has one of in a text and where the words that say so begin."""
    found = [(match.start(), kind) for kind in _KINDS if (match := phrases_of(f"slots.{kind}", language).find(text))]
    return (min(found)[1], min(found)[0]) if found else None


def _with_subject(subject: str, right: str, kind: str, language: str) -> str | None:
    """Return the second half as a statement of its own, None when it is none or says the same kind of thing."""
    plain = skeleton(right)
    own = _SUBJECT.match(plain) is not None
    slot = _slot(right, language)
    if (slot is not None and slot[0] == kind) or _POINTS_BACK.search(plain):
        return None
    verb = re.match(rf"(?:{_VERBS[language]})\b", plain) is not None
    begins = slot is not None and slot[1] <= (4 if own else 0)
    if not (begins or verb or is_limit(right, language)):
        return None
    subject = subject.rpartition(", ")[2]
    if verb or (slot is not None and slot[0] in ("home", "job")):
        subject = _COPULA.sub(" ", subject)
    if own or not subject.strip():
        return right[:1].upper() + right[1:]
    return f"{subject}{right}" if len(subject.split()) <= 4 else None


_SUBJECT: Final = re.compile(r"(?:i|i'm|i've|we|ich|wir|je|j'\w+|nous|eu|io|ik|wij|we)\b")
_COPULA: Final = re.compile(
    r"(?:'m|'re|'ve|\s+(?:am|are|was|were|is|have|has|bin|war|ist|suis|est|soy|es|sono|ben))\s*$"
)
_POINTS_BACK: Final = re.compile(
    r"\b(?:it|them|this|that|there|both|es|das|dort|ça|lo|los|ello|isso|ci|het|dat|daar)\b"
)
