"""The first prompt: it stands before the chat is loaded, and nothing that is typed meanwhile is lost."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from memchat.app import App
from memchat.errors import StoreBusy
from memchat.terminal import front
from memchat.terminal.front import Front, run_chat
from memchat.terminal.toolbar import toolbar_text
from tests.fakes import FakeChat
from tests.stage import make_app, wait_until

CTRL_C, CTRL_D = "\x03", "\x04"
ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Event:
    """Hold up the imports until the event is set."""
    go = Event()
    monkeypatch.setattr(front, "import_module", lambda name: go.wait(20))
    return go


def meanwhile(action: Callable[[], object]) -> Thread:
    thread = Thread(target=action)
    thread.start()
    return thread


def hold(folder: Path, model: FakeChat, mode: str = "normal", **settings: object) -> int:
    app = make_app(folder, model, **settings)
    try:
        return run_chat(app, mode)
    finally:
        app.close()


def said(model: FakeChat) -> list[str]:
    return [prompt[-1].content for prompt in model.prompts]


def test_a_message_sent_before_the_chat_is_loaded_is_answered(keys: PipeInput, tmp_path: Path, slow: Event) -> None:
    model = FakeChat("Hello.")
    keys.send_text(f"hi\r{CTRL_D}")
    loading = meanwhile(lambda: (slow.wait(0.3), slow.set()))
    assert hold(tmp_path, model) == 0
    loading.join()
    assert said(model) == ["hi"]


def test_the_history_keeps_the_first_message_too(keys: PipeInput, tmp_path: Path) -> None:
    keys.send_text(f"hi\r{CTRL_D}")
    hold(tmp_path, FakeChat())
    assert "+hi" in (tmp_path / "history").read_text()


def test_leaving_before_the_chat_is_loaded_opens_no_file(keys: PipeInput, tmp_path: Path, slow: Event) -> None:
    keys.send_text(CTRL_D)
    assert hold(tmp_path, FakeChat()) == 0
    slow.set()
    assert not (tmp_path / "memory.db").exists()


def test_ctrl_c_and_empty_lines_leave_the_first_prompt_where_it_is(keys: PipeInput, tmp_path: Path) -> None:
    model = FakeChat()
    keys.send_text(f"ha{CTRL_C}\r  \rhi\r{CTRL_D}")
    assert hold(tmp_path, model) == 0
    assert said(model) == ["hi"]


@pytest.mark.skipif(os.name != "posix", reason="a signal is sent to this process")
def test_ctrl_c_while_the_file_is_opened_leaves_the_message_to_be_answered(
    keys: PipeInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, opens, go, real = FakeChat("Hello."), Event(), Event(), App.open_chat

    def open_slowly(app: App, **options: object) -> object:
        opens.set()
        go.wait(20)
        return real(app, **options)

    def interrupt() -> None:
        opens.wait(20)
        os.kill(os.getpid(), signal.SIGINT)
        go.wait(0.2)
        go.set()

    monkeypatch.setattr(App, "open_chat", open_slowly)
    monkeypatch.setattr(Front, "_load", lambda front: None)  # else the chat is made while the prompt stands
    keys.send_text(f"hi\r{CTRL_D}")
    interrupting = meanwhile(interrupt)
    assert hold(tmp_path, model) == 0
    interrupting.join()
    assert said(model) == ["hi"]


def test_a_command_is_completed_once_the_commands_are_loaded(keys: PipeInput, tmp_path: Path, slow: Event) -> None:
    model = FakeChat()
    keys.send_text(f"/hist\t\r{CTRL_D}")
    loading = meanwhile(lambda: (slow.wait(0.3), slow.set()))
    assert hold(tmp_path, model) == 0
    loading.join()
    assert said(model) == []


def test_the_toolbar_knows_more_once_the_chat_is_there(keys: PipeInput, tmp_path: Path, slow: Event) -> None:
    app = make_app(tmp_path, FakeChat())
    waiting = Front(app, "incognito")
    shown = [toolbar_text(waiting.standing(), 120)]

    def watch() -> None:
        wait_until(lambda: waiting.board.nudge is not None)
        slow.set()
        wait_until(lambda: app.has_store)
        keys.send_text(CTRL_D)

    watching = meanwhile(watch)
    assert waiting.run() == 0
    watching.join()
    shown.append(toolbar_text(waiting.standing(), 120))
    app.close()
    assert shown[0] == "loading the model… · incognito"
    assert "0 memories" in shown[1]


def test_what_is_odd_about_the_file_is_told_above_the_prompt(
    keys: PipeInput, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "memory.db").write_text("This is no database at all. " * 200)
    keys.send_text(f"hi\r{CTRL_D}")
    hold(tmp_path, FakeChat("Hello."))
    assert capsys.readouterr().out.count("No memory in this chat") == 1


def test_a_chat_that_cannot_be_made_is_told_at_the_first_message(
    keys: PipeInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(app: App, **_: object) -> None:
        raise StoreBusy("Another program holds the file.")

    monkeypatch.setattr(App, "open_chat", refuse)
    keys.send_text("hi\r")
    with pytest.raises(StoreBusy):
        hold(tmp_path, FakeChat())


def test_an_incognito_chat_keeps_nothing_of_the_first_message(keys: PipeInput, tmp_path: Path) -> None:
    model = FakeChat()
    keys.send_text(f"hi\r{CTRL_D}")
    hold(tmp_path, model, "incognito")
    assert said(model) == ["hi"]
    assert not (tmp_path / "history").exists()


_FIRST_PROMPT = """
import json, sys
from pathlib import Path
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from memchat.app import App
from memchat.terminal.front import Front
from memchat.cli.chatting import read_plain_start
assert read_plain_start([], {}) is not None
with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
    front = Front(App.build(None, {"db": sys.argv[1]}, use_file=False), "normal")
    def stands():
        print(json.dumps(sorted(sys.modules)))
        keys.send_text("\\x04")
    front.reader.ready = stands
    front.run()
"""


def test_the_first_prompt_stands_before_anything_of_the_chat_is_loaded(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _FIRST_PROMPT, str(tmp_path / "memory.db")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
        check=True,
    )
    modules = set(json.loads(ran.stdout.splitlines()[-1]))
    own = {"chat", "learn", "recall", "curate", "store", "engine", "records", "prompts", "terminal.commands"}
    others = {"typer", "pydantic", "rich", "apsw", "numpy", "httpx", "ollama", "dateparser"}
    assert modules & (others | {f"memchat.{name}" for name in own}) == set()
    assert "prompt_toolkit" in modules, "else this test looks at the wrong place"
