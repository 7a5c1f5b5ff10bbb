"""What stays forgotten is a fact, in whatever words; another fact about the same thing is free to be learnt."""

import pytest

from memchat.learn.gist import forgotten_forms

REWORDED = [
    ("I live in Porto.", "I have lived in Porto for years."),
    ("I live in Porto.", "We've been living in Porto since 2019."),
    ("I live in Porto.", "My home is in Porto"),
    ("My dog is called Rex.", "My dog's name is Rex."),
    ("My dog is called Rex.", "I have a dog named Rex."),
    ("My dog is called Rex.", "Rex is my dog."),
    ("I'm allergic to peanuts.", "I have a peanut allergy."),
    ("I play the cello.", "I've been playing the cello for years now."),
    ("Ich wohne in Köln.", "Ich lebe seit Jahren in Köln."),
    ("Meine Katze heißt Minka.", "Ich habe eine Katze namens Minka."),
    ("Vivo en Sevilla.", "Llevo años viviendo en Sevilla."),
    ("Mon chat s'appelle Félix.", "J'ai un chat nommé Félix."),
]
OTHER = [
    ("I live in Porto.", "I work in Porto."),
    ("I live in Porto.", "I hate Porto."),
    ("I live in Porto.", "I live in Lisbon."),
    ("My dog is called Rex.", "My dog is ill."),
    ("My dog is called Rex.", "My dog is called Max."),
    ("I'm allergic to peanuts.", "I'm not allergic to peanuts."),
    ("I play the cello.", "I used to play the cello."),
    ("I have two sons.", "I have three sons."),
    ("My exam is on 3 May.", "My exam is on 4 June."),
    ("Ich wohne in Köln.", "Ich arbeite in Köln."),
    ("Vivo en Sevilla.", "Odio Sevilla."),
]


@pytest.mark.parametrize(("said", "reworded"), REWORDED)
def test_a_rewording_shares_a_form(said: str, reworded: str):
    assert set(forgotten_forms(said)) & set(forgotten_forms(reworded))


@pytest.mark.parametrize(("said", "other"), OTHER)
def test_another_fact_shares_none(said: str, other: str):
    assert not set(forgotten_forms(said)) & set(forgotten_forms(other))


def test_a_long_text_has_no_forms():
    assert forgotten_forms("I keep bees. " * 40) == ()
