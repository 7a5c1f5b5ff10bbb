"""Word wrap that only ever appends: styled text goes in as it comes, and nothing printed is touched again.

Widths are in terminal cells; a wide character counts two, a combining one none.
"""

from bisect import bisect_right
from collections.abc import Callable
from typing import Final

Write = Callable[[str, str], None]  # text, style ("" is plain)

# A word that begins at least this far from the edge is printed while it grows; nearer, it waits for its end.
_ROOM: Final = 24
_CLOSING: Final = frozenset("、。，．！？：；）］｝〉》」』】〕〗…ー々,.!?:;)]}%")
_OPENING: Final = frozenset("（［｛〈《「『【〔〖([{")
_JOINERS: Final = frozenset("\u200d\u2060")
_EMOJI_STYLE: Final = "\ufe0f"


def cells(text: str) -> int:
    """Return how many terminal cells `text` takes."""
    from rich.cells import cell_len  # late, as everything of rich: commands that print JSON never load it

    return cell_len(text)


def cut(line: str, size: int, measure: Callable[[str], int]) -> str:
    """Return `line`, cut with an ellipsis where it is wider than `size`; `measure` gives a text's width in cells."""
    if measure(line) <= size:
        return line
    # Halving: cell by cell a long message would be measured as often as it has characters.
    kept = bisect_right(range(len(line) + 1), max(0, size - 1), key=lambda end: measure(line[:end])) - 1
    return line[:kept].rstrip() + "…"


class Flow:
    """Writes words into lines of at most `width()` cells; later lines hang under `indent`."""

    def __init__(self, write: Write, width: Callable[[], int]) -> None:
        self._write = write
        self._width = width
        self._column = 0
        self._indent = 0
        self._spaces = 0
        self._word: list[tuple[list[str], str]] = []  # characters, style
        self._size = 0  # cells of the word
        self._open = False  # the current word stands on the screen already, in part
        self._last = " "

    def begin(self, prefix: str, style: str, indent: int) -> None:
        """Start a line with `prefix`; what does not fit goes on below, `indent` cells in."""
        if prefix:
            self._write(prefix, style)
        self._column = cells(prefix)
        self._indent = min(indent, max(0, self._width() // 2))
        self._spaces, self._word, self._size, self._open = 0, [], 0, False

    def add(self, text: str, style: str = "") -> None:
        """Take in a piece of the line; it has no newline."""
        for character in text:
            if character in " \t":
                self._end_word()
                self._spaces, self._last = self._spaces + 1, character
            else:
                if self._breaks_before(character):
                    self._end_word()
                self._grow(character, style)
        if self._word and (self._open or self._fits(_ROOM)):
            self._flush()
            self._open = True

    def end(self) -> None:
        """Finish the line."""
        self._end_word()
        self._write("\n", "")
        self._column = self._spaces = 0

    def _grow(self, character: str, style: str) -> None:
        if self._word and self._word[-1][1] == style:
            self._word[-1][0].append(character)
        else:
            self._word.append(([character], style))
        self._size += self._cells_more(character)
        self._last = character

    def _cells_more(self, character: str) -> int:
        """Return the cells that `character` adds to what it follows."""
        if self._last in _JOINERS:
            return 0  # one picture with what stands before
        if character == _EMOJI_STYLE:
            return int(cells(self._last) == 1)
        return cells(character)

    def _breaks_before(self, character: str) -> bool:
        """Tell whether a line may break before `character` although no space stands there."""
        if not (self._word or self._open) or character in _CLOSING or self._last in _OPENING:
            return False
        if self._last in _JOINERS or not cells(character):
            return False
        return cells(character) == 2 or cells(self._last) == 2

    def _end_word(self) -> None:
        if self._word:
            self._flush()
        self._open = False

    def _fits(self, spare: int) -> bool:
        return self._column + self._spaces + self._size + spare <= self._width()

    def _flush(self) -> None:
        if not self._open and not self._fits(0) and self._column > self._indent:
            self._write("\n" + " " * self._indent, "")
            self._column, self._spaces = self._indent, 0
        if self._spaces:
            self._write(" " * self._spaces, "")
            self._column, self._spaces = self._column + self._spaces, 0
        for characters, style in self._word:
            self._write("".join(characters), style)
        self._column += self._size
        # A word longer than the line is wrapped by the terminal itself, so that it copies in one piece.
        if self._column > self._width():
            self._column %= max(1, self._width())
        self._word, self._size = [], 0
