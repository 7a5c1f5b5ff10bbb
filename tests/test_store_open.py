"""Opening: what is not ours stays as it is, and each refusal is one sentence that names the file."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from memchat.errors import StoreError, StoreFull, StoreUnusable, UsageError
from memchat.records import Cause, NewMemory
from memchat.store import Store, connection, location, migrations
from tests.nobody import as_nobody
from tests.store_stage import EMBEDDER, NOW, embed_all, near, open_store, python, tell, worded

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def filled(tmp_path):
    with open_store(tmp_path) as store:
        tell(store, "I keep bees")
    return tmp_path / "memchat" / "memory.db"


@pytest.fixture
def public_path():
    """A folder that another user may reach, as pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


# -- what is refused, and left as it is


def _folder(path):
    path.mkdir()


def _foreign(path):
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE t (x)")
    other.commit()
    other.close()


def _foreign_wal(path):
    other = sqlite3.connect(path)
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("CREATE TABLE t (x)")
    other.commit()
    other.close()


def _truncated(path):
    with Store.open(path) as store:
        tell(store, "I keep bees")
    os.truncate(path, path.stat().st_size - 4096)


def _newer(path):
    Store.open(path).close()
    other = sqlite3.connect(path)
    other.execute(f"PRAGMA user_version = {migrations.NEWEST + 1}")
    other.commit()
    other.close()


REFUSED = {
    "folder": (_folder, "is a folder"),
    "text": (lambda path: path.write_text("5 KB of text\n" * 400), "not a memory file"),
    "half a header": (lambda path: path.write_bytes(b"SQLite format 3\x00\x10"), "not a memory file"),
    "another program's": (_foreign, "another program"),
    "another program's in WAL mode": (_foreign_wal, "another program"),
    "truncated": (_truncated, "cut short"),
    "newer": (_newer, "newer memchat"),
    "fifo": (lambda path: os.mkfifo(path), "not an ordinary file"),
}


@pytest.mark.parametrize("read_only", [False, True], ids=["to write", "to read"])
@pytest.mark.parametrize(("make", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_ours_is_refused_and_stays_as_it_is(tmp_path, make, sentence, read_only):
    path = tmp_path / "odd.db"
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    modified = path.stat().st_mtime_ns
    with pytest.raises(StoreUnusable, match=sentence) as refusal:
        Store.open(path, read_only=read_only)
    assert str(path) in refusal.value.sentence
    assert "\n" not in refusal.value.sentence
    assert (path.read_bytes() if path.is_file() else b"") == before
    assert path.stat().st_mtime_ns == modified
    assert [file.name for file in tmp_path.iterdir()] == ["odd.db"]


def test_a_damaged_page_is_told_as_damage(filled):
    size = filled.stat().st_size
    with filled.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 8192))
    with pytest.raises(StoreUnusable, match="damaged"):
        Store.open(filled)


@pytest.mark.parametrize("end", ["missing/deep/memory.db", "memory.db"])
def test_a_missing_file_is_not_made_for_reading_only(tmp_path, end):
    with pytest.raises(StoreUnusable, match="cannot be opened"):
        Store.open(tmp_path / end, read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnusable, match=r"memory\.db"):
        Store.open(tmp_path / "file" / "sub" / "memory.db")


# -- what is made


@POSIX
def test_everything_is_private_from_the_first_byte(tmp_path):
    old = os.umask(0o022)
    try:
        with Store.open(tmp_path / "new" / "memchat" / "memory.db") as store:
            tell(store, "I keep bees")
            store.backup(tmp_path / "copy.db")
            files = [*(tmp_path / "new" / "memchat").iterdir(), tmp_path / "copy.db"]
            assert len(files) == 4
            assert {mode_of(file) for file in files} == {0o600}
    finally:
        os.umask(old)
    assert [mode_of(tmp_path / place) for place in ("new", "new/memchat")] == [0o700, 0o700]


@POSIX
def test_wider_rights_are_taken_away_and_told(filled):
    filled.chmod(0o644)
    filled.parent.chmod(0o755)
    with Store.open(filled) as store:
        assert [mode_of(filled), mode_of(filled.parent)] == [0o600, 0o700]
        assert [str(place) in notice for place, notice in zip((filled, filled.parent), store.notices, strict=True)]
        assert len(store.notices) == 2


@POSIX
def test_a_folder_that_is_not_ours_keeps_its_rights(tmp_path):
    tmp_path.chmod(0o755)
    Store.open(tmp_path / "x.db").close()
    assert mode_of(tmp_path) == 0o755


def test_a_home_and_symbolic_links_are_followed(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with Store.open(Path("~/link/x.db")) as store:
        assert store.path == (tmp_path / "real" / "x.db").resolve()


def test_a_dangling_link_makes_its_target(tmp_path):
    (tmp_path / "link.db").symlink_to(tmp_path / "target.db")
    Store.open(tmp_path / "link.db").close()
    assert (tmp_path / "target.db").stat().st_size > 0


def test_an_empty_file_becomes_a_memory_file(tmp_path):
    (tmp_path / "x.db").touch(0o600)
    with Store.open(tmp_path / "x.db") as store:
        assert tell(store, "I keep bees").id == 1


def test_a_file_whose_making_was_cut_off_is_gone_on_with(tmp_path):
    """Only the application id was written, as after a kill at the very first moment."""
    code = (
        "import apsw, sys; c = apsw.Connection(sys.argv[1]); "
        f"c.execute('PRAGMA application_id={location.APPLICATION_ID}').fetchall()"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "x.db"], check=True)
    with Store.open(tmp_path / "x.db") as store:
        assert (tell(store, "I keep bees").id, store.check()) == (1, [])


# -- reading only


def test_reading_only_changes_nothing_and_says_so(filled):
    with Store.open(filled, read_only=True) as store:
        assert [memory.text for memory in store.list_memories()] == ["I keep bees"]
        assert (near(store, "bees"), worded(store, "bees")) == ([1], [1])
        assert (store.read_only, store.notices, store.check()) == (True, [], [])
        writes = (
            lambda: tell(store, "no"),
            lambda: store.add_session(NOW),
            lambda: store.erase([1]),
            lambda: store.count_drops({"x": 1}),
            lambda: store.mark_recalled([1], NOW),
        )
        for write in writes:
            with pytest.raises(StoreUnusable, match="reading only"):
                write()


_AS_NOBODY = """
import os, sys
from pathlib import Path
from memchat.errors import MemchatError
from memchat.records import Cause, NewMemory
from memchat.store import Store
from tests.store_stage import NOW, worded
os.setgid(65534); os.setuid(65534)
try:
    with Store.open(Path(sys.argv[1])) as store:
        print(len(store.list_memories()), worded(store, "bees"), store.read_only, len(store.notices))
        try:
            store.add_memory(NewMemory("no"), cause=Cause.USER, now=NOW)
        except MemchatError as error:
            print(error.sentence)
except MemchatError as error:
    print(error.sentence)
"""


@as_nobody
@pytest.mark.parametrize(
    ("file_mode", "folder_mode", "told"),
    [
        (0o444, 0o755, ["1 [1] True 1", "reading only"]),
        (0o444, 0o777, ["1 [1] True 1", "reading only"]),
        (0o666, 0o755, ["1 [1] True 1", "reading only"]),
        (0o600, 0o755, ["may not be read"]),
        (0o444, 0o700, ["cannot be reached"]),
    ],
    ids=["read-only both", "read-only file", "read-only folder", "no rights", "closed folder"],
)
def test_without_rights_lists_work_and_writes_say_why(public_path, file_mode, folder_mode, told):
    folder = public_path / "shelf"
    with Store.open(folder / "x.db") as store:
        tell(store, "I keep bees")
    (folder / "x.db").chmod(file_mode)
    folder.chmod(folder_mode)
    before = (folder / "x.db").read_bytes()
    out, err = python(_AS_NOBODY, folder / "x.db").communicate()
    lines = out.splitlines()
    assert err == ""
    assert len(lines) == len(told)
    assert all(part in line for part, line in zip(told, lines, strict=True))
    assert (folder / "x.db").read_bytes() == before
    assert [file.name for file in folder.iterdir()] == ["x.db"]


def test_a_full_disk_stores_nothing_and_is_told(filled):
    """max_page_count makes SQLite meet the same error as a full disk."""
    with Store.open(filled) as store:
        store._db.rows("PRAGMA max_page_count = 1")
        with pytest.raises(StoreFull, match="full"):
            store.add_memory(NewMemory("x" * 4_000_000), cause=Cause.USER, now=NOW)
        store._db.rows("PRAGMA max_page_count = 1000000")
        assert store.count_memories() == 1
        assert tell(store, "there is room again").id > 1
        assert store.check() == []


# -- sqlite-vec


def test_without_sqlite_vec_words_are_searched_and_all_else_works(filled, monkeypatch):
    monkeypatch.setattr(connection, "PathFinder", type("Nothing", (), {"find_spec": lambda name: None}))
    with Store.open(filled) as store:
        assert "sqlite-vec" in store.why_no_vectors
        assert store.why_no_vectors in store.notices
        assert (near(store, "bees"), worded(store, "bees")) == ([], [1])
        new = store.add_memory(NewMemory("I drive a tram"), cause=Cause.USER, now=NOW)
        store.update_memory(new.id, cause=Cause.USER, now=NOW, text="I drive a bus")
        store.supersede_memory(new.id, by=1, cause=Cause.USER, now=NOW)
        with pytest.raises(StoreError, match="sqlite-vec"):
            store.set_vectors([], EMBEDDER.card())
        assert store.check() == []
    monkeypatch.undo()
    with Store.open(filled) as store:
        embed_all(store)
        assert (near(store, "I keep bees"), near(store, "I drive a bus", past=True)) == ([1], [2])
        assert store.check() == []


def test_sqlite_vec_is_found_without_being_imported(filled):
    code = (
        "import sys; from pathlib import Path; from memchat.store import Store; "
        "print(Store.open(Path(sys.argv[1])).why_no_vectors, {'sqlite_vec', 'numpy', 'ollama'} & sys.modules.keys())"
    )
    assert python(code, filled).communicate() == ("None set()\n", "")


# -- copies


def test_a_backup_is_a_whole_file_of_its_own(filled, tmp_path):
    with Store.open(filled) as store:
        tell(store, "written just now")
        store.backup(tmp_path / "copy.db")
        with pytest.raises(UsageError, match="exists already"):
            store.backup(tmp_path / "copy.db")
        with pytest.raises(UsageError, match="cannot be written"):
            store.backup(tmp_path / "no" / "copy.db")
    shutil.rmtree(filled.parent)
    with Store.open(tmp_path / "copy.db") as copy:
        assert [memory.text for memory in copy.list_memories()] == ["I keep bees", "written just now"]
        assert (near(copy, "bees"), copy.check()) == ([1, 2], [])


def test_what_an_edit_replaces_is_zeroed_at_once(filled):
    with Store.open(filled) as store:
        session = store.add_session(NOW).id
        store.update_session(session, title="an old title that is long")
        store.update_session(session, title="new")
    assert b"an old title that is long" not in filled.read_bytes()


def test_sizes_count_bytes_and_rows(filled):
    with Store.open(filled) as store:
        sizes = store.sizes()
    assert sizes["file_bytes"] > 0
    assert (sizes["memories"], sizes["keys"], sizes["users"]) == (1, 1, 1)
