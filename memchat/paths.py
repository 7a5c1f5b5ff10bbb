"""Where things lie on this machine, by the habits of the platform."""

import contextlib
import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memchat.errors import UsageError

DEFAULT_USER: Final = "default"
PRIVATE_FILE: Final = 0o600  # the mode of a file that only its owner may read
_PLAIN: Final = "abcdefghijklmnopqrstuvwxyz0123456789_-"
_LONGEST_NAME: Final = 100
_LONGEST: Final = 1 << 30  # bytes; a device such as /dev/zero has no end


@dataclass(frozen=True, slots=True)
class Paths:
    """Files and folders of one installation; nothing is created here."""

    config: Path
    db: Path
    models: Path
    history: Path
    log: Path


def locate(db: str | None = None, config: str | None = None, user: str = DEFAULT_USER) -> Paths:
    """Return the paths in force; options win over the platform's folders. Each user of a file has an input history."""
    import platformdirs  # late: a third of the time of `memchat --help`

    data = Path(platformdirs.user_data_dir("memchat", appauthor=False))
    settings = Path(platformdirs.user_config_dir("memchat", appauthor=False)) / "config.toml"
    usual = data / "memory.db"
    file = _expanded(db) if db else usual
    return Paths(
        config=_expanded(config) if config else settings,
        db=file,
        models=data / "models",
        history=Path(f"{_history_stem(file, usual)}{_user_suffix(user)}"),
        log=data / "memchat.log",
    )


def list_histories(paths: Paths) -> list[Path]:
    """Return the input histories of all users of the memory file that are there."""
    stem = _history_stem(paths.db, paths.models.with_name("memory.db"))
    others = sorted(stem.parent.glob(f"{glob.escape(stem.name)}-*")) if os.path.isdir(stem.parent) else []
    return [file for file in (stem, *others) if os.path.isfile(file)]


def _history_stem(db: Path, usual: Path) -> Path:
    """Return the default user's input history: what is typed for one memory file is no other file's business."""
    with contextlib.suppress(OSError, ValueError):  # what names no file is refused where it is opened
        real = os.path.realpath(db)
        if real != os.path.realpath(usual):
            return Path(f"{real}-history")
    return usual.with_name("history")


def _user_suffix(user: str) -> str:
    """Return an end of a file name for each user, also where names differ only in case or in odd characters."""
    if user == DEFAULT_USER:
        return ""
    safe = "".join(c if c in _PLAIN else "".join(f"%{byte:02x}" for byte in c.encode()) for c in user)
    if len(safe) > _LONGEST_NAME:
        import hashlib  # late: it loads OpenSSL

        safe = f"{safe[:20]}-{hashlib.sha256(user.encode()).hexdigest()[:32]}"
    return f"-{safe}"


def typed_path(typed: str | Path) -> Path:
    """Return a path that somebody typed, with `~` as in a shell; raises UsageError when that names no file."""
    path = _expanded(typed)
    if str(typed) == "-":
        raise UsageError("Here - stands for nothing: name a file (./- for one of that name).")
    if "\0" in str(path):
        raise UsageError("A file name cannot hold a NUL character.")
    if str(path).startswith("~") and path.parts[0] != "~":
        raise UsageError(f"There is no user {path.parts[0].removeprefix('~')} whose folder {path} could lie in.")
    return path


def read_outside(path: Path) -> bytes:
    """Return the content of a file or pipe that somebody named; raises UsageError when it is none, or far too long."""
    try:
        with path.open("rb") as stream:
            content = stream.read(_LONGEST + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {(error.strerror or 'unknown reason').lower()}.") from None
    if len(content) > _LONGEST:
        raise UsageError(f"{path} is longer than {_LONGEST >> 20} MB; split it.")
    return content


def memory_folder() -> str | None:
    """Return the login session's own folder, which lies in memory and reaches no disk; None where there is none."""
    folder = os.environ.get("XDG_RUNTIME_DIR")
    return folder if folder and os.path.isdir(folder) and os.access(folder, os.W_OK) else None


def _expanded(typed: str | Path) -> Path:
    """Return a path with `~` filled in where it can be; unlike `Path.expanduser` it never raises."""
    return Path(os.path.expanduser(typed))
