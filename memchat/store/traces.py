"""Looking for erased words and vectors in raw bytes: many needles at once, in files of any size."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memchat.store.connection import Database

CHUNK: Final = 8 << 20
_OVERLAP: Final = 4096  # longer than any needle
_SHORTEST: Final = 4  # bytes; less is found anywhere by chance
_PIECE: Final = 100  # characters of a long text that are looked for at one place: a page holds them in one run
_STRIDE: Final = 1000
_FEW: Final = 24  # needles up to which a plain search is quicker
_MOST_PLAIN: Final = 2000  # needles without an anchor that are looked for one by one, spread over all of them
_WINDOW: Final = 32  # bytes of a vector; more would often cross the end of a page
# Whole runs of letters, in UTF-8 and in both orders of UTF-16: one inside a needle is a whole run in a file too.
_ANCHORS: Final = tuple(
    re.compile(pattern) for pattern in (rb"[A-Za-z]{4,}", rb"(?:[A-Za-z]\x00){4,}", rb"(?:\x00[A-Za-z]){4,}")
)


@dataclass(frozen=True, slots=True)
class Needle:
    """Bytes to look for, and the words they come from ("" for a vector)."""

    content: bytes
    words: str


class Needles:
    """Finds any of many byte strings in a chunk, by an anchor inside each where there is one."""

    def __init__(self, needles: Sequence[Needle]) -> None:
        self._plain: list[Needle] = []
        self._anchored: dict[bytes, list[tuple[int, Needle]]] = {}
        for needle in needles:
            anchor = _anchor(needle.content) if len(needles) > _FEW else None
            if anchor is None:
                self._plain.append(needle)
            else:
                self._anchored.setdefault(anchor[0], []).append((anchor[1], needle))
        self._plain = self._plain[:: max(1, len(self._plain) // _MOST_PLAIN)]

    def found_in(self, chunk: bytes) -> Iterator[Needle]:
        """Yield the needles that stand in the chunk."""
        yield from (needle for needle in self._plain if needle.content in chunk)
        if not self._anchored:
            return
        for pattern in _ANCHORS:
            for run in pattern.finditer(chunk):
                for offset, needle in self._anchored.get(run[0], ()):
                    if chunk.startswith(needle.content, max(0, run.start() - offset)):
                        yield needle


def text_needles(texts: Iterable[str]) -> list[Needle]:
    """Return what to look for: pieces of each text in UTF-8 and UTF-16, and as JSON would write it."""
    found: dict[bytes, Needle] = {}
    for text in texts:
        for piece in _pieces(text):
            forms = [piece.encode("utf-8"), piece.encode("utf-16-le"), piece.encode("utf-16-be")]
            forms.append(json.dumps(piece, ensure_ascii=False)[1:-1].encode("utf-8"))
            for form in forms:
                if len(form) >= _SHORTEST:
                    found.setdefault(form, Needle(form, piece))
    return list(found.values())


def vector_needles(vectors: Iterable[bytes]) -> list[Needle]:
    """Return windows at the start, middle and end of each vector that are no mere zeros."""
    windows = {
        vector[place : place + _WINDOW]
        for vector in vectors
        for place in (0, len(vector) // 2 & ~3, max(0, len(vector) - _WINDOW))
    }
    return [Needle(window, "") for window in sorted(windows) if len(window.replace(b"\x00", b"")) > _WINDOW // 2]


def search_store(database: Database, needles: Needles) -> dict[str, set[Needle]]:
    """Look through the memory file and its WAL; return what was found by file name, also for files without finds."""
    path = database.path
    found = {path.name: _search(_chunks(database, wal=False), needles)}
    found[f"{path.name}-wal"] = _search(_chunks(database, wal=True), needles)
    return found


def search_file(path: Path, needles: Needles) -> set[Needle]:
    """Look through any other file; nothing is found in one that cannot be read."""
    return _search(_file_chunks(path), needles)


def _search(chunks: Iterable[bytes], needles: Needles) -> set[Needle]:
    return {needle for chunk in chunks for needle in needles.found_in(chunk)}


def _chunks(database: Database, *, wal: bool) -> Iterator[bytes]:
    offset = 0
    while chunk := database.read_bytes(offset, CHUNK, wal=wal):
        yield chunk
        if len(chunk) < CHUNK:
            return
        offset += CHUNK - _OVERLAP


def _file_chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
            if len(chunk) < CHUNK:
                return
            file.seek(-_OVERLAP, 1)


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, max(1, len(text)), _STRIDE):
        piece = text[start : start + _PIECE].strip()
        if piece:
            yield piece


def _anchor(content: bytes) -> tuple[bytes, int] | None:
    """Return the longest run of letters inside the content, and where; its ends may touch letters of a neighbour."""
    runs = [
        run for pattern in _ANCHORS for run in pattern.finditer(content) if run.start() > 0 and run.end() < len(content)
    ]
    best = max(runs, key=lambda run: len(run[0]), default=None)
    return None if best is None else (best[0], best.start())
