"""The commands as scripts rely on them: exit statuses, JSON keys, what goes to stdout and what to stderr."""

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memchat import __version__
from memchat.cli.program import build
from memchat.errors import EngineUnreachable
from memchat.settings import SETTINGS
from tests.commands import Shell
from tests.standin import StandIn

MEMORY_KEYS = {
    "id",
    "text",
    "kind",
    "importance",
    "confidence",
    "pinned",
    "created_at",
    "last_seen_at",
    "superseded_by",
    "source",
    "ref",
    "user",
}
BERLIN = "I moved to Berlin in March for a new job."


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """No engine at all."""
    return Shell(tmp_path)


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as running:
        yield running


@pytest.fixture
def ollama(tmp_path: Path, server: StandIn) -> Shell:
    """An Ollama server with a chat model and nomic-embed-text."""
    return Shell(tmp_path, server.url)


def _fail(*_: object, **__: object) -> None:
    raise EngineUnreachable("It has gone.")


COMMANDS = [
    "chat ask remember list show edit forget history undo pending inspect log eval learn import export backup reindex "
    "sessions stats doctor setup config rules"
][0].split()


class TestHelp:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_has_help_with_a_worked_example(self, shell: Shell, command: str):
        result = shell.ok(command, "--help")
        assert "Example: " in result.out

    def test_the_program_lists_all_commands_of_the_contract(self, shell: Shell):
        listed = shell.ok("--help").out
        assert all(f"  {command} " in listed for command in COMMANDS)

    def test_version(self, shell: Shell):
        assert shell.ok("--version").out == f"memchat {__version__}\n"

    def test_no_command_writes_anything_for_help(self, shell: Shell):
        shell.ok("list", "--help")
        assert list(shell.home.iterdir()) == []


class TestByHand:
    def test_remember_list_show_edit_forget(self, shell: Shell):
        id = shell.remember(BERLIN)
        (listed,) = shell.ok("list", "--json").json
        assert set(listed) >= MEMORY_KEYS
        assert (listed["id"], listed["text"], listed["user"]) == (id, BERLIN, "default")
        assert listed["created_at"].endswith("Z")
        shown = shell.ok("show", id, "--json").json
        assert {"keys", "history", "sources"} <= set(shown)
        edited = shell.ok("edit", id, "I moved to Potsdam in April.", "--json").json
        assert (edited["id"], edited["text"]) == (id, "I moved to Potsdam in April.")
        receipt = shell.ok("forget", id, "--json").json
        assert receipt["forgotten"] == [id]
        assert receipt["verified"] is True
        assert set(receipt["erased"]) >= {"memories", "vectors", "keys", "history", "turns", "log", "queue"}
        assert "memory.db" in " ".join(receipt["checked"])
        assert receipt["unreachable"]
        assert shell.ok("list", "--json").json == []

    def test_after_a_forget_no_byte_of_any_wording_is_in_any_file(self, shell: Shell):
        id = shell.remember("My hamster is called Quetzalcoatl.")
        shell.ok("edit", id, "My hamster is called Xylophagus.")
        shell.ok("forget", id, "--yes")
        for file in shell.home.rglob("*"):
            content = file.read_bytes().lower() if file.is_file() else b""
            assert b"quetzalcoatl" not in content, file
            assert b"xylophagus" not in content, file

    def test_files_are_the_users_own(self, shell: Shell):
        shell.remember(BERLIN)
        assert stat.S_IMODE(shell.db.stat().st_mode) == 0o600
        assert stat.S_IMODE(shell.db.parent.stat().st_mode) == 0o700

    def test_what_is_forgotten_needs_allow_again(self, shell: Shell):
        id = shell.remember(BERLIN)
        shell.ok("forget", id)
        refused = shell.run("remember", BERLIN)
        assert refused.status == 5
        assert "--allow-again" in refused.err
        assert shell.remember(BERLIN, "--allow-again") > id, "ids are never used again"

    def test_a_secret_needs_a_yes(self, shell: Shell):
        secret = "My bank PIN is 4321."
        refused = shell.run("remember", secret)
        assert refused.status == 5
        assert shell.ok("list", "--json").json == []
        assert shell.remember(secret, "--yes") == 1

    def test_the_same_text_again_is_the_same_memory(self, shell: Shell):
        assert shell.remember(BERLIN) == shell.remember(BERLIN)

    def test_forget_by_query_lists_and_needs_yes_without_a_terminal(self, shell: Shell):
        shell.remember(BERLIN)
        shell.remember("I keep bees.")
        refused = shell.run("forget", "--query", "Berlin")
        assert refused.status == 2
        assert BERLIN in refused.err
        assert "--yes" in refused.err
        assert len(shell.ok("list", "--json").json) == 2
        assert shell.ok("forget", "--query", "Berlin", "--yes", "--json").json["forgotten"] == [1]
        assert shell.run("forget", "--query", "zebra", "--yes").status == 3

    def test_forget_all_is_for_one_user(self, shell: Shell):
        shell.remember(BERLIN)
        shell.ok("--user", "ana", "remember", "I keep bees.")
        shell.ok("forget", "--all", "--yes")
        assert shell.ok("list", "--json").json == []
        assert len(shell.ok("--user", "ana", "list", "--json").json) == 1

    def test_history_and_undo(self, shell: Shell):
        id = shell.remember(BERLIN)
        shell.ok("edit", id, "I moved to Bonn.")
        assert [change["action"] for change in shell.ok("history", "--json").json] == ["edited", "added"]
        undone = shell.ok("undo", "--json").json
        assert undone["ids"] == [id]
        assert shell.ok("show", id, "--json").json["text"] == BERLIN
        shell.ok("undo")
        assert shell.run("undo").status == 3

    def test_redact_leaves_no_byte_of_the_old_wording(self, shell: Shell):
        id = shell.remember("My code name is Quetzalcoatl.")
        edited = shell.ok("edit", id, "I have a code name.", "--redact", "--json").json
        assert edited["receipt"]["verified"] is True
        assert b"uetzalcoatl" not in b"".join(f.read_bytes() for f in shell.home.rglob("*") if f.is_file())

    @pytest.mark.parametrize(
        ("argv", "status", "says"),
        [
            (["show", "99"], 3, "99"),
            (["edit", "99", "x"], 3, "99"),
            (["forget", "99"], 3, "99"),
            (["history", "99"], 3, "99"),
            (["pending", "approve", "99"], 3, "99"),
            (["sessions", "export", "99"], 3, "99"),
            (["inspect", "--turn", "99"], 3, "99"),
            (["chat", "--resume", "99"], 3, "99"),
            (["chat", "--continue"], 3, "conversation"),
            (["sessions", "--search", "zebra"], 3, "zebra"),
            (["eval", "none.jsonl"], 3, "no memories"),
            (["forget"], 2, "Name what to forget"),
            (["forget", "1", "--all"], 2, "one of them"),
            (["inspect"], 2, "--query"),
            (["inspect", "--query", ""], 2, "--query is blank"),
            (["inspect", "--query", " \n ", "--json"], 2, "--query is blank"),
            (["inspect", "--query", "Berlin", "--expect", " "], 2, "--expect is blank"),
            (["forget", "--query", "", "--yes"], 2, "--query is blank"),
            (["sessions", "--search", "  "], 2, "--search is blank"),
            (["ask", " "], 2, "no question"),
            (["remember", " "], 2, "blank"),
            (["remember", "  "], 2, ""),
            (["remember", "x", "--kind", "hobby"], 2, "preference"),
            (["remember", "x", "--importance", "11"], 2, "10"),
            (["list", "--as-of", "gestern"], 2, "2026-03-31"),
            (["show", "many"], 2, "integer"),
            (["nonsense"], 2, "nonsense"),
            (["--engine", "cloud", "list"], 2, "embedded"),
            (["import", "missing.jsonl"], 2, "missing.jsonl"),
            (["config", "set", "recal.limit", "3"], 2, "recall.limit"),
            (["config", "set", "recall.limit", "lots"], 2, "whole number"),
            (["undo"], 3, "nothing to undo"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else None,
    )
    def test_each_mistake_gets_a_sentence_and_its_status(self, shell: Shell, argv: list[str], status: int, says: str):
        result = shell.run(*argv)
        assert result.status == status, result
        assert says in result.err
        assert result.out == ""
        assert "Traceback" not in result.err

    @pytest.mark.parametrize("text", ["uses arr[i]", "[/b]", "[red]x[/red]", ":beer: :key:", r"C:\[tmp]", "--dash"])
    def test_text_stays_as_typed(self, shell: Shell, text: str):
        shell.ok("remember", "--", text)
        assert shell.ok("list").out.rstrip("\n").endswith(text)
        assert text in shell.ok("show", 1).out

    def test_control_sequences_never_reach_the_screen(self, shell: Shell):
        shell.ok("remember", "a\x1b]52;c;eA==\x07b\x1b[2Jc\x9bd\u202ee\x00f")
        for argv in (["list"], ["show", "1"], ["history"], ["list", "--json"], ["export"]):
            out = shell.ok(*argv).out
            assert not set(out) & set("\x1b\x07\x9b\u202e\x00"), argv


class TestFiles:
    def test_export_then_import_gives_the_same_memories(self, shell: Shell, tmp_path: Path):
        shell.remember(BERLIN, "--kind", "identity", "--importance", 9, "--pin")
        shell.remember("Ich halte Bienen. 蜂蜜も好き。")
        exported = shell.ok("export").out
        other = Shell(tmp_path / "other")
        other.home.mkdir()
        other.ok("import", "-", stdin=exported)
        again = [json.loads(line) for line in other.ok("export").out.splitlines()]
        first = [json.loads(line) for line in exported.splitlines()]
        kept = ("text", "kind", "importance", "confidence", "pinned", "created_at", "last_seen_at")
        assert [[row[key] for key in kept] for row in again] == [[row[key] for key in kept] for row in first]

    def test_a_bad_line_is_named_and_nothing_is_stored(self, shell: Shell, tmp_path: Path):
        file = tmp_path / "in.jsonl"
        file.write_text('{"text": "I keep bees."}\n{"text": 3}\nnot json\n')
        result = shell.run("import", file)
        assert result.status == 2
        assert "line 2" in result.err
        assert "line 3" in result.err
        assert shell.ok("list", "--json").json == []
        done = shell.ok("import", file, "--skip-bad", "--json").json
        assert done["added"] == 1
        assert done["ids"] == [1]

    def test_a_second_import_of_the_same_file_adds_nothing(self, shell: Shell):
        lines = '{"text": "I keep bees.", "ref": "a"}\n{"text": "I have a dog.", "ref": "b"}\n'
        assert shell.ok("import", "-", "--json", stdin=lines).json["added"] == 2
        assert shell.ok("import", "-", "--json", stdin=lines).json["added"] == 0

    def test_a_backup_can_be_read_as_a_memory_file(self, shell: Shell, tmp_path: Path):
        shell.remember(BERLIN)
        copy = tmp_path / "copy.db"
        shell.ok("backup", copy)
        assert shell.ok("--db", copy, "list", "--json").json[0]["text"] == BERLIN
        assert shell.run("backup", shell.db).status != 0, "the memory file is never its own backup"

    @pytest.mark.parametrize("content", [b"just text " * 600, b"SQLite format 3\x00" + b"\x00" * 84, b""])
    def test_a_file_that_is_no_memory_file_is_refused_and_not_touched(
        self, shell: Shell, tmp_path: Path, content: bytes
    ):
        file = tmp_path / "odd.db"
        file.write_bytes(content)
        result = shell.run("--db", file, "list")
        if content:
            assert result.status == 1
            assert str(file) in result.err
            assert file.read_bytes() == content

    def test_a_folder_is_no_memory_file(self, shell: Shell, tmp_path: Path):
        result = shell.run("--db", tmp_path, "list")
        assert (result.status, "Traceback" in result.err) == (1, False)


class TestConfig:
    def test_show_set_unset_path(self, shell: Shell):
        assert shell.ok("config", "path").out.strip() == str(shell.config)
        shell.ok("config", "set", "recall.limit", "8")
        (line,) = shell.ok("config", "show", "recall.limit", "--json").json
        assert (line["value"], line["origin"]) == (8, str(shell.config))
        shell.ok("config", "unset", "recall.limit")
        (line,) = shell.ok("config", "show", "recall.limit", "--json").json
        assert (line["value"], line["origin"]) == (5, "default")

    def test_every_setting_is_shown(self, shell: Shell):
        out = shell.ok("config", "show").out
        assert all(f"{setting.key} = " in out for setting in SETTINGS)

    def test_a_wrong_key_is_named_with_file_line_and_the_nearest_right_one(self, shell: Shell):
        shell.config.parent.mkdir(parents=True)
        shell.config.write_text("[recall]\n# more\nlimt = 3\n")
        result = shell.run("list")
        assert result.status == 2
        assert f"{shell.config}, line 3" in result.err
        assert "recall.limit" in result.err
        doctor = shell.run("doctor", "--json")
        assert doctor.status == 1
        assert any("recall.limit" in check["found"] for check in doctor.json["checks"] if not check["ok"])

    def test_options_win_over_the_environment_and_that_over_the_file(self, shell: Shell):
        shell.config.parent.mkdir(parents=True)
        shell.config.write_text('user = "file"\n')
        assert shell.ok("config", "show", "user", "--json").json[0]["value"] == "file"
        shell.environ["MEMCHAT_USER"] = "environment"
        assert shell.ok("config", "show", "user", "--json").json[0]["value"] == "environment"
        assert shell.ok("--user", "option", "config", "show", "user", "--json").json[0]["value"] == "option"


class TestWithoutAnEngine:
    def test_the_memories_work(self, shell: Shell):
        shell.remember(BERLIN)
        found = shell.ok("inspect", "--query", "Who moved to Berlin?", "--json").json
        assert found["candidates"][0]["verdict"] == "injected"
        assert found["keywords_only"]
        shell.ok("stats")
        shell.ok("export")

    def test_ask_says_in_three_lines_how_to_get_one(self, shell: Shell):
        result = shell.run("ask", "hi")
        assert result.status == 4
        assert len(result.err.strip().splitlines()) == 3
        assert "memchat setup" in result.err

    def test_doctor_names_it(self, shell: Shell):
        result = shell.run("doctor", "--json")
        assert result.status == 1
        checks = {check["name"]: check for check in result.json["checks"]}
        assert not checks["chat model"]["ok"]
        assert checks["chat model"]["mend"]


class TestWithOllama:
    def test_ask_answers_recalls_and_leaves_the_exchange_in_the_queue(self, ollama: Shell, server: StandIn):
        ollama.remember(BERLIN)
        server.say("Potsdam is near.")
        result = ollama.ok("ask", "Who moved to Berlin for a job?", "--json").json
        assert set(result) >= {"reply", "session", "turn", "memories", "saved", "learned", "model", "timings_ms"}
        assert result["reply"] == "Potsdam is near."
        assert result["learned"] == "queued"
        assert [memory["id"] for memory in result["memories"]] == [1]
        assert set(result["timings_ms"]) == {"embed", "search", "first_token", "total"}
        assert ollama.ok("stats", "--json").json["queue"] == 1

    def test_the_next_ask_takes_up_what_the_last_left(self, ollama: Shell):
        ollama.ok("ask", "I live in Turin.")
        assert ollama.ok("list").out == ""
        ollama.ok("ask", "What is near?", "--no-learn")
        assert ollama.ok("list").out == ""
        ollama.ok("ask", "What is near?")
        assert [memory["text"] for memory in ollama.ok("list", "--json").json] == ["I live in Turin."]
        assert ollama.ok("stats", "--json").json["queue"] == 1

    def test_what_cannot_be_learnt_after_an_answer_waits_on(self, ollama: Shell, monkeypatch: pytest.MonkeyPatch):
        ollama.ok("ask", "I live in Turin.")
        monkeypatch.setattr("memchat.app.learning.learn_turn", _fail)
        assert ollama.ok("ask", "What is near?").err == ""
        assert ollama.ok("stats", "--json").json["queue"] == 2

    def test_whoever_asks_at_a_terminal_is_told_the_first_times_what_is_kept(self, ollama: Shell):
        pytest.importorskip("pexpect")
        pytest.importorskip("pyte")
        from tests.window import Terminal

        def told() -> bool:
            window = Terminal(["memchat", "ask", "I live in Turin."], ollama.environ, columns=120)
            assert window.until_over() == 0
            return "at once: memchat learn" in str(window.lines())

        assert [told() for _ in range(4)] == [True, True, True, False]

    def test_the_wire_has_prefixes_and_one_num_ctx(self, ollama: Shell, server: StandIn):
        ollama.remember(BERLIN)
        ollama.ok("ask", "Where do I live?")
        assert f"search_document: {BERLIN}" in server.embedded
        assert "search_query: Where do I live?" in server.embedded
        assert {body["options"]["num_ctx"] for body in server.chats} == {8192}

    def test_piped_input_is_attached_and_not_stored(self, ollama: Shell, server: StandIn):
        ollama.ok("ask", "review this", stdin="CITY = 'Perth'")
        assert "CITY = 'Perth'" in server.chats[-1]["messages"][-1]["content"]
        assert b"Perth" not in b"".join(f.read_bytes() for f in ollama.home.rglob("*") if f.is_file())

    def test_a_dash_is_the_question(self, ollama: Shell, server: StandIn):
        ollama.ok("ask", "-", stdin="what is up?")
        assert server.chats[-1]["messages"][-1]["content"].endswith("what is up?")
        assert ollama.run("ask", "-", stdin="").status == 2

    def test_incognito_leaves_no_trace(self, ollama: Shell, server: StandIn):
        assert ollama.ok("ask", "--incognito", "I love zebras", "--json").json["turn"] is None
        assert b"zebras" not in b"".join(f.read_bytes() for f in ollama.home.rglob("*") if f.is_file())

    def test_remember_that_is_saved_and_told(self, ollama: Shell):
        result = ollama.ok("ask", "Remember that my locker is number 42.", "--json")
        assert result.json["saved"] == [1]
        assert "42" in ollama.ok("show", 1, "--json").json["text"]

    def test_a_piped_chat_answers_line_by_line_on_stdout_only(self, ollama: Shell, server: StandIn):
        server.say("One.", "Two.")
        result = ollama.ok("chat", stdin="first\nsecond\n/memories\n")
        assert result.out.splitlines()[:2] == ["One.", "Two."]

    def test_log_turn_and_replay_tell_what_a_reply_was_given(self, ollama: Shell):
        ollama.remember(BERLIN)
        turn = ollama.ok("ask", "Who moved to Berlin?", "--json").json["turn"]
        (row,) = ollama.ok("log", "--json").json
        assert row["turn"] == turn
        ollama.remember("I moved to Berlin with two cats.")
        replayed = ollama.ok("inspect", "--turn", turn, "--replay", "--json").json
        assert [one["id"] for one in replayed["replay"]["added"]] == [2]

    @pytest.mark.parametrize(
        ("expect", "verdict", "status"),
        [("1", "injected", 0), ("99", "not_stored", 3), ("I keep zebras", "not_stored", 3)],
    )
    def test_expect_names_the_stage(self, ollama: Shell, expect: str, verdict: str, status: int):
        ollama.remember(BERLIN)
        result = ollama.run("inspect", "--query", "Who moved to Berlin?", "--expect", expect, "--json")
        assert result.status == status
        assert result.json["expected"]["verdict"] == verdict

    def test_a_cloud_model_and_a_far_host_are_refused(self, ollama: Shell, tmp_path: Path):
        for argv in (["--model", "gpt-oss:120b-cloud"], ["--host", "http://192.0.2.7:11434", "--engine", "ollama"]):
            result = ollama.run(*argv, "ask", "hi")
            assert result.status == 5, (argv, result)
            assert "allow_remote" in result.err

    def test_a_missing_model_says_how_to_get_it(self, ollama: Shell):
        result = ollama.run("--model", "absent:7b", "ask", "hi")
        assert result.status == 4
        assert "ollama pull absent:7b" in result.err

    def test_sessions_can_be_listed_searched_renamed_forked_exported_and_deleted(self, ollama: Shell, server: StandIn):
        server.say("Bees are fine.")
        session = ollama.ok("ask", "tell me about bees", "--json").json["session"]
        (listed,) = ollama.ok("sessions", "--json").json
        assert (listed["id"], listed["turns"]) == (session, 1)
        assert [row["id"] for row in ollama.ok("sessions", "--search", "bees", "--json").json] == [session]
        ollama.ok("sessions", "rename", session, "Bee talk")
        fork = ollama.ok("sessions", "fork", session, "--json").json["id"]
        exported = ollama.ok("sessions", "export", session).out
        assert "tell me about bees" in exported
        assert "Bees are fine." in exported
        ollama.ok("sessions", "delete", session, "--yes")
        assert [row["id"] for row in ollama.ok("sessions", "--json").json] == [fork]

    def test_setup_pulls_what_is_missing_and_tries_each_model(self, tmp_path: Path):
        with StandIn(models=[]) as server:
            shell = Shell(tmp_path, server.url)
            assert shell.run("setup").status == 2, "nothing is fetched without a word"
            done = shell.ok("setup", "--yes")
            assert "nomic-embed-text" in done.out
            assert "Ready" in done.out

    def test_reindex_moves_to_another_embedding_model(self, tmp_path: Path):
        with StandIn(models=["llama3.2:3b", "nomic-embed-text", "all-minilm"]) as server:
            shell = Shell(tmp_path, server.url)
            shell.remember(BERLIN)
            done = shell.ok("--embed-model", "all-minilm", "reindex", "--json").json
            assert done["memories"] == 1
            found = shell.ok("inspect", "--query", "Where do I live?", "--json").json
            assert found["embed_model"].startswith("all-minilm")
            assert found["keywords_only"] is None


def test_the_tree_of_commands_can_be_built_twice():
    assert build() is not build()


def test_a_file_that_fails_is_named_and_not_taken_for_the_output(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    def fail(argv: object) -> int:
        raise PermissionError(13, "Permission denied", "/home/ana/notes")

    monkeypatch.setattr("memchat.cli._dispatch", fail)
    result = shell.run("list")
    assert (result.status, result.err) == (1, "memchat: /home/ana/notes cannot be used: permission denied.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("argv", [["list", "--json"], ["export"], ["config", "show"]])
def test_output_that_cannot_be_written_gets_a_sentence(shell: Shell, argv: list[str]):
    shell.remember(BERLIN)
    command = [sys.executable, "-m", "memchat", *argv]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(command, env=shell.environ, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 1
    assert "cannot be written" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr


def test_a_reader_that_leaves_is_no_failure(shell: Shell):
    lines = "".join(json.dumps({"text": f"Memory number {n} of many."}) + "\n" for n in range(3000))
    shell.ok("import", "-", stdin=lines)
    command = f"{sys.executable} -m memchat list | head -1; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], env=shell.environ, capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "0", ended
    assert ended.stderr == ""


def test_no_stdout_is_told(shell: Shell):
    command = f"{sys.executable} -m memchat list >&-"
    ended = subprocess.run(["bash", "-c", command], env=shell.environ, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
