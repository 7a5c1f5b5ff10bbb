"""Record a session for the README: two real chats with the embedded model, typed by this script, drawn as one SVG.

    python .github/record_session.py .github/session.svg

Needs the `dev` and `embedded` extras and the packs that `memchat setup --yes` fetches.
"""

import io
import os
import sys
import tempfile
import time
from pathlib import Path

import pexpect
import pyte
from rich.console import Console
from rich.text import Text

COLUMNS, ROWS, HISTORY = 92, 40, 400

FIRST = ["I moved to Berlin for a new job, and I'm allergic to peanuts."]
SECOND = ["what's a good weekend trip from here?", "/why"]
IDLE = 6.0  # seconds of silence after which a reply is taken to be complete


def main() -> int:
    """Record both chats and write the SVG named on the command line."""
    target = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        memories = str(Path(folder) / "memory.db")
        console = Console(record=True, width=COLUMNS, file=io.StringIO())
        for lines, day in ((FIRST, "in March"), (SECOND, "in November")):
            console.print(Text(f"$ memchat    # {day}", style="bold"))
            for line in chat(lines, memories):
                console.print(line)
        console.save_svg(str(target), title="memchat")
    return 0


def chat(lines: list[str], memories: str) -> list[Text]:
    """Type the lines into a real chat and return what stood on the screen."""
    screen = pyte.HistoryScreen(COLUMNS, ROWS, history=HISTORY)
    stream = pyte.Stream(screen)
    environ = {**os.environ, "TERM": "xterm-256color", "MEMCHAT_DB": memories, "MEMCHAT_ENGINE": "embedded"}
    child = pexpect.spawn(sys.executable, ["-m", "memchat"], env=environ, dimensions=(ROWS, COLUMNS), encoding="utf-8")
    read_until_quiet(child, stream)
    for line in lines:
        child.send(line + "\r")
        read_until_quiet(child, stream)
    child.sendeof()
    while child.isalive():
        read_until_quiet(child, stream, 1.0)
    return [text for text in map(as_text, rows_of(screen)) if text.plain.strip()]


def read_until_quiet(child: "pexpect.spawn[str]", stream: pyte.Stream, idle: float = IDLE) -> None:
    """Feed the screen until nothing has come for a while."""
    last = time.monotonic()
    while time.monotonic() - last < idle:
        try:
            stream.feed(child.read_nonblocking(4096, timeout=0.2))
            last = time.monotonic()
        except pexpect.TIMEOUT:
            continue
        except pexpect.EOF:
            return


def rows_of(screen: pyte.HistoryScreen) -> list[dict[int, pyte.screens.Char]]:
    """Return everything that was on the screen, scrolled away or not."""
    return [*screen.history.top, *(screen.buffer[row] for row in range(screen.lines))]


def as_text(row: dict[int, pyte.screens.Char]) -> Text:
    """Return one row with its colours."""
    text = Text()
    for column in range(COLUMNS):
        cell = row[column]
        colour = "" if cell.fg == "default" else cell.fg if cell.fg.isalpha() else f"#{cell.fg}"
        text.append(cell.data, f"{'bold ' if cell.bold else ''}{colour}".strip())
    text.rstrip()
    return text


if __name__ == "__main__":
    sys.exit(main())
