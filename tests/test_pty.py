"""The chat on a real pseudo-terminal, seen through a terminal emulator that keeps its scroll-back."""

import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("pexpect")
pytest.importorskip("pyte")

from tests.window import Terminal

pytestmark = [
    pytest.mark.pty,
    pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals of Unix"),
]
ENTER, CTRL_C, CTRL_D, CTRL_U = "\r", "\x03", "\x04", "\x15"


@pytest.fixture
def opened() -> Iterator[list[Terminal]]:
    terminals: list[Terminal] = []
    yield terminals
    for terminal in terminals:
        terminal.child.close(force=True)


@pytest.fixture
def start(tmp_path: Path, opened: list[Terminal]) -> Callable[..., Terminal]:
    def begin(scene: str = "echo", **more: object) -> Terminal:
        size = {name: more.pop(name) for name in ("rows", "columns") if name in more}
        environ = {"TERM": "xterm-256color", "COLUMNS": "", "LINES": ""} | more
        opened.append(Terminal(["tests.pty_program", str(tmp_path), scene], dict(os.environ) | environ, **size))
        opened[-1].until_shown(">" if more.get("TERM") == "dumb" else "fake-chat")
        return opened[-1]

    return begin


def test_a_paste_of_300_lines_is_one_message(start: Callable[..., Terminal]) -> None:
    terminal = start()
    pasted = "\r".join(f"line {number}" for number in range(300))
    terminal.type(f"\x1b[200~{pasted}\x1b[201~")
    terminal.until_shown("line 299")
    terminal.type(ENTER)
    terminal.until_shown(f"heard 300 lines, {len(pasted)} characters")
    terminal.type(CTRL_D)
    assert terminal.until_over() == 0


def test_ctrl_c_while_waiting_for_the_first_word(start: Callable[..., Terminal]) -> None:
    terminal = start("silent")
    terminal.type("hi" + ENTER)
    terminal.until_shown("Ctrl-C stops")
    terminal.type(CTRL_C)
    terminal.until_shown("[stopped]")
    assert not any("Ctrl-C stops" in line for line in terminal.lines())
    terminal.type(CTRL_C + CTRL_C + CTRL_D)
    assert terminal.until_over() == 0


def test_ctrl_c_in_the_middle_of_a_reply(start: Callable[..., Terminal]) -> None:
    terminal = start("endless")
    terminal.type("hi" + ENTER)
    terminal.until_shown("Once")
    terminal.type(CTRL_C)
    terminal.until_shown("[stopped]")
    terminal.type("half a line" + CTRL_C)
    terminal.type("/quit" + ENTER)
    assert terminal.until_over() == 0


def test_ctrl_c_while_the_last_words_are_learnt(start: Callable[..., Terminal]) -> None:
    terminal = start("learning")
    terminal.type("Our hedge is a bit odd." + ENTER)
    terminal.until_shown("heard 1 lines")
    terminal.type(CTRL_D)
    terminal.until_shown("learning from 1 exchange")
    terminal.type(CTRL_C)
    terminal.until_shown("1 exchange left to learn from")
    assert terminal.until_over() == 0


def test_what_is_learnt_is_told_when_nothing_stands_on_the_line(start: Callable[..., Terminal]) -> None:
    terminal = start("learnt")
    terminal.type("I moved to Berlin in March." + ENTER)
    terminal.until_shown("heard 1 lines")
    terminal.type("half a li")
    terminal.until_shown("1 memory")  # the toolbar knows already
    assert "+ #1" not in "\n".join(terminal.lines())
    terminal.type(CTRL_U)
    terminal.until_shown("+ #1 I moved to Berlin")
    terminal.type(CTRL_D)
    assert terminal.until_over() == 0


@pytest.mark.parametrize(("scene", "words"), [("echo", ""), ("endless", "hi\r")], ids=["at the prompt", "in a reply"])
def test_a_kill_leaves_the_terminal_as_it_was(start: Callable[..., Terminal], scene: str, words: str) -> None:
    terminal = start(scene)
    terminal.type(words)
    if words:
        terminal.until_shown("Once")
    terminal.child.kill(signal.SIGTERM)
    assert terminal.until_over() == 128 + signal.SIGTERM
    assert terminal.raw.rfind(b"\x1b[?2004l") > terminal.raw.rfind(b"\x1b[?2004h")


def test_words_typed_during_a_reply_wait_for_the_next_prompt(start: Callable[..., Terminal]) -> None:
    terminal = start("slow rows")
    terminal.type("hi" + ENTER)
    terminal.until_shown("row 3 ")
    terminal.type("typed ahead")
    terminal.until_shown("> typed ahead")
    rows = [line for line in terminal.lines() if "typed ahead" in line]
    assert rows == ["> typed ahead"]
    assert [int(found) for found in re.findall(r"row (\d+)", "\n".join(terminal.lines()))] == list(range(1, 61))
    terminal.type(CTRL_C + CTRL_D)
    assert terminal.until_over() == 0


def test_a_paste_during_a_reply_is_still_one_message(start: Callable[..., Terminal]) -> None:
    terminal = start("slow rows")
    terminal.type("hi" + ENTER)
    terminal.until_shown("row 3 ")
    terminal.type("\x1b[200~one\rtwo\x1b[201~")
    terminal.until_shown("  two")
    assert "> one" in terminal.lines()
    terminal.type(CTRL_C + CTRL_D)
    assert terminal.until_over() == 0


def test_every_line_of_a_long_answer_is_once_in_the_scroll_back(start: Callable[..., Terminal]) -> None:
    terminal = start("rows", rows=20)
    terminal.type("hi" + ENTER)
    terminal.until_shown("row 200")
    terminal.type(CTRL_D)
    assert terminal.until_over() == 0
    numbers = [int(found[1]) for line in terminal.lines() if (found := re.match(r"row (\d+) of", line))]
    assert numbers == list(range(1, 201))


@pytest.mark.parametrize("columns", [50, 120])
def test_a_resize_during_a_reply_loses_and_doubles_nothing(start: Callable[..., Terminal], columns: int) -> None:
    terminal = start("slow rows", columns=80)
    terminal.type("hi" + ENTER)
    terminal.until_shown("row 10 ")
    terminal.resize(15, columns)
    terminal.until_shown("row 60 ")
    terminal.type(CTRL_D)
    assert terminal.until_over() == 0
    written = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", terminal.raw).decode()
    assert [int(found) for found in re.findall(r"row (\d+) word", written)] == list(range(1, 61))


def test_wide_characters_and_emoji_wrap_inside_the_window(start: Callable[..., Terminal]) -> None:
    from tests.pty_program import WIDE

    terminal = start("wide", columns=40)
    terminal.type("hi" + ENTER)
    terminal.until_shown("日本語")  # the prompt from before the message is no sign of its end
    terminal.until_prompt()
    terminal.type(CTRL_D)
    assert terminal.until_over() == 0
    written = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", terminal.raw).decode()
    assert WIDE in written.replace("\r\n", "")


def test_no_color_takes_the_colours_and_leaves_the_chat(start: Callable[..., Terminal]) -> None:
    terminal = start(NO_COLOR="1")
    terminal.type("/help" + ENTER)
    terminal.until_shown("Leave.")
    terminal.type(CTRL_D)
    assert terminal.until_over() == 0
    assert not re.search(rb"\x1b\[(?:[0-9;]*;)?(?:3[0-79]|4[0-79]|9[0-7]|38|48)[;m]", terminal.raw)


def test_a_dumb_terminal_gets_no_control_sequences(start: Callable[..., Terminal]) -> None:
    terminal = start(TERM="dumb")
    terminal.type("hi\n")
    terminal.until_shown("heard 1 lines, 2 characters")
    terminal.type(CTRL_D)
    assert terminal.until_over() == 0
    assert b"\x1b" not in terminal.raw
