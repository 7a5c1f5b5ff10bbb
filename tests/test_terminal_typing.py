"""What is typed: the history file, the editor, the keyboard during a reply, the waiting line."""

import io
import os
import signal
import stat
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pytest

from memchat.curate.repl_history import strip_history
from memchat.errors import UsageError
from memchat.terminal.editor import edit_text, find_editor
from memchat.terminal.keyboard import interruptible, typing_ahead
from memchat.terminal.typed import add_typed, read_typed, trim_typed
from memchat.terminal.waiting import WaitingLine

NOW = datetime(2026, 8, 4, 12, 0, tzinfo=UTC)
posix = pytest.mark.skipif(os.name != "posix", reason="file modes and signals of POSIX")


@pytest.fixture
def history(tmp_path: Path) -> Path:
    return tmp_path / "new" / "history"


def test_what_is_typed_is_kept_line_by_line(history: Path) -> None:
    for text in ("one", "two\n+three\n\n# four", "日本"):
        add_typed(history, text, NOW)
    assert read_typed(history) == ["one", "two\n+three\n\n# four", "日本"]


@posix
def test_the_history_is_for_its_owner_only(history: Path) -> None:
    before = os.umask(0)
    try:
        add_typed(history, "one", NOW)
    finally:
        os.umask(before)
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert stat.S_IMODE(history.parent.stat().st_mode) == 0o700


@posix
def test_a_history_that_others_can_read_is_closed(history: Path) -> None:
    add_typed(history, "one", NOW)
    history.chmod(0o644)
    trim_typed(history)
    assert stat.S_IMODE(history.stat().st_mode) == 0o600


def test_secrets_and_private_spans_are_not_kept(history: Path) -> None:
    add_typed(history, "my api key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789 ok", NOW)
    add_typed(history, "hello <private>Voldemort</private>", NOW)
    written = history.read_text(encoding="utf-8")
    assert "sk-ant" not in written
    assert "Voldemort" not in written
    assert "hello [private]" in written


@pytest.mark.parametrize("text", ["", "  \n", "x" * 30_000], ids=["nothing", "blank", "a book"])
def test_what_is_not_worth_keeping_is_not_kept(history: Path, text: str) -> None:
    add_typed(history, text, NOW)
    assert not history.exists()


def test_forgotten_texts_leave_the_history(history: Path) -> None:
    for text in ("/remember My cat is called Mimi\n\nand more", "hello"):
        add_typed(history, text, NOW)
    assert strip_history(history, lambda entry: "Mimi" in entry and "more" in entry) == 1
    assert read_typed(history) == ["hello"]


def test_a_large_history_keeps_its_newest_entries(history: Path) -> None:
    history.parent.mkdir()
    history.write_text("".join(f"\n# t\n+entry {n} {'x' * 800}\n" for n in range(6000)))
    trim_typed(history)
    assert len(read_typed(history)) == 5000
    assert read_typed(history)[-1].startswith("entry 5999")


def test_a_damaged_history_is_read_as_far_as_it_goes(history: Path) -> None:
    history.parent.mkdir()
    history.write_bytes(b"rubbish\n+ok\n\xff\xfe\n+\xff\n")
    assert read_typed(history) == ["ok", "\ufffd"]


def editor_doing(tmp_path: Path, program: str) -> dict[str, str]:
    script = tmp_path / "editor.py"
    script.write_text(program)
    return {"EDITOR": f"'{sys.executable}' '{script}'"}


@posix
def test_the_editor_gets_a_private_file_that_is_wiped(tmp_path: Path) -> None:
    program = (
        "import os, sys\npath = sys.argv[1]\nmode = os.stat(path).st_mode & 0o777\n"
        "old = open(path).read().strip()\nopen(path + '~', 'w').write(old)\n"
        "open(path, 'w').write(f'{old} {mode:o} {path}\\n\\n')"
    )
    old, mode, path = edit_text("before", editor_doing(tmp_path, program)).split()
    assert (old, mode) == ("before", "600")
    assert not Path(path).parent.exists()


def test_an_editor_that_fails_changes_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="status 3"):
        edit_text("before", editor_doing(tmp_path, "raise SystemExit(3)"))
    with pytest.raises(UsageError, match="cannot be used"):
        edit_text("before", {"EDITOR": str(tmp_path / "missing")})


@pytest.mark.parametrize(
    ("environ", "command"),
    [
        ({"VISUAL": "code --wait", "EDITOR": "vi"}, ["code", "--wait"]),
        ({"VISUAL": " ", "EDITOR": "vi"}, ["vi"]),
    ],
)
def test_the_editor_is_the_users_own(environ: dict[str, str], command: list[str]) -> None:
    assert find_editor(environ) == command


@posix
def test_the_first_interrupt_stops_the_reply_and_the_second_breaks_out() -> None:
    stop, before = Event(), signal.getsignal(signal.SIGINT)

    def work() -> None:
        with interruptible(stop):
            os.kill(os.getpid(), signal.SIGINT)
            assert stop.is_set()
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert signal.getsignal(signal.SIGINT) is before


@posix
def test_typing_ahead_without_a_terminal_changes_nothing() -> None:
    out = io.StringIO()
    with typing_ahead(out):
        pass
    assert out.getvalue() == ""


def test_the_waiting_line_appears_after_a_while_and_leaves_no_trace() -> None:
    out = io.StringIO()
    line = WaitingLine(out, alive=True)
    line.show("waiting")
    assert out.getvalue() == ""
    deadline = time.monotonic() + 5
    while "waiting" not in out.getvalue() and time.monotonic() < deadline:
        time.sleep(0.02)
    line.close()
    assert "waiting" in out.getvalue()
    assert "\n" not in out.getvalue()
    assert out.getvalue().endswith("\r\x1b[K")


def test_a_quick_answer_shows_no_waiting_line() -> None:
    out = io.StringIO()
    line = WaitingLine(out, alive=True)
    line.show("waiting")
    line.hide()
    line.close()
    assert out.getvalue() == ""


def test_without_a_terminal_there_is_no_waiting_line() -> None:
    out = io.StringIO()
    line = WaitingLine(out, alive=False)
    line.show("waiting")
    time.sleep(0.5)
    line.close()
    assert out.getvalue() == ""
