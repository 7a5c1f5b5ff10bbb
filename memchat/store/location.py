"""Where the memory file lies and who may read it; what stands there is judged by its first bytes.

Nothing here opens an existing memory file: closing any descriptor of it would drop the locks that SQLite holds for
the other connections of this process, so its bytes are only ever read through SQLite.
"""

import errno
import os
import stat
from pathlib import Path
from typing import Final

from memchat.errors import StoreFull, StoreUnusable, UsageError

APPLICATION_ID: Final = 0x6D656D63  # "memc", at byte 68 of the SQLite header
FOLDER_NAME: Final = "memchat"  # the only folder that is surely ours to tighten
_MAGIC: Final = b"SQLite format 3\x00"
HEADER_SIZE: Final = 100


def resolve(path: Path) -> Path:
    """Return the absolute path behind `~` and symbolic links."""
    try:
        found = path.expanduser().resolve()
        str(found).encode()  # SQLite names files in UTF-8
        return found
    except (OSError, RuntimeError, ValueError) as error:
        raise StoreUnusable(f"The path {path} cannot be followed ({error}); name another file with --db.") from error


def examine_place(path: Path) -> None:
    """Refuse a path at which no ordinary, readable file can be."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreUnusable(f"{path} cannot be reached ({error.strerror}); name another file with --db.") from error
    if stat.S_ISDIR(mode):
        raise StoreUnusable(f"{path} is a folder; name a file with --db.")
    if not stat.S_ISREG(mode):
        raise StoreUnusable(f"{path} is not an ordinary file; name another one with --db.")
    if not os.access(path, os.R_OK):
        raise StoreUnusable(f"{path} may not be read by you; check its rights or name another file with --db.")


def examine_header(path: Path, header: bytes, newest: int) -> None:
    """Refuse the first bytes of anything but a whole memory file up to schema `newest`; an empty file passes."""
    if not header:
        return
    if len(header) < HEADER_SIZE or not header.startswith(_MAGIC):
        raise StoreUnusable(f"{path} is not a memory file, it was left as it is; name another one with --db.")
    if _number(header, 68) != APPLICATION_ID:
        raise StoreUnusable(f"{path} belongs to another program, it was left as it is; name another one with --db.")
    refuse_newer(path, _number(header, 60), newest)


def refuse_newer(path: Path, version: int, newest: int) -> None:
    """Refuse a file whose schema is newer than this program's."""
    if version > newest:
        raise StoreUnusable(
            f"{path} was written by a newer memchat (schema {version}, this one knows {newest}); update memchat."
        )


def create(path: Path) -> None:
    """Create the missing file as 0600 and missing folders as 0700, from the first byte on."""
    try:
        missing = [folder for folder in path.parents if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:  # another process was quicker
        return
    except OSError as error:
        raise StoreUnusable(
            f"The memory file {path} cannot be created ({error.strerror}); name another place with --db."
        ) from error


def create_new(path: Path) -> None:
    """Create an empty file as 0600; refuse a path that is taken."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError as error:
        raise UsageError(f"{path} exists already; name a new file.") from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StoreFull(f"The disk is full: {path} was not written.") from error
        raise UsageError(f"{path} cannot be written ({error.strerror}); name another file.") from error


def tighten(path: Path) -> list[str]:
    """Take the rights of other people away from the file, its side files and memchat's own folder; say what changed."""
    wanted = {file: 0o600 for file in (path, *side_files(path)) if file.exists()}
    if path.parent.name == FOLDER_NAME:
        wanted[path.parent] = 0o700
    return [
        f"{place} was open to others (mode {mode:o}); it is now {wanted[place]:o}."
        for place, mode in wider(wanted).items()
        if _narrow(place, wanted[place])
    ]


def wider(wanted: dict[Path, int]) -> dict[Path, int]:
    """Return those of the places that give other people rights, with their present mode."""
    modes = {place: _mode(place) for place in wanted} if os.name == "posix" else {}
    return {place: mode for place, mode in modes.items() if mode & 0o077}


def size(path: Path) -> int:
    """Return the bytes of a file; 0 where there is none, or where another process has just taken it away."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _mode(place: Path) -> int:
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except FileNotFoundError:  # SQLite takes its side files away when the last connection closes
        return 0


def side_files(path: Path) -> tuple[Path, ...]:
    """Return the paths of what SQLite may put beside the file."""
    return tuple(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))


def backups(path: Path) -> list[Path]:
    """Return the copies that migrations left beside the file."""
    return sorted(path.parent.glob(f"{_escaped(path.name)}.v*.backup"))


def backup_path(path: Path, version: int) -> Path:
    """Return where the copy goes that is made before the file leaves schema `version`."""
    return path.with_name(f"{path.name}.v{version}.backup")


def is_writable(path: Path) -> bool:
    """Tell whether the file can be written and its side files made."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)


def _escaped(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def _narrow(place: Path, mode: int) -> bool:
    try:
        place.chmod(mode)
    except OSError:  # somebody else's: not ours to change, and check() names it
        return False
    return True


def _number(header: bytes, offset: int) -> int:
    return int.from_bytes(header[offset : offset + 4], "big")


def is_cut_short(path: Path, header: bytes) -> bool:
    """Tell whether the file is smaller than its header says; with a WAL beside it the rest may still be to come."""
    if size(side_files(path)[0]) or len(header) < HEADER_SIZE:
        return False
    page_size = int.from_bytes(header[16:18], "big")
    page_size = 65536 if page_size == 1 else page_size
    counted = _number(header, 24) == _number(header, 92)  # the page count is only valid when these agree
    return counted and _number(header, 28) * page_size > size(path)
