"""Text for people: cleaned, aligned in cells, whole outside a terminal, and never read as markup."""

import io
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from memchat.records import (
    Candidate,
    Cause,
    Change,
    Kind,
    Memory,
    ProfileEntry,
    Recall,
    Receipt,
    Session,
    Source,
    State,
    Turn,
    Verdict,
)
from memchat.terminal.flow import cells
from memchat.terminal.memory_text import (
    print_changes,
    print_counts,
    print_memories,
    print_memory,
    print_receipt,
    print_sessions,
)
from memchat.terminal.recall_text import print_inspection, print_log, print_why, recalled_line
from memchat.terminal.render import age, counted, make_console, print_columns, say, shortened

NOW = datetime(2026, 8, 4, 12, 0, tzinfo=UTC)


def memory(id: int = 17, text: str = "I moved to Berlin.", **more: object) -> Memory:
    given: dict[str, object] = {
        "id": id,
        "user": "default",
        "text": text,
        "kind": Kind.EVENT,
        "importance": 7,
        "confidence": 0.9,
        "pinned": False,
        "state": State.CURRENT,
        "created_at": NOW - timedelta(days=3),
        "last_seen_at": NOW - timedelta(days=3),
    }
    return Memory(**(given | more))


def candidate(id: int, verdict: Verdict, text: str = "I like tea.", reason: str = "") -> Candidate:
    return Candidate(id, None, text, Kind.FACT, 40.0, 0.61, 0.35, 0.5, 0.9, 5, 0.45, verdict, reason)


def recall(*candidates: Candidate, block: str = "") -> Recall:
    return Recall("where?", "default", "mini", 0.31, candidates, block, 12, timings_ms={"embed": 4.2})


@pytest.fixture
def piped() -> Console:
    return make_console(io.StringIO())


def text_of(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "just now"),
        (-5, "just now"),
        (45, "45 seconds ago"),
        (60, "1 minute ago"),
        (7200, "2 hours ago"),
        (86400, "1 day ago"),
        (13 * 86400, "13 days ago"),
        (15 * 86400, "2 weeks ago"),
        (70 * 86400, "2 months ago"),
        (800 * 86400, "2 years ago"),
    ],
)
def test_ages_are_words(seconds: int, words: str) -> None:
    assert age(NOW - timedelta(seconds=seconds), NOW) == words


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [(1, "memory", "1 memory"), (2, "memory", "2 memories"), (1200, "turn", "1,200 turns"), (2, "day", "2 days")],
)
def test_numbers_take_their_noun(number: int, noun: str, words: str) -> None:
    assert counted(number, noun) == words


def test_text_is_cut_in_cells_not_in_characters() -> None:
    assert shortened("漢字漢字漢字", 7) == "漢字漢…"
    assert shortened("a\nb", 7) == "a b"


@pytest.mark.parametrize("text", ["uses arr[i]", "[/b]", "[red]x", ":beer:", "C:\\[tmp]", "a\\[b]"])
def test_user_text_is_never_markup(piped: Console, text: str) -> None:
    print_memories(piped, [memory(text=text)], NOW)
    say(piped, text)
    assert text_of(piped).count(text) == 2


def test_control_characters_never_reach_the_terminal(piped: Console) -> None:
    print_memories(piped, [memory(text="a\x1b]52;c;x\x07b\x1b[2J\u202ec")], NOW)
    assert text_of(piped).endswith("abc\n")


def test_outside_a_terminal_a_memory_is_one_line_without_colour(piped: Console) -> None:
    print_memories(piped, [memory(1), memory(20, "long " * 100)], NOW)
    lines = text_of(piped).splitlines()
    assert lines[0] == "#1   event  3 days ago  I moved to Berlin."
    assert len(lines) == 2
    assert "\x1b" not in text_of(piped)


def test_force_color_does_not_colour_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    console = make_console(io.StringIO())
    say(console, "x", "red")
    assert text_of(console) == "x\n"


def test_no_color_takes_the_colours_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    out = io.StringIO()
    out.isatty = lambda: True
    console = make_console(out)
    say(console, "x", "red")
    assert out.getvalue() == "x\n"


@pytest.mark.parametrize("text", ["日本語のテキスト" * 8, "👨‍👩‍👧 family " * 12, "plain words " * 20])
def test_wide_text_stays_in_its_column(text: str) -> None:
    out = io.StringIO()
    console = Console(file=out, width=50, force_terminal=True, no_color=True, markup=False, highlight=False)
    print_columns(console, [["#1", "事実", text], ["#100", "fact", "short"]])
    lines = out.getvalue().splitlines()
    assert max(cells(line) for line in lines) <= 50
    assert all(line.startswith(" " * 12) for line in lines[1:-1])
    assert lines[-1] == "#100  fact  short"


def test_a_list_tells_what_is_special(piped: Console) -> None:
    old = memory(2, state=State.SUPERSEDED, superseded_by=5, superseded_at=NOW)
    rows = [memory(1, pinned=True, pending=True), old, memory(3, state=State.PROPOSED)]
    print_memories(piped, rows, NOW)
    first, second, third = text_of(piped).splitlines()
    assert first.endswith("(pinned, not embedded yet)")
    assert second.endswith("(replaced by #5)")
    assert third.endswith("(waits for approval)")


def test_one_memory_is_shown_whole(piped: Console) -> None:
    shown = memory(
        subject="I",
        attribute="city",
        value="Berlin",
        source=Source(3, 12, "moved to Berlin"),
        cues=("Where do I live?",),
        recall_count=2,
        last_recalled_at=NOW - timedelta(hours=2),
    )
    change = Change(1, 17, NOW, "added", Cause.LEARNED, 12, {}, {"text": "I moved to Berlin."})
    print_memory(piped, shown, NOW, changes=[change])
    text = text_of(piped)
    for part in (
        "#17  I moved to Berlin.",
        "importance  7 of 10",
        "“moved to Berlin” (session 3, turn 12)",
        "I · city · Berlin",
        "Where do I live?",
        "2 times, last 2 hours ago",
        "added",
    ):
        assert part in text


def test_history_shows_old_and_new_wording(piped: Console) -> None:
    edit = Change(4, 17, NOW, "edited", Cause.USER, None, {"text": "old"}, {"text": "new"}, undone=True)
    pin = Change(5, 17, NOW, "edited", Cause.USER, None, {"pinned": False}, {"pinned": True})
    print_changes(piped, [edit, pin], NOW)
    assert "edited (undone)" in text_of(piped)
    assert "“old” → “new”" in text_of(piped)
    assert "pinned: False → True" in text_of(piped)


def test_a_receipt_says_what_was_read_again(piped: Console) -> None:
    print_receipt(
        piped, Receipt((3,), {"memories": 1, "log": 0}, True, ("memory.db",), ("the terminal's scroll-back",))
    )
    assert text_of(piped) == (
        "Forgotten: #3.\nErased: 1 memory.\nRead again afterwards, and nothing of it is left: memory.db.\n"
        "Out of reach: the terminal's scroll-back.\n"
    )


def test_a_receipt_that_failed_says_so(piped: Console) -> None:
    print_receipt(piped, Receipt((3,), {}, False, ("memory.db",), (), ("memory.db",)))
    assert "Bytes of it are still in: memory.db" in text_of(piped)


def test_sessions_are_listed(piped: Console) -> None:
    print_sessions(piped, [Session(4, "default", None, NOW, NOW, 1), Session(3, "default", "Trip", NOW, None, 12)], NOW)
    assert text_of(piped) == "4  just now  1 turn    (no title yet)\n3  just now  12 turns  Trip\n"


def test_an_inspection_shows_near_misses_with_their_reason(piped: Console) -> None:
    misses = [candidate(n, Verdict.BELOW_FLOOR, reason="0.20 is below the floor 0.31") for n in range(2, 12)]
    print_inspection(piped, recall(candidate(1, Verdict.INJECTED), *misses, block="[Notes]\n- I like tea."))
    text = text_of(piped)
    assert "●  #1" in text
    assert text.count("below the floor") == 5
    assert "… and 5 further away" in text
    assert "[Notes]\n- I like tea." in text
    assert "embed 4.2 ms" in text
    print_inspection(piped, recall(*misses), every=True)
    assert "#11" in text_of(piped)


def test_why_tells_profile_scores_and_drops(piped: Console) -> None:
    told = Recall("q", "u", None, None, (), "", 0, (ProfileEntry(2, "I am Ann."),), 6, keywords_only="no embedder")
    print_why(piped, told, {"no evidence": 2})
    assert "#2  I am Ann." in text_of(piped)
    assert "2 × no evidence" in text_of(piped)


def test_why_without_any_memory_says_so(piped: Console) -> None:
    print_why(piped, Recall("q", "u", None, None, (), "", 0))
    assert text_of(piped) == "The last reply was given no memories.\n"


def test_the_log_names_what_was_given(piped: Console) -> None:
    turn = Turn(9, 1, "where?", "there", NOW, "UTC", "m")
    print_log(piped, [(turn, recall(candidate(1, Verdict.INJECTED), candidate(2, Verdict.BEYOND_K)))], NOW)
    assert text_of(piped) == "turn 9  just now  #1  where?\n"


def test_the_line_after_a_reply_counts_what_was_given() -> None:
    hits = [candidate(n, Verdict.INJECTED) for n in (1, 2)]
    assert recalled_line(recall(*hits)) == "◦ 2 memories · /why"
    assert recalled_line(recall(candidate(1, Verdict.BELOW_FLOOR))) == ""


def test_figures_are_named(piped: Console) -> None:
    print_counts(piped, {"memories": 1200, "by_kind": {"fact": 3}, "share": 0.5, "none": None, "on": True})
    assert text_of(piped).split() == ["memories", "1,200", "by", "kind", "fact", "3", "share", "0.50", "on", "yes"]


@pytest.mark.parametrize(
    "print_it",
    [
        lambda console: print_memories(console, [], NOW),
        lambda console: print_changes(console, [], NOW),
        lambda console: print_sessions(console, [], NOW),
        lambda console: print_log(console, [], NOW),
    ],
    ids=["memories", "changes", "sessions", "log"],
)
def test_an_empty_list_is_said(piped: Console, print_it: object) -> None:
    print_it(piped)
    assert text_of(piped).endswith(".\n")


def test_importing_the_renderers_loads_neither_rich_nor_prompt_toolkit() -> None:
    program = (
        "import sys, memchat.terminal.render, memchat.terminal.memory_text, memchat.terminal.recall_text\n"
        "import memchat.terminal.stream\n"
        "print([name for name in ('rich', 'prompt_toolkit', 'pygments') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
