"""Rows of the search: what finding and ranking cost beside the bare arithmetic, and beside other stores."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memchat.recall import RecallOptions
from memchat.recall.embed import Asked
from memchat.recall.read import answer
from memchat.records import Vector
from memchat.store import Store
from tests.benchmarks.lab import Lab
from tests.benchmarks.measure import Pairs, on_cpu, race
from tests.benchmarks.peers import SearchPeer
from tests.benchmarks.report import Line, Skipped, ratio_line
from tests.benchmarks.stock import CALIBRATION, KEYS, NOW, Words, queries, unit_vectors, user_name

if TYPE_CHECKING:
    import apsw
    import numpy

_ROUNDS: Final = 30
_NEIGHBOURS: Final = 20  # keys that hold the five best memories
_LIMITS: Final = {900: 4.0, 100_000: 2.0}  # of numpy


def search(lab: Lab) -> list[Line]:
    """Finding and ranking, beside vec0's bare KNN and one matrix product over the same keys."""
    return [line for size in lab.sizes(900, 10_000, 100_000) for line in _search(lab, size)]


def peers(lab: Lab) -> list[Line]:
    """The same search among ten users, beside chromadb and Qdrant local."""
    lines = []
    for name, package in (("chroma", "chromadb"), ("qdrant", "qdrant-client")):
        try:
            lab.peers.require(package, package.removesuffix("-client").replace("qdrant", "qdrant_client"))
            for size in lab.sizes(900, 10_000):
                lines += _beside_peer(lab, name, package, size)
        except Skipped as reason:
            lines.append(Line("peers", package, note=str(reason)))
    return lines


def recalling(store: Store, asked: list[Vector]) -> Callable[[int], object]:
    """Return the read path but for the embedding: both searches, ranking, verdicts, the block."""
    words = Words(7)
    texts = [words.question() for _ in asked]
    options = RecallOptions()
    return lambda turn: answer(store, Asked((asked[turn],), CALIBRATION), (texts[turn],), options, NOW)


def _search(lab: Lab, size: int) -> list[Line]:
    known = unit_vectors(size * KEYS)
    rounds = lab.rounds(_ROUNDS if size < 100_000 else 10)
    asked = queries(known, rounds)
    with Store.open(lab.stock(size), user_name(0), read_only=True) as store:
        ours, vec0, numpy = race(
            [
                on_cpu(recalling(store, asked)),
                on_cpu(_bare_vec0(_bare_file(lab, known), asked)),
                on_cpu(_bare_numpy(known, asked)),
            ],
            rounds,
        )
    what = f"{size:,} memories, {size * KEYS:,} keys"
    return [
        ratio_line("search", what, "vec0 KNN", Pairs(tuple(ours), tuple(vec0)), 1.5),
        ratio_line("search", what, "numpy in RAM", Pairs(tuple(ours), tuple(numpy)), _LIMITS.get(size)),
    ]


def _bare_file(lab: Lab, known: "numpy.ndarray") -> Path:
    path = lab.cache / f"bare-{len(known)}.db"
    if not path.exists():
        fresh = path.with_suffix(".part")
        fresh.unlink(missing_ok=True)
        connection = _open_bare(fresh)
        connection.execute("CREATE VIRTUAL TABLE bare USING vec0(embedding float[384] distance_metric=cosine)")
        with connection:
            rows = ((place + 1, row.tobytes()) for place, row in enumerate(known))
            connection.executemany("INSERT INTO bare (rowid, embedding) VALUES (?, ?)", rows)
        connection.close()
        fresh.rename(path)
    return path


def _open_bare(path: Path) -> "apsw.Connection":
    import apsw
    import sqlite_vec

    connection = apsw.Connection(str(path))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.execute(f"PRAGMA mmap_size={4 << 30}").fetchall()
    return connection


def _bare_vec0(path: Path, asked: list[Vector]) -> Callable[[int], object]:
    connection = _open_bare(path)
    sql = "SELECT rowid, distance FROM bare WHERE embedding MATCH ? AND k = ?"
    return lambda turn: connection.execute(sql, (asked[turn].tobytes(), _NEIGHBOURS)).fetchall()


def _bare_numpy(known: "numpy.ndarray", asked: list[Vector]) -> Callable[[int], object]:
    import numpy as np

    def find(turn: int) -> object:
        near = known @ np.frombuffer(asked[turn], dtype=np.float32)
        best = np.argpartition(-near, _NEIGHBOURS)[:_NEIGHBOURS]
        return best[np.argsort(-near[best])]

    return find


def _beside_peer(lab: Lab, name: str, package: str, size: int) -> list[Line]:
    import numpy as np

    known = unit_vectors(size * KEYS)
    rounds = lab.rounds(_ROUNDS)
    asked = queries(known, rounds)
    folder = lab.folder(name)
    np.save(folder / "vectors.npy", known)
    np.save(folder / "queries.npy", np.array(asked, dtype=np.float32))
    lab.tell(f"filling {package} with {len(known):,} vectors")
    files = (folder / "vectors.npy", folder / "queries.npy")
    with (
        Store.open(lab.stock(size, users=10), user_name(0), read_only=True) as store,
        SearchPeer(lab.peers, name, folder / "data", *files, users=10) as peer,
    ):
        nearest = on_cpu(lambda turn: store.search_vectors(asked[turn], _NEIGHBOURS // KEYS))
        near, ours, theirs = race([nearest, on_cpu(recalling(store, asked)), peer.search], rounds)
    limit = 0.25 if size < 10_000 else 0.5
    against = f"{package} {lab.peers.version(package)}"
    what = f"{size:,} memories of 10 users"
    return [
        ratio_line("peers", f"{what}, nearest keys", against, Pairs(tuple(near), tuple(theirs)), limit),
        ratio_line("peers", f"{what}, words and ranking too", against, Pairs(tuple(ours), tuple(theirs)), limit),
    ]
