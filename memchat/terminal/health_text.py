"""How the memories and the installation stand, as text for people."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memchat.curate.doctor import Report
from memchat.curate.stats import Stats
from memchat.terminal.render import Row, print_columns, print_fields, quiet, say
from memchat.text import counted

if TYPE_CHECKING:
    from rich.console import Console


def print_report(console: "Console", report: Report) -> None:
    """Print each check, with the line that mends it under what is wrong."""
    rows: list[Row] = []
    for check in report.checks:
        rows.append(
            [("✓", "green") if check.ok else ("✗", "red"), check.name, (check.found, "dim" if check.ok else "")]
        )
        if check.mend and not check.ok:
            rows.append(["", "", ("→ " + check.mend, "bold")])
    print_columns(console, rows)
    wrong = sum(not check.ok for check in report.checks)
    say(console, f"{counted(wrong, 'thing')} to mend." if wrong else "All is well.", "" if wrong else "green")


def print_stats(console: "Console", stats: Stats) -> None:
    """Print the whole picture of one user's memories."""
    say(console, f"{counted(stats.memories, 'memory')} of {stats.user}", "bold")
    waiting = (("proposed", stats.proposed), ("superseded", stats.superseded), ("pinned", stats.pinned))
    print_fields(
        console,
        [
            ("beside them", ", ".join(f"{number:,} {name}" for name, number in waiting if number)),
            ("kinds", _listed(stats.kinds)),
            ("last said within", _listed(stats.ages)),
            ("learnt in", _listed(stats.growth)),
            ("never recalled", f"{stats.never_recalled:,}"),
            ("without questions", f"{stats.without_cues:,}" if stats.without_cues else ""),
            ("left out", _listed(stats.drops)),
            ("waiting", f"{counted(stats.queue, 'exchange')} to learn" if stats.queue else ""),
            ("vectors", _vectors(stats)),
            ("conversations", f"{counted(stats.sessions, 'session')}, {counted(stats.turns, 'turn')}"),
            ("on disk", _on_disk(stats.sizes)),
        ],
        indent=2,
    )
    if stats.most_recalled:
        quiet(console, "  most recalled")
        used: list[Row] = [
            [(f"#{row.id}", "cyan"), (f"{row.times:,} ×", "dim"), row.text] for row in stats.most_recalled
        ]
        print_columns(console, used, indent=4)
    for stuck in stats.stuck:
        quiet(console, f"  turn {stuck.turn} failed {counted(stuck.attempts, 'time')}: {stuck.reason}")


def in_bytes(size: int) -> str:
    """Return a size in bytes as people read it."""
    for limit, unit in ((1e3, "B"), (1e6, "kB"), (1e9, "MB")):
        if size < limit:
            return f"{size:,} B" if unit == "B" else f"{size / limit * 1000:.1f} {unit}"
    return f"{size / 1e9:.1f} GB"


def _on_disk(sizes: Mapping[str, int]) -> str:
    """Name the parts that are measured in bytes; the rest are rows."""
    parts = {name.removesuffix("_bytes"): size for name, size in sizes.items() if name.endswith("_bytes")}
    return ", ".join(f"{name} {in_bytes(size)}" for name, size in parts.items() if size)


def _vectors(stats: Stats) -> str:
    if stats.embed_model is None:
        return "none yet"
    pending = f", {counted(stats.pending_keys, 'key')} waiting" if stats.pending_keys else ""
    stale = "; another model is in use now: memchat reindex" if stats.stale else ""
    return f"{stats.embed_model}, {stats.dimensions} dimensions{pending}{stale}"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counts.items() if number)
