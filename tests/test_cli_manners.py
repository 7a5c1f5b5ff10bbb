"""What commands say of files, of what they hold back, and of what they leave behind when they fail."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import Shell
from tests.standin import StandIn


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    home = tmp_path / "home"
    home.mkdir()
    return Shell(home)


@pytest.fixture(scope="module")
def server() -> Iterator[StandIn]:
    with StandIn(models=["llama3.2:3b", "nomic-embed-text"]) as running:
        yield running


READING = (["import"], ["learn", "--file"], ["eval"])
WRITING = (["export"], ["backup"], ["sessions", "export", "1"], ["eval", "--make"])
NOWHERE = {"no folder": "nowhere/file", "in a file": "plain/file", "a folder": "folder"}


@pytest.mark.parametrize("command", [*READING, *WRITING], ids=" ".join)
@pytest.mark.parametrize("place", NOWHERE)
def test_a_file_that_cannot_be_read_or_written_is_wrong_usage(
    shell: Shell, server: StandIn, tmp_path: Path, command: list[str], place: str
):
    ollama = Shell(shell.home, server.url)
    ollama.ok("ask", "hello there")
    ollama.remember("I keep bees.")
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain").write_text("text")
    result = ollama.run(*command, tmp_path / NOWHERE[place])
    assert result.status == 2, result
    assert NOWHERE[place] in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("command", [["backup"], ["learn", "--file"], ["eval"], ["eval", "--make"]], ids=" ".join)
def test_a_dash_is_no_file_where_it_stands_for_nothing(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
):
    monkeypatch.chdir(tmp_path)
    shell.remember("I keep bees.")
    result = shell.run(*command, "-")
    assert (result.status, "name a file" in result.err) == (2, True)
    assert not (tmp_path / "-").exists()


def test_a_dash_with_a_folder_is_a_file(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    shell.ok("backup", "./-")
    assert (tmp_path / "-").exists()


def test_what_is_known_already_is_not_said_to_be_saved(shell: Shell):
    assert shell.ok("remember", "I keep bees.").out == "Saved #1: I keep bees.\n"
    assert shell.ok("remember", "i keep BEES.").out == "Known already, #1: I keep bees.\n"


def test_an_import_names_the_option_that_lets_in_what_it_holds_back(shell: Shell):
    shell.ok("forget", shell.remember("I keep bees."))
    rows = ["I keep bees.", "My bank PIN is 4321.", "I have a dog."]
    lines = "\n".join(json.dumps({"text": text}) for text in rows)
    out = shell.ok("import", "-", stdin=lines).out
    assert out.splitlines() == [
        "Imported 1 memory.",
        "1 held back, as you had them forgotten; --allow-again imports them.",
        "1 held back, as they look like secrets; --keep-secrets imports them.",
    ]
    shell.ok("import", "-", "--allow-again", "--keep-secrets", stdin=lines)
    assert sorted(row["text"] for row in shell.ok("list", "--json").json) == sorted(rows)
    assert shell.run("remember", "I keep bees.").status == 0, "what was allowed again is not forgotten any more"


def test_a_new_memory_file_of_a_given_name_is_told(shell: Shell, tmp_path: Path):
    path = tmp_path / "new" / "memroy.db"
    kept = shell.ok("--db", path, "remember", "I keep bees.")
    assert kept.err.startswith(f"{path} is a new memory file, in a new folder.\n")
    assert "new memory file" not in shell.ok("--db", path, "list").err
    assert "new memory file" not in shell.ok("list").err, "the usual place needs no word"


def test_a_question_that_got_no_answer_leaves_no_conversation(shell: Shell):
    assert shell.run("ask", "Where do I live?").status == 4
    assert shell.run("chat", stdin="Where do I live?\n").status == 4
    assert shell.ok("sessions", "--json").json == []


def test_a_question_is_called_by_its_first_words(shell: Shell, server: StandIn):
    ollama = Shell(shell.home, server.url)
    ollama.ok("ask", "Where is Porto?")
    ollama.ok("sessions", "rename", 1, "Towns")
    ollama.ok("ask", "--continue", "And Lisbon?")
    ollama.ok("ask", "word " * 40)
    titles = [row["title"] for row in ollama.ok("sessions", "--json").json]
    assert titles[1] == "Towns"
    assert titles[0].startswith("word word")
    assert len(titles[0]) <= 60
    ollama.ok("config", "set", "chat.titles", "false")
    ollama.ok("ask", "Hello?")
    assert ollama.ok("sessions", "--json").json[0]["title"] is None


def test_a_reindex_with_nothing_to_do_says_so(shell: Shell, server: StandIn):
    ollama = Shell(shell.home, server.url)
    ollama.remember("I keep bees.")
    assert ollama.ok("reindex").out.startswith("Nothing to do")
    assert ollama.ok("reindex", "--all").out.startswith("Embedded 1 key of 1 memory")


def test_a_wish_in_a_question_that_got_no_answer_stays(shell: Shell):
    assert shell.run("ask", "Remember that my cat is called Tim.").status == 4
    assert len(shell.ok("list", "--json").json) == 1
    assert len(shell.ok("sessions", "--json").json) == 1


def test_a_question_that_got_no_answer_leaves_an_older_conversation_alone(shell: Shell, server: StandIn):
    Shell(shell.home, server.url).ok("ask", "hello there")
    shell.run("chat", "--continue", stdin="Where do I live?\n")
    assert [row["turns"] for row in shell.ok("sessions", "--json").json] == [1]


def test_a_command_that_needs_a_model_does_not_end_a_piped_chat(shell: Shell):
    result = shell.run("chat", stdin="/model\n/remember I keep bees.\n")
    assert result.status == 4, "the status tells that something failed"
    assert [row["text"] for row in shell.ok("list", "--json").json] == ["I keep bees."]


@pytest.mark.parametrize("name", ["", "a\nb", "a\x1bb", "a" * 101])
def test_a_user_name_is_short_and_on_one_line(shell: Shell, name: str):
    assert shell.run("--user", name, "list").status == 2


def test_help_tells_what_forget_asks(shell: Shell):
    assert "nothing is asked" in " ".join(shell.ok("forget", "--help").out.split())


LOOKS = {
    "list": ("[]", 0),
    "history": ("[]", 0),
    "log": ("[]", 0),
    "sessions": ("[]", 0),
    "pending": ("[]", 0),
    "export": ("[]", 0),
    "show 1": ("", 3),
    "sessions delete 1 --yes": ("", 3),
    "inspect --query bees": (None, 0),
    "rules test": (None, 0),
    "stats": (None, 0),
}


@pytest.mark.parametrize("command", LOOKS)
def test_a_look_makes_no_memory_file_of_a_mistyped_name(shell: Shell, tmp_path: Path, command: str):
    path = tmp_path / "typo" / "memroy.db"
    out, status = LOOKS[command]
    looked = shell.run("--db", path, *command.split(), "--json")
    assert looked.status == status
    assert out is None or looked.out.strip() == out
    assert looked.err.startswith(f"{path} is not there, so there is nothing in it; no file was made.\n")
    assert not path.parent.exists()


@pytest.mark.parametrize("command", ["list", "ask hi", "chat", "doctor", "stats"])
def test_a_config_file_that_is_named_must_be_there(shell: Shell, command: str):
    missing = shell.home / "nonexist.toml"
    named = shell.run("--config", missing, *command.split())
    shell.environ["MEMCHAT_CONFIG"] = str(missing)
    for refused in (named, shell.run(*command.split())):
        assert f"There is no config file {missing}" in refused.err + refused.out
        assert refused.status == (1 if command == "doctor" else 2)
    assert shell.ok("config", "set", "recall.limit", "8").status == 0
    assert shell.ok("list").err == ""


def test_json_is_a_document_also_where_nothing_is_found(shell: Shell):
    shell.remember("I keep bees.")
    assert [memory["id"] for memory in shell.ok("export", "-", "--json").json] == [1]
    none = shell.run("sessions", "--search", "quince", "--json")
    assert (none.status, none.json) == (3, [])


def test_what_waits_for_its_vector_is_told_apart_from_what_waits_for_a_word(shell: Shell):
    shell.remember("I keep bees.")
    shown = shell.ok("show", 1, "--json").json
    assert (shown["pending"], shown["embedded"], shown["state"]) == (True, False, "current")


def test_a_replay_tells_what_became_of_the_memory_that_was_expected(shell: Shell, server: StandIn):
    ollama = Shell(shell.home, server.url)
    ollama.remember("I keep bees.")
    ollama.ok("ask", "Who keeps bees?")
    replayed = ollama.ok("inspect", "--turn", 1, "--replay", "--expect", 1, "--json").json
    assert replayed["replay"]["expected"]["id"] == 1
    assert "#1" in ollama.ok("inspect", "--turn", 1, "--replay", "--expect", 1).out
    assert ollama.run("inspect", "--turn", 1, "--replay", "--expect", "I keep cows.").status == 3


@pytest.mark.parametrize(
    "options", ["--turn 1 --expect 1", "--turn 1 -k 3", "--turn 1 --replay --as-of 2026-01-01", "--query bees --replay"]
)
def test_an_option_that_would_be_ignored_is_refused(shell: Shell, options: str):
    assert shell.run("inspect", *options.split()).status == 2


@pytest.mark.parametrize("command", ["ask -", "ask what", "remember -", "chat"])
def test_bytes_that_are_no_text_are_told(shell: Shell, server: StandIn, command: str):
    ollama = Shell(shell.home, server.url)
    assert "not all UTF-8" in ollama.ok(*command.split(), stdin=b"I keep b\xffes.\n").err
    assert "UTF-8" not in ollama.ok(*command.split(), stdin="I keep b\ufffdes.\n").err


def test_a_plain_list_of_all_marks_what_is_not_current(shell: Shell):
    lines = [
        {"text": "I live in Turin.", "id": 1, "superseded_by": 2, "created_at": "2023-01-01"},
        {"text": "I live in Milan.", "id": 2, "created_at": "2024-03-01"},
    ]
    rome = {"text": "I live in Rome.", "created_at": "2019-01-01", "superseded_at": "2020-01-01"}
    lines += [rome, {"text": "I ski.", "state": "proposed"}]
    shell.ok("import", "-", stdin="\n".join(map(json.dumps, lines)))
    listed = [line.split("\t")[3:] for line in shell.ok("list", "--all").out.splitlines()]
    assert listed == [
        ["I live in Turin.", "replaced by #2"],
        ["I live in Milan."],
        ["I live in Rome.", "ended"],
        ["I ski.", "waits for approval"],
    ]
    assert shell.ok("list", "--as-of", "2024-01-01").out.endswith("I live in Turin.\n"), "then it held"
    for changes in (shell.ok("history", "--json").json, shell.ok("show", 3, "--json").json["history"]):
        assert next(one for one in changes if one["memory"] == 3)["after"]["superseded_at"] == "2020-01-01T00:00:00Z"


def test_the_history_tells_what_the_user_did_themselves(shell: Shell, server: StandIn):
    ollama = Shell(shell.home, server.url)
    ollama.ok("ask", "remember that I keep bees.")
    ollama.remember("I keep bees.")
    assert {change["cause"] for change in ollama.ok("history", "--json").json} == {"user"}
    ollama.ok("undo", 2)
    ollama.ok("learn")
    assert ollama.ok("list").out == ""


def test_a_message_too_long_for_the_context_has_failed_and_no_engine_is_missing(shell: Shell, server: StandIn):
    ollama = Shell(shell.home, server.url)
    long = ollama.run("ask", "word " * 20_000)
    assert (long.status, "too long" in long.err) == (1, True)
    assert "too long for the model's context" in " ".join(ollama.ok("--help").out.split())


def test_eval_says_what_a_row_may_hold(shell: Shell):
    told = shell.ok("eval", "--help").out
    assert all(f'"{key}"' in told for key in ("q", "gold", "prev", "category"))
