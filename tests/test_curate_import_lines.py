"""Lines of an import file, judged without a store."""

import json
from datetime import UTC, date, datetime

import pytest

from memchat.curate.import_lines import find_successor, name_faults, name_lines, parse_lines
from memchat.records import Kind, Source, State

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


def lines(*documents):
    return [json.dumps(document) if isinstance(document, dict) else document for document in documents]


def parse_one(**document):
    good, bad = parse_lines(lines({"text": "I keep bees.", **document}), NOW)
    assert bad == []
    return good[0]


def fault_of(raw):
    good, bad = parse_lines([raw], NOW)
    assert good == []
    return bad[0].reason


def test_only_the_text_is_required():
    memory = parse_one().memory
    assert (memory.text, memory.kind, memory.importance, memory.confidence) == ("I keep bees.", Kind.FACT, 5, 1.0)
    assert (memory.created_at, memory.last_seen_at, memory.state) == (NOW, NOW, State.CURRENT)


def test_everything_said_is_kept():
    memory = parse_one(
        kind="event",
        importance=9,
        confidence=0.5,
        pinned=True,
        created_at="2025-12-03T09:00:00Z",
        last_seen_at="2026-01-03T11:00:00+02:00",
        event_date="2026-02-01",
        subject="user",
        attribute="hobby",
        value="bees",
        cues=["What do I keep?", " ", "What do I keep?"],
        ref="b-1",
        source={"session": 4, "turn": 9, "evidence": "I keep bees"},
    ).memory
    assert (memory.kind, memory.importance, memory.confidence, memory.pinned) == (Kind.EVENT, 9, 0.5, True)
    assert memory.created_at == datetime(2025, 12, 3, 9, tzinfo=UTC)
    assert memory.last_seen_at == datetime(2026, 1, 3, 9, tzinfo=UTC)
    assert (memory.event_date, memory.ref) == (date(2026, 2, 1), "b-1")
    assert (memory.subject, memory.attribute, memory.value) == ("user", "hobby", "bees")
    assert memory.cues == ("What do I keep?",)
    assert memory.source == Source(None, None, "I keep bees")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"created_at": "2025-12-03"}, datetime(2025, 12, 3, tzinfo=UTC)),
        ({"created_at": "2025-12-03T09:00:00"}, datetime(2025, 12, 3, 9, tzinfo=UTC)),
        ({"created_at": "2025-12-03T23:30:00-02:00"}, datetime(2025, 12, 4, 1, 30, tzinfo=UTC)),
        ({"created_at": None}, NOW),
    ],
    ids=["a date", "no zone is UTC", "another zone", "null"],
)
def test_times_become_utc(given, expected):
    memory = parse_one(**given).memory
    assert memory.created_at == expected
    assert memory.last_seen_at == expected


def test_seen_before_made_is_seen_when_made():
    memory = parse_one(created_at="2026-01-02T00:00:00Z", last_seen_at="2026-01-01T00:00:00Z").memory
    assert memory.last_seen_at == memory.created_at


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("nope", "Invalid JSON: expected ident, column 2"),
        (b'{"text":"\xff"}', "Invalid JSON"),
        ("[1]", "must be one JSON object"),
        ("{}", "text: is missing"),
        ('{"text":3}', "text: must be a valid string"),
        ('{"text":" \\u0007 "}', "blank"),
        (json.dumps({"text": "x" * 2001}), "2001 characters"),
        ('{"text":"x","kind":"hobby"}', "kind: must be 'identity'"),
        ('{"text":"x","importance":11}', "importance: must be less than or equal to 10"),
        ('{"text":"x","importance":"7"}', "importance: must be a valid integer"),
        ('{"text":"x","importance":true}', "importance: must be a valid integer"),
        ('{"text":"x","confidence":NaN}', "confidence"),
        ('{"text":"x","pinned":"yes"}', "pinned: must be a valid boolean"),
        ('{"text":"x","created_at":"yesterday"}', "created_at"),
        ('{"text":"x","created_at":"0001-01-01T00:00:00+14:00"}', "created_at: the year"),
        ('{"text":"x","event_date":"2026-02-30"}', "event_date"),
        ('{"text":"x","cues":"one"}', "cues"),
        (json.dumps({"text": "x", "cues": list("abcdefghijklmnopqrs")}), "cues: 19 are given"),
        ('{"text":"x","source":3}', "source"),
        (json.dumps({"text": "x", "subject": "y" * 1001}), "subject: has 1001"),
        ("[" * 100_000, "recursion limit"),
        ('{"text":"x","id":99999999999999999999}', "id"),
        ('{"text":"x","superseded_by":"' + "9" * 5000 + '"}', "superseded_by"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) and len(value) < 60 else None,
)
def test_a_bad_line_is_told_with_its_reason(raw, reason):
    assert reason in fault_of(raw)


def test_lines_are_counted_as_in_an_editor_and_blank_ones_passed_over():
    good, bad = parse_lines([b"\xef\xbb\xbf" + b'{"text":"a"}', b"\n", b"  ", b"nope", b'{"text":"b"}\r\n'], NOW)
    assert [(line.line, line.memory.text) for line in good] == [(1, "a"), (5, "b")]
    assert [fault.line for fault in bad] == [4]


def test_control_characters_never_get_in():
    assert parse_one(text="a\x1b[2Jb\n\u202ec").memory.text == "ab c"


def test_superseded_by_names_an_id_or_a_ref_of_the_file():
    good, bad = parse_lines(
        lines(
            {"text": "a", "id": 1, "superseded_by": 3},
            {"text": "b", "ref": "r1", "superseded_by": "r3"},
            {"text": "c", "id": 3, "ref": "r3"},
            {"text": "d", "superseded_by": "3"},
            {"text": "e", "ref": "9"},
            {"text": "f", "superseded_by": 9},
        ),
        NOW,
    )
    assert bad == []
    named = name_lines(good)
    successors = {line.memory.text: find_successor(line, named) for line in good}
    assert {text: later and later.memory.text for text, later in successors.items()} == {
        "a": "c",
        "b": "c",
        "c": None,
        "d": "c",
        "e": None,
        "f": "e",
    }
    assert [line.superseded for line in good] == [True, True, False, True, False, True]


@pytest.mark.parametrize(
    ("documents", "bad_lines", "reason"),
    [
        ([{"text": "a", "superseded_by": 5}], [1], "no single valid line"),
        ([{"text": "a", "superseded_by": 1, "id": 1}], [1], "circle"),
        ([{"text": "a", "id": 1, "superseded_by": 2}, {"text": "b", "id": 2, "superseded_by": 1}], [1, 2], "circle"),
        ([{"text": "a", "superseded_by": 2}, {"text": "b", "id": 2}, {"text": "c", "id": 2}], [1], "no single"),
        ([{"text": "a", "superseded_by": 2}, {"text": "", "id": 2}], [1, 2], "no single"),
        ([{"text": "a", "ref": "r"}, {"text": "b", "ref": "r"}], [2], "line 1"),
    ],
    ids=["nothing there", "itself", "a circle", "an id twice", "a bad line", "a ref twice"],
)
def test_lines_that_cannot_stand_together_are_named(documents, bad_lines, reason):
    _, bad = parse_lines(lines(*documents), NOW)
    assert [fault.line for fault in bad] == bad_lines
    assert reason in bad[0].reason


def test_the_same_ref_with_the_same_text_is_one_line():
    good, bad = parse_lines(lines({"text": "A b", "ref": "r"}, {"text": "a  B", "ref": "r"}), NOW)
    assert ([line.line for line in good], bad) == ([1], [])


@pytest.mark.parametrize(
    ("given", "state", "superseded"),
    [
        ({"state": "proposed"}, State.PROPOSED, False),
        ({"state": "superseded"}, State.SUPERSEDED, False),
        ({"state": "superseded", "superseded_at": "2026-01-01T00:00:00Z"}, State.CURRENT, True),
        ({"superseded_at": "2026-01-01T00:00:00Z"}, State.CURRENT, True),
    ],
    ids=["a proposal", "a rejected one", "one that ended", "one that ended, by its time alone"],
)
def test_the_state_is_kept(given, state, superseded):
    line = parse_one(**given)
    assert (line.memory.state, line.superseded) == (state, superseded)


def test_a_chain_of_thousands_is_judged_in_no_time():
    chain = lines(*({"text": f"t{n}", "id": n, "superseded_by": n + 1} for n in range(3000)), {"text": "z", "id": 3000})
    good, bad = parse_lines(chain, NOW)
    assert (len(good), bad) == (3001, [])


def test_the_message_names_file_line_and_reason_and_stops_at_twenty():
    _, bad = parse_lines(["x"] * 25, NOW)
    message = name_faults("mine.jsonl", bad)
    assert message.startswith("25 lines are wrong")
    assert "mine.jsonl, line 1: Invalid JSON" in message
    assert message.endswith("… and 5 more")
