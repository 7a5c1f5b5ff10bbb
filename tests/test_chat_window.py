"""The window of earlier turns: whole turns leave, the oldest first, and the prompt's beginning moves seldom."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memchat.chat.window import Exchange, Window
from memchat.errors import PromptTooLong
from memchat.records import Role


def words_of(text: str) -> int:
    return len(text.split())


def window_of(*sizes: int) -> Window:
    return Window(words_of, [Exchange(i, "u " * size, "r " * size) for i, size in enumerate(sizes, 1)])


def test_everything_stays_while_it_fits():
    window = window_of(10, 10)
    assert window.fit(1000) == 0
    assert [message.role for message in window.messages()] == [Role.USER, Role.ASSISTANT] * 2


def test_the_oldest_turns_leave_whole_and_further_than_needed_so_that_the_next_turns_find_room():
    window = window_of(*[42] * 10)  # 100 tokens each with the marks around the messages
    assert window.fit(900) == 5
    assert window.tokens() == 500
    assert [exchange.turn for exchange in window.shown] == [6, 7, 8, 9, 10]
    assert [exchange.turn for exchange in window.dropped] == [1, 2, 3, 4, 5]
    for _ in range(4):
        window.add(Exchange(None, "u " * 42, "r " * 42))
        assert window.fit(900) == 0, "the beginning stays for the turns after a jump"


def test_a_message_without_room_is_refused_with_what_to_do():
    with pytest.raises(PromptTooLong, match=r"300 tokens too long.*chat\.num_ctx"):
        window_of(1).fit(-300)


def test_a_forgotten_turn_leaves_and_the_beginning_stays_at_the_same_turn():
    window = window_of(*[42] * 10)
    window.fit(900)
    window.drop(lambda exchange: exchange.turn in {2, 8})
    assert [exchange.turn for exchange in window.shown] == [6, 7, 9, 10]
    assert window.tokens() == 400


def test_the_last_turn_can_be_taken_back():
    window = window_of(5, 6)
    last = window.remove_last()
    assert last is not None
    assert last.turn == 2
    assert len(window) == 1
    assert window_of().remove_last() is None


def test_a_turn_without_a_reply_shows_only_the_question():
    assert [m.role for m in Exchange(1, "hi", "").messages()] == [Role.USER]


@given(st.lists(st.integers(0, 200), max_size=30), st.integers(0, 3000))
def test_what_is_shown_never_takes_more_than_the_room(sizes: list[int], room: int):
    window = window_of(*sizes)
    window.fit(room)
    assert window.tokens() <= room
    assert len(window.shown) + len(window.dropped) == len(sizes)
