"""The composed program: which engine it takes, and how learning leaves the chat's prompt in the engine's cache."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from memchat.app import App
from memchat.errors import EngineUnreachable
from memchat.paths import Paths
from memchat.settings import Settings
from tests.standin import StandIn

NOBODY = "http://127.0.0.1:9"


def app_at(folder: Path, host: str, **values: object) -> App:
    paths = Paths(folder / "config.toml", folder / "memory.db", folder / "models", folder / "history", folder / "log")
    settings = Settings().with_values({"host": host, "learn.idle_seconds": 0.0, **values}, "test")  # type: ignore[dict-item]
    return App(settings, paths)


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as running:
        yield running


def test_auto_takes_ollama_when_it_has_a_chat_model(tmp_path: Path, server: StandIn):
    assert app_at(tmp_path, server.url).engines.choose().engine == "ollama"


def test_without_anything_it_says_in_three_lines_what_to_do(tmp_path: Path):
    with pytest.raises(EngineUnreachable) as refusal:
        app_at(tmp_path, NOBODY).chat_model()
    assert len(refusal.value.sentence.splitlines()) == 3


def test_the_embedder_is_the_files_own_whatever_answers_the_chat(tmp_path: Path, server: StandIn):
    app = app_at(tmp_path, server.url)
    embedder = app.embedder()
    assert embedder is not None
    app.store.adopt_embedder(embedder.card())
    app.close()
    later = app_at(tmp_path, NOBODY)
    assert later.engines.embedder_name() == "nomic-embed-text:latest"


def test_learning_rides_on_the_prompt_of_the_conversation_it_belongs_to(tmp_path: Path, server: StandIn):
    app = app_at(tmp_path, server.url)
    first, second = app.open_chat(), None
    list(first.turn("I like blue.", Event()))
    second = app.open_chat()
    list(second.turn("And green.", Event()))
    queued = app.store.list_queued(9, app.clock())
    riding = {one.turn.user_text: app._context_of(one) for one in queued}
    assert riding["And green."] == second.prompt_prefix()
    assert riding["I like blue."] == ()
    app.close()


def test_after_idle_work_the_model_reads_the_chats_prompt_again(tmp_path: Path, server: StandIn):
    app = app_at(tmp_path, server.url)
    chat = app.open_chat()
    list(chat.turn("My sister Ana lives in Rome.", Event()))
    before = len(server.chats)
    assert app.learner().drain(20.0, Event()) == 0
    asked = server.chats[before:]
    assert asked, "the warm-up after learning is a request of its own"
    wanted = [message.content for message in chat.prompt_prefix()]
    assert [message["content"] for message in asked[-1]["messages"]][: len(wanted)] == wanted
    app.close()


@pytest.mark.parametrize(("level", "written"), [("off", False), ("info", True)])
def test_the_log_is_off_by_default_private_and_without_text(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], level: str, written: bool
):
    with StandIn(models=[]) as server:
        app = app_at(tmp_path, server.url, **{"log.level": level})
        session = app.store.add_session(app.clock())
        app.store.add_turn(
            session.id,
            user_text="My zebra is Zoe.",
            reply="",
            at=app.clock(),
            zone="UTC",
            model="",
            learn=True,
            recall=None,
        )
        app.learner().drain(5.0, Event())
        app.close()
    assert (app.paths.log.exists() and app.paths.log.stat().st_size > 0) is written
    if written:
        assert app.paths.log.stat().st_mode & 0o777 == 0o600
        assert "zebra" not in app.paths.log.read_text()
    assert capfd.readouterr().err == "", "nothing of it goes to the screen"
