"""Conversations, their turns, the queue of what is still to be learnt, and what replies were given."""

from datetime import timedelta

import pytest

from memchat.errors import NotFound
from memchat.records import Verdict
from tests.store_stage import LATER, NOW, open_store, recall_of, say, tell


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path) as store:
        yield store


def test_a_turn_comes_back_as_it_was_said(store):
    session = store.add_session(NOW)
    turn = store.add_turn(
        session.id,
        user_text="[b]hi[/b] \ud800\x00",
        reply="part of a",
        at=LATER,
        zone="Europe/Berlin",
        model="m",
        interrupted=True,
        learn=False,
        recall=None,
    )
    assert store.get_turn(turn.id) == turn
    assert (turn.user_text, turn.interrupted, turn.zone, turn.at) == ("[b]hi[/b] ?", True, "Europe/Berlin", LATER)
    after = store.get_session(session.id)
    assert (after.turns, after.last_turn_at, session.last_turn_at) == (1, LATER, None)


def test_the_session_last_spoken_in_is_the_latest(store):
    first, second = store.add_session(NOW), store.add_session(NOW)
    say(store, "hello", session=first.id, at=LATER)
    assert store.find_latest_session().id == first.id
    assert [session.id for session in store.list_sessions()] == [second.id, first.id]
    assert store.for_user("ana").find_latest_session() is None


def test_sessions_are_found_by_what_was_said_in_any_case(store):
    trip = say(store, "A trip to KÖLN please").session
    titled = say(store, "hm").session
    store.update_session(titled, title="Planning Köln", summary="s", summarised_to=4, profile="p")
    say(store, "100% other")
    assert [session.id for session in store.list_sessions(search="köln")] == [titled, trip]
    assert [session.id for session in store.list_sessions(search="köln", limit=1)] == [titled]
    assert [store.list_sessions(search=words) for words in ("%", "zzz")][1] == []
    assert len(store.list_sessions(search="0% o")) == 1


def test_a_session_keeps_what_is_not_given(store):
    session = say(store, "hm").session
    store.update_session(session, title="T", summary="S", summarised_to=1, profile="P")
    changed = store.update_session(session, title=None)
    assert (changed.title, changed.summary, changed.summarised_to, changed.profile) == (None, "S", 1, "P")


def test_a_fork_copies_the_turns_and_goes_its_own_way(store):
    turn = say(store, "first", learn=True)
    fork = store.fork_session(turn.session, LATER)
    say(store, "second", session=fork.id)
    assert [copy.user_text for copy in store.list_turns(fork.id)] == ["first", "second"]
    assert [kept.user_text for kept in store.list_turns(turn.session)] == ["first"]
    assert store.count_queued() == 1, "a copy is not learnt from again"
    assert store.fork_session(fork.id, LATER).turns == 2


def answer(store, turn, reply, *, learn=True, interrupted=False):
    return store.complete_turn(
        turn.id, reply=reply, model="m2", interrupted=interrupted, learn=learn, recall=recall_of()
    )


def test_a_reply_can_be_replaced(store):
    turn = say(store, "hi", "old", recall=recall_of(), learn=True)
    assert answer(store, turn, "new").reply == "new"
    assert (store.count_queued(), len(store.list_recalls())) == (1, 1)
    memory = tell(store, "hi there you", turn=turn)
    store.erase([memory.id])
    assert answer(store, turn, "again").forgotten


def test_a_reply_that_comes_a_second_time_queues_nothing_that_was_learnt_from(store):
    turn = say(store, "hi", "old", learn=True)
    assert store.finish_queued(store.list_queued(1, LATER)[0].id)
    answer(store, turn, "new")
    assert store.count_queued() == 0


def test_a_second_reply_that_was_stopped_teaches_nothing_until_a_third_one_is_whole(store):
    turn = say(store, "hi", "old", learn=True)
    answer(store, turn, "ne", learn=False, interrupted=True)
    assert store.count_queued() == 0
    answer(store, turn, "new")
    assert store.count_queued() == 1


def test_a_turn_can_be_taken_out_with_all_that_hangs_on_it(store):
    stays, goes = say(store, "first"), say(store, "second", recall=recall_of(), learn=True)
    store.delete_turn(goes.id)
    assert [turn.id for turn in store.list_turns(stays.session)] == [stays.id]
    assert (store.count_queued(), store.list_recalls()) == (0, [])
    with pytest.raises(NotFound):
        store.delete_turn(goes.id)


def test_other_users_conversations_are_not_there(store):
    turn = say(store, "secret", recall=recall_of())
    other = store.for_user("ana")
    assert (other.list_sessions(), other.list_turns(turn.session), other.list_recalls()) == ([], [], [])
    for look in (other.get_turn, other.get_session, other.get_recall, lambda id: other.fork_session(id, NOW)):
        with pytest.raises(NotFound):
            look(turn.id)
    with pytest.raises(NotFound):
        say(other, "hello", session=turn.session)
    assert other.sizes()["turns"] == 1


# -- queue


def test_the_queue_gives_due_turns_of_the_user_oldest_first(store):
    turns = [say(store, f"fact {number}", learn=True) for number in range(3)]
    say(store, "not this", learn=False)
    say(store.for_user("ana"), "nor this", learn=True)
    queued = store.list_queued(2, NOW)
    assert [waiting.turn for waiting in queued] == turns[:2]
    assert store.count_queued() == 3
    assert store.list_queued(9, NOW - timedelta(seconds=1)) == []


def test_a_finished_row_is_gone_once(store):
    say(store, "fact", learn=True)
    queued = store.list_queued(1, NOW)[0]
    assert (store.finish_queued(queued.id), store.finish_queued(queued.id)) == (True, False)
    assert store.count_queued() == 0


def test_pauses_double_up_to_six_hours_and_then_the_turn_is_stuck(store):
    say(store, "fact", learn=True)
    id = store.list_queued(1, NOW)[0].id
    for attempt in range(1, 13):
        store.postpone_queued(id, f"reason {attempt}", NOW)
        pause = min(timedelta(seconds=30) * 2 ** (attempt - 1), timedelta(hours=6))
        assert store.list_queued(1, NOW + pause - timedelta(seconds=1)) == []
        assert store.list_queued(1, NOW + pause)[0].attempts == attempt
        assert bool(store.list_stuck()) == (attempt >= 5)
    assert store.list_stuck()[0][1] == "reason 12"


# -- recall records


def test_a_recall_record_comes_back_whole(store):
    bees, tram = tell(store, "I keep bees"), tell(store, "I drive a tram")
    recall = recall_of(bees, query="what do I keep?", profile=(tram,))
    turn = say(store, "what do I keep?", recall=recall)
    assert store.get_recall(turn.id) == recall
    assert store.list_recalls() == [(turn, recall)]
    assert store.get_recall(turn.id).candidates[0].verdict is Verdict.INJECTED
    with pytest.raises(NotFound):
        store.get_recall(say(store, "no record").id)


def test_recall_records_are_listed_newest_first(store):
    turns = [say(store, f"question {number}", recall=recall_of(query=f"q{number}")) for number in range(3)]
    assert [turn.id for turn, _ in store.list_recalls(2)] == [turns[2].id, turns[1].id]


def test_a_turn_with_a_broken_record_stores_nothing(store):
    memory = tell(store, "I keep bees")
    session = store.add_session(NOW).id
    with pytest.raises(AttributeError):
        say(store, "hello", session=session, learn=True, recall=recall_of(memory, query=None))
    assert (store.list_turns(session), store.count_queued(), store.get_session(session).last_turn_at) == ([], 0, None)


def test_drops_are_counted_by_reason(store):
    store.count_drops({"no_evidence": 2, "secret": 1})
    store.count_drops({"no_evidence": 3})
    assert store.list_drops() == {"no_evidence": 5, "secret": 1}
    assert store.for_user("ana").list_drops() == {}
