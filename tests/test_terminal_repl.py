"""The chat in the terminal, typed through prompt-toolkit's own input: no real terminal, no model."""

import os
import signal
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from memchat.app import App
from memchat.chat import Mode
from memchat.errors import EngineFailed, EngineUnreachable, StoreBusy
from memchat.records import Chunk
from memchat.terminal.completion import Choices, CommandCompleter
from memchat.terminal.front import run_chat
from memchat.terminal.history import MessageHistory
from memchat.terminal.notices import NoticeBoard
from memchat.terminal.reading import PromptReader, is_open, without_quotes
from memchat.terminal.repl import run_repl
from memchat.terminal.toolbar import Standing
from tests.fakes import FakeChat
from tests.stage import Clock, make_app, wait_until

CTRL_D, PAUSE = "\x04", "¦"


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


def said(model: FakeChat) -> list[str]:
    return [prompt[-1].content for prompt in model.prompts]


@contextmanager
def typing(keys: PipeInput, typed: str) -> Iterator[None]:
    """Type within; `PAUSE` stands for the moment a person takes, in which the history is read."""

    def press() -> None:
        for part in typed.split(PAUSE):
            keys.send_text(part)
            time.sleep(0.8)  # a loaded machine reads the history as slowly as that

    if PAUSE not in typed:
        keys.send_text(typed)
        yield
        return
    thread = threading.Thread(target=press)
    thread.start()
    yield
    thread.join()


def run(keys: PipeInput, folder: Path, typed: str, model: FakeChat, **settings: object) -> int:
    app = make_app(folder, model, **settings)
    try:
        with typing(keys, typed):
            return run_chat(app, "normal")
    finally:
        app.close()


@pytest.mark.parametrize(
    ("typed", "messages"),
    [
        pytest.param("hi\r", ["hi"], id="a line"),
        pytest.param("one\x1b\rtwo\r", ["one\ntwo"], id="Alt-Enter makes a new line"),
        pytest.param('"""\rone\r\rtwo\r"""\r', ["one\n\ntwo"], id="three quotes hold lines together"),
        pytest.param("\x1b[200~one\rtwo\r\n\rthree\x1b[201~\r", ["one\ntwo\n\nthree"], id="a paste is one message"),
        pytest.param("\x1b[200~/quit\rtwo\x1b[201~\r", ["/quit\ntwo"], id="a pasted command with more is text"),
        pytest.param("half\x03whole\r", ["whole"], id="Ctrl-C clears the line"),
        pytest.param("\x03\x03hi\r", ["hi"], id="Ctrl-C at an empty prompt, twice, does nothing"),
        pytest.param("\r   \rhi\r", ["hi"], id="blank lines are not sent"),
        pytest.param("ab\x02\x04\r", ["a"], id="Ctrl-D in a line deletes a character"),
        pytest.param("// x\r/usr/bin\r /help\r", ["// x", "/usr/bin", " /help"], id="paths and comments are text"),
        pytest.param("/wrod x\r", [], id="a typo never reaches the model"),
        pytest.param("one\r¦\x1b[A\r", ["one", "one"], id="arrow-up brings the last message back"),
        pytest.param("first\rsecond\r¦\x12fir\r\r", ["first", "second", "first"], id="Ctrl-R searches"),
        pytest.param("one\r/retry\r", ["one", "one"], id="retry"),
        pytest.param("one\r/edit-last\r two\r", ["one", "one two"], id="edit the last message"),
        pytest.param("/he\t\r", [], id="Tab completes a command"),
    ],
)
def test_what_is_typed_is_what_is_sent(keys: PipeInput, tmp_path: Path, typed: str, messages: list[str]) -> None:
    model = FakeChat()
    assert run(keys, tmp_path, typed + CTRL_D, model) == 0
    assert said(model) == messages


def test_pasting_300_lines_is_one_message(keys: PipeInput, tmp_path: Path) -> None:
    model = FakeChat()
    lines = [f"line {number}" for number in range(300)]
    run(keys, tmp_path, f"\x1b[200~{chr(13).join(lines)}\x1b[201~\r{CTRL_D}", model)
    assert said(model) == ["\n".join(lines)]


def test_an_edited_message_takes_the_place_of_the_old_one(keys: PipeInput, tmp_path: Path) -> None:
    model = FakeChat("first reply")
    run(keys, tmp_path, "one\r/edit-last\r two\r" + CTRL_D, model)
    assert "first reply" not in [message.content for message in model.prompts[-1]]


def test_a_reply_is_shown_with_what_it_recalled(
    keys: PipeInput, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = FakeChat(["Oo", "long."])
    run(keys, tmp_path, "/remember My favourite tea is oolong.\rWhich is my favourite tea?\r/quit\r", model)
    shown = capsys.readouterr().out
    assert "+ #1 My favourite tea is oolong." in shown
    assert "Oolong.\n◦ 1 memory · /why" in shown


def test_notices_can_be_switched_off(keys: PipeInput, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    typed = "/remember My favourite tea is oolong.\rWhich is my favourite tea?\r/quit\r"
    run(keys, tmp_path, typed, FakeChat(), terminal__notices=False)
    assert "◦" not in capsys.readouterr().out


def test_a_failing_model_is_told_and_the_chat_goes_on(
    keys: PipeInput, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = FakeChat(["Half an ", EngineFailed("The model broke off.")], "All well.")
    assert run(keys, tmp_path, "one\rtwo\r" + CTRL_D, model) == 0
    assert "Half an \nThe model broke off." in capsys.readouterr().out
    assert said(model) == ["one", "two"]


def test_no_engine_at_all_is_told_and_memories_still_work(
    keys: PipeInput, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = make_app(tmp_path)
    app.engines.failure = EngineUnreachable("There is no model to talk with.")
    keys.send_text("hello\r/remember I like tea.\r/memories\r" + CTRL_D)
    assert run_repl(app, app.open_chat()) == 0
    app.close()
    shown = capsys.readouterr().out
    assert "There is no model to talk with." in shown
    assert "#1  fact" in shown


def test_thinking_is_shown_apart_from_the_reply(
    keys: PipeInput, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pieces = [Chunk(thinking="Let me "), Chunk(thinking="see.\nYes."), Chunk(text="Done.")]
    run(keys, tmp_path, "hi\r" + CTRL_D, FakeChat(pieces), chat__thinking="dim")
    assert "Let me see.\nYes.\n\nDone.\n" in capsys.readouterr().out


def test_attached_files_leave_with_the_next_message_only(keys: PipeInput, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("the notes")
    model = FakeChat()
    run(keys, tmp_path, f"/attach {tmp_path}/notes.txt\rread it\rmore\r" + CTRL_D, model)
    assert "the notes" in model.prompts[0][-1].content
    assert "the notes" not in model.prompts[1][-1].content


class Patient(FakeChat):
    """Streams one word, then waits until it is stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.streaming = threading.Event()

    def stream(self, messages, sampling, stop):
        self.prompts.append(list(messages))
        yield Chunk(text="Once ")
        self.streaming.set()
        stop.wait(20)


@contextmanager
def interrupting(model: Patient) -> Iterator[None]:
    """Press Ctrl-C as soon as the model is in the middle of its reply."""

    def press() -> None:
        model.streaming.wait(20)
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    yield
    thread.join()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_stops_the_reply_keeps_what_came_and_the_chat(
    keys: PipeInput, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Patient()
    app = make_app(tmp_path, model)
    keys.send_text("tell me\r/quit\r")
    with interrupting(model):
        assert run_repl(app, app.open_chat()) == 0
    assert "Once \n[stopped]" in capsys.readouterr().out
    turn = app.store.list_turns(1)[0]
    assert (turn.reply, turn.interrupted) == ("Once ", True)
    assert app.store.count_queued() == 0
    app.close()


def test_typed_messages_are_kept_privately_for_the_next_time(keys: PipeInput, tmp_path: Path) -> None:
    run(keys, tmp_path, "kept words\r" + CTRL_D, FakeChat())
    assert stat.S_IMODE((tmp_path / "history").stat().st_mode) == 0o600 or os.name != "posix"
    model = FakeChat()
    run(keys, tmp_path, "¦\x1b[A\r" + CTRL_D, model)
    assert said(model) == ["kept words"]


def test_incognito_words_reach_no_file(keys: PipeInput, tmp_path: Path) -> None:
    model = FakeChat("a hidden reply")
    run(keys, tmp_path, "/incognito\rhidden words\r" + CTRL_D, model)
    assert said(model) == ["hidden words"]
    for path in tmp_path.iterdir():
        assert b"hidden" not in path.read_bytes(), path


def test_history_can_be_switched_off(keys: PipeInput, tmp_path: Path) -> None:
    run(keys, tmp_path, "some words\r" + CTRL_D, FakeChat(), terminal__history=False)
    assert not (tmp_path / "history").exists()


def test_a_history_that_cannot_be_written_does_not_stop_the_chat(keys: PipeInput, tmp_path: Path) -> None:
    (tmp_path / "history").mkdir()
    model = FakeChat()
    assert run(keys, tmp_path, "one\rtwo\r" + CTRL_D, model) == 0
    assert said(model) == ["one", "two"]


def test_forgetting_takes_the_words_out_of_arrow_up_too(keys: PipeInput, tmp_path: Path) -> None:
    model = FakeChat()
    typed = "/remember My cat is called Mimi.\rhello\r/forget 1 --yes\r¦\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A\r"
    run(keys, tmp_path, typed + CTRL_D, model)
    assert "Mimi" not in (tmp_path / "history").read_text()
    assert all("Mimi" not in message for message in said(model))


def test_vi_keys_by_setting(keys: PipeInput, tmp_path: Path) -> None:
    model = FakeChat()
    run(keys, tmp_path, "abc¦\x1b¦¦¦¦¦0x¦\r¦" + CTRL_D, model, terminal__vi=True)
    assert said(model) == ["bc"]


def test_the_line_can_be_written_in_the_editor(
    keys: PipeInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nprintf "one\\ntwo\\n" > "$1"\n')
    script.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(script))
    model = FakeChat()
    run(keys, tmp_path, "draft\x18\x05¦¦¦¦¦¦¦\r" + CTRL_D, model)
    assert said(model) == ["one\ntwo"]


def test_the_models_are_warmed_up_behind_the_prompt(keys: PipeInput, tmp_path: Path) -> None:
    model = FakeChat()
    app = make_app(tmp_path, model)
    thread = threading.Thread(
        target=lambda: (wait_until(lambda: hasattr(model, "prompts_warmed")), keys.send_text(CTRL_D))
    )
    thread.start()
    assert run_repl(app, app.open_chat()) == 0
    thread.join()
    app.close()
    assert model.prompts_warmed[0].role == "system"
    assert model.prompts == []


def test_a_chat_that_goes_on_says_so(keys: PipeInput, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(keys, tmp_path, "one\r/rename My [trip]\r" + CTRL_D, FakeChat())
    app = make_app(tmp_path, FakeChat())
    keys.send_text(CTRL_D)
    run_repl(app, app.open_chat(continue_=True))
    app.close()
    assert "Going on with conversation 1 “My [trip]”." in capsys.readouterr().out


def test_a_file_that_cannot_be_counted_leaves_the_prompt_alone(keys: PipeInput, tmp_path: Path) -> None:
    def fail() -> int:
        raise StoreBusy("Another program holds the file.")

    model = FakeChat()
    app = make_app(tmp_path, model)
    app.store.count_memories = fail
    keys.send_text("hi\r" + CTRL_D)
    assert run_repl(app, app.open_chat()) == 0
    app.close()
    assert said(model) == ["hi"]


def test_a_lost_embedder_is_told_once(keys: PipeInput, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app = make_app(tmp_path, FakeChat())
    app.engines._embedder = None
    app.engines.why_no_embedder = "The embedding model is not there."
    with typing(keys, "¦¦" + CTRL_D):
        run_repl(app, app.open_chat())
    app.close()
    assert capsys.readouterr().out.count("by their words only. The embedding model is not there.") == 1


def test_a_chat_without_memory_says_why(keys: PipeInput, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "memory.db").write_text("This is no database at all. " * 200)
    model = FakeChat("Hello.")
    assert run(keys, tmp_path, "hi\r/memories\r" + CTRL_D, model) == 0
    shown = capsys.readouterr().out
    assert "No memory in this chat" in shown
    assert "Hello." in shown


@pytest.mark.parametrize(
    ("typed_before", "typed_after", "shown_at_once"),
    [("", "hi", True), ("ha", "lf", False), ("ha", "\x7f\x7fhi", True)],
    ids=["nothing typed", "half a line", "half a line taken back"],
)
def test_notices_never_cut_into_what_is_typed(
    keys: PipeInput, tmp_path: Path, typed_before: str, typed_after: str, shown_at_once: bool
) -> None:
    board, shown, seen = NoticeBoard(), [], []
    reader = PromptReader(
        lambda: Standing("default"),
        lambda: shown.extend(board.take()),
        board,
        history=MessageHistory(tmp_path / "history", lambda: False, Clock()),
        completer=CommandCompleter(Choices(list, list, list)),
        vi=False,
        edit=str,
        remark=shown.append,
    )

    def press() -> None:
        wait_until(lambda: board.nudge is not None)
        keys.send_text(typed_before)
        time.sleep(0.1)
        board.post("+ #1 learnt")
        time.sleep(0.1)
        keys.send_text(typed_after)
        time.sleep(0.2)
        seen.extend(shown)
        keys.send_text("\r")

    thread = threading.Thread(target=press)
    thread.start()
    message = reader.read()
    thread.join()
    assert message == (typed_before + typed_after).split("\x7f")[-1]
    assert bool(seen) is shown_at_once
    keys.send_text("next\r")
    assert reader.read() == "next"
    assert shown == ["+ #1 learnt"]


@pytest.mark.parametrize("kind", ["dumb", "emacs"])
def test_a_dumb_terminal_gets_plain_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    monkeypatch.setenv("TERM", kind)
    typed = iter(["hi", '"""', "one", 'two"""', "/remember I like tea.", "/forget 1", "y"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed, None) or (_ for _ in ()).throw(EOFError))
    model = FakeChat("**Bold**")
    app = make_app(tmp_path, model)
    assert run_repl(app, app.open_chat()) == 0
    assert app.store.count_memories() == 0
    app.close()
    assert said(model) == ["hi", "one\ntwo"]
    assert "**Bold**\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "open_", "inner"),
    [
        ('"""', True, '"""'),
        ('"""a', True, '"""a'),
        ('"""a"""', False, "a"),
        ('"""\na\n"""', False, "a"),
        ('""""""', False, ""),
        ('say """', False, 'say """'),
        ("plain", False, "plain"),
    ],
)
def test_three_quotes(text: str, open_: bool, inner: str) -> None:
    assert is_open(text) is open_
    assert without_quotes(text) == inner


def test_leaving_waits_for_learning_and_says_what_is_left(
    keys: PipeInput, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app: App = make_app(tmp_path, FakeChat(), learn__mode="auto", learn__idle_seconds=3600.0, learn__exit_seconds=1)
    keys.send_text("I moved to Berlin.\r" + CTRL_D)
    assert run_repl(app, app.open_chat(mode=Mode.NORMAL)) == 0
    app.close()
    assert "Traceback" not in capsys.readouterr().out
