"""The programs that memchat is measured against, in an environment of their own that the suite makes and may delete."""

import json
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from tests.benchmarks.report import Skipped

_SCRIPT: Final = Path(__file__).with_name("peer_search.py")
_INSTALL_SECONDS: Final = 900


@dataclass(frozen=True, slots=True)
class Peers:
    """The environment in `folder`; packages are installed into it at first use."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def require(self, package: str, module: str) -> None:
        """Make sure that a package is there; raises Skipped with the reason when it cannot be had."""
        if not self.python.exists():
            venv.create(self.folder, with_pip=True)
        if self._run("-c", f"import {module}"):
            return
        if not self._run("-m", "pip", "install", "--quiet", package):
            raise Skipped(f"{package} cannot be installed into {self.folder}; is there a network?")

    def version(self, package: str) -> str:
        """Return the version of an installed package."""
        code = f"import importlib.metadata as m; print(m.version({package!r}))"
        ran = subprocess.run([self.python, "-c", code], capture_output=True, text=True, check=True)
        return ran.stdout.strip()

    def _run(self, *arguments: str) -> bool:
        try:
            ran = subprocess.run(
                [str(self.python), *arguments], capture_output=True, timeout=_INSTALL_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return ran.returncode == 0


class SearchPeer:
    """A vector database in another process, asked one search at a time; it times itself, so that no pipe counts."""

    def __init__(self, peers: Peers, name: str, folder: Path, vectors: Path, queries: Path, users: int) -> None:
        self._process = subprocess.Popen(
            [str(peers.python), str(_SCRIPT), name, str(folder), str(vectors), str(queries), str(users)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "ANONYMIZED_TELEMETRY": "False", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        self._answer()

    def search(self, turn: int) -> float:
        """Return the processor seconds of one search."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{turn}\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> float:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise Skipped("the peer's process ended; run its script by hand to see why")
        return float(json.loads(line)["seconds"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


def own_python() -> str:
    """Return the interpreter that runs the suite."""
    return sys.executable
