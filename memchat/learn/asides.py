"""Facts that a question or a request takes for granted: "as a night nurse, when should I eat?", "for my brother Ivo".

Only forms whose words can be turned into a sentence safely; everything else in a question teaches nothing.
"""

import re
from collections.abc import Iterator
from typing import Final

from memchat.learn.lexicon import phrases_of, skeleton

_NEXT_EN: Final = r"(?:what|which|how|when|where|should|can|do|is|i)"
_NEXT_DE: Final = r"(?:was|wie|welche|kann|soll|darf|muss|brauch|hab|bin|ich)"
# What the speaker says they are, what must follow for it to be them, and the sentence made of it.
_AS: Final = {
    "en": (
        rf"\b(?:as|being) (?P<np>an? [\w -]{{3,40}}?)(?:,| (?={_NEXT_EN}\b))",
        r"\b(?:i|i'm|i've|me|my|we)\b",
        "I'm {np}.",
    ),
    "de": (
        rf"\bals (?P<np>[\w-]{{4,30}}(?: in [\w-]+)?)(?:,| (?={_NEXT_DE}))",
        r"\b(?:ich|mir|mich)\b",
        "Ich bin {np}.",
    ),
    "fr": (
        r"\ben tant qu(?:e |')(?P<np>[\w -]{4,30}?)(?:,| (?=(?:que|quel|quelle|comment|je|j')\b))",
        r"\b(?:je|j'|moi|me)\b",
        "Je suis {np}.",
    ),
    "nl": (
        r"\bals (?P<np>(?:een )?[\w-]{4,30})(?:,| (?=(?:wat|hoe|welke|kan|moet|mag|ik)\b))",
        r"\b(?:ik|mij|me)\b",
        "Ik ben {np}.",
    ),
}
# A part for the other to play, or no part at all.
_NO_PART: Final = re.compile(
    r"\b(?:expert|professional|senior|world-class|assistant|ai|consultant|critic|helpful|specialist|experte|expertin|"
    r"profi|fachmann|assistent|rule|result|whole|matter|gift|present|surprise|favou?r|last resort|start|joke|"
    r"beginner's|"
    r"example|beispiel|ersatz|geschenk|erstes|letztes|nachstes|wenn|treat|side|main|dessert|starter)\b"
)
_DIET: Final = (
    r"(?:vegan|vegetarian|pescatarian|coeliac|celiac|gluten-free|dairy-free|lactose-intolerant|"
    r"lactose intolerant|teetotal|"
    r"deaf|blind|colou?r-?blind|left-handed)"
)
_ROLE: Final = r"(?P<role>[a-z]+(?:-in-law)?(?: (?:friend|son|daughter|brother|sister))?)"
_VERB: Final = (
    r"(?:has|loves|likes|hates|turns|can't|cannot|won't|doesn't|never|only|lives|works|plays|eats|drinks|speaks|"
    r"studies|"
    r"collects)"
)
_DIET_OF: Final = re.compile(rf"\b(?P<own>my|our) (?P<diet>{_DIET}) {_ROLE}\b", re.IGNORECASE)
_WHO: Final = re.compile(
    rf"\b(?P<own>my|our) {_ROLE}(?: (?P<name>[A-ZÀ-Þ][\w'’-]+))?,? (?:who|that|she|he)(?:(?P<is>'s| is)|"
    rf" (?P<verb>{_VERB}))"
    r"(?P<rest>[^,.;?!]{2,60})"
)
_AGED: Final = re.compile(rf"\b(?P<own>my|our) (?P<age>\d{{1,2}}|[a-z]+)[- ]year[- ]old {_ROLE}?\b", re.IGNORECASE)
_ALLERGY: Final = re.compile(r"\bmy (?P<what>[a-z]+(?: [a-z]+)?) (?P<kind>allergy|intolerance)\b", re.IGNORECASE)
# "my sister Marta": possessive and role, and the sentence made of it.
_NAMED: Final = {
    "en": (r"(?P<own>my|our) (?P<role>[a-z]+(?:-in-law)?)", "{own} {role} is called {name}."),
    "de": (r"(?P<own>(?:mein|unser)(?:e|er|em|en)?) (?P<role>\w+)", "{own} {role} heißt {name}."),
    "fr": (r"(?P<own>mon|ma|notre) (?P<role>[\w-]+)", "{own} {role} s'appelle {name}."),
    "es": (r"(?P<own>mi|nuestro|nuestra) (?P<role>\w+)", "{own} {role} se llama {name}."),
    "pt": (r"(?P<own>meu|minha|nosso|nossa) (?P<role>\w+)", "{own} {role} se chama {name}."),
    "it": (r"(?P<own>mio|mia|nostro|nostra) (?P<role>\w+)", "{own} {role} si chiama {name}."),
    "nl": (r"(?P<own>mijn|m'n|onze|ons) (?P<role>\w+)", "{own} {role} heet {name}."),
    "sv": (r"(?P<own>min|mitt|vår) (?P<role>\w+)", "{own} {role} heter {name}."),
    "da": (r"(?P<own>min|mit|vores) (?P<role>\w+)", "{own} {role} hedder {name}."),
}
_NAME: Final = r" (?P<name>[A-ZÀ-ÞŁŚŻ][a-zà-ÿąćęłńśźż'’-]+)(?![\w'’])"
_CASES: Final = {"er": "e", "em": "", "en": ""}  # German endings of the possessive, with those of the nominative


def asides(text: str, language: str) -> Iterator[str]:
    """Yield what a question or request takes for granted about the user and their people, as sentences."""
    yield from _as_what(text, language)
    if language == "en":
        yield from _as_someone(text)
        yield from _of_people(text)
    yield from _names(text, language)


def _as_what(text: str, language: str) -> Iterator[str]:
    if language not in _AS:
        return
    form, own, sentence = _AS[language]
    found = re.search(form, text, re.IGNORECASE)
    if found is None or found["np"].startswith("someone") or _NO_PART.search(skeleton(found["np"])):
        return
    if re.search(own, skeleton(text[found.end() - 1 :])):
        yield sentence.format(np=found["np"].strip())


_SOMEONE: Final = re.compile(
    r"\bas someone who (?P<verb>[a-z']+) (?P<rest>[^,;?!]{2,50}?)(?:,| (?=(?:what|"
    r"which|how|when|where|should|can|do|i)\b))",
    re.I,
)
_FIRST_PERSON: Final = {"is": "am", "has": "have", "doesn't": "don't", "does": "do", "goes": "go", "isn't": "am "
    "not", "can't": "can't", "can": "can"}  # fmt: skip


def _as_someone(text: str) -> Iterator[str]:
    """Yield "I keep kosher." of "as someone who keeps kosher"."""
    for found in _SOMEONE.finditer(text):
        verb = found["verb"].lower()
        own = _FIRST_PERSON.get(verb) or re.sub(r"(?:(?<=[cs]h)es|(?<=[sx])es|s)$", "", re.sub(r"ies$", "y", verb))
        yield f"I {own} {found['rest']}."


def _of_people(text: str) -> Iterator[str]:
    for found in _DIET_OF.finditer(text):
        if _is_role(found["role"], "en"):
            yield f"{found['own'].capitalize()} {found['role']} is {found['diet']}."
    for found in _WHO.finditer(text):
        if _is_role(found["role"], "en"):
            who = " ".join(filter(None, (found["own"].capitalize(), found["role"], found["name"])))
            yield f"{who} {'is' if found['is'] else found['verb']}{found['rest'].rstrip()}."
    for found in _AGED.finditer(text):
        if found["role"] and _is_role(found["role"], "en"):
            yield f"{found['own'].capitalize()} {found['role']} is {found['age']} years old."
    for found in _ALLERGY.finditer(text):
        yield f"I have a {found['what']} {found['kind']}."


def _names(text: str, language: str) -> Iterator[str]:
    if language not in _NAMED:
        return
    form, sentence = _NAMED[language]
    for found in re.finditer(rf"(?i:\b{form}){_NAME}", text):
        if _is_role(found["role"], language):
            own = _nominative(found["own"].lower()) if language == "de" else found["own"].lower()
            yield sentence.format(own=own.capitalize(), role=found["role"], name=found["name"])


def _nominative(own: str) -> str:
    return own[:-2] + _CASES[own[-2:]] if own[-2:] in _CASES and own not in ("mein", "unser") else own


def _is_role(word: str, language: str) -> bool:
    found = phrases_of("people.relation", language).begins(word)
    return found is not None and found.end() == len(word)
