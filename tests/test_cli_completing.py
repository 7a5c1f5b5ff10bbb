"""What the shell is offered at Tab, asked as bash and fish ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import Shell
from tests.standin import StandIn


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    shell.remember("I keep bees.")
    shell.remember("My sister Ana is allergic to nuts, to dust, to cats, to pollen and to nearly all that there is.")
    return shell


@pytest.fixture(scope="module")
def server() -> Iterator[StandIn]:
    with StandIn(models=["llama3.2:3b", "nomic-embed-text"]) as running:
        yield running


def offered(shell: Shell, typed: str) -> dict[str, str]:
    """Return what may stand at the end of a command line, each with its description."""
    shell.environ |= {
        "_MEMCHAT_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_ARGS": f"memchat {typed}",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    result = shell.run()
    del shell.environ["_MEMCHAT_COMPLETE"]
    assert (result.status, result.err) == (0, "")
    return dict((line + "\t").split("\t")[:2] for line in result.out.splitlines() if line)


@pytest.mark.parametrize("command", ["show ", "edit ", "forget ", "forget 2 ", "history ", "inspect --expect "])
def test_memories_are_offered_with_their_text(shell: Shell, command: str):
    memories = offered(shell, command)
    assert list(memories) == ["2", "1"], "what changed last comes first"
    assert memories["1"] == "I keep bees."
    assert memories["2"].endswith("…")


def test_an_old_id_is_found_by_its_digits(shell: Shell):
    for number in range(3, 13):
        shell.remember(f"I have the number {number}.")
    assert set(offered(shell, "show 1")) == {"1", "10", "11", "12"}


def test_other_users_and_files_are_honoured(shell: Shell, tmp_path: Path):
    shell.ok("--user", "ana", "remember", "I sing.")
    assert offered(shell, "--user ana show ") == {"3": "I sing."}
    shell.ok("--db", tmp_path / "other.db", "remember", "I row.")
    assert offered(shell, f"--db {tmp_path}/other.db show ") == {"1": "I row."}


@pytest.mark.parametrize("line", ["show ", "chat --resume ", "inspect --turn ", "pending approve "])
def test_nothing_is_made_where_there_is_nothing(tmp_path: Path, line: str):
    empty = Shell(tmp_path)
    assert offered(empty, line) == {}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"no database" * 99, b""])
def test_a_broken_file_or_config_disturbs_nobody(shell: Shell, content: bytes):
    shell.db.write_bytes(content)
    assert offered(shell, "show ") == {}
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text("this is no TOML")
    assert offered(shell, "show ") == {}


def test_conversations_turns_and_proposals_are_offered(shell: Shell, server: StandIn):
    Shell(shell.home, server.url).ok("ask", "How are my bees?")
    shell.ok("sessions", "rename", 1, "Bee talk")
    assert offered(shell, "chat --resume ") == {"1": "Bee talk"}
    assert offered(shell, "sessions delete ") == {"1": "Bee talk"}
    assert offered(shell, "inspect --turn ") == {"1": "How are my bees?"}
    assert set(offered(shell, "pending ")) == {"approve", "reject"}
    assert offered(shell, "pending approve ") == {}


def test_kinds_settings_and_their_values_are_offered(shell: Shell):
    kinds = offered(shell, "list --kind ")
    assert len(kinds) == 10
    assert all(kinds.values())
    assert offered(shell, "config set chat.thi")["chat.thinking"].startswith("Whether thinking")
    assert list(offered(shell, "config set chat.thinking ")) == ["off", "hide", "dim", "show"]
    assert offered(shell, "config set chat.titles f") == {"false": ""}
    assert offered(shell, "config set recall.limit ") == {}
    assert offered(shell, "config set no.such ") == {}


def test_engines_and_models_are_offered(shell: Shell, server: StandIn):
    assert set(offered(shell, "--engine ")) == {"auto", "ollama", "embedded"}
    assert offered(shell, "--engine ollama --model ") == {}, "nothing answers"
    assert list(offered(Shell(shell.home, server.url), "--model ")) == ["llama3.2:3b"]
    assert offered(shell, "--engine embedded --model s")["small"].startswith("Qwen")
