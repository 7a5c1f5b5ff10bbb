"""Changing memories: add, edit, restate, supersede. Text, keys, vectors, words and history move in one transaction."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final, TypedDict, Unpack

from memchat.errors import UsageError
from memchat.records import Cause, Kind, Memory, NewMemory, Source, State
from memchat.store import keys, keywords, vec0
from memchat.store.changes import Changes
from memchat.store.memories import Memories, slot_key
from memchat.store.part import Fields, assignments, in_list, storable, to_json, to_ms
from memchat.text import clean, fold

# The columns of a new memory in the order in which they are read; between and after them stands what only comes later.
_HEAD: Final = ("text", "kind", "importance", "confidence", "pinned", "state", "created_at", "last_seen_at")
_TOLD: Final = ("subject", "attribute", "value", "event_date", "ref")
_SHELVED: Final = (State.CURRENT, State.SUPERSEDED)


class MemoryFields(TypedDict, total=False):
    """What an edit may change; a field that is not given stays as it is."""

    text: str
    kind: Kind
    importance: int
    confidence: float
    pinned: bool
    subject: str | None
    attribute: str | None
    value: str | None
    event_date: date | None
    cues: Sequence[str]


class Revisions(Memories, Changes):
    """Writes the user's memories."""

    def add_memory(self, new: NewMemory, *, cause: Cause, now: datetime, turn: int | None = None) -> Memory:
        """Store a memory with its source, its keys (pending) and its first change."""
        with self._db.transaction():
            columns = self._columns(new, now)
            id = self._insert(columns)
            if new.source is not None:
                self._add_source(id, new.source, now)
            self._index_new(id, new)
            origin = turn if turn is not None or new.source is None else new.source.turn
            after = {"text": _wording(new.text), "kind": str(new.kind), "state": str(new.state)}
            self._add_change(id, "added", cause, now, turn=origin, after=after)
            return self._as_read(id, columns, new)

    def update_memory(
        self,
        id: int,
        *,
        cause: Cause,
        now: datetime,
        turn: int | None = None,
        keep_history: bool = True,
        **fields: Unpack[MemoryFields],
    ) -> Memory:
        """Change the fields given. A new text drops the cues too unless new ones are given with it, since they ask
        for the old wording; replaced keys lose their vectors at once and are pending."""
        with self._db.transaction():
            wanted = _as_json(fields)
            if "text" in wanted:
                wanted.setdefault("cues", [])
            now_there = self._fields(self.get_memory(id), wanted)
            if "text" in wanted and wanted["text"] == now_there["text"] and "cues" not in fields:
                del wanted["cues"], now_there["cues"]
            after = {name: value for name, value in wanted.items() if value != now_there[name]}
            if after:
                self._write_fields(id, after)
                before = {name: now_there[name] for name in after}
                if keep_history:
                    self._add_change(id, "edited", cause, now, turn=turn, before=before, after=after)
            return self.get_memory(id)

    def restate_memory(
        self,
        id: int,
        *,
        source: Source | None,
        confidence: float,
        now: datetime,
        turn: int | None = None,
        said_at: datetime | None = None,
        cause: Cause = Cause.LEARNED,
    ) -> Memory:
        """Note that the user said it again, now or at `said_at`: a source more, a new confidence."""
        with self._db.transaction():
            memory = self.get_memory(id)
            before = {"confidence": memory.confidence, "last_seen_at": to_ms(memory.last_seen_at)}
            after: Fields = {
                "confidence": confidence,
                "last_seen_at": max(to_ms(said_at or now), before["last_seen_at"]),
            }
            self._write_columns(id, after)
            if source is not None:
                after = after | {"source": self._add_source(id, source, now)}
                turn = source.turn if turn is None else turn
            self._add_change(id, "restated", cause, now, turn=turn, before=before, after=after)
            return self.get_memory(id)

    def supersede_memory(
        self,
        id: int,
        *,
        by: int | None,
        cause: Cause,
        now: datetime,
        turn: int | None = None,
        ended_at: datetime | None = None,
    ) -> Memory:
        """Take a memory out of the present: replaced by another one, or ended (`by` None); it stays as history.

        It held until `ended_at`, when that is known from an older statement, else until now.
        """
        if by == id:
            raise UsageError(f"Memory {id} cannot replace itself.")
        with self._db.transaction():
            memory = self.get_memory(id)
            if by is not None:
                self._refuse_circle(id, self.get_memory(by))
            before = self._fields(memory, ("state", "superseded_by", "superseded_at"))
            ended = to_ms(ended_at or now)
            after: Fields = {"state": str(State.SUPERSEDED), "superseded_by": by, "superseded_at": ended}
            self._write_columns(id, after)
            self._shelve(id)
            action = "ended" if by is None else "superseded"
            self._add_change(id, action, cause, now, turn=turn, before=before, after=after)
            return self.get_memory(id)

    def set_state(self, id: int, state: State, *, cause: Cause, now: datetime) -> Memory:
        """Approve or reject a proposal, or bring a superseded memory back into the present."""
        with self._db.transaction():
            memory = self.get_memory(id)
            if memory.state is state:
                return memory
            before = self._fields(memory, ("state", "superseded_by", "superseded_at"))
            after: Fields = {"state": str(state), "superseded_by": None, "superseded_at": None}
            self._write_columns(id, after)
            self._shelve(id)
            decided = {State.CURRENT: "approved", State.SUPERSEDED: "rejected"}
            action = decided[state] if memory.state is State.PROPOSED else "edited"
            self._add_change(id, action, cause, now, before=before, after=after)
            return self.get_memory(id)

    def mark_recalled(self, ids: Sequence[int], now: datetime) -> None:
        """Count that the model was given these memories."""
        self._db.write(
            """UPDATE memories SET last_recalled_at = ?, recall_count = recall_count + 1
            WHERE +user = ? AND id IN (SELECT value FROM json_each(?))""",
            (to_ms(now), self._user_id, *in_list(ids)),
        )

    def _columns(self, new: NewMemory, now: datetime) -> Fields:
        if new.ref is not None and self.find_by_ref(new.ref) is not None:
            raise UsageError(f"A memory with the ref {new.ref} is there already.")
        created = to_ms(new.created_at or now)
        columns: Fields = {
            "user": self._owner(),
            "folded": fold(new.text),
            "state": str(new.state),
            "created_at": created,
            "last_seen_at": to_ms(new.last_seen_at) if new.last_seen_at else created,
            "ref": new.ref,
            "slot": slot_key(new.subject, new.attribute),
        }
        columns |= self._fields(new, ("text", "kind", "importance", "confidence", "pinned"))
        columns |= self._fields(new, ("subject", "attribute", "value", "event_date"))
        columns["text"] = _wording(new.text)
        return columns

    def _insert(self, columns: Fields) -> int:
        places = ", ".join("?" * len(columns))
        return self._db.insert(
            f"INSERT INTO memories ({', '.join(columns)}) VALUES ({places})", tuple(columns.values())
        )

    def _as_read(self, id: int, columns: Fields, new: NewMemory) -> Memory:
        """Return a new memory as it would be read back, which takes as long as writing it."""
        source = new.source
        evidence = (None,) * 4 if source is None else (0, source.session, source.turn, storable(source.evidence))
        cues, pending = to_json(_cues(new.cues)), new.state is State.CURRENT
        head, told = [columns[name] for name in _HEAD], [columns[name] for name in _TOLD]
        return self._to_memory((id, *head, None, 0, *told, None, None, *evidence, cues, pending))

    def _index_new(self, id: int, new: NewMemory) -> None:
        """Do for a memory that was never indexed what `_shelve` does for any, without looking for what it had."""
        text, cues = _wording(new.text), _cues(new.cues)
        keys.add_keys(self._db, id, [("text", text), *(("cue", cue) for cue in cues)])
        if new.state is State.CURRENT:
            keywords.insert_row(self._db, id, (text, cues), keywords.shelf_token(self._user_id, new.state))

    def _add_source(self, id: int, source: Source, now: datetime) -> int:
        return self._db.insert(
            "INSERT INTO sources (memory, session, turn, evidence, at) VALUES (?, ?, ?, ?, ?)",
            (id, source.session, source.turn, storable(source.evidence), to_ms(now)),
        )

    def _write_fields(self, id: int, fields: Fields) -> None:
        """Write fields as they stand in a change, with the keys that follow from them."""
        columns = {name: value for name, value in fields.items() if name != "cues"}
        if "text" in fields:
            columns["folded"] = fold(fields["text"])
            self._replace_keys(id, "text", [fields["text"]])
        if "cues" in fields:
            self._replace_keys(id, "cue", fields["cues"])
        self._write_columns(id, columns)
        if {"subject", "attribute"} & fields.keys():
            memory = self.get_memory(id)
            self._write_columns(id, {"slot": slot_key(memory.subject, memory.attribute)})
        if {"text", "cues", "state"} & fields.keys():
            self._shelve(id)

    def _write_columns(self, id: int, columns: Fields) -> None:
        if columns:
            self._db.write(f"UPDATE memories SET {assignments(columns)} WHERE id = ?", (*columns.values(), id))

    def _replace_keys(self, id: int, role: str, texts: Sequence[str]) -> None:
        old = [key.id for key in keys.list_of(self._db, id, role)]
        vec0.delete_vectors(self._db, old)
        keys.delete_keys(self._db, old)
        keys.add_keys(self._db, id, [(role, text) for text in texts])

    def _shelve(self, id: int) -> None:
        """Put words and vectors where the memory's state wants them: among the present, the past, or nowhere."""
        text, state, user, superseded_at = self._db.rows(
            "SELECT text, state, user, superseded_at FROM memories WHERE id = ?", (id,)
        )[0]
        state = State(state)
        ids = keys.key_ids(self._db, (id,))
        if state is State.PROPOSED or (state is State.SUPERSEDED and superseded_at is None):
            keywords.delete_rows(self._db, (id,))
            vec0.delete_vectors(self._db, ids)
            keys.mark_pending(self._db, ids)
            return
        words = (text, keys.list_cues(self._db, id))
        keywords.write_row(self._db, id, words, keywords.shelf_token(user, state))
        vec0.move_vectors(self._db, ids, vec0.shelf_number(user, state))

    def _refuse_circle(self, id: int, successor: Memory) -> None:
        """Follow the successors of the new one: if they lead back, the history would have no present."""
        while successor.superseded_by is not None:
            if successor.superseded_by == id:
                raise UsageError(f"Memory {id} already replaced the one that should replace it.")
            successor = self.get_memory(successor.superseded_by)

    @staticmethod
    def _fields(memory: Memory | NewMemory, names: Sequence[str] | Mapping[str, object]) -> Fields:
        return {name: _json_value(getattr(memory, name)) for name in names}


def _as_json(fields: MemoryFields) -> Fields:
    values: Fields = {name: _json_value(value) for name, value in fields.items()}
    if "text" in values:
        values["text"] = _wording(values["text"])
    if "cues" in values:
        values["cues"] = _cues(values["cues"])
    return values


def _json_value(value: object) -> object:
    """Return what stands on disk for a field: SQLite and JSON share these types."""
    match value:
        case bool():
            return int(value)
        case Kind() | State():
            return str(value)
        case datetime():
            return to_ms(value)
        case date():
            return value.isoformat()
        case tuple() | list():
            return list(value)
        case str():
            return clean(value)
    return value


def _wording(text: str) -> str:
    cleaned = clean(text).strip()
    if not cleaned:
        raise UsageError("A memory needs some text.")
    return cleaned


def _cues(cues: Sequence[str]) -> list[str]:
    return [cue for cue in dict.fromkeys(clean(cue).strip() for cue in cues) if cue]
