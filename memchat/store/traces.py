"""Looking for erased words and vectors in raw bytes, in files of any size and in bounded time."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memchat.store.connection import Database

CHUNK: Final = 8 << 20
_OVERLAP: Final = 4096  # longer than any needle
_SHORTEST: Final = 4  # bytes; less is found anywhere by chance
_PIECE: Final = 100  # characters of a long text that are looked for at one place: a page holds them in one run
_STRIDE: Final = 1000
_WINDOW: Final = 32  # bytes of a vector; more would often cross the end of a page
_BUDGET: Final = 6 << 30  # bytes compared in one search, some seconds; above it texts are taken evenly from all
_FEWEST: Final = 16


@dataclass(frozen=True, slots=True)
class Needle:
    """Bytes to look for, and the words they come from ("" for a vector)."""

    content: bytes
    words: str


def text_needles(texts: Iterable[str]) -> list[Needle]:
    """Return pieces of each text in UTF-8, which is how SQLite writes."""
    return _long_enough(Needle(piece.encode("utf-8"), piece) for piece in _all_pieces(texts))


def other_needles(texts: Iterable[str]) -> list[Needle]:
    """Return the same pieces in UTF-16, and as JSON writes them where that differs."""
    return _long_enough(Needle(form, piece) for piece in _all_pieces(texts) for form in _other_forms(piece))


def vector_needles(vectors: Iterable[bytes]) -> list[Needle]:
    """Return windows at the start, middle and end of each vector that are no mere zeros."""
    windows = {
        vector[place : place + _WINDOW]
        for vector in vectors
        for place in (0, len(vector) // 2 & ~3, max(0, len(vector) - _WINDOW))
    }
    return [Needle(window, "") for window in sorted(windows) if len(window.replace(b"\x00", b"")) > _WINDOW // 2]


def most_needles(size: int) -> int:
    """Return how many needles can be looked for in `size` bytes."""
    return max(_FEWEST, _BUDGET // max(1, size))


def spread(texts: Collection[str], most: int) -> list[str]:
    """Return at most about that many of the texts, taken evenly from all of them."""
    return list(texts)[:: -(-len(texts) // most)] if len(texts) > most else list(texts)


def search_store(database: Database, needles: Sequence[Needle]) -> dict[str, set[Needle]]:
    """Look through the memory file and its WAL; return what was found by file name, also for files without finds."""
    path = database.path
    return {
        path.name: _search(_chunks(database, wal=False), needles),
        f"{path.name}-wal": _search(_chunks(database, wal=True), needles),
    }


def search_file(path: Path, needles: Sequence[Needle]) -> set[Needle]:
    """Look through any other file."""
    return _search(_file_chunks(path), needles)


def _search(chunks: Iterable[bytes], needles: Sequence[Needle]) -> set[Needle]:
    return {needle for chunk in chunks for needle in needles if needle.content in chunk}


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


def _long_enough(needles: Iterable[Needle]) -> list[Needle]:
    return [needle for needle in needles if len(needle.content) >= _SHORTEST]


def _all_pieces(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(piece for text in texts for piece in _pieces(text)))


def _other_forms(piece: str) -> set[bytes]:
    """Return the UTF-16 of both orders, and the JSON string where it differs."""
    written = json.dumps(piece, ensure_ascii=False)[1:-1].encode("utf-8")
    return {piece.encode("utf-16-le"), piece.encode("utf-16-be"), written} - {piece.encode("utf-8")}


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, max(1, len(text)), _STRIDE):
        piece = text[start : start + _PIECE].strip()
        if piece:
            yield piece
