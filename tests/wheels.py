"""Small packs and wheels for the tests of fetching: real zip files, a download that copies them."""

import hashlib
import shutil
import zipfile
from pathlib import Path
from threading import Event

import pytest

from memchat.engine.fetch import fetch
from memchat.engine.pack_table import Pack, PackFile, Part
from memchat.errors import EngineFailed

CONTENTS = (b"one" * 1000, b"two" * 1000, b"three" * 10)  # of the parts of the toy pack


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def make_pack(folder: Path, *contents: bytes, name: str = "toy", package: str = "toy-part") -> Pack:
    """Return a pack of one file whose parts are `contents`, with their wheels written into `folder`."""
    parts = tuple(
        make_part(folder, f"{package}{number}", content, member=f"{package.replace('-', '_')}{number}/part.bin")
        for number, content in enumerate(contents, 1)
    )
    whole = b"".join(contents)
    return Pack(name, "chat", "Toy", "MIT", 1000, (PackFile("toy.gguf", len(whole), sha256(whole), parts),))


def make_part(
    folder: Path, package: str, content: bytes, *, member: str = "part.bin", says: bytes | None = None
) -> Part:
    """Write a wheel that holds `says` (else `content`), and return the part that pins `content`."""
    wheel = write_wheel(folder, package, {member: content if says is None else says})
    return Part(package, "1.0", member, len(content), sha256(content), wheel.stat().st_size)


def write_wheel(folder: Path, package: str, members: dict[str, bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    module = package.replace("-", "_")
    path = folder / f"{module}-1.0-py3-none-any.whl"
    info = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
        for name, content in members.items():
            archive.writestr(name, content)
    return path


class Shelf:
    """A download that copies wheels from a folder, and remembers which packages were asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[str] = []
        self.failure: dict[str, Exception] = {}

    def __call__(self, part, landing, stop):
        self.asked.append(part.package)
        if part.package in self.failure:
            raise self.failure[part.package]
        yield 1
        wheel = self.folder / f"{part.package.replace('-', '_')}-1.0-py3-none-any.whl"
        if wheel.exists():
            shutil.copy(wheel, landing)
        yield part.download


def get(pack, models, shelf, stop=None):
    """Fetch the pack whole; return the steps."""
    return list(fetch(pack, models, stop or Event(), shelf))


def fail_at(pack, models, shelf, number, error=None):
    """Fetch the pack as far as part `number`, where it breaks off."""
    shelf.failure = {pack.main.parts[number - 1].package: error or EngineFailed("The line broke.")}
    with pytest.raises((EngineFailed, KeyboardInterrupt)):
        get(pack, models, shelf)
    shelf.failure, shelf.asked = {}, []
