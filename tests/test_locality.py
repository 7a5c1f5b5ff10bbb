"""Nothing leaves the machine: the whole program runs under a guard that fails on any socket to elsewhere."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.commands import Result
from tests.standin import StandIn
from tests.standin_models import remote_stub
from tests.store_stage import ROOT

PROXIES = {
    "HTTP_PROXY": "http://192.0.2.1:3128",
    "HTTPS_PROXY": "http://192.0.2.1:3128",
    "ALL_PROXY": "socks5h://192.0.2.1:1080",
    "http_proxy": "http://192.0.2.1:3128",
    "all_proxy": "socks5h://192.0.2.1:1080",
    "OLLAMA_API_KEY": "key-of-a-cloud-account",
}
DAY = (
    (["setup", "--yes"], ""),
    (["remember", "I keep bees."], ""),
    (["ask", "What do I keep?"], ""),
    (["ask", "I moved to Porto in March."], ""),
    (["learn"], ""),
    (["chat"], "hello\n/memories\n/doctor\n/model\n/inspect bees\nremember that my locker is number 42\n"),
    (["list"], ""),
    (["inspect", "--query", "bees"], ""),
    (["doctor"], ""),
    (["doctor", "--privacy"], ""),
    (["reindex", "--all"], ""),
    (["stats"], ""),
    (["forget", "--query", "Porto", "--yes"], ""),
)


def run_guarded(
    folder: Path, url: str, calls: Sequence[tuple[list[str], str]], **environ: str
) -> tuple[list[Result], str]:
    """Run commands in a process with the guard; return what they gave, and the attempts to leave."""
    report = folder / "attempts"
    ran = subprocess.run(
        [sys.executable, "-m", "tests.socket_guard", report, url, folder / "home", json.dumps(calls)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if "PROXY" not in name.upper()} | environ,
        timeout=100,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    answers = [Result(*answer) for answer in json.loads(ran.stdout.splitlines()[-1])]
    return answers, report.read_text() if report.exists() else ""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_a_whole_day_with_proxies_and_a_cloud_key_set_stays_on_this_machine(home: Path):
    with StandIn(models=["llama3.2:3b"], replies=["Paris"]) as server:
        results, attempts = run_guarded(home.parent, server.url, DAY, **PROXIES)
        assert attempts == ""
        assert [result.status for result in results] == [0] * len(DAY), results
        told = {" ".join(argv): result.out for (argv, _), result in zip(DAY, results, strict=True)}
        assert "Ready: start the chat" in told["setup --yes"]
        listed = [line.split("\t")[3] for line in told["list"].splitlines()]
        assert [text.split()[1] for text in listed] == ["keep", "moved", "locker"]
        assert "I keep bees." in told["inspect --query bees"]
        assert "nothing of it is left" in told["forget --query Porto --yes"]
        assert server.asked("/api/pull"), "the missing model was fetched by Ollama, not by us"
        assert not [request for request in server.requests if "authorization" in request.headers]


def test_what_would_leave_is_refused_before_any_socket_is_opened(home: Path):
    with (
        StandIn(redirect_to="http://192.0.2.1:11434") as redirecting,
        StandIn(models=["llama3.2:3b", remote_stub()]) as relaying,
    ):
        calls = {
            ("--host", "192.0.2.1", "ask", "hello"): 5,
            ("--host", "http://example.org", "ask", "hello"): 5,
            ("--host", "ollama.com", "ask", "hello"): 5,
            ("--host", redirecting.url, "ask", "hello"): 4,
            ("--host", relaying.url, "--model", "harmless", "ask", "hello"): 5,
            ("--host", relaying.url, "--model", "gpt-oss:120b-cloud", "ask", "hello"): 5,
            ("--host", relaying.url, "--embed-model", "harmless", "remember", "I keep bees."): 0,
            ("--host", "192.0.2.1", "remember", "I sew."): 0,  # stored here, and its vector asked of nobody
        }
        results, attempts = run_guarded(home.parent, relaying.url, [(list(argv), "") for argv in calls])
        assert attempts == ""
        assert [result.status for result in results] == list(calls.values())
        assert not relaying.tripped
        assert not relaying.chats + redirecting.chats
        assert not relaying.embedded + redirecting.embedded


def test_the_guard_itself_stops_what_is_allowed_to_leave(home: Path):
    """Were the guard blind, the tests above would say nothing."""
    (home / "config" / "memchat").mkdir(parents=True)
    (home / "config" / "memchat" / "config.toml").write_text('allow_remote = ["192.0.2.1"]\n')
    (result,), attempts = run_guarded(home.parent, "http://192.0.2.1:11434", [(["ask", "hello"], "")])
    assert "192.0.2.1" in attempts
    assert result.status == 4
