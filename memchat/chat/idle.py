"""Idle work on conversations: a running summary of the turns that left the window, and titles."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Final, Self

from memchat.chat.window import Exchange
from memchat.engine import ChatModel
from memchat.errors import NotFound
from memchat.prompts import SUMMARY_SCHEMA, TITLE_SCHEMA, summary_messages, title_messages
from memchat.records import Session, Turn
from memchat.store import Store
from memchat.text import clean, one_line

_TITLE_TOKENS: Final = 32
_TITLE_LENGTH: Final = 60
_TITLE_TURNS: Final = 2  # a conversation of one turn is called by its first words, without asking a model
_RECENT: Final = 20  # sessions looked at for a missing title
_SUMMARY_TOKENS: Final = 300
_SUMMARY_LENGTH: Final = 1200
_PASSAGE: Final = 12  # turns taken up by one step of a summary, so that a step stays short


@dataclass(frozen=True, slots=True)
class Unsummarised:
    """Turns of a conversation that are out of the model's sight and not in its summary yet, oldest first."""

    session: int
    summary: str | None
    exchanges: tuple[Exchange, ...]

    @classmethod
    def among(cls, dropped: Sequence[Exchange], session: Session) -> Self | None:
        """Return those of the turns that left the window which the summary lacks, None when there are none."""
        waiting = [one for one in dropped if one.turn is not None and one.turn > session.summarised_to]
        return cls(session.id, session.summary, tuple(waiting)) if waiting else None


def summarise(store: Store, model: ChatModel, waiting: Unsummarised, stop: Event) -> bool:
    """Take up the oldest waiting turns into the running summary; False when the model gave nothing of use.

    Raises Cancelled and EngineError; nothing is written when something of the session was forgotten meanwhile.
    """
    passage = waiting.exchanges[:_PASSAGE]
    turns = _stored(store, passage)
    if turns is None:
        return False
    messages = summary_messages(waiting.summary, [(turn.user_text, turn.reply) for turn in turns])
    reply = model.complete_json(messages, SUMMARY_SCHEMA, max_tokens=_SUMMARY_TOKENS, stop=stop)
    summary = clean(_field(reply, "summary")).strip()[:_SUMMARY_LENGTH]
    last = passage[-1].turn
    if not summary or last is None:
        return False
    with store.transaction():
        session = _unchanged(store, waiting)
        if session is None:
            return False
        store.update_session(session.id, summary=summary, summarised_to=last)
    return True


def _stored(store: Store, passage: Sequence[Exchange]) -> list[Turn] | None:
    """Return turns as they are stored, without secrets and private words; None when one was erased meanwhile."""
    try:
        turns = [store.get_turn(one.turn) for one in passage if one.turn is not None]
    except NotFound:
        return None
    return None if any(turn.forgotten for turn in turns) else turns


def _unchanged(store: Store, waiting: Unsummarised) -> Session | None:
    try:
        session = store.get_session(waiting.session)
        gone = any(store.get_turn(one.turn).forgotten for one in waiting.exchanges if one.turn is not None)
    except NotFound:
        return None
    return session if session.summary == waiting.summary and not gone else None


def give_title(store: Store, model: Callable[[], ChatModel], stop: Event, here: int | None = None) -> bool:
    """Give the newest untitled conversation a title; False when each has one.

    `here` is the conversation that is going on: it waits for its second turn.
    """
    for session in store.list_sessions(limit=_RECENT):
        if session.title is not None or not session.turns or (session.id == here and session.turns < _TITLE_TURNS):
            continue
        turns = [turn for turn in store.list_turns(session.id) if not turn.forgotten]
        title = _title_of(turns, model, stop)
        if title:
            store.update_session(session.id, title=title)
            return True
    return False


def name_by_first_words(store: Store, id: int) -> None:
    """Give a conversation that has no title the first words said in it."""
    turns = [turn for turn in store.list_turns(id) if not turn.forgotten]
    if turns and store.get_session(id).title is None:
        store.update_session(id, title=_first_words(turns))


def _first_words(turns: Sequence[Turn]) -> str:
    first = one_line(turns[0].user_text)
    return first if len(first) <= _TITLE_LENGTH else first[: _TITLE_LENGTH - 1].rstrip() + "…"


def _title_of(turns: Sequence[Turn], model: Callable[[], ChatModel], stop: Event) -> str:
    if not turns:
        return ""
    if len(turns) >= _TITLE_TURNS:
        pairs = [(turn.user_text, turn.reply) for turn in turns[:_TITLE_TURNS]]
        reply = model().complete_json(title_messages(pairs), TITLE_SCHEMA, max_tokens=_TITLE_TOKENS, stop=stop)
        title = one_line(_field(reply, "title")).strip("\"'“”.")
        if title:
            return title[:_TITLE_LENGTH]
    return _first_words(turns)


def _field(reply: str, name: str) -> str:
    """Return a text of the model's JSON, "" when the reply is not what was asked for."""
    try:
        document = json.loads(reply)
    except ValueError:
        return ""
    value = document.get(name) if isinstance(document, dict) else None
    return value if isinstance(value, str) else ""
