"""What is loaded for which command: the quickest start is the one that imports least."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.standin import StandIn

ROOT = Path(__file__).parent.parent
ENGINES = {"numpy", "onnxruntime", "tokenizers", "xllamacpp"}
CLIENTS = {"httpx", "httpcore", "ollama", "http.client", "ssl"}
SCREEN = {"rich", "prompt_toolkit", "pygments", "asyncio"}
TEXTS = {"dateparser", "humanize", "tomlkit", "regex"}
OWN = {"memchat.chat", "memchat.curate", "memchat.learn", "memchat.recall", "memchat.terminal", "memchat.engine.ollama"}
FOR_FILES = {"apsw", "platformdirs", "pydantic", "memchat.app", "memchat.records", "memchat.settings", "memchat.store"}

_TELL = """
import json, sys
from memchat.cli import main
status = main(json.loads(sys.argv[1]))
sys.stderr.write("\\n" + json.dumps([status, sorted(sys.modules)]))
"""


def loaded_by(*arguments: str, home: Path, typed: str = "") -> set[str]:
    """Run one command in a fresh interpreter and return the modules that it loaded."""
    ran = subprocess.run(
        [sys.executable, "-c", _TELL, json.dumps(arguments)],
        input=typed,
        capture_output=True,
        text=True,
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(home), "XDG_DATA_HOME": str(home)},
        check=True,
    )
    status, modules = json.loads(ran.stderr.splitlines()[-1])
    assert status == 0, ran.stderr
    return set(modules)


def test_help_loads_nothing_but_typer(tmp_path):
    modules = loaded_by("--help", home=tmp_path)
    assert modules & (ENGINES | CLIENTS | SCREEN | TEXTS | OWN | FOR_FILES) == set()
    assert "typer" in modules, "else this test looks at the wrong place"


def test_the_version_loads_nothing_but_typer(tmp_path):
    """Typer itself brings pydantic as soon as a command has options."""
    modules = loaded_by("--version", home=tmp_path)
    assert modules & (ENGINES | CLIENTS | SCREEN | TEXTS | OWN | (FOR_FILES - {"pydantic"})) == set()


@pytest.mark.parametrize("arguments", [("list",), ("list", "--json"), ("history", "--json")], ids=" ".join)
def test_a_look_at_the_file_loads_the_store_and_no_more(tmp_path, arguments):
    modules = loaded_by("--db", str(tmp_path / "memory.db"), *arguments, home=tmp_path)
    assert modules & (ENGINES | CLIENTS | SCREEN | TEXTS | OWN) == set()
    assert "memchat.store" in modules


def test_a_chat_with_ollama_never_loads_numpy_or_the_embedded_engine(tmp_path):
    """`sqlite_vec` would bring numpy, which is why its library is loaded without its package."""
    with StandIn(replies=["Hello there."]) as server:
        db = str(tmp_path / "memory.db")
        modules = loaded_by("--db", db, "--host", server.url, "--engine", "ollama", "chat", home=tmp_path, typed="hi\n")
    assert server.chats, "else nothing was said"
    assert modules & (ENGINES | {"sqlite_vec", "prompt_toolkit"}) == set()


def test_a_plain_start_needs_neither_typer_nor_pydantic(tmp_path):
    """They take longer to load than all else that the first prompt needs."""
    modules = loaded_by(home=tmp_path)
    assert modules & {"typer", "click", "pydantic"} == set()
    assert "memchat.chat" in modules, "else nothing was started"
