"""Completion, the toolbar, the prompt, and notices that wait for a good moment."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from memchat.app.engines import Engines
from memchat.chat import Mode
from memchat.errors import EngineUnreachable
from memchat.learn import Learned
from memchat.records import Kind, Memory, Session, State
from memchat.terminal.completion import Choices, CommandCompleter
from memchat.terminal.flow import cells
from memchat.terminal.models import list_models
from memchat.terminal.notices import NoticeBoard, learnt_lines
from memchat.terminal.toolbar import Standing, prompt_text, toolbar_text
from tests.stage import make_app
from tests.standin import StandIn

NOW = datetime(2026, 8, 4, tzinfo=UTC)


def memory(id: int, text: str, **more: object) -> Memory:
    return Memory(id, "default", text, Kind.FACT, 5, 1.0, False, State.CURRENT, NOW, NOW, **more)


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def completer(asked: list[str]) -> CommandCompleter:
    def memories() -> list[Memory]:
        asked.append("memories")
        return [memory(3, "I like tea."), memory(17, "I moved to Berlin."), memory(31, "My dog is called Rex.")]

    sessions = [Session(4, "default", "Trip to Paris", NOW, NOW, 3)]
    models = [("qwen3:8b", "8.2B, thinks"), ("llama3.2:3b", "")]
    personas = {"cook": "You are a cook."}
    return CommandCompleter(Choices(memories, lambda: sessions, lambda: models, lambda: personas))


def offers(completer: CommandCompleter, line: str) -> list[tuple[str, str]]:
    found = completer.get_completions(Document(line), CompleteEvent())
    return [(item.text, item.display_meta_text) for item in found]


def names(completer: CommandCompleter, line: str) -> list[str]:
    return [text.rstrip() for text, _ in offers(completer, line)]


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("/", "remember"),
        ("/mem", "memories"),
        ("/mms", "memories"),
        ("/in", "inspect"),
        ("/model q", "qwen3:8b"),
        ("/model lm", "llama3.2:3b"),
        ("/resume 4", "4"),
        ("/resume paris", "4"),
        ("/memories pref", "preference"),
        ("/pending a", "approve"),
        ("/think d", "dim"),
        ("/help qu", "quit"),
        ("/forget berlin", "17"),
        ("/forget 3 dog", "31"),
        ("/show #17", "17"),
    ],
)
def test_the_likeliest_comes_first(completer: CommandCompleter, line: str, first: str) -> None:
    assert names(completer, line)[0] == first


@pytest.mark.parametrize("line", ["", "hello /mem", "hello", "/nosuch x", "/stats x", "/mem\nmore", "//", "/usr/b"])
def test_text_is_left_alone(completer: CommandCompleter, line: str) -> None:
    assert names(completer, line) == []


def test_ids_come_newest_first_with_their_text(completer: CommandCompleter) -> None:
    assert offers(completer, "/forget ")[0] == ("31", "My dog is called Rex.")
    assert names(completer, "/forget 3") == ["31", "3"]


def test_commands_come_with_what_they_do(completer: CommandCompleter) -> None:
    assert all(meaning for _, meaning in offers(completer, "/"))


def test_memories_are_read_once_until_told_otherwise(completer: CommandCompleter, asked: list[str]) -> None:
    for _ in range(3):
        offers(completer, "/forget ")
    assert asked == ["memories"]
    completer.forget()
    offers(completer, "/edit ")
    assert asked == ["memories", "memories"]


def test_files_are_completed(completer: CommandCompleter, tmp_path: Path) -> None:
    (tmp_path / "notes and more.txt").touch()
    assert names(completer, f"/attach {tmp_path}/no") == ["tes and more.txt"]


def test_kinds_models_and_personas_come_with_what_they_are(completer: CommandCompleter) -> None:
    assert ("goal", "What you work towards.") in offers(completer, "/memories ")
    assert offers(completer, "/model q") == [("qwen3:8b", "8.2B, thinks")]
    assert offers(completer, "/persona ") == [("cook", "You are a cook."), ("off", "The usual instructions.")]


def test_models_are_those_of_the_engine(tmp_path: Path) -> None:
    app = make_app(tmp_path)
    assert [name for name, described in list_models(app) if described.startswith("Qwen")] == ["standard", "small"]
    app.engines.failure = EngineUnreachable("Nothing answers.")
    assert list_models(app) == []


def test_models_of_a_server_are_those_that_chat(tmp_path: Path) -> None:
    with StandIn(models=["llama3.2:3b", "nomic-embed-text"]) as server:
        app = make_app(tmp_path, engine="ollama", host=server.url)
        app.engines = Engines(app.settings, tmp_path, lambda: None)
        assert [name for name, _ in list_models(app)] == ["llama3.2:3b"]


def test_the_toolbar_tells_how_things_stand() -> None:
    standing = Standing("ann", Mode.READ_ONLY, "qwen3:8b", "ollama", None, 12, 1, 2048, 8192, 1)
    assert toolbar_text(standing, 120) == (
        "qwen3:8b (ollama) · ann · read-only · 12 memories · 1 to learn · 1 file attached · context 25 %"
    )


def test_the_toolbar_tells_who_answers() -> None:
    standing = Standing("default", model="qwen3:8b", engine="ollama", memories=1, persona="cook")
    assert toolbar_text(standing, 120) == "qwen3:8b (ollama) · as cook · 1 memory"


def test_the_toolbar_says_what_is_not_known_yet() -> None:
    assert toolbar_text(Standing("default"), 120) == "loading the model… · no memory file"


@pytest.mark.parametrize("width", [10, 40, 80])
def test_the_toolbar_fits(width: int) -> None:
    standing = Standing("日本語の名前", model="a-very-long-model-name:70b", engine="ollama", memories=1)
    assert cells(toolbar_text(standing, width)) < width


@pytest.mark.parametrize(
    ("standing", "prompt"),
    [
        (Standing("default"), "> "),
        (Standing("default", Mode.INCOGNITO), "incognito> "),
        (Standing("default", Mode.READ_ONLY, remote="ollama.com"), "read-only remote> "),
    ],
)
def test_the_prompt_shows_what_is_unusual(standing: Standing, prompt: str) -> None:
    assert prompt_text(standing) == prompt


def test_notices_are_taken_once_and_nudge() -> None:
    board, nudges = NoticeBoard(), []
    board.post("one")
    board.nudge = lambda: nudges.append(1)
    board.post("two", "three")
    board.post()
    assert board.take() == ["one", "two", "three"]
    assert board.take() == []
    assert len(nudges) == 2


def test_what_was_learnt_is_told_with_the_way_back() -> None:
    ended = memory(2, "I live in Munich.", superseded_by=17)
    learned = Learned(added=(memory(17, "I moved to Berlin."),), superseded=(ended,), proposed=(memory(18, "I run."),))
    assert learnt_lines(learned) == [
        "+ #17 I moved to Berlin. · /undo",
        "− #2 I live in Munich. (replaced by #17)",
        "? #18 I run. · /pending",
    ]
