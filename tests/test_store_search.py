"""Search: the right user, the right shelf, no bad vector, any words."""

from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memchat.errors import StoreError
from memchat.records import Calibration, Cause, EmbedderCard, NewMemory
from memchat.store.keywords import searchable
from memchat.text import fold
from tests.fakes import FakeEmbedder
from tests.store_stage import EMBEDDER, NOW, embed_all, near, open_store, tell, worded


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path) as store:
        yield store


def test_a_memory_is_found_by_its_nearest_key_once(store):
    memory = tell(store, "I relocated for a job", "Where do I live?", "Which city do I live in?")
    tell(store, "I keep bees")
    hits = store.search_vectors(EMBEDDER.embed_queries(["Where do I live?"])[0], 5)
    assert (hits[0].memory, hits[0].key_text, round(hits[0].similarity, 5)) == (memory.id, "Where do I live?", 1.0)
    assert len(hits) == 2


def test_hidden_rows_nearer_to_the_query_never_crowd_out(store):
    """50 superseded ones and 50 of another user are nearer than the only one that may be found."""
    wanted = tell(store, "Where did I once live", "unlike all others")
    other = store.for_user("ana")
    with store.transaction():
        for number in range(50):
            old = tell(store, f"Where do I live {number}")
            store.supersede_memory(old.id, by=None, cause=Cause.USER, now=NOW)
            tell(other, f"Where do I live {number}")
    assert near(store, "Where do I live", limit=5) == [wanted.id]
    assert len(near(store, "Where do I live", past=True, limit=100)) == 50


def test_many_keys_of_one_memory_leave_room_for_others(store):
    crowd = tell(store, "I live here", *(f"Where do I live {number}" for number in range(40)))
    other = tell(store, "I keep bees")
    assert near(store, "Where do I live", limit=2) == [crowd.id, other.id]


def test_many_discounted_cues_never_crowd_out_a_text_that_is_nearer(store):
    """The cues of forty memories are nearer than the text of one; counted for less, they come behind it."""
    with store.transaction():
        for number in range(40):
            tell(store, f"Note {number}", f"Where do I live {number}?")
    wanted = tell(store, "Where do I live and work")
    embed_all(store)
    asked = EMBEDDER.embed_queries(["Where do I live"])[0]
    plain = store.search_vectors(asked, 2)
    assert wanted.id not in [hit.memory for hit in plain]
    assert store.search_vectors(asked, 2, cue_discount=0.5)[0].memory == wanted.id


def test_the_limit_may_be_larger_than_vec0_allows(store):
    memory = tell(store, "I keep bees")
    assert near(store, "bees", limit=100_000) == [memory.id]
    assert near(store, "bees", limit=0) == []


BAD = {
    "short": array("f", [1.0] * 63),
    "long": array("f", [1.0] * 65),
    "empty": array("f"),
    "nan": array("f", [float("nan")] + [0.5] * 63),
    "infinite": array("f", [float("inf")] + [0.5] * 63),
    "zero": array("f", [0.0] * 64),
}


@pytest.mark.parametrize("vector", BAD.values(), ids=BAD.keys())
def test_a_bad_vector_is_refused_before_it_is_stored_and_before_it_is_asked(store, vector):
    memory = tell(store, "I keep bees")
    good = EMBEDDER.embed_documents(["wasps"])[0]
    keys = [key.id for key in store.list_keys(memory.id)]
    with pytest.raises(ValueError, match="vector"):
        store.set_vectors([(keys[0], good), (keys[0], vector)], EMBEDDER.card())
    with pytest.raises(ValueError, match="vector"):
        store.search_vectors(vector, 5)
    assert near(store, "I keep bees") == [memory.id]
    assert store.search_vectors(EMBEDDER.embed_queries(["I keep bees"])[0], 1)[0].similarity > 0.99


def test_vectors_of_vanished_keys_are_skipped(store):
    store.adopt_embedder(EMBEDDER.card())
    memory = store.add_memory(NewMemory("I keep bees"), cause=Cause.USER, now=NOW)
    stale = store.list_pending_keys()
    store.update_memory(memory.id, cause=Cause.USER, now=NOW, text="I drive a tram")
    store.set_vectors([(key.id, EMBEDDER.embed_documents([key.text])[0]) for key in stale], EMBEDDER.card())
    assert near(store, "I keep bees") == []
    assert (store.count_pending_keys(), store.check()) == (1, [])


@pytest.mark.parametrize(
    "card",
    [
        EmbedderCard("other", "d1", 64, "none"),
        EmbedderCard("fake-embed", "d2", 64, "none"),
        EmbedderCard("fake-embed", "d1", 32, "none"),
        EmbedderCard("fake-embed", "d1", 64, "search"),
    ],
    ids=["model", "digest", "dimensions", "scheme"],
)
def test_vectors_of_another_embedder_are_never_mixed_in(store, card):
    memory = tell(store, "I keep bees")
    key = store.list_keys(memory.id)[0].id
    vector = array("f", [1.0] * card.dimensions)
    for attempt in (lambda: store.adopt_embedder(card), lambda: store.set_vectors([(key, vector)], card)):
        with pytest.raises(StoreError, match="reindex"):
            attempt()
    assert (store.embedder(), near(store, "bees")) == (EMBEDDER.card(), [memory.id])


def test_without_an_embedder_nothing_is_found_by_meaning_and_no_vector_is_taken(store):
    memory = store.add_memory(NewMemory("I keep bees"), cause=Cause.USER, now=NOW)
    assert (store.embedder(), near(store, "bees"), worded(store, "bees")) == (None, [], [memory.id])
    with pytest.raises(StoreError, match="no embedding model"):
        store.set_vectors([(1, array("f", [1.0] * 64))], EMBEDDER.card())


def test_the_calibration_belongs_to_the_embedder(store):
    store.adopt_embedder(EMBEDDER.card())
    assert store.calibration() is None
    calibration = Calibration(0.05, 0.07, 0.31, 0.02, 400, direction=(0.5, -0.5), trials=(("en", 0.2, 0.1),))
    store.set_calibration(calibration)
    assert store.calibration() == calibration
    store.begin_reindex(FakeEmbedder(32, model="other").card())
    store.finish_reindex()
    assert store.calibration() is None


def test_pending_keys_of_all_users_are_listed_oldest_first(store):
    first = store.add_memory(NewMemory("one", cues=("two",)), cause=Cause.USER, now=NOW)
    second = store.for_user("ana").add_memory(NewMemory("three"), cause=Cause.USER, now=NOW)
    pending = store.list_pending_keys()
    assert [(key.memory, key.role, key.text) for key in pending] == [
        (first.id, "text", "one"),
        (first.id, "cue", "two"),
        (second.id, "text", "three"),
    ]
    assert (store.list_pending_keys(2), store.count_pending_keys()) == (pending[:2], 3)


# -- words


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("My daughter's café is in Köln", "cafe"),
        ("My daughter's café is in Köln", "koln"),
        ("My daughter's café is in Köln", "daughter's"),
        ("My daughter’s café", "daughter's"),
        ("I am running marathons", "marathon"),
        ("I drive a BMW", "bmw"),
        ("my flat is on the 3rd floor, no. 12", "12"),
        ("ＦＵＬＬ width", "full"),
        ("我住在柏林米特区", "柏林"),
        ("我住在柏林米特区", "柏林米特"),
        ("我住在柏林", "林"),
        ("東京に引っ越しました", "引っ越し"),
        ("ฉันอาศัยอยู่ที่กรุงเทพ", "กรุงเทพ"),
        ("저는 서울에 살아요", "서울"),
        ("Я живу в Москве", "москве"),
        ("Straße 5", "STRASSE"),
    ],
)
def test_a_word_finds_its_memory_in_any_script(store, text, term):
    memory = tell(store, text)
    tell(store, "nothing of the sort")
    hits = store.search_keywords(["zzz", term], 5)
    assert [(hit.memory, hit.matched) for hit in hits] == [(memory.id, (term,))]
    assert hits[0].bm25 > 0


def test_words_of_cues_are_found_and_more_matches_rank_higher(store):
    one = tell(store, "I relocated", "Which city do I live in?")
    two = tell(store, "I live in that city of mine")
    assert set(worded(store, "city")) == {one.id, two.id}
    best = store.search_keywords(["live", "city", "mine"], 1)
    assert [(hit.memory, hit.matched) for hit in best] == [(two.id, ("live", "city", "mine"))]


@pytest.mark.parametrize(
    "term",
    [
        *('"', '""', "'", "*", "a*", "(", "NEAR(", "text:", "shelf", "current1", "^", "-", "+", "{}", "AND", "OR NOT"),
        *("\\", "%", "", " ", "\n", "…", "👍", "\x00", "\ud800", ") OR shelf : (current2", "ا", "a" * 5000),
    ],
)
def test_no_term_can_break_the_query_or_reach_another_user(store, term):
    other = store.for_user("ana")
    tell(other, "current2 shelf text near a and or not", "NEAR AND OR")
    tell(store, "quite other words")
    assert store.search_keywords([term], 5) == []
    assert worded(store, term, "quite") == [store.list_memories()[0].id]


@settings(max_examples=25, deadline=None)
@given(terms=st.lists(st.text(max_size=12), max_size=80))
def test_any_terms_at_all_are_safe(tmp_path_factory, terms):
    with open_store(tmp_path_factory.mktemp("any")) as store:
        memory = store.add_memory(NewMemory("honey"), cause=Cause.USER, now=NOW)
        assert set(worded(store, *terms)) <= {memory.id}
        assert worded(store, "honey", *terms) == [memory.id]


@settings(max_examples=200)
@given(text=st.text(max_size=40))
def test_what_is_indexed_is_stable(text):
    """Space around a text makes no difference, and text without runs is only folded."""
    pairs = searchable(text).split()
    assert searchable(f"  {text}\n").split() == pairs
    if text.isascii():
        assert " ".join(pairs) == fold(text)


def test_reindexing_keeps_the_old_index_until_the_new_one_is_whole(store):
    new = FakeEmbedder(32, model="other")
    bees, tram = tell(store, "I keep bees", "animals?"), tell(store, "I drive a tram")
    assert store.begin_reindex(new.card()) == 3
    first = store.list_reindex_keys(2)
    store.set_reindex_vectors([(key.id, new.embed_documents([key.text])[0]) for key in first], new.card())
    assert near(store, "bees keep") == [bees.id, tram.id]
    late = tell(store, "I play chess")
    store.supersede_memory(bees.id, by=None, cause=Cause.USER, now=NOW)
    assert store.begin_reindex(new.card()) == 2, "the same card goes on where it was"
    rest = store.list_reindex_keys(10)
    assert [key.memory for key in rest] == [tram.id, late.id]
    store.set_reindex_vectors([(key.id, new.embed_documents([key.text])[0]) for key in rest], new.card())
    forgotten_meanwhile = store.add_memory(NewMemory("I collect stamps"), cause=Cause.USER, now=NOW)
    store.finish_reindex()
    assert store.embedder() == new.card()
    assert [key.memory for key in store.list_pending_keys()] == [forgotten_meanwhile.id]
    assert near(store, "play chess", embedder=new)[0] == late.id
    assert near(store, "bees", past=True, embedder=new) == [bees.id]
    assert store.check() == []


def test_a_reindex_with_a_third_embedder_starts_afresh(store):
    tell(store, "I keep bees")
    store.begin_reindex(FakeEmbedder(32, model="second").card())
    third = FakeEmbedder(16, model="third")
    assert store.begin_reindex(third.card()) == 1
    key = store.list_reindex_keys(5)[0]
    with pytest.raises(StoreError, match="reindex"):
        store.set_reindex_vectors([(key.id, array("f", [1.0] * 32))], FakeEmbedder(32, model="second").card())
    store.set_reindex_vectors([(key.id, third.embed_documents([key.text])[0])], third.card())
    store.finish_reindex()
    assert (near(store, "bees", embedder=third), store.check()) == ([1], [])


def test_an_unfinished_reindex_is_told_and_no_fault(store):
    tell(store, "I keep bees")
    assert store.reindexing_to() is None
    card = FakeEmbedder(32, model="second").card()
    store.begin_reindex(card)
    assert (store.reindexing_to(), store.check()) == (card, [])


def test_an_embedder_that_comes_back_with_the_same_card_is_adopted_again(store):
    tell(store, "I keep bees")
    embed_all(store, FakeEmbedder())
    assert store.embedder() == EMBEDDER.card()


def test_a_question_must_be_nearer_than_the_text_by_its_discount(store):
    asked = EMBEDDER.embed_queries(["What do I keep in the garden?"])[0]
    by_question = tell(store, "There are hives behind the shed.", "What do I keep in the garden?").id
    by_text = tell(store, "I keep bees in the garden.").id
    rendered = tell(store, "Guardo abejas", "What I keep in the garden.").id

    def order(discount: float) -> list[int]:
        return [hit.memory for hit in store.search_vectors(asked, 5, cue_discount=discount)]

    assert order(0.0) == [by_question, rendered, by_text]
    assert order(0.5) == [rendered, by_text, by_question], "another wording of the text is no question"
