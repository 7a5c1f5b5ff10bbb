"""Reading memories: by id, ref, exact text, slot, or as a list."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from memchat.records import Kind, Memory, Rankable, Source, State
from memchat.store.connection import Row
from memchat.store.part import Part, found, in_list, reads, to_day, to_ms, to_time, to_time_or_none
from memchat.text import fold

# Below, a plus before `user` keeps SQLite from reading the user's whole share by its index where ids are given.
_SELECT: Final = """SELECT m.id, m.text, m.kind, m.importance, m.confidence, m.pinned, m.state, m.created_at,
    m.last_seen_at, m.last_recalled_at, m.recall_count, m.subject, m.attribute, m.value, m.event_date, m.ref,
    m.superseded_by, m.superseded_at, s.id, s.session, s.turn, s.evidence,
    (SELECT json_group_array(text ORDER BY id) FROM keys WHERE memory = m.id AND role = 'cue'),
    (m.state = 'current' OR m.superseded_at IS NOT NULL)
        AND EXISTS (SELECT 1 FROM keys WHERE memory = m.id AND generation IS NULL)
    FROM memories AS m LEFT JOIN sources AS s ON s.id = (SELECT min(id) FROM sources WHERE memory = m.id)"""
_RANKABLE: Final = """SELECT id, text, kind, importance, pinned, state, created_at, last_seen_at, recall_count, subject,
    attribute, ref, superseded_by, superseded_at FROM memories"""
# What was true at a moment; a rejected proposal is superseded without a time and was never true.
_LEADING: Final = """m.id IN (SELECT id FROM (SELECT id, row_number() OVER (
    PARTITION BY pinned, kind ORDER BY importance DESC, length(text), id) AS place FROM memories AS m WHERE {})
    WHERE place <= ?)"""
_AS_OF: Final = "m.created_at <= ? AND (m.state = 'current' OR m.superseded_at > ?)"


class Memories(Part):
    """Finds the user's memories."""

    def get_memory(self, id: int) -> Memory:
        """Return one memory, or raise NotFound."""
        row = self._db.row(f"{_SELECT} WHERE m.id = ? AND m.user = ?", (id, self._user_id))
        return self._to_memory(found(row, f"There is no memory {id}; `memchat list` shows those there are."))

    def find_owner(self, id: int) -> str | None:
        """Return the name of the user, this or another, whose memory has this id."""
        row = self._db.row(
            "SELECT name FROM memories JOIN users ON users.id = memories.user WHERE memories.id = ?", (id,)
        )
        return str(row[0]) if row else None

    def get_memories(self, ids: Sequence[int]) -> list[Memory]:
        """Return memories in the order given; those that are not there are left out."""
        rows = self._db.rows(
            f"{_SELECT} WHERE +m.user = ? AND m.id IN (SELECT value FROM json_each(?))", (self._user_id, *in_list(ids))
        )
        memories = {row[0]: self._to_memory(row) for row in rows}
        return [memories[id] for id in dict.fromkeys(ids) if id in memories]

    def get_rankables(self, ids: Sequence[int]) -> dict[int, Rankable]:
        """Return by id what ranking needs of memories, without those that are not there: a fifth of whole records."""
        rows = self._db.rows(
            f"{_RANKABLE} WHERE +user = ? AND id IN (SELECT value FROM json_each(?))", (self._user_id, *in_list(ids))
        )
        return _to_rankables(rows)

    def find_by_ref(self, ref: str) -> Memory | None:
        """Return the memory that an import gave this ref."""
        return self._find("m.ref = ?", (ref,))

    def find_exact(self, text: str) -> Memory | None:
        """Return the current memory whose text is the same but for case, quotes and spaces."""
        return self._find("m.folded = ? AND m.state = 'current'", (fold(text),))

    def find_slot(self, subject: str, attribute: str) -> list[Memory]:
        """Return the current memories about one attribute of one subject, newest first."""
        rows = self._db.rows(
            f"{_SELECT} WHERE m.user = ? AND m.slot = ? AND m.state = 'current' ORDER BY m.created_at DESC, m.id DESC",
            (self._user_id, slot_key(subject, attribute)),
        )
        return [self._to_memory(row) for row in rows]

    def list_memories(
        self,
        *,
        kind: Kind | None = None,
        state: State | None = State.CURRENT,
        limit: int | None = None,
        as_of: datetime | None = None,
        each: int | None = None,
        after: int = 0,
    ) -> list[Memory]:
        """Return memories, oldest id first; `state` None means all, `as_of` those true at that moment (any state).

        Only those with ids above `after`.
        `each` is the most of a kind, pinned ones apart: the most important, and of those the shortest.
        """
        conditions = ["m.user = ?", "m.id > ?"]
        bindings: list[str | int] = [self._user_id, after]
        if kind is not None:
            conditions.append("m.kind = ?")
            bindings.append(kind)
        if as_of is not None:
            conditions.append(_AS_OF)
            bindings += [to_ms(as_of), to_ms(as_of)]
        elif state is not None:
            conditions.append("m.state = ?")
            bindings.append(state)
        where = " AND ".join(conditions)
        if each is not None:
            where = _LEADING.format(where)
            bindings.append(each)
        sql = f"{_SELECT} WHERE {where} ORDER BY m.id LIMIT ?"
        return [self._to_memory(row) for row in self._db.rows(sql, (*bindings, -1 if limit is None else limit))]

    def list_without_cues(self, limit: int | None = None) -> list[Memory]:
        """Return current memories for which no questions were written, newest first."""
        sql = f"""{_SELECT} WHERE m.user = ? AND m.state = 'current' AND NOT EXISTS
            (SELECT 1 FROM keys WHERE memory = m.id AND role = 'cue') ORDER BY m.id DESC LIMIT ?"""
        rows = self._db.rows(sql, (self._user_id, -1 if limit is None else limit))
        return [self._to_memory(row) for row in rows]

    def count_memories(self, state: State = State.CURRENT) -> int:
        """Return how many memories are in a state."""
        count: int = self._db.value(
            "SELECT count(*) FROM memories WHERE user = ? AND state = ?", (self._user_id, state)
        )
        return count

    def list_sources(self, id: int) -> list[Source]:
        """Return every turn that stated or restated a memory, with its evidence, oldest first."""
        self.get_memory(id)
        rows = self._db.rows("SELECT session, turn, evidence FROM sources WHERE memory = ? ORDER BY id", (id,))
        return [Source(*row) for row in rows]

    def _find(self, condition: str, bindings: tuple[str]) -> Memory | None:
        row = self._db.row(
            f"{_SELECT} WHERE m.user = ? AND {condition} ORDER BY m.id DESC LIMIT 1", (self._user_id, *bindings)
        )
        return self._to_memory(row) if row else None

    @reads
    def _to_memory(self, row: Row) -> Memory:
        (id, text, kind, importance, confidence, pinned, state, created, seen, recalled, count, *rest) = row
        (subject, attribute, value, event, ref, by, superseded, source, session, turn, evidence, cues, pending) = rest
        return Memory(
            id=id,
            user=self.user,
            text=text,
            kind=Kind(kind),
            importance=importance,
            confidence=confidence,
            pinned=bool(pinned),
            state=State(state),
            created_at=to_time(created),
            last_seen_at=to_time(seen),
            last_recalled_at=to_time_or_none(recalled),
            recall_count=count,
            subject=subject,
            attribute=attribute,
            value=value,
            event_date=to_day(event),
            ref=ref,
            superseded_by=by,
            superseded_at=to_time_or_none(superseded),
            source=Source(session, turn, evidence) if source is not None else None,
            cues=tuple(json.loads(cues)),
            pending=bool(pending),
        )


@reads
def _to_rankables(rows: Sequence[Row]) -> dict[int, Rankable]:
    return {row[0]: _to_rankable(row) for row in rows}


def _to_rankable(row: Row) -> Rankable:
    id, text, kind, importance, pinned, state, created, seen, count, subject, attribute, ref, by, superseded = row
    return Rankable(
        id,
        text,
        Kind(kind),
        importance,
        bool(pinned),
        State(state),
        to_time(created),
        to_time(seen),
        count,
        subject,
        attribute,
        ref,
        by,
        to_time_or_none(superseded),
    )


def slot_key(subject: str | None, attribute: str | None) -> str | None:
    """Return the folded form by which slots are compared; None unless both parts are known."""
    return f"{fold(subject)}\n{fold(attribute)}" if subject and attribute else None
