"""What the user asks for in so many words: a memory stored at once, and a proposal approved or rejected."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memchat.learn.dates import local_date
from memchat.learn.dates_spoken import is_month_first
from memchat.learn.drafts import Draft, ReadingOptions, draft_wish
from memchat.learn.gist import forgotten_forms
from memchat.learn.kinds import Judgement
from memchat.learn.language import guess_language
from memchat.learn.options import LearnOptions
from memchat.learn.reconcile import find_near, reconcile, slot_of
from memchat.learn.secrets import find_secrets, has_redaction
from memchat.learn.turn import Writer, plan
from memchat.records import Cause, Kind, Memory, State, Turn
from memchat.store import Store


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a wish: the memories, and what to tell the user, as sentences."""

    saved: tuple[Memory, ...] = ()
    sentences: tuple[str, ...] = ()


_REFUSALS: Final = {
    "never_learn": "Not saved: it is against your rule in learn.never_learn.",
    "someone else's health": "Not saved: it tells of someone else's health. `/remember` keeps it all the same.",
    "too long": "Not saved: it is too long for one memory; say it in one short sentence.",
}
_WITH_SECRET: Final = "Not saved: it holds a secret. `/remember` keeps it after asking."
_FORGOTTEN: Final = "Not saved: you had it forgotten. `memchat remember --allow-again` keeps it all the same."


def store_explicit(store: Store, wish: str, turn: Turn, now: datetime, options: LearnOptions | None = None) -> Answer:
    """Store what the user asked to have remembered, in their words, and say what was done.

    A secret, someone else's health and what the user had forgotten are refused with a sentence.
    """
    options = options or LearnOptions()
    if has_redaction(wish) or find_secrets(wish):
        return Answer(sentences=(_WITH_SECRET,))
    dropped: Counter[str] = Counter()
    today = local_date(turn.at, turn.zone)
    drafts = draft_wish(wish, today, _allowed(options, turn), dropped) or _as_said(wish, dropped)
    if not drafts:
        reason = next(iter(dropped), "")
        return Answer(sentences=(_REFUSALS.get(reason, "Not saved: there is nothing in it to remember."),))
    if any(_is_forgotten(store, draft, turn) for draft in drafts):
        return Answer(sentences=(_FORGOTTEN,))
    writer = Writer(store, turn, now, cause=Cause.USER)
    with store.transaction():
        for draft in drafts:
            writer.write(plan(store, draft, turn.at))
    return _answer(store, writer, drafts)


def _allowed(options: LearnOptions, turn: Turn) -> ReadingOptions:
    return ReadingOptions(True, options.rules, is_month_first(turn.zone))


def _answer(store: Store, writer: Writer, drafts: list[Draft]) -> Answer:
    learned = writer.learned({})
    saved = (*learned.added, *learned.restated)
    sentences = [f"Saved #{memory.id}: {memory.text}" for memory in learned.added]
    sentences += [f"Known already, #{memory.id}: {memory.text}" for memory in learned.restated]
    sentences += [f"No longer true, #{memory.id}: {memory.text}" for memory in learned.superseded]
    if not sentences:
        there = [memory for draft in drafts if (memory := store.find_exact(draft.text)) is not None]
        sentences = [f"Known already, #{memory.id}: {memory.text}" for memory in there]
        saved = tuple(there)
    return Answer(saved, tuple(sentences))


def _as_said(wish: str, dropped: Counter[str]) -> list[Draft]:
    """Return a wish that reads like nothing in particular as it stands: the user wants it all the same."""
    if any(reason in _REFUSALS for reason in dropped):
        return []
    return [Draft(wish, wish, guess_language(wish), Judgement(Kind.FACT, 6, 3), explicit=True)] if wish.strip() else []


def _is_forgotten(store: Store, draft: Draft, turn: Turn) -> bool:
    forms = forgotten_forms(draft.text) if store.has_forgotten_form() else ()
    return store.is_forgotten(draft.text, evidence=draft.quote, forms=forms, turn=turn.id)


def approve(store: Store, memory: Memory, now: datetime) -> Memory:
    """Make a proposal a memory; what it replaces ended when it was said, what is said already makes it needless."""
    with store.transaction():
        near = [found for found in find_near(store, memory.text, slot_of(memory.text), None) if found.id != memory.id]
        outcome = reconcile(memory.text, memory.created_at, near)
        if outcome.same is not None:
            source = memory.source
            sure, said_at = outcome.same.confidence, memory.created_at
            store.restate_memory(
                outcome.same.id, source=source, confidence=sure, now=now, said_at=said_at, cause=Cause.USER
            )
            return store.set_state(memory.id, State.SUPERSEDED, cause=Cause.USER, now=now)
        approved = store.set_state(memory.id, State.CURRENT, cause=Cause.USER, now=now)
        for old in outcome.replaced:
            store.supersede_memory(old.id, by=memory.id, cause=Cause.USER, now=now, ended_at=memory.created_at)
        if outcome.newer is not None:
            by, ended_at = outcome.newer.id, outcome.newer.created_at
            approved = store.supersede_memory(memory.id, by=by, cause=Cause.USER, now=now, ended_at=ended_at)
        return approved


def reject(store: Store, memory: Memory, now: datetime) -> Memory:
    """Turn a proposal down: it was never true and is searched nowhere."""
    return store.set_state(memory.id, State.SUPERSEDED, cause=Cause.USER, now=now)
