"""Asking the model which drafts are worth keeping: short, once, with one retry, and never trusted further than that."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Final

from memchat.engine import ChatModel
from memchat.learn.drafts import Draft, Reading
from memchat.learn.guard import (
    Proposal,
    Refusal,
    bare_acceptance,
    check_proposal,
    is_example,
    settled,
    stands_in,
    why_unfaithful,
)
from memchat.learn.json_reply import Json, items_of, read_json
from memchat.learn.trim import as_sentence
from memchat.learn.wording import ACCEPT_SCHEMA, JUDGE_SCHEMA, KINDS, KNOWN_EMPTY, accept_messages, judge_messages
from memchat.records import Kind, Message
from memchat.text import one_line

SURE: Final = 1  # weight from which a draft is kept whatever the model says
_ASKED: Final = 0  # weight from which the model is asked
_TOKENS_A_LINE: Final = 40
_MOST_LINES: Final = 12
_MOST_FAILURES: Final = 2


@dataclass(slots=True)
class Trust:
    """Which models tell a lasting sentence from an empty one; small ones pick whatever they are shown."""

    failures: Counter[str] = field(default_factory=Counter)  # by model

    def has(self, model: ChatModel) -> bool:
        """Tell whether a model is worth asking."""
        return self.failures[model.card().model] < _MOST_FAILURES

    def lose(self, model: ChatModel) -> None:
        """Note that a model picked a sentence that is known to be empty."""
        self.failures[model.card().model] += 1


def choose_drafts(
    reading: Reading,
    model: ChatModel | None,
    context: Sequence[Message],
    stop: Event,
    dropped: Counter[str],
    *,
    suggestion: str = "",
    trust: Trust | None = None,
) -> list[Draft]:
    """Return the drafts to keep, counting the others by reason; without a model only what code is sure of.

    `suggestion` is the assistant's reply before the message: it may lend the content of a bare "yes, let's do that".
    `trust` remembers which models were of no use, so that they are not asked again.
    Raises Cancelled and EngineError from the model.
    """
    drafts = [_named(draft, model, suggestion, stop, dropped) for draft in reading.drafts]
    present = [draft for draft in drafts if draft is not None]
    in_doubt = [draft for draft in present if _is_in_doubt(draft)][:_MOST_LINES]
    opinions: Mapping[str, Draft] = {}
    if model is not None and in_doubt:
        opinions = _opinions_of(model, in_doubt, reading, context, stop, dropped, trust or Trust())
    kept = []
    for draft in present:
        judged = opinions.get(draft.text)
        if judged is not None:
            kept.append(judged)
        elif draft.explicit or draft.judgement.weight >= SURE or draft.takes_back:
            kept.append(draft)
        else:
            dropped["the matter at hand" if draft.judgement.weight < _ASKED else "not lasting"] += 1
    return kept


def _opinions_of(  # noqa: PLR0917 - all that an opinion hangs on
    model: ChatModel,
    drafts: Sequence[Draft],
    reading: Reading,
    context: Sequence[Message],
    stop: Event,
    dropped: Counter[str],
    trust: Trust,
) -> dict[str, Draft]:
    """Return the drafts that the model picks, by text; none if it picks one that is known to be empty as well."""
    if not trust.has(model):
        return {}
    items = _ask([draft.text for draft in drafts], model, context, stop)
    if items is None:
        dropped["unreadable reply"] += 1
        return {}
    if any(_picks_empty(item, len(drafts)) for item in items):
        trust.lose(model)
        dropped["picked at random"] += 1
        return {}
    return _opinions(items, drafts, reading, dropped)


def _picks_empty(item: Mapping[str, Json], asked: int) -> bool:
    line, quote = item.get("line"), item.get("quote")
    return (isinstance(line, int) and asked < line <= asked + len(KNOWN_EMPTY)) or (
        isinstance(quote, str) and is_example(quote)
    )


def _is_in_doubt(draft: Draft) -> bool:
    asked_for = draft.explicit or draft.takes_back
    return draft.of_self and not asked_for and _ASKED <= draft.judgement.weight < SURE


def _ask(
    lines: Sequence[str], model: ChatModel, context: Sequence[Message], stop: Event
) -> list[dict[str, Json]] | None:
    """Return what the model picks of the lines; None when it gives nothing readable, asked twice."""
    for short in (False, True):
        messages = judge_messages(lines, context, short=short)
        reply = model.complete_json(messages, JUDGE_SCHEMA, max_tokens=_TOKENS_A_LINE * (len(lines) + 1), stop=stop)
        items = items_of(reply, "memories")
        if items is not None:
            return items
    return None


def _opinions(
    items: Sequence[dict[str, Json]], drafts: Sequence[Draft], reading: Reading, dropped: Counter[str]
) -> dict[str, Draft]:
    kept: dict[str, Draft] = {}
    for item in items:
        judged = _judged(item, drafts, reading)
        if isinstance(judged, Refusal):
            dropped[judged.reason] += 1
        elif judged.text in kept or judged.quote in {
            draft.quote for draft in kept.values() if draft.text == judged.text
        }:
            dropped["said twice"] += 1
        else:
            kept[judged.text] = judged
    return kept


def _judged(item: dict[str, Json], drafts: Sequence[Draft], reading: Reading) -> Draft | Refusal:
    line, kind, importance = item.get("line"), item.get("kind"), item.get("importance")
    importance = importance if isinstance(importance, int) and not isinstance(importance, bool) else None
    if isinstance(line, int) and not isinstance(line, bool):
        if not 1 <= line <= len(drafts):
            return Refusal("invented line")
        draft = drafts[line - 1]
        if kind not in KINDS:
            return Refusal("unknown kind")
        return replace(draft, judgement=settled(draft.judgement, Kind(str(kind)), importance))
    quote, sentence = item.get("quote"), item.get("sentence")
    if not isinstance(quote, str):
        return Refusal("no evidence")
    proposal = Proposal(quote, sentence if isinstance(sentence, str) else "", str(kind or ""), importance)
    return check_proposal(proposal, reading)


def _named(draft: Draft, model: ChatModel | None, suggestion: str, stop: Event, dropped: Counter[str]) -> Draft | None:
    """Return the draft; a bare acceptance gets its content from the suggestion before, or is dropped."""
    if not bare_acceptance(draft):
        return draft
    sentence = _accepted(draft, model, suggestion, stop) if model is not None and suggestion else None
    if sentence is None:
        dropped["takes up nothing named"] += 1
        return None
    return replace(draft, text=sentence)


def _accepted(draft: Draft, model: ChatModel, suggestion: str, stop: Event) -> str | None:
    reply = model.complete_json(
        accept_messages(suggestion[-600:], draft.quote), ACCEPT_SCHEMA, max_tokens=_TOKENS_A_LINE * 2, stop=stop
    )
    value = read_json(reply)
    sentence = value.get("sentence") if isinstance(value, dict) else None
    if not isinstance(sentence, str) or is_example(sentence):
        return None
    held = why_unfaithful(sentence, f"{draft.quote} {suggestion}", tone=False) is None
    return as_sentence(one_line(sentence)) if held and not stands_in(sentence, suggestion) else None
