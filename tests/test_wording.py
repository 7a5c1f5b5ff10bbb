"""What the program says to people, looked for in its source."""

import re
from pathlib import Path

import pytest

import memchat

_NOUNS = "memories|exchanges|keys|turns|questions|sessions|conversations|steps|messages|rows|lines|cues"
_COUNTED_BY_HAND = re.compile(rf"\}} (?:{_NOUNS})\b")
_SOURCES = sorted(Path(memchat.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("source", _SOURCES, ids=lambda path: path.stem)
def test_numbers_of_things_are_counted_by_the_one_function(source: Path):
    """A number in front of a plural reads "1 memories" for one; `text.counted` never does."""
    found = [line for line in source.read_text().splitlines() if _COUNTED_BY_HAND.search(line)]
    assert found == [], "use text.counted"
