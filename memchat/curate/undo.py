"""Taking back the last learnings, edits and supersedings; what was forgotten cannot come back."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from memchat.errors import NotFound, UsageError
from memchat.records import Cause, Change
from memchat.store import Store

_FEW = 256  # changes looked at first: the newest step is nearly always among them
_NEVER_FORGET = "what was forgotten cannot be brought back."


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back, newest first; `steps` counts learnings and edits as the user sees them."""

    steps: int
    changes: tuple[Change, ...]
    ids: tuple[int, ...]  # memories that changed
    note: str = ""  # why fewer steps than asked for were taken


def undo(store: Store, now: datetime, steps: int = 1) -> Undone:
    """Take back the newest `steps` changes; a learning with the supersedings it caused is one step, an import too.

    Raises UsageError when `steps` is below 1, or a change cannot be taken back (then none is); NotFound when there is
    none.
    """
    if steps < 1:
        raise UsageError("Undo takes back one step or more.")
    taken: list[Change] = []
    with store.transaction():
        for done in range(steps):
            step = next_step(store)
            if not step and done:
                return _undone(done, taken, f"There was nothing more to undo; {_NEVER_FORGET}")
            if not step:
                raise NotFound(f"There is nothing to undo; {_NEVER_FORGET}")
            taken += [store.undo_change(change.id, now) for change in sorted(step, key=_order)]
    return _undone(steps, taken)


def take_back_turn(store: Store, turn: int, now: datetime) -> tuple[Change, ...]:
    """Take back what was learnt from a message that is withdrawn; what the user has changed since stays."""
    steps: dict[object, list[Change]] = {}
    for change in store.list_changes(turn=turn):
        if not _is_settled(change):
            steps.setdefault(_brought(change) or ("alone", change.id), []).append(change)
    taken: list[Change] = []
    for step in steps.values():
        with suppress(UsageError, NotFound), store.transaction():
            taken += [store.undo_change(change.id, now) for change in sorted(step, key=_order)]
    return tuple(taken)


def next_step(store: Store) -> list[Change]:
    """Return the changes that the next undo would take back together, newest first; none when there is nothing."""
    for limit in (_FEW, None):
        changes = [change for change in store.list_changes(limit=limit) if not _is_settled(change)]
        if changes and changes[0].cause is not Cause.IMPORTED:
            return [change for change in changes if _belongs(change, changes[0])]
    return _import_of(changes[0], changes) if changes else []


def _order(change: Change) -> tuple[bool, int]:
    """Newest first, but what was superseded comes back before the memory that superseded it goes."""
    return change.action == "added", -change.id


def _is_settled(change: Change) -> bool:
    return change.undone or change.cause is Cause.UNDONE


def _belongs(change: Change, newest: Change) -> bool:
    """Tell whether a change is the newest one or was made together with it: a memory and what it superseded."""
    together = (change.at, change.turn, change.cause) == (newest.at, newest.turn, newest.cause)
    return change is newest or (together and _brought(change) is not None and _brought(change) == _brought(newest))


def _import_of(newest: Change, changes: list[Change]) -> list[Change]:
    """Return all that one import did: what it added at one moment, and what it changed on that."""
    imported = [change for change in changes if change.cause is Cause.IMPORTED]
    added = {change.memory: change.at for change in imported if change.action == "added"}
    moment = added.get(newest.memory, newest.at)
    return [change for change in imported if added.get(change.memory, change.at) == moment]


def _brought(change: Change) -> object:
    """Return the memory that a change brought: added, or put in the place of another one."""
    return {"added": change.memory, "superseded": change.after.get("superseded_by")}.get(change.action)


def _undone(steps: int, taken: list[Change], note: str = "") -> Undone:
    return Undone(steps, tuple(taken), tuple(dict.fromkeys(change.memory for change in taken)), note)
