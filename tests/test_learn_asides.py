"""What a question takes for granted: who the user is, who is around them and what they must not eat."""

from datetime import date

import pytest

from memchat.learn.asides import asides
from memchat.learn.drafts import ReadingOptions, read_message

ASIDES = [
    ("en", "As a night nurse, when should I eat?", ["I'm a night nurse."]),
    ("en", "As an expert, what would you tell me?", []),
    ("en", "As a starter, what should I make?", []),
    ("en", "What wine goes with fish for my vegan wife?", ["My wife is vegan."]),
    ("en", "What can my 7 year old son build?", ["My son is 7 years old."]),
    ("en", "Which snacks are fine with my nut allergy?", ["I have a nut allergy."]),
    ("en", "A gift for my sister Marta?", ["My sister is called Marta."]),
    ("en", "A gift for my dad who collects stamps?", ["My dad collects stamps."]),
    ("en", "Is my code Python?", []),
    ("de", "Was schenke ich meiner Schwester Marta?", ["Meine Schwester heißt Marta."]),
    ("de", "Als Nachtschwester, wann soll ich essen?", ["Ich bin Nachtschwester."]),
    ("es", "¿Qué le regalo a mi hermana Marta?", ["Mi hermana se llama Marta."]),
    ("it", "Cosa regalo a mia sorella Marta?", ["Mia sorella si chiama Marta."]),
]


@pytest.mark.parametrize(("language", "text", "facts"), ASIDES, ids=[row[1] for row in ASIDES])
def test_what_a_question_takes_for_granted_is_a_fact(language: str, text: str, facts: list[str]) -> None:
    assert list(asides(text, language)) == facts


@pytest.mark.parametrize(
    "text",
    [
        "If I had to cook for my vegan wife, what would you suggest?",
        "What do I bring my mother Ada who has cancer?",
        "Write a card for my sister Marta.",
    ],
)
def test_a_supposition_an_illness_and_a_text_to_write_give_none(text: str) -> None:
    drafts = read_message(text, date(2026, 11, 30), ReadingOptions()).drafts
    assert not [
        draft.text for draft in drafts if "vegan" in draft.text or "cancer" in draft.text or "Marta" in draft.text
    ]
