"""Replies on the screen: appended only, the same however the pieces are cut, nothing lost."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from memchat.terminal.flow import Flow, cells
from memchat.terminal.inline import read_inline
from memchat.terminal.markdown_table import split_row
from memchat.terminal.stream import Cleaner, MarkdownReply, PlainReply

COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def show(*pieces: str, width: int = 40, colours: bool = False) -> str:
    """Return what the pieces leave on the screen."""
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=True, markup=False, emoji=False, highlight=False, color_system="standard"
    )
    reply = MarkdownReply(console)
    for piece in pieces:
        reply.feed(piece)
    reply.finish()
    return out.getvalue() if colours else COLOURS.sub("", out.getvalue())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("Just words.", "Just words.\n", id="a sentence"),
        pytest.param("# Title\n\nText", "Title\n\nText\n", id="a heading loses its sign"),
        pytest.param("\n\nText\n\n\n\nMore\n\n", "Text\n\nMore\n", id="blank lines are one, none at the ends"),
        pytest.param("one\ntwo\nthree", "one\ntwo\nthree\n", id="the lines of a poem stay lines"),
        pytest.param("- a\n  - b\n* c", "• a\n  • b\n• c\n", id="bullets with depth"),
        pytest.param("1. a\n2) b\n10. c", "1. a\n2. b\n10. c\n".replace("2.", "2)"), id="numbers stay as written"),
        pytest.param("> said", "│ said\n", id="a quote"),
        pytest.param("a\n\n---\n\nb", "a\n\n" + "─" * 40 + "\n\nb\n", id="a rule"),
        pytest.param("arr[i] and [/b] and :beer:", "arr[i] and [/b] and :beer:\n", id="markup of rich is text"),
        pytest.param("42", "42\n", id="a number alone"),
        pytest.param("-5 degrees", "-5 degrees\n", id="a negative number is no bullet"),
        pytest.param("a | b", "a | b\n", id="a pipe inside a line"),
        pytest.param("| a | b", "| a | b\n", id="one row is no table"),
        pytest.param("see [docs](http://x.y/z).", "see docs (http://x.y/z).\n", id="a link shows where it leads"),
    ],
)
def test_markdown_is_shown(text: str, shown: str) -> None:
    assert show(text) == shown


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        pytest.param("**a b** c", [("a b", "bold"), (" c", "")], id="bold"),
        pytest.param("*a* _b_", [("a", "italic"), (" ", ""), ("b", "italic")], id="italic"),
        pytest.param("**a `b`**", [("a ", "bold"), ("b", "bold cyan")], id="code in bold"),
        pytest.param("`a*b*`", [("a*b*", "cyan")], id="code is verbatim"),
        pytest.param("``a`b``", [("a`b", "cyan")], id="two backticks"),
        pytest.param("2 * 3 * 4", [("2 * 3 * 4", "")], id="times"),
        pytest.param("2**3**4", [("2**3**4", "")], id="powers"),
        pytest.param("a_b_c __init__", [("a_b_c ", ""), ("init", "bold")], id="snake case"),
        pytest.param("f(**kwargs)", [("f(**kwargs)", "")], id="never closed"),
        pytest.param(r"\*a\* \d", [("*a* \\d", "")], id="escaped"),
        pytest.param("这是**重点**内容", [("这是", ""), ("重点", "bold"), ("内容", "")], id="bold between Chinese"),
    ],
)
def test_inline_marks(text: str, spans: list[tuple[str, str]]) -> None:
    found, rest = read_inline(text, final=True)
    joined: list[tuple[str, str]] = []
    for part, style in found:
        if joined and joined[-1][1] == style:
            joined[-1] = (joined[-1][0] + part, style)
        else:
            joined.append((part, style))
    assert (joined, rest) == (spans, "")


def test_a_mark_waits_for_its_partner_but_not_for_ever() -> None:
    assert read_inline("see **bo", final=False) == ([("see ", "")], "**bo")
    spans, _ = read_inline("**" + "b" * 300, final=False)
    assert spans[0] == ("**", "")


PIECES = (
    *("a", "bc", "é", "日", "👍🏽", "*", "**", "_", "~~", "`", "```", "\\", "[x](y)", "(", "."),
    *("-", "- ", "1.", "# ", "> ", "|", "|-|", " ", "  ", "\t", "\n", "\n\n", "\r\n", "\x1b[31m"),
)
FRAGMENTS = st.lists(st.sampled_from(PIECES), max_size=40)


@given(FRAGMENTS)
def test_cutting_the_reply_elsewhere_changes_nothing(fragments: list[str]) -> None:
    whole = "".join(fragments)
    assert show(whole) == show(*fragments) == show(*whole)


@given(FRAGMENTS)
def test_no_letter_is_lost_or_doubled(fragments: list[str]) -> None:
    letters = re.compile("[abcxy日👍]")
    whole = COLOURS.sub("", "".join(fragments))
    assert letters.findall(show(*fragments)) == letters.findall(whole)


def test_the_first_word_is_on_the_screen_before_the_second_comes() -> None:
    out = io.StringIO()
    reply = MarkdownReply(Console(file=out, width=80))
    reply.feed("Hel")
    assert out.getvalue() == "Hel"
    reply.feed("lo")
    assert out.getvalue() == "Hello"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("word " * 60, id="words"),
        pytest.param("日本語のテキストには空白がない。" * 10, id="Japanese"),
        pytest.param("👍🏽👨‍👩‍👧❤️ok " * 20, id="emoji"),
        pytest.param("- " + "word 漢字 " * 40, id="a list item"),
    ],
)
@pytest.mark.parametrize("width", [10, 31, 80])
def test_no_line_is_wider_than_the_window(text: str, width: int) -> None:
    assert max(cells(line) for line in show(*text, width=width).splitlines()) <= width


def test_list_items_hang_under_their_text() -> None:
    assert show("- " + "word " * 12, width=30).splitlines()[1].startswith("  word")


def test_closing_punctuation_does_not_begin_a_line() -> None:
    lines = show(*("漢字、" * 30), width=20).splitlines()
    assert not any(line.startswith("、") for line in lines)


def test_a_long_address_is_left_in_one_piece_to_copy() -> None:
    address = "http://example.org/" + "x" * 100
    assert address in show("see " + address, width=40)


def test_code_keeps_its_lines_and_gets_colour() -> None:
    code = '```python\ndef f():\n    """a\n    b"""\n    return arr[1]  # ' + "x" * 60 + "\n```\n"
    assert show(*code) == code
    assert "\x1b[" in show(code, colours=True).split("```python")[1].split("```")[0]


@pytest.mark.parametrize("language", ["", "nosuchlanguage", "{.python}", "c++"])
def test_code_in_any_language_is_printed(language: str) -> None:
    assert show(f"```{language}\nx [/b]\n\n  y\n```") == f"```{language}\nx [/b]\n\n  y\n```\n"


def test_code_without_an_end_is_printed_to_the_end() -> None:
    assert show("```\na\nb") == "```\na\nb\n"


def test_a_code_line_appears_when_it_is_whole() -> None:
    out = io.StringIO()
    reply = MarkdownReply(Console(file=out, width=80))
    reply.feed("```\none\ntwo")
    assert out.getvalue() == "```\none\n"


def test_a_table_is_drawn_when_it_is_whole() -> None:
    hints: list[str] = []
    out = io.StringIO()
    reply = MarkdownReply(Console(file=out, width=80), hints.append)
    for piece in "Here:\n\n| a | b |\n|---|--:|\n| `x|y` | 12 |\n| [/b] | 3 |\nEnd":
        reply.feed(piece)
    reply.finish()
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert lines[0] == "Here:"
    assert [line.split() for line in lines[2:] if line] == [
        ["a", "b"],
        [lines[3]],
        ["x|y", "12"],
        ["[/b]", "3"],
        ["End"],
    ]
    assert hints[0] == "a table, 1 row"
    assert hints[-1] == ""


def test_cells_of_a_row() -> None:
    assert split_row(r"| a \| b | `c|d` |  |") == [r"a \| b", "`c|d`", ""]


def test_control_sequences_never_reach_the_terminal() -> None:
    attack = "a\x1b]52;c;SGVsbG8=\x07b\x1b[2Jc\x9b31md\u202ee"
    for pieces in ([attack], list(attack)):
        out = io.StringIO()
        reply = PlainReply(out)
        for piece in pieces:
            reply.feed(piece)
        reply.finish()
        assert out.getvalue() == "abcde\n"
        assert show(*pieces) == "abcde\n"


def test_a_line_end_cut_in_two_is_one_line_end() -> None:
    cleaner = Cleaner()
    assert "".join(map(cleaner.clean, ["a\r", "\nb", "\r", "c"])) == "a\nb\nc"


def test_plain_pieces_come_out_as_they_are() -> None:
    out = io.StringIO()
    reply = PlainReply(out)
    reply.feed("**a** [/b]")
    assert out.getvalue() == "**a** [/b]"
    reply.finish()
    reply.finish()
    assert out.getvalue() == "**a** [/b]\n"


def test_a_narrower_window_holds_from_the_next_word_on() -> None:
    width = 60
    written: list[str] = []
    flow = Flow(lambda text, style: written.append(text), lambda: width)
    flow.begin("", "", 0)
    flow.add("one two three four ")
    width = 20
    flow.add("five six ")
    flow.end()
    assert "".join(written) == "one two three four\nfive six\n"
