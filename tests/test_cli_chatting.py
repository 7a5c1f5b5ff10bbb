"""The start of a chat without Typer: it reads what Typer would have read, and leaves it the rest."""

from collections.abc import Mapping

import pytest

from memchat.cli import chatting, program, talking
from memchat.cli.chatting import GLOBALS, read_plain_start, variable
from memchat.cli.invocation import Invocation


@pytest.fixture
def by_typer(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, str | None]]:
    """Collect the global options of the chats that Typer starts."""
    found: list[Mapping[str, str | None]] = []

    def note(run: Invocation, mode: str = "normal", **options: object) -> int:
        assert mode == "normal"
        assert not any(options.values())
        found.append({"config": run.config, **run._overrides})
        return 0

    monkeypatch.setattr(program, "hold_chat", note)
    monkeypatch.setattr(talking, "hold_chat", note)
    for name in GLOBALS:
        monkeypatch.delenv(variable(name), raising=False)
    return found


@pytest.mark.parametrize(
    ("arguments", "environ"),
    [
        ([], {}),
        (["chat"], {}),
        (["--db", "x.db", "--user", "ann"], {}),
        (["--db=x.db", "--embed-model=a=b", "chat"], {}),
        (["--db=", "--host", "http://127.0.0.1:9"], {}),
        (["--user", "ann", "--user", "ben"], {}),
        (["--config", "c.toml", "--engine", "ollama", "--model", "m"], {}),
        ([], {"MEMCHAT_DB": "e.db", "MEMCHAT_EMBED_MODEL": "e", "MEMCHAT_USER": ""}),
        (["--db", "x.db"], {"MEMCHAT_DB": "e.db", "MEMCHAT_CONFIG": "e.toml"}),
        (["--user", "chat"], {}),
    ],
    ids=str,
)
def test_a_plain_start_is_read_as_typer_reads_it(
    by_typer: list[Mapping[str, str | None]],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    environ: dict[str, str],
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        program.build()(args=arguments, prog_name="memchat")
    assert not ended.value.code
    assert [read_plain_start(arguments, environ)] == by_typer


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["-h"],
        ["list"],
        ["chat", "--continue"],
        ["chat", "hello"],
        ["--db"],
        ["--db", "--user", "ann"],
        ["--nonsense", "x"],
        ["--embed_model", "x"],
        ["--use", "ann"],
        ["-"],
        [""],
    ],
    ids=str,
)
def test_everything_else_is_left_to_typer(arguments: list[str]) -> None:
    assert read_plain_start(arguments, {}) is None


def test_a_shell_that_asks_what_could_be_typed_is_answered_by_typer() -> None:
    assert read_plain_start([], {"_MEMCHAT_COMPLETE": "complete_bash"}) is None


def test_every_global_option_but_the_version_is_known_here() -> None:
    declared = program._options.__annotations__.keys() - {"context", "version", "return"}
    assert declared == set(GLOBALS)


def test_what_a_plain_start_opened_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []
    monkeypatch.setattr(chatting, "hold_chat", lambda run: 3)
    monkeypatch.setattr(Invocation, "close", lambda run: closed.append(run))
    assert chatting.start_plainly({"config": "c.toml", "user": "ann"}) == 3
    assert [run.config for run in closed] == ["c.toml"]
