"""What a model proposes, held against what the user typed; every refusal has a name.

Pure functions: the evidence must stand in the message, its words must carry the sentence, and yes stays yes.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from memchat.learn.drafts import LONGEST, Draft, Reading
from memchat.learn.kinds import Judgement
from memchat.learn.language import guess_language
from memchat.learn.lexicon import phrases, phrases_of, skeleton
from memchat.learn.spans import HOLE
from memchat.learn.statements import stem, stop_words, take_apart
from memchat.learn.trim import as_sentence
from memchat.learn.wording import EXAMPLE_WORDS, KINDS
from memchat.records import Kind
from memchat.text import fold, has_unspaced_script, one_line


@dataclass(frozen=True, slots=True)
class Proposal:
    """One memory as a model proposes it; anything may be missing or wrong."""

    quote: str
    sentence: str = ""
    kind: str = ""
    importance: int | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a proposal was refused."""

    reason: str


def check_proposal(proposal: Proposal, reading: Reading) -> Draft | Refusal:
    """Return the draft that a proposal speaks of, with its sentence if that holds, else in the user's own words."""
    if is_example(proposal.sentence) or is_example(proposal.quote):
        return Refusal("copied example")
    if not stands_in(proposal.quote, reading.masked):
        return Refusal("no evidence")
    if proposal.kind and proposal.kind not in KINDS:
        return Refusal("unknown kind")
    draft = _draft_of(proposal.quote, reading)
    if draft is None:
        return Refusal("not a statement of the user")
    if proposal.sentence and why_unfaithful(proposal.sentence, draft.quote) is None:
        draft = replace(draft, text=draft.text if draft.day else as_sentence(one_line(proposal.sentence)))
    kind = Kind(proposal.kind) if proposal.kind else draft.judgement.kind
    return replace(draft, judgement=settled(draft.judgement, kind, proposal.importance))


def settled(judgement: Judgement, kind: Kind, importance: int | None) -> Judgement:
    """Return code's judgement with the model's kind where code knew none, and its importance within two of code's."""
    if judgement.kind is not Kind.FACT:
        kind = judgement.kind
    least, most = judgement.importance - 2, judgement.importance + 2
    number = judgement.importance if importance is None else max(least, min(most, importance))
    return replace(judgement, kind=kind, importance=max(1, min(10, number)))


def stands_in(quote: str, text: str) -> bool:
    """Tell whether a quote stands in a text but for case, Unicode form, quotes and spaces."""
    sought = fold(quote).strip(" .,;:!?\"'。，、")
    return len(sought) >= 2 and HOLE not in sought and sought in fold(text)


def is_example(text: str) -> bool:
    """Tell whether a text holds a word of the prompts' examples."""
    plain = skeleton(text)
    return any(word in plain for word in EXAMPLE_WORDS)


def why_unfaithful(sentence: str, quote: str, *, tone: bool = True) -> str | None:
    """Return the reason why a sentence says something else than its evidence, None when it holds.

    `tone` False lets yes and no differ, as between a suggestion and what is made of it.
    """
    sentence = one_line(sentence)
    if not re.search(r"\w", sentence):
        return "empty"
    if len(sentence) > LONGEST:
        return "too long"
    if sentence.rstrip()[-1:] in ("?", "？", "؟"):
        return "question"
    if _THIRD_PERSON.search(skeleton(sentence)):
        return "not in the first person"
    language = guess_language(quote)
    said_now, meant = take_apart(sentence, language), take_apart(quote, language)
    if tone and (said_now.negated != meant.negated or said_now.likes != meant.likes):
        return "polarity"
    if not said_now.numbers <= meant.numbers or not said_now.times <= meant.times:
        return "numbers"
    return "words not in the quote" if _new_words(sentence, quote, language) else None


_THIRD_PERSON: Final = re.compile(r"\b(?:the|this) (?:user|person)\b|\bthe speaker\b|\bassistant\b")


def _new_words(sentence: str, quote: str, language: str) -> set[str]:
    """Return content words of a sentence that its evidence lacks; inflected forms are not new."""
    if has_unspaced_script(sentence) or has_unspaced_script(quote):
        known = set(quote)
        return {c for c in re.findall(r"\w", sentence) if c not in known and not _is_kana(c)}
    stems = {stem(word, language) for word in _WORD.findall(skeleton(quote))}
    free = stop_words(language)
    new = {word for word in _WORD.findall(skeleton(sentence)) if word not in free}
    return {word for word in new if not _known(word, stems, language)}


_WORD: Final = re.compile(r"[^\W_]+")


def _is_kana(character: str) -> bool:
    return "\u3040" <= character <= "\u309f"


def _known(word: str, stems: set[str], language: str) -> bool:
    own = stem(word, language)
    return own in stems or any(
        len(own) >= 4 and len(s) >= 4 and (own.startswith(s) or s.startswith(own)) for s in stems
    )


def _draft_of(quote: str, reading: Reading) -> Draft | None:
    sought = fold(quote).strip(" .,;:!?\"'。，、")
    for draft in reading.drafts:
        said_then = fold(draft.quote)
        if sought in said_then or said_then.strip(" .,;:!?\"'。，、") in sought:
            return draft
    return None


def bare_acceptance(draft: Draft) -> bool:
    """Tell whether a draft only takes something up without naming it: "yes, let's do that"."""
    if not draft.accepts:
        return False
    rest = phrases("wishes.accepts").strip(draft.text)
    rest = phrases("moment.small_talk").strip(phrases_of("speech.pronoun", draft.language).strip(rest))
    free = stop_words(draft.language)
    return not [word for word in _WORD.findall(rest) if word not in free and len(word) > 2]
