"""Piped chat: answers on stdout, everything else on stderr, exit statuses a script can trust."""

import io
from pathlib import Path

import pytest

from memchat.chat import Mode
from memchat.errors import EngineFailed, EngineUnreachable
from memchat.records import Chunk
from memchat.terminal.lines import run_lines
from tests.fakes import FakeChat
from tests.stage import make_app


def pipe(
    folder: Path, text: str, model: FakeChat, mode: Mode = Mode.NORMAL, **settings: object
) -> tuple[int, str, str]:
    """Return status, stdout and stderr of a chat fed with `text`."""
    app = make_app(folder, model, **settings)
    out, err = io.StringIO(), io.StringIO()
    try:
        return run_lines(app, app.open_chat(mode=mode), io.StringIO(text), out, err), out.getvalue(), err.getvalue()
    finally:
        app.close()


def said(model: FakeChat) -> list[str]:
    return [prompt[-1].content for prompt in model.prompts]


def test_each_line_is_a_message_and_only_answers_come_out(tmp_path: Path) -> None:
    model = FakeChat(["He", "llo."], "**Two**\n")
    assert pipe(tmp_path, "one\n\n  \ntwo", model) == (0, "Hello.\n**Two**\n", "")
    assert said(model) == ["one", "two"]


@pytest.mark.parametrize(("text", "messages"), [("", []), ("\n\n", []), ("\ufeffhi\r\n", ["hi"])])
def test_edges_of_the_input(tmp_path: Path, text: str, messages: list[str]) -> None:
    model = FakeChat()
    assert pipe(tmp_path, text, model)[0] == 0
    assert said(model) == messages


def test_a_closed_stdin_is_an_empty_one(tmp_path: Path) -> None:
    app = make_app(tmp_path)
    assert run_lines(app, app.open_chat(), None, io.StringIO(), io.StringIO()) == 0
    app.close()


def test_bytes_that_are_no_text_do_not_end_the_pipe(tmp_path: Path) -> None:
    model = FakeChat()
    app = make_app(tmp_path, model)
    stdin = io.TextIOWrapper(io.BytesIO(b"a\xffb\nok\n"), encoding="ascii")
    assert run_lines(app, app.open_chat(), stdin, io.StringIO(), io.StringIO()) == 0
    app.close()
    assert said(model) == ["a\ufffdb", "ok"]


def test_commands_work_in_a_pipe(tmp_path: Path) -> None:
    model = FakeChat()
    status, out, err = pipe(tmp_path, "/remember I like tea.\n/memories\n/forget 1 --yes\n/quit\nnever\n", model)
    assert status == 0
    assert "#1  fact" in out
    assert "Forgotten: #1." in out
    assert err == "+ #1 I like tea.\n"
    assert said(model) == []


def test_a_refused_line_is_told_and_the_next_one_is_answered(tmp_path: Path) -> None:
    model = FakeChat("Hello.")
    status, out, err = pipe(tmp_path, "/wrod\n/forget 1\nhi\n", model)
    assert (status, out) == (2, "Hello.\n")
    assert "There is no command /wrod." in err
    assert "There is no memory 1" in err


def test_editing_the_last_message_needs_its_new_text(tmp_path: Path) -> None:
    model = FakeChat("a", "b", "c")
    status, out, err = pipe(tmp_path, "one\n/edit-last\n/edit-last two\n/retry\n", model)
    assert (status, out) == (2, "a\nb\nc\n")
    assert "/edit-last TEXT" in err
    assert said(model) == ["one", "two", "two"]
    assert [message.content for message in model.prompts[-1][1:]] == ["two"]


def test_no_engine_ends_the_pipe(tmp_path: Path) -> None:
    app = make_app(tmp_path)
    app.engines.failure = EngineUnreachable("There is no model to talk with.")
    with pytest.raises(EngineUnreachable):
        run_lines(app, app.open_chat(), io.StringIO("hi\nho\n"), io.StringIO(), io.StringIO())
    app.close()


def test_an_answer_that_breaks_off_keeps_its_line(tmp_path: Path) -> None:
    model = FakeChat(["Half", EngineFailed("It broke.")], "Whole")
    assert pipe(tmp_path, "hi\nho\n", model) == (4, "Half\nWhole\n", "It broke.\n")


def test_control_sequences_and_thinking_stay_out_of_the_answer(tmp_path: Path) -> None:
    pieces = [Chunk(thinking="hmm"), Chunk(text="a\x1b]52;c;eA=="), Chunk(text="\x07b\x1b[2J")]
    assert pipe(tmp_path, "hi\n", FakeChat(pieces), chat__thinking="show")[1] == "ab\n"


def test_incognito_holds_in_a_pipe(tmp_path: Path) -> None:
    pipe(tmp_path, "hidden words\n", FakeChat(), mode=Mode.INCOGNITO)
    assert all(b"hidden" not in path.read_bytes() for path in tmp_path.iterdir())
