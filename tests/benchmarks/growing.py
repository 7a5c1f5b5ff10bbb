"""Rows of growth: what more memories and more users cost, and the memory that the largest file takes."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from memchat.recall import RecallOptions, build_profile
from memchat.store import Store
from tests.benchmarks.lab import Lab
from tests.benchmarks.measure import Contestant, duel, on_cpu
from tests.benchmarks.report import Line, Skipped, ratio_line
from tests.benchmarks.searching import recalling
from tests.benchmarks.stock import DIMENSIONS as _DIMENSIONS
from tests.benchmarks.stock import KEYS, NOW, queries, unit_vectors, user_name

_ROOT: Final = Path(__file__).parents[2]
_PROBE: Final = Path(__file__).with_name("memory_probe.py")
_BYTES: Final = 4
_ROUNDS: Final = 10


def growth(lab: Lab) -> list[Line]:
    """Search, profile and opening in files of 1,000 to 100,000 memories of 1 to 100 users, beside the smallest."""
    base = lab.count(1_000)
    return [
        line
        for size in lab.sizes(1_000, 10_000, 100_000)
        for users in (1, 10, 100)
        if (size, users) != (base, 1)
        for line in _grown(lab, size, users, base)
    ]


def memory(lab: Lab) -> list[Line]:
    """Peak anonymous memory of a chat's searches, beside the size of all vectors."""
    if not Path("/proc/self/status").exists():
        raise Skipped("anonymous memory can only be told apart from mapped files on Linux")
    size = 100_000 if lab.full else lab.count(10_000)
    full, empty = (_peak(lab, lab.stock(count)) for count in (size, lab.count(20)))
    vectors = size * KEYS * _DIMENSIONS * _BYTES
    return [
        Line(
            "memory",
            f"{size:,} memories, beyond the interpreter",
            "size of the vectors",
            (full - empty) / 1e6,
            vectors / 1e6,
            (full - empty) / vectors,
            0.5,
            unit="MB",
            clock="",
            note=f"{full / 1e6:.0f} MB in all, {empty / 1e6:.0f} MB with 20 memories",
            ours=(full, empty),
        )
    ]


def _peak(lab: Lab, path: Path) -> int:
    ran = subprocess.run(
        [sys.executable, str(_PROBE), str(path), user_name(0)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(_ROOT)},
    )
    return int(json.loads(ran.stdout)["peak"])


def _grown(lab: Lab, size: int, users: int, base: int) -> list[Line]:
    with (
        Store.open(lab.stock(size, users), user_name(0), read_only=True) as grown,
        Store.open(lab.stock(base), user_name(0), read_only=True) as first,
    ):
        what = f"{size:,} memories of {users} users"
        against = f"{base:,} of 1"
        return [
            ratio_line("growth", f"{what}, {name}", against, duel(action(grown), action(first), lab.rounds(_ROUNDS)))
            for name, action in (("search", _searching(size // users)), ("profile", _profiling), ("open", _opening))
        ]


def _searching(own: int) -> Callable[[Store], Contestant]:
    asked = queries(unit_vectors(min(own, 1000) * KEYS), _ROUNDS)
    return lambda store: on_cpu(recalling(store, asked))


def _profiling(store: Store) -> Contestant:
    return on_cpu(lambda _: build_profile(store, RecallOptions(), NOW))


def _opening(store: Store) -> Contestant:
    return on_cpu(lambda _: Store.open(store.path, store.user, read_only=True).close())
