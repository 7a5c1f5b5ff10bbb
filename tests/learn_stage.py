"""What the tests of learning share: a clock, a way to queue an exchange, and a model that answers at its worst."""

import json
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from threading import Event

from memchat.learn import Learned, LearnOptions, learn_turn
from memchat.records import Message, QueuedTurn, Turn
from memchat.store import Store
from tests.fakes import FakeChat

NOW = datetime(2026, 9, 14, 12, 0, tzinfo=UTC)
LATER = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)


def queue(
    store: Store,
    text: str,
    reply: str = "I see.",
    *,
    session: int | None = None,
    at: datetime = NOW,
    zone: str = "Europe/Berlin",
    explicit: bool = False,
) -> Turn:
    """Store an exchange and queue it."""
    session = store.add_session(at).id if session is None else session
    return store.add_turn(
        session, user_text=text, reply=reply, at=at, zone=zone, model="fake", learn=True, recall=None, explicit=explicit
    )


def next_queued(store: Store) -> QueuedTurn:
    """Return the oldest exchange that waits."""
    return store.list_queued(1, datetime(2100, 1, 1, tzinfo=UTC))[0]


def learn(
    store: Store, text: str, model: FakeChat | None = None, *, options: LearnOptions | None = None, **fields: object
) -> Learned:
    """Queue an exchange and learn from it."""
    turn = queue(store, text, **fields)  # type: ignore[arg-type]
    return learn_turn(store, model or FakeChat(), None, next_queued(store), options or LearnOptions(), turn.at, Event())


def texts(store: Store) -> list[str]:
    """Return the current memories' texts, oldest first."""
    return [memory.text for memory in store.list_memories()]


class WorstChat(FakeChat):
    """Answers every JSON request as badly as models do, by a seeded die."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self._die = random.Random(seed)
        self.reply_before = ""

    def complete_json(
        self, messages: Sequence[Message], schema: Mapping[str, object], *, max_tokens: int, stop: Event
    ) -> str:
        self.json_prompts.append(list(messages))
        asked = messages[-1].content
        lines = asked.count("\n") + 1
        bad = [
            "I am sorry, but as a language model I have no memories.",
            "```json\n" + json.dumps({"memories": [{"line": 9, "kind": "fact", "importance": 9}]}) + "\n```",
            json.dumps({"memories": [{"line": 1, "kind": "hobby", "importance": 3}] * lines}),
            json.dumps({"memories": [{"quote": self.reply_before, "sentence": self.reply_before, "kind": "fact"}]}),
            json.dumps({"memories": [{"quote": "My zelbin Qorvane sleeps in the barn", "kind": "fact"}]}),
            json.dumps({"memories": [{"quote": asked, "sentence": "I like hiking.", "kind": "preference"}]}),
            "{{" + json.dumps({"memories": []})[1:],
            json.dumps({"relation": "update", "id": 12, "op": "delete"}),
            json.dumps({"cues": ["What is a plonteg?", asked]}),
            "<think>" + asked + "</think>",
            "",
        ]
        return self._die.choice(bad)
