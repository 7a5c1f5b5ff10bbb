"""The columns that several parts read, and the records that their rows become."""

import json
from collections.abc import Iterable
from typing import Final

from memchat.records import Cause, Change, Key, Turn
from memchat.store.connection import Row
from memchat.store.part import reads, to_time

# What is in the indexes: the present, and what once was true. A proposal is not, nor is a rejected one, which is
# superseded without a time.
SEARCHED: Final = "(memories.state = 'current' OR memories.superseded_at IS NOT NULL)"
KEY_COLUMNS: Final = "keys.id, keys.memory, keys.role, keys.text, keys.generation IS NOT NULL"
CHANGE_COLUMNS: Final = "id, memory, at, action, cause, turn, before, after, undone"
TURN_COLUMNS: Final = (
    "turns.id, turns.session, turns.user_text, turns.reply, turns.at, turns.zone, turns.model, turns.interrupted, "
    "turns.forgotten"
)
TURN_WIDTH: Final = 9


def to_keys(rows: Iterable[Row]) -> list[Key]:
    """Return the keys of rows of `KEY_COLUMNS`."""
    return [Key(id, memory, role, text, bool(embedded)) for id, memory, role, text, embedded in rows]


@reads
def to_change(row: Row) -> Change:
    """Return the change of a row of `CHANGE_COLUMNS`."""
    id, memory, at, action, cause, turn, before, after, undone = row
    return Change(
        id, memory, to_time(at), action, Cause(cause), turn, json.loads(before), json.loads(after), bool(undone)
    )


@reads
def to_turn(row: Row) -> Turn:
    """Return the turn of a row that begins with `TURN_COLUMNS`."""
    id, session, user_text, reply, at, zone, model, interrupted, forgotten = row[:TURN_WIDTH]
    return Turn(id, session, user_text, reply, to_time(at), zone, model, bool(interrupted), bool(forgotten))
