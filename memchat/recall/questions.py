"""Reads a file of labelled questions, JSON Lines of `{"q","gold","category"?,"prev"?}`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memchat.errors import UsageError
from memchat.paths import read_outside
from memchat.store import Store
from memchat.text import clean


@dataclass(frozen=True, slots=True)
class Question:
    """One labelled question: the ids of the memories it needs, none when nothing should be recalled.

    A label that names no memory stands as a negative id: it is needed, and cannot be found.
    """

    q: str
    gold: frozenset[int]
    category: str = ""
    prev: str | None = None


def read_questions(path: Path, store: Store) -> tuple[list[Question], tuple[str, ...]]:
    """Return the file's questions, and the labels in them that name no memory of the store's user.

    `gold` holds refs or ids; other keys are ignored. Raises UsageError naming file, line and reason.
    """
    labels = _labels(store)
    missing: dict[str, int] = {}
    questions = []
    for number, line in enumerate(_read(path).splitlines(), start=1):
        if line.strip():
            row = _parse(line, f"{path}, line {number}")
            names = _gold(row, f"{path}, line {number}")
            gold = [labels.get(name) or missing.setdefault(name, -1 - len(missing)) for name in names]
            questions.append(_question(row, frozenset(gold), f"{path}, line {number}"))
    if not questions:
        raise UsageError(f'{path} holds no questions; a line looks like {{"q": "Where do I live?", "gold": [1]}}.')
    return questions, tuple(missing)


def _labels(store: Store) -> dict[str, int]:
    """Map ids, as text, and refs to ids; a ref wins over an id that looks the same."""
    memories = store.list_memories(state=None)
    ids = {str(memory.id): memory.id for memory in memories}
    return ids | {memory.ref: memory.id for memory in memories if memory.ref is not None}


def _read(path: Path) -> str:
    try:
        return read_outside(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8.") from None


def _parse(line: str, place: str) -> Mapping[str, object]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f"{place}: this is not JSON.") from None
    if not isinstance(row, dict):
        raise UsageError(f'{place}: a question is an object with "q" and "gold".')
    return row


def _gold(row: Mapping[str, object], place: str) -> list[str]:
    gold = row.get("gold")
    gold = [gold] if isinstance(gold, str | int) and not isinstance(gold, bool) else gold
    if not isinstance(gold, list) or not all(isinstance(one, str | int) for one in gold):
        raise UsageError(
            f'{place}: "gold" must be a list of refs or ids, or one alone; empty when nothing should be recalled.'
        )
    return [str(one) for one in gold]


def _question(row: Mapping[str, object], gold: frozenset[int], place: str) -> Question:
    text, previous, category = row.get("q"), row.get("prev"), row.get("category")
    if not isinstance(text, str) or not clean(text).strip():
        raise UsageError(f'{place}: "q" must be the text of a question.')
    return Question(
        clean(text),
        gold,
        category if isinstance(category, str) else "",
        clean(previous) if isinstance(previous, str) else None,
    )
