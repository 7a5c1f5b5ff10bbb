"""Changing the config file by command: one setting, all comments kept."""

import os
import stat
from pathlib import Path

import pytest

from memchat.curate.configuring import list_settings, set_value, unset_value
from memchat.curate.meaning import find_meaningless
from memchat.curate.private_files import write_private
from memchat.errors import ConfigError, MemchatError, PrivacyRefusal, UsageError
from memchat.settings import SETTINGS, Settings, example_config, load_settings

posix = pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")


def test_a_set_value_is_in_force_and_every_comment_stays(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("# mine\nmodel = 'a'  # the quick one\n\n[recall]\n# few\nlimit = 3\n", encoding="utf-8")
    change = set_value(path, "recall.limit", "7")
    assert (change.before, change.after) == (3, 7)
    assert path.read_text(encoding="utf-8") == ("# mine\nmodel = 'a'  # the quick one\n\n[recall]\n# few\nlimit = 7\n")
    assert load_settings(path, {}).whole("recall.limit") == 7


_MEANINGFUL = {"host": "localhost:11435", "chat.keep_alive": "1h30m", "embedded.chat": "~/my.gguf"}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_each_setting_can_be_set_in_the_example_file(tmp_path, setting):
    path = tmp_path / "config.toml"
    path.write_text(example_config(), encoding="utf-8")
    wanted = {
        str: setting.choices[-1] if setting.choices else _MEANINGFUL.get(setting.key, 'a "b" \\ c'),
        bool: "no",
        int: str(int(setting.low or 1)),
        float: "0.25",
        tuple: ["x", "/y{1,2}/"],
    }[setting.type]
    set_value(path, setting.key, wanted)
    value = load_settings(path, {})[setting.key]
    assert value == {bool: False, int: int(setting.low or 1), float: 0.25, tuple: ("x", "/y{1,2}/")}.get(
        setting.type, wanted
    )
    comments = [line for line in example_config().splitlines() if line.startswith("#")]
    assert [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")] == comments


@pytest.mark.parametrize(
    ("before", "key", "value"),
    [
        ("", "recall.limit", 7),
        ("[chat]\nnum_ctx = 4096\n", "model", "m"),
        ("recall.limit = 3\n", "recall.limit", 7),
        ("recall = { limit = 3 }\n", "recall.limit", 7),
        ("model = 'a'\n[chat]\n# end", "chat.seed", 5),
    ],
    ids=["no file content", "top level after a table", "dotted", "inline table", "no newline at the end"],
)
def test_a_value_finds_its_place_in_any_layout(tmp_path, before, key, value):
    path = tmp_path / "config.toml"
    path.write_text(before, encoding="utf-8")
    set_value(path, key, str(value))
    assert load_settings(path, {})[key] == value


@posix
def test_the_file_is_made_private_with_its_folder(tmp_path):
    path = tmp_path / "new" / "config.toml"
    set_value(path, "user", "ada")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("recall.limt", "7", "recall.limit"),
        ("recall.limit", "many", "recall.limit"),
        ("engine", "gpu", "auto"),
        ("chat.num_ctx", "7", "between 1024 and 1048576;"),
        ("user", "", "1 to 100 characters"),
        ("user", " ", "1 to 100 characters"),
        ("user", "a\tb", "on one line"),
        ("user", "a\x07b", "control characters"),
        ("user", "a" * 101, "1 to 100 characters"),
        ("learn.never_learn", "salary, /(unclosed/", "no regular expression"),
        ("learn.never_learn", "topic:weather", "no topic"),
        ("host", "http://:x", "host is"),
        ("chat.keep_alive", "long", "chat.keep_alive"),
        ("embedded.chat", "llama3", "standard, small"),
        ("embedded.chat", "minilm", "standard, small"),
    ],
)
def test_a_wrong_key_or_value_leaves_the_file_alone(tmp_path, key, value, named):
    path = tmp_path / "config.toml"
    path.write_text("model = 'a'\n", encoding="utf-8")
    with pytest.raises(UsageError, match=named):
        set_value(path, key, value)
    assert path.read_text(encoding="utf-8") == "model = 'a'\n"


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("host", "desk.example:11434", "desk.example"),
        ("model", "gpt-oss:120b-cloud", "gpt-oss:120b-cloud"),
        ("embed_model", "embedder:cloud", "embedder:cloud"),
    ],
)
def test_what_would_send_text_away_is_set_only_after_it_was_allowed(tmp_path, key, value, allowed):
    path = tmp_path / "config.toml"
    with pytest.raises(PrivacyRefusal, match="allow_remote"):
        set_value(path, key, value)
    assert not path.exists()
    set_value(path, "allow_remote", [allowed])
    assert set_value(path, key, value).after == value


def test_a_value_in_the_file_that_makes_no_sense_is_found(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("[learn]\nnever_learn = ['/(/']\n", encoding="utf-8")
    assert "never_learn" in find_meaningless(load_settings(path, {}))
    assert find_meaningless(Settings()) == ""


def test_the_example_file_is_made_of_the_table():
    example = Path(__file__).parents[1] / "config.example.toml"
    assert example.read_text(encoding="utf-8") == example_config()


@pytest.mark.parametrize("content", [b"model = \n", b"\xff\xfe", b"recall = 3\n"], ids=["toml", "utf-8", "no table"])
def test_a_broken_file_is_named_and_left_alone(tmp_path, content):
    path = tmp_path / "config.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError):
        set_value(path, "recall.limit", "7")
    assert path.read_bytes() == content


def test_a_setting_that_was_wrong_can_be_mended(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("[recall]\nlimit = 'many'\n", encoding="utf-8")
    assert set_value(path, "recall.limit", "7").before == "many"
    assert load_settings(path, {}).whole("recall.limit") == 7


def test_unset_brings_the_default_back(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("# top\n[recall]\nlimit = 3 # few\n", encoding="utf-8")
    assert unset_value(path, "recall.limit").before == 3
    assert path.read_text(encoding="utf-8") == "# top\n"
    assert unset_value(path, "recall.limit").before is None
    with pytest.raises(ConfigError):
        unset_value(path, "recall.limt")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[recall]\nlimit = 3\n", ""),
        ("recall.limit = 3\n", ""),
        ("recall = { limit = 3 }\n", ""),
        ("[recall]\nlimit = 3\n\n[chat]\nseed = 5\n", "[chat]\nseed = 5\n"),
        ("[recall]\n# few\nlimit = 3\n", "[recall]\n# few\n"),
        ("[recall] # mine\nlimit = 3\n", "[recall] # mine\n"),
        ("[recall]\nlimit = 3\nfloor = 0.1\n", "[recall]\nfloor = 0.1\n"),
    ],
)
def test_unset_leaves_no_empty_section_but_every_comment(tmp_path, before, after):
    path = tmp_path / "config.toml"
    path.write_text(before, encoding="utf-8")
    unset_value(path, "recall.limit")
    assert path.read_text(encoding="utf-8") == after


def test_the_list_shows_value_and_origin_of_one_key_a_section_or_all(tmp_path):
    settings = Settings().with_values({"recall.limit": 9}, "--option")
    (line,) = list_settings(settings, "recall.limit")
    assert (line.value, line.origin, line.default) == (9, "--option", 5)
    assert len(list_settings(settings)) == len(SETTINGS)
    assert {line.key.split(".")[0] for line in list_settings(settings, "learn")} == {"learn"}
    with pytest.raises(ConfigError):
        list_settings(settings, "lern")


@posix
def test_a_private_file_replaces_what_a_link_points_to(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old secret")
    real.chmod(0o644)
    link.symlink_to(real)
    write_private(link, ["new ", "text"], wipe_old=True)
    assert link.is_symlink()
    assert real.read_text() == "new text"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


@posix
def test_wiping_overwrites_the_bytes_of_the_old_file(tmp_path):
    path, kept = tmp_path / "history", tmp_path / "second-name"
    path.write_text("old secret")
    os.link(path, kept)
    write_private(path, ["new"], wipe_old=True)
    assert b"secret" not in kept.read_bytes()


def test_a_file_that_cannot_be_written_is_named_and_nothing_is_left_behind(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "inside").write_text("x")
    with pytest.raises(MemchatError, match="folder"):
        write_private(folder, ["text"])
    with pytest.raises(MemchatError, match="nowhere"):
        write_private(tmp_path / "nowhere" / "file", ["text"])
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_an_interrupted_write_leaves_the_old_file(tmp_path):
    def pieces():
        yield "half"
        raise KeyboardInterrupt

    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_private(path, pieces())
    assert path.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_drafts_of_runs_that_were_killed_are_swept_away(tmp_path):
    old, young = tmp_path / ".file.1.part", tmp_path / ".file.2.part"
    old.write_text("private")
    young.write_text("another run's")
    os.utime(old, (1, 1))
    write_private(tmp_path / "file", ["text"])
    assert sorted(path.name for path in tmp_path.iterdir()) == [".file.2.part", "file"]
