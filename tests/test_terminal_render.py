"""Text for people: cleaned, aligned in cells, whole outside a terminal, and never read as markup."""

import io
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from memchat.curate.doctor import Check, Report
from memchat.curate.stats import Recalled as MostRecalled
from memchat.curate.stats import Stats, Stuck
from memchat.recall.explain import Expected
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
from memchat.terminal.flow import cells, cut
from memchat.terminal.health_text import in_bytes, print_report, print_stats
from memchat.terminal.memory_text import (
    print_changes,
    print_memories,
    print_memory,
    print_receipt,
    print_sessions,
)
from memchat.terminal.recall_text import print_expected, print_inspection, print_log, print_why, recalled_line
from memchat.terminal.render import age, make_console, print_columns, say, shortened
from memchat.text import counted

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
    assert shortened("漢字漢字漢字", 6) == "漢字…"
    assert shortened("a\nb", 7) == "a b"
    assert shortened("", 0) == ""
    assert shortened("long", 0) == "…"


def test_a_long_line_reaches_the_screen_in_few_pieces() -> None:
    class Counting(io.StringIO):
        pieces = 0

        def write(self, text: str) -> int:
            self.pieces += 1
            return super().write(text)

    out = Counting()
    say(make_console(out), "one two " * 1000)
    assert out.getvalue() == "one two " * 999 + "one two\n"
    assert out.pieces < 20


def test_a_long_text_is_measured_a_few_times_only() -> None:
    measured: list[int] = []

    def measure(text: str) -> int:
        measured.append(len(text))
        return 2 * len(text)

    assert cut("漢" * 100_000, 20, measure) == "漢" * 9 + "…"
    assert len(measured) < 25


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
    assert "pinned: no → yes" in text_of(piped)


def test_history_speaks_of_what_changed_in_words_and_of_nothing_else(piped: Console) -> None:
    at = int(datetime(2024, 3, 1, 12, tzinfo=UTC).timestamp() * 1000)
    current = {"state": "current", "superseded_by": None, "superseded_at": None}
    replaced = {"state": "superseded", "superseded_by": 5, "superseded_at": at}
    said = {"confidence": 1.0, "last_seen_at": at}
    changes = [
        Change(1, 17, NOW, "superseded", Cause.LEARNED, 3, current, replaced),
        Change(2, 17, NOW, "ended", Cause.USER, None, current, replaced | {"superseded_by": None}),
        Change(3, 17, NOW, "restated", Cause.USER, None, said, said | {"last_seen_at": at + 1, "source": 4}),
        Change(
            4, 17, NOW, "edited", Cause.USER, None, {"importance": 5, "cues": []}, {"importance": 7, "cues": ["a?"]}
        ),
    ]
    print_changes(piped, changes, NOW)
    text = text_of(piped)
    when = datetime.fromtimestamp(at / 1000).strftime("%Y-%m-%d %H:%M")
    assert f"replaced by #5 since {when}" in text
    assert f"no longer true since {when}" in text
    assert "importance: 5 → 7, cues: none → a?" in text
    assert "by you" in text
    assert "learnt from what you said" in text
    assert not any(raw in text for raw in ("_", "None", str(at), "1.0", "confidence"))


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


def test_a_receipt_of_nothing_is_one_sentence(piped: Console) -> None:
    print_receipt(piped, Receipt((), {"memories": 0}, True, ("memory.db",), ("the terminal's scroll-back",)))
    assert text_of(piped) == "There was nothing to erase.\n"


def test_a_receipt_of_a_conversation_that_taught_nothing_names_no_memory(piped: Console) -> None:
    print_receipt(piped, Receipt((), {"turns": 2}, True, ("memory.db",), ()))
    assert text_of(piped).startswith("Erased: 2 exchanges.\nRead again")


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (
            Expected(None, Verdict.NOT_STORED, "no memory of this user says that", "memchat remember"),
            "What you expected is not stored (not_stored): no memory of this user says that\n"
            "What would let it in: memchat remember\n",
        ),
        (Expected(3, Verdict.INJECTED, "", ""), "#3 is given (injected).\n"),
        (
            Expected(3, Verdict.BEYOND_K, "5 are nearer", "recall.limit = 6"),
            "#3 is not given (beyond_k): 5 are nearer\nWhat would let it in: recall.limit = 6\n",
        ),
    ],
)
def test_what_became_of_an_expected_memory_is_a_sentence(piped: Console, expected: Expected, text: str) -> None:
    print_expected(piped, expected)
    assert text_of(piped) == text


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


@pytest.mark.parametrize(
    ("query", "told"),
    [("Where do I live?", "floor 0.03 for a question about yourself"), ("Who built Rome?", "floor 0.03 for this")],
)
def test_the_floor_is_told_with_what_lowers_it(piped: Console, query: str, told: str) -> None:
    found = Recall(query, "u", "fake-embed", 0.03, (candidate(1, Verdict.INJECTED),), "", 0)
    for show in (print_why, print_inspection):
        show(piped, found)
        assert told in text_of(piped)


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


def test_a_report_says_what_mends_what_is_wrong(piped: Console) -> None:
    print_report(
        piped, Report(False, (Check("disk", True, "9 MB free"), Check("queue", False, "stuck", "memchat learn")))
    )
    assert text_of(piped) == ("✓  disk   9 MB free\n✗  queue  stuck\n          → memchat learn\n1 thing to mend.\n")


def test_a_report_without_faults_is_short(piped: Console) -> None:
    print_report(piped, Report(True, (Check("disk", True, "9 MB free"),)))
    assert text_of(piped).endswith("All is well.\n")


def test_stats_are_told_in_words(piped: Console) -> None:
    stats = Stats(
        user="ann",
        memories=1200,
        proposed=2,
        superseded=0,
        pinned=1,
        kinds={"fact": 1200},
        ages={"day": 0, "week": 1200},
        growth={"2026-08": 1200},
        most_recalled=(MostRecalled(7, "I like [tea].", 3),),
        never_recalled=4,
        without_cues=5,
        drops={"no evidence": 6},
        queue=1,
        stuck=(Stuck(9, 2, "the model broke off"),),
        embed_model="mini",
        dimensions=384,
        pending_keys=1,
        stale=True,
        sessions=1,
        turns=30,
        sizes={"file_bytes": 1_234_567, "turns": 30},
    )
    print_stats(piped, stats)
    text = text_of(piped)
    for part in (
        "1,200 memories of ann",
        "2 proposed, 1 pinned",
        "week 1,200",
        "no evidence 6",
        "1 exchange to learn",
        "mini, 384 dimensions, 1 key waiting; another model is in use now: memchat reindex",
        "1 session, 30 turns",
        "file 1.2 MB",
        "#7  3 ×  I like [tea].",
        "turn 9 failed 2 times: the model broke off",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("size", "words"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2_000_000, "2.0 MB"), (3.2e9, "3.2 GB")]
)
def test_sizes_are_readable(size: int, words: str) -> None:
    assert in_bytes(size) == words


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
        "import memchat.terminal.lines, memchat.terminal.repl\n"
        "print([name for name in ('rich', 'prompt_toolkit', 'pygments') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
