"""What the user does with each sentence: states something of themself, wishes something for good, asks, requests, …

Only statements and lasting wishes can teach anything; every other clause is passed over with a named reason.
"""

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from memchat.learn.asking import (
    NAMES_SPEAKER,
    asks,
    before_question,
    begins_standing_wish,
    ends_in_request,
    is_standing,
    starts_request,
)
from memchat.learn.dates import absolute_dates
from memchat.learn.language import guess_language
from memchat.learn.lexicon import phrases, phrases_of, said, skeleton
from memchat.learn.mask import is_hypothetical, is_text_task
from memchat.learn.plain import spell_out
from memchat.learn.secrets import has_redaction
from memchat.learn.sensitive import is_about_another, is_limit
from memchat.learn.shape import is_habit, is_lasting_state
from memchat.learn.spans import HOLE, Span, split_clauses, split_sentences
from memchat.learn.trim import trim_clause
from memchat.text import has_unspaced_script


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: `quote` as typed, `text` without empty openings, `dropped` why it teaches nothing."""

    quote: str
    text: str
    language: str
    dropped: str | None = None
    standing: bool = False  # a wish for every future answer
    introduced: bool = False  # follows "about me:" and the like, so fragments count as statements

    @property
    def plain(self) -> str:
        """The text in plain words, to judge it by."""
        return spell_out(self.text, self.language)


def read_clauses(masked: str, *, explicit: bool = False) -> list[Clause]:
    """Return every clause of a masked message in order, the droppable ones with their reason.

    `explicit` (the user asks to have it remembered) lets through what would otherwise lack a first person.
    """
    language = guess_language(masked.replace(HOLE, " "))
    clauses: list[Clause] = []
    introduced = False
    for sentence in split_sentences(masked):
        local = guess_language(sentence.of(masked)) if len(sentence.of(masked)) > 25 else language
        for clause in _read_sentence(masked, sentence, local, explicit):
            introduced = introduced or clause.introduced
            clauses.append(replace(clause, introduced=introduced))
    return [_about_user(clause, explicit) for clause in _joined(clauses)]


def _about_user(clause: Clause, explicit: bool) -> Clause:
    if clause.dropped is not None or explicit or speaks_of_self(clause) or clause.standing:
        return clause
    return replace(clause, dropped="not about the user")


def _read_sentence(masked: str, sentence: Span, language: str, explicit: bool) -> list[Clause]:
    whole = sentence.of(masked)
    if has_redaction(whole):
        return [Clause(whole, whole, language, "secret")]
    if whole in phrases("speech.irony"):
        return [Clause(whole, whole, language, "irony")]
    parts = split_clauses(masked, sentence, language)
    asked = asks(whole, language)
    if asked or (ends_in_request(whole) and not is_standing(whole, language)):
        before = before_question(masked, sentence, language)
        if asked and not before:
            return [Clause(whole, whole, language, "question")]
        parts = [part for span in before for part in split_clauses(masked, span, language)] or parts
    return [_read_clause(part.of(masked), language, explicit) for part in parts]


def _read_clause(quote: str, language: str, explicit: bool) -> Clause:
    trimmed = trim_clause(quote, language)
    clause = Clause(quote, trimmed.text, language, introduced=trimmed.introduces)
    reason = _why_not(clause, explicit)
    wished = begins_standing_wish(clause.text, language) or is_standing(clause.text, language)
    if reason == "request" and wished and said("speech.once", clause.text, language) is None:
        return replace(clause, standing=True)
    return replace(clause, dropped=reason)


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
    if is_reported(text, language):
        return "said by others"
    if explicit:
        return None
    if is_momentary(text, language):
        return "only now"
    return "the matter at hand" if is_working_matter(text, language) else None


# -- what is not said of the user, or not for long


def is_reported(text: str, language: str) -> bool:
    """Tell whether a clause passes on what others say or what stands somewhere, without the user as its subject."""
    found = said("speech.reported", text, language)
    if found is None:
        return False
    own = phrases_of("speech.subject", language).begins(text) is not None
    return not own or found[0] in phrases("speech.hearsay")


def is_momentary(text: str, language: str) -> bool:
    """Tell whether a clause holds only now: what one does this minute, how one feels, the weather."""
    if _is_standing_fact(text, language):
        return False
    if phrases_of("moment.moment", language).find(text):
        return True
    happened = phrases_of("moment.happened", language).find(text) is not None
    if phrases_of("moment.today", language).find(text) and not happened:
        return True
    count = len(re.findall(r"\w+", text))
    now = phrases_of("moment.progress_now", language).begins(text) is not None
    now = now or (count <= 7 and phrases_of("moment.state_now", language).begins(text) is not None)
    if now and absolute_dates(text, _ANY_DAY, language).text == text:
        return phrases_of("moment.lasting_progress", language).find(text) is None and not happened
    short = len(text) <= 14 if has_unspaced_script(text) else count <= 8
    return short and not happened and _feels(text, language)


def _is_standing_fact(text: str, language: str) -> bool:
    return any(said(name, text, language) for name in ("speech.standing", "speech.habit"))


def _feels(text: str, language: str) -> bool:
    found = phrases_of("moment.feeling", language).find(text)
    if found is None:
        return False
    head = skeleton(text)[: found.start()]
    return has_unspaced_script(text) or len(re.findall(r"\w+", head)) <= 4


def gives_name(text: str) -> bool:
    """Tell whether somebody only says who they are: "Lionel Ostrander here"."""
    if _NAMED_SO.match(text):
        return True
    return (
        re.match(r"(?:this is )?(?:[A-ZÀ-ÞŁŚ][\w'’-]+ ?){1,3}(?: here)?[.!]?$", text) is not None
        and "here" in text.lower()
    )


# "It's Deirdre with two e's", "and it's Bram by the way", "that should be Maren with an e".
_NAMED_SO: Final = re.compile(
    r"(?:(?i:and|oh|so|no|sorry|ps|also|actually)[, ]+)*(?i:it's|its|it is|that's|thats|i'm|im|that should be|"
    r"it should be|the name's|name's)"
    r" (?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-ZÀ-ÞŁŚ][\w'’-]+,? (?i:with (?:an?|two|no|one|double)\b|spelled|spelt|"
    r"by the way|btw|not [A-ZÀ-ÞŁŚ]|without)"
)


def speaks_of_self(clause: Clause) -> bool:
    """Tell whether a clause can be about the user: in the first person, a date of theirs, or said to introduce them."""
    if clause.introduced or clause.language not in NAMES_SPEAKER:
        return True
    if phrases_of("speech.first_person", clause.language).find(clause.plain):
        return True
    if clause.language in _VERB_TELLS and (
        is_habit(clause.plain, clause.language) or is_lasting_state(clause.plain, clause.language)
    ):
        return True
    if said("wishes.accepts", clause.text, clause.language) is not None or gives_name(clause.text):
        return True
    if is_limit(clause.text, clause.language) and not is_about_another(clause.text, clause.language):
        return len(clause.text.split()) <= 8  # "Allergic to penicillin here."
    if phrases_of("people.household", clause.language).begins(clause.text):
        return True
    dated = absolute_dates(clause.text, _ANY_DAY, clause.language).text != clause.text
    return dated and said("moment.scheduled", clause.text, clause.language) is not None


# Languages that name the speaker, but often only by the verb: "Живу один".
_VERB_TELLS: Final = frozenset(("ru", "uk", "de"))
_ANY_DAY: Final = date(2026, 1, 1)
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


# -- fragments that belong to the clause before


def _joined(clauses: list[Clause]) -> list[Clause]:
    """Return the clauses with explanations, times and "she …" sentences joined to the statement they belong to."""
    joined: list[Clause] = []
    for clause in clauses:
        if joined and _MENDS.match(skeleton(clause.quote)) and joined[-1].quote.rstrip().endswith(("...", "…")):
            joined[-1] = replace(joined[-1], dropped="taken back at once")
        before = joined[-1] if joined and joined[-1].dropped is None else None
        if before is None or clause.dropped not in (None, "only now") or not _belongs_before(clause, before):
            joined.append(clause)
            continue
        text = _join(before.text, clause)
        if len(text) > 160:
            joined.append(clause)
        else:
            joined[-1] = replace(before, quote=f"{before.quote} {clause.quote}", text=text)
    return joined


# "I'm from Graz... no wait, from Linz."
_MENDS: Final = re.compile(r"(?:no|nein|non|nao|nie|нет|wait|warte|sorry|pardon|perdon|i mean|oops|actually)\b")


def _belongs_before(clause: Clause, before: Clause) -> bool:
    count = len(re.findall(r"\w+", clause.text))
    if said("wishes.ends", before.text, clause.language) and count <= 8 and _says_now(clause):
        return True  # "I no longer work at the mill. I'm at the dairy now."
    if clause.dropped is not None:
        return False
    if said("wishes.clarifies", clause.text, clause.language) or _WHOSE.match(skeleton(clause.text)):
        return count <= 7
    if before.standing and count <= 8 and not clause.standing:
        return (
            said("speech.negation", clause.text, clause.language) is not None
        )  # the reason of a wish: "… I can't think in miles."
    accepted = phrases("wishes.accepts").begins(clause.text)
    if accepted is not None and len(clause.text) - accepted.end() < 6:
        return True
    if count <= 6 and re.match(r"(?:at |um |a las |à |alle |om |kl |o |в )?\d", skeleton(clause.text)):
        return True
    if phrases_of("speech.first_person", clause.language).find(clause.text) is not None:
        return False
    first = re.match(r"[^\W\d_][\w'-]+", clause.text)
    named = first is not None and first[0][0].isupper() and re.search(rf"(?<!^)\b{first[0]}\b", before.text)
    return _starts_with_pronoun(clause) or bool(named)


# "It's Thea, not Tea. My daughter's name."
_WHOSE: Final = re.compile(
    r"(?:my|our|mein|meine|meiner|mi|mon|ma|meu|minha|mio|mia|mijn|min|mitt|moj|moja|мой|моя)"
    r" [^\W\d_]+(?:'s)?(?: name)?[.!]?$"
)


def _says_now(clause: Clause) -> bool:
    return phrases_of("moment.now", clause.language).find(clause.text) is not None


def _starts_with_pronoun(clause: Clause) -> bool:
    return phrases_of("speech.pronoun", clause.language).begins(clause.text) is not None


def _join(before: str, clause: Clause) -> str:
    head = before.rstrip(" .!。")
    found = phrases("wishes.clarifies").find(clause.text)
    if found is None and _WHOSE.match(skeleton(clause.text)):
        return f"{head} ({clause.text[:1].lower()}{clause.text[1:].rstrip('.! ')})."
    if found is not None:
        rest = (clause.text[: found.start()] + clause.text[found.end() :]).strip(" ,.;:-–—。，")
        return f"{head} ({rest[:1].lower()}{rest[1:]})." if rest else before
    if phrases("wishes.accepts").begins(clause.text) or (before[-1:] in ".!" and clause.text[:1].isupper()):
        return f"{before.rstrip(' !')}{'' if before.endswith('.') else '.'} {clause.text}"
    if clause.text[:1].isdigit() or not _starts_with_pronoun(clause):
        return f"{head}, {clause.text}"
    space = "" if has_unspaced_script(before) else " "
    return f"{before.rstrip()}{space}{clause.text}"
