"""Rows of what it takes to start: help, a list, the prompt."""

import os
import select
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Final

from tests.benchmarks.lab import Lab
from tests.benchmarks.measure import Contestant, Pairs, race
from tests.benchmarks.peers import own_python
from tests.benchmarks.report import Line, Skipped, ratio_line
from tests.benchmarks.stock import user_name

_ROOT: Final = Path(__file__).parents[2]
_ROUNDS: Final = 12
_MEMCHAT: Final = "from memchat.cli import run; run()"
_LLM: Final = "from llm.cli import cli; cli()"
_TYPER: Final = """import typer
app = typer.Typer()
@app.callback()
def all_() -> None: ...
@app.command("list")
def nothing() -> None: ...
app()
"""
_EMPTY_PROMPT: Final = """import typer
from prompt_toolkit import PromptSession
PromptSession().prompt("> ")
"""
_PROMPT_SECONDS: Final = 30.0
_KEY: Final = b"\xc3\xa9"  # a letter that no drawing has


def start(lab: Lab) -> list[Line]:
    """`memchat --help` and `memchat list`, beside a Typer app with one empty command, and beside `llm`."""
    help_, typer_help = _race(lab, [_cpu(lab, _MEMCHAT, "--help"), _cpu(lab, _TYPER, "--help")])
    path = str(lab.stock(lab.count(900)))
    ours = _cpu(lab, _MEMCHAT, "--db", path, "--user", user_name(0), "list")
    listed, typer_listed = _race(lab, [ours, _cpu(lab, _TYPER, "list")])
    return [
        ratio_line("start", "memchat --help", "Typer, one empty command", Pairs(help_, typer_help), 1.3),
        ratio_line("start", "memchat list", "Typer, one empty command", Pairs(listed, typer_listed), 1.6),
        _beside_llm(lab),
    ]


def prompt(lab: Lab) -> list[Line]:
    """From the command to a prompt that takes keys, beside an empty prompt-toolkit prompt."""
    if os.name != "posix":
        raise Skipped("a prompt is only measured where there are pseudo-terminals")
    path = str(lab.stock(lab.count(900)))
    arguments = ("--db", path, "--user", user_name(0), "--engine", "ollama", "--host", "http://127.0.0.1:9")
    ours, theirs = _race(lab, [_until_prompt(lab, _MEMCHAT, *arguments), _until_prompt(lab, _EMPTY_PROMPT)])
    against = "typer and an empty prompt-toolkit prompt"
    return [ratio_line("prompt", "start to a usable prompt", against, Pairs(ours, theirs), 1.5, clock="wall")]


def _race(lab: Lab, contestants: list[Contestant]) -> list[tuple[float, ...]]:
    return [tuple(seconds) for seconds in race(contestants, lab.rounds(_ROUNDS), warm=1)]


def _beside_llm(lab: Lab) -> Line:
    what = "memchat --help"
    try:
        lab.peers.require("llm", "llm")
    except Skipped as reason:
        return Line("start", what, note=str(reason))
    theirs = _cpu(lab, _LLM, "--help", python=str(lab.peers.python))
    ours, peer = _race(lab, [_cpu(lab, _MEMCHAT, "--help"), theirs])
    return ratio_line("start", what, f"llm {lab.peers.version('llm')} --help", Pairs(ours, peer), 0.25)


def _environment(lab: Lab) -> dict[str, str]:
    home = {name: str(lab.work) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "LLM_USER_PATH")}
    # Installed programs are compiled: so is this one, in the round that warms up, whatever the shell says of bytecode.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    compiled = {"PYTHONPYCACHEPREFIX": str(lab.work / "bytecode")}
    plain = {"PYTHONPATH": str(_ROOT), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    return inherited | home | compiled | plain


def _cpu(lab: Lab, code: str, *arguments: str, python: str = "") -> Contestant:
    """Count the processor time of a whole run."""
    environment = _environment(lab)
    if python:
        environment.pop("PYTHONPATH")

    def run(turn: int) -> float:
        process = subprocess.Popen(
            [python or own_python(), "-c", code, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=lab.work,
        )
        _, told = process.communicate() if not hasattr(os, "wait4") else (None, b"")
        if not hasattr(os, "wait4"):
            raise Skipped("processor times of other programs cannot be read on this system")
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.stderr is not None
        told = process.stderr.read()
        process.stderr.close()
        if process.returncode:
            raise Skipped(f"it failed: {told.decode(errors='replace').strip()[-200:]}")
        return used.ru_utime + used.ru_stime

    return run


def _until_prompt(lab: Lab, code: str, *arguments: str) -> Contestant:
    """Count the time until a prompt on a pseudo-terminal stands and has shown a key."""
    import pty

    environment = _environment(lab)

    def run(turn: int) -> float:
        master, slave = pty.openpty()
        started = perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], stdin=slave, stdout=slave, stderr=slave, env=environment
        )
        os.close(slave)
        try:
            _wait_for(master, b"m>")  # both prompts are drawn with a style before them
            os.write(master, _KEY)
            _wait_for(master, _KEY)
            return perf_counter() - started
        finally:
            process.kill()
            process.wait()
            os.close(master)

    return run


def _wait_for(master: int, wanted: bytes) -> None:
    seen, until = b"", perf_counter() + _PROMPT_SECONDS
    while wanted not in seen:
        readable, _, _ = select.select([master], [], [], max(0.0, until - perf_counter()))
        if not readable:
            raise Skipped(f"no prompt within {_PROMPT_SECONDS:.0f} s")
        try:
            seen += os.read(master, 65536)
        except OSError as error:  # the program ended
            raise Skipped(f"it ended without a prompt: {seen[-200:]!r}") from error
