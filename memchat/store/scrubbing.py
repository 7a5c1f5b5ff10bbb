"""Wiping deleted bytes: merge the word index, rewrite the file, empty the WAL; and saying who is in the way."""

import contextlib
import os
from pathlib import Path
from typing import Final

from memchat.errors import StoreBusy, StoreFull
from memchat.store import location
from memchat.store.connection import Database

_PROCESSES: Final = Path("/proc")  # Linux; elsewhere the other program stays unnamed
_DUE: Final = "scrub_due"


def note_due(database: Database) -> None:
    """Note, in the transaction that deletes, that deleted bytes are still to be wiped."""
    database.write("INSERT OR REPLACE INTO meta (name, value) VALUES (?, '1')", (_DUE,))


def is_due(database: Database) -> bool:
    """Tell whether an earlier wipe did not come to its end."""
    return database.value("SELECT 1 FROM meta WHERE name = ?", (_DUE,)) is not None


def scrub(database: Database) -> None:
    """Leave no deleted byte in the file or its WAL; StoreBusy names what holds the file for too long."""
    try:
        database.write("INSERT INTO memories_fts (memories_fts) VALUES ('optimize')")
        database.write("VACUUM")
        busy = database.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
    except StoreBusy as error:
        raise StoreBusy(_in_the_way(database.path)) from error
    except StoreFull as error:
        raise StoreFull(
            f"It is deleted, but the disk that holds {database.path} has no room to wipe the old bytes; "
            "make room and run `memchat doctor --fix`."
        ) from error
    if busy:
        raise StoreBusy(_in_the_way(database.path))
    database.write("DELETE FROM meta WHERE name = ?", (_DUE,))


def finish_due(database: Database) -> None:
    """Bring an earlier wipe to its end where nothing is in the way; it is not waited for, and `check` names it else."""
    if is_due(database):
        with contextlib.suppress(StoreBusy, StoreFull), database.without_waiting():
            scrub(database)


def delete_backups(path: Path) -> int:
    """Overwrite and delete the copies that migrations made; return how many."""
    copies = location.backups(path)
    for copy in copies:
        with contextlib.suppress(FileNotFoundError):  # another process may be at it
            _wipe_file(copy)
    return len(copies)


def _wipe_file(copy: Path) -> None:
    size = copy.stat().st_size
    with copy.open("r+b") as file:
        for _ in range(0, size, 1 << 20):
            file.write(bytes(1 << 20))
        file.truncate(size)
        file.flush()
        os.fsync(file.fileno())
    copy.unlink()


def _in_the_way(path: Path) -> str:
    others = list_holders(path)
    who = " or ".join(others) if others else "Another program"
    return (
        f"It is deleted, but {who} is reading {path}, so the old bytes could not be wiped yet; "
        "close it and run `memchat doctor --fix`."
    )


def list_holders(path: Path) -> list[str]:
    """Return the other processes that have the file open, as "name (process 12)", where the system tells."""
    files = {str(place) for place in (path, *location.side_files(path))}
    return [
        f"{_read(process / 'comm')} (process {process.name})"
        for process in sorted(_PROCESSES.glob("[0-9]*"))
        if process.name != str(os.getpid()) and not files.isdisjoint(_open_files(process))
    ]


def _open_files(process: Path) -> set[str]:
    try:
        return {os.readlink(link) for link in (process / "fd").iterdir()}
    except OSError:  # ended meanwhile, or another user's
        return set()


def _read(place: Path) -> str:
    try:
        return place.read_text().strip()
    except OSError:
        return "a program"
