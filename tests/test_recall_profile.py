"""The profile: who the user is, what binds them and who is around them, in few tokens."""

from dataclasses import replace as changed
from datetime import date

import pytest

from memchat.recall import RecallOptions, build_profile
from memchat.recall.profile import profile_size
from memchat.recall.spoken import as_spoken, without_subject
from memchat.records import Cause, Kind, State
from tests.recall_stage import NOW, open_store, replace, tell


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path) as store:
        yield store


def profile(store, **options):
    return [entry.text for entry in build_profile(store, changed(RecallOptions(), **options), NOW)]


def test_pinned_then_identity_constraints_wishes_and_relationships(store):
    tell(store, "My sister is Ana", Kind.RELATIONSHIP)
    tell(store, "I want replies without emojis", Kind.PREFERENCE)
    tell(store, "I cannot eat nuts", Kind.CONSTRAINT)
    tell(store, "I am Ines", Kind.IDENTITY)
    tell(store, "I like the sea", Kind.PREFERENCE, pinned=True)
    assert profile(store) == [
        "I like the sea",
        "I am Ines",
        "I cannot eat nuts",
        "I want replies without emojis",
        "My sister is Ana",
    ]


def test_what_room_is_left_goes_to_important_and_short_lasting_memories(store):
    tell(store, "I am Ines", Kind.IDENTITY)
    tell(store, "I like very long walks along the shore of the sea in winter", Kind.PREFERENCE)
    tell(store, "I like tea", Kind.PREFERENCE)
    tell(store, "I will sell the boat this year to my neighbour across the street", Kind.DECISION, importance=9)
    assert profile(store, profile_tokens=28) == [
        "I am Ines",
        "I will sell the boat this year to my neighbour across the street",
    ]
    assert profile(store, profile_tokens=15) == ["I am Ines", "I like tea"]


def test_passing_and_past_things_never_fill_it(store):
    tell(store, "I go to a concert", Kind.EVENT)
    tell(store, "I must call the bank", Kind.TASK)
    tell(store, "I want to run the race", Kind.GOAL, event_date=date(2026, 5, 3))
    tell(store, "I want to run the next race", Kind.GOAL, event_date=date(2027, 5, 3))
    assert profile(store) == ["I want to run the next race"]


def test_only_what_is_current_and_the_users_own(store):
    old, new = tell(store, "I live in Munich", Kind.IDENTITY), tell(store, "I live in Berlin", Kind.IDENTITY)
    replace(store, old, new)
    tell(store, "I may move", Kind.IDENTITY, state=State.PROPOSED)
    tell(store.for_user("ana"), "I live in Rome", Kind.IDENTITY)
    assert profile(store) == ["I live in Berlin"]


def test_the_newest_value_of_a_thing_alone(store):
    tell(store, "I live in Munich", Kind.IDENTITY, days_ago=90, subject="user", attribute="city")
    tell(store, "I live in Berlin", Kind.IDENTITY, days_ago=3, subject="User", attribute="City")
    assert profile(store) == ["I live in Berlin"]


def test_as_of_gives_the_profile_of_that_day(store):
    old, new = (
        tell(store, "I live in Munich", Kind.IDENTITY, days_ago=400),
        tell(store, "I live in Berlin", Kind.IDENTITY),
    )
    replace(store, old, new, days_ago=10)
    then = build_profile(store, RecallOptions(), NOW, as_of=NOW.replace(month=6))
    assert [entry.text for entry in then] == ["I live in Munich"]


def test_the_budget_holds_by_the_count_it_is_given(store):
    for number in range(40):
        tell(store, f"My cousin number {number} is called Mara", Kind.RELATIONSHIP)
    small = build_profile(store, RecallOptions(profile_tokens=50), NOW)
    assert 0 < profile_size(small) <= 50
    by_words = build_profile(store, RecallOptions(profile_tokens=50), NOW, count=lambda text: len(text.split()))
    assert len(by_words) > len(small)
    assert build_profile(store, RecallOptions(profile_tokens=0), NOW) == ()


def test_an_edit_shows_at_once(store):
    memory = tell(store, "I am Ines", Kind.IDENTITY)
    store.update_memory(memory.id, cause=Cause.USER, now=NOW, text="I am Inés")
    assert profile(store) == ["I am Inés"]


@pytest.mark.parametrize(
    ("text", "spoken", "short"),
    [
        ("The user's partner is Jonas.", "My partner is Jonas.", "Partner is Jonas"),
        ("The user is allergic to sesame.", "I am allergic to sesame.", "Is allergic to sesame"),
        ("User relocated to Berlin.", "I relocated to Berlin.", "Relocated to Berlin"),
        ("Wren fears the user's dog.", "Wren fears my dog.", "Wren fears the user's dog"),
        ("La usuaria vive en Teruel.", "Vive en Teruel.", "Vive en Teruel"),
        ("I never work on Sundays.", "I never work on Sundays.", "I never work on Sundays"),
        ("Userland tools are fine.", "Userland tools are fine.", "Userland tools are fine"),
    ],
)
def test_the_user_is_i_when_embedded_and_nobody_in_a_list(text, spoken, short):
    assert as_spoken(text) == spoken
    assert without_subject(text) == short
