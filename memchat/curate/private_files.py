"""Files that only their owner may read, written whole or not at all."""

import contextlib
import errno
import glob
import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path

from memchat.errors import MemchatError, StoreFull, UsageError
from memchat.paths import PRIVATE_FILE
from memchat.store import Store

_ABANDONED_SECONDS = 3600


def write_private(path: Path, pieces: Iterable[str], *, wipe_old: bool = False) -> None:
    """Replace `path` by the joined `pieces` (UTF-8, mode 0600), atomically; a link stays, its target changes.

    A pipe or a device is written to and stays what it is. With `wipe_old` the bytes of the old file are overwritten
    before it goes. Raises StoreFull when the disk is full, else MemchatError; the old file is then as it was.
    """
    if is_special(path):
        _write_through(path, pieces)
        return
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        _write_new(draft, target, pieces)
        if wipe_old and os.path.exists(target):
            _overwrite(target)
        os.replace(draft, target)
    except OSError as error:
        raise _refusal(path, error) from None
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def refuse_target(store: Store, path: Path) -> None:
    """Raise UsageError when an export to `path` would go nowhere or over the memory file and what lies beside it."""
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder; name a file to export to.")
    target = Path(os.path.realpath(path))
    if not os.path.isdir(target.parent):
        raise UsageError(f"{path} cannot be written: there is no folder {target.parent}.")
    if not os.access(path if is_special(path) else target.parent, os.W_OK):
        raise UsageError(f"{path} cannot be written: permission denied.")
    if target.parent == store.path.parent and target.name.startswith(store.path.name):
        raise UsageError(f"{path} is the memory file itself or lies by its name; name another file to export to.")


def is_special(path: Path) -> bool:
    """Tell whether something stands there that is no ordinary file: a pipe, a device, a folder."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _write_through(path: Path, pieces: Iterable[str]) -> None:
    try:
        with open(os.open(path, os.O_WRONLY), "w", encoding="utf-8", errors="surrogateescape", newline="\n") as stream:
            stream.writelines(pieces)
    except OSError as error:
        raise _refusal(path, error) from None


def _write_new(draft: Path, target: Path, pieces: Iterable[str]) -> None:
    delete_drafts(target)
    draft.unlink(missing_ok=True)
    # The mode is set as the file is made: afterwards would leave a moment in which others can open it.
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    with open(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as stream:
        stream.writelines(pieces)
        stream.flush()
        os.fsync(stream.fileno())


def delete_drafts(target: Path) -> None:
    """Delete the drafts of `target` that runs left which were killed: they hold private text."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        if not _may_be_written(left):
            with contextlib.suppress(OSError):
                _overwrite(left)
                left.unlink()


def _may_be_written(draft: Path) -> bool:
    """Tell whether the run that a draft belongs to is still going on, by its number, else by its age."""
    number = draft.name.split(".")[-2]
    if os.name == "posix" and number.isdecimal():
        try:
            os.kill(int(number), 0)
        except ProcessLookupError:
            return False
        except OSError:
            pass  # somebody else's, or ours: it goes on
    return draft.stat().st_mtime > time.time() - _ABANDONED_SECONDS


def _overwrite(target: Path) -> None:
    with open(target, "r+b") as stream:
        stream.write(bytes(target.stat().st_size))
        stream.flush()
        os.fsync(stream.fileno())


def _refusal(path: Path, error: OSError) -> MemchatError:
    if error.errno == errno.ENOSPC:
        return StoreFull(f"The disk is full: {path} was not written.")
    return MemchatError(f"{path} cannot be written: {(error.strerror or 'unknown reason').lower()}.")
