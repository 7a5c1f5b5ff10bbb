"""How much memory this machine has and how much room a folder's disk."""

import os
import shutil
from pathlib import Path
from typing import Final

_GROUP_LIMITS: Final = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def total_memory() -> int | None:
    """Return the bytes of memory that this process may use at most; None where the system does not tell."""
    limits = [limit for limit in (_physical(), *map(_group_limit, _GROUP_LIMITS)) if limit]
    return min(limits, default=None)


def free_disk(folder: Path) -> int:
    """Return the free bytes on the disk that holds `folder`, or will hold it."""
    there = folder.absolute()
    while not os.path.exists(there):
        there = there.parent
    return shutil.disk_usage(there).free


def _physical() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _group_limit(path: str) -> int | None:
    """Return the limit of this container; the older file tells a huge number where there is none."""
    try:
        text = Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return int(text) if text.isdecimal() else None
