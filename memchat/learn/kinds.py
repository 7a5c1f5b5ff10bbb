"""What code can tell of a clause without any model: its kind, how much it matters, and how surely it is of the user."""

import re
from dataclasses import dataclass
from typing import Final

from memchat.learn.clause import Clause
from memchat.learn.language import likely_languages
from memchat.learn.lexicon import phrases, phrases_of, said, skeleton
from memchat.learn.naming import corrects, gives_name
from memchat.learn.sensitive import health_of, is_limit
from memchat.learn.shape import is_habit, is_lasting_state
from memchat.learn.statements import take_apart
from memchat.records import Kind


@dataclass(frozen=True, slots=True)
class Judgement:
    """`weight` counts what speaks for a clause being about the user's life: 3 is sure, 0 nothing, less is against."""

    kind: Kind
    importance: int
    weight: int
    weak: bool = False  # only the form of the verb or a taste speaks for it


# "I'm Bartek Wolczyk", "I'm 41": a name or an age right after the verb.
_SELF: Final = re.compile(
    r"(?i:i'm|i’m|i am|ich bin|je suis|soy|sou|eu sou|sono|io sono|ik ben|jag är|jeg er|jestem|jsem|я)\s+"
    r"(?:[A-ZÀ-ÞŁŚŻŹĆА-Я][\w'’-]+(?=\s*(?:[A-ZÀ-ÞŁŚŻŹĆА-Я]|[,.]|$))"
    r"|\d{1,3}(?=\s*(?:[,.]|$|years|jahre|ans|años|anos|anni|jaar)))"
)
_IMPORTANCE: Final = {
    Kind.CONSTRAINT: 9,
    Kind.IDENTITY: 8,
    Kind.RELATIONSHIP: 8,
    Kind.GOAL: 6,
    Kind.DECISION: 6,
    Kind.EVENT: 6,
    Kind.SKILL: 6,
    Kind.PREFERENCE: 6,
    Kind.TASK: 5,
    Kind.FACT: 5,
}
_WEIGHTS: Final = {
    Kind.CONSTRAINT: 3,
    Kind.RELATIONSHIP: 2,
    Kind.IDENTITY: 2,
    Kind.DECISION: 2,
    Kind.EVENT: 1,
    Kind.GOAL: 1,
    Kind.SKILL: 1,
    Kind.PREFERENCE: 1,
    Kind.TASK: 0,
    Kind.FACT: 0,
}


def judge_clause(clause: Clause, *, dated: bool, ahead: bool = False) -> Judgement:
    """Judge a clause by its words; `dated`: it holds a date, now absolute; `ahead`: it tells of something to come."""
    kinds = kinds_of(clause, dated=dated, ahead=ahead)
    kind = kinds[0] if kinds else Kind.FACT
    weight = max((_WEIGHTS[found] for found in kinds), default=0)
    weight += 1 if dated and (kinds or _THAT.search(skeleton(clause.text)) is None) else 0
    weight += 1 if _owns(clause) else 0
    habit = weight == 0 and _says_habit(clause)
    weight += 1 if habit else 0
    weight += 2 if health_of(clause.text, clause.language) == "own" else 0
    weight += (
        1
        if said("kinds.named", clause.plain, clause.language) or said("speech.habit", clause.plain, clause.language)
        else 0
    )
    weight += 2 if clause.introduced or clause.standing else 0
    if corrects(clause.quote):
        weight += 1
    elif _is_at_hand(clause) and kind is not Kind.CONSTRAINT and not clause.standing and not _decides(clause, kinds):
        weight -= 3
    if kind not in _STANDS_ALONE and _is_technical(clause) and not clause.standing:
        weight -= 2
    weight -= 2 if len(clause.text.split()) <= 5 and _BREAKS_OFF.search(skeleton(clause.text)) else 0
    short = len(clause.text.split()) <= 4 and kind is Kind.IDENTITY
    weight -= 2 if (kind not in _STANDS_ALONE or short) and _ends_loosely(clause) else 0
    lasting = is_lasting_state(clause.plain, clause.language) or clause.introduced or clause.standing
    weak = weight == 1 and kind in _TALKED_OF and not dated and not lasting and not _owns(clause)
    return Judgement(kind, _IMPORTANCE[kind], min(3, weight), weak)


_TALKED_OF: Final = (Kind.FACT, Kind.PREFERENCE, Kind.SKILL, Kind.GOAL)


def _is_at_hand(clause: Clause) -> bool:
    # A short clause may pass for another language: "nie" is German and Polish.
    languages = (clause.language, *likely_languages(clause.text))
    return any(said("kinds.at_hand", clause.text, language) is not None for language in dict.fromkeys(languages))


# "We did that yesterday": a day alone makes no event of what only the talk explains.
_THAT: Final = re.compile(
    r"\b(?:did|had|saw|tried|covered|discussed|said|fixed|asked|read|finished|sent) (?:this|that|it)\b|"
    r"\b(?:hatte|hatten|habe|haben|hab) "
    r"(?:ich |wir )?(?:das|es)\b|\b(?:vu|fait|dit|eu) (?:ca|cela)\b|\b(?:vimos|hicimos|hice|dije) (?:eso|"
    r"esto)\b|\b(?:abbiamo|ho) (?:fatto|visto) (?:questo|quello)\b"
)


# "My flatmate isn't": what, only the talk before tells.
_BREAKS_OFF: Final = re.compile(
    r"\b(?:isn't|aren't|doesn't|don't|didn't|wasn't|won't|does|did|is|am|are|was|too|neither|either)[.! ]*$"
)


def _decides(clause: Clause, kinds: list[Kind]) -> bool:
    """Tell whether a clause takes something up and names it: "with your idea: the boat is called Heron"."""
    return Kind.DECISION in kinds and re.search(r"(?<=\s)[A-ZÀ-ÞŁŚ][\w'’-]{2,}", clause.text) is not None


def _is_technical(clause: Clause) -> bool:
    text = phrases("kinds.not_technical").strip(clause.text)
    return said("kinds.technical", text, clause.language) is not None


# A decision may take up a suggestion: what it ends with is then filled in.
_STANDS_ALONE: Final = (Kind.IDENTITY, Kind.CONSTRAINT, Kind.RELATIONSHIP, Kind.DECISION)


def _ends_loosely(clause: Clause) -> bool:
    """Tell whether a clause ends with what only the talk before explains: "I love it"; not "I read Arabic but …"."""
    plain = skeleton(clause.text).rstrip(" .!。！")
    if clause.standing or _JOINT.search(plain) is not None:
        return False
    if clause.language == "en" and _THIS_ONE.search(plain):
        return True
    ends = (found.end() == len(plain) for found in phrases_of("speech.loose_end", clause.language).find_all(plain))
    return any(ends)


_THIS_ONE: Final = re.compile(
    r"\b(?:this|that|these|those|the same) (?!\w*day\b|year|summer|autumn|winter|spring|week|month|time|morning|"
    r"evening|house|flat|"
    r"town|city|village|country|street|age|way|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|christmas|easter)\w+$|\bso far$"
)
_JOINT: Final = re.compile(
    r"[,;:.]\s|\s(?:but|and|aber|und|mais|et|pero|y|ma|mas|e|maar|en|men|och|og|ale|a|i|"
    r"но|и)\s"
)


def kinds_of(clause: Clause, *, dated: bool, ahead: bool = False) -> list[Kind]:
    """Return the kinds that a clause has words of, the most telling first.

    Where the user has moved to and what they began to work at is who they are from then on, no passing event.
    """
    text, language = _without_adverbs(_in_plain_words(clause)), clause.language
    if clause.standing:
        return [Kind.PREFERENCE]
    found: list[Kind] = []
    if _SELF.match(clause.plain) or gives_name(clause.text):
        found.append(Kind.IDENTITY)
    if is_limit(text, language):
        found.append(Kind.CONSTRAINT)
    if said("wishes.accepts", text, language):
        found.append(Kind.DECISION)
    if not ahead and Kind.CONSTRAINT not in found and _settles(clause.plain, language):
        found.append(Kind.IDENTITY)
    if dated and said("kinds.task", text, language):
        found.append(Kind.TASK)
    if dated and said("kinds.event", text, language):
        found.append(Kind.EVENT)
    if said("people.relation", text, language):
        found.append(Kind.RELATIONSHIP)
    for kind in (Kind.DECISION, Kind.GOAL, Kind.PREFERENCE, Kind.IDENTITY, Kind.SKILL, Kind.EVENT, Kind.TASK):
        if kind not in found and said(f"kinds.{kind}", text, language):
            found.append(kind)
    return found


def _in_plain_words(clause: Clause) -> str:
    """Return the quote with its openings, or the text in plain words where it was typed in others."""
    return clause.quote if clause.plain == clause.text else clause.plain


def _settles(text: str, language: str) -> bool:
    """Tell whether a clause gives the user, and nobody else, a home, a job, a name or the like."""
    statement = take_apart(text, language)
    return bool(statement.slots & _SETTLED) and not statement.people and not statement.over


_SETTLED: Final = frozenset(("home", "name", "age", "marital", "birthday", "job"))


_ADVERBS: Final = re.compile(
    r"\b(i|we)\s+(?:(?:still|also|now|currently|usually|often|mostly|sometimes|actually|really|just|only|both|"
    r"all|already|"
    r"quite|rather|absolutely|mainly|regularly|generally|normally|once|recently|finally)\s+)+",
    re.IGNORECASE,
)


def _without_adverbs(text: str) -> str:
    """Return an English text without adverbs between "I" and its verb, which hide the verb from the word tables."""
    return _ADVERBS.sub(r"\1 ", text)


def _says_habit(clause: Clause) -> bool:
    plain = _without_adverbs(clause.plain)
    if is_habit(plain, clause.language) or is_lasting_state(plain, clause.language):
        return True
    if _NAMED_SO.match(clause.text) or _WITH_NAME.search(clause.text):
        return True
    copula = phrases_of("kinds.copula", clause.language).begins(plain)
    return copula is not None and _PLACE.match(skeleton(plain)[copula.end() :]) is None


# "My team is Hibs", "Our boiler is from 1998": a thing of one's own and what it is called or dates from.
_TALK: Final = (
    r"question|answer|point|guess|idea|problem|issue|code|function|example|script|error|reply|file|task|order|"
    r"turn|flight|train|"
    r"bus|meeting|exam|appointment|next|last|prompt|client|essay|title|input|output|frage|antwort|idee|akku|"
    r"fehler|aufgabe|zug|"
    r"termin|réponse|idée|problème|erreur|tour|exemple|pregunta|respuesta|tarea|ejemplo|turno|domanda|risposta|"
    r"esempio|"
    r"pergunta|resposta|exemplo|vraag|antwoord|voorbeeld|beurt|pytanie|odpowiedź|вопрос|ответ|пример"
)
_NAMED_SO: Final = re.compile(
    r"(?i:my|our|meine?|unsere?|mon|ma|notre|mi|nuestr[oa]|(?:il |la )?(?:mio|mia|nostr[oa])|(?:o |a )?(?:meu|"
    r"minha|noss[oa])|mijn|"
    rf"onze|ons|min|mitt|vår|vårt|mit|vores|mój|moja|moje|nasz|nasza|мой|моя|моё|наш|наша) (?!(?i:{_TALK})\b)"
    r"(?:[\w'-]+ ){1,3}?(?:is|are|was|were|ist|sind|war|est|sont|date|es|son|è|sono|é|são|zijn|är|er|to|jest|—|-) "
    r"(?:(?:a|an|the|from|in|called|plot|number|no\.?|size|von|aus|vom|de|del|di|da|van|från|fra|z|из|"
    r"с) )*(?:[A-ZÀ-ÞА-ЯŁŚŻ][\w'’-]|\d)"
)
# "our Kev", "meine Kleine, Frieda,": somebody of one's own by name.
_WITH_NAME: Final = re.compile(
    r"\b(?:[Oo]ur (?!Lord|Lady|God|Father|Excel|Python)[A-Z][a-z]+\b(?! (?:code|file|server|app|team))|"
    r"(?i:meine?|unsere?) \w+, [A-ZÄÖÜ]\w+,|"
    r"(?i:mon|ma|notre|mi|nuestr[oa]|mio|mia|meu|minha|mijn|onze|une petite|"
    r"un petit) [\w'-]+,? [A-ZÀ-Þ][a-zà-ÿ'’-]{2,})"
)
_PLACE: Final = re.compile(
    r"\s*(?:gerade|jetzt|in|im|auf|bei|beim|am|an|unterwegs|dans|sur|chez|au|aux|en|a|al|alla|nel|nella|no|na|w|"
    r"we|v|ve|pa|i|"
    r"te|bij|op|hos|under|в|на|у|في)\b"
)


def _owns(clause: Clause) -> bool:
    return phrases_of("kinds.possession", clause.language).find(_without_adverbs(clause.plain)) is not None
