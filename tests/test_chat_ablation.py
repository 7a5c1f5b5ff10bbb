"""The last answer again without one memory: what is asked then, and what is told of it."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from memchat.chat.ablation import ablate
from memchat.errors import UsageError
from memchat.records import Cause
from memchat.store import Store
from tests.fakes import FakeChat
from tests.test_chat import NOW, add, chat_with, say

TOWN, BIKE = "I live in Berlin near the canal.", "I ride a bike in Berlin."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "memory.db") as opened:
        yield opened


def last_texts(model: FakeChat, count: int) -> list[str]:
    return [prompt[-1].content for prompt in model.prompts[-count:]]


def test_each_memory_is_left_out_in_turn_and_all_else_stays_as_it_was(store: Store) -> None:
    add(store, TOWN)
    add(store, BIKE)
    bike = "By bike along the canal."
    model = FakeChat("hello", bike, bike, "On foot.", bike)
    chat = chat_with(store, model)
    say(chat, "hello")
    say(chat, "How do I ride in Berlin near the canal?")
    asked, prefix = model.prompts[-1][-1], model.prompts[-1][:-1]
    whole, first, second = ablate(chat, Event())
    assert (whole.without, whole.reply, whole.changed) == (None, bike, False)
    assert {first.without.text, second.without.text} == {TOWN, BIKE}  # type: ignore[union-attr]
    assert (first.changed, second.changed) == (True, False)
    with_all, *without = last_texts(model, 3)
    assert with_all == asked.content
    assert all(prompt[:-1] == prefix for prompt in model.prompts[-3:])
    for ablation, text in zip((first, second), without, strict=True):
        assert ablation.without is not None
        assert ablation.without.text not in text
        assert (TOWN in text) != (BIKE in text)


def test_a_memory_that_was_true_once_is_told_as_such_again(store: Store) -> None:
    old = add(store, "I lived in Porto by the river.")
    store.supersede_memory(old.id, by=add(store, TOWN).id, cause=Cause.USER, now=NOW)
    model = FakeChat()
    chat = chat_with(store, model)
    say(chat, "Where did I live by the river before Berlin, in Porto?")
    asked = model.prompts[-1][-1].content
    assert "until 30 November 2026" in asked
    next(iter(ablate(chat, Event())))
    assert model.prompts[-1][-1].content == asked


def test_a_stop_ends_it_between_two_answers(store: Store) -> None:
    add(store, TOWN)
    chat = chat_with(store, FakeChat("one", "two"))
    say(chat, "Do I live in Berlin near the canal?")
    stop = Event()
    told = []
    for ablation in ablate(chat, stop):
        told.append(ablation)
        stop.set()
    assert [one.without for one in told] == [None]


def test_an_exchange_that_was_forgotten_cannot_be_made_again(store: Store) -> None:
    add(store, TOWN)
    chat = chat_with(store, FakeChat())
    say(chat, "Do I live in Berlin near the canal?")
    chat.forget(lambda text: True)
    with pytest.raises(UsageError, match="no longer"):
        list(ablate(chat, Event()))


def test_a_reply_without_memories_has_nothing_to_leave_out(store: Store) -> None:
    chat = chat_with(store, FakeChat())
    with pytest.raises(UsageError, match="no recalled memory"):
        list(ablate(chat, Event()))
    say(chat, "hello")
    with pytest.raises(UsageError, match="no recalled memory"):
        list(ablate(chat, Event()))
