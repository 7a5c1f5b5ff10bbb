"""A reply on the screen while it comes: Markdown that is only ever appended, or the raw pieces.

Prose appears word by word, code line by line, a table when it is whole. Nothing printed is moved or redrawn, so the
scroll-back holds every line once whatever the window's size does meanwhile.
"""

import re
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Final, Protocol

from memchat.terminal.flow import Flow, cells
from memchat.terminal.inline import read_inline
from memchat.text import clean, counted

if TYPE_CHECKING:
    from rich.console import Console

_UNFINISHED: Final = re.compile("(?:\r|\x9b[0-?]*[ -/]*|\x1b(?:\\[[0-?]*[ -/]*|[\\]PX^_][^\x07\x1b]{0,400})?)$")
# Beginnings of a line that may still become a list, a heading, a quote, a rule, a fence or a table.
_UNDECIDED: Final = re.compile(
    r"\s*(?:(?:[-*_+]{1,3}|\d{1,9}[.)]?|#{1,6}|`{1,2}|~{1,2}|>[>\s]*)?\s*|(?:[-*_]\s*){2,})$"
)
_WHOLE: Final = re.compile(r"\s*(?:```|~~~|\||(?:[-*_][ \t]*){3,}$)")
_ITEM: Final = re.compile(r"(\s*)([-*+]|\d{1,9}[.)])\s+")
_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s+")
_QUOTE: Final = re.compile(r"\s{0,3}(?:>\s?)+")
_FENCE: Final = re.compile(r"(\s*)(`{3,}|~{3,})\s*([^`\n]*)$")
_RULE: Final = re.compile(r"\s{0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")


class Reply(Protocol):
    """Where the pieces of a reply go."""

    def feed(self, piece: str) -> None:
        """Show one more piece."""
        ...

    def finish(self) -> None:
        """Show what was held back and end the last line."""
        ...


class Cleaner:
    """Cleans pieces of text so that an escape sequence cut in two does not slip through."""

    def __init__(self) -> None:
        self._held = ""

    def clean(self, piece: str) -> str:
        """Return what can be shown of the text so far."""
        text = self._held + piece
        found = _UNFINISHED.search(text)
        self._held = text[found.start() :] if found else ""
        return clean(text[: found.start()] if found else text)


class PlainReply:
    """Prints the pieces as they come and nothing else."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._cleaner = Cleaner()
        self._at_start = True

    def feed(self, piece: str) -> None:
        """Print one piece at once."""
        text = self._cleaner.clean(piece)
        if text:
            self._out.write(text)
            self._out.flush()
            self._at_start = text.endswith("\n")

    def finish(self) -> None:
        """End the last line."""
        if not self._at_start:
            self._out.write("\n")
            self._out.flush()
            self._at_start = True


class MarkdownReply:
    """Prints Markdown as it grows; `hint` is told what is being held back, "" when nothing is any more."""

    def __init__(self, console: "Console", hint: Callable[[str], None] = lambda _: None) -> None:
        self._console = console
        self._hint = hint
        self._cleaner = Cleaner()
        self._flow = Flow(self._write, lambda: console.width)
        self._line = ""  # of the current line, what is not on the screen yet
        self._before = ""  # the character that stands before it
        self._style = ""
        self._prose = False  # the current line is being printed word by word
        self._started = False
        self._blank = False  # a blank line waits for what comes after it
        self._code: _Code | None = None
        self._table: list[str] = []

    def feed(self, piece: str) -> None:
        """Print what has become certain with this piece."""
        first, *rest = self._cleaner.clean(piece).split("\n")
        self._grow(first)
        for segment in rest:
            self._end_line()
            self._grow(segment)

    def finish(self) -> None:
        """Print everything that is held."""
        if self._line or self._prose:
            self._end_line()
        self._end_table()
        self._code = None

    def _write(self, text: str, style: str) -> None:
        self._console.out(text, style=style or None, highlight=False, end="")

    def _grow(self, segment: str) -> None:
        self._line += segment
        if self._code or not self._line:
            return
        if not self._prose:
            if _UNDECIDED.match(self._line) or _WHOLE.match(self._line):
                return
            self._begin_prose()
        self._print_prose(final=False)

    def _end_line(self) -> None:
        line, whole = self._line, not self._prose
        if self._code:
            self._add_code(line)
        elif whole and not line.strip():
            self._end_table()
            self._blank = self._started
        elif whole and line.lstrip().startswith("|"):
            self._table.append(line.strip())
            self._hint(f"a table, {counted(len(self._table), 'row')}")
        elif whole and (fence := _FENCE.match(line)):
            self._begin_code(fence)
        elif whole and _RULE.match(line):
            self._begin_block()
            self._write("─" * min(40, self._console.width) + "\n", "dim")
        else:
            self._print_line()
        self._line = ""

    def _begin_block(self) -> None:
        self._end_table()
        if self._blank:
            self._write("\n", "")
        self._started, self._blank = True, False

    # -- prose

    def _print_line(self) -> None:
        if not self._prose:
            self._begin_prose()
        self._print_prose(final=True)
        self._flow.end()
        self._prose = False

    def _begin_prose(self) -> None:
        """Decide what the line is, print its mark, and leave its text in `_line`."""
        self._begin_block()
        self._prose, self._before = True, ""
        line = self._line
        prefix, mark, self._style = line[: len(line) - len(line.lstrip())].expandtabs(4), "", ""
        if heading := _HEADING.match(line):
            prefix, self._style, line = "", "bold", line[heading.end() :]
        elif quote := _QUOTE.match(line):
            prefix, mark, line = "│ ", "dim", line[quote.end() :]
            self._style = "italic"
        elif item := _ITEM.match(line):
            bullet = item[2] if item[2][0].isdigit() else "•"
            prefix, line = f"{item[1].expandtabs(4)}{bullet} ", line[item.end() :]
        self._line = line.lstrip()
        self._flow.begin(prefix, mark, cells(prefix))

    def _print_prose(self, *, final: bool) -> None:
        spans, rest = read_inline(self._line, self._style, final=final, before=self._before)
        for text, style in spans:
            self._flow.add(text, style)
        taken = len(self._line) - len(rest)
        self._before = self._line[taken - 1] if taken else self._before
        self._line = rest

    # -- code

    def _begin_code(self, fence: re.Match[str]) -> None:
        self._begin_block()
        indent, sign, language = fence.groups()
        self._write(f"{indent}{sign}{language.rstrip()}\n", "dim")
        self._code = _Code(indent, sign, language.strip())

    def _add_code(self, line: str) -> None:
        assert self._code is not None
        if self._code.ends_with(line):
            self._write(f"{self._code.indent}{self._code.sign}\n", "dim")
            self._code = None
        else:
            self._code.print_line(self._console, line)

    # -- tables

    def _end_table(self) -> None:
        rows, self._table = self._table, []
        if not rows:
            return
        self._hint("")
        # Late: only a reply with a table needs it.
        from memchat.terminal.markdown_table import markdown_table

        drawn = markdown_table(rows)
        if self._blank:
            self._write("\n", "")
        self._started, self._blank = True, False
        if drawn is None:
            self._write("\n".join(rows) + "\n", "")
        else:
            self._console.print(drawn)


class Aside:
    """Prints text that is not the reply, such as a model's reasoning, in one style as it comes."""

    def __init__(self, console: "Console", style: str) -> None:
        self._style = style
        self._cleaner = Cleaner()
        self._flow = Flow(
            lambda text, style: console.out(text, style=style, highlight=False, end=""), lambda: console.width
        )
        self._flow.begin("", "", 0)

    def feed(self, piece: str) -> None:
        """Print one piece."""
        first, *rest = self._cleaner.clean(piece).split("\n")
        self._flow.add(first, self._style)
        for line in rest:
            self._flow.end()
            self._flow.begin("", "", 0)
            self._flow.add(line, self._style)

    def finish(self) -> None:
        """End the last line and leave one free."""
        self._flow.end()
        self._flow.end()


class _Code:
    """A fenced block: each line is printed once it is whole, coloured in the light of those before it."""

    _CONTEXT: Final = 8000  # characters of earlier code that the colouring looks at

    def __init__(self, indent: str, sign: str, language: str) -> None:
        self.indent = indent
        self.sign = sign
        self._language = language.split()[0].strip("{}.") if language else ""
        self._context = ""

    def ends_with(self, line: str) -> bool:
        """Tell whether `line` closes the block."""
        bare = line.strip()
        return len(bare) >= len(self.sign) and set(bare) == {self.sign[0]}

    def print_line(self, console: "Console", line: str) -> None:
        """Print one line; long ones are left to the terminal to wrap, so that they copy in one piece."""
        # Late: pygments, only when there is code to colour.
        from rich.syntax import Syntax
        from rich.text import Text

        if len(self._context) > self._CONTEXT:
            self._context = ""
        self._context += line + "\n"
        syntax = Syntax("", self._language or "text", theme="ansi_dark", background_color="default")
        if syntax.lexer is None or self._language in ("", "text"):
            text = Text(line, "cyan")
        else:
            text = syntax.highlight(self._context.rstrip("\n") + "\n").split("\n", allow_blank=True)[
                self._context.count("\n") - 1
            ]
        console.print(text, soft_wrap=True, overflow="ignore", no_wrap=True)
