"""What is not to be written down is in no file: conversation, log, input history, or what the model repeats of it."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pexpect")
pytest.importorskip("pyte")

from tests.commands import Shell
from tests.standin import StandIn
from tests.test_forgetting import found_under, quick_vectors
from tests.window import Terminal

pytestmark = [pytest.mark.pty, pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals of Unix")]

CARD = "4539578763621486"
HARMLESS = "Xochipilli waters the garden."


def echo(body: dict) -> str:
    """The model repeats whatever it is told."""
    return "You said: " + str(body["messages"][-1]["content"])


@pytest.fixture(scope="module")
def server() -> Iterator[StandIn]:
    with StandIn(replies=echo, embed=quick_vectors) as running:
        yield running


@pytest.fixture
def shell(tmp_path: Path, server: StandIn) -> Shell:
    shell = Shell(tmp_path, server.url)
    shell.ok("remember", "I keep bees.")
    shell.ok("config", "set", "log.level", "debug")
    return shell


class Talk:
    """A chat in a pseudo-terminal: each message is typed once the one before is answered."""

    def __init__(self, shell: Shell, *options: str) -> None:
        self.window = Terminal(["memchat", "chat", *options], shell.environ, rows=40, columns=160)
        self.window.until_shown("llama3.2")

    def say(self, message: str, answer: str = "You said") -> None:
        before = str(self.window.lines()).count(answer)
        self.window.type(message + "\r")
        self.window.until(lambda: str(self.window.lines()).count(answer) > before)
        self.window.until_prompt()

    def leave(self) -> None:
        self.window.type("\x04")
        assert self.window.until_over() == 0


SAID = {
    "a private span": ("My dog barks. <private>Quetzalcoatl is my real name.</private> Good?", ["Quetzalcoatl"]),
    "a card number": (
        f"My card is {CARD[:4]} {CARD[4:8]} {CARD[8:12]} {CARD[12:]}, keep it in mind.",
        [CARD[4:12], "5787 6362"],
    ),
    "a password": ("The password: hunter2-Zanzibar is the one for my mail.", ["Zanzibar"]),
    "a token, though asked to keep it": (
        "Remember that my token is ghp_" + "A1b2C3d4E5" * 3 + "f6G7H8.",
        ["A1b2C3d4E5"],
    ),
}


@pytest.mark.parametrize("what", SAID)
def test_what_is_private_or_secret_in_a_message_reaches_no_file(shell: Shell, what: str):
    message, needles = SAID[what]
    talk = Talk(shell)
    talk.say(HARMLESS)
    talk.say(message)
    talk.leave()
    shell.run("learn")
    files = {name for name, _ in found_under(shell.home, "Xochipilli")}
    assert {"memory.db", "history"} <= files  # the search would find it
    assert found_under(shell.home, *needles) == []


def test_an_incognito_chat_writes_nothing_of_what_is_said(shell: Shell):
    before = {file: file.read_bytes() for file in shell.home.rglob("*") if file.is_file()}
    talk = Talk(shell, "--incognito")
    talk.say("Quetzalcoatl is my real name.")
    talk.say("Remember that I live in Tlatelolco.")
    talk.leave()
    assert found_under(shell.home, "Quetzalcoatl", "Tlatelolco") == []
    assert shell.db.read_bytes() == before[shell.db]
    assert not shell.db.with_name("history").exists()


def test_a_chat_that_only_reads_writes_nothing_of_what_is_said(shell: Shell):
    talk = Talk(shell, "--read-only")
    talk.say("What do I keep, says Quetzalcoatl?")
    talk.leave()
    assert found_under(shell.home, "Quetzalcoatl") == []
    assert not shell.db.with_name("history").exists()
    assert shell.ok("list", "--json").json[0]["text"] == "I keep bees."  # type: ignore[index]


@pytest.mark.parametrize(("switch", "told"), [("/incognito", "incognito"), ("/read-only", "nothing is stored")])
def test_the_switch_inside_a_chat_holds_from_then_on(shell: Shell, switch: str, told: str):
    talk = Talk(shell)
    talk.say(HARMLESS)
    talk.say(switch, told)
    talk.say("Quetzalcoatl is my real name.")
    talk.leave()
    assert found_under(shell.home, "Xochipilli")
    assert found_under(shell.home, "Quetzalcoatl") == []


def test_the_log_at_its_fullest_tells_of_turns_without_their_text(shell: Shell):
    talk = Talk(shell)
    talk.say(HARMLESS)
    talk.say("What do I keep?")
    talk.leave()
    shell.ok("learn")
    log = shell.db.with_name("memchat.log").read_text(encoding="utf-8")
    assert re.search(r"turn 1 with llama3.2:3b: \d of \d candidates given, floor", log)
    assert "memory 1: " in log
    assert "turn 1 learnt: nothing stored" in log
    assert not re.search("Xochipilli|garden|bees|keep", log)
