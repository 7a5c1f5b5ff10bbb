"""Rows of forgetting: what is taken out of the indexes, and apart from it the rewriting and reading of the file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Final
from unittest.mock import patch

from memchat.store import Store, scrubbing, verification
from tests.benchmarks.lab import Lab
from tests.benchmarks.measure import Pairs
from tests.benchmarks.report import Line, ratio_line
from tests.benchmarks.stock import copy_of, user_name

_ROUNDS: Final = 3
_SECONDS: Final = 10.0  # the most that wiping and checking may take


@dataclass(frozen=True, slots=True)
class Spent:
    """One forget: processor seconds in the tables, and seconds of rewriting and reading the file."""

    tables: float
    file: float
    forgotten: int
    size: int


def forget(lab: Lab) -> list[Line]:
    """One memory, and a whole user with a tenth of all, in a small and in a ten times larger file."""
    small, large = (10_000, 100_000) if lab.full else (lab.count(1_000), lab.count(10_000))
    one = [_measure(lab, size, _forget_one) for size in (small, large)]
    whole = [_measure(lab, size, _forget_user) for size in (small, large)]
    sizes = f"{large:,}", f"{small:,}"
    note = f"then VACUUM and reading the file took {_median(one[1]):.2f} s for {one[1][0].size / 1e6:.0f} MB"
    return [
        ratio_line("forget", f"one of {sizes[0]}, tables", f"one of {sizes[1]}", _each(*one), 1.5, note=note),
        ratio_line(
            "forget",
            f"a user with {large // 10:,} of {sizes[0]}, tables, each memory",
            f"{small // 10:,} of {sizes[1]}",
            _each(*whole),
            1.5,
            note=f"in all {whole[1][0].tables:.2f} s",
        ),
        _file_line(f"a user with {large // 10:,} of {sizes[0]}, VACUUM and check", whole[1]),
    ]


def _forget_one(store: Store) -> int:
    return len(store.erase([store.list_memories(limit=1)[0].id]).forgotten)


def _forget_user(store: Store) -> int:
    return len(store.erase_user().forgotten)


def _measure(lab: Lab, size: int, action: Callable[[Store], int]) -> list[Spent]:
    made = lab.stock(size, users=10)
    return [_forget(copy_of(made, lab.folder("forget")), action) for _ in range(lab.rounds(_ROUNDS))]


def _forget(path: Path, action: Callable[[Store], int]) -> Spent:
    size = path.stat().st_size
    with Store.open(path, user_name(1)) as store, _clocked() as file:
        started = process_time()
        forgotten = action(store)
        worked = process_time() - started
    path.unlink()
    passed, busy = (sum(times) for times in zip(*file, strict=True))
    return Spent(worked - busy, passed, forgotten, size)


@contextmanager
def _clocked() -> Iterator[list[tuple[float, float]]]:
    """Note how long the file is rewritten and read, and how long the processor is busy with it."""
    spent: list[tuple[float, float]] = []

    def clocked(function: Callable[..., object]) -> Callable[..., object]:
        def run(*arguments: object) -> object:
            started = perf_counter(), process_time()
            try:
                return function(*arguments)
            finally:
                spent.append((perf_counter() - started[0], process_time() - started[1]))

        return run

    with (
        patch.object(scrubbing, "scrub", clocked(scrubbing.scrub)),
        patch.object(verification, "search", clocked(verification.search)),
    ):
        yield spent


def _each(small: list[Spent], large: list[Spent]) -> Pairs:
    """Return seconds of the tables for each memory that was forgotten."""
    ours, theirs = ([one.tables / one.forgotten for one in spent] for spent in (large, small))
    return Pairs(tuple(ours), tuple(theirs))


def _median(spent: list[Spent]) -> float:
    return sorted(one.file for one in spent)[len(spent) // 2]


def _file_line(what: str, spent: list[Spent]) -> Line:
    size = spent[0].size
    seconds = _median(spent)
    return Line(
        "forget",
        what,
        f"the bytes of a file of {size / 1e6:.0f} MB",
        seconds * 1000,
        None,
        seconds,
        _SECONDS,
        form="{:.2f} s",
        spread=(min(one.file for one in spent), max(one.file for one in spent)),
        clock="wall",
        ours=tuple(one.file for one in spent),
    )
