"""The file that keeps what was typed, for arrow-up and search: private and without secrets.

Its format is that of prompt-toolkit's history: a blank line, a time after `#`, then each line after `+`. Forgetting
(`memchat.curate`) takes entries out of it.
"""

import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from memchat.paths import PRIVATE_FILE
from memchat.text import clean

_LONGEST: Final = 20_000  # characters: a pasted book is not worth arrow-up
_MOST: Final = 5_000  # entries kept when the file is trimmed
_TRIM_BYTES: Final = 4_000_000


def add_typed(path: Path, text: str, now: datetime) -> None:
    """Append what may be kept of one message; the file is made readable by its owner only. Raises OSError."""
    from memchat.chat.private import separate  # late, here and below: the first prompt only reads the file

    kept = clean(separate(text).kept).strip()
    if not kept or len(kept) > _LONGEST:
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The mode is set as the file is made: afterwards would leave a moment in which others can open it.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
    with open(descriptor, "a", encoding="utf-8", newline="\n") as stream:
        stream.write(_entry(now.isoformat(), kept))


def read_typed(path: Path) -> list[str]:
    """Return the entries, oldest first; a missing or unreadable file has none."""
    return [text for _, text in _entries(path)]


def trim_typed(path: Path) -> None:
    """Drop the oldest entries of a file that has grown large, and close one that others could read."""
    try:
        status = path.stat()
        if os.name == "posix" and status.st_mode & 0o077:
            path.chmod(PRIVATE_FILE)
    except OSError:
        return
    if status.st_size > _TRIM_BYTES:
        from memchat.curate.private_files import write_private

        write_private(path, (_entry(at, text) for at, text in list(_entries(path))[-_MOST:]), wipe_old=True)


def _entry(at: str, text: str) -> str:
    lines = "".join(f"+{line}\n" for line in text.split("\n"))
    return f"\n# {at}\n{lines}"


def _entries(path: Path) -> Iterator[tuple[str, str]]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return
    yield from _group(lines)


def _group(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    at, text = "", []
    for line in [*lines, ""]:
        if line.startswith("+"):
            text.append(line[1:])
            continue
        if text:
            yield at, "\n".join(text)
            text = []
        if line.startswith("# "):
            at = line[2:]
