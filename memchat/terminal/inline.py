"""Markdown inside a line, read from a text that is still growing.

Only what is certain is turned into style: a marker whose partner does not come within `HOLD` characters is text,
and so are `2 * 3`, `snake_case` and `f(**kwargs)`. Nothing that the model wrote is lost.
"""

import re
from typing import Final

Span = tuple[str, str]  # text, style

HOLD: Final = 240
_SPECIAL: Final = re.compile(r"[\\`*_~\[]")
_PUNCTUATION: Final = frozenset("\\`*_{}[]()#+-.!|<>~\"'$&%,/:;=?@^")
_LINK: Final = re.compile(r"\[([^\[\]\n]{1,200})\]\(([^()\s]{1,300})\)")
_LINK_BEGUN: Final = re.compile(r"\[[^\[\]\n]{0,200}(?:\](?:\([^()\s]{0,300})?)?$")
_MARKERS: Final = {"**": "bold", "__": "bold", "*": "italic", "_": "italic", "~~": "strike", "***": "bold italic"}


def read_inline(text: str, style: str = "", *, final: bool, before: str = "") -> tuple[list[Span], str]:
    """Return the spans of `text` that are certain, and the rest that needs more text.

    `before` is the character that stands before `text`; with `final` everything is certain.
    """
    spans: list[Span] = []
    while text:
        found = _SPECIAL.search(text)
        if found is None:
            spans.append((text, style))
            return spans, ""
        if found.start():
            spans.append((text[: found.start()], style))
            before, text = text[found.start() - 1], text[found.start() :]
        taken = _read_special(text, style, final, before)
        if taken is None:
            return spans, text
        new, length = taken
        spans += new
        before, text = text[length - 1], text[length:]
    return spans, ""


def _read_special(text: str, style: str, final: bool, before: str) -> tuple[list[Span], int] | None:
    """Return the spans at the start of `text` and the characters they take; None when more text is needed."""
    if text[0] == "\\":
        return _read_escape(text, style, final)
    if text[0] == "`":
        return _read_code(text, style, final)
    if text[0] == "[":
        return _read_link(text, style, final)
    return _read_emphasis(text, style, final, before)


def _read_escape(text: str, style: str, final: bool) -> tuple[list[Span], int] | None:
    if len(text) == 1:
        return ([("\\", style)], 1) if final else None
    return ([(text[1], style)], 2) if text[1] in _PUNCTUATION else ([("\\", style)], 1)


def _read_code(text: str, style: str, final: bool) -> tuple[list[Span], int] | None:
    run = re.match(r"`+", text)
    assert run is not None
    ticks = run.group()
    closed = re.compile(rf"(?<!`){ticks}(?!`)").search(text[:HOLD], len(ticks))
    # A closing run at the very end may still grow by another backtick, and then it closes nothing.
    if closed and (final or closed.end() < len(text)):
        inner = text[len(ticks) : closed.start()]
        if inner.strip() and inner[0] == inner[-1] == " ":
            inner = inner[1:-1]
        return [(inner, _join(style, "cyan"))], closed.end()
    return _literal(text, ticks, style, final)


def _read_link(text: str, style: str, final: bool) -> tuple[list[Span], int] | None:
    link = _LINK.match(text)
    if link is None:
        return None if not final and _LINK_BEGUN.match(text) else ([("[", style)], 1)
    label, address = link.groups()
    spans, _ = read_inline(label, _join(style, "underline"), final=True)
    # The address is always shown: a link that hides where it leads is a trap in a terminal.
    return ([*spans] if label == address else [*spans, (f" ({address})", style)]), link.end()


def _read_emphasis(text: str, style: str, final: bool, before: str) -> tuple[list[Span], int] | None:
    run = re.match(r"\*+|_+|~+", text)
    assert run is not None
    marker, after = run.group(), text[run.end() : run.end() + 1]
    if not after:
        return ([(marker, style)], len(marker)) if final or len(marker) > HOLD else None
    if marker not in _MARKERS or after.isspace() or _is_ascii_word(before):
        return [(marker, style)], len(marker)
    sign = re.escape(marker[0])
    closing = re.compile(rf"(?<![\s{sign}]){re.escape(marker)}(?!{sign})(?![A-Za-z0-9])")
    closed = closing.search(text[:HOLD], len(marker) + 1)
    # At the very end the next character decides whether this really closes.
    if closed and (final or closed.end() < len(text)):
        inner, _ = read_inline(text[len(marker) : closed.start()], _join(style, _MARKERS[marker]), final=True)
        return inner, closed.end()
    return _literal(text, marker, style, final)


def _literal(text: str, marker: str, style: str, final: bool) -> tuple[list[Span], int] | None:
    return ([(marker, style)], len(marker)) if final or len(text) > HOLD else None


def _is_ascii_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _join(style: str, more: str) -> str:
    return f"{style} {more}".strip()
