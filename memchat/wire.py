"""Records as the JSON that the commands print: the one place that knows the keys scripts rely on.

Times are UTC ISO-8601 with "Z", dates are ISO-8601, everything else is what JSON has.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, date, datetime
from enum import Enum
from math import isfinite
from pathlib import Path

from memchat.records import Candidate, Change, Memory, ProfileEntry, Recall, Receipt, Session, Source, Turn
from memchat.text import CONTROLS

Json = dict[str, object]


def json_text(document: object, *, indent: int | None = None) -> str:
    """Return JSON that any terminal may show: what could steer one stands as an escape, all else as it is."""
    written = json.dumps(document, ensure_ascii=False, indent=indent)
    return CONTROLS.sub(lambda found: json.dumps(found[0])[1:-1], written)


def utc(moment: datetime) -> str:
    """Return an aware datetime as UTC ISO-8601 with "Z", with a fraction only where it has one."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def plain(value: object) -> object:
    """Return any record, or nest of them, as what `json.dumps` takes; a record becomes an object of its fields."""
    if isinstance(value, datetime):
        return utc(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return round(value, 6) if isfinite(value) else None  # JSON knows neither NaN nor infinity
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return _plain_group(value)


def _plain_group(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def record_json(record: object) -> Json:
    """Return a record of counts or findings as one object, its field names as keys."""
    document = plain(record)
    assert isinstance(document, dict), record
    return document


def source_json(source: Source | None) -> Json | None:
    """Return where a memory was stated, or None."""
    return None if source is None else {"session": source.session, "turn": source.turn, "evidence": source.evidence}


def memory_json(memory: Memory) -> Json:
    """Return a memory with the keys of `list`, `export` and `show`; `import` reads the same."""
    return {
        "id": memory.id,
        "text": memory.text,
        "kind": memory.kind.value,
        "importance": memory.importance,
        "confidence": plain(memory.confidence),
        "pinned": memory.pinned,
        "created_at": utc(memory.created_at),
        "last_seen_at": utc(memory.last_seen_at),
        "superseded_by": memory.superseded_by,
        "source": source_json(memory.source),
        "ref": memory.ref,
        "user": memory.user,
        "state": memory.state.value,
        "superseded_at": plain(memory.superseded_at),
        "event_date": plain(memory.event_date),
        "subject": memory.subject,
        "attribute": memory.attribute,
        "value": memory.value,
        "cues": list(memory.cues),
        "pending": memory.pending,  # its vector is
        "embedded": not memory.pending,
        "recall_count": memory.recall_count,
        "last_recalled_at": plain(memory.last_recalled_at),
    }


def turn_json(turn: Turn) -> Json:
    """Return a turn whole; a forgotten one has no text."""
    return {
        "turn": turn.id,
        "session": turn.session,
        "at": utc(turn.at),
        "user": turn.user_text,
        "assistant": turn.reply,
        "model": turn.model,
        "interrupted": turn.interrupted,
        "forgotten": turn.forgotten,
    }


def change_json(change: Change) -> Json:
    """Return one line of the history."""
    return record_json(replace(change, before=_with_times(change.before), after=_with_times(change.after)))


def _with_times(fields_then: Mapping[str, object]) -> Json:
    """Return a change's fields with the times, which the file keeps in milliseconds, as all other times."""
    times = {name: at for name, at in fields_then.items() if name.endswith("_at") and isinstance(at, int)}
    return dict(fields_then) | {name: utc(datetime.fromtimestamp(at / 1000, UTC)) for name, at in times.items()}


def session_json(session: Session) -> Json:
    """Return a conversation as `sessions` lists it."""
    return {
        "id": session.id,
        "title": session.title,
        "created_at": utc(session.created_at),
        "last_turn_at": plain(session.last_turn_at),
        "turns": session.turns,
        "user": session.user,
    }


def candidate_json(candidate: Candidate) -> Json:
    """Return one memory on the read path with every number that decided about it."""
    return record_json(candidate)


def recall_json(recall: Recall, expected: object = None) -> Json:
    """Return a whole read path as `inspect` prints it; `expected` is a record, the answer to `--expect`."""
    document: Json = {
        "query": recall.query,
        "user": recall.user,
        "embed_model": recall.embed_model,
        "floor": plain(recall.floor),
        "candidates": [candidate_json(candidate) for candidate in recall.candidates],
        "block": recall.block,
        "tokens": recall.tokens,
        "profile": profile_json(recall.profile),
        "profile_tokens": recall.profile_tokens,
        "timings_ms": plain(recall.timings_ms),
        "keywords_only": recall.keywords_only,
    }
    return document if expected is None else document | {"expected": plain(expected)}


def profile_json(profile: Sequence[ProfileEntry]) -> list[Json]:
    """Return the profile tier as `[{"id", "text"}]`."""
    return [{"id": entry.id, "text": entry.text} for entry in profile]


def log_json(turn: Turn, recall: Recall) -> Json:
    """Return one row of the retrieval log: the turn it belongs to, then the read path."""
    return {"turn": turn.id, "session": turn.session, "at": utc(turn.at)} | recall_json(recall)


def injected_json(recall: Recall) -> list[Json]:
    """Return the memories that a reply was given, as `ask --json` lists them."""
    return [{"id": hit.id, "text": hit.text, "score": plain(hit.score)} for hit in recall.injected]


def receipt_json(receipt: Receipt) -> Json:
    """Return what `forget` prints; `found_in` only when a byte was still there."""
    document = record_json(receipt)
    if receipt.verified:
        del document["found_in"]
    return document
