"""Takes reasoning out of replies of models whose server leaves it in the text, while the text streams in.

Reasoning stands at the start of a reply, in `<think>` tags, the first of which some models leave out. A tag anywhere
else is the subject of the conversation and stays.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

_OPEN: Final = ("<think>", "<thinking>")
_CLOSE: Final = {"<think>": "</think>", "<thinking>": "</thinking>"}
_LONE_CLOSE: Final = "</think>"
_REASONERS: Final = re.compile(r"(^|[^a-z])(r1|qwq|think|thinking|reason|reasoning|reasoner)([^a-z]|$)")


@dataclass(frozen=True, slots=True)
class Sorted:
    """What a piece of a stream turned out to be. With `restart`, all text sorted before was reasoning, too."""

    text: str = ""
    thinking: str = ""
    restart: bool = False

    def __bool__(self) -> bool:
        return bool(self.text or self.thinking or self.restart)


def may_reason_unmarked(model: str) -> bool:
    """Tell from a model's name whether its replies may begin with reasoning that no opening tag announces."""
    return _REASONERS.search(model.casefold().rpartition("/")[2]) is not None


class ThinkingSorter:
    """Sorts one reply; feed it the pieces in order, then finish it.

    With `unmarked`, text without an opening tag is held to be reasoning until a closing tag, or the end, decides.
    """

    def __init__(self, *, unmarked: bool = False) -> None:
        self._unmarked = unmarked
        self._place: Literal["start", "inside", "held", "after", "reply"] = "start"
        self._pending = ""  # what may be the beginning of a tag
        self._opening, self._close = "", _LONE_CLOSE
        self._said = ""  # the reply or the held text so far, to judge a late closing tag

    def feed(self, piece: str) -> Sorted:
        """Return what is certain after this piece."""
        self._pending += piece
        text, thinking, restart = "", "", False
        while True:
            place, before = self._place, self._pending
            found = self._step()
            if found.restart:
                text, thinking, restart = "", thinking + text, True
            text, thinking = text + found.text, thinking + found.thinking
            if (self._place, self._pending) == (place, before):
                return Sorted(text, thinking, restart)

    def finish(self, *, complete: bool) -> Sorted:
        """Return what is left. `complete` is False where the reply was cut off, by its length or otherwise."""
        rest, self._pending = self._pending, ""
        if self._place == "held":
            return Sorted(text=self._said + rest)
        if self._place == "inside":
            # Never closed: cut-off reasoning, or a reply that begins with the tag as its subject.
            return Sorted(text=self._opening + self._said + rest) if complete else Sorted(thinking=rest)
        return Sorted(text="" if self._place == "after" else rest)

    def _step(self) -> Sorted:
        match self._place:
            case "start":
                return self._begin()
            case "inside" | "held":
                return self._think()
            case "after":
                self._pending = self._pending.lstrip()
                self._place = "reply" if self._pending else "after"
                return Sorted()
            case "reply":
                return self._speak()

    def _begin(self) -> Sorted:
        start = self._pending.lstrip()
        for tag in _OPEN:
            if start.startswith(tag):
                self._place, self._close, self._opening = "inside", _CLOSE[tag], tag
                self._pending = start.removeprefix(tag)
                return Sorted()
        if start.startswith(_LONE_CLOSE):
            self._place, self._pending = "after", start.removeprefix(_LONE_CLOSE)
        elif start and not any(tag.startswith(start) for tag in (*_OPEN, _LONE_CLOSE)):
            self._place = "held" if self._unmarked else "reply"
        return Sorted()

    def _think(self) -> Sorted:
        thought, closed, rest = self._pending.partition(self._close)
        if closed:
            self._place, self._pending, self._said = "after", rest, ""
            return Sorted(thinking=thought)
        keep = _tag_beginning(self._pending, self._close)
        thought, self._pending = self._pending[: len(self._pending) - keep], self._pending[len(self._pending) - keep :]
        self._said += thought
        return Sorted(thinking=thought)

    def _speak(self) -> Sorted:
        text, closed, rest = self._pending.partition(_LONE_CLOSE)
        if closed and not rest:
            return self._let_go(text, _LONE_CLOSE)
        if closed and rest[0] in "\r\n" and self._was_reasoning(text):
            self._place, self._pending, self._said = "after", rest, ""
            return Sorted(thinking=text, restart=True)
        if closed:
            return self._let_go(text + closed, rest)
        keep = _tag_beginning(self._pending, _LONE_CLOSE)
        cut = len(self._pending) - keep
        return self._let_go(self._pending[:cut], self._pending[cut:])

    def _let_go(self, text: str, pending: str) -> Sorted:
        self._said += text
        self._pending = pending
        return Sorted(text=text)

    def _was_reasoning(self, text: str) -> bool:
        """Judge a closing tag that ends a line: quoted, in a code block, or after an opening tag it is a subject."""
        said = self._said + text
        return not ("<think" in said or said.endswith("`") or said.count("```") % 2)


def _tag_beginning(text: str, tag: str) -> int:
    """Return how many characters at the end of `text` may be the beginning of `tag`."""
    return next((n for n in range(min(len(tag) - 1, len(text)), 0, -1) if tag.startswith(text[-n:])), 0)


def strip_thinking(reply: str) -> str:
    """Return a whole reply without its reasoning."""
    sorter = ThinkingSorter()
    first, last = sorter.feed(reply), sorter.finish(complete=True)
    return first.text + last.text
