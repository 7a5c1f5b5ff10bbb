"""Rows of what is written: one memory, and an import with its embedding."""

import json
from collections.abc import Callable
from typing import Final

from memchat.curate.transfer import import_lines
from memchat.recall import ensure_embedded
from memchat.recall.spoken import as_spoken
from memchat.records import Cause, NewMemory
from memchat.store import Store
from tests.benchmarks.lab import Lab
from tests.benchmarks.measure import Pairs, duel, on_cpu, on_wall, race
from tests.benchmarks.report import Line, ratio_line
from tests.benchmarks.stock import CARD, KEYS, NOW, Words, as_vector, copy_of, unit_vectors, user_name

_ROUNDS: Final = 60
_PLAIN: Final = "INSERT INTO plain (text, at) VALUES (?, 1)"


def store(lab: Lab) -> list[Line]:
    """Storing one memory with three cues, beside one row in a plain table of the same file, both committed."""
    rounds = lab.rounds(_ROUNDS)
    new = [Words(11).memory(number) for number in range(rounds)]
    with Store.open(copy_of(lab.stock(lab.count(900)), lab.folder("store")), user_name(0)) as opened:
        # The store's own connection: a second one would make both read the file anew after every commit.
        database = opened._db
        database.write("CREATE TABLE plain (id INTEGER PRIMARY KEY, text TEXT, at INTEGER)")
        add, add_found = _adding(opened, new), _adding_found(opened, new)

        def plain(turn: int) -> None:
            database.write(_PLAIN, (new[turn].text,))

        kept, found, bare = race([on_wall(add), on_wall(add_found), on_wall(plain)], rounds)
        worked, plain_worked = race([on_cpu(add), on_cpu(plain)], rounds)
    against = "one plain row, committed"
    return [
        ratio_line("store", "one memory", against, Pairs(tuple(kept), tuple(bare)), 5, clock="wall"),
        ratio_line("store", "one memory and its vectors", against, Pairs(tuple(found), tuple(bare)), 5, clock="wall"),
        ratio_line("store", "one memory, processor", against, Pairs(tuple(worked), tuple(plain_worked))),
    ]


def import_(lab: Lab) -> list[Line]:
    """An import with the embedded embedder, beside the bare batch embedding of the same texts."""
    embedder = lab.embedder()
    count = 10_000 if lab.full else lab.count(800)
    texts = [Words(number).memory(number).text for number in range(count)]
    spoken = [as_spoken(text) for text in texts]
    folder = lab.folder("import")

    def run(turn: int) -> None:
        with Store.open(folder / f"{turn}.db") as opened:
            import_lines(opened, (json.dumps({"text": text}) for text in texts), name="-", now=NOW)
            ensure_embedded(opened, embedder)

    with Store.open(folder / "calibrated.db") as opened:  # a file's first use calibrates, once and not per memory
        opened.add_memory(NewMemory("I live here."), cause=Cause.USER, now=NOW)
        calibrating = on_cpu(lambda _: ensure_embedded(opened, embedder))(0)
    pairs = duel(on_cpu(run), on_cpu(lambda _: embedder.embed_documents(spoken)), 1 if lab.full else 2, warm=0)
    ours = tuple(seconds - calibrating for seconds in pairs.ours)
    note = f"the {calibrating * 1000:.0f} ms that calibrate a new file are not counted"
    pairs = Pairs(ours, pairs.theirs)
    return [ratio_line("import", f"{count:,} memories", "their bare embedding", pairs, 1.2, note=note)]


def _adding(opened: Store, new: list[NewMemory]) -> Callable[[int], object]:
    return lambda turn: opened.add_memory(new[turn], cause=Cause.USER, now=NOW)


def _adding_found(opened: Store, new: list[NewMemory]) -> Callable[[int], object]:
    vectors = [as_vector(row) for row in unit_vectors(KEYS)]

    def add(turn: int) -> None:
        with opened.transaction():  # as the product does: what is embedded ahead is stored with the memory
            memory = opened.add_memory(new[turn], cause=Cause.USER, now=NOW)
            keys = [key.id for key in opened.list_keys(memory.id)]
            opened.set_vectors(list(zip(keys, vectors, strict=True)), CARD)

    return add
