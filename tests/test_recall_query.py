"""What a message asks for, from its words alone."""

from datetime import UTC, datetime

import pytest

from memchat.recall import query
from memchat.recall.when import names_of_times

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where do I live?", ("live",)),
        ("What's the name of Tamino's school?", ("name", "tamino", "school")),
        ("¿Cuánto cobro por visita?", ("cobro", "visita")),
        ("Wo habe ich mein Fahrrad gekauft?", ("fahrrad", "gekauft")),
        ("Is it 7 or 19?", ("7", "19")),
        ("我住在哪里", ("我住在哪里",)),
        ("", ()),
        ("'; DROP TABLE", ("drop", "table")),
    ],
    ids=["english", "genitive", "spanish", "german", "numbers", "chinese", "empty", "quotes"],
)
def test_search_terms_leave_the_small_words_out(text, expected):
    assert query.search_terms(text) == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Which bus goes to the harbour?", "en"),
        ("¿Qué me llevo para leer?", "es"),
        ("Was schenke ich meiner Schwester?", "de"),
        ("Où est-ce que je travaille ?", "fr"),
        ("Кто мой врач", "other"),
        ("我的医生是谁", "other"),
        ("Reykjavik", "en"),
        ("", "en"),
    ],
)
def test_guess_language_by_its_small_words(text, language):
    assert query.guess_language(text) == language


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What should I cook?", True),
        ("Tell me a joke.", False),
        ("Give us an example of a palindrome.", False),
        ("Is it far from our flat?", True),
        ("¿Puedo comer esto?", True),
        ("How do magnets work?", False),
        ("我应该吃什么", True),
    ],
)
def test_speaks_of_self_hears_the_first_person_but_not_tell_me(text, expected):
    assert query.speaks_of_self(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("And what can she eat?", True),
        ("How about there, any good schools in the area for the little ones?", True),
        ("What was our limit?", True),
        ("Where does Ana live?", False),
        ("Who can teach me chess?", False),
        ("Can he eat peanut brittle?", True),
        ("Y a él, ¿qué le preparo?", True),
        ("Und mit ihm?", True),
        ("Where could I go for a long weekend without anything that scares me?", False),
        ("A reel-to-reel with a dead motor costs 20 pounds, is it worth getting for someone like me?", False),
    ],
)
def test_needs_context_hears_what_points_back(text, expected):
    assert query.needs_context(text) is expected


def test_a_follow_up_is_searched_alone_and_with_what_was_said_before():
    assert query.search_texts("And there?", "I fly to Oslo.") == ("And there?", "I fly to Oslo. And there?")
    assert query.search_texts("And there?", None) == ("And there?",)
    assert query.search_texts("And there?", "  ") == ("And there?",)
    alone = "Which of the two hotels near the harbour is quieter at night for me?"
    assert query.search_texts(alone, "I fly to Oslo.") == (alone,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where did I live before?", True),
        ("What was my previous job?", True),
        ("Which car did I use to drive?", True),
        ("¿Dónde vivía antes?", True),
        ("Wo habe ich früher gewohnt?", True),
        ("Where do I live?", False),
        ("What must I do before the trip?", False),
        ("¿Qué encargo antes de que llegue el invierno?", False),
        ("The lights went out again. What was my plan against it?", False),
    ],
)
def test_asks_about_past_only_when_it_is_over(text, expected):
    assert query.asks_about_past(text) is expected


@pytest.mark.parametrize(
    ("text", "present", "absent"),
    [
        ("What have I got on in mid December?", ["december", "diciembre", "dezember"], ["november"]),
        ("What is due this month?", ["november", "noviembre"], ["december"]),
        ("What is due next month?", ["december"], ["november", "2027"]),
        ("Where will we live next summer?", ["2027"], ["2026"]),
        ("¿Qué hice el año pasado?", ["2025"], ["2026"]),
        ("Is anything planned for early May?", ["may", "mayo"], []),
        ("What may it cost?", [], ["may", "mayo"]),
        ("Who won?", [], ["november", "2026"]),
    ],
)
def test_times_are_looked_up_by_all_their_names(text, present, absent):
    named = {name for names in names_of_times(text, NOW) for name in names}
    assert set(present) <= named
    assert named.isdisjoint(absent)


def test_next_month_in_december_is_january():
    assert names_of_times("next month", datetime(2026, 12, 3, tzinfo=UTC))[0][0] == "january"


def test_the_names_of_one_month_are_one_thing_to_look_up():
    groups = query.search_groups("Do I work in January?", NOW)
    assert groups[0] == ("work",)
    assert len(groups) == 2
    assert {"january", "enero"} <= set(groups[1])
