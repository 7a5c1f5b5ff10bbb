"""A message answered anew or said otherwise: it takes the place of the old one, also for what is learnt."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from memchat.chat import Chat, Mode, Notice
from memchat.errors import EngineFailed, StoreBusy
from memchat.learn import LearnOptions, learn_turn
from memchat.records import Role
from memchat.store import Store
from tests.chat_stage import NOW, chat_with, result_of, say
from tests.fakes import FakeChat


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "memory.db") as opened:
        yield opened


def learn_all(store: Store) -> list[str]:
    """Learn from what waits, and return what is known then."""
    for queued in store.list_queued(9, NOW):
        learn_turn(store, None, None, queued, LearnOptions(), NOW, Event())
    return texts(store)


def texts(store: Store) -> list[str]:
    return [memory.text for memory in store.list_memories()]


def stored(store: Store, chat: Chat) -> list[tuple[str, str]]:
    assert chat.session is not None
    return [(turn.user_text, turn.reply) for turn in store.list_turns(chat.session.id)]


def shown(chat: Chat) -> list[str]:
    return [message.content for message in chat.prompt_prefix() if message.role is not Role.SYSTEM]


def test_a_second_answer_takes_the_place_of_the_first(store: Store):
    chat = chat_with(store, FakeChat("One.", "Two."))
    first = result_of(say(chat, "I live in Berlin."))
    second = result_of(say(chat, "I live in Berlin.", instead=True))
    assert second.turn == first.turn
    assert stored(store, chat) == [("I live in Berlin.", "Two.")]
    assert shown(chat) == ["I live in Berlin.", "Two."]
    assert [queued.turn.reply for queued in store.list_queued(9, NOW)] == ["Two."]
    assert len(store.list_recalls()) == 1


def test_what_was_learnt_from_a_message_is_not_learnt_again_by_another_answer(store: Store):
    chat = chat_with(store, FakeChat())
    say(chat, "I live in Berlin.")
    assert learn_all(store) == ["I live in Berlin."]
    say(chat, "I live in Berlin.", instead=True)
    assert store.count_queued() == 0


def test_a_message_said_otherwise_is_the_only_one_that_is_learnt_from(store: Store):
    chat = chat_with(store, FakeChat())
    say(chat, "I live in Berlin.")
    say(chat, "I live in Bern.", instead=True)
    assert stored(store, chat) == [("I live in Bern.", "ok")]
    assert learn_all(store) == ["I live in Bern."]


def test_what_was_learnt_from_a_withdrawn_message_is_taken_back_and_told(store: Store):
    chat = chat_with(store, FakeChat())
    say(chat, "I live in Hamburg.")
    learn_all(store)
    say(chat, "I live in Berlin and I work as a baker.")
    assert set(learn_all(store)) == {"I live in Berlin.", "I work as a baker."}
    events = say(chat, "I live in Bern and I work as a baker.", instead=True)
    told = [event.sentence for event in events if isinstance(event, Notice)]
    assert sum("took it back" in sentence for sentence in told) == 2
    assert texts(store) == ["I live in Hamburg."], "what the withdrawn message had replaced is true again"
    assert set(learn_all(store)) == {"I live in Bern.", "I work as a baker."}


def test_what_the_user_has_changed_since_stays(store: Store):
    from memchat.curate.edit import Revision, edit

    chat = chat_with(store, FakeChat())
    say(chat, "I live in Berlin.")
    learn_all(store)
    edit(store, store.list_memories()[0].id, Revision(text="I live in Berlin-Mitte."), now=NOW, embedder=None)
    say(chat, "Never mind.", instead=True)
    assert texts(store) == ["I live in Berlin-Mitte."]


def test_a_wish_is_saved_once_and_goes_with_its_message(store: Store):
    chat = chat_with(store, FakeChat())
    say(chat, "Remember that my cat is called Tim.")
    say(chat, "Remember that my cat is called Tim.", instead=True)
    assert len(store.list_changes()) == 1
    say(chat, "Remember that my cat is called Tom.", instead=True)
    assert [text for text in texts(store) if "Tim" in text] == []
    assert len(texts(store)) == 1


def test_an_answer_that_does_not_come_leaves_the_old_one(store: Store):
    chat = chat_with(store, FakeChat("One.", EngineFailed("It broke."), "Three."))
    say(chat, "hello there")
    with pytest.raises(EngineFailed):
        say(chat, "hello there", instead=True)
    assert stored(store, chat) == [("hello there", "One.")]
    assert shown(chat) == ["hello there", "One."]
    assert store.count_queued() == 1
    say(chat, "hello there", instead=True)
    assert shown(chat) == ["hello there", "Three."]


def test_after_an_answer_that_never_came_the_earlier_exchanges_stay(store: Store):
    chat = chat_with(store, FakeChat("One.", EngineFailed("It broke."), "Three."))
    say(chat, "first")
    with pytest.raises(EngineFailed):
        say(chat, "second")
    say(chat, "third", instead=True)
    assert stored(store, chat) == [("first", "One."), ("third", "Three.")]
    assert shown(chat) == ["first", "One.", "third", "Three."]


def test_a_resumed_conversation_can_be_tried_again(store: Store):
    begun = chat_with(store, FakeChat("One."))
    say(begun, "first")
    chat = chat_with(store, FakeChat("Two."), session=begun.session)
    assert chat.said_last() == "first"
    say(chat, "first", instead=True)
    assert stored(store, chat) == [("first", "Two.")]


@pytest.mark.parametrize("mode", [Mode.READ_ONLY, Mode.INCOGNITO])
def test_these_modes_replace_in_the_context_only(store: Store, mode: Mode):
    chat = chat_with(store, FakeChat("One.", "Two."), mode=mode)
    say(chat, "first")
    say(chat, "other", instead=True)
    assert shown(chat) == ["other", "Two."]
    assert store.list_sessions() == []


def test_read_only_leaves_the_stored_exchange_alone(store: Store):
    chat = chat_with(store, FakeChat("One.", "Two."))
    say(chat, "first")
    chat.mode = Mode.READ_ONLY
    say(chat, "other", instead=True)
    assert stored(store, chat) == [("first", "One.")]


def test_a_turn_that_was_not_written_down_yet_is_replaced_too(store: Store, monkeypatch: pytest.MonkeyPatch):
    chat = chat_with(store, FakeChat())

    def busy(*args: object, **fields: object) -> object:
        raise StoreBusy("The memory file is busy.")

    with monkeypatch.context() as patch:
        patch.setattr(store, "add_turn", busy)
        say(chat, "I live in Berlin.")
    say(chat, "I live in Bern.", instead=True)
    assert chat.settle() == 0
    assert stored(store, chat) == [("I live in Bern.", "ok")]


def test_a_turn_that_was_forgotten_meanwhile_is_not_brought_back(store: Store):
    chat = chat_with(store, FakeChat())
    turn = result_of(say(chat, "I live in Berlin.")).turn
    learn_all(store)
    store.erase([memory.id for memory in store.list_memories()])
    again = result_of(say(chat, "hello", instead=True)).turn
    assert again != turn
    assert [text for text, _ in stored(store, chat)] == ["[forgotten]", "hello"]
