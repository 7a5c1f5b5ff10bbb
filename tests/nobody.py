"""Whether a test may become another user: as root, on files that this other user can read."""

import importlib.util
import os
from pathlib import Path

import pytest

NOBODY = 65534


def _readable_by_all(path: Path) -> bool:
    return path.stat().st_mode & 0o004 != 0 and all(folder.stat().st_mode & 0o001 for folder in path.parents)


def _can_become_nobody() -> bool:
    if os.name != "posix" or os.geteuid() != 0:
        return False
    found = importlib.util.find_spec("sqlite_vec")
    places = [Path(__file__), Path(found.origin) if found and found.origin else None]
    return all(place is not None and _readable_by_all(place) for place in places)


as_nobody = pytest.mark.skipif(
    not _can_become_nobody(), reason="must be root, with an installation that other users can read"
)
