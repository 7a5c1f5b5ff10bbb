"""What the user does with each sentence: states something of themself, wishes something for good, asks, requests, …

Only statements and lasting wishes can teach anything; every other clause is passed over with a named reason.
"""

import re
from dataclasses import replace
from typing import Final

from memchat.learn.asking import (
    NAMES_SPEAKER,
    VERB_TELLS,
    after_request,
    asks,
    before_question,
    begins_standing_wish,
    ends_in_request,
    is_standing,
    starts_request,
)
from memchat.learn.clause import Clause
from memchat.learn.dates import absolute_dates
from memchat.learn.irony import is_ironic
from memchat.learn.joining import answered, for_good, joined_to_theirs, whole_sentences
from memchat.learn.language import guess_language
from memchat.learn.lexicon import phrases, phrases_of, said, skeleton
from memchat.learn.mask import is_hypothetical, is_text_task
from memchat.learn.naming import corrects, gives_name
from memchat.learn.passing import ANY_DAY, is_momentary, is_reported, is_small_talk, is_working_matter
from memchat.learn.secrets import has_redaction
from memchat.learn.sensitive import is_about_another, is_limit
from memchat.learn.shape import is_habit, is_lasting_state
from memchat.learn.spans import HOLE, Span, split_clauses
from memchat.learn.trim import trim_clause


def read_clauses(masked: str, *, explicit: bool = False) -> list[Clause]:
    """Return every clause of a masked message in order, the droppable ones with their reason.

    `explicit` (the user asks to have it remembered) lets through what would otherwise lack a first person.
    """
    language = guess_language(masked.replace(HOLE, " "))
    clauses: list[Clause] = []
    introduced = False
    for sentence in whole_sentences(masked):
        local = guess_language(sentence.of(masked)) if len(sentence.of(masked)) > 25 else language
        for clause in _read_sentence(masked, sentence, local, explicit):
            introduced = introduced or clause.introduced
            clauses.append(replace(clause, introduced=introduced))
    return [_about_user(clause, explicit) for clause in joined_to_theirs(for_good(answered(clauses)))]


def _about_user(clause: Clause, explicit: bool) -> Clause:
    if clause.dropped is not None or explicit or speaks_of_self(clause) or clause.standing:
        return clause
    return replace(clause, dropped="not about the user")


def _read_sentence(masked: str, sentence: Span, language: str, explicit: bool) -> list[Clause]:
    whole = sentence.of(masked)
    if has_redaction(whole):
        return [Clause(whole, whole, language, "secret")]
    if is_ironic(whole):
        return [Clause(whole, whole, language, "irony")]
    parts = split_clauses(masked, sentence, language)
    asked = asks(whole, language)
    if not asked and starts_request(trim_clause(whole, language).text, language):
        parts = after_request(masked, sentence, language) or parts
    if asked or (ends_in_request(whole) and not is_standing(whole, language)):
        before = before_question(masked, sentence, language)
        if asked and not before:
            return [Clause(whole, whole, language, "question")]
        parts = [part for span in before for part in split_clauses(masked, span, language)] or parts
    return [clause for part in parts for clause in _read_part(masked, part, language, explicit)]


def _read_part(masked: str, part: Span, language: str, explicit: bool) -> list[Clause]:
    """Return the clause of a part; where it holds only now, the lasting half of it by itself, if it has one."""
    clause = _read_clause(part.of(masked), language, explicit)
    at_hand = clause.dropped is None and not clause.standing and said("kinds.at_hand", clause.text, language)
    if explicit or not (clause.dropped == "only now" or at_hand):
        return [clause]
    pieces = [piece for piece in _HALVES.split(clause.quote) if len(piece.split()) > 1]
    read = [_read_clause(piece, language, explicit) for piece in pieces if len(pieces) > 1]
    lasting = [piece for piece in read if piece.dropped is None and _says_lasting(piece, now=not at_hand)]
    return lasting or [clause]


_HALVES: Final = re.compile(
    r"\s*[,;]\s*(?:and |und |et |y |e |en |och |og |i |и |but |aber )?|\s+(?:and|und|et|"
    r"y|e|en|och|og|i|и|but|aber)\s+"
)


def _says_lasting(clause: Clause, *, now: bool) -> bool:
    """Tell whether a piece of a clause lasts; beside what holds `now`, a thing owned is one that is at hand."""
    if said("kinds.at_hand", clause.text, clause.language):
        return False
    if phrases_of("speech.pronoun", clause.language).begins(clause.text) is not None:
        return False
    if clause.language == "en" and phrases_of("speech.first_person", "en").find(clause.text) is None:
        return False  # "… and got a zero row"
    names = ["kinds.identity", "kinds.copula", "people.relation", "people.limit"]
    names += [] if now else ["kinds.possession"]
    if is_habit(clause.plain, clause.language) or (not now and is_lasting_state(clause.plain, clause.language)):
        return True
    return any(said(name, clause.plain, clause.language) for name in names)


def _read_clause(quote: str, language: str, explicit: bool) -> Clause:
    trimmed = trim_clause(quote, language)
    clause = Clause(quote, trimmed.text, language, introduced=trimmed.introduces)
    reason = _why_not(clause, explicit)
    if reason in (None, "request") and _NONE_EVER.match(skeleton(clause.text)):
        return replace(clause, dropped=None, standing=True)
    wished = begins_standing_wish(clause.text, language) or is_standing(clause.text, language)
    if reason == "request" and wished and said("speech.once", clause.text, language) is None:
        return replace(clause, standing=True)
    return replace(clause, dropped=reason)


_NONE_EVER: Final = re.compile(
    r"(?:no|keine?n?|pas de|plus de|nada de|sin|niente|geen) [^\W\d_][\w -]{2,40}[,.!]* (?:ever|at all|"
    r"full stop|period|please|pls|thanks|nie|mehr|bitte|"
    r"jamais|nunca|mai|nooit|alsjeblieft|por favor|s'il te plait)[.! ]*$"
)


def _why_not(clause: Clause, explicit: bool) -> str | None:
    """Return the reason why a clause teaches nothing, None when it may."""
    text, language = clause.plain, clause.language
    if HOLE in clause.quote:
        return "not the user's words"
    if is_small_talk(text) or is_small_talk(clause.text):
        return "small talk"
    if is_hypothetical(text):
        return "hypothesis"
    if is_text_task(text) and not is_standing(text, language):
        return "task on a text"
    if starts_request(text, language):
        return "request"
    if said("speech.once", text, language):
        return "only this once"
    if text in phrases("speech.speaks_of_user"):
        return "not the user's words"
    if is_reported(text, language) and not corrects(clause.quote):
        return "said by others"
    if explicit:
        return None
    if is_momentary(text, language):
        return "only now"
    return "the matter at hand" if is_working_matter(text, language) else None


_HERE: Final = re.compile(
    r"\bhere in \w{3,}|\b(?:day|practice|choir|training|class) (?:is|are) |\bof us\b|"
    r"\bover [\w ]{2,30},? any (?:day|time)\b"
)


def speaks_of_self(clause: Clause) -> bool:
    """Tell whether a clause can be about the user: in the first person, a date of theirs, or said to introduce them."""
    if clause.introduced:
        return True
    if phrases_of("speech.of_the_other", clause.language).begins(clause.plain) and not said(
        "speech.of_me_after_all", clause.plain, clause.language
    ):
        return False
    if clause.language not in NAMES_SPEAKER:
        return True
    if phrases_of("speech.first_person", clause.language).find(clause.plain):
        return True
    if corrects(clause.quote) or phrases_of("speech.own_view", clause.language).begins(clause.text):
        return True
    if clause.language == "en" and is_lasting_state(clause.plain, "en") and _HERE.search(skeleton(clause.plain)):
        return True
    if clause.language in VERB_TELLS and (
        is_habit(clause.plain, clause.language) or is_lasting_state(clause.plain, clause.language)
    ):
        return True
    if said("wishes.accepts", clause.text, clause.language) is not None or gives_name(clause.text):
        return True
    if is_limit(clause.text, clause.language) and not is_about_another(clause.text, clause.language):
        return len(clause.text.split()) <= 8  # "Allergic to penicillin here."
    if phrases_of("people.household", clause.language).begins(clause.text):
        return True
    dated = absolute_dates(clause.text, ANY_DAY, clause.language).text != clause.text
    return dated and said("moment.scheduled", clause.text, clause.language) is not None
