"""Lines of an import file turned into memories to be stored, each fault named by its line; pure, no store."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

from memchat.curate.wording import tidy
from memchat.errors import UsageError
from memchat.records import Kind, NewMemory, Source, State
from memchat.text import counted, fold, one_line

if TYPE_CHECKING:
    from memchat.curate.shapes import MemoryLine

_LONGEST_OTHER: Final = 1000
_SURELY_TOO_LONG: Final = 100_000  # characters that are not even cleaned first
_MOST_CUES: Final = 16
_MOST_NAMED: Final = 20  # bad lines told in one message
_FIRST_YEAR, _LAST_YEAR = 1900, 2200

Name = int | str  # an `id` or a `ref`, as `superseded_by` may name another line


@dataclass(frozen=True, slots=True)
class BadLine:
    """One line that cannot be taken, with the reason in words."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ImportLine:
    """One valid line: the memory, and what it says of being superseded."""

    line: int
    memory: NewMemory
    id: int | None
    superseded: bool
    superseded_by: Name | None
    superseded_at: datetime | None


def parse_lines(lines: Iterable[bytes | str], now: datetime) -> tuple[list[ImportLine], list[BadLine]]:
    """Return the valid lines in file order and the bad ones; blank lines are passed over."""
    good: list[ImportLine] = []
    bad: list[BadLine] = []
    for number, raw in enumerate(lines, 1):
        line = _without_mark(raw) if number == 1 else raw
        if not line.strip():
            continue
        try:
            good.append(parse_line(line, number, now))
        except UsageError as error:
            bad.append(BadLine(number, error.sentence))
    return _check_together(good, bad)


def name_faults(name: str, bad: Sequence[BadLine]) -> str:
    """Return a message that names the bad lines of the file `name`, the first twenty in full."""
    told = [f"{name}, line {fault.line}: {fault.reason}" for fault in bad[:_MOST_NAMED]]
    if len(bad) > _MOST_NAMED:
        told.append(f"… and {len(bad) - _MOST_NAMED} more")
    lines = counted(len(bad), "line is", "lines are")
    return f"{lines} wrong, so nothing was stored (--skip-bad leaves them out):\n" + "\n".join(told)


def parse_line(raw: bytes | str, number: int, now: datetime) -> ImportLine:
    """Return one line as a memory; raises UsageError with the first reason against it."""
    # pydantic is imported here since only imports need it.
    from pydantic import ValidationError

    from memchat.curate.shapes import MemoryLine, first_fault

    try:
        shape = MemoryLine.model_validate_json(raw)
    except ValidationError as error:
        raise UsageError(first_fault(error)) from None
    superseded_at = _moment("superseded_at", shape.superseded_at)
    return ImportLine(
        line=number,
        memory=_memory(shape, now),
        id=shape.id,
        superseded=shape.superseded_by is not None or superseded_at is not None,
        superseded_by=shape.superseded_by,
        superseded_at=superseded_at,
    )


def _memory(shape: "MemoryLine", now: datetime) -> NewMemory:
    created = _moment("created_at", shape.created_at) or now
    seen = _moment("last_seen_at", shape.last_seen_at) or created
    evidence = _short("source", shape.source.evidence) if shape.source else None
    return NewMemory(
        text=tidy(shape.text),
        kind=shape.kind or Kind.FACT,
        importance=5 if shape.importance is None else shape.importance,
        confidence=1.0 if shape.confidence is None else shape.confidence,
        pinned=bool(shape.pinned),
        state=_state(shape),
        created_at=created,
        last_seen_at=max(created, seen),
        subject=_short("subject", shape.subject),
        attribute=_short("attribute", shape.attribute),
        value=_short("value", shape.value),
        event_date=shape.event_date,
        ref=_short("ref", None if shape.ref is None else str(shape.ref)),
        source=Source(None, None, evidence) if evidence else None,
        cues=_cues(shape.cues or ()),
    )


def _state(shape: "MemoryLine") -> State:
    """Return the state a line is added in: what was superseded becomes so afterwards, a rejected proposal is now."""
    if shape.superseded_by is not None or shape.superseded_at is not None:
        return State.CURRENT
    return shape.state or State.CURRENT


def _short(key: str, text: str | None) -> str | None:
    line = one_line(text or "") if len(text or "") <= _SURELY_TOO_LONG else text or ""
    if len(line) > _LONGEST_OTHER:
        raise UsageError(f"{key}: has {len(line)} characters; {_LONGEST_OTHER} are the most")
    return line or None


def _cues(cues: Sequence[str]) -> tuple[str, ...]:
    if len(cues) > _MOST_CUES:
        raise UsageError(f"cues: {len(cues)} are given; {_MOST_CUES} are the most")
    kept = (_short("cues", cue) for cue in cues)
    return tuple(dict.fromkeys(cue for cue in kept if cue and fold(cue)))


def _moment(key: str, value: datetime | date | None) -> datetime | None:
    """Return a time in UTC; one without a zone is taken as UTC, a date as its first moment."""
    if value is None:
        return None
    if not _FIRST_YEAR <= value.year <= _LAST_YEAR:
        raise UsageError(f"{key}: the year must lie between {_FIRST_YEAR} and {_LAST_YEAR}")
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _without_mark(raw: bytes | str) -> bytes | str:
    """Return the first line without a byte order mark."""
    return raw.removeprefix(b"\xef\xbb\xbf") if isinstance(raw, bytes) else raw.removeprefix("\ufeff")


# -- what only all lines together can tell


def _check_together(good: list[ImportLine], bad: list[BadLine]) -> tuple[list[ImportLine], list[BadLine]]:
    good, doubled = _drop_doubled(good)
    bad = bad + doubled
    while orphans := _find_orphans(good):  # a line that goes may orphan another one
        good = [line for line in good if line.line not in orphans]
        bad += [BadLine(number, reason) for number, reason in orphans.items()]
    return good, sorted(bad, key=lambda fault: fault.line)


def name_lines(lines: Iterable[ImportLine]) -> dict[Name, ImportLine]:
    """Return the lines by id (a number) and ref (a text); an id that stands twice names none."""
    lines = list(lines)
    times = Counter(line.id for line in lines)
    by_id: dict[Name, ImportLine] = {line.id: line for line in lines if line.id is not None and times[line.id] == 1}
    return by_id | {line.memory.ref: line for line in lines if line.memory.ref is not None}


def find_successor(line: ImportLine, named: Mapping[Name, ImportLine]) -> ImportLine | None:
    """Return the line that superseded this one; digits are what their type says first, then the other."""
    name = line.superseded_by
    if name is None:
        return None
    if isinstance(name, int):
        return named.get(name) or named.get(str(name))
    return named.get(name) or (named.get(int(name)) if name.isdecimal() and len(name) < 20 else None)


def _drop_doubled(lines: list[ImportLine]) -> tuple[list[ImportLine], list[BadLine]]:
    kept: list[ImportLine] = []
    bad: list[BadLine] = []
    first: dict[str, ImportLine] = {}
    for line in lines:
        ref = line.memory.ref
        earlier = line if ref is None else first.setdefault(ref, line)
        if earlier is line:
            kept.append(line)
        elif fold(earlier.memory.text) != fold(line.memory.text):
            bad.append(BadLine(line.line, f"ref: {ref!r} stands already on line {earlier.line} with another text"))
    return kept, bad


def _find_orphans(lines: list[ImportLine]) -> dict[int, str]:
    """Return the lines whose `superseded_by` leads nowhere or in a circle, each with the reason."""
    named = name_lines(lines)
    orphans: dict[int, str] = {}
    settled: set[int] = set()
    for line in lines:
        if line.superseded_by is not None and find_successor(line, named) is None:
            orphans[line.line] = (
                f"superseded_by: there is no single valid line with the id or ref {line.superseded_by!r}"
            )
        path: dict[int, None] = {}
        step: ImportLine | None = line
        while step is not None and step.line not in settled and step.line not in path:
            path[step.line] = None
            step = find_successor(step, named)
        if step is not None and step.line in path:
            orphans |= dict.fromkeys(path, "superseded_by: the lines supersede one another in a circle")
        settled |= path.keys()
    return orphans
