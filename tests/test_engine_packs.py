"""Packs on disk: verified, listed, measured against the machine, taken away, opened."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from memchat.engine.embedded import open_chat, open_embedder
from memchat.engine.machine import free_disk, total_memory
from memchat.engine.pack_table import PACKS
from memchat.engine.packs import (
    check_room,
    find_pack,
    has_chat,
    has_embedder,
    hash_file,
    installed,
    recommend,
    remove,
    verify,
)
from memchat.errors import EngineFailed, ModelMissing, UsageError
from tests.wheels import CONTENTS, Shelf, fail_at, get, make_pack


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path / "wheels")


@pytest.fixture
def pack(shelf):
    return make_pack(shelf.folder, *CONTENTS)


@pytest.fixture
def models(tmp_path):
    return tmp_path / "data" / "models"


# -- the table


@pytest.mark.parametrize("file", [file for pack in PACKS for file in pack.files], ids=lambda file: file.name)
def test_the_table_is_of_one_piece(file):
    """The parts of each file add up to it, no part stands twice, and every hash is a sha256."""
    assert sum(part.size for part in file.parts) == file.size
    assert len({part.sha256 for part in file.parts}) == len({part.package for part in file.parts}) == len(file.parts)
    for sha in (file.sha256, *(part.sha256 for part in file.parts)):
        assert len(bytes.fromhex(sha)) == 32
    for part in file.parts:
        assert part.member.startswith(part.package.replace("-", "_") + "/")


def test_packs_are_found_by_name():
    assert [find_pack(name).role for name in ("standard", "small", "minilm")] == ["chat", "chat", "embedding"]
    with pytest.raises(UsageError, match="choose one of standard, small, minilm"):
        find_pack("large")


def test_the_index_listed_in_shared_notes_agrees_with_the_table():
    notes = Path(__file__).parents[2] / "shared" / "embedded.md"
    if not notes.exists():
        pytest.skip("the notes are not here")
    text = notes.read_text(encoding="utf-8")
    for pack in PACKS:
        for file in pack.files:
            assert file.sha256 in text


# -- verifying


@pytest.fixture
def fetched(pack, models, shelf):
    get(pack, models, shelf)
    return models / "toy.gguf"


def swap_a_byte(path, *, keep_time):
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    if keep_time:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_whole_pack_is_verified(pack, models, fetched):
    assert verify(models, pack) == verify(models, pack, deep=True) == (fetched,)


def test_a_missing_pack_is_told_with_the_command(pack, models):
    with pytest.raises(ModelMissing, match="memchat setup"):
        verify(models, pack)


@pytest.mark.parametrize("keep_time", [False, True], ids=["changed", "changed under the old time"])
@pytest.mark.parametrize("harm", [swap_a_byte, lambda path, keep_time: os.truncate(path, 50)], ids=["swapped", "cut"])
def test_a_changed_file_is_refused(pack, models, fetched, harm, keep_time):
    harm(fetched, keep_time=keep_time)
    with pytest.raises(EngineFailed, match=r"damaged or was changed: run `memchat setup`"):
        verify(models, pack, deep=keep_time)


def test_setup_mends_a_file_that_was_changed_under_the_old_time(pack, models, shelf, fetched):
    swap_a_byte(fetched, keep_time=True)
    get(pack, models, shelf)
    assert fetched.read_bytes() == b"".join(CONTENTS)


def test_a_whole_file_is_not_hashed_at_every_start(pack, models, fetched, monkeypatch):
    def never(path):
        raise AssertionError(path)

    monkeypatch.setattr("memchat.engine.packs.hash_file", never)
    verify(models, pack)


@pytest.mark.parametrize("stamp", [None, "", "[]", '{"size": 1}'], ids=["gone", "empty", "other shape", "other size"])
def test_a_file_without_its_stamp_is_hashed_once_and_stamped(pack, models, fetched, stamp, monkeypatch):
    beside = fetched.with_name("toy.gguf.stamp")
    beside.unlink() if stamp is None else beside.write_text(stamp)
    hashed = []
    monkeypatch.setattr("memchat.engine.packs.hash_file", lambda path: hashed.append(path) or hash_file(path))
    verify(models, pack)
    verify(models, pack)
    assert hashed == [fetched]


# -- what is there, what is needed, taking away


def test_what_is_there_is_listed_with_whether_it_is_whole(tmp_path):
    assert installed(tmp_path) == {}
    pack = find_pack("minilm")
    (tmp_path / pack.main.name).write_bytes(b"half")
    assert installed(tmp_path) == {"minilm": False}
    assert not has_embedder(tmp_path)


def test_a_chat_model_of_ones_own_is_there_when_its_file_is(tmp_path):
    own = tmp_path / "own.gguf"
    assert not has_chat(tmp_path, str(own))
    own.write_bytes(b"GGUF")
    assert has_chat(tmp_path, str(own))
    assert not has_chat(tmp_path, "standard")


def test_removing_leaves_nothing(pack, models, shelf, fetched):
    other = make_pack(shelf.folder, b"a" * 10, b"b" * 10, package="else-part")
    other = replace(other, files=(replace(other.main, name="else.gguf"),))
    fail_at(other, models, shelf, 2)
    (models / "mine.txt").write_text("not memchat's")
    assert remove(models, (pack, other)) >= len(b"".join(CONTENTS)) + 10
    assert [path.name for path in models.iterdir()] == ["mine.txt"]


def test_removing_what_is_not_there_is_no_fault(models):
    assert remove(models) == 0


def test_the_needs_shrink_with_what_is_there(pack, models, shelf):
    whole = recommend(pack, models)
    assert whole.kept == len(b"".join(CONTENTS))
    assert whole.disk > whole.kept + max(part.download for part in pack.main.parts)
    fail_at(pack, models, shelf, 3)
    assert recommend(pack, models).disk < whole.disk
    get(pack, models, shelf)
    assert (recommend(pack, models).download, recommend(pack, models).disk) == (0, 0)


@pytest.mark.parametrize(
    ("disk", "memory", "told"),
    [
        (10**6, 10**12, r"needs 1\.3 GB of disk .* has 0\.0 GB free"),
        (10**12, 10**9, r"needs \d\.\d GB of memory, and there is 1\.0 GB"),
    ],
    ids=["disk", "memory"],
)
def test_a_machine_too_small_is_told_what_is_needed_and_what_is_there(tmp_path, disk, memory, told):
    with pytest.raises(EngineFailed, match=told):
        check_room(find_pack("standard"), tmp_path, disk=disk, memory=memory)


def test_a_machine_large_enough_or_unknown_passes(tmp_path):
    check_room(find_pack("standard"), tmp_path, disk=10**10, memory=10**10)
    check_room(find_pack("minilm"), tmp_path, disk=10**10)


def test_the_machine_tells_its_sizes(tmp_path):
    assert free_disk(tmp_path / "not" / "yet") > 0
    memory = total_memory()
    assert memory is None or memory > 10**8


# -- opening


@pytest.mark.parametrize(
    ("which", "error", "told"),
    [
        ("standard", ModelMissing, "memchat setup"),
        ("minilm", UsageError, "cannot chat"),
        ("llama3", ModelMissing, "choose standard or small, or give the path"),
        ("gone.gguf", ModelMissing, "There is no model file"),
        ("~/gone", ModelMissing, "There is no model file"),
    ],
)
def test_a_chat_model_that_is_not_there_is_told(tmp_path, which, error, told):
    with pytest.raises(error, match=told):
        open_chat(tmp_path, which)


def test_an_embedder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ModelMissing, match=r"all-MiniLM-L6-v2.*memchat setup"):
        open_embedder(tmp_path)


def test_a_broken_pack_is_refused_before_it_is_loaded(tmp_path):
    (tmp_path / find_pack("small").main.name).write_bytes(b"GGUF, but not that one")
    with pytest.raises(EngineFailed, match="memchat setup"):
        open_chat(tmp_path, "small")
