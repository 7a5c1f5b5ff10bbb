"""Files beside a message: what is text, what is a picture, and who is shown which."""

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from memchat.chat.attaching import as_attachment, read_attachment
from memchat.errors import UsageError
from memchat.records import ChatCard
from memchat.store import Store
from tests.chat_stage import chat_with, say
from tests.commands import Shell
from tests.fakes import FakeChat
from tests.standin import StandIn
from tests.standin_models import StandInModel

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
CODED = base64.b64encode(PNG).decode()
CAT = as_attachment("cat.png", PNG)


class Seeing(FakeChat):
    """A model that sees until it is `blind`."""

    blind = False

    def card(self) -> ChatCard:
        seen = frozenset({"completion"} if self.blind else {"completion", "vision"})
        return ChatCard("seeing", "fake", capabilities=seen)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "memory.db") as opened:
        yield opened


@pytest.mark.parametrize(
    ("content", "picture"),
    [
        (PNG, True),
        (b"\xff\xd8\xff\xe0\0\0", True),
        (b"RIFF\0\0\0\0WEBPVP8 ", True),
        (b"RIFF\0\0\0\0WAVE", False),
        (b"GIF89a", False),
        (b"", False),
        ("Grüße".encode(), False),
    ],
)
def test_a_picture_is_told_by_its_first_bytes(content: bytes, picture: bool):
    assert bool(as_attachment("x", content).image) is picture


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"GIF89a\0", "neither a text file nor a picture"),
        (b"a" * 1_000_001, "larger than 1,000,000 bytes"),
        (PNG + bytes(20_000_000), "larger than 20,000,000 bytes"),
    ],
    ids=["other", "long text", "large picture"],
)
def test_what_cannot_go_along_is_refused_with_the_reason(tmp_path: Path, content: bytes, says: str):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(UsageError, match=says):
        read_attachment(tmp_path / "file")


def test_a_picture_goes_with_its_message_stays_in_sight_and_reaches_no_file(store: Store, tmp_path: Path):
    model = Seeing()
    chat = chat_with(store, model)
    say(chat, "What is this?", attachments=[CAT])
    assert [message.images for message in model.prompts[0]] == [(), (CODED,)]
    assert "[Attached: cat.png]" in model.prompts[0][-1].content
    say(chat, "What colour is it?")
    assert [message.images for message in model.prompts[1]] == [(), (CODED,), (), ()]
    assert all(CODED.encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_a_picture_takes_room_in_the_window(store: Store):
    chat = chat_with(store, Seeing())
    without = say(chat, "What is this?")[-1].result.context_used
    chat = chat_with(store, Seeing())
    assert say(chat, "What is this?", attachments=[CAT])[-1].result.context_used > without + 500


def test_a_model_that_cannot_see_is_told_apart_before_it_is_asked(store: Store):
    model = FakeChat()
    with pytest.raises(UsageError, match="fake-chat cannot see pictures"):
        say(chat_with(store, model), "What is this?", attachments=[CAT])
    assert model.prompts == []


def test_pictures_of_before_are_left_out_for_a_model_that_cannot_see(store: Store):
    model = Seeing()
    chat = chat_with(store, model)
    say(chat, "What is this?", attachments=[CAT])
    model.blind = True
    say(chat, "Thanks.")
    assert all(message.images == () for message in model.prompts[-1])


@pytest.fixture(scope="module")
def server() -> Iterator[StandIn]:
    seeing = StandInModel("gemma3:4b", ("completion", "vision"))
    with StandIn(models=[seeing, "llama3.2:3b", "nomic-embed-text"]) as running:
        yield running


@pytest.fixture
def shell(tmp_path: Path, server: StandIn) -> Shell:
    (tmp_path / "cat.png").write_bytes(PNG)
    (tmp_path / "notes.txt").write_text("the notes")
    return Shell(tmp_path, server.url)


def test_files_are_attached_to_a_question(shell: Shell, server: StandIn):
    files = ("--attach", shell.home / "cat.png", "-a", shell.home / "notes.txt")
    shell.ok("--model", "gemma3:4b", "ask", "What is this?", *files)
    (asked,) = [message for message in server.chats[-1]["messages"] if message["role"] == "user"]
    assert asked["images"] == [CODED]
    assert "the notes" in asked["content"]


def test_a_picture_can_be_piped_in(shell: Shell, server: StandIn):
    shell.ok("--model", "gemma3:4b", "ask", "What is this?", stdin=PNG)
    assert server.chats[-1]["messages"][-1]["images"] == [CODED]


def test_a_question_about_a_picture_to_a_model_that_cannot_see_is_refused(shell: Shell):
    result = shell.run("--model", "llama3.2:3b", "ask", "What is this?", "-a", shell.home / "cat.png")
    assert (result.status, "cannot see pictures" in result.err) == (2, True)
    assert shell.ok("sessions", "--json").json == []
    assert shell.run("ask", "What is this?", "-a", shell.home / "missing.png").status == 2


def test_a_question_goes_on_with_a_conversation(shell: Shell, server: StandIn):
    first = shell.ok("ask", "I keep bees.", "--json").json["session"]
    assert shell.ok("ask", "--continue", "How many?", "--json").json["session"] == first
    said = [message["content"] for message in server.chats[-1]["messages"] if message["role"] == "user"]
    assert said[0] == "I keep bees."
    shell.ok("ask", "Something else.")
    assert shell.ok("ask", "--resume", first, "And now?", "--json").json["session"] == first
    for options in (["-c", "--incognito"], ["--resume", first, "--incognito"], ["-c", "--resume", first]):
        assert shell.run("ask", "Hello?", *options).status == 2
        assert shell.run("chat", *options).status == 2
    assert shell.run("ask", "--resume", 99, "Hello?").status == 3


def test_instructions_can_be_given_with_a_question(shell: Shell, server: StandIn):
    shell.ok("config", "set", "personas.cook", "You are a cook.")
    shell.ok("config", "set", "chat.persona", "cook")
    shell.ok("ask", "Hello?", "--system", "You are a pirate.")
    assert server.chats[-1]["messages"][0]["content"].startswith("You are a pirate.")
    assert shell.run("ask", "Hello?", "--system", "x", "--persona", "cook").status == 2


def test_a_persona_answers_a_question(shell: Shell, server: StandIn):
    shell.ok("config", "set", "personas.cook", "You are a cook.")
    shell.ok("ask", "Hello?", "--persona", "cook")
    assert server.chats[-1]["messages"][0]["content"].startswith("You are a cook.")
    shell.ok("chat", "--persona", "cook", stdin="Hello?\n")
    assert server.chats[-1]["messages"][0]["content"].startswith("You are a cook.")
    assert shell.run("ask", "Hello?", "--persona", "cok").status == 3
    assert shell.ok("config", "show", "personas", "--json").json[0]["value"] == "You are a cook."
    shell.ok("config", "set", "chat.persona", "cook")
    shell.ok("config", "unset", "personas.cook")
    assert shell.run("ask", "Hello?").status == 3
    assert any("no persona 'cook'" in check["found"] for check in shell.run("doctor", "--json").json["checks"])
