"""A row of what a person waits for: from the command to the prompt, and from Enter to the first word of the answer.

All programs talk with the same stand-in of an Ollama server, which answers at once: what is measured is theirs.
"""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Final

from tests.benchmarks.lab import Lab
from tests.benchmarks.measure import Contestant, Pairs, race
from tests.benchmarks.report import Line, Skipped, ratio_line
from tests.benchmarks.stock import Words
from tests.standin import StandIn

_ROOT: Final = Path(__file__).parents[2]
_ROUNDS: Final = 10
_MODEL: Final = "llama3.2:3b"
_ANSWER: Final = "Zanzibar"
_MEMCHAT: Final = "from memchat.cli import run; run()"
_LLM: Final = "from llm.cli import cli; cli()"
_OTERM: Final = "from oterm.cli.oterm import cli; cli()"
_SECONDS: Final = 60.0
_TYPING: Final = 2.0  # seconds that a person takes for a message


@dataclass(frozen=True, slots=True)
class _Program:
    """What is started, and what stands on the screen once it takes a message."""

    command: Sequence[str]
    environment: Mapping[str, str]
    ready: bytes


def beside(lab: Lab) -> list[Line]:
    """Start to prompt, and Enter to the first word on the screen, beside `llm chat` and `oterm`."""
    if os.name != "posix":
        raise Skipped("a prompt is only measured where there are pseudo-terminals")
    with StandIn([_MODEL, "nomic-embed-text"], lambda *_: _ANSWER) as server:
        ours = _memchat(lab, server)
        return [*_beside_llm(lab, server, ours), _beside_oterm(lab, server, ours)]


def _beside_llm(lab: Lab, server: StandIn, ours: _Program) -> list[Line]:
    try:
        lab.peers.require("llm", "llm")
        lab.peers.require("llm-ollama", "llm_ollama")
    except Skipped as reason:
        return [Line("beside", "start to the prompt", note=str(reason))]
    command = (str(lab.peers.python), "-c", _LLM, "chat", "-m", f"ollama/{_MODEL}")
    llm = _Program(command, _environment(lab, server), b"> ")
    name = f"llm {lab.peers.version('llm')} chat"
    started = _race(lab, [_start(ours), _start(llm)])
    first = _race(lab, [_ask(ours, 1), _ask(llm, 1)])
    later = _race(lab, [_ask(ours, 2), _ask(llm, 2)])
    loading = f"{_TYPING:.0f} s after the prompt, while memchat may still load what it works with"
    working = "memchat searches 900 memories before it asks, and writes the message down"
    return [
        ratio_line("beside", "start to the prompt", name, started, 1.0, clock="wall"),
        ratio_line("beside", "first Enter to the first word", name, first, clock="wall", note=loading),
        ratio_line("beside", "later Enter to the first word", name, later, 1.5, clock="wall", note=working),
    ]


def _beside_oterm(lab: Lab, server: StandIn, ours: _Program) -> Line:
    what = "start to the prompt"
    try:
        lab.peers.require("oterm", "oterm")
    except Skipped as reason:
        return Line("beside", what, note=str(reason))
    folder = lab.folder("oterm")
    (folder / "config.json").write_text('{"splash-screen": false}', encoding="utf-8")
    environment = _environment(lab, server) | {"OTERM_DATA_DIR": str(folder)}
    oterm = _Program((str(lab.peers.python), "-c", _OTERM), environment, b"palet")  # of its last line
    pairs = _race(lab, [_start(ours), _start(oterm)])
    return ratio_line("beside", what, f"oterm {lab.peers.version('oterm')}", pairs, 1.0, clock="wall")


def _memchat(lab: Lab, server: StandIn) -> _Program:
    """Return memchat with a file of 900 memories that the stand-in has embedded."""
    folder, words = lab.folder("beside"), Words(3)
    environment = _environment(lab, server) | {"PYTHONPATH": str(_ROOT), "MEMCHAT_DB": str(folder / "memory.db")}
    rows = [{"text": words.memory(number).text, "ref": str(number)} for number in range(lab.count(900))]
    start = (sys.executable, "-c", _MEMCHAT)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    subprocess.run([*start, "import", "-"], input=lines, text=True, capture_output=True, env=environment, check=True)
    return _Program(start, environment, b"m>")  # the prompt has a style before it


def _environment(lab: Lab, server: StandIn) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    home = {name: str(lab.work) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "LLM_USER_PATH")}
    terminal = {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", "OLLAMA_HOST": server.url}
    return inherited | home | terminal | {"PYTHONPYCACHEPREFIX": str(lab.work / "bytecode")}


def _race(lab: Lab, contestants: list[Contestant]) -> Pairs:
    ours, theirs = race(contestants, lab.rounds(_ROUNDS), warm=1)
    return Pairs(tuple(ours), tuple(theirs))


def _start(program: _Program) -> Contestant:
    """Count the time until the program takes a message."""
    return lambda turn: _Screen(program).close()


def _ask(program: _Program, messages: int) -> Contestant:
    """Count the time from Enter to the first word of the answer to the last of so many messages."""

    def run(turn: int) -> float:
        screen, seconds = _Screen(program), 0.0
        try:
            for number in range(messages):
                time.sleep(_TYPING)
                seconds = screen.until(f"Where did I say that I live, {turn}.{number}?\r".encode(), _ANSWER.encode())
            return seconds
        finally:
            screen.close()

    return run


class _Screen:
    """A program that runs on a pseudo-terminal and has come as far as its prompt."""

    def __init__(self, program: _Program) -> None:
        import fcntl
        import pty
        import struct
        import termios

        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        started = perf_counter()
        self._process = subprocess.Popen(
            program.command, stdin=slave, stdout=slave, stderr=slave, env=dict(program.environment)
        )
        os.close(slave)
        try:
            self._wait_for(program.ready)
        except Skipped:
            self.close()
            raise
        self._started = perf_counter() - started

    def until(self, keys: bytes, wanted: bytes) -> float:
        """Type `keys` and return the seconds until `wanted` stands on the screen."""
        os.write(self._master, keys[:-1])
        self._wait_for(keys[-2:-1])  # typed, and shown
        pressed = perf_counter()
        os.write(self._master, keys[-1:])
        self._wait_for(wanted)
        return perf_counter() - pressed

    def close(self) -> float:
        """End the program; return the seconds that its prompt took."""
        self._process.kill()
        self._process.wait()
        os.close(self._master)
        return getattr(self, "_started", 0.0)

    def _wait_for(self, wanted: bytes) -> None:
        seen, until = b"", perf_counter() + _SECONDS
        while wanted not in seen:
            readable, _, _ = select.select([self._master], [], [], max(0.0, until - perf_counter()))
            if not readable:
                raise Skipped(f"{wanted!r} did not come within {_SECONDS:.0f} s: {seen[-200:]!r}")
            try:
                seen += os.read(self._master, 65536)
            except OSError as error:
                raise Skipped(f"it ended too soon: {seen[-200:]!r}") from error
