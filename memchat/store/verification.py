"""Reading the files after a forget: every erased word, term and vector is looked for, and what is found is judged."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from memchat.store import keywords, location, places, traces, vec0
from memchat.store.connection import Database
from memchat.text import fold, words

MOST_TERMS: Final = 50  # texts whose terms are looked up in the word index
_MOST_DOUBTS: Final = 200  # finds that are checked for being part of something kept
_TERM_LENGTH: Final = 6
_MERE: Final = 16  # bytes of a word that says nothing by itself


@dataclass(slots=True)
class Erasure:
    """What one forget took away, kept in memory to look for it afterwards."""

    forgotten: Collection[int]
    counts: Counter[str] = field(default_factory=Counter)
    texts: set[str] = field(default_factory=set)
    vectors: list[tuple[str, bytes]] = field(default_factory=list)  # with the text of the key
    terms: set[str] = field(default_factory=set)
    unreachable: list[str] = field(default_factory=list)


def search(database: Database, erasure: Erasure, extra_files: Sequence[Path]) -> dict[str, bool]:
    """Return for every file that was read whether an erased byte is still in it."""
    files = [*location.backups(database.path), *(file for file in extra_files if file.is_file())]
    most = traces.most_needles(database.path.stat().st_size + sum(file.stat().st_size for file in files))
    texts = traces.spread(erasure.texts, most)
    needles = _needles(database, erasure, texts)[:most]
    finds = traces.search_store(database, needles)
    finds |= {file.name: _search_beside(file, needles, erasure) for file in files}
    verdicts: dict[traces.Needle, bool] = {}
    for needle in set().union(*finds.values()):
        verdicts[needle] = len(verdicts) >= _MOST_DOUBTS or not _is_kept(database, needle)
    found = {name: any(verdicts[needle] for needle in needles) for name, needles in finds.items()}
    found[f"{database.path.name} (word index)"] = keywords.has_rows(database, erasure.forgotten, erasure.terms)
    if len(texts) < len(erasure.texts):
        found[f"{len(texts)} of {len(erasure.texts)} texts"] = False
    return found


def _search_beside(file: Path, needles: Sequence[traces.Needle], erasure: Erasure) -> set[traces.Needle]:
    """Look through a file of lines; a message of one word, such as "hello", stands in what others said too."""
    found = traces.search_file(file, needles)
    mere = {needle for needle in found if _is_mere(needle.words) and fold(needle.words) not in erasure.terms}
    if not mere:
        return found
    with file.open(encoding="utf-8", errors="replace") as lines:
        whole = {fold(line.removeprefix("+")) for line in lines}
    return found - {needle for needle in mere if fold(needle.words) not in whole}


def _is_mere(text: str) -> bool:
    """Tell whether a text is one short word; where words are not spaced, a few signs."""
    return len(words(text)) == 1 and len(text.encode()) <= _MERE


def _needles(database: Database, erasure: Erasure, texts: Collection[str]) -> list[traces.Needle]:
    """Return what to look for, the likeliest to be found first."""
    gone = set(texts) - places.surviving(database, texts)
    # The same question may be asked of another memory, and then its vector is there rightly.
    kept = places.surviving(database, {text for text, _ in erasure.vectors})
    lost = [vector for text, vector in erasure.vectors if text not in kept]
    return [
        *traces.text_needles(gone),
        *traces.vector_needles(lost),
        *_lone_terms(database, erasure.terms),
        *traces.other_needles(gone),
    ]


def _is_kept(database: Database, needle: traces.Needle) -> bool:
    """Tell whether found bytes belong to something that was not forgotten."""
    if needle.words:
        return places.stands_in(database, needle.words)
    return vec0.holds_vector(database, needle.content)


def _lone_terms(database: Database, terms: set[str]) -> list[traces.Needle]:
    """Return the erased terms that no text has any more: nor may their bytes stay."""
    return [
        traces.Needle(term.encode(), term)
        for term in sorted(terms - keywords.known_terms(database, terms))
        if len(term) >= _TERM_LENGTH and not term.isdigit()
    ]
