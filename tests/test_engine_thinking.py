"""Reasoning that a server leaves in the text is sorted out, however the stream is cut into pieces."""

import pytest

from memchat.engine.thinking import ThinkingSorter, may_reason_unmarked, strip_thinking

# name, whole stream, thinking, text
STREAMS = [
    ("marked", "<think>Let me see.</think>\n\nHello!", "Let me see.", "Hello!"),
    ("after blank lines", "\n \n<think>a</think>b", "a", "b"),
    ("long tag", "<thinking>a</think> b</thinking>c", "a</think> b", "c"),
    ("empty reasoning", "<think>\n\n</think>\n\nHi", "\n\n", "Hi"),
    ("closing tag alone at the start", "</think>\n\nHi", "", "Hi"),
    ("closing tag alone later", "I should greet.\n</think>\n\nHello!", "I should greet.\n", "Hello!"),
    ("closing tag glued to the end of a line", "I should greet.</think>\n\nHello!", "I should greet.", "Hello!"),
    ("plain", "Hello, 1 < 2 and <b>bold</b>.", "", "Hello, 1 < 2 and <b>bold</b>."),
    ("leading space is kept", "  indented", "", "  indented"),
    ("ends within a tag", "a <", "", "a <"),
    ("ends within a tag at the start", "<thi", "", "<thi"),
    ("tag as a subject", "The <think> tag opens, </think>\ncloses.", "", "The <think> tag opens, </think>\ncloses."),
    ("quoted closing tag", "Write `</think>`\nthere.", "", "Write `</think>`\nthere."),
    ("closing tag in a sentence", "The </think> tag closes.", "", "The </think> tag closes."),
    ("closing tag in a code block", "So:\n```\na\n</think>\nb\n```\n", "", "So:\n```\na\n</think>\nb\n```\n"),
    ("closing tag as the last word", "It ends with </think>", "", "It ends with </think>"),
    ("second pair is a subject", "<think>a</think>See <think>b</think>\nc", "a", "See <think>b</think>\nc"),
    ("only a tag, as a subject", "<think> is a tag", None, "<think> is a tag"),
    ("blank", " \n", "", " \n"),
    ("nothing", "", "", ""),
]


def sort(pieces, *, unmarked=False, complete=True):
    """Feed the pieces as the chat does: a restart turns the text so far into reasoning."""
    sorter, thinking, text = ThinkingSorter(unmarked=unmarked), "", ""
    for found in [*map(sorter.feed, pieces), sorter.finish(complete=complete)]:
        if found.restart:
            thinking, text = thinking + text, ""
        thinking, text = thinking + found.thinking, text + found.text
    return thinking, text


@pytest.mark.parametrize(("stream", "thinking", "text"), [row[1:] for row in STREAMS], ids=[row[0] for row in STREAMS])
def test_every_way_to_cut_a_stream_in_two_or_into_letters_is_sorted_alike(stream, thinking, text):
    cuts = [[stream], list(stream), *([stream[:at], stream[at:]] for at in range(1, len(stream)))]
    for pieces in cuts:
        found_thinking, found_text = sort(pieces)
        assert found_text == text, pieces
        assert thinking is None or found_thinking == thinking, pieces


@pytest.mark.parametrize(("stream", "text"), [(row[1], row[3]) for row in STREAMS], ids=[row[0] for row in STREAMS])
def test_a_whole_reply_is_stripped_as_its_stream_is(stream, text):
    assert strip_thinking(stream) == text


def test_a_piece_that_cannot_be_a_tag_is_passed_on_at_once():
    sorter = ThinkingSorter()
    assert sorter.feed("Hel").text == "Hel"
    assert sorter.feed("lo 1 <").text == "lo 1 "
    assert sorter.feed(" 2").text == "< 2"


def test_a_model_known_to_leave_out_the_opening_tag_shows_nothing_before_the_closing_one():
    sorter = ThinkingSorter(unmarked=True)
    assert sorter.feed("I should greet.").text == ""
    assert not sorter.feed("").text
    assert sort(["I should", " greet.</thi", "nk>\nHello"], unmarked=True) == ("I should greet.", "Hello")


def test_a_model_that_was_wrongly_thought_to_reason_keeps_its_reply():
    assert sort(["Hello", " there"], unmarked=True)[1] == "Hello there"


@pytest.mark.parametrize("pieces", [["<think>so far"], ["<think>", "so far</thi"]])
def test_reasoning_cut_off_by_its_length_never_becomes_the_reply(pieces):
    assert sort(pieces, complete=False)[1] == ""


@pytest.mark.parametrize(
    ("model", "reasons"),
    [
        ("deepseek-r1:7b", True),
        ("hf.co/someone/DeepSeek-R1-Distill-Qwen-7B-GGUF:Q4_K_M", True),
        ("qwq:32b", True),
        ("phi4-mini-reasoning", True),
        ("llama3.2:3b", False),
        ("mistral:7b", False),
        ("star1r1a", False),
    ],
)
def test_the_names_of_reasoning_models_are_known(model, reasons):
    assert may_reason_unmarked(model) is reasons
