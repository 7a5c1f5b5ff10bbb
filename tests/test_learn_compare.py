"""How a new statement stands to an older one, and what the model may add to it."""

import json
from pathlib import Path
from threading import Event

import pytest

from memchat.learn.compare import Relation, compare
from memchat.learn.evaluate import read_rows, score_conflicts
from memchat.learn.merge import merge_duplicates
from memchat.learn.reconcile import chooser, find_near, reconcile, slot_of
from memchat.learn.statements import take_apart
from memchat.recall.embed import embed_ahead
from memchat.records import Cause, NewMemory
from memchat.store import Store
from tests.fakes import FakeChat, FakeEmbedder
from tests.learn_stage import LATER, NOW
from tests.store_stage import embed_all

OWN_SET = Path(__file__).parent / "data" / "conflicts_more.jsonl"
SHARED_SET = Path(__file__).parents[2] / "shared" / "eval" / "conflicts_dev.jsonl"
NAMED = [
    ("numbers in other forms", "I earn 3,200 euros.", "I earn 3200 euros.", Relation.SAME),
    ("hours in other forms", "I see Bo at 14:00.", "I see Bo at 2 pm.", Relation.SAME),
    ("an accent", "My friend Zoe sings.", "My friend Zoë sings.", Relation.SAME),
    ("another day", "Dentist on 16 October.", "Dentist on 15 October.", Relation.DIFFERENT),
    ("another sister", "My sister Lea lives here.", "My sister Lena lives here.", Relation.DIFFERENT),
    ("another person", "My brother is called Ian.", "My sister is called Ana.", Relation.DIFFERENT),
    ("another home", "I live in Porto.", "I live in Lisbon.", Relation.UPDATE),
    ("a birthday", "I'm 42.", "I'm 41.", Relation.UPDATE),
    ("yes to no", "I don't like olives.", "I like olives.", Relation.UPDATE),
    ("an end", "I dropped the plan to learn Basque.", "I plan to learn Basque.", Relation.UPDATE),
    ("a denial", "We didn't buy the canoe after all.", "We bought a canoe.", Relation.RETRACTED),
    ("a spelling", "My cousin's name is Siobhra, not Shivra.", "My cousin is called Shivra.", Relation.RETRACTED),
    ("more detail", "My boat is an old blue ketch.", "My boat is blue.", Relation.REFINES),
    ("a second reason to eat none", "I grow walnuts in my garden.", "I don't eat walnuts.", Relation.DIFFERENT),
    ("one more of a kind", "I don't drink oat milk either.", "I don't drink milk.", Relation.DIFFERENT),
    (
        "another of two sisters",
        "Meine jüngere Schwester wohnt in Ulm.",
        "Meine ältere Schwester wohnt in Köln.",
        Relation.DIFFERENT,
    ),
    (
        "another time of life",
        "I lived in Turku from 2015 to 2017.",
        "I lived in Turku from 2001 to 2003.",
        Relation.DIFFERENT,
    ),
    (
        "a goal reached",
        "I passed grade three of the harp exam.",
        "I'm studying for grade three of the harp exam.",
        Relation.UPDATE,
    ),
    (
        "a goal given up",
        "I've scrapped the Dundee triathlon.",
        "I'm training for the Dundee triathlon.",
        Relation.UPDATE,
    ),
    ("a slip of the pen", "Jag läste fel, jag är född 1988.", "Jag är född 1978.", Relation.RETRACTED),
    (
        "a wrong person",
        "Wrong person: my aunt is in the bell club, I'm not.",
        "I'm in the bell club.",
        Relation.RETRACTED,
    ),
    ("a day in other forms", "Born on 3 April 1961.", "The user's date of birth is 1961-04-03.", Relation.SAME),
    (
        "another favourite",
        "Nothing beats Casa Lupo, it's my favourite bar now.",
        "My favourite bar is The Anchor.",
        Relation.UPDATE,
    ),
    ("numbers that change places", "I have 3 cats and 2 dogs.", "I have 2 cats and 3 dogs.", Relation.UPDATE),
    ("numbers in another order", "I have 3 dogs and 2 cats.", "I have 2 cats and 3 dogs.", Relation.SAME),
    ("one of the numbers twice", "Box 2 of 7 holds 2 globes.", "Box 2 of 7 holds 7 globes.", Relation.UPDATE),
    ("the past", "I live in Lund.", "I used to live in Malmö.", Relation.DIFFERENT),
]


@pytest.mark.parametrize(("new", "old", "relation"), [row[1:] for row in NAMED], ids=[row[0] for row in NAMED])
def test_code_tells_relations_apart(new: str, old: str, relation: Relation) -> None:
    assert compare(new, old).relation is relation


@pytest.mark.parametrize(
    "path", [OWN_SET, pytest.param(SHARED_SET, marks=pytest.mark.skipif(not SHARED_SET.exists(), reason="no set"))]
)
def test_pairs_of_the_labelled_sets_are_settled_without_a_model(path: Path) -> None:
    score = score_conflicts(read_rows(path), None)
    assert score.right >= 0.95, score.wrong
    assert score.wrongly_dropped == 0


def read_pairs(relation: str) -> list[tuple[str, str]]:
    lines = (OWN_SET.parent / "pairs.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split("|") for line in lines if line and not line.startswith("#")]
    return [(old, new) for found, old, new in rows if found == relation]


def test_two_facts_are_both_kept() -> None:
    pairs = read_pairs("different")
    merged = [pair for pair in pairs if compare(pair[1], pair[0]).relation is not Relation.DIFFERENT]
    assert len(merged) <= 0.02 * len(pairs), merged
    assert not [pair for pair in merged if compare(pair[1], pair[0]).relation is Relation.SAME]


@pytest.mark.parametrize("relation", ["same", "update"])
def test_a_fact_said_in_other_words_or_with_a_newer_value_is_known_for_it(relation: str) -> None:
    pairs = read_pairs(relation)
    kept = [pair for pair in pairs if compare(pair[1], pair[0]).relation is Relation.DIFFERENT]
    assert len(kept) <= 0.1 * len(pairs), kept


def test_settling_a_pair_leaves_the_memories_beside_it_alone() -> None:
    rows = read_rows(OWN_SET)
    beside = [str(row["old"]) for row in rows if row["relation"] == "different"]
    score = score_conflicts(
        [{"id": "x", "old": "I knit.", "new": "I knit socks.", "relation": "refines"}], None, None, beside
    )
    assert score.wrongly_dropped == 0


def test_a_statement_is_taken_apart() -> None:
    statement = take_apart("My sister Lena, 34, doesn't like the 8:05 train on Mondays since 3 May 2026.")
    assert statement.people == {"sister"}
    assert statement.called == {"lena"}
    assert statement.numbers == {"34"}
    assert statement.times == {"t:08:05", "w:0", "d:05-03", "y:2026"}
    assert statement.negated
    assert statement.likes


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("I moved to Berlin.", ("me", "home", "berlin")),
        ("Mein Bruder wohnt in Graz.", ("brother", "home", None)),
        ("My sister Oda sings.", ("sister", "person", None)),
        ("I like olives.", None),
    ],
)
def test_the_slot_of_a_statement(text: str, slot: tuple[str, str, str | None] | None) -> None:
    found = slot_of(text)
    assert (found and (found.subject, found.attribute, found.value)) == slot


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "memory.db") as store:
        yield store


def keep(store, text: str):
    return store.add_memory(NewMemory(text, created_at=NOW), cause=Cause.USER, now=NOW)


def test_near_memories_are_found_by_slot_words_and_meaning(store) -> None:
    slot = slot_of("Ich wohne in Wien.")
    home = store.add_memory(NewMemory("I live in Rome.", subject="me", attribute="home"), cause=Cause.USER, now=NOW)
    words = keep(store, "Wien has good cake.")
    meant = keep(store, "Unrelated at first sight.")
    embedder = FakeEmbedder(meanings={"unrelated": "wohne", "first": "wien"})
    embed_all(store, embedder)
    ahead = embed_ahead(store, embedder, "Ich wohne in Wien.")
    near = [memory.id for memory in find_near(store, ahead.text, slot, ahead)]
    assert near[0] == home.id
    assert {words.id, meant.id} <= set(near)


def test_the_model_chooses_only_among_what_it_was_offered(store) -> None:
    old = keep(store, "I take tea over coffee.")
    for reply in (
        {"relation": "update", "id": 12},
        {"relation": "delete", "id": 1},
        {"relation": "update", "id": "1"},
        {"relation": "different", "id": 0},
        "prose",
        {"op": "delete"},
    ):
        choose = chooser(FakeChat(json_replies=[reply]), Event())
        assert choose("I prefer tea.", [old]) is None
    choose = chooser(FakeChat(json_replies=[{"relation": "same", "id": 1}]), Event())
    assert choose("I prefer tea.", [old]) == (Relation.SAME, old)


def test_the_model_cannot_talk_names_or_numbers_away(store) -> None:
    said_yes = [{"relation": "same", "id": 1}] * 3
    choose = chooser(FakeChat(json_replies=said_yes), Event())
    assert choose("I have a cat named Tofu.", [keep(store, "I have a cat named Minka.")]) is None
    assert choose("Dentist on 16 October.", [keep(store, "Dentist on 15 October.")]) is None
    assert choose("My son sings.", [keep(store, "My daughter sings.")]) is None


def test_a_sure_comparison_asks_nobody(store) -> None:
    old = keep(store, "I live in Lisbon.")
    model = FakeChat()
    outcome = reconcile("I live in Porto.", LATER, [old], chooser(model, Event()))
    assert outcome.replaced == (old,)
    assert model.json_prompts == []


def test_duplicates_that_slipped_in_are_merged_and_the_older_stays(store) -> None:
    first = keep(store, "I organise the street festival.")
    keep(store, "I have two brothers.")
    twin = keep(store, "I organize the street festival.")
    assert merge_duplicates(store, LATER, Event()) == (twin.id, 1)
    assert store.get_memory(twin.id).superseded_by == first.id
    assert merge_duplicates(store, LATER, Event()) == (2, 0)
    assert merge_duplicates(store, LATER, Event(), after=2) == (2, 0)


def test_looking_for_duplicates_gives_way_when_somebody_waits(store) -> None:
    keep(store, "I organise the street festival.")
    keep(store, "I organize the street festival.")
    stop = Event()
    stop.set()
    assert merge_duplicates(store, LATER, stop) == (0, 0)


def test_twelve_restatements_never_fill_the_list(store) -> None:
    for number in range(12):
        keep(store, "I don't eat meat" + "." * (number % 3) + " " * (number // 3))
    merge_duplicates(store, LATER, Event())
    assert len(store.list_memories()) == 1


def test_the_own_set_is_written_in_the_shared_format() -> None:
    rows = [json.loads(line) for line in OWN_SET.read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= 60
    assert {row["relation"] for row in rows} == {"same", "update", "different", "refines", "contradiction_retracted"}
