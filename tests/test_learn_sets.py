"""The write path on labelled exchanges, with a model that says nothing of use: what code alone is good for."""

import json
from pathlib import Path

import pytest

from memchat.errors import UsageError
from memchat.learn.evaluate import extract_with, read_rows, score_extraction
from tests.fakes import FakeChat
from tests.learn_stage import WorstChat

OWN_SET = Path(__file__).parent / "data" / "extraction_more.jsonl"
# Written in five lots, each before the rules that its failures led to; what still fails was left in.
WIDE_SET = OWN_SET.with_name("extraction_wide.jsonl")
SHARED_SET = Path(__file__).parents[2] / "shared" / "eval" / "extraction_dev.jsonl"
SETS = [OWN_SET, pytest.param(SHARED_SET, marks=pytest.mark.skipif(not SHARED_SET.exists(), reason="no set"))]


@pytest.mark.parametrize("path", SETS)
def test_the_targets_hold_even_with_the_worst_model(path: Path) -> None:
    with extract_with(WorstChat(7)) as extract:
        score = score_extraction(read_rows(path), extract)
    assert score.forbidden == 0, score.wrong
    assert score.junk_rate <= 0.03, score.wrong
    assert score.precision >= 0.92, score.wrong
    assert score.recall >= 0.7, score.missed


def test_the_rates_hold_on_a_wide_set() -> None:
    with extract_with(None) as extract:
        score = score_extraction(read_rows(WIDE_SET), extract)
    assert score.junk_rate <= 0.03, score.wrong
    assert score.precision >= 0.95, score.wrong
    assert score.recall >= 0.9, score.missed


def test_scores_are_counted_as_the_sets_describe() -> None:
    expect = [{"about": "home", "must": ["Tartu"], "must_not": ["Riga"], "kind": "identity"}]
    common = {"assistant": "", "today": "2026-09-14", "tz": "UTC", "forbid": ["Riga"]}
    rows = [
        {"id": "a", "user": "u", "expect": expect, "tags": ["t"], **common},
        {"id": "b", "user": "u", "expect": expect, "tags": ["t"], **common},
        {"id": "c", "user": "u", "expect": [], "tags": ["nothing"], **common},
    ]
    stored = {
        "a": [("I live in Tartu.", "identity"), ("In Tartu, I.", "fact")],
        "b": [("Riga", "fact")],
        "c": [("x", "fact")],
    }
    score = score_extraction(rows, lambda row: stored[str(row["id"])])
    assert (score.recall, score.precision, score.junk_rate) == (0.5, 0.5, 1.0)
    assert (score.forbidden, score.doubled, score.junk_memories) == (1, 1, 1)
    assert score.by_tag == {"t": (1, 2)}
    assert score.kinds_agree == 1.0


def test_the_own_set_is_written_in_the_shared_format() -> None:
    rows = [json.loads(line) for line in OWN_SET.read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= 60
    assert len({row["id"] for row in rows}) == len(rows)
    assert all((row["expect"] == []) == ("nothing" in row["tags"]) for row in rows)


def test_a_broken_set_is_named_with_its_line(tmp_path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text('{"id": "a"}\nnonsense\n', encoding="utf-8")
    with pytest.raises(UsageError, match="line 2"):
        read_rows(path)


def test_a_row_is_learnt_with_its_own_clock() -> None:
    row = {"id": "a", "user": "The movers come tomorrow.", "assistant": "", "today": "2026-05-31", "tz": "Asia/Tokyo"}
    with extract_with(FakeChat()) as extract:
        assert extract(row) == [("The movers come on 1 June 2026.", "event")]
