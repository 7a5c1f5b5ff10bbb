"""The learning thread: it waits for idle time, gives way at once, loses nothing, and tidies up when nothing waits."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from time import monotonic, sleep

import pytest

from memchat.alone import alone
from memchat.errors import EngineFailed, EngineUnreachable
from memchat.learn import Learned, Learner, LearnOptions
from memchat.learn.chores import Chores, write_missing_cues
from memchat.learn.worker import LOCK_SUFFIX
from memchat.records import Cause, NewMemory
from memchat.store import Store
from tests.fakes import FakeChat, FakeEmbedder
from tests.learn_stage import NOW, queue, texts

CUES = {"cues": ["Where do I live?", "Which town am I in?"]}
DOUBTFUL = "Our hedge is a bit odd."
PICKED = {"memories": [{"line": 1, "kind": "fact", "importance": 5}]}


def wait_for(what: Callable[[], bool], seconds: float = 8.0) -> None:
    end = monotonic() + seconds
    while not what():
        assert monotonic() < end, "It did not happen."
        sleep(0.005)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path) -> Iterator[Store]:
    with Store.open(path) as store:
        yield store


@pytest.fixture
def start(store, path) -> Iterator[Callable[..., Learner]]:
    started: list[Learner] = []

    def start(model: FakeChat, embedder: FakeEmbedder | None = None, *, idle: float = 0.0, **more) -> Learner:
        learner = Learner(
            lambda: Store.open(path),
            lambda: model,
            lambda: embedder,
            LearnOptions(idle_seconds=idle),
            clock=lambda: NOW,
            **more,
        )
        started.append(learner)
        learner.start()
        return learner

    yield start
    for learner in started:
        learner.close()


def test_what_waits_is_learnt_and_told(store, start) -> None:
    queue(store, "I live in Tartu.")
    told: list[Learned] = []
    start(FakeChat(json_replies=[CUES]), FakeEmbedder(), on_learned=told.append)
    wait_for(lambda: store.count_queued() == 0 and bool(told))
    assert [memory.text for memory in told[0].added] == ["I live in Tartu."]


def test_it_waits_until_the_user_is_idle(store, start) -> None:
    queue(store, "I live in Tartu.")
    learner = start(FakeChat(), idle=3600.0)
    sleep(0.05)
    assert store.count_queued() == 1
    assert learner.drain(5.0, Event()) == 0
    assert texts(store) == ["I live in Tartu."]


def test_enter_drops_the_running_call_and_nothing_is_lost(store, start) -> None:
    queue(store, DOUBTFUL)
    model = FakeChat(json_replies=[PICKED, CUES])
    model.before_json = Event()
    learner = start(model)
    wait_for(lambda: bool(model.json_prompts))
    learner.pause()  # returns although the model's answer never comes
    assert store.count_queued() == 1
    sleep(0.05)
    assert len(model.json_prompts) == 1
    model.before_json.set()
    learner.resume()
    wait_for(lambda: store.count_queued() == 0)
    assert texts(store) == [DOUBTFUL]


def test_a_failure_is_put_off_with_its_reason(store, start) -> None:
    queue(store, DOUBTFUL)
    start(FakeChat(json_replies=[EngineFailed("The model ran out of memory.")]))
    wait_for(lambda: store.list_queued(1, NOW) == [])
    assert store.count_queued() == 1


def test_without_a_server_nothing_is_counted_against_the_exchange(store, start) -> None:
    queue(store, DOUBTFUL)
    model = FakeChat(json_replies=[EngineUnreachable("Nothing answers.")])
    start(model)
    wait_for(lambda: bool(model.json_prompts))
    sleep(0.05)
    assert [queued.attempts for queued in store.list_queued(9, NOW)] == [0]


def test_draining_stops_when_it_is_told_to(store, start) -> None:
    queue(store, DOUBTFUL)
    model = FakeChat()
    model.before_json = Event()
    learner = start(model, idle=3600.0)
    stop = Event()
    stop.set()
    assert learner.drain(5.0, stop) == 1
    assert learner.drain(0.2, Event()) == 1


def test_only_one_process_learns_from_a_file(store, start, path) -> None:
    queue(store, "I live in Tartu.")
    with alone(path.with_name(path.name + LOCK_SUFFIX)) as mine:
        assert mine
        learner = start(FakeChat())
        assert learner.drain(0.3, Event()) == 1
    learner.close()


def test_closing_twice_is_harmless(start) -> None:
    learner = start(FakeChat())
    learner.close()
    learner.close()


def keep(store, text: str):
    return store.add_memory(NewMemory(text), cause=Cause.IMPORTED, now=NOW)


def test_when_nothing_waits_vectors_cues_and_duplicates_are_seen_to(store, start) -> None:
    first = keep(store, "I organise the street festival.")
    twin = keep(store, "I organize the street festival.")
    start(FakeChat(json_replies=[{"cues": ["What do I organise?", "Which festival is mine?"]}]), FakeEmbedder())
    wait_for(lambda: bool(store.get_memory(first.id).cues) and store.count_pending_keys() == 0)
    assert store.get_memory(first.id).cues == ("What do I organise?", "Which festival is mine?")
    assert store.get_memory(twin.id).superseded_by == first.id


def test_a_memory_the_model_cannot_ask_about_is_asked_for_once(store) -> None:
    keep(store, "I live in Tartu.")
    model, chores = FakeChat(json_replies=["nonsense"]), Chores()
    while chores.do_next(store, lambda: model, None, NOW, Event()):
        pass
    assert len(model.json_prompts) == 1


def test_missing_cues_are_written_on_demand(store) -> None:
    memory = keep(store, "I live in Tartu.")
    keep(store, "I like olives.")
    seen: list[float] = []
    model = FakeChat(json_replies=["nonsense", CUES])
    written = write_missing_cues(store, model, FakeEmbedder(), NOW, Event(), lambda done, total: seen.append(done))
    assert written == 1
    assert seen == [0, 1]
    assert store.get_memory(memory.id).cues == tuple(CUES["cues"])
    assert [change.action for change in store.list_changes(memory.id)] == ["added"]


@pytest.mark.parametrize(
    ("languages", "cues"), [("english", ("I can't swim.",)), ("multilingual", ("¿Sé nadar?",))], ids=str
)
def test_a_memory_that_an_english_embedder_cannot_read_is_cued_in_english(store, languages, cues) -> None:
    memory = keep(store, "No sé nadar.")
    model = FakeChat(json_replies=[{"english": "I can't swim.", "cues": ["¿Sé nadar?"]}])
    embedder = FakeEmbedder(languages=languages)
    assert write_missing_cues(store, model, embedder, NOW, Event()) == 1
    assert store.get_memory(memory.id).cues == cues
    assert store.count_pending_keys() == 0


KILLED = """
import sys
from pathlib import Path
from threading import Event
from memchat.learn import LearnOptions, learn_turn
from memchat.store import Store
from tests.fakes import FakeEmbedder
from tests.learn_stage import WorstChat, next_queued
with Store.open(Path(sys.argv[1])) as store:
    print("ready", flush=True)
    while store.count_queued():
        queued = next_queued(store)
        learn_turn(store, WorstChat(), FakeEmbedder(), queued, LearnOptions(), queued.turn.at, Event())
print("done", flush=True)
"""


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05, 0.09, 0.14])
def test_a_kill_while_learning_loses_and_doubles_nothing(store, path, delay: float) -> None:
    facts = [f"My cousin {name} collects maps." for name in ("Oda", "Per", "Ida", "Jonas", "Mirko", "Tilde")]
    for fact in facts:
        queue(store, fact)
    root = Path(__file__).parent.parent
    command = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        sleep(delay)
        process.kill()
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    assert texts(store) == facts
    assert store.count_queued() == 0
    assert store.check() == []
