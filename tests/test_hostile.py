"""Hostile files, hosts, settings and replies: the sentence and the exit status each gets, and nothing is lost by it."""

import json
import os
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from memchat.records import Cause, NewMemory
from memchat.store import Store
from tests.commands import Result, Shell
from tests.standin import Failure, Reply, StandIn
from tests.standin_models import remote_stub
from tests.store_stage import NOW, ROOT, say

NOT_ROOT = os.name != "posix" or os.geteuid() != 0
AS_ROOT = pytest.mark.skipif(NOT_ROOT, reason="only root can become somebody else, or mount a disk")


@pytest.fixture(scope="module")
def server() -> Iterator[StandIn]:
    with StandIn() as running:
        yield running


@pytest.fixture
def shell(tmp_path: Path, server: StandIn) -> Shell:
    return Shell(tmp_path, server.url)


@pytest.fixture
def bare(tmp_path: Path) -> Shell:
    """No engine: nothing is embedded, which takes the most time."""
    return Shell(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a memory file with one memory."""
    path = tmp_path_factory.mktemp("whole") / "memory.db"
    with Store.open(path) as store:
        store.add_memory(NewMemory("I keep bees."), cause=Cause.USER, now=NOW)
    return path.read_bytes()


def is_one_sentence(result: Result) -> bool:
    """Tell whether stderr holds one message and no traceback."""
    return result.err.startswith("memchat: ") and "Traceback" not in result.err and result.err.count("\n") == 1


# -- memory files


def _foreign(path: Path, whole: bytes) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE notes (text)").fetchall()
    connection.close()


def _newer(path: Path, whole: bytes) -> None:
    path.write_bytes(whole)
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA user_version = 99").fetchall()
    connection.close()


def _holding(change: Callable[[bytes], bytes]) -> Callable[[Path, bytes], None]:
    return lambda path, whole: path.write_bytes(change(whole)) and None


FILES = {
    "a folder": (lambda path, whole: path.mkdir(), "is a folder; name a file with --db"),
    "garbage": (_holding(lambda whole: b"x" * 5000), "is not a memory file, it was left as it is"),
    "two letters": (_holding(lambda whole: b"hi"), "is not a memory file"),
    "cut within the header": (_holding(lambda whole: whole[:50]), "is not a memory file"),
    "cut after the header": (_holding(lambda whole: whole[:100]), "is cut short"),
    "cut after a page": (_holding(lambda whole: whole[:4096]), "is cut short"),
    "cut in the middle": (_holding(lambda whole: whole[: len(whole) // 2]), "is cut short"),
    "cut by one byte": (_holding(lambda whole: whole[:-1]), "is cut short"),
    "a bare header": (_holding(lambda whole: b"SQLite format 3\0" + bytes(84)), "belongs to another program"),
    "zeros after the second page": (_holding(lambda whole: whole[:8192] + bytes(len(whole) - 8192)), "is damaged"),
    "a first page of noise": (_holding(lambda whole: whole[:100] + b"\xa5" * 3996 + whole[4096:]), "is damaged"),
    "another program's SQLite": (_foreign, "belongs to another program, it was left as it is"),
    "a newer version": (_newer, "was written by a newer memchat (schema 99, this one knows"),
    "a pipe": (lambda path, whole: os.mkfifo(path), "is not an ordinary file"),
    "a device": (lambda path, whole: path.symlink_to("/dev/null"), "is not an ordinary file"),
    "a link to itself": (lambda path, whole: path.symlink_to(path), "cannot be followed"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_memory_file_is_refused_as_it_is_and_the_chat_goes_on(shell: Shell, whole: bytes, name: str):
    make, sentence = FILES[name]
    path = shell.home / "given.db"
    make(path, whole)
    before = path.read_bytes() if path.is_file() and not path.is_symlink() else None
    for command in (["list"], ["remember", "I grow figs."]):
        refused = shell.run("--db", path, *command)
        assert (refused.status, refused.out) == (1, "")
        assert sentence in refused.err
        assert is_one_sentence(refused)
    answered = shell.run("--db", path, "ask", "hello")
    assert (answered.status, answered.out) == (0, "ok\n")
    assert answered.err.startswith("No memory in this chat: ")
    assert sentence in answered.err
    if before is not None:
        assert path.read_bytes() == before
    assert shell.run("--db", path, "doctor").status == 1


PLACES = {
    "an unknown home": ("~nobody-at-all/x.db", 1, "cannot be followed"),
    "a name of 300 letters": ("x" * 300, 1, "cannot be reached"),
    "below a file": ("{home}/file/x.db", 1, "cannot be reached"),
    "a control character": ("{home}/a\x1b[2Jb.db", 2, "db holds control characters"),
    "bytes that are not UTF-8": ("{home}/a\udcff.db", 2, "bytes that are not UTF-8"),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_place_where_no_file_can_be_is_refused_in_one_sentence(bare: Shell, name: str):
    place, status, sentence = PLACES[name]
    (bare.home / "file").write_text("x")
    refused = bare.run("--db", place.format(home=bare.home), "list")
    assert (refused.status, refused.out) == (status, "")
    assert sentence in refused.err
    assert is_one_sentence(refused)


@pytest.mark.parametrize("place", ["~/x.db", "{home}/a/b/c.db", "{home}/dangling.db", "{home}/empty.db"])
def test_a_place_where_a_file_can_be_gets_one_that_only_its_owner_reads(bare: Shell, place: str):
    (bare.home / "empty.db").touch(0o644)
    (bare.home / "dangling.db").symlink_to(bare.home / "far" / "x.db")
    bare.ok("--db", place.format(home=bare.home), "remember", "I keep bees.")
    assert "I keep bees." in bare.ok("--db", place.format(home=bare.home), "list").out
    made = [file for file in bare.home.rglob("*.db") if file.is_file()]
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in made if file.stat().st_size)


def test_a_home_behind_a_link_is_followed(tmp_path: Path, server: StandIn):
    (tmp_path / "real").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "real")
    shell = Shell(tmp_path / "home", server.url)
    shell.remember("I keep bees.")
    assert (tmp_path / "real" / "data" / "memchat" / "memory.db").is_file()


def test_an_export_never_replaces_a_pipe_nor_the_memory_file(bare: Shell):
    """`memchat export /dev/null` as root once left an ordinary file in the device's place."""
    bare.remember("I keep bees.")
    pipe = bare.home / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    bare.ok("export", pipe)
    assert b"I keep bees." in reader.communicate(timeout=10)[0]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    (bare.home / "away").symlink_to(bare.db)
    for target in (bare.db, f"{bare.db}-wal", bare.home / "away", bare.home):
        assert bare.run("export", target).status == 2
    assert [memory["text"] for memory in bare.ok("list", "--json").json] == ["I keep bees."]


# -- somebody else's rights, and no room

_AS_NOBODY = """
import json, os, sys, tempfile
from pathlib import Path
from tests.commands import Shell
calls, homes = json.loads(sys.argv[1]), map(Path, sys.argv[2:])
with tempfile.TemporaryDirectory() as folder:  # once as root: nobody may not read where Python lies
    warm = Shell(Path(folder))
    for argv in [["remember", "I like tea."], *calls]:
        warm.run(*argv)
os.setgroups([]), os.setgid(65534), os.setuid(65534)
answers = [[Shell(home).run(*argv) for argv in calls] for home in homes]
print(json.dumps([[[one.status, one.out, one.err] for one in home] for home in answers]))
"""
_CALLS = (
    ["list"],
    ["chat"],
    ["remember", "I grow figs."],
    ["forget", "1"],
    ["undo"],
    ["learn"],
    ["export"],
    ["doctor"],
)
_READ_ONLY = {"list": 0, "chat": 0, "remember": 1, "forget": 1, "undo": 1, "learn": 1, "export": 0, "doctor": 1}
_UNREADABLE = dict.fromkeys(_READ_ONLY, 1) | {"chat": 0}
RIGHTS = {
    "a file that may not be written": (0o444, 0o755, _READ_ONLY, "cannot be written"),
    "a folder that may not be written": (0o600, 0o555, _READ_ONLY, "cannot be written"),
    "a file that may not be read": (0o000, 0o755, _UNREADABLE, "may not be read by you"),
    "a folder that may not be entered": (0o600, 0o000, _UNREADABLE, "cannot be reached"),
}


@AS_ROOT
def test_somebody_without_the_rights_is_told_so_and_the_file_stays(bare: Shell):
    homes = {name: bare.home / str(number) for number, name in enumerate(RIGHTS)}
    for name, home in homes.items():
        shell = Shell(home)
        shell.remember("I keep bees.")
        _give_away(shell, *RIGHTS[name][:2])
    ran = subprocess.run(
        [sys.executable, "-c", _AS_NOBODY, json.dumps(_CALLS), *homes.values()],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "The result cannot be written" not in ran.stdout
    for name, answers in zip(RIGHTS, json.loads(ran.stdout), strict=True):
        _, _, statuses, sentence = RIGHTS[name]
        results = {argv[0]: Result(*answer) for argv, answer in zip(_CALLS, answers, strict=True)}
        assert {command: result.status for command, result in results.items()} == statuses, name
        assert all(sentence in results[command].err for command in ("list", "chat", "remember", "forget")), name
        shell = Shell(homes[name])
        shell.db.parent.chmod(0o755)
        assert [memory["text"] for memory in shell.ok("list", "--json").json] == ["I keep bees."]


def _give_away(shell: Shell, file_mode: int, folder_mode: int) -> None:
    """Let somebody else own the home, with these rights on the memory file and its folder."""
    for folder in shell.home.parents:
        if "pytest" in folder.name or "pytest" in folder.parent.name:
            folder.chmod(0o755)
    for place in (shell.home, *shell.home.rglob("*")):
        os.chown(place, 65534, 65534)
        place.chmod(0o755 if place.is_dir() else file_mode)
    shell.db.parent.chmod(folder_mode)


@pytest.fixture
def small_disk(shell: Shell) -> Iterator[Callable[[int], None]]:
    """A disk of 2 MB at the data folder; the function fills it up to so many bytes."""
    folder = shell.home / "data"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], check=False).returncode:
        pytest.skip("no disk can be mounted here")

    def fill(left: int) -> None:
        spare = folder / "spare"
        spare.write_bytes(bytes(left))
        with open(os.open(folder / "filler", os.O_WRONLY | os.O_CREAT), "wb", buffering=0) as filler:
            while filler.write(bytes(65536)) == 65536:
                pass
        spare.unlink()

    try:
        yield fill
    finally:
        subprocess.run(["umount", folder], check=True)


@AS_ROOT
def test_a_full_disk_costs_the_memory_and_not_the_chat(shell: Shell, small_disk: Callable[[int], None]):
    shell.remember("I keep bees.")
    small_disk(0)
    assert "I keep bees." in shell.ok("list").out
    answered = shell.ok("ask", "What do I keep?")
    assert answered.out == "ok\n"
    assert "is full: nothing new will be remembered" in answered.err
    for command in (["remember", "I grow figs."], ["forget", "1"], ["edit", "1", "I keep ants."]):
        refused = shell.run(*command)
        assert refused.status == 1
        assert "room on its disk" in refused.err
    (shell.home / "data" / "filler").unlink()
    assert [memory["text"] for memory in shell.ok("list", "--json").json] == ["I keep bees."]


@AS_ROOT
def test_what_a_nearly_full_disk_does_not_take_is_told_and_the_bytes_are_wiped_later(
    shell: Shell, small_disk: Callable[[int], None]
):
    shell.remember("I keep honeybees.")
    small_disk(300_000)
    late = shell.run("forget", "1")
    assert late.status == 1
    assert "has no room to wipe the old bytes" in late.err
    refused = shell.run("import", "-", stdin="".join(json.dumps({"text": f"{n} " * 300}) + "\n" for n in range(300)))
    assert refused.status == 1
    assert "is full; nothing was stored" in refused.err
    told = shell.run("chat", stdin="hello\n" * 30)
    assert told.out == "ok\n" * 30
    assert "is not written down yet" in told.err
    assert "could not be written down." in told.err
    (shell.home / "data" / "filler").unlink()
    shell.ok("list")  # the next start with room wipes what the forget could not
    assert b"honeybees" not in shell.db.read_bytes()


# -- hosts


HOSTS = {
    "": (4, "at http://127.0.0.1:11434"),
    "0.0.0.0:9": (4, "at http://127.0.0.1:9"),
    "[::]:9": (4, "at http://[::1]:9"),
    "::1": (4, "at http://[::1]:11434"),
    "localhost:9/": (4, "at http://localhost:9"),
    " 'http://localhost:9' ": (4, "at http://localhost:9"),
    ":9": (4, "at http://127.0.0.1:9"),
    "http://": (4, "at http://127.0.0.1:80"),
    "HTTP://127.0.0.1:9": (4, "at http://127.0.0.1:9"),
    "127.0.0.1:9/pre/fix": (4, "at http://127.0.0.1:9/pre/fix"),
    "http://[::ffff:127.0.0.1]:9": (4, "at http://127.0.0.1:9"),
    "host:abc": (2, "the port must be a number"),
    "host:99999": (2, "the port must be a number"),
    "host:0": (2, "the port must be a number"),
    "[::1": (2, "write it like"),
    "ftp://127.0.0.1": (2, "only http:// and https://"),
    "unix:///run/ollama": (2, "only http:// and https://"),
    "a b": (2, "neither a host name nor an address"),
    "x" * 5000: (2, "neither a host name nor an address"),
    "http://me:secret@127.0.0.1:9": (2, "sends no credentials"),
    "\u202e\x1b[2Jhost\nname": (2, "neither a host name nor an address"),
    "http://10.0.0.1:11434": (5, "is not this machine"),
    "http://localhost.example.org": (5, "is not this machine"),
    "http://2130706433:9": (5, "is not this machine"),
    "ollama.com": (5, "never sends your text there"),
    "https://api.ollama.com": (5, "never sends your text there"),
}


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: repr(host)[:30])
def test_every_odd_host_is_read_right_or_refused_in_one_line(shell: Shell, host: str):
    status, sentence = HOSTS[host]
    del shell.environ["MEMCHAT_HOST"]
    shell.environ["OLLAMA_HOST"] = host
    refused = shell.run("--engine", "ollama", "ask", "hello")
    assert (refused.status, refused.out) == (status, "")
    assert sentence in refused.err
    assert is_one_sentence(refused)
    assert "secret" not in refused.err
    assert len(refused.err) < 400
    assert shell.ok("list").out == "", "what needs no engine asks none"


PAGE = "<html><body>502 Bad Gateway</body></html>"
SERVERS = {
    "a web page": (Failure(200, page=PAGE), 4, "is not Ollama"),
    "a gateway's error": (Failure(502, page=PAGE), 4, "is not Ollama"),
    "a list": (Failure(200, page="[1, 2]"), 4, "is not Ollama"),
    "null": (Failure(200, page="null"), 4, "is not Ollama"),
    "nothing": (Failure(200, page=""), 4, "is not Ollama"),
    "JSON without end": (Failure(200, page="[" * 100_000), 4, "is not Ollama"),
    "wrong types": (Failure(200, page='{"models": 5, "version": []}'), 4, "has no chat model yet"),
    "models without names": (Failure(200, page='{"models": [5, null, {"name": []}]}'), 4, "has no chat model yet"),
    "a demand for credentials": (Failure(401, "unauthorized"), 4, "asks for credentials"),
    "an empty refusal": (Failure(403, page=""), 4, "is not Ollama"),
    "no such path": (Failure(404, page="page not found"), 4, "is not Ollama"),
    "control characters": (Failure(500, "\x1b]52;c;aGk=\x07oops\u202e"), 4, "with the model: oops."),
    "a reason of 100,000 letters": (Failure(500, "x" * 100_000), 4, "Its log says more"),
    "a redirect elsewhere": ("http://192.0.2.7:11434", 4, "which memchat does not follow"),
}


@pytest.mark.parametrize("name", SERVERS)
def test_what_answers_in_the_place_of_ollama_is_named_for_what_it_is(tmp_path: Path, name: str):
    answer, status, sentence = SERVERS[name]
    how = {"redirect_to": answer} if isinstance(answer, str) else {"everywhere": answer}
    with StandIn(**how) as server:
        shell = Shell(tmp_path, server.url)
        refused = shell.run("--engine", "ollama", "ask", "hello")
        assert (refused.status, refused.out) == (status, "")
        assert sentence in refused.err
        assert is_one_sentence(refused)
        assert "\x1b" not in refused.err
        assert len(refused.err) < 500
        assert shell.ok("remember", "I keep bees.").out == "Saved #1: I keep bees.\n"
        assert not server.chats


BAD_TYPE = '{"message": {"role": "assistant", "content": 5}, "done": "x"}'
ANSWERS = {
    "broken off": (Reply("abc", ends="no_done"), 4, "abc\n", "was interrupted"),
    "an error in the middle": (Reply("abc", ends="error_line"), 4, "abc\n", "unexpected EOF"),
    "a connection cut": (Reply("abc", ends="cut"), 4, "abc\n", "the connection to Ollama broke off"),
    "a blank line": (Reply("a b", ends="blank_line"), 0, "a b\n", ""),
    "an error": (Failure(500, "boom"), 4, "", "boom"),
    "a model that went": (Failure(404, "model 'x' not found"), 4, "", "ollama pull"),
    "a web page": (Failure(200, page=PAGE), 4, "", "is not Ollama"),
    "wrong types": (Failure(200, page=BAD_TYPE), 4, "", "an unknown shape of answer"),
    "control sequences": (Reply(["\x1b]52;c;aG", "k=\x07a\x1b[2Jb\u202ec\x9b3J"]), 0, None, ""),
    "a lone surrogate": (
        Failure(200, page='{"message": {"role": "assistant", "content": "\\ud800hi"}, "done": true}'),
        0,
        "?hi\n",
        "",
    ),
    "a reply from elsewhere": (Reply("hi", relay="https://ollama.com"), 5, "", "not from this machine; it was stopped"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_hostile_reply_ends_in_a_sentence_or_in_clean_text(tmp_path: Path, name: str):
    reply, status, out, sentence = ANSWERS[name]
    with StandIn(replies=[reply]) as server:
        shell = Shell(tmp_path, server.url)
        result = shell.run("ask", "hello")
        assert (result.status, out or result.out) == (status, result.out if out is None else out)
        assert sentence in result.err
        assert "Traceback" not in result.err
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(result.out + result.err)
    with Store.open(shell.db) as store:
        assert store.check() == []


MODELS = {
    "gpt-oss:120b-cloud": (5, "does not run on this machine"),
    "anything:cloud": (5, "does not run on this machine"),
    "harmless": (5, "does not run on this machine"),
    "nothere": (4, "ollama pull nothere"),
    "nomic-embed-text": (4, "makes vectors and cannot chat"),
    "../x": (4, "Ollama has no model"),
    "x" * 3000: (4, "Ollama has no model"),
    "\x1b[2J": (2, "control characters"),
}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model)[:30])
def test_a_model_that_is_not_here_is_refused_before_any_text_is_sent(tmp_path: Path, model: str):
    status, sentence = MODELS[model]
    with StandIn(models=["llama3.2:3b", "nomic-embed-text", "gpt-oss:120b-cloud", remote_stub()]) as server:
        shell = Shell(tmp_path, server.url)
        refused = shell.run("--engine", "ollama", "--model", model, "ask", "hello")
        assert (refused.status, refused.out) == (status, "")
        assert sentence in refused.err
        assert is_one_sentence(refused)
        kept = shell.ok("--embed-model", "harmless", "remember", "I keep bees.")
        assert "does not run on this machine" in kept.err, "stored here, and its vector asked of nobody"


# -- settings


CONFIGS = {
    "no TOML": ("user = = 3\n", "is not valid TOML"),
    "an unknown key": ("[recall]\nlimits = 3\n", "line 2: There is no setting 'recall.limits'; did you mean"),
    "an unknown table": ("[recal]\n", "There is no setting 'recal'"),
    "a table for a value": ("[user]\nx = 1\n", "There is no setting 'user.x'"),
    "a text for a number": ("[recall]\nlimit = 'many'\n", "line 2: recall.limit must be a whole number"),
    "a number for a text": ("user = 5\n", "user must be a text in quotes"),
    "a number for a list": ("allow_remote = 5\n", "allow_remote must be a list of texts"),
    "a date": ("user = 2020-01-01\n", "user must be a text in quotes"),
    "a huge number": (f"[recall]\nlimit = {'9' * 30}\n", "recall.limit must lie between 0 and 50"),
    "a number of 6,000 digits": (f"[recall]\nlimit = {'9' * 6000}\n", "is not valid TOML"),
    "infinity": ("[recall]\nfloor = inf\n", "recall.floor must lie between"),
    "not a number": ("[recall]\nfloor = nan\n", "recall.floor must lie between"),
    "deep nesting": ("user = " + "[" * 5000 + "]" * 5000 + "\n", "nested too deeply"),
    "a key twice": ("recall.limit = 3\nrecall.limit = 4\n", "is not valid TOML"),
    "not UTF-8": (b"user = '\xe9'\n", "it is not UTF-8"),
    "a NUL": (b"user = 'a\0b'\n", "is not valid TOML"),
    "an escape in a name": ('user = "\\u001b[2J"\n', "user holds control characters"),
    "a NUL in a path": ('db = "a\\u0000b"\n', "db holds control characters"),
    "a folder": (None, "cannot be read: Is a directory"),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_file_that_is_wrong_is_named_with_what_is_wrong(bare: Shell, name: str):
    content, sentence = CONFIGS[name]
    bare.config.parent.mkdir(parents=True)
    if content is None:
        bare.config.mkdir()
    else:
        bare.config.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused = bare.run("list")
    assert (refused.status, refused.out) == (2, "")
    assert str(bare.config) in refused.err
    assert sentence in refused.err
    assert is_one_sentence(refused)
    assert len(refused.err) < 500
    doctored = bare.run("doctor", "--json")
    assert doctored.status == 1
    assert next(check["name"] for check in doctored.json["checks"] if not check["ok"]) == "config"


def test_a_config_file_with_a_byte_order_mark_is_read_and_changed(bare: Shell):
    bare.config.parent.mkdir(parents=True)
    bare.config.write_bytes(b"\xef\xbb\xbfuser = 'ana'\n")
    assert bare.ok("config", "show", "user").out.startswith('user = "ana"')
    bare.ok("config", "set", "recall.limit", "3")
    assert bare.ok("config", "show", "recall.limit").out.startswith("recall.limit = 3")


# -- files of memories and conversations


def _line(**fields: object) -> str:
    return json.dumps(fields) + "\n"


IMPORTS = {
    "a NUL": (b'{"text": "a\0b"}\n', "line 1: Invalid JSON"),
    "nothing but a NUL": ('{"text": "\\u0000"}\n', "line 1: The text of a memory cannot be blank"),
    "10 MB in one line": (_line(text="x" * 10_000_000), "line 1: The text has 10000000 characters"),
    "10 MB of evidence": (_line(text="a b", source={"evidence": "x" * 10_000_000}), "line 1: source: has 10000000"),
    "deep JSON": ('{"text": "a", "x": ' + "[" * 100_000 + "]" * 100_000 + "}\n", "line 1: Invalid JSON"),
    "a lone surrogate": ('{"text": "a \\ud800 b"}\n', "line 1: Invalid JSON"),
    "a surrogate's bytes": (b'{"text": "a \xed\xa0\x80"}\n', "line 1: Invalid JSON"),
    "NaN": ('{"text": "a", "confidence": NaN}\n', "line 1: confidence: must be"),
    "infinity": ('{"text": "a", "importance": Infinity}\n', "line 1: importance: must be"),
    "a huge exponent": ('{"text": "a", "importance": 1e400}\n', "line 1: importance: must be"),
    "a negative year": (_line(text="a", created_at="-0001-01-01"), "line 1: created_at: must be"),
    "a year of five digits": (_line(text="a", created_at="99999-01-01"), "line 1: created_at: must be"),
    "a moment before time": (_line(text="a", created_at="0001-01-01T00:00:00+14:00"), "line 1: created_at: the year"),
    "a moment after time": (_line(text="a", created_at="9999-12-31T23:59:59-14:00"), "line 1: created_at: the year"),
    "the 30th of February": (_line(text="a", created_at="2026-02-30"), "line 1: created_at: must be"),
    "a bool as importance": (_line(text="a", importance=True), "line 1: importance: must be"),
    "a number as pinned": (_line(text="a", pinned=1), "line 1: pinned: must be"),
    "a list as text": (_line(text=["a"]), "line 1: text: must be"),
    "an id of 6,000 digits": ('{"text": "a", "id": ' + "9" * 6000 + "}\n", "line 1: Invalid JSON"),
    "a negative id": (_line(text="a", id=-1), "line 1: id: must be"),
    "no object": ("5\n", "line 1: must be one JSON object"),
    "UTF-16": (_line(text="abc").encode("utf-16"), "line 1: Invalid JSON"),
    "Latin-1": (b'{"text": "caf\xe9"}\n', "line 1: Invalid JSON"),
    "100,000 cues": (_line(text="a", cues=["x"] * 100_000), "line 1: cues: 100000 are given"),
    "no text at all": ("{}\n", "line 1: text: is missing"),
}


@pytest.mark.parametrize("name", IMPORTS)
def test_a_bad_line_is_named_and_nothing_of_the_file_is_stored(bare: Shell, name: str):
    content, sentence = IMPORTS[name]
    file = bare.home / "given.jsonl"
    good = _line(text="I keep bees.").encode()
    file.write_bytes((content.encode() if isinstance(content, str) else content) + good)
    refused = bare.run("import", file)
    assert (refused.status, refused.out) == (2, "")
    assert f"{file}, {sentence}" in refused.err
    assert len(refused.err) < 1000
    assert bare.ok("list").out == ""
    if name != "UTF-16":
        assert bare.ok("import", file, "--skip-bad", "--json").json["added"] == 1


def _broken_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", "[" + "5, " * 1000 + "5]")
    content = bytearray(path.read_bytes())
    content[60:90] = bytes(30)
    path.write_bytes(content)


def _empty_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("photo.jpg", "x")


TRANSCRIPTS = {
    "a NUL": (b'{"user": "a\0b"}\n', "line 1: Invalid JSON"),
    "deep JSON": ("[" * 100_000, "is not an export that can be read"),
    "a lone surrogate": ('{"user": "a \\ud800 b"}\n', "line 1: Invalid JSON"),
    "NaN as a time": ('{"user": "hello", "at": NaN}\n', "line 1: at: must be"),
    "a time that is none": ('{"user": "hello", "at": "9999-99-99"}\n', "line 1: at: must be"),
    "a bool as words": ('{"user": true}\n', "line 1: user: must be"),
    "a list of numbers": ("[1, 2]", "must be an object"),
    "an endless list": ("[", "is not an export that can be read"),
    "a broken zip": (_broken_zip, "cannot be unpacked"),
    "a zip of photos": (_empty_zip, "holds no conversations.json"),
}


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_transcript_that_cannot_be_read_is_named_and_nothing_of_it_is_stored(bare: Shell, name: str):
    content, sentence = TRANSCRIPTS[name]
    file = bare.home / "given"
    if callable(content):
        content(file)
    else:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused = bare.run("learn", "--file", file)
    assert (refused.status, refused.out) == (2, "")
    assert sentence in refused.err
    assert "Traceback" not in refused.err
    assert bare.ok("sessions", "--json").json == []


@pytest.mark.parametrize(
    "command", [["import"], ["learn", "--file"], ["export"], ["backup"], ["sessions", "export", "1"]]
)
@pytest.mark.parametrize(
    ("path", "sentence"), [("~nobody-at-all/x", "no user nobody-at-all"), ("/", ""), ("a/b/c/d", "")]
)
def test_a_path_that_leads_nowhere_is_refused_in_one_sentence(
    bare: Shell, command: list[str], path: str, sentence: str
):
    with Store.open(bare.db) as store:
        say(store, "hello")
    refused = bare.run(*command, path)
    assert refused.status in (1, 2)
    assert sentence in refused.err
    assert is_one_sentence(refused)


HUGE = "9" * 30


@pytest.mark.parametrize(
    ("argv", "status"),
    [
        (["show", HUGE], 3),
        (["history", HUGE], 3),
        (["edit", HUGE, "x y"], 3),
        (["forget", HUGE], 3),
        (["forget", "--session", HUGE, "--yes"], 3),
        (["forget", "--before", "0001-01-01", "--yes"], 2),
        (["list", "--limit", HUGE], 0),
        (["list", "--as-of", "9999-12-31"], 2),
        (["log", "--limit", HUGE], 0),
        (["undo", HUGE], 3),
        (["inspect", "--turn", HUGE], 3),
        (["inspect", "--query", "x", "--expect", HUGE], 3),
        (["inspect", "--query", "x" * 100_000], 0),
        (["pending", "approve", HUGE], 3),
        (["sessions", "rename", HUGE, "x"], 3),
        (["chat", "--resume", HUGE], 3),
        (["remember", "x y", "--importance", HUGE], 2),
        (["remember", "x \udcff y"], 0),
        (["ask", "x \udcff y"], 4),
        (["--user", "\udcff", "list"], 2),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else None,
)
def test_numbers_and_bytes_that_nothing_can_hold_are_refused_or_survived(bare: Shell, argv: list[str], status: int):
    result = bare.run(*argv)
    assert result.status == status, result
    assert "Traceback" not in result.err
