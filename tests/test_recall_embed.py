"""Embedding what waits, and measuring the noise that the floor comes from."""

from array import array
from dataclasses import replace as changed

import pytest

from memchat.errors import EngineFailed
from memchat.recall import RecallOptions, ensure_embedded, recall
from memchat.recall.calibrate import calibrate, lean, question_floor
from memchat.recall.embed import embed_ahead, embed_keys, embed_questions, give_vector, same_space
from memchat.recall.samples import MEMORIES, PERSONAL_QUESTIONS, WORLD_QUESTIONS
from memchat.records import Calibration, Key
from tests.recall_stage import NOW, embedder, given, open_store, tell


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path) as store:
        yield store


def test_the_first_use_adopts_the_embedder_and_calibrates_it(store):
    tell(store, "moved to Berlin", cues=("Where do I live?",))
    assert ensure_embedded(store, embedder()) == 2
    assert store.embedder() == embedder().card()
    calibration = store.calibration()
    assert calibration.pairs == len(WORLD_QUESTIONS) * len(MEMORIES)
    assert len(calibration.trials) == len(WORLD_QUESTIONS)
    assert ensure_embedded(store, embedder()) == 0


def test_a_blank_question_never_reaches_the_embedder(store):
    tell(store, "moved to Berlin")
    fake = embedder()
    ensure_embedded(store, fake)
    found = recall(store, fake, " \n", RecallOptions(), NOW)
    assert "blank" in found.keywords_only
    blank, asked = embed_questions(store, fake, [[" "], ["Who moved to Berlin?"]], RecallOptions())
    assert not blank.vectors
    assert len(asked.vectors) == 1


def test_nothing_pending_needs_no_embedder_at_all(store):
    class Untouchable:
        def card(self):
            raise AssertionError

    assert ensure_embedded(store, Untouchable()) == 0


def test_many_keys_go_in_batches(store):
    for number in range(150):
        tell(store, f"memory {number}")
    sizes = []
    counting = embedder()
    embed_documents = counting.embed_documents
    counting.embed_documents = lambda texts: (sizes.append(len(texts)), embed_documents(texts))[1]
    assert ensure_embedded(store, counting, batch=64) == 150
    assert sizes[-3:] == [64, 64, 22]


def test_another_embedder_embeds_nothing_into_this_file(store):
    tell(store, "moved to Berlin")
    ensure_embedded(store, embedder())
    tell(store, "oat milk")
    assert ensure_embedded(store, embedder(digest="d2")) == 0
    assert store.count_pending_keys() == 1


def test_a_useless_vector_keeps_only_its_own_key_waiting(store):
    for text in ("first", "second", "third"):
        tell(store, text)
    faulty = embedder()
    embed_documents = faulty.embed_documents
    faulty.embed_documents = lambda texts: [
        array("f", [0.0] * 256) if text == "second" else vector
        for text, vector in zip(texts, embed_documents(texts), strict=True)
    ]
    assert ensure_embedded(store, faulty) == 2
    assert [key.text for key in store.list_pending_keys()] == ["second"]
    assert ensure_embedded(store, embedder()) == 1


def test_an_outage_half_way_keeps_what_was_embedded(store):
    for number in range(10):
        tell(store, f"memory {number}")
    failing = embedder()
    ensure_embedded(store, failing)
    for number in range(10, 20):
        tell(store, f"memory {number}")
    batches = iter([None, EngineFailed("Gone.")])
    embed_documents = failing.embed_documents

    def sometimes(texts):
        if (failure := next(batches)) is not None:
            raise failure
        return embed_documents(texts)

    failing.embed_documents = sometimes
    with pytest.raises(EngineFailed):
        ensure_embedded(store, failing, batch=5)
    assert store.count_pending_keys() == 5


def test_a_text_is_embedded_as_the_user_would_say_it_and_a_cue_as_it_stands():
    fake = embedder()
    embed_keys(fake, [Key(1, 1, "text", "The user is a baker.", False), Key(2, 1, "cue", "The user?", False)])
    assert fake.documents == ["I am a baker.", "The user?"]


def test_same_space_is_model_digest_length_and_prefixes():
    card = embedder().card()
    assert same_space(card, changed(card, languages="multilingual"))
    for other in ({"model": "x"}, {"digest": "x"}, {"dimensions": 3}, {"scheme": "x"}):
        assert not same_space(card, changed(card, **other))


def test_the_lists_are_large_enough_and_name_nothing_twice():
    for listed in (WORLD_QUESTIONS, PERSONAL_QUESTIONS, MEMORIES):
        assert len(set(listed)) == len(listed) >= 40
    assert set(WORLD_QUESTIONS).isdisjoint(PERSONAL_QUESTIONS)


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return calibrate(embedder(), false_alarm=0.1, personal_weight=2.0)


def test_personal_questions_lean_towards_ones_own_life(calibration):
    def leaning(text):
        return lean(calibration, text, embedder().embed_queries([text])[0])

    assert leaning("What should I give my aunt?") > leaning("Who composed the opera?") + 1


def test_the_floor_of_a_personal_question_is_lower(calibration):
    def floor(text):
        return question_floor(calibration, [text], embedder().embed_queries([text]), 0.1, 2.0)

    assert floor("What should I give my aunt?") < floor("Who composed the opera?")
    lowest = calibration.noise_mean - 0.5 * calibration.noise_deviation
    assert floor("What should I give my own aunt and my uncle for our party?") >= lowest - 1e-9


def test_context_lends_a_question_half_of_its_leaning(calibration):
    def floor(*texts):
        return question_floor(calibration, texts, embedder().embed_queries(texts), 0.1, 2.0)

    personal, world = "What should I give my aunt?", "Who composed the opera?"
    assert floor(personal) < floor(world, f"{personal} {world}") < floor(world)


def test_a_lower_false_alarm_means_a_higher_floor(calibration):
    texts = ["Who composed the opera?"]
    vectors = embedder().embed_queries(texts)
    floors = [question_floor(calibration, texts, vectors, rate, 2.0) for rate in (0.3, 0.1, 0.02)]
    assert floors == sorted(floors)
    assert floors[0] < floors[-1]


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2])
def test_no_more_of_the_shipped_questions_pass_than_stated(calibration, rate):
    fake = embedder()
    memories = fake.embed_documents(MEMORIES)
    passed = 0
    for text, vector in zip(WORLD_QUESTIONS, fake.embed_queries(WORLD_QUESTIONS), strict=True):
        floor = question_floor(calibration, [text], [vector], rate, 2.0)
        passed += any(sum(a * b for a, b in zip(vector, memory, strict=True)) >= floor for memory in memories)
    assert passed / len(WORLD_QUESTIONS) <= rate + 0.03


def test_without_trials_there_is_one_floor():
    bare = Calibration(0.1, 0.05, 0.31, 0.1, 100)
    assert question_floor(bare, ["What should I eat?"], [array("f", [1.0])], 0.1, 2.0) == 0.31


def test_a_fixed_floor_of_the_config_wins(store):
    tell(store, "moved to Berlin")
    ensure_embedded(store, embedder())
    assert given(recall(store, embedder(), "moved to Paris", RecallOptions(floor=0.9, keyword_floor=1.0), NOW)) == []
    found = recall(store, embedder(), "moved to Paris", RecallOptions(floor=-1.0), NOW)
    assert (given(found), found.floor) == (["moved to Berlin"], -1.0)


@pytest.mark.parametrize("change", [{"text": "moved to Oslo"}, {"card": embedder(model="other").card()}], ids=str)
def test_what_was_embedded_ahead_of_something_else_is_not_given(store, change):
    tell(store, "moved to Berlin")
    ensure_embedded(store, embedder())
    ahead = embed_ahead(store, embedder(), "likes tea")
    with store.transaction():
        memory = tell(store, "likes tea")
        give_vector(store, memory, changed(ahead, **change))
        assert store.count_pending_keys() == 1
        give_vector(store, memory, ahead)
        assert store.count_pending_keys() == 0


def test_nothing_is_embedded_ahead_for_another_embedder_than_the_files(store):
    assert embed_ahead(store, embedder(), "likes tea") is None
    tell(store, "moved to Berlin")
    ensure_embedded(store, embedder())
    assert embed_ahead(store, embedder(model="other"), "likes tea") is None
    assert embed_ahead(store, None, "likes tea") is None
