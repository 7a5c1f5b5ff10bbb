"""The phrases of the word files, as people really type them."""

import pytest

from memchat.learn.lexicon import Phrases


@pytest.mark.parametrize(
    ("phrase", "typed", "found"),
    [
        ("i'm a", "im a farrier", True),
        ("i've got", "ive got two cats", True),
        ("don't", "i dont eat pork", True),
        ("that's", "thats my landlord", True),
        ("he's", "hes my landlord", True),
        ("we'll go with", "well go with the blue one", False),
        ("we're at", "were at home", False),
        ("i'll go with", "ill go with her", False),
    ],
)
def test_an_apostrophe_may_be_left_out_where_no_other_word_comes_of_it(phrase: str, typed: str, found: bool) -> None:
    assert (typed in Phrases([phrase])) is found
