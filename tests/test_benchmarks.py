"""The benchmark suite runs and tells what it should; its figures are for people, never asserted."""

import io
import json

import pytest

from tests.benchmarks.command import ROWS, run
from tests.benchmarks.lab import Lab
from tests.benchmarks.measure import Pairs, duel, race
from tests.benchmarks.peers import Peers
from tests.benchmarks.report import Line, Skipped, print_comparison, print_table, ratio_line, write_json


@pytest.fixture
def lab(tmp_path):
    pytest.importorskip("numpy")
    for name in ("work", "cache"):
        (tmp_path / name).mkdir()
    return Lab(tmp_path / "work", tmp_path / "cache", tmp_path / "models", Peers(tmp_path / "peers"), shrink=0.05)


def test_a_row_gives_lines_that_a_table_and_a_file_can_hold(lab, tmp_path):
    lines = run(lab, ["store"])
    assert [line.row for line in lines] == ["store"] * 3
    assert all(line.measured > 0 and line.reference > 0 and line.value > 0 for line in lines)
    out = io.StringIO()
    print_table(lines, out)
    assert "one plain row, committed" in out.getvalue()
    write_json(lines, tmp_path / "new.json", full=False)
    kept = json.loads((tmp_path / "new.json").read_text())
    assert kept["revision"]
    assert [line["what"] for line in kept["lines"]] == [line.what for line in lines]
    assert all(len(line["ours"]) == len(line["theirs"]) == lab.rounds(60) for line in kept["lines"])


def test_a_row_that_cannot_be_measured_says_why(lab):
    (line,) = run(lab, ["import"])
    assert (line.value, line.met) == (None, None)
    assert "memchat setup" in line.note
    out = io.StringIO()
    print_table([line], out)
    assert "skipped" in out.getvalue()


def test_the_command_knows_every_row_and_each_says_what_it_measures():
    assert len(ROWS) == 13
    assert all(row.__doc__ for row in ROWS.values())


def test_ratios_are_taken_round_by_round():
    """A moment in which everything is ten times slower does not move the ratio."""
    pairs = Pairs((2.0, 20.0, 2.0, 2.0), (1.0, 10.0, 1.0, 4.0))
    assert (pairs.ratio, pairs.spread) == (2.0, (1.625, 2.0))
    line = ratio_line("row", "what", "against", pairs, 1.5)
    assert (line.measured, line.reference, line.met) == (2000.0, 2500.0, False)


def test_contestants_take_turns_in_going_first():
    order = []

    def contestant(name):
        return lambda turn: order.append((turn, name)) or 1.0

    taken = race([contestant("a"), contestant("b")], 3, warm=0)
    assert taken == [[1.0] * 3, [1.0] * 3]
    assert order == [(0, "a"), (0, "b"), (1, "b"), (1, "a"), (2, "a"), (2, "b")]


def test_warm_rounds_do_not_count():
    calls = []
    pairs = duel(lambda turn: calls.append(turn) or 1.0, lambda turn: 2.0, 2, warm=1)
    assert len(calls) == 3
    assert (pairs.ours, pairs.theirs) == ((1.0, 1.0), (2.0, 2.0))


@pytest.mark.parametrize(
    ("old", "new", "said"), [(1.0, 1.3, "slower"), (1.0, 0.7, "quicker"), (1.0, 1.1, "as before")], ids=str
)
def test_two_runs_are_compared_by_their_ratios(tmp_path, old, new, said):
    before, now = (Line("row", "what", "it", 1.0, 1.0, value, 2.0) for value in (old, new))
    write_json([before], tmp_path / "old.json", full=False)
    out = io.StringIO()
    print_comparison([now, Line("row", "new", "it", 1.0, 1.0, 1.0)], tmp_path / "old.json", out)
    assert f"({said})" in out.getvalue()
    assert out.getvalue().count("->") == 1


def test_a_peer_that_cannot_be_installed_is_named(tmp_path):
    peers = Peers(tmp_path)
    (tmp_path / "bin").mkdir()
    peers.python.parent.mkdir(exist_ok=True)
    peers.python.write_text("#!/bin/sh\nexit 1\n")
    peers.python.chmod(0o755)
    with pytest.raises(Skipped, match="chromadb cannot be installed"):
        peers.require("chromadb", "chromadb")
