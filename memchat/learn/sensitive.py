"""Health: what is never learnt, what only on request, and the limits that always are.

Own diagnoses, treatments and symptoms are learnt only when the user asks for it; those of other people never. A limit
that answers must respect (an allergy, a diet, access) is no diagnosis and always learnt.
"""

from memchat.learn.lexicon import phrases, phrases_of, said

_HEALTH = ("people.illness", "people.symptom", "people.treatment", "people.healer")


def health_of(text: str, language: str) -> str | None:
    """Return whose health a clause tells of: "own", "other", or None where it tells of nobody's."""
    if not _tells_of_health(text, language):
        return None
    return "other" if is_about_another(text, language) else "own"


def is_limit(text: str, language: str) -> bool:
    """Tell whether a clause states an allergy, a diet, a need of access or another limit that answers must respect."""
    return said("people.limit", text, language) is not None


def without_reason(text: str, language: str) -> str:
    """Return a limit without the illness given as its reason: "I can't eat sugar because of my diabetes"."""
    found = phrases_of("people.because", language).find(text)
    if found is None or not is_limit(text[: found.start()], language):
        return text
    if not _tells_of_health(text[found.start() :], language):
        return text
    return text[: found.start()].rstrip(" ,;、，")


def is_about_another(text: str, language: str) -> bool:
    """Tell whether somebody else than the user is the subject: "my neighbour …", "she …"."""
    others = (said("people.relation", text, language), phrases("people.third_person").find(text))
    other = min((found.start() for found in others if found), default=None)
    own = phrases("people.own_subject").find(text)
    return other is not None and (own is None or other < own.start())


def _tells_of_health(text: str, language: str) -> bool:
    text = phrases("people.no_illness").strip(text)
    found = [(name, said(name, text, language)) for name in _HEALTH]
    return any(hit is not None and not _is_profession(name, text[: hit.start()], language) for name, hit in found)


def _is_profession(name: str, before: str, language: str) -> bool:
    """Tell whether a healer is what somebody is, not whom they see: "I'm a psychologist"."""
    if name != "people.healer":
        return False
    leads = (phrases_of("people.profession_lead", code).find_all(before) for code in {language, "en"})
    return any(len(before[lead.end() :].split()) <= 1 for found in leads for lead in found)
