"""Two facts in one sentence are two memories, so that each can change alone; what is one fact stays one."""

from datetime import date

import pytest

from memchat.learn.compare import Relation, compare
from memchat.learn.drafts import ReadingOptions, read_message
from memchat.learn.parting import part_facts

PARTED = [
    ("en", "I moved to Turku in May and work as a glazier.", ["I moved to Turku in May", "I work as a glazier."]),
    ("en", "I'm Bo, I live in Turku and keep geese.", ["I'm Bo, I live in Turku", "I keep geese."]),
    ("en", "I'm vegan and allergic to kiwi.", ["I'm vegan", "I'm allergic to kiwi."]),
    ("en", "My brother lives in Cork and plays the oboe.", ["My brother lives in Cork", "My brother plays the oboe."]),
    ("en", "I was born on 3 May and live in Bath.", ["I was born on 3 May", "I live in Bath."]),
    ("de", "Ich wohne in Ulm und arbeite als Glaser.", ["Ich wohne in Ulm", "Ich arbeite als Glaser."]),
    ("es", "Vivo en Jaca y trabajo de cartera.", ["Vivo en Jaca", "Trabajo de cartera."]),
    ("fr", "J'habite à Brest et je travaille comme verrier.", ["J'habite à Brest", "Je travaille comme verrier."]),
]
WHOLE = [
    ("en", "I live in Turku with my wife and two sons."),
    ("en", "I live in Turku and Oulu."),
    ("en", "I live in Turku and love it."),
    ("en", "I work in a bank and as a DJ."),
    ("en", "I have a dog called Rex and a cat called Mia."),
    ("en", "I keep bees and geese."),
    ("sv", "Jag bor i Lund och jobbar som glasmästare."),
]


@pytest.mark.parametrize(("language", "text", "facts"), PARTED, ids=[row[1] for row in PARTED])
def test_two_facts_are_parted_each_with_its_subject(language: str, text: str, facts: list[str]):
    assert part_facts(text, language) == facts


@pytest.mark.parametrize(("language", "text"), WHOLE)
def test_one_fact_is_left_whole(language: str, text: str):
    assert part_facts(text, language) == [text]


def test_a_message_gives_a_memory_for_each_fact_and_one_of_them_can_change():
    drafts = read_message("Hi! I live in Turku and work as a glazier.", date(2026, 11, 30), ReadingOptions()).drafts
    texts = [draft.text for draft in drafts]
    assert texts == ["I live in Turku.", "I work as a glazier."]
    assert [compare("I moved to Oulu.", text).relation for text in texts] == [Relation.UPDATE, Relation.DIFFERENT]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Vivo en Lima.", "Vivo con mi prima Lola."),
        ("Ich wohne in Ulm.", "Ich wohne mit Bo zusammen."),
        ("J'habite à Brest.", "J'habite seul."),
        ("Abito a Matera.", "Abito con i miei."),
    ],
)
def test_with_whom_one_lives_is_no_new_home(old: str, new: str):
    assert compare(new, old).relation is Relation.DIFFERENT
