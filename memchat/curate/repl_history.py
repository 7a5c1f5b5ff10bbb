"""The file in which the chat keeps what was typed: taking out the entries that quote what is forgotten.

The format is prompt-toolkit's: a comment line with the time, then each line of the entry behind a "+".
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from memchat.curate.private_files import delete_drafts, write_private
from memchat.errors import MemchatError


def strip_history(path: Path, quotes: Callable[[str], bool]) -> int:
    """Rewrite the file without the entries that `quotes` names, overwriting the old bytes; return how many went.

    A file without any entry left goes: its name tells of a user.
    """
    try:
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as stream:
            entries = list(_entries(stream))
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise MemchatError(f"The input history {path} cannot be read: {(error.strerror or '').lower()}.") from None
    delete_drafts(path)
    kept = [raw for raw, text in entries if not text or not quotes(text)]
    if len(kept) < len(entries):
        write_private(path, kept, wipe_old=True)
        if not any(text for raw, text in entries if raw in kept):
            path.unlink(missing_ok=True)
    return len(entries) - len(kept)


def _entries(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Yield each entry as it stands, with its text ("" for what belongs to none)."""
    raw: list[str] = []
    text: list[str] = []
    for line in lines:
        if not line.startswith("+") and text:
            yield "".join(raw), "".join(text)
            raw, text = [], []
        raw.append(line)
        if line.startswith("+"):
            text.append(line[1:])
    if raw:
        yield "".join(raw), "".join(text)
