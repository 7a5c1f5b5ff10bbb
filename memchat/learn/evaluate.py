"""Scoring the write path on labelled exchanges and pairs: what is stored, what is missed, what must not be there.

The scores are those of the labelled sets' own description: an expectation is met by a stored memory in which all its
patterns are found and none of the forbidden ones.
"""

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Final
from zoneinfo import ZoneInfo

from memchat.engine import ChatModel, Embedder
from memchat.errors import UsageError
from memchat.learn.dates import absolute_dates
from memchat.learn.drafts import Draft
from memchat.learn.extract import Trust
from memchat.learn.json_reply import items_of
from memchat.learn.kinds import Judgement
from memchat.learn.language import guess_language
from memchat.learn.options import LearnOptions
from memchat.learn.reconcile import chooser
from memchat.learn.turn import Writer, learn_turn, plan
from memchat.learn.wording import PLAIN_SCHEMA, plain_messages
from memchat.records import Cause, Kind, NewMemory, State
from memchat.store import Store

_NOON: Final = time(12, 0)
Json = dict[str, object]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ExtractionScore:
    """What one run over an extraction set gave; shares are 0-1, `by_tag` holds (met, expected) by tag."""

    recall: float
    precision: float
    junk_rate: float
    forbidden: int
    doubled: int
    stored: int
    expected: int
    nothing_rows: int
    junk_memories: int
    kinds_agree: float
    by_tag: Mapping[str, tuple[int, int]]
    missed: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConflictScore:
    """What one run over a set of pairs gave; `by_relation` holds (right, all)."""

    right: float
    pairs: int
    wrongly_dropped: int
    wrongly_kept: int
    by_relation: Mapping[str, tuple[int, int]]
    wrong: tuple[str, ...] = ()


@dataclass(slots=True)
class _Tally:
    met: int = 0
    expected: int = 0
    good: int = 0
    stored: int = 0
    junk: int = 0
    junk_memories: int = 0
    nothing: int = 0
    forbidden: int = 0
    doubled: int = 0
    kinds: list[bool] = field(default_factory=list)
    by_tag: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


# -- extraction

Extract = Callable[[Json], Sequence[tuple[str, str]]]  # a row to (text, kind) of what is stored from it


@contextmanager
def extract_with(model: ChatModel | None, embedder: Embedder | None = None) -> Iterator[Extract]:
    """Give a function that learns a row as a user of its own, with the clock at the row's day and zone."""
    trust = Trust()
    with _empty_store() as store:
        yield lambda row: _learn_row(store.for_user(str(row["id"])), row, model, embedder, trust)


def _learn_row(
    store: Store, row: Json, model: ChatModel | None, embedder: Embedder | None, trust: Trust
) -> list[tuple[str, str]]:
    at = datetime.combine(date.fromisoformat(str(row["today"])), _NOON, ZoneInfo(str(row["tz"]))).astimezone(UTC)
    store.add_turn(
        store.add_session(at).id,
        user_text=str(row["user"]),
        reply=str(row["assistant"]),
        at=at,
        zone=str(row["tz"]),
        model="",
        learn=True,
        recall=None,
        explicit=bool(row.get("explicit")),
    )
    learn_turn(store, model, embedder, store.list_queued(1, at)[0], LearnOptions(), at, Event(), trust=trust)
    return [(memory.text, memory.kind.value) for memory in store.list_memories()]


def extract_plainly(model: ChatModel) -> Extract:
    """Return a function that stores whatever a plain prompt gives, unchecked, to measure the rest against."""

    def extract(row: Json) -> list[tuple[str, str]]:
        messages = plain_messages(str(row["user"]), str(row["assistant"]))
        items = items_of(model.complete_json(messages, PLAIN_SCHEMA, max_tokens=300, stop=Event()), "memories")
        return [(str(item["text"]), str(item.get("kind"))) for item in items or () if item.get("text")]

    return extract


def score_extraction(
    rows: Sequence[Json], extract: Extract, progress: Progress = lambda done, total: None
) -> ExtractionScore:
    """Run a set of exchanges through `extract` and score what is stored."""
    tally = _Tally()
    for number, row in enumerate(rows):
        progress(number, len(rows))
        _count_row(row, extract(row), tally)
    return ExtractionScore(
        recall=_ratio(tally.met, tally.expected),
        precision=_ratio(tally.good, tally.stored),
        junk_rate=_ratio(tally.junk, tally.nothing),
        forbidden=tally.forbidden,
        doubled=tally.doubled,
        stored=tally.stored,
        expected=tally.expected,
        nothing_rows=tally.nothing,
        junk_memories=tally.junk_memories,
        kinds_agree=_ratio(sum(tally.kinds), len(tally.kinds)),
        by_tag={tag: (met, all_) for tag, (met, all_) in sorted(tally.by_tag.items())},
        missed=tuple(tally.missed),
        wrong=tuple(tally.wrong),
    )


def _count_row(row: Json, stored: Sequence[tuple[str, str]], tally: _Tally) -> None:
    expected, forbidden, tags = _list(row, "expect"), _list(row, "forbid"), _list(row, "tags")
    tally.stored += len(stored)
    if not expected:
        tally.nothing += 1
        tally.junk += bool(stored)
        tally.junk_memories += len(stored)
    for text, _ in stored:
        hits = [pattern for pattern in forbidden if _found(str(pattern), text)]
        tally.forbidden += len(hits)
        if any(_meets(expect, text) for expect in expected) and not hits:
            tally.good += 1
        else:
            tally.wrong.append(f"{row['id']}: {text}")
    for expect in expected:
        meeting = [(text, kind) for text, kind in stored if _meets(expect, text)]
        _count_expectation(row, expect, meeting, tags, tally)


def _count_expectation(
    row: Json, expect: object, meeting: Sequence[tuple[str, str]], tags: Sequence[object], tally: _Tally
) -> None:
    assert isinstance(expect, dict)
    tally.expected += 1
    tally.met += bool(meeting)
    tally.doubled += len(meeting) > 1
    if meeting:
        tally.kinds.append(any(kind == expect.get("kind") for _, kind in meeting))
    else:
        tally.missed.append(f"{row['id']}: {expect['about']} in {str(row['user'])[:100]!r}")
    for tag in tags:
        tally.by_tag[str(tag)][0] += bool(meeting)
        tally.by_tag[str(tag)][1] += 1


def _meets(expect: object, text: str) -> bool:
    assert isinstance(expect, dict)
    return all(_found(p, text) for p in expect["must"]) and not any(_found(p, text) for p in expect["must_not"])


def _found(pattern: str, text: str) -> bool:
    return (
        re.search(unicodedata.normalize("NFC", pattern), unicodedata.normalize("NFC", text), re.IGNORECASE) is not None
    )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


# -- conflicts

_SECOND: Final = datetime(2026, 9, 14, 12, 0, tzinfo=UTC)
_FIRST: Final = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def score_conflicts(
    rows: Sequence[Json],
    model: ChatModel | None,
    embedder: Embedder | None = None,
    beside: Sequence[str] = (),
    progress: Progress = lambda done, total: None,
) -> ConflictScore:
    """Store each pair one after the other, in a store that holds the texts `beside`, and look what is current."""
    right: Counter[str] = Counter()
    every: Counter[str] = Counter()
    dropped = kept = 0
    wrong = []
    with _empty_store() as store:
        for number, row in enumerate(rows):
            progress(number, len(rows))
            current, others = _settle(store.for_user(str(row["id"])), row, model, embedder, beside)
            relation = str(row["relation"])
            every[relation] += 1
            if _is_right(relation, current):
                right[relation] += 1
            else:
                wrong.append(f"{row['id']} {relation}: {row['old']} / {row['new']} -> {sorted(current)}")
            dropped += not current or (relation == "different" and len(current) < 2)
            dropped += others
            kept += relation in ("update", "contradiction_retracted") and "old" in current
    return ConflictScore(
        right=_ratio(sum(right.values()), sum(every.values())),
        pairs=sum(every.values()),
        wrongly_dropped=dropped,
        wrongly_kept=kept,
        by_relation={relation: (right[relation], every[relation]) for relation in sorted(every)},
        wrong=tuple(wrong),
    )


def _is_right(relation: str, current: set[str]) -> bool:
    if relation == "same":
        return len(current) == 1
    if relation == "different":
        return current == {"old", "new"}
    return "new" in current and (relation == "refines" or "old" not in current)


def _settle(
    store: Store, row: Json, model: ChatModel | None, embedder: Embedder | None, beside: Sequence[str]
) -> tuple[set[str], int]:
    """Return which of a pair are current afterwards, and how many of the texts beside it are not any more."""
    for text in beside:
        store.add_memory(NewMemory(text, created_at=_FIRST), cause=Cause.USER, now=_FIRST)
    choose = chooser(model, Event()) if model is not None else None
    session = store.add_session(_FIRST)
    ids: dict[str, int | None] = {}
    for name, at in (("old", _FIRST), ("new", _SECOND)):
        turn = store.add_turn(
            session.id, user_text=str(row[name]), reply="", at=at, zone="UTC", model="", learn=False, recall=None
        )
        writer = Writer(store, turn, at)
        step = plan(store, _draft(str(row[name]), at), at, embedder, choose)
        with store.transaction():
            writer.write(step)
        added = writer.learned({}).added
        ids[name] = added[0].id if added else None
    current = {memory.id for memory in store.list_memories(state=State.CURRENT)}
    pair = {name for name, id in ids.items() if id in current}
    return pair, len(beside) - len(current - {id for id in ids.values() if id is not None})


def _draft(text: str, at: datetime) -> Draft:
    language = guess_language(text)
    dated = absolute_dates(text, at.date(), language)
    return Draft(dated.text, text, language, Judgement(Kind.FACT, 5, 3), dated.day)


# -- sets


def read_rows(path: Path) -> list[Json]:
    """Read a labelled set, one JSON object a line; raises UsageError naming the line that is none."""
    rows: list[Json] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            raise UsageError(f"{path}, line {number} is not JSON.") from None
        if not isinstance(row, dict):
            raise UsageError(f"{path}, line {number} is not a JSON object.")
        rows.append(row)
    return rows


def _list(row: Json, key: str) -> list[object]:
    value = row.get(key)
    return value if isinstance(value, list) else []


@contextmanager
def _empty_store() -> Iterator[Store]:
    with TemporaryDirectory(prefix="memchat-") as folder, Store.open(Path(folder) / "memory.db") as store:
        yield store
