"""Opens a memory file as a chat does, searches it, and prints the peak of its anonymous memory; run by the suite."""

import json
import random
import sys
from array import array
from pathlib import Path
from threading import Event, Thread

from memchat.recall import RecallOptions, build_profile
from memchat.recall.embed import Asked
from memchat.recall.read import answer
from memchat.store import Store
from tests.benchmarks.stock import CALIBRATION, DIMENSIONS, NOW

_SEARCHES = 5


def main() -> None:
    """Search and tell."""
    path, user = sys.argv[1:]
    peak, done = [0], Event()
    watcher = Thread(target=_watch, args=(peak, done), daemon=True)
    watcher.start()
    with Store.open(Path(path), user, read_only=True) as store:
        build_profile(store, RecallOptions(), NOW)
        for _ in range(_SEARCHES):
            drawn = [random.gauss(0, 1) for _ in range(DIMENSIONS)]
            norm = sum(value * value for value in drawn) ** 0.5
            asked = Asked((array("f", (value / norm for value in drawn)),), CALIBRATION)
            answer(store, asked, ("Who can teach me chess in Lisbon?",), RecallOptions(), NOW)
    done.set()
    watcher.join()
    sys.stdout.write(json.dumps({"peak": peak[0]}) + "\n")


def _watch(peak: list[int], done: Event) -> None:
    while not done.wait(0.002):
        peak[0] = max(peak[0], _anonymous())
    peak[0] = max(peak[0], _anonymous())


def _anonymous() -> int:
    """Return the bytes that are backed by no file."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


if __name__ == "__main__":
    main()
