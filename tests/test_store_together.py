"""Two processes at once, threads, locks that last, and a kill at any moment."""

import os
import random
import signal
import sys
import threading
import time

import pytest

from memchat.errors import StoreBusy
from memchat.records import Cause, NewMemory
from tests.store_stage import NOW, embed_all, near, open_store, python, say, tell

_WRITER = """
import sys
from pathlib import Path
from memchat.records import Cause, NewMemory
from memchat.store import Store
from tests.store_stage import NOW, embed_all, say
name, count = sys.argv[2], int(sys.argv[3])
with Store.open(Path(sys.argv[1])) as store:
    print("open", flush=True)
    sys.stdin.readline()
    for number in range(count):
        turn = say(store, f"{name} says {number}", learn=True)
        store.add_memory(NewMemory(f"{name} has the number {number}"), cause=Cause.USER, now=NOW)
        if number % 5 == 0:
            embed_all(store)
        print(number, flush=True)
"""


def _start(path, *names, count):
    writers = [python(_WRITER, path, name, count) for name in names]
    for writer in writers:
        assert writer.stdout.readline() == "open\n", writer.stderr.read()
    for writer in writers:
        writer.stdin.write("\n")
        writer.stdin.flush()
    return writers


def test_two_processes_write_at_once_and_nothing_is_lost(tmp_path):
    """They also make the file at once."""
    writers = _start(tmp_path / "memchat" / "memory.db", "one", "two", count=40)
    results = [writer.communicate() for writer in writers]
    assert [err for _, err in results] == ["", ""]
    with open_store(tmp_path) as store:
        texts = [memory.text for memory in store.list_memories()]
        assert sorted(texts) == sorted(f"{name} has the number {n}" for name in ("one", "two") for n in range(40))
        assert (store.count_queued(), len(store.list_sessions()), store.check()) == (80, 80, [])


@pytest.mark.parametrize("seed", range(4))
def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path, seed):
    path = tmp_path / "memchat" / "memory.db"
    writers = _start(path, "one", "two", count=10_000)
    time.sleep(random.Random(seed).uniform(0.02, 0.4))
    for writer in writers:
        writer.send_signal(signal.SIGKILL)
    acknowledged = [len(writer.communicate()[0].splitlines()) for writer in writers]
    with open_store(tmp_path) as store:
        texts = {memory.text for memory in store.list_memories()}
        for name, count in zip(("one", "two"), acknowledged, strict=True):
            assert texts >= {f"{name} has the number {number}" for number in range(count)}
        assert store.check() == []
        embed_all(store)
        assert near(store, "has the number") != []


def test_a_killed_forget_is_whole_or_has_not_been(tmp_path):
    code = (
        "import sys; from pathlib import Path; from memchat.store import Store; "
        "s = Store.open(Path(sys.argv[1])); print('go', flush=True); s.erase([1, 2, 3]); print('done', flush=True)"
    )
    for pause in (0.0, 0.004, 0.01, 0.03):
        folder = tmp_path / str(pause)
        with open_store(folder) as store:
            memories = [tell(store, f"I own {number} bees", turn=say(store, f"number {number}")) for number in range(4)]
        process = python(code, store.path)
        process.stdout.readline()
        time.sleep(pause)
        process.kill()
        process.communicate()
        with open_store(folder) as store:
            assert len(store.list_memories()) in (1, 4)
            assert {fault.name for fault in store.check()} <= {"wiping"}
            store.fix()
            assert store.check() == []
            assert store.get_memory(memories[3].id) == memories[3]


def test_a_lock_that_lasts_is_told_and_nothing_is_half_written(tmp_path):
    with open_store(tmp_path) as store, open_store(tmp_path) as other:
        memory = tell(store, "I keep bees")
        other._db.rows("PRAGMA busy_timeout = 50")
        with store.transaction():
            store.update_memory(memory.id, cause=Cause.USER, now=NOW, text="I keep wasps")
            with pytest.raises(StoreBusy, match="Another program is writing"):
                tell(other, "I drive a tram")
            assert other.get_memory(memory.id) == memory, "reading goes on meanwhile"
        assert [found.text for found in other.list_memories()] == ["I keep wasps"]
        assert tell(other, "I drive a tram").id > memory.id


def test_a_writer_waits_for_another_one(tmp_path):
    with open_store(tmp_path) as store:
        inside, written = threading.Event(), []

        def write():
            with open_store(tmp_path) as mine:
                inside.wait()
                written.append(mine.add_memory(NewMemory("I drive a tram"), cause=Cause.USER, now=NOW).id)

        thread = threading.Thread(target=write)
        thread.start()
        with store.transaction():
            tell(store, "I keep bees")
            inside.set()
            time.sleep(0.2)
            assert written == []
        thread.join()
        assert [memory.id for memory in store.list_memories()] == [1, *written]


_WHO_LOCKS = """
import fcntl, struct, sys
with open(sys.argv[1], "r+") as file:
    asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0x40000002, 510, 0)  # SQLite's bytes for readers
    print(struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, asked))[4])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the layout of struct flock is Linux's")
def test_opening_a_second_store_keeps_the_locks_of_the_first(tmp_path):
    """Closing any descriptor of the file would drop them: so it is only ever opened by SQLite."""
    with open_store(tmp_path) as store:
        memory = tell(store, "I keep bees")
        for _ in range(2):
            with open_store(tmp_path) as second:
                second.check()
                second.sizes()
        store.erase([memory.id])
        assert python(_WHO_LOCKS, store.path).communicate() == (f"{os.getpid()}\n", "")


def test_an_interrupt_inside_a_transaction_takes_it_back(tmp_path):
    with open_store(tmp_path) as store:

        def interrupted():
            with store.transaction():
                tell(store, "I keep bees")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert store.list_memories() == []
        assert tell(store, "I drive a tram")


_HASTY = """
import os, signal, sys
from pathlib import Path
from memchat.store import Store
from tests.store_stage import say
store = Store.open(Path(sys.argv[1]))
with store.hastily():
    say(store, "I just said this.")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name != "posix", reason="it takes a kill that cannot be caught")
def test_what_is_stored_hastily_outlives_a_kill(tmp_path):
    with open_store(tmp_path):
        pass
    with python(_HASTY, tmp_path / "memchat" / "memory.db") as killed:
        assert killed.wait() == -signal.SIGKILL, killed.stderr.read()
    with open_store(tmp_path) as store:
        latest = store.find_latest_session()
        assert [turn.user_text for turn in store.list_turns(latest.id)] == ["I just said this."]


def test_every_transaction_but_a_hasty_one_waits_for_the_disk(tmp_path):
    full, normal = 2, 1
    with open_store(tmp_path) as store:
        assert store._db.value("PRAGMA synchronous") == full
        with store.hastily():
            assert store._db.value("PRAGMA synchronous") == normal
            with store.transaction():
                store.add_session(NOW)
        assert store._db.value("PRAGMA synchronous") == full
        with pytest.raises(ZeroDivisionError), store.hastily():
            raise ZeroDivisionError
        assert store._db.value("PRAGMA synchronous") == full
        with store.transaction(), pytest.raises(RuntimeError), store.hastily():
            pass
