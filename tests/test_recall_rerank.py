"""The second look: what the model is asked, what its picks do, and what happens when it is of no use."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from memchat.errors import EngineFailed
from memchat.recall import RecallOptions, recall, second_look
from memchat.recall.rerank import read_picks
from memchat.records import Recall, Verdict
from memchat.store import Store
from tests.fakes import FakeChat
from tests.recall_stage import NOW, OPTIONS, embedder, fill, open_store

ON = replace(OPTIONS, rerank=True)
QUESTION = "Where do I cycle in Berlin?"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path) as opened:
        fill(opened, *(f"I cycle in Berlin past the {place}." for place in ("tower", "zoo", "canal", "brewery")))
        yield opened


def look(store: Store, model: FakeChat, query: str = QUESTION, options: RecallOptions = ON) -> Recall:
    return recall(store, embedder(), query, options, NOW, look=second_look(lambda: model, Event()))


def plain(store: Store) -> list[int]:
    return given(recall(store, embedder(), QUESTION, OPTIONS, NOW))


def given(found: Recall) -> list[int]:
    return [one.id for one in found.injected]


def test_the_model_is_shown_numbered_notes_and_its_picks_alone_are_given_in_its_order(store):
    before = plain(store)
    model = FakeChat(json_replies=[{"needed": [3, 1]}])
    found = look(store, model)
    assert given(found) == [before[2], before[0]]
    asked = model.json_prompts[0][-1].content
    assert "\n1. " in asked
    assert asked.endswith(f"The person's message: {QUESTION}")
    passed_over = {one.id: one.reason for one in found.candidates if one.verdict is Verdict.BEYOND_K}
    assert set(passed_over) == set(before) - set(given(found))
    assert "passed it over" in next(iter(passed_over.values()))


def test_picking_nothing_gives_nothing(store):
    assert given(look(store, FakeChat(json_replies=[{"needed": []}]))) == []


@pytest.mark.parametrize("reply", [EngineFailed("It broke."), "no list at all", {"needed": "all"}])
def test_a_model_of_no_use_leaves_the_order_as_it_was(store, reply):
    before = plain(store)
    assert given(look(store, FakeChat(json_replies=[reply]))) == before


def test_it_is_not_asked_unless_wanted_nor_where_there_is_nothing_to_choose(store):
    model = FakeChat()
    look(store, model, options=OPTIONS)
    look(store, model, "zebra xylophone")
    assert model.json_prompts == []


@pytest.mark.parametrize(
    ("reply", "picks"),
    [
        ('{"needed": [2, 1, 2]}', [1, 0]),
        ('```json\n{"needed":[1]}\n```', [0]),
        ("[0, 9, 3]", [2]),
        ('{"needed": []}', []),
        ("none of them", None),
    ],
)
def test_picks_are_read_as_they_come(reply: str, picks: list[int] | None):
    assert read_picks(reply, 3) == picks
