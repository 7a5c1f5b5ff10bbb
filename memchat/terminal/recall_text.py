"""The read path as text for people: what a message recalled, what nearly was, and why."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from memchat.recall.query import speaks_of_self
from memchat.records import Candidate, ProfileEntry, Recall, Turn, Verdict
from memchat.terminal.render import Cell, age, days_ago, print_columns, quiet, say, shortened
from memchat.text import counted

if TYPE_CHECKING:
    from rich.console import Console

    from memchat.chat.ablation import Ablation
    from memchat.recall.explain import Expected

NEAR_MISSES: Final = 5
_STANDING: Final = {
    Verdict.INJECTED: "is given",
    Verdict.IN_PROFILE: "stands in the profile",
    Verdict.NOT_STORED: "is not stored",
    Verdict.OTHER_USER: "is somebody else's",
}
_BRIEF: Final[list[Cell]] = ["", "", ("score", "dim"), ("age", "dim"), ""]
_FULL: Final[list[Cell]] = [
    "",
    "",
    ("score", "dim"),
    ("near", "dim"),
    ("words", "dim"),
    ("decay", "dim"),
    ("age", "dim"),
    "",
]


def print_inspection(console: "Console", recall: Recall, *, every: bool = False) -> None:
    """Print every stage of one read path; of what was not given only the nearest, unless `every`."""
    say(console, f"“{recall.query}”", "bold")
    quiet(console, _how_searched(recall))
    _print_candidates(console, recall, every=every)
    if recall.block:
        quiet(console, f"\nGiven beside the message ({counted(recall.tokens, 'token')}):")
        say(console, recall.block)
    else:
        quiet(console, "\nNothing is given beside the message.")
    if recall.profile:
        print_profile(console, recall.profile, recall.profile_tokens)
    quiet(console, _timings(recall.timings_ms))


def print_expected(console: "Console", expected: "Expected") -> None:
    """Print what became of the memory that was expected, and what would let it in."""
    subject = "What you expected" if expected.id is None else f"#{expected.id}"
    standing = _STANDING.get(expected.verdict, "is not given")
    say(console, f"{subject} {standing} ({expected.verdict.value}){': ' if expected.reason else '.'}{expected.reason}")
    if expected.would_admit:
        say(console, f"What would let it in: {expected.would_admit}")


def print_why(console: "Console", recall: Recall, drops: Mapping[str, int] | None = None) -> None:
    """Print what a reply was given, with scores and near misses, and what learning has left out (`drops`)."""
    if recall.profile:
        print_profile(console, recall.profile, recall.profile_tokens)
    if recall.candidates:
        quiet(console, f"For “{shortened(recall.query, 60)}”: {_how_searched(recall)}")
        _print_candidates(console, recall, brief=True)
    elif not recall.profile:
        quiet(console, "The last reply was given no memories.")
    if drops:
        told = ", ".join(f"{number} × {reason}" for reason, number in drops.items())
        quiet(console, f"Learning has left out so far: {told}.")


def print_ablation(console: "Console", ablation: "Ablation") -> None:
    """Print one answer without a memory, or that it stayed the same."""
    if ablation.without is None:
        quiet(console, "with all of them:")
        say(console, ablation.reply)
        return
    left_out = f"without #{ablation.without.id} ({shortened(ablation.without.text, 60)})"
    if not ablation.changed:
        quiet(console, f"{left_out}: the same")
        return
    quiet(console, f"{left_out}: {ablation.alike:.0%} of the words stay")
    say(console, ablation.reply)


def print_profile(console: "Console", profile: Sequence[ProfileEntry], tokens: int = 0) -> None:
    """Print the memories that stand in the system prompt of this session."""
    size = f" ({counted(tokens, 'token')})" if tokens else ""
    quiet(console, f"Profile, in every message of this session{size}:")
    print_columns(console, [[(f"#{entry.id}", "cyan"), entry.text] for entry in profile], indent=2)


def print_log(console: "Console", rows: Sequence[tuple[Turn, Recall]], now: datetime) -> None:
    """Print the retrieval log: turn, age, what was given, the question."""
    if not rows:
        quiet(console, "No replies yet.")
        return
    print_columns(
        console,
        [
            [
                (f"turn {turn.id}", "cyan"),
                (age(turn.at, now), "dim"),
                " ".join(f"#{hit.id}" for hit in recall.injected) or "nothing",
                shortened(recall.query, 200),
            ]
            for turn, recall in rows
        ],
    )


def recalled_line(recall: Recall) -> str:
    """Return the quiet line after a reply, "" when nothing was recalled beside the message."""
    return f"◦ {counted(len(recall.injected), 'memory')} · /why" if recall.injected else ""


def _print_candidates(console: "Console", recall: Recall, *, every: bool = False, brief: bool = False) -> None:
    given = [hit for hit in recall.candidates if hit.verdict is Verdict.INJECTED]
    others = [hit for hit in recall.candidates if hit.verdict is not Verdict.INJECTED]
    shown = others if every else others[:NEAR_MISSES]
    if given or shown:
        rows = [row for hit in [*given, *shown] for row in _candidate_rows(hit, brief)]
        print_columns(console, [_BRIEF if brief else _FULL, *rows])
    if len(others) > len(shown):
        quiet(console, f"… and {len(others) - len(shown)} further away")


def _candidate_rows(hit: Candidate, brief: bool) -> list[list[Cell]]:
    """Return a line with the numbers and, under it, why the memory was not given."""
    given = hit.verdict is Verdict.INJECTED
    style = "" if given else "dim"
    near = "—" if hit.similarity is None else f"{hit.similarity:.2f}"
    details = [] if brief else [near, f"{hit.keyword_score:.2f}", f"{hit.decay:.2f}"]
    line: list[Cell] = [("●" if given else "○", "green" if given else "dim"), (f"#{hit.id}", "cyan")]
    line += [(number, style) for number in (f"{hit.score:.3f}", *details, days_ago(hit.age_days))]
    reason = hit.reason or hit.verdict.value.replace("_", " ")
    if given and brief:
        return [[*line, hit.text]]
    return [[*line, (hit.text, style)], [*[""] * len(line), (reason, "dim")]]


def _how_searched(recall: Recall) -> str:
    if recall.keywords_only:
        return f"searched by words only: {recall.keywords_only}"
    whose = " for a question about yourself" if speaks_of_self(recall.query) else " for this question"
    floor = f", floor {recall.floor:.2f}{whose}" if recall.floor is not None else ""
    return f"searched with {recall.embed_model}{floor}" if recall.embed_model else "nothing was searched"


def _timings(timings: Mapping[str, float]) -> str:
    return " · ".join(f"{stage} {spent:.1f} ms" for stage, spent in timings.items())
