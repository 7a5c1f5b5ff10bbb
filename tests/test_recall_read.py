"""The read path on a real store: the right memory, or none, and always the reason."""

from array import array
from dataclasses import replace as changed

import pytest

from memchat.errors import EngineFailed, EngineUnreachable
from memchat.recall import RecallOptions, ensure_embedded, recall
from memchat.records import Cause, Kind, ProfileEntry, Verdict
from tests.recall_stage import NOW, OPTIONS, embedder, fill, given, open_store, replace, tell, verdicts


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path) as store:
        yield store


def ask(store, query, options=OPTIONS, **more):
    return recall(store, more.pop("embedder", embedder()), query, options, NOW, **more)


def test_meaning_finds_what_shares_no_word(store):
    """Where do I live: no word of it is in the memory that answers it."""
    fill(store, "moved to Berlin", "oat milk in coffee", "plays the cello")
    found = ask(store, "Where do I live?")
    assert given(found) == ["moved to Berlin"]
    assert found.candidates[0].keyword_score == 0
    assert found.embed_model == "fake-embed"
    assert found.keywords_only is None


def test_the_floor_of_a_question_rises_with_the_best_memory_unless_the_config_fixes_it(store):
    fill(store, "moved to Berlin", "oat milk in coffee")
    low, high = (ask(store, "Where do I live?", RecallOptions(best_share=share)) for share in (0.0, 1.0))
    best = max(one.similarity for one in high.candidates)
    assert low.floor < best
    assert high.floor == pytest.approx(best)
    assert ask(store, "Where do I live?", changed(OPTIONS, best_share=1.0)).floor == OPTIONS.floor


def test_a_question_kept_with_a_memory_counts_for_less_by_the_discount_of_the_config(store):
    tell(store, "hives behind the shed", cues=("What do I keep in the garden?",))
    ensure_embedded(store, embedder())
    question = "What do I keep in the garden?"
    full, less = (ask(store, question, changed(OPTIONS, cue_discount=one)).candidates[0] for one in (0.0, 0.3))
    assert full.similarity - less.similarity == pytest.approx(0.3, abs=1e-5)


def test_the_block_is_the_recalled_text_with_its_age(store):
    tell(store, "moved to Berlin", Kind.IDENTITY, days_ago=250)
    ensure_embedded(store, embedder())
    found = ask(store, "Where do I live?")
    assert "- moved to Berlin (8 months ago)" in found.block
    assert 0 < found.tokens <= OPTIONS.budget_tokens


def test_small_talk_and_the_world_recall_nothing_even_of_many(store):
    for number in range(500):
        tell(store, f"item {number} lies on shelf {number % 7}")
    ensure_embedded(store, embedder())
    for message in ("hi", "thanks, bye!", "Who painted the ceiling?"):
        found = ask(store, message)
        assert found.block == ""
        assert {one.verdict for one in found.candidates} <= {Verdict.BELOW_FLOOR}


def test_every_stage_is_timed(store):
    fill(store, "moved to Berlin")
    times = ask(store, "Where do I live?").timings_ms
    assert set(times) == {"embed", "search", "rank", "total"}
    assert times["total"] >= max(times["embed"], times["search"], times["rank"]) > 0


def test_fifty_hidden_rows_nearer_than_the_right_one_do_not_crowd_it_out(store):
    wanted = tell(store, "moved to Berlin for work")
    newest = tell(store, "garden")
    other = store.for_user("ana")
    with store.transaction():
        for number in range(50):
            replace(store, tell(store, f"live {number}"), newest)
            tell(other, f"live {number}")
    ensure_embedded(store, embedder())
    found = ask(store, "live")
    assert [one.id for one in found.injected] == [wanted.id]
    assert all(store.get_memory(one.id) for one in found.candidates)


def test_without_an_embedder_words_are_searched_and_it_is_said(store):
    fill(store, "My bicycle is green", "oat milk in coffee")
    found = ask(store, "What colour is my bicycle?", embedder=None, why_no_vectors="Ollama is not running.")
    assert given(found) == ["My bicycle is green"]
    assert found.keywords_only == "Ollama is not running. Memories were searched by words only."
    assert found.floor is None
    assert found.candidates[0].similarity is None
    assert found.embed_model is None


@pytest.mark.parametrize(
    "failure", [EngineUnreachable("No answer."), EngineFailed("Out of memory.")], ids=["away", "broken"]
)
def test_an_outage_is_told_and_words_still_work(store, failure):
    fill(store, "My bicycle is green")
    broken = embedder()
    broken.failure = failure
    found = ask(store, "Where is the bicycle?", embedder=broken)
    assert given(found) == ["My bicycle is green"]
    assert found.keywords_only.startswith(failure.sentence)


@pytest.mark.parametrize(
    ("vector", "word"),
    [
        pytest.param([0.0] * 256, "empty", id="zero"),
        pytest.param([float("nan")] * 256, "no numbers", id="nan"),
        pytest.param([float("inf")] + [0.0] * 255, "no numbers", id="infinite"),
        pytest.param([1.0] * 3, "3 numbers", id="wrong length"),
    ],
)
def test_a_useless_query_vector_is_never_searched_with(store, vector, word):
    fill(store, "My bicycle is green", "oat milk in coffee")
    bad = embedder()
    bad.embed_queries = lambda texts: [array("f", vector) for _ in texts]
    found = ask(store, "Where is the bicycle?", embedder=bad)
    assert given(found) == ["My bicycle is green"]
    assert word in found.keywords_only


@pytest.mark.parametrize(
    "other",
    [{"model": "second"}, {"digest": "d2"}, {"scheme": "nomic"}, {"dimensions": 32}],
    ids=["model", "digest", "prefixes", "dimensions"],
)
def test_vectors_of_another_embedder_are_never_mixed(store, other):
    fill(store, "My bicycle is green", "moved to Berlin")
    found = ask(store, "Where do I live, and my bicycle?", embedder=embedder(**other))
    assert given(found) == ["My bicycle is green"]
    assert "memchat reindex" in found.keywords_only
    assert all(one.similarity is None for one in found.candidates)


def test_a_memory_that_waits_for_its_vector_is_found_by_its_words(store):
    fill(store, "oat milk in coffee")
    tell(store, "My bicycle is green")
    assert given(ask(store, "Where is the green bicycle?")) == ["My bicycle is green"]


def test_an_empty_store_recalls_nothing_and_needs_no_excuse(store):
    found = ask(store, "Where do I live?")
    assert (found.candidates, found.block, found.tokens, found.keywords_only) == ((), "", 0, None)


def test_a_store_that_was_never_embedded_says_so(store):
    tell(store, "My bicycle is green")
    found = ask(store, "Where is the bicycle?")
    assert given(found) == ["My bicycle is green"]
    assert found.keywords_only.startswith("No memory has been embedded yet.")


def test_a_script_without_spaces_is_found_by_its_characters(store):
    fill(store, "我对花生过敏", "我住在上海")
    assert given(ask(store, "花生", embedder=None)) == ["我对花生过敏"]


def test_a_question_in_another_language_is_found_by_its_words(store):
    fill(store, "Mi bicicleta es verde", "Trabajo en un hospital")
    assert given(ask(store, "¿De qué color es la bicicleta nueva?", OPTIONS)) == ["Mi bicicleta es verde"]


def test_a_month_is_found_whatever_it_is_called(store):
    fill(store, "La charla es el 16 de enero de 2027", "Mi bicicleta es verde")
    assert given(ask(store, "What is in January?", embedder=None)) == ["La charla es el 16 de enero de 2027"]


def test_a_follow_up_is_searched_with_its_conversation(store):
    fill(store, "Delphine hates mushrooms", "oat milk in coffee", "plays the cello")
    assert given(ask(store, "And what about her?", previous="I meet Delphine, she hates what?")) == [
        "Delphine hates mushrooms"
    ]
    assert given(ask(store, "And what about her?")) == []


def test_a_replaced_memory_is_shown_as_such_and_not_given(store):
    old, new = tell(store, "moved to Munich", days_ago=400), tell(store, "moved to Berlin")
    replace(store, old, new, days_ago=30)
    ensure_embedded(store, embedder())
    found = ask(store, "Where do I live?")
    assert verdicts(found)[old.id] is Verdict.SUPERSEDED
    assert given(found) == ["moved to Berlin"]
    reason = next(one.reason for one in found.candidates if one.id == old.id)
    assert (
        reason == f"no longer true since 31 October 2026, replaced by {new.id}, and the question is not about the past"
    )


def test_a_question_about_the_past_is_given_what_was_true_with_its_end(store):
    old, new = tell(store, "moved to Munich", days_ago=400), tell(store, "moved to Berlin")
    replace(store, old, new, days_ago=30)
    ensure_embedded(store, embedder())
    found = ask(store, "live previously")
    assert old.id in [one.id for one in found.injected]
    assert "- moved to Munich (no longer true, until 31 October 2026)" in found.block


def test_as_of_sees_what_was_true_then(store):
    old, new = tell(store, "moved to Munich", days_ago=400), tell(store, "moved to Berlin", days_ago=30)
    replace(store, old, new, days_ago=30)
    ensure_embedded(store, embedder())
    then = NOW.replace(month=6)
    found = ask(store, "Where do I live?", as_of=then)
    assert given(found) == ["moved to Munich"]
    assert [one.id for one in found.candidates] == [old.id]
    assert "no longer true" not in found.block


def test_what_stands_in_the_profile_is_not_repeated_unless_it_comes_first(store):
    texts = ("peanut allergy at dinner", "peanut dinner", "peanut allergy", "oat milk in coffee")
    memories = fill(store, *texts)
    profile = [ProfileEntry(memory.id, memory.text) for memory in memories[:3]]
    found = ask(store, "peanut allergy at dinner", profile=profile)
    seen = verdicts(found)
    assert [seen[memory.id] for memory in memories[:3]].count(Verdict.INJECTED) == 2
    assert [seen[memory.id] for memory in memories[:3]].count(Verdict.IN_PROFILE) == 1
    assert "repeated from the profile" in found.candidates[0].reason
    assert (found.profile_tokens > 0, found.profile) == (True, tuple(profile))


def test_a_repeated_profile_memory_takes_no_place_of_the_others(store):
    memories = fill(store, "peanut allergy", "peanut allergy at dinner", "peanut butter allergy")
    profile = [ProfileEntry(memories[0].id, memories[0].text)]
    found = ask(store, "peanut allergy", changed(OPTIONS, limit=1), profile=profile)
    assert len(found.injected) == 2


def test_a_cue_finds_its_memory(store):
    memory = tell(store, "relocated in March", cues=("Which town is home?",))
    ensure_embedded(store, embedder())
    found = ask(store, "Which town is home?")
    assert given(found) == [memory.text]
    assert found.candidates[0].matched_key == "Which town is home?"


def test_an_important_one_goes_first_among_equals(store):
    low = tell(store, "oak table", importance=2, cues=("Which wood?",))
    high = tell(store, "pine chair", importance=9, cues=("Which wood?",))
    ensure_embedded(store, embedder())
    found = ask(store, "Which wood?")
    assert [one.id for one in found.candidates] == [high.id, low.id]


def test_the_newest_value_of_a_thing_goes_first(store):
    old = tell(store, "rent flat is 900", days_ago=300, subject="user", attribute="rent", value="900")
    new = tell(store, "flat costs 1100", days_ago=3, subject="User", attribute="rent", value="1100")
    ensure_embedded(store, embedder())
    assert [one.id for one in ask(store, "rent flat").candidates] == [new.id, old.id]


def test_age_moves_events_behind_but_never_out(store):
    old = tell(store, "concert in Leeds", Kind.EVENT, days_ago=300)
    new = tell(store, "concert in Hull", Kind.EVENT, days_ago=2)
    ensure_embedded(store, embedder())
    found = ask(store, "concert in")
    assert [one.id for one in found.injected] == [new.id, old.id]
    assert found.candidates[1].decay == RecallOptions().decay_floor
    assert [round(one.age_days) for one in found.candidates] == [2, 300]


def test_earlier_use_breaks_a_tie(store):
    first = tell(store, "oak table", cues=("Which wood?",))
    second = tell(store, "pine chair", cues=("Which wood?",))
    ensure_embedded(store, embedder())
    assert [one.id for one in ask(store, "Which wood?").candidates] == [second.id, first.id]
    store.mark_recalled([first.id], NOW)
    assert [one.id for one in ask(store, "Which wood?").candidates] == [first.id, second.id]


def test_the_edited_wording_no_longer_finds_a_memory(store):
    memory = fill(store, "keeps bees and honey")[0]
    store.update_memory(memory.id, cause=Cause.USER, now=NOW, text="drives a tram")
    ensure_embedded(store, embedder())
    assert given(ask(store, "honey bees")) == []
    assert given(ask(store, "tram drives")) == ["drives a tram"]
