"""The vector index: which embedder made it, the vec0 table of each generation, and the search for what is near."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from operator import itemgetter
from typing import Any, Final

from memchat.errors import StoreError, StoreUnusable
from memchat.records import Calibration, EmbedderCard, Key, Vector, VectorHit
from memchat.store import vec0
from memchat.store.connection import Row
from memchat.store.part import Part, reads, to_json
from memchat.store.rows import KEY_COLUMNS, SEARCHED, to_keys
from memchat.store.vec0 import CARD_COLUMNS

MOST_NEIGHBOURS: Final = 4096  # vec0's own limit for k
# Keys asked for each memory wanted. Of 171 memories with 370 cues that a model wrote, the best 20 were certain from 100
# keys for 95 questions in 100 and from 137 for all; where cues are much alike, more has to be asked for.
_KEYS_EACH: Final = 6
_MORE: Final = 4  # times as many keys, asked for when the first did not do
# The user stands inside the KNN as a partition. The nearest key of each memory is picked in Python: to
# have SQLite group and sort the rows took a quarter of the search.
_SEARCH: Final = """WITH near AS MATERIALIZED (
        SELECT rowid AS key, distance FROM vectors_{} WHERE embedding MATCH ? AND k = ? AND shelf = ?)
    SELECT keys.memory, near.key, keys.text, near.distance, keys.generation,
        keys.role = 'cue' AND substr(keys.text, -1) IN ('?', '？', '؟')
    FROM near LEFT JOIN keys ON keys.id = near.key"""


class Vectors(Part):
    """Holds vectors of one embedder, and of a second one while a reindex runs."""

    def embedder(self) -> EmbedderCard | None:
        """Return the embedder whose vectors the file holds."""
        row = self._db.row(f"SELECT {CARD_COLUMNS} FROM embedders WHERE live = 1")
        return EmbedderCard(*row) if row else None

    def adopt_embedder(self, card: EmbedderCard) -> None:
        """Record the file's embedder at first use; another one than the recorded is refused."""
        with self._db.transaction():
            if self.embedder() is None:
                vec0.add_generation(self._db, card, live=True)
            else:
                self._require(card)

    @reads
    def calibration(self) -> Calibration | None:
        """Return the noise measured with the file's embedder."""
        written = self._db.value("SELECT calibration FROM embedders WHERE live = 1")
        fields = json.loads(written) if written else None
        return Calibration(**{name: _tupled(value) for name, value in fields.items()}) if fields else None

    def set_calibration(self, calibration: Calibration) -> None:
        """Keep the noise measured with the file's embedder."""
        self._db.write("UPDATE embedders SET calibration = ? WHERE live = 1", (to_json(asdict(calibration)),))

    def set_vectors(self, vectors: Sequence[tuple[int, Vector]], card: EmbedderCard) -> None:
        """Store vectors by key id; keys that vanished meanwhile are skipped.

        A vector of another length, with a non-finite number or of norm 0 is refused with ValueError, and so
        none is stored.
        """
        packed = [(key, vec0.pack(vector, card.dimensions)) for key, vector in vectors]
        with self._db.transaction():
            self._require(card)
            generation = self._db.value("SELECT generation FROM embedders WHERE live = 1")
            placed = vec0.place(self._db, generation, packed)
            self._db.write_many("UPDATE keys SET generation = ? WHERE id = ?", ((generation, key) for key in placed))

    def search_vectors(
        self, vector: Vector, limit: int, *, past: bool = False, cue_discount: float = 0.0
    ) -> list[VectorHit]:
        """Return the user's memories by their nearest key, best first; `past` searches superseded ones instead.

        `cue_discount` is taken from the similarity of keys that are questions.
        Without sqlite-vec nothing is found (`why_no_vectors` says so); a query of another length, non-finite or zero
        is a ValueError.
        """
        live = self._db.row("SELECT generation, dimensions FROM embedders WHERE live = 1")
        if live is None or limit < 1 or self._db.why_no_vectors is not None:
            return []
        generation, dimensions = live
        query = vec0.pack(vector, dimensions)
        shelf = -self._user_id if past else self._user_id
        sql = _SEARCH.format(generation)
        k = min(MOST_NEIGHBOURS, limit * _KEYS_EACH)
        while True:
            rows = self._db.rows(sql, (query, k, shelf))
            hits = _nearest(rows, generation, limit, cue_discount)
            if len(rows) < k or k == MOST_NEIGHBOURS or _are_certain(hits, rows, limit):
                return hits
            k = min(MOST_NEIGHBOURS, k * _MORE)

    def begin_reindex(self, card: EmbedderCard) -> int:
        """Start a second index beside the live one, or go on with it when the card is the same; return keys left."""
        self._require_vec0()
        with self._db.transaction():
            building = self._building()
            if building is None or not _same(EmbedderCard(*building[1:]), card):
                self._abandon(building)
                vec0.add_generation(self._db, card, live=False)
                self._db.write("UPDATE keys SET rebuilt = 0")
        return self.count_reindex_keys()

    def reindexing_to(self) -> EmbedderCard | None:
        """Return the embedder of a reindex that stands half done, None when there is none."""
        building = self._building()
        return EmbedderCard(*building[1:]) if building is not None else None

    def count_reindex_keys(self) -> int:
        """Return how many keys the running reindex has left."""
        left: int = self._db.value(
            f"SELECT count(*) FROM keys JOIN memories ON memories.id = memory WHERE rebuilt = 0 AND {SEARCHED}"
        )
        return left

    def list_reindex_keys(self, limit: int) -> list[Key]:
        """Return keys that the running reindex has left, oldest first."""
        return to_keys(
            self._db.rows(
                f"""SELECT {KEY_COLUMNS} FROM keys JOIN memories ON memories.id = keys.memory
                WHERE rebuilt = 0 AND {SEARCHED} ORDER BY keys.id LIMIT ?""",
                (limit,),
            )
        )

    def set_reindex_vectors(self, vectors: Sequence[tuple[int, Vector]], card: EmbedderCard) -> None:
        """Store vectors in the index that is being built; the same rules as `set_vectors`."""
        packed = [(key, vec0.pack(vector, card.dimensions)) for key, vector in vectors]
        with self._db.transaction():
            building = self._building()
            if building is None or not _same(EmbedderCard(*building[1:]), card):
                raise StoreError("No reindex with this embedding model is running; start `memchat reindex` again.")
            placed = vec0.place(self._db, building[0], packed)
            self._db.write_many("UPDATE keys SET rebuilt = ? WHERE id = ?", ((building[0], key) for key in placed))

    def finish_reindex(self) -> None:
        """Put the new index in the place of the old one; keys that it lacks are pending."""
        self._require_vec0()
        with self._db.transaction():
            building = self._building()
            if building is None:
                return
            for generation in self._db.column("SELECT generation FROM embedders WHERE live = 1"):
                vec0.drop_generation(self._db, generation)
            self._db.write("UPDATE embedders SET live = 1")
            self._db.write("UPDATE keys SET generation = nullif(rebuilt, 0), rebuilt = NULL")

    def _building(self) -> Row | None:
        return self._db.row(f"SELECT generation, {CARD_COLUMNS} FROM embedders WHERE live = 0")

    def _abandon(self, building: Row | None) -> None:
        if building is not None:
            vec0.drop_generation(self._db, building[0])

    def _require_vec0(self) -> None:
        if self._db.why_no_vectors is not None:
            raise StoreUnusable(self._db.why_no_vectors)

    def _require(self, card: EmbedderCard) -> None:
        self._require_vec0()
        own = self.embedder()
        if own is None:
            raise StoreError("The memory file has no embedding model yet.")
        if not _same(own, card):
            raise StoreError(
                f"The memory file holds vectors of {own.model} ({own.digest[:12]}), not of {card.model} "
                f"({card.digest[:12]}); run `memchat reindex` to change."
            )


def _nearest(rows: Sequence[Row], generation: int, limit: int, cue_discount: float) -> list[VectorHit]:
    """Return the nearest key of each memory from rows of `_SEARCH`, without keys that are gone or of another index."""
    known = [
        (memory, key, text, distance + cue_discount * asks)
        for memory, key, text, distance, placed, asks in rows
        if placed == generation and distance is not None
    ]
    best: dict[int, VectorHit] = {}
    for memory, key, text, distance in sorted(known, key=itemgetter(3)):
        if memory not in best:
            best[memory] = VectorHit(memory, key, text, 1.0 - distance)
            if len(best) == limit:
                break
    return list(best.values())


def _are_certain(hits: Sequence[VectorHit], rows: Sequence[Row], limit: int) -> bool:
    """Tell whether no key beyond `rows` could take a place among the hits.

    It could where many keys of few memories crowd out the others, or where the discount puts the hits behind keys that
    are further away.
    """
    farthest = max((row[3] for row in rows if row[3] is not None), default=0.0)
    return len(hits) == limit and hits[-1].similarity >= 1.0 - farthest


def _tupled(value: object) -> Any:  # noqa: ANN401 - the field's own type
    """Return what JSON made a list of as the tuple it was."""
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


def _same(one: EmbedderCard, other: EmbedderCard) -> bool:
    """Tell whether vectors of two cards may be compared; what is known of their languages does not matter."""
    return replace(one, languages=other.languages) == other
