"""Sentences as people type them, in many languages: what lasts is kept by code alone, what does not is left."""

from datetime import date
from pathlib import Path

import pytest

from memchat.learn.drafts import ReadingOptions, read_message
from memchat.learn.extract import SURE
from memchat.learn.plain import spell_out
from memchat.learn.shape import is_habit, is_lasting_state

LINES = [
    line
    for line in (Path(__file__).parent / "data" / "sentences.txt").read_text(encoding="utf-8").splitlines()
    if line[:1] in {"+", "-"}
]


def kept(text: str) -> list[str]:
    drafts = read_message(text, date(2026, 11, 30), ReadingOptions()).drafts
    return [draft.text for draft in drafts if draft.explicit or draft.judgement.weight >= SURE]


def test_what_lasts_is_kept_in_any_language_and_however_it_is_typed() -> None:
    wanted = [line[1:].rsplit("|", 1) for line in LINES if line.startswith("+")]
    missed = [text for text, word in wanted if not any(word.lower() in memory.lower() for memory in kept(text))]
    assert len(missed) <= 0.06 * len(wanted), missed


def test_what_does_not_last_is_left() -> None:
    empty = [line[1:] for line in LINES if line.startswith("-")]
    junk = [text for text in empty if kept(text)]
    assert len(junk) <= 0.02 * len(empty), junk


@pytest.mark.parametrize(
    ("text", "language", "plain"),
    [
        ("im a roofer n ive got a whippet", "en", "i'm a roofer and i've got a whippet"),
        ("Been vegan since 2015.", "en", "i Been vegan since 2015."),
        ("just moved to Ghent", "en", "i moved to Ghent"),
        ("Mum of four.", "en", "i'm Mum of four."),
        ("Lorry driver by trade.", "en", "i'm a Lorry driver by trade."),
        ("hab nen Hund", "de", "ich habe einen Hund"),
        ("chuis prof", "fr", "je suis prof"),
        ("Tell me more", "en", "Tell me more"),
        ("Don't tell me", "en", "Don't tell me"),
        ("Works now", "en", "Works now"),
    ],
)
def test_chat_spelling_and_a_dropped_subject_are_written_out(text: str, language: str, plain: str) -> None:
    assert spell_out(text, language) == plain


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("i forge gates for a living", "en"),
        ("ich schmiede Tore", "de"),
        ("forjo portones", "es"),
        ("forgio cancelli", "it"),
        ("kuję bramy", "pl"),
        ("я кую ворота", "ru"),
    ],
)
def test_a_verb_that_no_list_holds_is_a_habit_all_the_same(text: str, language: str) -> None:
    assert is_habit(text, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [("i want a gate", "en"), ("ich suche ein Tor", "de"), ("quiero un portón", "es"), ("я хочу ворота", "ru")],
)
def test_a_wish_of_the_moment_is_no_habit(text: str, language: str) -> None:
    assert not is_habit(text, language)
    assert not is_lasting_state(text, language)


@pytest.mark.parametrize(
    "text",
    [
        "I have 40k rows of data, I group by month, I take the mean, my chart is a saw. We store it all in UTC. Why?",
        "The curve is odd. The sensor is new. We assume laminar flow. Why does it flatten?",
    ],
)
def test_a_message_about_a_matter_teaches_no_habits(text: str) -> None:
    assert kept(text) == []


def test_a_fact_buried_in_a_message_about_a_matter_is_kept() -> None:
    text = "The chart is a saw. The rows are fine. It's for the bird observatory in Lund where I volunteer. Why?"
    assert [memory for memory in kept(text) if "Lund" in memory]
