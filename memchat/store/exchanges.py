"""Erasing conversations: whole exchanges give way to a mark, and with them all that was derived from them."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from memchat.store.connection import Database
from memchat.store.part import in_list, reads, to_json
from memchat.text import fold, words

MARK: Final = "[forgotten]"
_FEW: Final = 50  # words up to which looking for each one is quicker than cutting a text into words
_ALL: Final = "IN (SELECT value FROM json_each(?))"


def exchanges_of(database: Database, memories: Collection[int]) -> set[int]:
    """Return the turns that stated or restated memories, with every copy that a fork made of them."""
    stated = database.column(
        f"""SELECT turn FROM sources WHERE memory {_ALL} AND turn IS NOT NULL
        UNION SELECT turn FROM changes WHERE memory {_ALL} AND turn IS NOT NULL AND action IN ('added', 'restated')""",
        in_list(memories) * 2,
    )
    return with_copies(database, stated)


def with_copies(database: Database, turns: Iterable[int]) -> set[int]:
    """Return turns with the one each was copied from and all copies of that."""
    return set(
        database.column(
            f"""WITH roots AS (SELECT DISTINCT coalesce(origin, id) AS root FROM turns WHERE id {_ALL})
            SELECT id FROM turns WHERE id IN roots UNION SELECT id FROM turns WHERE origin IN roots""",
            in_list(turns),
        )
    )


def quoting(database: Database, user: int, wordings: Iterable[str]) -> set[int]:
    """Return the user's turns in which one of the wordings stands word for word (folded), in message or reply."""
    search = WordSearch(wordings)
    rows = database.rows(
        """SELECT turns.id, user_text, reply, coalesce(query, '') FROM turns
        JOIN sessions ON sessions.id = turns.session LEFT JOIN recalls ON recalls.turn = turns.id
        WHERE sessions.user = ? AND NOT forgotten""",
        (user,),
    )
    return {id for id, *texts in rows if any(search.found_in(text) for text in texts)}


class WordSearch:
    """Many wordings looked for at once: only those whose longest word stands in a text are compared with it.

    A wording of a single word is left out, since it says nothing by itself and stands in many texts.
    """

    def __init__(self, wordings: Iterable[str]) -> None:
        self._by_word: dict[str, set[str]] = {}
        for wording in {fold(wording) for wording in wordings}:
            parts = words(wording)
            if len(parts) > 1:
                self._by_word.setdefault(max(parts, key=len), set()).add(wording)

    def found_in(self, text: str) -> bool:
        """Tell whether any wording stands in `text`."""
        return any(True for _ in self._standing(text))

    def _standing(self, text: str) -> Iterator[str]:
        folded = text.casefold() if text.isascii() else fold(text)
        if len(self._by_word) <= _FEW and not any(word in folded for word in self._by_word):
            return
        folded = fold(text)
        for word in self._by_word.keys() & set(words(text)):
            yield from (wording for wording in self._by_word[word] if wording in folded)


def list_texts(database: Database, turns: Collection[int]) -> list[str]:
    """Return what was said in turns, on both sides."""
    rows = database.rows(f"SELECT user_text, reply FROM turns WHERE id {_ALL} AND NOT forgotten", in_list(turns))
    return [text for row in rows for text in row]


def mark_forgotten(database: Database, turns: Collection[int]) -> Counter[str]:
    """Put the mark in the place of whole exchanges and drop what was derived from them; return counts of rows."""
    ids = in_list(turns)
    evidence = f"UPDATE sources SET evidence = '' WHERE turn {_ALL}"
    derived = f"""UPDATE sessions SET title = NULL, summary = NULL, summarised_to = 0, profile = NULL
        WHERE id IN (SELECT session FROM turns WHERE id {_ALL})"""
    database.write(evidence, ids)
    database.write(derived, ids)
    counts = delete_records(database, turns)
    counts["turns"] = database.write(
        f"UPDATE turns SET user_text = ?, reply = ?, forgotten = 1 WHERE NOT forgotten AND id {_ALL}",
        (MARK, MARK, *ids),
    )
    return counts


def delete_records(database: Database, turns: Collection[int]) -> Counter[str]:
    """Delete the queue rows and recall records of turns; return counts of rows."""
    ids = in_list(turns)
    database.write(f"DELETE FROM quotations WHERE turn {_ALL}", ids)
    return Counter(
        queue=database.write(f"DELETE FROM queue WHERE turn {_ALL}", ids),
        log=database.write(f"DELETE FROM recalls WHERE turn {_ALL}", ids),
    )


def clear_quotations(database: Database, memories: Collection[int]) -> int:
    """Take memories out of the recall records that quote them, whose block gives way to the mark; return how many."""
    rows = database.rows(
        f"""SELECT turn, candidates, profile, block FROM recalls
        WHERE turn IN (SELECT turn FROM quotations WHERE memory {_ALL})""",
        in_list(memories),
    )
    for turn, candidates, profile, block in rows:
        database.write(
            "UPDATE recalls SET candidates = ?, profile = ?, block = ? WHERE turn = ?",
            (_without(candidates, memories), _without(profile, memories), MARK if block else "", turn),
        )
    database.write(f"DELETE FROM quotations WHERE memory {_ALL}", in_list(memories))
    return len(rows)


def clear_derived(database: Database, user: int, wordings: Iterable[str]) -> None:
    """Drop titles, summaries and frozen profiles of the user's sessions in which a wording stands."""
    search = WordSearch(wordings)
    rows = database.rows(
        "SELECT id, coalesce(title, ''), coalesce(summary, ''), coalesce(profile, '') FROM sessions WHERE user = ?",
        (user,),
    )
    for id, title, summary, profile in rows:
        if search.found_in(title):
            database.write("UPDATE sessions SET title = NULL WHERE id = ?", (id,))
        if search.found_in(summary):
            database.write("UPDATE sessions SET summary = NULL, summarised_to = 0 WHERE id = ?", (id,))
        if search.found_in(profile):
            database.write("UPDATE sessions SET profile = NULL WHERE id = ?", (id,))


@reads
def _without(entries: str, memories: Collection[int]) -> str:
    return to_json([entry for entry in json.loads(entries) if entry["id"] not in memories])
