"""Learning from one exchange: read it, have it judged, compare it, and write all of it in one transaction."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event
from typing import Final

from memchat.engine import ChatModel, Embedder
from memchat.errors import Cancelled, EngineError, NotFound
from memchat.learn.dates import local_date
from memchat.learn.dates_spoken import is_month_first
from memchat.learn.drafts import Draft, Reading, ReadingOptions, is_important, read_message
from memchat.learn.embedding import embed_new
from memchat.learn.extract import Trust, choose_drafts
from memchat.learn.gist import forgotten_forms
from memchat.learn.mask import closes_fiction, opens_fiction
from memchat.learn.options import LearnOptions
from memchat.learn.reconcile import Choose, Outcome, Slot, chooser, find_near, reconcile, slot_of
from memchat.recall.embed import Ahead, embed_ahead, give_vector
from memchat.records import Cause, Memory, Message, NewMemory, QueuedTurn, Source, State, Turn
from memchat.store import Store

_LOG: Final = logging.getLogger(__name__)
_DONE: Final = ("added", "restated", "superseded", "proposed")
_GAME_LENGTH: Final = 12  # turns that a game is believed to go on without a word of its end
_SURER: Final = 0.1  # what saying it again adds to the confidence
_STATED: Final = 0.9
_JUDGED: Final = 0.7


@dataclass(frozen=True, slots=True)
class Learned:
    """What one exchange did to the memories, and how often something was refused, by reason."""

    added: tuple[Memory, ...] = ()
    restated: tuple[Memory, ...] = ()
    superseded: tuple[Memory, ...] = ()
    proposed: tuple[Memory, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """A draft with what it does to the memories there are."""

    draft: Draft
    slot: Slot | None
    outcome: Outcome
    ahead: Ahead | None = None  # its vector, where it could be made before it is stored


def learn_turn(  # noqa: PLR0917 - the order is part of the contract between the layers
    store: Store,
    model: ChatModel | None,
    embedder: Embedder | None,
    queued: QueuedTurn,
    options: LearnOptions,
    now: datetime,
    stop: Event,
    *,
    context: Sequence[Message] = (),
    trust: Trust | None = None,
) -> Learned:
    """Learn from a queued exchange and take it out of the queue, both in one transaction.

    `context` is the prompt that the exchange was held with, for engines where learning rides on it; `trust` remembers
    from one exchange to the next which models are not worth asking. Raises Cancelled
    when `stop` is set and EngineError when the model fails; then nothing is written and the exchange stays queued.
    """
    if stop.is_set():
        raise Cancelled("Stopped.")
    dropped: Counter[str] = Counter()
    steps: list[Step] = []
    if options.mode != "off" and not queued.turn.forgotten:
        earlier = _earlier(store, queued.turn)
        reading = read_turn(queued, options, earlier)
        dropped.update(reading.dropped)
        suggestion = earlier[-1].reply if earlier else ""
        drafts = choose_drafts(reading, model, context, stop, dropped, suggestion=suggestion, trust=trust)
        wanted = _wanted(store, drafts, queued.turn, options, dropped)
        choose = chooser(model, stop) if model is not None else None
        steps = [plan(store, draft, queued.turn.at, embedder, choose) for draft in wanted]
    if stop.is_set():
        raise Cancelled("Stopped.")
    writer = Writer(store, queued.turn, now, review=options.mode == "review")
    learned = _write(store, queued, steps, writer, dropped)
    _log(queued.turn.id, learned)
    embed_new(store, embedder, stop)
    return learned


def _log(turn: int, learned: Learned) -> None:
    done = {name: [memory.id for memory in getattr(learned, name)] for name in _DONE}
    told = [f"{name} {ids}" for name, ids in done.items() if ids] or ["nothing stored"]
    told += [f"left out: {reason} ({number})" for reason, number in learned.dropped.items()]
    _LOG.info("turn %d learnt: %s", turn, "; ".join(told))


def read_turn(queued: QueuedTurn, options: LearnOptions, earlier: Sequence[Turn]) -> Reading:
    """Read the user's message of an exchange; within a game or a story nothing is a statement."""
    turn = queued.turn
    if in_game(earlier) and not closes_fiction(turn.user_text):
        return Reading((), {"fiction": 1})
    today = local_date(turn.at, turn.zone)
    allowed = ReadingOptions(options.health, options.rules, is_month_first(turn.zone))
    return read_message(turn.user_text, today, allowed, explicit=queued.explicit)


def in_game(earlier: Sequence[Turn]) -> bool:
    """Tell whether a game or story that an earlier turn began is still going on."""
    for turn in reversed(earlier[-_GAME_LENGTH:]):
        if closes_fiction(turn.user_text):
            return False
        if opens_fiction(turn.user_text):
            return True
    return False


def _earlier(store: Store, turn: Turn) -> list[Turn]:
    return [before for before in store.list_turns(turn.session) if before.id < turn.id and not before.forgotten]


def _wanted(
    store: Store, drafts: Sequence[Draft], turn: Turn, options: LearnOptions, dropped: Counter[str]
) -> list[Draft]:
    """Return the drafts that may be stored: important enough, and not what the user had forgotten."""
    wanted = []
    for draft in drafts:
        if not is_important(draft, options.min_importance):
            dropped["not important"] += 1
        elif _is_forgotten(store, draft, turn):
            dropped["forgotten before"] += 1
        else:
            wanted.append(draft)
    return wanted


def _is_forgotten(store: Store, draft: Draft, turn: Turn) -> bool:
    forms = forgotten_forms(draft.text) if store.has_forgotten_form() else ()
    return store.is_forgotten(draft.text, evidence=draft.quote, forms=forms, turn=turn.id)


def plan(
    store: Store, draft: Draft, said_at: datetime, embedder: Embedder | None = None, choose: Choose | None = None
) -> Step:
    """Return what a draft does to the memories there are."""
    slot = slot_of(draft.text)
    ahead = _ahead(store, embedder, draft.text)
    near = find_near(store, draft.text, slot, ahead)
    return Step(draft, slot, reconcile(draft.text, said_at, near, choose), ahead)


def _ahead(store: Store, embedder: Embedder | None, text: str) -> Ahead | None:
    try:
        return embed_ahead(store, embedder, text)
    except EngineError:
        return None  # words and slots still find what is near


def _write(store: Store, queued: QueuedTurn, steps: Sequence[Step], writer: "Writer", dropped: Counter[str]) -> Learned:
    with suppress(_Gone), store.transaction():
        if not store.finish_queued(queued.id):
            raise _Gone  # forgotten meanwhile: nothing of it may be stored
        for step in steps:
            writer.write(step)
        dropped.update(writer.dropped)
        store.count_drops(dropped)
        return writer.learned(dropped)
    return Learned()


class _Gone(Exception):
    """The exchange left the queue while it was being learnt from."""


class Writer:
    """Writes steps within a transaction of the caller and keeps account of them."""

    def __init__(
        self, store: Store, turn: Turn, now: datetime, *, review: bool = False, cause: Cause = Cause.LEARNED
    ) -> None:
        self._store = store
        self._turn = turn
        self._now = now
        self._review = review
        self._cause = cause
        self._added: list[Memory] = []
        self._restated: list[Memory] = []
        self._superseded: list[Memory] = []
        self.dropped: Counter[str] = Counter()

    def write(self, step: Step) -> None:
        """Add, restate, supersede or end, as the step says; an explicit wish does not wait for approval."""
        replaced = [memory for memory in step.outcome.replaced if self._is_current(memory)]
        if step.outcome.same is not None and self._is_current(step.outcome.same):
            self._say_again(step.outcome.same, step.draft)
        elif step.draft.takes_back:
            self._end(replaced)
        elif self._store.find_exact(step.draft.text) is not None:
            self.dropped["said twice"] += 1
        else:
            self._add(step, replaced)

    def learned(self, dropped: Mapping[str, int]) -> Learned:
        """Return the account."""
        new = [self._store.get_memory(memory.id) for memory in self._added]
        return Learned(
            added=tuple(memory for memory in new if memory.state is State.CURRENT),
            restated=tuple(self._restated),
            superseded=tuple(self._superseded),
            proposed=tuple(memory for memory in new if memory.state is State.PROPOSED),
            dropped=dict(dropped),
        )

    def _is_current(self, memory: Memory) -> bool:
        try:
            return self._store.get_memory(memory.id).state is State.CURRENT
        except NotFound:
            return False

    def _say_again(self, memory: Memory, draft: Draft) -> None:
        sources = self._store.list_sources(memory.id)
        if any(source.turn == self._turn.id for source in sources):
            return  # stored at once when the user asked for it
        surer = min(1.0, memory.confidence + _SURER)
        source = Source(self._turn.session, self._turn.id, draft.quote)
        again = self._store.restate_memory(
            memory.id,
            source=source,
            confidence=surer,
            now=self._now,
            turn=self._turn.id,
            said_at=self._turn.at,
            cause=self._cause,
        )
        self._restated.append(again)

    def _end(self, replaced: Sequence[Memory]) -> None:
        if not replaced:
            self.dropped["takes back nothing"] += 1
        for memory in replaced:
            self._supersede(memory, None)

    def _add(self, step: Step, replaced: Sequence[Memory]) -> None:
        waits = self._review and not step.draft.explicit
        new = self._store.add_memory(
            self._new(step, State.PROPOSED if waits else State.CURRENT),
            cause=self._cause,
            now=self._now,
            turn=self._turn.id,
        )
        self._added.append(new)
        if waits:
            return
        give_vector(self._store, new, step.ahead)
        for memory in replaced:
            self._supersede(memory, new.id)
        newer = step.outcome.newer
        if newer is not None and self._is_current(newer):
            self._supersede_until(new, newer.id, newer.created_at)

    def _new(self, step: Step, state: State) -> NewMemory:
        draft, slot = step.draft, step.slot
        surely = 1.0 if draft.explicit else _STATED if draft.judgement.weight >= 2 else _JUDGED
        return NewMemory(
            draft.text,
            kind=draft.judgement.kind,
            importance=draft.judgement.importance,
            confidence=surely,
            state=state,
            created_at=self._turn.at,
            last_seen_at=self._turn.at,
            subject=slot.subject if slot else None,
            attribute=slot.attribute if slot else None,
            value=slot.value if slot else None,
            event_date=draft.day,
            source=Source(self._turn.session, self._turn.id, draft.quote),
        )

    def _supersede(self, memory: Memory, by: int | None) -> None:
        self._superseded.append(self._supersede_until(memory, by, self._turn.at))

    def _supersede_until(self, memory: Memory, by: int | None, ended_at: datetime) -> Memory:
        """End a memory when the newer statement was made, which may be long before it is learnt from."""
        return self._store.supersede_memory(
            memory.id, by=by, cause=self._cause, now=self._now, turn=self._turn.id, ended_at=ended_at
        )
