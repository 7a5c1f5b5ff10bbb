"""The JSON that scripts rely on."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from memchat import wire
from memchat.records import (
    Candidate,
    Cause,
    Change,
    Kind,
    Memory,
    ProfileEntry,
    Recall,
    Receipt,
    Session,
    Source,
    State,
    Turn,
    Verdict,
)
from memchat.text import clean

AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
MEMORY = Memory(
    id=7,
    user="default",
    text="I live in Berlin.",
    kind=Kind.IDENTITY,
    importance=8,
    confidence=0.9,
    pinned=True,
    state=State.SUPERSEDED,
    created_at=AT,
    last_seen_at=AT,
    event_date=date(2026, 3, 1),
    superseded_by=9,
    superseded_at=AT,
    source=Source(1, 4, "I live in Berlin"),
    cues=("Where do I live?",),
    ref="r-7",
)
CANDIDATE = Candidate(
    7, "r-7", "I live in Berlin.", Kind.IDENTITY, 3.5, 0.7, 0.5, 0.66666666, 1.0, 8, 0.6, Verdict.INJECTED, "above"
)
RECALL = Recall(
    "where?",
    "default",
    "minilm",
    0.3,
    (CANDIDATE,),
    "[block]",
    12,
    (ProfileEntry(2, "My name is Ada."),),
    6,
    {"total": 1.5},
)


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        (AT, "2026-03-01T09:30:00Z"),
        (datetime(2026, 3, 1, 1, 0, tzinfo=timezone(timedelta(hours=2))), "2026-02-28T23:00:00Z"),
        (AT.replace(microsecond=250000), "2026-03-01T09:30:00.250000Z"),
    ],
    ids=["whole seconds", "another zone", "a fraction"],
)
def test_times_are_utc_with_z(moment, shown):
    assert wire.utc(moment) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Kind.FACT, "fact"),
        ({Kind.FACT: (1, 2)}, {"fact": [1, 2]}),
        (0.12345678, 0.123457),
        (float("nan"), None),
        (float("inf"), None),
        (True, True),
        (frozenset({"b", "a"}), ["a", "b"]),
        (Path("/x"), str(Path("/x"))),
        (Source(None, 3, "e"), {"session": None, "turn": 3, "evidence": "e"}),
    ],
    ids=["enum", "mapping", "rounded", "nan", "infinity", "bool", "set", "path", "record"],
)
def test_plain_values_are_what_json_takes(value, shown):
    assert wire.plain(value) == shown
    json.dumps(wire.plain(value), allow_nan=False)


def test_a_memory_has_the_keys_of_the_contract_first():
    document = wire.memory_json(MEMORY)
    assert list(document)[:12] == [
        "id",
        "text",
        "kind",
        "importance",
        "confidence",
        "pinned",
        "created_at",
        "last_seen_at",
        "superseded_by",
        "source",
        "ref",
        "user",
    ]
    assert document["source"] == {"session": 1, "turn": 4, "evidence": "I live in Berlin"}
    assert (document["kind"], document["state"], document["superseded_by"]) == ("identity", "superseded", 9)
    assert (document["event_date"], document["cues"]) == ("2026-03-01", ["Where do I live?"])
    json.dumps(document)


def test_a_memory_without_source_says_null():
    assert wire.memory_json(Memory(1, "u", "t", Kind.FACT, 5, 1.0, False, State.CURRENT, AT, AT))["source"] is None


def test_inspect_has_the_keys_of_the_contract():
    document = wire.recall_json(RECALL)
    assert set(document) >= {"query", "user", "embed_model", "floor", "candidates", "block", "tokens", "timings_ms"}
    assert document["profile"] == [{"id": 2, "text": "My name is Ada."}]
    (candidate,) = document["candidates"]
    assert set(candidate) >= {"id", "ref", "text", "kind", "age_days", "similarity", "keyword_score", "relevance"}
    assert set(candidate) >= {"decay", "importance", "score", "verdict", "reason"}
    assert candidate["verdict"] == "injected"
    assert "expected" not in document


def test_the_log_names_the_turn():
    turn = Turn(4, 1, "where?", "Berlin.", AT, "UTC", "m")
    document = wire.log_json(turn, RECALL)
    assert (document["turn"], document["session"], document["at"]) == (4, 1, "2026-03-01T09:30:00Z")
    assert wire.injected_json(RECALL) == [{"id": 7, "text": "I live in Berlin.", "score": 0.6}]
    assert wire.turn_json(turn)["user"] == "where?"


def test_a_receipt_has_the_keys_of_the_contract():
    receipt = Receipt((3,), {"memories": 1}, True, ("memory.db",), ("exports",))
    assert list(wire.receipt_json(receipt)) == ["forgotten", "erased", "verified", "checked", "unreachable"]
    failed = Receipt((3,), {"memories": 1}, False, ("memory.db",), (), ("memory.db",))
    assert wire.receipt_json(failed)["found_in"] == ["memory.db"]


def test_history_and_sessions_tell_their_fields():
    change = Change(1, 7, AT, "edited", Cause.USER, None, {"text": "a"}, {"text": "b"})
    assert wire.change_json(change) == {
        "id": 1,
        "memory": 7,
        "at": "2026-03-01T09:30:00Z",
        "action": "edited",
        "cause": "user",
        "turn": None,
        "before": {"text": "a"},
        "after": {"text": "b"},
        "undone": False,
    }
    session = wire.session_json(Session(1, "u", None, AT, None, 0))
    assert (session["title"], session["last_turn_at"], session["turns"]) == (None, None, 0)


STEERING = "\x1b[31mred \x9b31m \u202eover\u202c \u2066in\u2069 \u200f \u2028 \ufeff \U000e0041"


def test_json_keeps_a_text_whole_without_steering_a_terminal():
    text = f"{STEERING} [bold] :cat: ö 日本 👩‍👩‍👧"
    written = wire.json_text({"text": text}, indent=2)
    assert json.loads(written) == {"text": text}
    assert clean(written) == written
    assert "[bold] :cat: ö 日本 👩‍👩‍👧" in written
