"""Runs memchat as a shell would, in this process: `run("list", "--json")` gives status, stdout and stderr."""

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from memchat.cli import main


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str

    @property
    def json(self) -> object:
        return json.loads(self.out)


class Shell:
    """A home folder of its own, an engine host of its own, nothing of the machine's environment."""

    def __init__(self, home: Path, host: str = "http://127.0.0.1:9") -> None:
        self.home = home
        self.environ = {
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "MEMCHAT_HOST": host,
            "PATH": os.environ["PATH"],
            "TZ": os.environ.get("TZ", "UTC"),
        }
        if "COVERAGE_PROCESS_START" in os.environ:
            self.environ["COVERAGE_PROCESS_START"] = os.environ["COVERAGE_PROCESS_START"]

    @property
    def db(self) -> Path:
        return self.home / "data" / "memchat" / "memory.db"

    @property
    def config(self) -> Path:
        return self.home / "config" / "memchat" / "config.toml"

    def run(self, *argv: object, stdin: str | bytes = b"") -> Result:
        out, err = io.StringIO(), io.StringIO()
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        typed = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", errors="replace")
        with (
            patch.dict(os.environ, self.environ, clear=True),
            patch.object(sys, "stdin", typed),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            status = main([str(part) for part in argv])
        return Result(status, out.getvalue(), err.getvalue())

    def ok(self, *argv: object, stdin: str | bytes = b"") -> Result:
        """Run a command that must succeed."""
        result = self.run(*argv, stdin=stdin)
        assert result.status == 0, (argv, result)
        return result

    def remember(self, text: str, *more: object) -> int:
        memory = self.ok("remember", text, *more, "--json").json
        assert isinstance(memory, dict)
        return int(memory["id"])
