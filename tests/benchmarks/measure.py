"""Measures several ways of doing the same in alternation, so that whatever else runs on the machine meets all alike."""

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Contestant = Callable[[int], float]  # does its work for the round of that number and returns the seconds it took


@dataclass(frozen=True, slots=True)
class Pairs:
    """Seconds (or bytes) of two contestants, round by round."""

    ours: tuple[float, ...]
    theirs: tuple[float, ...]

    @property
    def measured(self) -> float:
        """The median of ours."""
        return statistics.median(self.ours)

    @property
    def reference(self) -> float:
        """The median of theirs."""
        return statistics.median(self.theirs)

    @property
    def ratio(self) -> float:
        """The median of the rounds' ratios: a slow moment of the machine meets both sides of one round."""
        return statistics.median(self.ratios)

    @property
    def ratios(self) -> list[float]:
        """The ratio of each round."""
        return [ours / theirs for ours, theirs in zip(self.ours, self.theirs, strict=True)]

    @property
    def spread(self) -> tuple[float, float]:
        """The lower and upper quartile of the rounds' ratios."""
        return quartiles(self.ratios)


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the lower and the upper quartile."""
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def on_cpu(action: Callable[[int], object]) -> Contestant:
    """Count the processor time of the whole process: what other programs take does not count."""
    return lambda turn: _timed(action, turn, time.process_time)


def on_wall(action: Callable[[int], object]) -> Contestant:
    """Count the time that passes, waiting for disks and other threads included."""
    return lambda turn: _timed(action, turn, time.perf_counter)


def race(contestants: Sequence[Contestant], rounds: int, *, warm: int = 1) -> list[list[float]]:
    """Let all go once a round, another one first each time; return the seconds of each. Warm rounds do not count."""
    taken: list[list[float]] = [[] for _ in contestants]
    for turn in range(-warm, rounds):
        order = [(turn + place) % len(contestants) for place in range(len(contestants))]
        for number in order:
            seconds = contestants[number](turn % max(1, rounds))
            if turn >= 0:
                taken[number].append(seconds)
    return taken


def duel(ours: Contestant, theirs: Contestant, rounds: int, *, warm: int = 1) -> Pairs:
    """Race two."""
    first, second = race([ours, theirs], rounds, warm=warm)
    return Pairs(tuple(first), tuple(second))


def _timed(action: Callable[[int], object], turn: int, clock: Callable[[], float]) -> float:
    collecting = gc.isenabled()
    gc.disable()
    try:
        started = clock()
        action(turn)
        return clock() - started
    finally:
        if collecting:
            gc.enable()
