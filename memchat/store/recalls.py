"""What each reply was given: the whole result of its read path."""

import json
from collections.abc import Collection
from dataclasses import asdict, fields, replace
from typing import Final

from memchat.records import Candidate, Kind, ProfileEntry, Recall, Turn, Verdict
from memchat.store.connection import Database, Row
from memchat.store.part import Fields, Part, found, in_list, reads, storable, to_json, to_ms, to_time_or_none
from memchat.store.rows import TURN_COLUMNS, TURN_WIDTH, to_turn

_COLUMNS: Final = (
    "recalls.query, recalls.embed_model, recalls.floor, recalls.candidates, recalls.block, recalls.tokens, "
    "recalls.profile, recalls.profile_tokens, recalls.timings, recalls.keywords_only"
)
_CANDIDATE: Final = tuple(field.name for field in fields(Candidate))
_OF_USER: Final = """FROM recalls JOIN turns ON turns.id = recalls.turn
    JOIN sessions ON sessions.id = turns.session WHERE sessions.user = ?"""


class Recalls(Part):
    """Reads the user's recall records."""

    def get_recall(self, turn: int) -> Recall:
        """Return what the reply of a turn was given, or raise NotFound."""
        row = self._db.row(f"SELECT {_COLUMNS} {_OF_USER} AND recalls.turn = ?", (self._user_id, turn))
        return self._to_recall(found(row, f"There is no record of what turn {turn} was given."))

    def list_recalls(self, limit: int | None = None) -> list[tuple[Turn, Recall]]:
        """Return the user's recall records with their turns, newest first."""
        rows = self._db.rows(
            f"SELECT {TURN_COLUMNS}, {_COLUMNS} {_OF_USER} ORDER BY recalls.turn DESC LIMIT ?",
            (self._user_id, -1 if limit is None else limit),
        )
        return [(to_turn(row), self._to_recall(row[TURN_WIDTH:])) for row in rows]

    def list_turns_given(self, memories: Collection[int]) -> list[Turn]:
        """Return the user's turns whose model was given any of the memories, oldest first, without forgotten ones."""
        rows = self._db.rows(
            f"""SELECT {TURN_COLUMNS}, {_COLUMNS} {_OF_USER} AND NOT turns.forgotten AND recalls.turn IN
            (SELECT turn FROM quotations WHERE memory IN (SELECT value FROM json_each(?))) ORDER BY recalls.turn""",
            (self._user_id, *in_list(memories)),
        )
        wanted = set(memories)
        return [to_turn(row) for row in rows if wanted & ids_given(self._to_recall(row[TURN_WIDTH:]))]

    @reads
    def _to_recall(self, row: Row) -> Recall:
        query, embed_model, floor, candidates, block, tokens, profile, profile_tokens, timings, keywords_only = row
        return Recall(
            query=query,
            user=self.user,
            embed_model=embed_model,
            floor=floor,
            candidates=tuple(_to_candidate(fields) for fields in json.loads(candidates)),
            block=block,
            tokens=tokens,
            profile=tuple(ProfileEntry(**entry) for entry in json.loads(profile)),
            profile_tokens=profile_tokens,
            timings_ms=json.loads(timings),
            keywords_only=keywords_only,
        )


def add_recall(database: Database, turn: int, recall: Recall) -> None:
    """Store the recall record of a turn, and which memories it quotes."""
    profile = [asdict(entry) for entry in recall.profile]
    candidates = [_from_candidate(candidate) for candidate in recall.candidates]
    database.write(
        "INSERT INTO recalls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            turn,
            storable(recall.query),
            recall.embed_model,
            recall.floor,
            to_json(candidates),
            storable(recall.block),
            recall.tokens,
            to_json(profile),
            recall.profile_tokens,
            to_json(dict(recall.timings_ms)),
            recall.keywords_only,
        ),
    )
    quoted = {candidate.id for candidate in recall.candidates} | {entry.id for entry in recall.profile}
    database.write_many("INSERT INTO quotations (memory, turn) VALUES (?, ?)", [(id, turn) for id in quoted])


def find_erased(database: Database, recall: Recall) -> set[int]:
    """Return the memories of a recall that were forgotten since it was made; what an undo took away is no such one."""
    mentioned = {candidate.id for candidate in recall.candidates} | {entry.id for entry in recall.profile}
    known = database.column(
        """SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?1))
        UNION SELECT memory FROM changes WHERE memory IN (SELECT value FROM json_each(?1))""",
        in_list(mentioned),
    )
    return mentioned - set(known)


def ids_given(recall: Recall) -> set[int]:
    """Return the memories that the model was given, recalled or in the profile."""
    return {candidate.id for candidate in recall.injected} | {entry.id for entry in recall.profile}


def without(recall: Recall, memories: Collection[int]) -> Recall:
    """Return a recall without memories that were considered but not given."""
    return replace(recall, candidates=tuple(one for one in recall.candidates if one.id not in memories))


def _from_candidate(candidate: Candidate) -> Fields:
    written = {name: getattr(candidate, name) for name in _CANDIDATE}  # asdict would copy every value of a hundred
    if candidate.superseded_at is not None:
        written["superseded_at"] = to_ms(candidate.superseded_at)
    return written


def _to_candidate(fields: Fields) -> Candidate:
    typed = {
        "kind": Kind(fields["kind"]),
        "verdict": Verdict(fields["verdict"]),
        "superseded_at": to_time_or_none(fields.get("superseded_at")),
    }
    return Candidate(**(fields | typed))
