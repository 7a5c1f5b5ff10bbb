"""Clauses joined to what they belong to: words that drive it home, answers, explanations, times, "she …" sentences."""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Final

from memchat.learn.clause import Clause
from memchat.learn.lexicon import phrases, phrases_of, said, skeleton
from memchat.learn.spans import Span, split_sentences
from memchat.text import has_unspaced_script


def whole_sentences(masked: str) -> list[Span]:
    """Return the sentences, each with the word that only drives it home: "No emojis. Ever."."""
    spans: list[Span] = []
    for span in split_sentences(masked):
        if spans and _DRIVES_HOME.fullmatch(skeleton(span.of(masked))):
            spans[-1] = Span(spans[-1].start, span.end)
        else:
            spans.append(span)
    return spans


_DRIVES_HOME: Final = re.compile(
    r"(?:ever|never|always|permanently|for good|full stop|period|from now on|every time|at all|nie|immer|jamais|"
    r"toujours|nunca|siempre|"
    r"mai|sempre|nooit|altijd|nigdy|zawsze|никогда|всегда)[.! ]*"
)


def answered(clauses: list[Clause]) -> list[Clause]:
    """Return the clauses with what answers a word of the user's own joined to it: "Marmite? Not for me."."""
    joined: list[Clause] = []
    for clause in clauses:
        before = joined[-1] if joined else None
        asked = before is not None and before.dropped == "question" and len(before.quote.split()) <= 3
        if before is not None and asked and clause.dropped is None and len(clause.text.split()) <= 8:
            joined[-1] = replace(clause, quote=f"{before.quote} {clause.quote}", text=f"{before.quote} {clause.text}")
        else:
            joined.append(clause)
    return joined


def for_good(clauses: list[Clause]) -> list[Clause]:
    """Return the clauses with a request that the next one calls lasting made a lasting wish."""
    for place, (clause, after) in enumerate(pairwise(clauses)):
        lasting = phrases_of("speech.standing", after.language).begins(after.text)
        if clause.dropped == "request" and lasting is not None and len(after.text.split()) <= 14:
            clauses[place] = replace(clause, dropped=None, standing=True)
    return clauses


def joined_to_theirs(clauses: list[Clause]) -> list[Clause]:
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
