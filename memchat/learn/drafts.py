"""From a message to drafts: what might be learnt from it, in the user's own words, before any model is asked."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain
from typing import Final

from memchat.learn.acts import read_clauses
from memchat.learn.asides import asides
from memchat.learn.clause import Clause
from memchat.learn.dates import absolute_dates, looks_ahead
from memchat.learn.explicit import explicit_request, is_only_wish
from memchat.learn.kinds import Judgement, judge_clause
from memchat.learn.language import guess_language
from memchat.learn.lexicon import phrases_of, said
from memchat.learn.mask import is_hypothetical, mask
from memchat.learn.parting import part_facts
from memchat.learn.rules import Rules
from memchat.learn.secrets import has_redaction, redact_secrets
from memchat.learn.sensitive import health_of, is_limit, without_reason
from memchat.learn.spans import split_clauses, split_sentences
from memchat.learn.trim import as_sentence
from memchat.records import Kind
from memchat.text import fold, has_unspaced_script

LONGEST: Final = 160  # characters of a memory


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory that could be: the sentence, the user's words behind it, and what code thinks of it."""

    text: str
    quote: str
    language: str
    judgement: Judgement
    day: date | None = None
    explicit: bool = False
    takes_back: bool = False  # denies or ends something and says nothing new: only for the memory it ends
    accepts: bool = False  # takes up a suggestion, so the reply before may lend the content
    of_self: bool = True  # the first person is in it, or its language leaves that out and it is no mere fragment


@dataclass(frozen=True, slots=True)
class Reading:
    """A message read: its drafts in order, and why the other clauses were passed over."""

    drafts: tuple[Draft, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)
    masked: str = ""


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """What the user allows: own health without being asked, and the rules of what is never learnt.

    `month_first` is how dates are written where they live.
    """

    health: bool = False
    rules: Rules = field(default_factory=Rules)
    month_first: bool = False


def read_message(text: str, today: date, options: ReadingOptions, *, explicit: bool = False) -> Reading:
    """Return what may be learnt from `text`; `today` is the local date when it was said.

    `explicit` says that the user asked to have it remembered; such a wish is also found in the text itself.
    """
    redacted, _ = redact_secrets(text)
    masked = mask(redacted).text
    wish = explicit_request(redacted)
    dropped: Counter[str] = Counter()
    drafts: list[Draft] = []
    asked: list[str] = []
    for clause in read_clauses(masked, explicit=explicit or wish is not None):
        if wish is not None and _covers(wish, clause):
            asked.append(clause.quote)
        elif is_only_wish(clause.text):
            continue
        elif clause.dropped is not None:
            dropped[clause.dropped] += 1
            drafts += _taken_for_granted(clause, today, options, dropped)
        else:
            drafts += _draft(clause, today, options, explicit=explicit, dropped=dropped)
    if wish is not None and has_redaction(wish):
        dropped["secret"] += 1
    elif wish is not None:
        drafts += draft_wish(wish, today, options, dropped, quote=" ".join(asked))
    kept = _without_talk(_distinct(drafts, dropped), dropped)
    return Reading(kept, dict(dropped), masked)


def _taken_for_granted(clause: Clause, today: date, options: ReadingOptions, dropped: Counter[str]) -> list[Draft]:
    if clause.dropped not in ("question", "request") or is_hypothetical(clause.quote):
        return []
    drafts = []
    for text in asides(clause.quote, clause.language):
        drafts += _draft(Clause(clause.quote, text, clause.language), today, options, explicit=False, dropped=dropped)
    return drafts


def draft_wish(
    wish: str, today: date, options: ReadingOptions, dropped: Counter[str], *, quote: str = ""
) -> list[Draft]:
    """Return the draft of something the user asked to have remembered, or nothing with the reason counted."""
    clause = Clause(quote or wish, wish, guess_language(wish))
    return _draft(clause, today, options, explicit=True, dropped=dropped)


def _covers(wish: str, clause: Clause) -> bool:
    """Tell whether a clause is (part of) what the user asked to have remembered."""
    asked, said_now = _letters(wish), _letters(clause.text)
    return bool(said_now) and (said_now in asked or asked in said_now)


def _letters(text: str) -> str:
    return re.sub(r"\W", "", fold(text))


def _draft(
    clause: Clause, today: date, options: ReadingOptions, *, explicit: bool, dropped: Counter[str]
) -> list[Draft]:
    reason = _forbidden(clause, options, explicit)
    if reason is not None:
        dropped[reason] += 1
        return []
    drafts = []
    whole = without_reason(clause.text, clause.language)
    facts = [part_facts(piece, clause.language) for piece in _shortened(whole, clause.language)]
    for text in chain.from_iterable(facts):
        dated = absolute_dates(text, today, clause.language, month_first=options.month_first)
        sentence = as_sentence(dated.text)
        if len(sentence) > LONGEST or not _says_something(sentence):
            dropped["too long" if len(sentence) > LONGEST else "too short"] += 1
            continue
        ahead = dated.day > today if dated.day is not None else looks_ahead(text, clause.language)
        judgement = judge_clause(replace(clause, text=text), dated=dated.text != text, ahead=ahead)
        drafts.append(
            Draft(
                sentence,
                clause.quote,
                clause.language,
                judgement,
                dated.day,
                explicit,
                takes_back=_only_takes_back(clause),
                accepts=said("wishes.accepts", clause.text, clause.language) is not None,
                of_self=_names_self(clause),
            )
        )
    return drafts


def _forbidden(clause: Clause, options: ReadingOptions, explicit: bool) -> str | None:
    rule = options.rules.stops(clause.quote)
    if rule is not None:
        return "never_learn"
    health = health_of(clause.text, clause.language)
    if health is None or is_limit(without_reason(clause.text, clause.language), clause.language):
        return None
    if health == "other":
        return "someone else's health"
    return None if explicit or options.health else "own health"


def _shortened(text: str, language: str) -> list[str]:
    """Return the text, cut into its clauses when it is longer than a memory may be."""
    if len(text) <= LONGEST:
        return [text]
    parts: list[str] = []
    for sentence in split_sentences(text):
        for part in split_clauses(text, sentence, language):
            clause = part.of(text)
            parts += [clause] if len(clause) <= LONGEST else re.split(_LOOSE_JOINT, clause)
    return parts if len(parts) > 1 else [text]


# Where a sentence without end may be cut: "…, and my nan …, anyhow the wool …".
_LOOSE_JOINT: Final = re.compile(
    r"\s*[,;–—]\s*(?:and |und |et |y |e |en |och |i |и )?(?=(?:and|but|so|anyhow|anyway|because|which|though|"
    r"although|plus|or|except|"
    r"aber|weil|denn|also|jedenfalls|mais|donc|parce|pero|porque|así|ma|perché|quindi|mas|maar|dus|men|ale|bo|"
    r"но|потому|ama|çünkü)\b)",
    re.IGNORECASE,
)


def _says_something(text: str) -> bool:
    letters = re.sub(r"[\W_]", "", text)
    if re.search(r"\d", text):
        return len(letters) >= 4
    return len(letters) >= (3 if has_unspaced_script(text) else 6)


def _names_self(clause: Clause) -> bool:
    if has_unspaced_script(clause.text):
        return len(clause.text) > 6
    return phrases_of("speech.first_person", clause.language).find(clause.plain) is not None


def _only_takes_back(clause: Clause) -> bool:
    """Tell whether a clause only denies what was said before: "we didn't buy the canoe after all"."""
    if said("wishes.denial", clause.text, clause.language) is None:
        return False
    return said("speech.negation", clause.text, clause.language) is not None


def _distinct(drafts: list[Draft], dropped: Counter[str]) -> tuple[Draft, ...]:
    seen: dict[str, Draft] = {}
    for draft in drafts:
        key = fold(draft.text)
        if key in seen:
            dropped["said twice"] += 1
        else:
            seen[key] = draft
    return tuple(seen.values())


_MATTER: Final = 2  # clauses about something else that make a message one about a matter


def _without_talk(drafts: tuple[Draft, ...], dropped: Counter[str]) -> tuple[Draft, ...]:
    """Return the drafts, in a message about some matter without those that only their form speaks for."""
    at_hand = sum(draft.judgement.weight < 0 for draft in drafts)
    beside = sum(draft.judgement.weight == 0 for draft in drafts) + dropped["question"]
    matter = at_hand + dropped["the matter at hand"] + dropped["not about the user"]
    if matter < _MATTER and matter + beside <= _MATTER:
        return drafts
    kept = tuple(draft for draft in drafts if draft.explicit or not draft.judgement.weak)
    dropped["the matter at hand"] += len(drafts) - len(kept)
    return kept


def is_important(draft: Draft, least: int) -> bool:
    """Tell whether a draft may outlive the session; limits, and what was asked for, always do."""
    return draft.explicit or draft.judgement.kind is Kind.CONSTRAINT or draft.judgement.importance >= least
