"""The doctor, asked as a user asks: a sound installation has nothing, and each planted fault is named with its mend."""

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from memchat.records import Cause, EmbedderCard, NewMemory
from memchat.store import Store
from memchat.terminal.typed import add_typed
from tests.commands import Shell
from tests.standin import StandIn
from tests.standin_models import remote_stub
from tests.store_stage import NOW
from tests.test_forgetting import quick_vectors


@pytest.fixture(scope="module")
def server() -> Iterator[StandIn]:
    with StandIn(models=["llama3.2:3b", "nomic-embed-text", remote_stub()], embed=quick_vectors) as running:
        yield running


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, server: StandIn) -> Path:
    """A home in use: memories with vectors, one of them superseded, a conversation with its log, an input history."""
    shell = Shell(tmp_path_factory.mktemp("sound"), server.url)
    shell.remember("I keep bees.")
    shell.remember("I live in Berlin.")
    shell.remember("I live in Porto.")
    shell.ok("ask", "What do I keep?")
    with Store.open(shell.db) as store:
        store.supersede_memory(2, by=3, cause=Cause.USER, now=NOW)
    add_typed(shell.db.with_name("history"), "What do I keep?", NOW)
    return shell.home


@pytest.fixture
def shell(tmp_path: Path, sound: Path, server: StandIn) -> Shell:
    shutil.copytree(sound, tmp_path, dirs_exist_ok=True)
    return Shell(tmp_path, server.url)


def sql(statement: str) -> Callable[[Shell], None]:
    """A change by another tool, behind our back."""

    def plant(shell: Shell) -> None:
        with Store.open(shell.db) as store:
            store._db.write(statement)

    return plant


def config(text: str) -> Callable[[Shell], None]:
    def plant(shell: Shell) -> None:
        shell.config.parent.mkdir(parents=True)
        shell.config.touch(0o600)
        shell.config.write_text(text)

    return plant


def _nobody_answers(shell: Shell) -> None:
    shell.environ |= {"MEMCHAT_HOST": "http://127.0.0.1:9", "MEMCHAT_ENGINE": "ollama"}


def _damage(shell: Shell) -> None:
    connection = apsw.Connection(str(shell.db))
    page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'turns_by_session'").get
    connection.close()
    with shell.db.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 4096)


def _cut(shell: Shell) -> None:
    with shell.db.open("r+b") as file:
        file.truncate(shell.db.stat().st_size // 2)


def _open_to_others(shell: Shell) -> None:
    shell.db.with_name("history").chmod(0o644)


def _stuck(shell: Shell) -> None:
    with Store.open(shell.db) as store:
        for _ in range(6):
            for queued in store.list_queued(9, NOW + timedelta(days=9999)):
                store.postpone_queued(queued.id, "the model broke", NOW)


def _other_embedder(shell: Shell) -> None:
    with Store.open(shell.db) as store:
        store._db.write("UPDATE embedders SET digest = 'of another model'")
        assert isinstance(store.embedder(), EmbedderCard)


def _from_the_future(shell: Shell) -> None:
    with Store.open(shell.db) as store:
        store.add_memory(NewMemory("I sew."), cause=Cause.USER, now=datetime.now(UTC) + timedelta(days=30))


FAULTS: dict[str, tuple[Callable[[Shell], None], str]] = {
    "a wrong setting": (config("[recall]\nlimit = 'many'\n"), "config"),
    "a context too small": (config("[chat]\nnum_ctx = 1024\n"), "context"),
    "a chat model that is not there": (config("model = 'nothere'\n"), "chat model"),
    "an embedding model that cannot embed": (config("embed_model = 'llama3.2:3b'\n"), "embed_model"),
    "an embedding model that is not pulled": (config("embed_model = 'mxbai-embed-large'\n"), "embed_model"),
    "an embedding model that the vectors are not of": (config("embed_model = 'minilm'\n"), "embed_model"),
    "a model in the cloud": (config("model = 'harmless'\n"), "locality"),
    "a server that is away": (_nobody_answers, "ollama"),
    "a damaged page": (_damage, "integrity"),
    "half of the file": (_cut, "memory file"),
    "a history that others may read": (_open_to_others, "private files"),
    "a value out of nowhere": (sql("UPDATE memories SET kind = 'x' WHERE id = 1"), "contents"),
    "a broken log": (sql("UPDATE recalls SET candidates = 'x'"), "log"),
    "a text that its key does not have": (sql("UPDATE memories SET text = 'I keep wasps.' WHERE id = 1"), "keys"),
    "a lost row of the word index": (sql("DELETE FROM memories_fts WHERE rowid = 1"), "words"),
    "a lost vector": (sql("DELETE FROM vectors_1 WHERE rowid = 1"), "vectors missing"),
    "a vector of nobody": (sql("UPDATE keys SET generation = NULL WHERE id = 1"), "vectors without a key"),
    "a vector of zeros": (sql("UPDATE vectors_1 SET embedding = zeroblob(3072) WHERE rowid = 1"), "bad vectors"),
    "vectors of another model": (_other_embedder, "vectors"),
    "a successor that is gone": (sql("UPDATE memories SET superseded_by = 77 WHERE id = 2"), "superseded"),
    "an exchange that cannot be learnt": (_stuck, "queue"),
    "a memory from the future": (_from_the_future, "clock"),
}
MENDED = [
    "log",
    "keys",
    "words",
    "vectors missing",
    "vectors without a key",
    "bad vectors",
    "superseded",
    "private files",
]


def failing(shell: Shell) -> dict[str, dict[str, str]]:
    result = shell.run("doctor", "--json")
    document = result.json
    failed = {check["name"]: check for check in document["checks"] if not check["ok"]}
    assert (result.status, document["ok"]) == ((1, False) if failed else (0, True))
    return failed


def test_a_sound_installation_has_nothing_to_mend(shell: Shell):
    assert failing(shell) == {}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_named_with_its_mend(shell: Shell, fault: str):
    plant, name = FAULTS[fault]
    plant(shell)
    failed = failing(shell)
    assert name in failed
    assert failed[name]["found"]
    assert failed[name]["mend"]
    if name in MENDED:
        shell.run("doctor", "--fix")
        assert name not in failing(shell)


def test_a_setting_that_makes_no_sense_is_named(shell: Shell):
    config("learn.never_learn = ['/(unclosed/']\n")(shell)
    assert "never_learn" in failing(shell)["config"]["found"]


@pytest.mark.parametrize(
    ("which", "name"),
    [
        ("standard", "Qwen2.5-Coder-1.5B-Instruct Q4_K_M"),
        ("small", "Qwen2.5-Coder-0.5B-Instruct Q4_K_M"),
        ("~/my.gguf", "my.gguf"),
    ],
)
def test_an_embedded_model_is_called_by_its_own_name(shell: Shell, which: str, name: str):
    config(f'embedded.chat = "{which}"\n')(shell)
    result = shell.run("--engine", "embedded", "doctor", "--json")
    (check,) = [check for check in result.json["checks"] if check["name"] == "chat model"]
    assert (check["ok"], check["found"], check["mend"]) == (False, f"{name} is not there", "memchat setup")
    if which == "~/my.gguf":
        (shell.home / "my.gguf").touch()
        assert shell.run("--engine", "embedded", "doctor", "--json").out.count(f'"{name}"') == 1


@pytest.mark.parametrize(("argv", "status"), [(["doctor"], 1), (["doctor", "--privacy"], 0)])
def test_a_folder_that_cannot_be_reached_stops_no_doctor(shell: Shell, argv: list[str], status: int):
    result = shell.run("--db", f"/{'x' * 300}/memory.db", *argv)  # too long a name: not even root can look there
    assert result.status == status
    assert "The result cannot be written" not in result.err
    assert "memory file" in result.out
