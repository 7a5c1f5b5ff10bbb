"""Writing in the user's own editor, on a file that only they can read and that is wiped afterwards."""

import contextlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from memchat.errors import UsageError
from memchat.paths import memory_folder
from memchat.text import clean

_FALLBACKS: Final = ("nano", "vim", "vi", "notepad")


def edit_text(text: str, environ: Mapping[str, str] | None = None) -> str:
    """Return `text` as the user left it in the editor; raises UsageError when no editor runs or it fails."""
    command = find_editor(os.environ if environ is None else environ)
    folder = Path(tempfile.mkdtemp(prefix="memchat-", dir=memory_folder()))
    draft = folder / "message.md"
    try:
        _write(draft, text)
        _run([*command, str(draft)])
        return clean(draft.read_text(encoding="utf-8", errors="replace")).rstrip("\n")
    except OSError as error:
        raise UsageError(f"The editor {command[0]!r} cannot be used: {error.strerror or error}.") from None
    finally:
        _wipe(folder)


def find_editor(environ: Mapping[str, str]) -> list[str]:
    """Return the command of the user's editor: VISUAL, EDITOR, else the first common one; raises UsageError."""
    for name in ("VISUAL", "EDITOR"):
        if wanted := environ.get(name, "").strip():
            return shlex.split(wanted, posix=os.name == "posix")
    for program in _FALLBACKS:
        if found := shutil.which(program):
            return [found]
    raise UsageError("There is no editor; set the variable EDITOR to one.")


def _run(command: list[str]) -> None:
    status = subprocess.run(command, check=False).returncode
    if status:
        raise UsageError(f"The editor {command[0]!r} ended with status {status}; nothing was changed.")


def _write(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text + "\n")


def _wipe(folder: Path) -> None:
    """Overwrite and delete the draft and whatever the editor left beside it (swap and backup files)."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with contextlib.suppress(OSError), open(path, "r+b") as stream:
                stream.write(bytes(path.stat().st_size))
                stream.flush()
                os.fsync(stream.fileno())
    shutil.rmtree(folder, ignore_errors=True)
