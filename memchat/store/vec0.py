"""The vec0 tables themselves, one per embedder generation: rows by key id, a partition for each user and tense."""

import math
from array import array
from collections.abc import Iterable, Sequence
from typing import Final

from memchat.records import EmbedderCard, State, Vector
from memchat.store.connection import Bindings, Database
from memchat.store.part import in_list
from memchat.store.rows import SEARCHED

CARD_COLUMNS: Final = "model, digest, dimensions, scheme, languages"
# vec0 sorts out the best of each chunk by comparing all with all: with many neighbours asked for, small chunks save a
# quarter of a search; they keep small users quick and the file small, too.
CHUNK_ROWS: Final = 32


def pack(vector: Vector, dimensions: int) -> bytes:
    """Return the float32 bytes of a vector; ValueError for a wrong length, a non-finite number or norm 0."""
    if len(vector) != dimensions:
        raise ValueError(f"a vector has {len(vector)} numbers instead of {dimensions}")
    norm = math.hypot(*vector)
    if not math.isfinite(norm) or norm == 0:
        raise ValueError("a vector has a non-finite number" if norm else "a vector is zero")
    return (vector if isinstance(vector, array) and vector.typecode == "f" else array("f", vector)).tobytes()


def shelf_number(user: int, state: State) -> int:
    """Return the partition of a user's current (the user's number) or past memories (its negative)."""
    return user if state is State.CURRENT else -user


def generations(database: Database) -> list[int]:
    """Return the generations that have a vec0 table."""
    return database.column("SELECT generation FROM embedders")


def delete_vectors(database: Database, keys: Sequence[int]) -> int:
    """Delete the vectors of keys in every generation and return how many; without vec0 they stay until `fix`."""
    if database.why_no_vectors is not None or not keys:
        return 0
    return sum(_delete_rows(database, generation, keys) for generation in generations(database))


def move_vectors(database: Database, keys: Sequence[int], shelf: int) -> None:
    """Move the vectors of keys to another partition, which vec0 can only do by a delete and an insert."""
    if database.why_no_vectors is not None:
        database.write("UPDATE keys SET generation = NULL WHERE id IN (SELECT value FROM json_each(?))", in_list(keys))
        return
    for generation in generations(database):
        moved = [
            (key, database.value(f"SELECT embedding FROM vectors_{generation} WHERE rowid = ?", (key,))) for key in keys
        ]
        for key, embedding in moved:
            if embedding is not None:
                database.write(f"DELETE FROM vectors_{generation} WHERE rowid = ?", (key,))
                _insert(database, generation, [(key, shelf, embedding)])


def delete_shelves(database: Database, shelves: Sequence[int]) -> int:
    """Delete all vectors of whole partitions and return how many.

    vec0 deletes row by row; a partition has chunks of its own, so that they can go whole from its shadow tables.
    """
    if database.why_no_vectors is not None:
        return wipe(database)
    return sum(
        _delete_chunks(database, generation, "partition00 IN (SELECT value FROM json_each(?))", in_list(shelves))
        for generation in generations(database)
    )


def wipe(database: Database) -> int:
    """Delete every vector, which works without vec0 too, and make all keys pending; return how many went."""
    database.write("UPDATE keys SET generation = NULL, rebuilt = 0 * rebuilt")
    return sum(_delete_chunks(database, generation, "true", ()) for generation in generations(database))


def _delete_chunks(database: Database, generation: int, condition: str, bindings: Bindings) -> int:
    table = f"vectors_{generation}"
    chunks = f"SELECT chunk_id FROM {table}_chunks WHERE {condition}"
    database.write(f"DELETE FROM {table}_vector_chunks00 WHERE rowid IN ({chunks})", bindings)
    gone = database.write(f"DELETE FROM {table}_rowids WHERE chunk_id IN ({chunks})", bindings)
    database.write(f"DELETE FROM {table}_chunks WHERE {condition}", bindings)
    return gone


def list_vectors(database: Database, key: int) -> list[bytes]:
    """Return the stored bytes of the vectors of a key, in every generation."""
    if database.why_no_vectors is not None:
        return []
    return [
        embedding
        for generation in generations(database)
        for embedding in database.column(f"SELECT embedding FROM vectors_{generation} WHERE rowid = ?", (key,))
    ]


def holds_vector(database: Database, part: bytes) -> bool:
    """Tell whether any stored vector holds these bytes; reads all of them."""
    return database.why_no_vectors is None and any(
        database.value(f"SELECT 1 FROM vectors_{generation} WHERE instr(embedding, ?) LIMIT 1", (part,))
        for generation in generations(database)
    )


def rebuild(database: Database, generation: int, dimensions: int) -> None:
    """Write the vec0 table of a generation anew, its rows dense and in the order of shelves."""
    rows = database.rows(f"SELECT rowid, shelf, embedding FROM vectors_{generation}")
    database.write(f"DROP TABLE vectors_{generation}")
    create_table(database, generation, dimensions)
    _insert(database, generation, sorted(rows))


def drop_generation(database: Database, generation: int) -> None:
    """Drop an index with its record."""
    database.write(f"DROP TABLE vectors_{generation}")
    database.write("DELETE FROM embedders WHERE generation = ?", (generation,))


def add_generation(database: Database, card: EmbedderCard, *, live: bool) -> None:
    generation = database.insert(
        f"INSERT INTO embedders (live, {CARD_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
        (int(live), card.model, card.digest, card.dimensions, card.scheme, card.languages),
    )
    create_table(database, generation, card.dimensions)


def create_table(database: Database, generation: int, dimensions: int) -> None:
    """Create the vec0 table of a generation; small chunks keep small users quick and the file small."""
    database.write(
        f"""CREATE VIRTUAL TABLE vectors_{generation} USING vec0(shelf integer partition key,
        embedding float[{int(dimensions)}] distance_metric=cosine, chunk_size={CHUNK_ROWS})"""
    )


def place(database: Database, generation: int, packed: Iterable[tuple[int, bytes]]) -> list[int]:
    """Insert vectors of keys that still exist and may be searched, on their shelf; return those keys."""
    vectors = dict(packed)
    shelves = database.rows(
        f"""SELECT keys.id, memories.user, memories.state FROM keys JOIN memories ON memories.id = keys.memory
        WHERE keys.id IN (SELECT value FROM json_each(?)) AND {SEARCHED}""",
        in_list(vectors),
    )
    placed = [key for key, _, _ in shelves]
    _delete_rows(database, generation, placed)
    _insert(
        database, generation, ((key, shelf_number(user, State(state)), vectors[key]) for key, user, state in shelves)
    )
    return placed


def _delete_rows(database: Database, generation: int, keys: Iterable[int]) -> int:
    """Delete those of the rows that are there, one by one: asked for several at once, vec0 reads the whole table."""
    there = database.column(
        f"SELECT rowid FROM vectors_{generation}_rowids WHERE rowid IN (SELECT value FROM json_each(?))", in_list(keys)
    )
    database.write_many(f"DELETE FROM vectors_{generation} WHERE rowid = ?", ((key,) for key in there))
    return len(there)


def _insert(database: Database, generation: int, rows: Iterable[tuple[int, int, bytes]]) -> None:
    """Insert rows of key, shelf and vector."""
    database.write_many(f"INSERT INTO vectors_{generation} (rowid, shelf, embedding) VALUES (?, ?, ?)", rows)
