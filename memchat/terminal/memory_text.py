"""Memories, their history, receipts and sessions as text for people."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from memchat.records import Cause, Change, Key, Memory, Receipt, Session, Source, State
from memchat.terminal.render import Cell, Row, age, moment, print_columns, print_fields, quiet, say, shortened
from memchat.text import counted

if TYPE_CHECKING:
    from rich.console import Console

_PLACES: Final = {  # of a receipt
    "memories": ("memory", "memories"),
    "vectors": ("vector", "vectors"),
    "keys": ("key", "keys"),
    "history": ("change in the history", "changes in the history"),
    "turns": ("exchange", "exchanges"),
    "log": ("row of the log", "rows of the log"),
    "queue": ("row of the queue", "rows of the queue"),
    "input_lines": ("message of the input history", "messages of the input history"),
}
# They change with every change, or are what the action tells already.
_UNTOLD: Final = frozenset({"created_at", "last_seen_at", "superseded_at", "superseded_by", "source"})
_CAUSES: Final = {
    Cause.USER: "by you",
    Cause.LEARNED: "learnt from what you said",
    Cause.IMPORTED: "imported",
    Cause.MERGED: "merged with one that says the same",
    Cause.UNDONE: "undone",
}


def memory_line(memory: Memory) -> str:
    """Return a memory as one line: `#17 I moved to Berlin`."""
    return f"#{memory.id} {memory.text}"


def print_memories(console: "Console", memories: Sequence[Memory], now: datetime) -> None:
    """Print memories as a list: id, kind, age, text."""
    if not memories:
        quiet(console, "No memories.")
        return
    print_columns(console, [_memory_row(memory, now) for memory in memories])


def _memory_row(memory: Memory, now: datetime) -> Row:
    style = "dim" if memory.state is State.SUPERSEDED else ""
    remark = f" ({remarks})" if (remarks := ", ".join(_remarks(memory))) else ""
    return [
        (f"#{memory.id}", "cyan"),
        (memory.kind.value, "dim"),
        (age(memory.last_seen_at, now), "dim"),
        (memory.text + remark, style),
    ]


def _remarks(memory: Memory) -> list[str]:
    remarks = ["pinned"] if memory.pinned else []
    if memory.state is State.PROPOSED:
        remarks.append("waits for approval")
    if memory.state is State.SUPERSEDED:
        remarks.append(f"replaced by #{memory.superseded_by}" if memory.superseded_by else "ended")
    if memory.pending and memory.state is not State.SUPERSEDED:
        remarks.append("not embedded yet")
    return remarks


def print_memory(
    console: "Console",
    memory: Memory,
    now: datetime,
    *,
    sources: Sequence[Source] = (),
    keys: Sequence[Key] = (),
    changes: Sequence[Change] = (),
) -> None:
    """Print one memory whole, with who said it, what it is found by, and its history."""
    print_columns(console, [[(f"#{memory.id}", "cyan"), (memory.text, "bold")]])
    print_fields(console, _facts(memory, now), indent=2)
    for source in sources or ([memory.source] if memory.source else []):
        print_fields(console, [("said", _source(source))], indent=2)
    cues = [key.text for key in keys if key.role == "cue"] if keys else memory.cues
    print_fields(console, [("found by", cue) for cue in cues], indent=2)
    if changes:
        quiet(console, "  history")
        print_columns(console, [_change_row(change, now)[1:] for change in changes], indent=4)


def _facts(memory: Memory, now: datetime) -> list[tuple[str, str]]:
    slot = " · ".join(part for part in (memory.subject, memory.attribute, memory.value) if part)
    ended = _both(memory.superseded_at, now) if memory.superseded_at else ""
    return [
        ("kind", memory.kind.value),
        ("importance", f"{memory.importance} of 10"),
        ("confidence", f"{memory.confidence:.2f}"),
        ("stands", ", ".join(_remarks(memory))),
        ("ended", ended),
        ("learnt", _both(memory.created_at, now)),
        ("last said", _both(memory.last_seen_at, now) if memory.last_seen_at != memory.created_at else ""),
        ("recalled", _recalled(memory, now)),
        ("date", memory.event_date.isoformat() if memory.event_date else ""),
        ("about", slot),
        ("ref", memory.ref or ""),
    ]


def _both(at: datetime, now: datetime) -> str:
    return f"{age(at, now)} ({moment(at)})"


def _recalled(memory: Memory, now: datetime) -> str:
    if not memory.last_recalled_at:
        return "never yet"
    return f"{counted(memory.recall_count, 'time')}, last {age(memory.last_recalled_at, now)}"


def _source(source: Source) -> str:
    where = ", ".join(
        f"{name} {number}" for name, number in (("session", source.session), ("turn", source.turn)) if number
    )
    return f"“{source.evidence}”" + (f" ({where})" if where else "")


def print_changes(console: "Console", changes: Sequence[Change], now: datetime) -> None:
    """Print changes of memories, in the order given, each with its number and cause."""
    if not changes:
        quiet(console, "Nothing has changed yet.")
        return
    print_columns(console, [_change_row(change, now) for change in changes])


def _change_row(change: Change, now: datetime) -> list[Cell]:
    action = f"{change.action} (undone)" if change.undone else change.action
    return [
        (f"#{change.memory}", "cyan"),
        (age(change.at, now), "dim"),
        action,
        (_CAUSES[change.cause], "dim"),
        _what_changed(change),
    ]


def _what_changed(change: Change) -> str:
    if "text" in change.after and "text" in change.before:
        return f"“{change.before['text']}” → “{change.after['text']}”"
    if "text" in change.after:
        return str(change.after["text"])
    ended = change.after.get("superseded_at")
    if isinstance(ended, int):
        by = change.after.get("superseded_by")
        return f"{f'replaced by #{by}' if by else 'no longer true'} since {_stamp(ended)}"
    told = [name for name in change.after if name not in _UNTOLD and change.after[name] != change.before.get(name)]
    return ", ".join(_field_change(name, change) for name in told)


def _field_change(name: str, change: Change) -> str:
    before, after = (_told(fields.get(name)) for fields in (change.before, change.after))
    return f"{name.replace('_', ' ')}: {before} → {after}"


def _told(value: object) -> str:
    """Return a field's value as people write it."""
    match value:
        case None | "" | []:
            return "none"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.2f}"
        case list():
            return "; ".join(map(str, value))
    return str(value)


def _stamp(milliseconds: int) -> str:
    return moment(datetime.fromtimestamp(milliseconds / 1000, UTC))


def print_receipt(console: "Console", receipt: Receipt) -> None:
    """Print what a forget erased, what was read afterwards to be sure, and what it cannot reach."""
    if receipt.forgotten:
        say(console, f"Forgotten: {', '.join(f'#{id}' for id in receipt.forgotten)}.", "bold")
    erased = ", ".join(_place(place, number) for place, number in receipt.erased.items() if number)
    say(console, f"Erased: {erased}." if erased else "There was nothing to erase.")
    if not erased and receipt.verified:
        return
    checked = ", ".join(receipt.checked)
    if receipt.verified:
        say(console, f"Read again afterwards, and nothing of it is left: {checked}.")
    else:
        say(console, f"Bytes of it are still in: {', '.join(receipt.found_in)}. Try again.", "red")
    if receipt.unreachable:
        quiet(console, f"Out of reach: {'; '.join(receipt.unreachable)}.")


def _place(place: str, number: int) -> str:
    return counted(number, *_PLACES.get(place, (place, place)))


def print_sessions(console: "Console", sessions: Iterable[Session], now: datetime) -> None:
    """Print past conversations, in the order given."""
    rows: list[Row] = [
        [
            (str(session.id), "cyan"),
            (age(session.last_turn_at or session.created_at, now), "dim"),
            (counted(session.turns, "turn"), "dim"),
            shortened(session.title or "(no title yet)", 200),
        ]
        for session in sessions
    ]
    if not rows:
        quiet(console, "No sessions.")
        return
    print_columns(console, rows)
