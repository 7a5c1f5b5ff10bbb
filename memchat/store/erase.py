"""Forgetting: all that holds words of a memory goes in one transaction, then its bytes, then they are looked for.

`places.WORDED` is the list of every column that can hold such words.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from memchat.errors import NotFound
from memchat.records import Receipt
from memchat.store import exchanges, keys, keywords, scrubbing, tombstones, traces, vec0, verification
from memchat.store.part import Part, in_list, reads
from memchat.store.verification import MOST_TERMS, Erasure

_ALL: Final = "IN (SELECT value FROM json_each(?))"
_NO_FORMS: Final[Mapping[int, Collection[str]]] = MappingProxyType({})
_MOST_VECTORS: Final = 64  # vectors whose raw bytes are looked for, spread over all that were erased
_COUNTED: Final = ("memories", "vectors", "keys", "history", "turns", "log", "queue")
UNREACHABLE: Final = (
    "backups and exports that you made",
    "the scroll-back of your terminal",
    "spare blocks of the disk that only its firmware reaches",
    "the prompt cache of an engine that is still running",
)


class Erase(Part):
    """Erases for good; every method wipes and verifies before it returns."""

    def erase(
        self,
        ids: Sequence[int],
        *,
        retold: Collection[int] = (),
        forms: Mapping[int, Collection[str]] = _NO_FORMS,
        extra_files: Sequence[Path] = (),
    ) -> Receipt:
        """Erase memories with their earlier versions and wordings and the whole exchanges that stated them.

        `retold` are further turns that repeat them in other words, `forms` what else of a memory must not be learnt
        again (see `is_forgotten`). `extra_files` are read for the words afterwards. NotFound, and nothing is erased,
        when a memory is not there.
        """
        with self._db.transaction():
            self._require_memories(ids)
            erasure = Erasure(self._with_past(ids))
            self._erase_memories(erasure, retold, forms)
            scrubbing.note_due(self._db)
        return self._wipe(erasure, extra_files)

    def erase_sessions(
        self,
        ids: Sequence[int],
        *,
        retold: Collection[int] = (),
        forms: Mapping[int, Collection[str]] = _NO_FORMS,
        extra_files: Sequence[Path] = (),
    ) -> Receipt:
        """Erase conversations and the memories that were first stated in them."""
        with self._db.transaction():
            self._require_sessions(ids)
            erasure = Erasure(self._with_past(self._learnt_in(ids)))
            self._erase_memories(erasure, retold, forms)
            self._erase_conversations(ids, erasure)
            scrubbing.note_due(self._db)
        return self._wipe(erasure, extra_files)

    def erase_user(self, *, extra_files: Sequence[Path] = ()) -> Receipt:
        """Erase all that belongs to the user; no mark of what was forgotten stays."""
        with self._db.transaction():
            user = self._user_id
            erasure = Erasure(self._db.column("SELECT id FROM memories WHERE user = ? ORDER BY id", (user,)))
            self._collect(erasure)
            texts = "SELECT user_text, reply FROM turns WHERE session IN (SELECT id FROM sessions WHERE user = ?)"
            erasure.texts.update(text for row in self._db.rows(texts, (user,)) for text in row)
            self._erase_share(user, erasure)
            scrubbing.note_due(self._db)
        return self._wipe(erasure, extra_files)

    def erase_wording(self, id: int, *, retold: Collection[int] = (), extra_files: Sequence[Path] = ()) -> Receipt:
        """Erase every earlier wording of a memory with the exchanges that stated it; its present text stays.

        What replies were given of it goes from the log, which tells it in the words of then. Call it after
        `update_memory`, whose history tells what the earlier wordings were.
        """
        with self._db.transaction():
            self._require_memories([id])
            erasure = Erasure(())
            erasure.texts = set(self._wordings([id])) | set(self._evidence([id]))
            present = set(self._db.column("SELECT text FROM keys WHERE memory = ?", (id,)))
            self._erase_exchanges([id], erasure.texts - present, erasure, retold)
            erasure.texts -= present
            erasure.counts["log"] += exchanges.clear_quotations(self._db, [id])
            erasure.counts["history"] = self._db.write("DELETE FROM changes WHERE memory = ?", (id,))
            self._db.write("UPDATE sources SET evidence = '' WHERE memory = ?", (id,))
            marks = [("text", wording) for wording in erasure.texts]
            tombstones.add_tombstones(self._db, self._user_id, id, marks)
            scrubbing.note_due(self._db)
        return self._wipe(erasure, extra_files)

    def scrub(self) -> None:
        """Wipe deleted bytes from the file and its WAL; StoreBusy names what holds the file."""
        scrubbing.scrub(self._db)

    def _require_memories(self, ids: Sequence[int]) -> None:
        """Pass memories that are there, or that an undo took away but the history still tells of."""
        # The plus keeps SQLite from reading the user's whole share by its index on users.
        known = set(
            self._db.column(
                """SELECT id FROM memories WHERE +user = ?1 AND id IN (SELECT value FROM json_each(?2))
                UNION SELECT memory FROM changes WHERE +user = ?1 AND memory IN (SELECT value FROM json_each(?2))""",
                (self._user_id, *in_list(ids)),
            )
        )
        for id in ids:
            if id not in known:
                raise NotFound(f"There is no memory {id}, so nothing was erased; `memchat list` shows those there are.")

    def _require_sessions(self, ids: Sequence[int]) -> None:
        known = self._db.column("SELECT id FROM sessions WHERE user = ?", (self._user_id,))
        for id in set(ids) - set(known):
            raise NotFound(f"There is no session {id}, so nothing was erased; see `memchat sessions`.")

    def _with_past(self, ids: Iterable[int]) -> list[int]:
        """Return the memories with all that they replaced, and what those replaced."""
        return self._db.column(
            """WITH RECURSIVE past (id) AS (SELECT value FROM json_each(?)
            UNION SELECT memories.id FROM memories JOIN past ON memories.superseded_by = past.id)
            SELECT id FROM past ORDER BY id""",
            in_list(ids),
        )

    def _learnt_in(self, sessions: Sequence[int]) -> list[int]:
        return self._db.column(
            f"""SELECT memory FROM sources WHERE session {_ALL}
            AND id IN (SELECT min(id) FROM sources GROUP BY memory)""",
            in_list(sessions),
        )

    def _collect(self, erasure: Erasure) -> None:
        """Note the words, terms and vectors that are about to go."""
        ids = erasure.forgotten
        erasure.texts.update(self._wordings(ids), self._evidence(ids))
        texts = self._db.rows(f"SELECT id, text FROM keys WHERE memory {_ALL}", in_list(ids))
        erasure.texts.update(text for _, text in texts)
        for key, text in texts[:: max(1, len(texts) // _MOST_VECTORS)]:
            erasure.vectors += [(text, vector) for vector in vec0.list_vectors(self._db, key)]
        for text in traces.spread(erasure.texts, MOST_TERMS):
            erasure.terms |= self._db.tokens(keywords.searchable(text))

    @reads
    def _wordings(self, ids: Collection[int]) -> list[str]:
        """Return the present and every earlier text of memories."""
        now = self._db.column(f"SELECT text FROM memories WHERE id {_ALL}", in_list(ids))
        fields = self._db.rows(f"SELECT before, after FROM changes WHERE memory {_ALL}", in_list(ids))
        earlier = [json.loads(column).get("text") for row in fields for column in row]
        return [text for text in (*now, *earlier) if text]

    def _evidence(self, ids: Collection[int]) -> list[str]:
        return self._db.column(f"SELECT evidence FROM sources WHERE evidence != '' AND memory {_ALL}", in_list(ids))

    def _erase_memories(self, erasure: Erasure, retold: Collection[int], forms: Mapping[int, Collection[str]]) -> None:
        ids = erasure.forgotten
        self._collect(erasure)
        self._mark_forgotten(ids, forms)
        self._erase_exchanges(ids, self._wordings(ids), erasure, retold)
        erasure.counts["log"] += exchanges.clear_quotations(self._db, ids)
        erasure.counts["vectors"] = self._delete_vectors(ids)
        keywords.delete_rows(self._db, ids)
        for table, column, name in (
            ("keys", "memory", "keys"),
            ("sources", "memory", ""),
            ("changes", "memory", "history"),
            ("memories", "id", "memories"),
        ):
            gone = self._db.write(f"DELETE FROM {table} WHERE {column} {_ALL}", in_list(ids))
            erasure.counts[name] = gone

    def _delete_vectors(self, ids: Collection[int]) -> int:
        """Delete the vectors of memories; without vec0 only all vectors can go, which are made again later."""
        if self._db.why_no_vectors is not None:
            return vec0.wipe(self._db)
        return vec0.delete_vectors(self._db, keys.key_ids(self._db, ids))

    def _mark_forgotten(self, ids: Iterable[int], forms: Mapping[int, Collection[str]]) -> None:
        """Keep hashes of each wording, its evidence and its slot, so that none of them is learnt again."""
        for id in ids:
            marks: list[tuple[str, str | None]] = [("text", wording) for wording in self._wordings([id])]
            marks += [("evidence", evidence) for evidence in self._evidence([id])]
            slots = self._db.rows("SELECT subject, attribute, value FROM memories WHERE id = ?", (id,))
            marks += [(tombstones.FORM, tombstones.slot_value(*slot)) for slot in slots]
            marks += [(tombstones.FORM, form) for form in forms.get(id, ())]
            tombstones.add_tombstones(self._db, self._user_id, id, marks)

    def _erase_exchanges(
        self, ids: Collection[int], wordings: Collection[str], erasure: Erasure, retold: Collection[int]
    ) -> None:
        """Mark the exchanges that stated or retold the memories, and all in which a wording stands word for word."""
        turns = exchanges.exchanges_of(self._db, ids) | exchanges.quoting(self._db, self._user_id, wordings)
        turns |= exchanges.with_copies(self._db, self._own_turns(retold))
        erasure.texts.update(exchanges.list_texts(self._db, turns))
        erasure.counts += exchanges.mark_forgotten(self._db, turns)
        exchanges.clear_derived(self._db, self._user_id, wordings)

    def _own_turns(self, turns: Collection[int]) -> list[int]:
        return self._db.column(
            f"""SELECT id FROM turns WHERE NOT forgotten AND id {_ALL}
            AND session IN (SELECT id FROM sessions WHERE user = ?)""",
            (*in_list(turns), self._user_id),
        )

    def _erase_conversations(self, ids: Sequence[int], erasure: Erasure) -> None:
        turns = self._db.column(f"SELECT id FROM turns WHERE session {_ALL}", in_list(ids))
        erasure.texts.update(exchanges.list_texts(self._db, turns))
        copied = self._db.value(
            f"SELECT 1 FROM turns WHERE origin {_ALL} AND NOT forgotten AND session NOT {_ALL}",
            (*in_list(turns), *in_list(ids)),
        )
        if copied:
            erasure.unreachable.append("copies of its exchanges in the sessions that were forked from it")
        erasure.counts += exchanges.delete_records(self._db, turns)
        self._db.write(f"DELETE FROM sources WHERE session {_ALL}", in_list(ids))
        erasure.counts["turns"] += self._db.write(
            f"DELETE FROM turns WHERE NOT forgotten AND id {_ALL}", in_list(turns)
        )
        self._db.write(f"DELETE FROM turns WHERE id {_ALL}", in_list(turns))
        self._db.write(f"DELETE FROM sessions WHERE id {_ALL}", in_list(ids))

    def _erase_share(self, user: int, erasure: Erasure) -> None:
        """Delete the user's rows table by table, each by an index."""
        sessions = "session IN (SELECT id FROM sessions WHERE user = ?)"
        turns = f"turn IN (SELECT id FROM turns WHERE {sessions})"
        memories = "memory IN (SELECT id FROM memories WHERE user = ?)"
        erasure.counts["vectors"] = vec0.delete_shelves(self._db, (user, -user))
        keywords.delete_many(self._db, erasure.forgotten)
        for name, table, condition in (
            ("", "quotations", turns),
            ("log", "recalls", turns),
            ("queue", "queue", turns),
            ("turns", "turns", sessions),
            ("", "sessions", "user = ?"),
            ("", "sources", memories),
            ("keys", "keys", memories),
            ("history", "changes", "user = ?"),
            ("", "drops", "user = ?"),
            ("", "tombstones", "user = ?"),
            ("memories", "memories", "user = ?"),
            ("", "users", "id = ?"),
        ):
            erasure.counts[name] = self._db.write(f"DELETE FROM {table} WHERE {condition}", (user,))

    def _wipe(self, erasure: Erasure, extra_files: Sequence[Path]) -> Receipt:
        """Wipe the bytes of what the transaction deleted, look for them, and tell."""
        scrubbing.delete_backups(self._db.path)
        scrubbing.scrub(self._db)
        found = verification.search(self._db, erasure, extra_files)
        return Receipt(
            forgotten=tuple(erasure.forgotten),
            erased={name: erasure.counts[name] for name in _COUNTED},
            verified=not any(found.values()),
            checked=tuple(found),
            unreachable=(*UNREACHABLE, *erasure.unreachable),
            found_in=tuple(name for name, finds in found.items() if finds),
        )
