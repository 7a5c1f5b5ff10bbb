"""Sessions by hand, the picture of how things stand, and what the doctor and the privacy list find."""

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from memchat.curate.doctor import EngineState, examine, fix
from memchat.curate.privacy import list_places
from memchat.curate.remember import remember
from memchat.curate.sessions import fork_session, list_learnt, rename_session, session_markdown, write_session
from memchat.curate.stats import collect_stats, count_ages, count_growth
from memchat.errors import NotFound, UsageError
from memchat.paths import Paths
from memchat.records import Cause, Kind, NewMemory, Source, State
from memchat.settings import Settings
from memchat.store import Store
from memchat.wire import record_json
from tests.fakes import FakeEmbedder

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
posix = pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
GOOD = EngineState(
    wanted="auto",
    host="http://127.0.0.1:11434",
    server=True,
    server_version="0.33.0-rc2",
    chat_model="llama3.2:3b",
    chat_ready=True,
    chat_context=131072,
    embed_model="nomic-embed-text",
    embed_ready=True,
    embeds=True,
    embed_languages="english",
    packs=(("chat", True),),
)


@pytest.fixture
def paths(tmp_path):
    folder = tmp_path / "memchat"
    return Paths(
        config=folder / "config.toml",
        db=folder / "memory.db",
        models=folder / "models",
        history=folder / "history",
        log=folder / "memchat.log",
    )


@pytest.fixture
def store(paths):
    with Store.open(paths.db) as opened:
        yield opened


def say(store, session, text, *, at=NOW, learn=False, **more):
    return store.add_turn(
        session, user_text=text, reply=f"Re: {text}", at=at, zone="UTC", model="m", learn=learn, recall=None, **more
    )


# -- sessions


def test_a_session_gets_the_title_it_is_given(store):
    id = store.add_session(NOW).id
    assert rename_session(store, id, "  My\ntrip ").title == "My trip"
    for title in ("", " ", "x" * 121):
        with pytest.raises(UsageError):
            rename_session(store, id, title)
    with pytest.raises(NotFound):
        rename_session(store, 99, "x")


def test_a_fork_has_the_turns_and_goes_its_own_way(store):
    id = store.add_session(NOW).id
    say(store, id, "hello")
    fork = fork_session(store, id, NOW)
    say(store, fork.id, "again")
    assert (len(store.list_turns(id)), len(store.list_turns(fork.id))) == (1, 2)


def test_a_session_is_written_out_as_markdown(store, tmp_path):
    id = store.add_session(NOW).id
    say(store, id, "hello")
    say(store, id, "I keep bees", interrupted=True)
    rename_session(store, id, "Trip")
    text = session_markdown(store, id)
    when = NOW.astimezone().strftime("%Y-%m-%d %H:%M")
    assert text.startswith(f"# Trip\n\nStarted {when}\n\n## {when}\n\n**You**\n\nhello\n\n**m**")
    assert "**m** *(interrupted)*\n\nRe: I keep bees\n" in text
    assert write_session(store, id, tmp_path / "out.md") == 2
    assert (tmp_path / "out.md").read_text(encoding="utf-8") == text
    with pytest.raises(UsageError):
        write_session(store, id, tmp_path)
    with pytest.raises(NotFound):
        session_markdown(store, 99)


def test_a_forgotten_turn_is_written_out_as_such(store):
    id = store.add_session(NOW).id
    turn = say(store, id, "I keep bees")
    memory = store.add_memory(
        NewMemory("I keep bees", source=Source(id, turn.id, "I keep bees")), cause=Cause.LEARNED, now=NOW
    )
    assert list_learnt(store, [id]) == [store.get_memory(memory.id)]
    store.erase([memory.id])
    assert "*(forgotten)*" in session_markdown(store, id)
    assert "bees" not in session_markdown(store, id)


# -- stats


def test_the_picture_counts_what_is_there(store):
    embedder = FakeEmbedder()
    first = remember(store, "I keep bees.", now=NOW - timedelta(days=40), embedder=embedder, pinned=True).memory
    remember(store, "No nuts.", now=NOW, embedder=embedder, kind=Kind.CONSTRAINT)
    store.add_memory(NewMemory("I row?", state=State.PROPOSED), cause=Cause.LEARNED, now=NOW)
    old = store.add_memory(NewMemory("I ski."), cause=Cause.LEARNED, now=NOW)
    store.supersede_memory(old.id, by=None, cause=Cause.LEARNED, now=NOW)
    store.mark_recalled([first.id], NOW)
    store.count_drops({"no evidence": 3})
    session = store.add_session(NOW).id
    say(store, session, "hello", learn=True)
    stats = collect_stats(store, NOW, embedder)
    assert (stats.memories, stats.proposed, stats.superseded, stats.pinned) == (2, 1, 1, 1)
    assert stats.kinds == {"fact": 1, "constraint": 1}
    assert stats.ages == {"day": 1, "week": 0, "month": 0, "year": 1, "older": 0}
    assert list(stats.growth) == ["2026-04", "2026-05", "2026-06"]
    assert [(use.id, use.times) for use in stats.most_recalled] == [(first.id, 1)]
    assert (stats.never_recalled, stats.without_cues, stats.drops) == (1, 2, {"no evidence": 3})
    assert (stats.queue, stats.sessions, stats.turns) == (1, 1, 1)
    assert (stats.embed_model, stats.dimensions, stats.pending_keys, stats.stale) == ("fake-embed", 64, 1, False)
    assert collect_stats(store, NOW, FakeEmbedder(digest="d2")).stale
    json.dumps(record_json(stats), allow_nan=False)


def test_an_empty_store_has_a_picture_too(store):
    stats = collect_stats(store, NOW)
    assert (stats.memories, stats.growth, stats.embed_model, stats.most_recalled) == (0, {}, None, ())


def test_ages_end_where_they_say(store):
    days = (0, 1, 1.5, 7, 30, 31, 365, 366)
    memories = [remember(store, f"Fact {day}", now=NOW - timedelta(days=day)).memory for day in days]
    assert count_ages(memories, NOW) == {"day": 2, "week": 2, "month": 1, "year": 2, "older": 1}


def test_growth_crosses_the_year_without_a_gap(store):
    memories = [remember(store, "a b", now=datetime(2025, 11, 30, tzinfo=UTC)).memory]
    assert count_growth(memories, datetime(2026, 2, 1, tzinfo=UTC)) == {
        "2025-11": 1,
        "2025-12": 0,
        "2026-01": 0,
        "2026-02": 0,
    }


# -- doctor


def failing(report):
    return {check.name: check for check in report.checks if not check.ok}


def vectors(report):
    return next(check for check in report.checks if check.name == "vectors")


def test_a_healthy_installation_passes(store, paths):
    embedder = FakeEmbedder()
    remember(store, "I keep bees.", now=NOW, embedder=embedder)
    report = examine(store, paths, GOOD, now=NOW, embedder=embedder.card())
    assert failing(report) == {}
    assert report.ok
    document = record_json(report)
    assert list(document) == ["ok", "checks"]
    assert list(document["checks"][0]) == ["name", "ok", "found", "mend"]
    names = [check["name"] for check in document["checks"]]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("fault", "name", "mend"),
    [
        ({"wanted": "ollama", "server": False, "server_fault": "Nothing answers."}, "ollama", "ollama serve"),
        ({"server_version": "0.4.7"}, "ollama", "Update"),
        ({"chat_model": None}, "chat model", "memchat setup"),
        ({"chat_ready": False, "server": False, "wanted": "embedded"}, "chat model", "memchat setup"),
        ({"chat_ready": False}, "chat model", "ollama pull llama3.2:3b"),
        ({"chat_remote": "https://ollama.com"}, "locality", "local"),
        ({"chat_context": 512}, "context", "larger window"),
        ({"embed_model": None}, "embedding model", "memchat setup"),
        ({"embed_ready": False}, "embedding model", "ollama pull nomic-embed-text"),
        ({"embeds": False}, "embedding model", "nomic-embed-text"),
        ({"packs": (("chat", False),)}, "pack chat", "memchat setup"),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else None,
)
def test_each_fault_of_an_engine_is_named_with_its_mend(store, paths, fault, name, mend):
    report = examine(store, paths, replace(GOOD, **fault), now=NOW)
    assert not report.ok
    assert list(failing(report)) == [name]
    assert mend in failing(report)[name].mend
    assert failing(report)[name].found


@pytest.mark.parametrize(
    "state",
    [
        {"server": False, "wanted": "auto"},
        {"server_version": "0.0.0"},
        {"server_version": None},
        {"server_version": "unknown"},
        {"chat_context": 0},
        {"chat_remote": "https://ollama.com", "allowed": ("llama3.2:3b",)},
    ],
    ids=["no server, embedded serves", "built from source", "no version", "odd version", "context unknown", "allowed"],
)
def test_what_is_no_fault_passes(store, paths, state):
    assert failing(examine(store, paths, replace(GOOD, **state), now=NOW)) == {}


def test_without_any_engine_both_are_named(store, paths):
    failed = failing(examine(store, paths, replace(GOOD, server=False, chat_ready=False), now=NOW))
    assert list(failed) == ["ollama", "chat model"]
    assert "no embedded model" in failed["ollama"].found
    assert "memchat setup" in failed["ollama"].mend


@pytest.mark.parametrize(
    ("notice", "mend"),
    [
        ("/x/memory.db cannot be written: nothing new will be remembered.", "chmod"),
        ("The disk that holds /x/memory.db is full: nothing new will be remembered.", "disk space"),
    ],
)
def test_a_file_that_takes_nothing_new_is_a_fault(store, paths, notice, mend):
    store.notices.append(notice)
    check = failing(examine(store, paths, GOOD, now=NOW))["writing"]
    assert (check.found, mend in check.mend) == (notice, True)


@posix
def test_nothing_is_called_private_beside_a_memory_file_that_others_may_read(store, paths):
    paths.db.chmod(0o444)
    report = examine(store, paths, GOOD, now=NOW)
    assert [check.name for check in report.checks if check.name in ("file modes", "private files")] == ["file modes"]


def test_a_window_set_too_small_is_named(store, paths):
    check = failing(examine(store, paths, GOOD, now=NOW, num_ctx=1024))["context"]
    assert check.mend == "memchat config set chat.num_ctx 4096"


def test_vectors_of_another_embedder_are_named(store, paths):
    remember(store, "I keep bees.", now=NOW, embedder=FakeEmbedder())
    report = examine(store, paths, GOOD, now=NOW, embedder=FakeEmbedder(digest="d2").card())
    assert failing(report)["vectors"].mend == "memchat reindex"


def test_keys_without_a_vector_are_wrong_only_while_no_embedder_is_at_hand(store, paths):
    remember(store, "I ski.", now=NOW)
    check = failing(examine(store, paths, GOOD, now=NOW))["vectors"]
    assert check.found == "1 key without a vector"
    check = vectors(examine(store, paths, GOOD, now=NOW, embedder=FakeEmbedder().card()))
    assert (check.ok, check.found, check.mend) == (True, "1 key without a vector", "memchat reindex")


def test_a_reindex_half_done_is_told_with_the_command_that_ends_it(store, paths):
    remember(store, "I keep bees.", now=NOW, embedder=FakeEmbedder())
    store.begin_reindex(FakeEmbedder(32, model="second").card())
    check = vectors(examine(store, paths, GOOD, now=NOW, embedder=FakeEmbedder().card()))
    assert (check.ok, check.mend) == (True, "memchat reindex")
    assert "the change to second stands at 1 key from its end" in check.found


def test_a_machine_without_sqlite_vec_is_named(store, paths):
    store._db.why_no_vectors = "sqlite-vec cannot be loaded."
    check = failing(examine(store, paths, GOOD, now=NOW))["extension"]
    assert (check.found, "sqlite-vec" in check.mend) == ("sqlite-vec cannot be loaded.", True)


def test_a_stuck_queue_names_turn_and_reason(store, paths):
    turn = say(store, store.add_session(NOW).id, "hello", learn=True)
    moment = NOW
    while not store.list_stuck():
        (queued,) = store.list_queued(1, moment)
        store.postpone_queued(queued.id, "the model gave no JSON", moment)
        moment += timedelta(days=1)
    check = failing(examine(store, paths, GOOD, now=NOW))["queue"]
    assert f"turn {turn.id}: the model gave no JSON" in check.found
    assert check.mend == "memchat learn"


@pytest.mark.parametrize(
    "now", [datetime(2020, 1, 1, tzinfo=UTC), NOW - timedelta(days=2)], ids=["before this program", "before a memory"]
)
def test_a_wrong_clock_is_named(store, paths, now):
    remember(store, "I keep bees.", now=NOW)
    assert "clock" in failing(examine(store, paths, GOOD, now=now))


def test_a_full_disk_is_named(store, paths, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=1 << 20))
    assert "1 MB free" in failing(examine(store, paths, GOOD, now=NOW))["disk"].found


def test_a_file_that_cannot_be_opened_and_a_wrong_config_are_named(paths):
    report = examine(None, paths, GOOD, now=NOW, store_fault="It is broken.", config_fault="Line 3 is wrong.")
    assert failing(report)["memory file"].found == "It is broken."
    assert failing(report)["config"].found == "Line 3 is wrong."


@posix
def test_files_open_to_others_are_named_and_mended(store, paths):
    for place in (paths.history, paths.db):
        place.touch()
        place.chmod(0o644)
    paths.db.parent.chmod(0o755)
    report = examine(store, paths, GOOD, now=NOW)
    found = " ".join(check.found for check in report.checks if check.name in ("file modes", "private files"))
    assert all(str(place) in found for place in (paths.history, paths.db, paths.db.parent))
    done = fix(store, paths)
    assert any("history" in sentence for sentence in done)
    assert failing(examine(store, paths, GOOD, now=NOW)) == {}
    assert fix(store, paths) == ()


def test_faults_of_the_file_itself_are_named_and_mended(store, paths):
    remember(store, "I keep bees.", now=NOW, embedder=FakeEmbedder())
    store._db.write("DELETE FROM memories_fts")
    report = examine(store, paths, GOOD, now=NOW)
    assert list(failing(report)) == ["words"]
    assert fix(store, paths)
    assert failing(examine(store, paths, GOOD, now=NOW)) == {}


# -- privacy


def test_every_place_is_listed_with_its_state(store, paths, tmp_path):
    (tmp_path / ".bash_history").write_text("memchat ask hi\n")
    report = list_places(store, paths, Settings(), GOOD, home=tmp_path)
    assert report.ok
    places = {check.name: check.found for check in report.checks}
    assert set(places) >= {"memory file", "input history", "log", "config", "chat model", "allowed to leave", "network"}
    assert set(places) >= {"ollama server", "shell history", "exports and backups", "terminal", "editor"}
    assert set(places) >= {"clipboard", "operating system"}
    assert str(paths.db) in places["memory file"]
    assert ".bash_history" in places["shell history"]
    assert "not there" in places["input history"]


@pytest.mark.parametrize(
    ("settings", "state", "name"),
    [
        ({"allow_remote": ("gpu.lan",)}, {}, "allowed to leave"),
        ({}, {"chat_remote": "https://ollama.com"}, "chat model"),
    ],
    ids=["allowed", "remote"],
)
def test_what_may_leave_the_machine_fails(store, paths, tmp_path, settings, state, name):
    given = Settings().with_values(settings, "test")
    report = list_places(store, paths, given, replace(GOOD, **state), home=tmp_path)
    assert list(failing(report)) == [name]


@posix
def test_a_history_that_others_may_read_fails(store, paths, tmp_path):
    paths.history.touch()
    paths.history.chmod(0o640)
    assert "input history" in failing(list_places(store, paths, Settings(), GOOD, home=tmp_path))


def test_an_automatic_backup_is_listed(store, paths, tmp_path):
    store.backup(paths.db.with_name("memory.db.v1.backup"))
    names = [check.name for check in list_places(None, paths, Settings(), EngineState(), home=tmp_path).checks]
    assert "automatic backup" in names
