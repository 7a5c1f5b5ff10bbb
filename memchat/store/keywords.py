"""The full-text index over memories and their cues, and the text that goes into it."""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Final

from memchat.records import KeywordHit, State
from memchat.store.connection import Database
from memchat.store.part import Part, in_list
from memchat.text import fold

# Scripts whose words are not parted by spaces, and Hangul, whose words carry their particles.
_RUN: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003134f]+"
)
_MOST_TERMS: Final = 64
_SEARCH: Final = """SELECT rowid, -rank, matched_phrases(memories_fts) FROM memories_fts
    WHERE memories_fts MATCH ? ORDER BY rank LIMIT ?"""


class Keywords(Part):
    """Finds memories by words."""

    def search_keywords(self, terms: Sequence[str], limit: int, *, past: bool = False) -> list[KeywordHit]:
        """Return the user's memories that hold any of the terms, best first; `past` searches superseded ones.

        Any content is safe in a term. Terms in scripts without spaces match by pairs of characters.
        """
        phrases = [(term, phrase) for term in dict.fromkeys(terms) for phrase in _phrases(term)][:_MOST_TERMS]
        if not phrases or limit < 1:
            return []
        shelf = shelf_token(self._user_id, State.SUPERSEDED if past else State.CURRENT)
        any_of = " OR ".join(phrase for _, phrase in phrases)
        hits = []
        for memory, bm25, numbers in self._db.rows(_SEARCH, (f"shelf : {shelf} AND {{text cues}} : ({any_of})", limit)):
            places = [int(number) - 1 for number in numbers.split(",")]  # phrase 0 is the shelf
            matched = tuple(dict.fromkeys(phrases[place][0] for place in places if place >= 0))
            if matched:  # a term of punctuation alone makes an empty phrase, which would match everything
                hits.append(KeywordHit(memory, bm25, matched))
        return hits


def searchable(text: str) -> str:
    """Return `text` folded, with runs of unspaced scripts cut into overlapping pairs and their last character."""
    return _RUN.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", fold(text))


def shelf_token(user: int, state: State) -> str:
    """Return the term that stands for one user's current or past memories (it ends in a digit: never stemmed)."""
    return f"{'current' if state is State.CURRENT else 'past'}{user}"


def write_row(database: Database, memory: int, texts: tuple[str, Iterable[str]], shelf: str) -> None:
    """Put a memory's text and cues into the index in place of what stood there."""
    delete_rows(database, (memory,))
    insert_row(database, memory, texts, shelf)


def insert_row(database: Database, memory: int, texts: tuple[str, Iterable[str]], shelf: str) -> None:
    """Put the text and cues of a memory into the index that is not in it yet."""
    text, cues = texts
    database.write(
        "INSERT INTO memories_fts (rowid, text, cues, shelf) VALUES (?, ?, ?, ?)",
        (memory, searchable(text), searchable("\n".join(cues)), shelf),
    )


def delete_rows(database: Database, memories: Iterable[int]) -> None:
    """Take memories out of the index."""
    database.write("DELETE FROM memories_fts WHERE rowid IN (SELECT value FROM json_each(?))", in_list(memories))


def delete_many(database: Database, memories: Iterable[int]) -> None:
    """Take a user's whole share out of the index: its words are wiped by the merge of `scrub`, not row by row."""
    database.write("INSERT INTO memories_fts (memories_fts, rank) VALUES ('secure-delete', 0)")
    delete_rows(database, memories)
    database.write("INSERT INTO memories_fts (memories_fts, rank) VALUES ('secure-delete', 1)")


def known_terms(database: Database, terms: Collection[str]) -> set[str]:
    """Return those of the index's terms that any memory has."""
    _open_vocabulary(database)
    wanted = "SELECT DISTINCT term FROM temp.vocabulary WHERE term IN (SELECT value FROM json_each(?))"
    return set(database.column(wanted, in_list(terms)))


def has_rows(database: Database, memories: Collection[int], terms: Collection[str]) -> bool:
    """Tell whether the index still leads from any of the terms to any of the memories."""
    _open_vocabulary(database)
    docs = database.column(
        "SELECT DISTINCT doc FROM temp.vocabulary WHERE term IN (SELECT value FROM json_each(?))", in_list(terms)
    )
    return not set(memories).isdisjoint(docs)


def _open_vocabulary(database: Database) -> None:
    database.write("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, memories_fts, instance)")


def _pairs(run: str) -> list[str]:
    """Cut a run of characters into pairs; vowel signs, which FTS5 takes for gaps, are left out."""
    letters = [character for character in run if character.isalnum()]
    return [a + b for a, b in pairwise(letters)] + letters[-1:]


def _phrases(term: str) -> list[str]:
    """Return the FTS5 phrases that a term is searched by; one lone character matches every pair it begins."""
    phrases = []
    for piece in _RUN.sub(lambda run: f" {run[0]} ", fold(term)).split():
        if not _RUN.fullmatch(piece):
            phrases.append(_quoted(piece))
        else:
            pairs = _pairs(piece)
            phrases += [_quoted(pair) for pair in pairs[:-1]] or [f"{_quoted(pair)} *" for pair in pairs]
    return [phrase for phrase in phrases if any(map(str.isalnum, phrase))]


def _quoted(text: str) -> str:
    return '"{}"'.format(text.replace('"', '""'))
