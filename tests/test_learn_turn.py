"""Learning from one exchange: what is stored, restated, superseded, refused; all of it in one transaction."""

from datetime import UTC, date, datetime, timedelta
from threading import Event

import pytest

from memchat.errors import Cancelled, EngineFailed
from memchat.learn import LearnOptions, approve, learn_turn, reject, store_explicit
from memchat.learn.extract import Trust
from memchat.learn.rules import Rules
from memchat.recall import ensure_embedded
from memchat.records import Cause, Kind, NewMemory, State
from memchat.store import Store
from tests.fakes import FakeChat, FakeEmbedder
from tests.learn_stage import LATER, NOW, learn, next_queued, queue, texts

DOUBTFUL = "Our hedge is a bit odd."  # about the user, but nothing that code would swear to


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "memory.db") as store:
        yield store


def test_a_fact_is_stored_with_its_evidence_and_leaves_the_queue(store) -> None:
    learned = learn(store, "By the way, I moved to Berlin in March for a new job.")
    (memory,) = learned.added
    assert memory.text == "I moved to Berlin in March 2026 for a new job."
    assert memory.source.evidence == "By the way, I moved to Berlin in March for a new job."
    assert memory.kind is Kind.IDENTITY
    assert (memory.subject, memory.attribute, memory.value) == ("me", "home", "berlin")
    assert store.count_queued() == 0
    assert [change.cause for change in store.list_changes()] == [Cause.LEARNED]


def test_nothing_is_asked_of_the_model_when_nothing_was_stated(store) -> None:
    model = FakeChat()
    learned = learn(store, "ok thanks, that did it", model)
    assert model.json_prompts == []
    assert not learned.added
    assert store.list_drops() == {"small talk": 1}
    assert store.count_queued() == 0


def test_the_model_decides_where_code_cannot(store) -> None:
    assert not learn(store, DOUBTFUL, FakeChat(json_replies=[{"memories": []}])).added
    reply = {"memories": [{"line": 1, "kind": "fact", "importance": 6}]}
    assert [memory.text for memory in learn(store, DOUBTFUL, FakeChat(json_replies=[reply])).added] == [DOUBTFUL]


def test_a_model_that_picks_what_is_known_to_be_empty_is_not_believed_and_then_not_asked(store) -> None:
    everything = {"memories": [{"line": line, "kind": "fact", "importance": 5} for line in (1, 2, 3, 4)]}
    model, trust = FakeChat(json_replies=[everything] * 3), Trust()
    for _ in range(3):
        turn = queue(store, DOUBTFUL)
        learned = learn_turn(store, model, None, next_queued(store), LearnOptions(), turn.at, Event(), trust=trust)
        assert not learned.added
    assert len(model.json_prompts) == 2
    assert store.list_drops() == {"not lasting": 3, "picked at random": 2}


def test_an_unreadable_reply_is_asked_for_once_more_and_then_let_go(store) -> None:
    model = FakeChat(json_replies=["no JSON", "none either"])
    learned = learn(store, DOUBTFUL, model)
    assert len(model.json_prompts) == 2
    assert len(model.json_prompts[1][0].content) < len(model.json_prompts[0][0].content)
    assert not learned.added
    assert learned.dropped["unreadable reply"] == 1
    assert store.count_queued() == 0


def test_a_failing_model_leaves_the_exchange_in_the_queue(store) -> None:
    with pytest.raises(EngineFailed):
        learn(store, DOUBTFUL, FakeChat(json_replies=[EngineFailed("It broke.")]))
    assert store.count_queued() == 1
    assert texts(store) == []


def test_a_stop_leaves_the_exchange_in_the_queue(store) -> None:
    queue(store, "I live in Tartu.")
    stop = Event()
    stop.set()
    with pytest.raises(Cancelled):
        learn_turn(store, FakeChat(), None, next_queued(store), LearnOptions(), NOW, stop)
    assert store.count_queued() == 1


def test_what_was_forgotten_meanwhile_is_not_stored(store) -> None:
    queue(store, "I live in Tartu.")
    queued = next_queued(store)
    assert store.finish_queued(queued.id)
    learned = learn_turn(store, FakeChat(), None, queued, LearnOptions(), NOW, Event())
    assert not learned.added
    assert texts(store) == []


def test_the_same_fact_again_is_no_new_memory(store) -> None:
    first = learn(store, "I live in Tartu.").added[0]
    learned = learn(store, "By the way, I live in Tartu.", at=LATER)
    assert not learned.added
    assert [memory.id for memory in learned.restated] == [first.id]
    again = store.get_memory(first.id)
    assert again.last_seen_at > first.last_seen_at
    assert again.confidence > first.confidence
    assert len(store.list_sources(first.id)) == 2


def test_a_newer_value_supersedes_the_older(store) -> None:
    old = learn(store, "I live in Lisbon.").added[0]
    learned = learn(store, "I've moved to Porto.", at=LATER)
    assert [memory.id for memory in learned.superseded] == [old.id]
    assert store.get_memory(old.id).superseded_by == learned.added[0].id
    assert texts(store) == ["I've moved to Porto."]


def test_an_older_statement_learnt_late_does_not_win(store) -> None:
    new = learn(store, "I live in Porto.", at=LATER).added[0]
    learn(store, "I live in Lisbon.", at=NOW)
    assert texts(store) == ["I live in Porto."]
    old = next(memory for memory in store.list_memories(state=None) if memory.id != new.id)
    assert old.superseded_by == new.id


def test_two_things_that_can_both_be_true_stay(store) -> None:
    for text in (
        "My dentist appointment is on 15 October.",
        "My dentist appointment is on 16 October.",
        "My sister is called Ana.",
        "My brother is called Ian.",
    ):
        learn(store, text)
    assert len(texts(store)) == 4


def test_a_yes_turns_a_no_into_history(store) -> None:
    learn(store, "I like coriander.")
    learn(store, "I don't like coriander.", at=LATER)
    assert texts(store) == ["I don't like coriander."]


def test_what_only_takes_back_ends_the_old_and_is_no_memory(store) -> None:
    old = learn(store, "We bought a canoe.").added[0]
    learned = learn(store, "Scratch that, we didn't buy the canoe after all.", at=LATER)
    assert [memory.id for memory in learned.superseded] == [old.id]
    assert store.get_memory(old.id).superseded_by is None
    assert texts(store) == []
    assert learn(store, "Scratch that, we didn't buy the sofa after all.").dropped["takes back nothing"] == 1


def test_what_is_learnt_late_ended_the_old_value_when_it_was_said(store) -> None:
    old = learn(store, "I live in Berlin.").added[0]
    queue(store, "I moved to Porto.", at=LATER)
    much_later = LATER + timedelta(days=400)
    learn_turn(store, FakeChat(), None, next_queued(store), LearnOptions(), much_later, Event())
    assert store.get_memory(old.id).superseded_at == LATER
    between = store.list_memories(state=None, as_of=LATER + timedelta(days=30))
    assert [memory.id for memory in between] == [old.id + 1]


def test_what_was_said_before_the_present_value_ended_when_that_was_said(store) -> None:
    new = learn(store, "I moved to Porto.", at=LATER).added[0]
    queue(store, "I live in Berlin.", at=NOW)
    learn_turn(store, FakeChat(), None, next_queued(store), LearnOptions(), LATER + timedelta(days=400), Event())
    old = next(memory for memory in store.list_memories(state=None) if memory.id != new.id)
    assert (old.superseded_by, old.superseded_at) == (new.id, LATER)


def test_what_is_learnt_late_was_last_said_when_it_was_said(store) -> None:
    learn(store, "I live in Berlin.")
    queue(store, "I live in Berlin.", at=LATER)
    learn_turn(store, FakeChat(), None, next_queued(store), LearnOptions(), LATER + timedelta(days=400), Event())
    assert store.list_memories()[0].last_seen_at == LATER


def test_what_is_approved_late_stands_in_its_place_in_time(store) -> None:
    old = learn(store, "I live in Berlin.").added[0]
    moved = learn(store, "I moved to Porto.", at=LATER, options=LearnOptions(mode="review")).proposed[0]
    approve(store, moved, LATER + timedelta(days=400))
    assert store.get_memory(old.id).superseded_at == LATER
    before = learn(store, "I live in Oslo.", at=NOW + timedelta(days=1), options=LearnOptions(mode="review"))
    approved = approve(store, before.proposed[0], LATER + timedelta(days=400))
    assert (approved.superseded_by, approved.superseded_at) == (moved.id, LATER)


def test_in_review_a_memory_waits_and_replaces_nothing_until_it_is_approved(store) -> None:
    learn(store, "I live in Lisbon.")
    learned = learn(store, "I've moved to Porto.", options=LearnOptions(mode="review"), at=LATER)
    (proposal,) = learned.proposed
    assert proposal.state is State.PROPOSED
    assert texts(store) == ["I live in Lisbon."]
    approve(store, proposal, LATER)
    assert texts(store) == ["I've moved to Porto."]


def test_a_rejected_proposal_is_gone(store) -> None:
    (proposal,) = learn(store, "I live in Lisbon.", options=LearnOptions(mode="review")).proposed
    assert reject(store, proposal, NOW).state is State.SUPERSEDED
    assert texts(store) == []


def test_an_approved_proposal_that_is_known_by_now_is_not_doubled(store) -> None:
    (proposal,) = learn(store, "I live in Lisbon.", options=LearnOptions(mode="review")).proposed
    learn(store, "I live in Lisbon.")
    approve(store, proposal, LATER)
    assert texts(store) == ["I live in Lisbon."]


def test_learning_can_be_off(store) -> None:
    learn(store, "I live in Lisbon.", options=LearnOptions(mode="off"))
    assert texts(store) == []
    assert store.count_queued() == 0


def test_a_rule_of_the_user_stops_a_memory(store) -> None:
    options = LearnOptions(rules=Rules.of(["Lisbon"]))
    assert learn(store, "I live in Lisbon.", options=options).dropped == {"never_learn": 1}


def test_what_matters_too_little_is_not_stored_but_a_limit_is(store) -> None:
    options = LearnOptions(min_importance=10)
    learn(store, "I live in Lisbon. I'm allergic to nuts.", options=options)
    assert texts(store) == ["I'm allergic to nuts."]


def test_what_was_forgotten_is_not_learnt_again(store) -> None:
    memory = learn(store, "I live in Lisbon.").added[0]
    store.erase([memory.id])
    assert learn(store, "I live in Lisbon.").dropped == {"forgotten before": 1}


def test_health_is_learnt_only_on_request(store) -> None:
    learn(store, "I have type 1 diabetes.")
    assert texts(store) == []
    learn(store, "I have type 1 diabetes.", options=LearnOptions(health=True))
    assert texts(store) == ["I have type 1 diabetes."]


def test_a_message_within_a_game_is_no_statement(store) -> None:
    session = store.add_session(NOW).id
    learn(store, "Let's play: you are a king.", session=session)
    assert learn(store, "I live in a castle.", session=session).dropped == {"fiction": 1}
    learn(store, "OK, end of game.", session=session)
    assert learn(store, "I live in Tartu.", session=session).added


def test_a_suggestion_is_learnt_when_it_is_taken_up_in_so_many_words(store) -> None:
    session = store.add_session(NOW).id
    learn(store, "Where could we eat?", reply="You could try the tapas bar Rubio.", session=session)
    model = FakeChat(json_replies=[{"sentence": "I try the tapas bar Rubio."}])
    learned = learn(store, "Good idea, let's do that.", model, session=session)
    assert [memory.text for memory in learned.added] == ["I try the tapas bar Rubio."]
    invented = FakeChat(json_replies=[{"sentence": "I love Italian food."}])
    assert not learn(store, "Good idea, let's do that.", invented, session=session).added


def test_a_date_is_stored_as_the_user_meant_it(store) -> None:
    at = datetime(2026, 5, 31, 22, 30, tzinfo=UTC)
    memory = learn(store, "We leave for Crete tomorrow.", at=at, zone="Europe/Berlin").added[0]
    assert memory.text == "We leave for Crete on 2 June 2026."
    assert memory.event_date == date(2026, 6, 2)


def test_new_keys_are_embedded_when_an_embedder_is_at_hand(store) -> None:
    queue(store, "I live in Tartu.")
    learn_turn(store, FakeChat(), FakeEmbedder(), next_queued(store), LearnOptions(), NOW, Event())
    assert store.count_pending_keys() == 0


def test_what_is_learnt_is_embedded_once_and_stored_with_its_vector(store) -> None:
    embedder = FakeEmbedder()
    store.add_memory(NewMemory("I keep bees."), cause=Cause.USER, now=NOW)
    ensure_embedded(store, embedder)
    embedder.documents.clear()
    turn, counted = queue(store, "I moved to Berlin."), []
    store._db._connection.set_commit_hook(lambda: counted.append(1) or False)
    learned = learn_turn(store, FakeChat(), embedder, next_queued(store), LearnOptions(), turn.at, Event())
    assert len(counted) == 1
    assert embedder.documents == [learned.added[0].text]
    assert store.count_pending_keys() == 0


def test_a_failing_embedder_loses_nothing(store) -> None:
    embedder = FakeEmbedder()
    embedder.failure = EngineFailed("It broke.")
    queue(store, "I live in Tartu.")
    learned = learn_turn(store, FakeChat(), embedder, next_queued(store), LearnOptions(), NOW, Event())
    assert learned.added
    assert store.count_pending_keys() > 0


def test_a_wish_is_saved_at_once_and_not_learnt_twice(store) -> None:
    turn = queue(store, "Remember that my locker is number 42.")
    answer = store_explicit(store, "My locker is number 42.", turn, NOW)
    (memory,) = answer.saved
    assert answer.sentences == (f"Saved #{memory.id}: My locker is number 42.",)
    learned = learn_turn(store, FakeChat(), None, next_queued(store), LearnOptions(), NOW, Event())
    assert learned == type(learned)()
    assert texts(store) == ["My locker is number 42."]


def test_a_wish_known_already_is_said_to_be(store) -> None:
    store_explicit(store, "I live in Tartu.", queue(store, "x"), NOW)
    answer = store_explicit(store, "I live in Tartu.", queue(store, "y"), LATER)
    assert answer.sentences[0].startswith("Known already, #1")
    assert len(texts(store)) == 1


REFUSED_WISHES = [
    ("a secret", "my bank PIN is 4321", "secret"),
    ("what was taken out", "my card is [secret: card number]", "secret"),
    ("someone's health", "my mother has dementia", "health"),
]


@pytest.mark.parametrize(("wish", "word"), [row[1:] for row in REFUSED_WISHES], ids=[row[0] for row in REFUSED_WISHES])
def test_a_wish_that_is_refused_is_told_why(store, wish: str, word: str) -> None:
    answer = store_explicit(store, wish, queue(store, "x"), NOW)
    assert answer.saved == ()
    assert word in answer.sentences[0]
    assert texts(store) == []


def test_a_wish_against_a_rule_and_one_forgotten_are_refused(store) -> None:
    options = LearnOptions(rules=Rules.of(["locker"]))
    assert "rule" in store_explicit(store, "my locker is 42", queue(store, "x"), NOW, options).sentences[0]
    memory = store_explicit(store, "my boat is red", queue(store, "x"), NOW).saved[0]
    store.erase([memory.id])
    assert "forgotten" in store_explicit(store, "my boat is red", queue(store, "x"), NOW).sentences[0]


def test_own_health_is_kept_when_it_is_asked_for(store) -> None:
    assert store_explicit(store, "I have type 1 diabetes.", queue(store, "x"), NOW).saved
