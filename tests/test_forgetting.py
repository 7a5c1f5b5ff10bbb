"""Forget means forget: by every way to say it no byte is left in any file, and it stays forgotten."""

import asyncio
import hashlib
import json
import random
import shutil
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.clipboard import ClipboardData
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from memchat.chat import Mode
from memchat.curate.forget import forget, select_ids
from memchat.curate.remember import remember
from memchat.paths import locate
from memchat.records import Memory
from memchat.store import Store, connection, vec0
from memchat.terminal.commands import read_call, run_command
from memchat.terminal.history import MessageHistory
from memchat.terminal.repl import Repl
from memchat.terminal.typed import add_typed, read_typed
from tests.commands import Result, Shell
from tests.fakes import FakeChat, FakeEmbedder
from tests.stage import Stage
from tests.standin import StandIn
from tests.store_stage import NOW, reader

NAME = "Quetzalcoatl"
FACT = f"My hamster is called {NAME}."
RETOLD = f"You told me of {NAME}, I believe."


def quick_vectors(texts: Sequence[str], dimensions: int) -> list[list[float]]:
    """A vector for each text, all different, in no time."""
    return [[byte / 128 - 1 for byte in hashlib.shake_128(text.encode()).digest(dimensions)] for text in texts]


def reply_to(body: dict) -> str:
    return RETOLD if "hamster called" in str(body["messages"][-1]) else "I see."


@pytest.fixture(scope="module")
def server() -> Iterator[StandIn]:
    with StandIn(replies=reply_to, embed=quick_vectors) as running:
        yield running


def found_under(folder: Path, *needles: str | bytes) -> list[tuple[str, object]]:
    """Return the files that hold a needle, texts in any case and in UTF-8 and UTF-16."""
    hits: list[tuple[str, object]] = []
    for file in folder.rglob("*"):
        content = file.read_bytes() if file.is_file() else b""
        for needle in needles:
            if isinstance(needle, bytes):
                forms, place = [needle], content
            else:
                forms, place = (
                    [needle.lower().encode(code) for code in ("utf-8", "utf-16-le", "utf-16-be")],
                    content.lower(),
                )
            hits += [(file.name, needle) for form in forms if form in place]
    return hits


def vectors_of(path: Path, *ids: int) -> list[bytes]:
    """Return the middle of each stored vector of these memories."""
    with Store.open(path) as store:
        keys = [key.id for id in ids for key in store.list_keys(id)]
        return [vector[512:576] for key in keys for vector in vec0.list_vectors(store._db, key)]


@pytest.fixture(scope="module")
def told_home(tmp_path_factory: pytest.TempPathFactory, server: StandIn) -> Path:
    """A fact that was said, learnt, recalled, retold by the model in other words, and typed; another user beside it."""
    shell = Shell(tmp_path_factory.mktemp("told"), server.url)
    shell.ok("ask", FACT)
    shell.ok("learn")
    shell.ok("ask", "What is my hamster called?")
    paths = history_of(shell, "default"), history_of(shell, "ana")
    for entry in (FACT, "What is my hamster called?", f"/forget {NAME}", "hello"):
        add_typed(paths[0], entry, NOW)
    shell.ok("--user", "ana", "remember", "My cat is called Xochipilli.")
    add_typed(paths[1], "my cat Xochipilli is hungry", NOW)
    assert found_under(shell.home, NAME)
    return shell.home


@pytest.fixture
def told(tmp_path: Path, told_home: Path, server: StandIn) -> Shell:
    """A copy of that home."""
    shutil.copytree(told_home, tmp_path, dirs_exist_ok=True)
    return Shell(tmp_path, server.url)


def history_of(shell: Shell, user: str) -> Path:
    return shell.db.with_name("history" if user == "default" else f"history-{user}")


WAYS: dict[str, tuple[list[str], str]] = {
    "by id": (["forget", "1"], ""),
    "by words": (["forget", "--query", NAME, "--yes"], ""),
    "by conversation": (["forget", "--session", "1", "--yes"], ""),
    "by date": (["forget", "--before", "2999-01-01", "--yes"], ""),
    "all": (["forget", "--all", "--yes"], ""),
    "a conversation deleted": (["sessions", "delete", "1", "--yes"], ""),
    "redacted": (["edit", "1", "My hamster is called Bob.", "--redact"], ""),
    "in the chat by id": (["chat"], "hello there\n/forget 1 --yes\n"),
    "in the chat by words": (["chat"], f"/forget {NAME} --yes\n"),
    "in the chat after asking": (["chat"], "What is my hamster called?\n/forget 1 --yes\nAnd now?\n"),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_byte_is_left_in_any_file(told: Shell, server: StandIn, way: str):
    argv, stdin = WAYS[way]
    vectors = vectors_of(told.db, 1)
    assert {name for name, _ in found_under(told.home, *vectors)} == {"memory.db"}
    told.ok(*argv, stdin=stdin)
    assert found_under(told.home, NAME, RETOLD, *vectors) == []
    assert "my cat Xochipilli is hungry" in history_of(told, "ana").read_text()
    assert "Xochipilli" in told.ok("--user", "ana", "list").out
    with Store.open(told.db) as store:
        assert store.check() == []
    if argv == ["chat"] and "now" in stdin:
        assert NAME not in str(server.chats[-1]["messages"]), "the live context has it no more"


def test_an_undone_memory_can_be_forgotten_too(told: Shell):
    told.ok("undo")
    assert told.ok("list").out == ""
    assert NAME in told.ok("history").out
    assert told.ok("forget", "1", "--json").json["forgotten"] == [1]
    assert found_under(told.home, NAME) == []


def test_the_history_file_of_a_user_with_nothing_left_goes(told: Shell):
    told.ok("--user", "ana", "forget", "--all", "--yes")
    assert not history_of(told, "ana").exists()
    assert found_under(told.home, "Xochipilli") == []
    assert read_typed(history_of(told, "default"))[0] == FACT


@pytest.mark.parametrize(
    ("user", "name"),
    [
        ("default", "history"),
        ("ana", "history-ana"),
        ("Ana", "history-%41na"),
        ("../ana", "history-%2e%2e%2fana"),
        ("Übel 1", "history-%c3%9cbel%201"),
        ("x" * 500, "history-xxxxxxxxxxxxxxxxxxxx-"),
    ],
)
def test_each_user_has_a_history_file_with_a_safe_name(user: str, name: str):
    file = locate(user=user).history
    assert file.name.startswith(name)
    assert len(file.name) < 120
    assert file.parent == locate().history.parent


def test_each_memory_file_has_an_input_history_of_its_own(told: Shell):
    there = locate(db=str(told.home / "work.db")).history
    assert there == told.home / "work.db-history"
    assert locate(db=str(told.db)).history != there
    add_typed(there, f"my {NAME} is not yours", NOW)
    told.ok("forget", "1")
    assert f"my {NAME}" in there.read_text()


def test_a_greeting_typed_elsewhere_is_no_trace_of_a_conversation(tmp_path: Path, server: StandIn):
    shell = Shell(tmp_path, server.url)
    shell.ok("ask", "hello")
    for entry in ("hello", "/help hello", "Othello is a play"):
        add_typed(history_of(shell, "default"), entry, NOW)
    assert "nothing of it is left" in shell.ok("sessions", "delete", "1", "--yes").out
    assert read_typed(history_of(shell, "default")) == ["/help hello", "Othello is a play"]


# -- with others at work


def test_an_idle_reader_is_no_hindrance_and_one_in_the_middle_is_named(told: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "BUSY_MS", 300)
    vectors = vectors_of(told.db, 1)
    with reader(told.db) as process:
        late = told.run("forget", "1")
        assert late.status == 1
        assert f"(process {process.pid}) is reading" in late.err
        assert told.run("list").out == "", "the rows are gone at once"
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"
        assert told.ok("list").out == "", "and any later command wipes what was left, though the other still looks on"
    assert found_under(told.home, NAME, *vectors) == []


def test_what_another_process_forgets_during_a_reply_is_not_written_back(tmp_path: Path):
    stage = Stage(tmp_path, FakeChat(f"It is {NAME}.", "And now?"))
    store, chat = stage.desk.store, stage.chat
    id = remember(store, FACT, now=NOW, embedder=FakeEmbedder()).memory.id
    events = chat.turn("What is my hamster called?", Event())
    next(events)
    with Store.open(stage.app.paths.db) as other:
        forget(other, select_ids(other, [id]))
    list(events)
    list(chat.turn("hello", Event()))
    assert NAME not in str(stage.app.chat_model().prompts[-1]), "nor does it stay in the live context"
    stage.app.close()
    assert found_under(tmp_path, NAME) == []


# -- many


class DenseEmbedder(FakeEmbedder):
    """Vectors without a zero in them, no two alike: their bytes can be looked for."""

    def _vector(self, text: str) -> array:
        (values,) = quick_vectors([text], self.card().dimensions)
        return array("f", values)


def random_facts(number: int) -> list[str]:
    """Sentences that each hold a word of their own, in three scripts."""
    chance = random.Random(5)
    letters = ["abcdefghijklmnopqrstuvwxyz", "абвгдежзиклмнопрст", "ηθικλμνξοπρστυφ"]
    return [
        f"My {chance.choice(['bee', 'boat', 'friend'])} number {n} is called "
        + "".join(chance.choice(letters[n % 3]) for _ in range(12)).capitalize()
        for n in range(number)
    ]


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[tuple[Store, list[Memory]]]:
    with Store.open(tmp_path / "memory.db") as store:
        embedder, facts = DenseEmbedder(256), random_facts(220)
        yield store, [remember(store, fact, now=NOW, embedder=embedder).memory for fact in facts]


def _needles(memories: Sequence[Memory]) -> list[str | bytes]:
    vectors = [bytes(vector)[256:320] for vector in DenseEmbedder(256).embed_documents([m.text for m in memories])]
    return [*(memory.text.rpartition(" ")[2] for memory in memories), *vectors]


def test_hundreds_of_memories_forgotten_at_once_leave_no_byte(filled: tuple[Store, list[Memory]]):
    store, memories = filled
    receipt = forget(store, select_ids(store, [memory.id for memory in memories]))
    assert (receipt.verified, receipt.erased["memories"]) == (True, 220)
    store.close()
    assert found_under(store.path.parent, *_needles(memories)) == []


def test_two_hundred_memories_forgotten_one_by_one_leave_no_byte(
    filled: tuple[Store, list[Memory]],
):
    store, memories = filled
    kept = memories[::11]
    gone = [memory for memory in memories if memory not in kept]
    random.Random(7).shuffle(gone)
    assert len(gone) == 200
    for memory in gone:
        assert forget(store, select_ids(store, [memory.id])).verified
    assert [memory.id for memory in store.list_memories()] == [memory.id for memory in kept]
    store.close()
    assert found_under(store.path.parent, *_needles(gone)) == []
    assert len({needle for _, needle in found_under(store.path.parent, *_needles(kept))}) == 2 * len(kept)


# -- and for good

HOME = "I live in Porto."
SAME = ("i LIVE in   porto", "My home is in Porto.", HOME, "I moved to Porto.", "I have lived in Porto for years.")


def _ask(shell: Shell, text: str) -> Result:
    shell.ok("ask", text)
    return shell.ok("learn")


def _import(shell: Shell, text: str) -> Result:
    result = shell.ok("import", "-", stdin=json.dumps({"text": text}))
    assert "1 held back, as you had them forgotten; --allow-again imports them." in result.out
    return result


def _transcript(shell: Shell, text: str) -> Result:
    (shell.home / "old.jsonl").write_text(json.dumps({"user": text, "assistant": "ok", "at": "2025-01-01T00:00:00Z"}))
    return shell.ok("learn", "--file", shell.home / "old.jsonl")


def _wish(shell: Shell, text: str) -> Result:
    result = shell.ok("ask", f"remember that {text}")
    assert "you had it forgotten" in result.err
    return result


def _by_hand(shell: Shell, text: str) -> Result:
    result = shell.run("remember", text)
    assert (result.status, "--allow-again" in result.err) == (5, True)
    return result


BACK: dict[str, Callable[[Shell, str], Result]] = {
    "learning": _ask,
    "import": _import,
    "an old transcript": _transcript,
    "a wish": _wish,
    "remember": _by_hand,
}


@pytest.mark.parametrize("how", ["by hand", "learnt"])
def test_what_is_forgotten_comes_back_by_no_door(tmp_path: Path, server: StandIn, how: str):
    shell = Shell(tmp_path, server.url)
    if how == "learnt":
        _ask(shell, HOME)
    else:
        shell.ok("remember", HOME)
    shell.ok("forget", "1")
    for text in SAME if how == "learnt" else SAME[:2]:
        for door, bring in BACK.items():
            bring(shell, text)
            assert shell.ok("list").out == "", (door, text)
    assert shell.remember("I liked Porto.") > 1, "another statement is no repetition"
    assert shell.remember(HOME, "--allow-again") > 1
    shell.ok("forget", "--all", "--yes")
    assert shell.remember(HOME) > 1, "forget --all leaves no mark"


# -- the chat's own memory


def _arrow_up(history: MessageHistory) -> list[str]:
    async def load() -> list[str]:
        return [text async for text in history.load()]

    return asyncio.run(load())


def test_the_input_line_forgets_with_the_rest(tmp_path: Path):
    stage = Stage(tmp_path, FakeChat("Nice!"))
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        reader_of_lines = Repl(stage.desk)._reader
        stage.desk.ask = stage.answer
        session = reader_of_lines._session
        history = session.default_buffer.history
        for typed in (FACT, "hello"):
            history.append_string(typed)
        session.clipboard.set_data(ClipboardData(NAME))
        session.search_buffer.history.append_string(NAME)
        assert _arrow_up(history)[-1] == FACT
        remember(stage.desk.store, FACT, now=NOW)
        stage.answers = [True]
        run_command(stage.desk, read_call("/forget 1"))
        assert _arrow_up(history) == ["hello"]
        assert session.clipboard.get_data().text == ""
        assert session.search_buffer.history.get_strings() == []
    stage.app.close()
    assert found_under(tmp_path, NAME) == []


@pytest.mark.parametrize("mode", [Mode.NORMAL, Mode.READ_ONLY], ids=str)
def test_the_live_context_forgets_what_was_said_of_it_in_any_words(tmp_path: Path, mode: Mode):
    model = FakeChat(f"Hello {NAME}!", "ok", "ok")
    stage = Stage(tmp_path, model, mode)
    remember(stage.desk.store, FACT, now=NOW)
    for said in ("Greet my pet", "I like tea"):
        list(stage.chat.turn(said, Event()))
    assert NAME in str(model.prompts[-1])
    stage.answers = [True]
    run_command(stage.desk, read_call("/forget 1"))
    list(stage.chat.turn("And now?", Event()))
    assert NAME not in str(model.prompts[-1])
    assert "I like tea" in str(model.prompts[-1]), "the rest of the conversation goes on"
    stage.app.close()
