"""Forgetting by hand: what is meant, then erased to the byte with what quotes it in the program's other files."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from memchat.curate.quotes import gather_quotes, list_retold, with_past
from memchat.curate.repl_history import strip_history
from memchat.curate.wording import forms_of
from memchat.engine import Embedder
from memchat.errors import NotFound
from memchat.recall import RecallOptions, recall
from memchat.recall.query import search_terms
from memchat.records import Memory, Receipt, State
from memchat.store import Store
from memchat.text import fold, words

_MOST_HITS = 100_000
# What the store's own receipt does not name: places outside the files of this program.
_UNREACHABLE = (
    "snapshots that the file system or a backup program made",
    "your shell's history of commands, and what your editor kept",
)
By = Literal["ids", "words", "meaning", "session", "date", "all"]


@dataclass(frozen=True, slots=True)
class Selection:
    """What is meant to be forgotten, to be shown before it goes. Earlier versions of the memories go with them."""

    by: By
    memories: tuple[Memory, ...]
    sessions: tuple[int, ...] = ()
    undone: tuple[int, ...] = ()  # memories that an undo took away; the history still tells of them

    @property
    def everything(self) -> bool:
        """Whether all of the user is meant, conversations too."""
        return self.by == "all"


def select_ids(store: Store, ids: Sequence[int]) -> Selection:
    """Return the memories of these ids; raises NotFound naming each that is neither there nor in the history."""
    memories = store.get_memories(ids)
    undone = [id for id in dict.fromkeys(ids) if id not in {memory.id for memory in memories}]
    missing = sorted(id for id in undone if not store.list_changes(id, limit=1))
    if missing:
        names = ", ".join(map(str, missing))
        raise NotFound(f"There is no memory {names}, so nothing was erased; `memchat list` shows those there are.")
    return Selection("ids", tuple(dict.fromkeys(memories)), undone=tuple(undone))


def select_query(
    store: Store,
    query: str,
    *,
    now: datetime,
    embedder: Embedder | None = None,
    options: RecallOptions | None = None,
    by_meaning: bool = False,
) -> Selection:
    """Return the memories, past ones too, that hold all the words of a query; raises NotFound when there is none.

    With `by_meaning`, when no memory holds the words, those that recall would give for the query: right only where
    the user is asked before they go.
    """
    by_words = _find_by_words(store, query)
    if by_words:
        return Selection("words", tuple(by_words))
    if by_meaning:
        found = recall(store, embedder, query, options or RecallOptions(), now)
        near = store.get_memories([candidate.id for candidate in found.injected])
        if near:
            return Selection("meaning", tuple(near))
    raise NotFound(f"No memory holds the words of {query!r}; nothing was erased.")


def select_sessions(store: Store, ids: Sequence[int]) -> Selection:
    """Return conversations and the memories first stated in them; raises NotFound."""
    wanted = {store.get_session(id).id for id in ids}
    learnt = [m for m in store.list_memories(state=None) if m.source is not None and m.source.session in wanted]
    return Selection("session", tuple(learnt), tuple(dict.fromkeys(ids)))


def select_before(store: Store, moment: datetime) -> Selection:
    """Return the memories made, and the conversations ended, before a moment; raises NotFound when there is none."""
    memories = [memory for memory in store.list_memories(state=None) if memory.created_at < moment]
    sessions = [s.id for s in store.list_sessions() if (s.last_turn_at or s.created_at) < moment]
    if not memories and not sessions:
        raise NotFound(f"There is nothing from before {moment:%Y-%m-%d}; nothing was erased.")
    return Selection("date", tuple(memories), tuple(sessions))


def select_all(store: Store) -> Selection:
    """Return all of the user."""
    sessions = tuple(session.id for session in store.list_sessions())
    return Selection("all", tuple(store.list_memories(state=None)), sessions)


def forget(store: Store, selection: Selection, *, history: Path | None = None, log: Path | None = None) -> Receipt:
    """Erase what was selected and return what was done, what was read to be sure, and what cannot be reached.

    `history` is the chat's input history: its entries that quote what goes are taken out first (all of them when
    everything goes). Raises NotFound with nothing erased when something has gone meanwhile, StoreBusy when another
    program keeps the old bytes from being wiped.
    """
    with store.transaction():
        pass  # a file that cannot be written is refused before anything is taken out of the input history
    quotes = (
        None if selection.everything else gather_quotes(store, selection.memories, selection.sessions, selection.undone)
    )
    retold = list_retold(store, selection.memories, quotes, selection.undone) if quotes is not None else []
    stripped = strip_history(history, quotes.found_in if quotes else _anything) if history is not None else 0
    files = tuple(file for file in (history, log) if file is not None)
    receipts = [erase(files) for erase in _erasures(store, selection, retold)]
    return complete_receipt(merge_receipts(receipts), history, stripped)


def complete_receipt(receipt: Receipt, history: Path | None, stripped: int) -> Receipt:
    """Return the store's receipt with what was taken out of the input history and the places it does not name."""
    lines = {"input_lines": stripped} if history is not None else {}
    return replace(receipt, erased={**receipt.erased, **lines}, unreachable=(*receipt.unreachable, *_UNREACHABLE))


def _anything(entry: str) -> bool:
    return True


_Erasing = Callable[[Sequence[Path]], Receipt]


def _erasures(store: Store, selection: Selection, retold: Sequence[int]) -> list[_Erasing]:
    """Return the erasings to be done, one after the other: conversations first, then the memories that are left."""
    forms = {} if selection.everything else _forms(store, selection.memories)
    if selection.everything:
        return [lambda files: store.erase_user(extra_files=files)]
    erasures: list[_Erasing] = []
    if selection.sessions:
        erasures.append(
            lambda files: store.erase_sessions(selection.sessions, retold=retold, forms=forms, extra_files=files)
        )
    gone = set(selection.sessions)
    rest = [m.id for m in selection.memories if m.source is None or m.source.session not in gone]
    rest += selection.undone
    if rest:
        erasures.append(lambda files: store.erase(rest, retold=retold, forms=forms, extra_files=files))
    return erasures


def _forms(store: Store, memories: Sequence[Memory]) -> dict[int, tuple[str, ...]]:
    return {memory.id: forms_of(memory.text) for memory in with_past(store, memories)}


def merge_receipts(receipts: Sequence[Receipt]) -> Receipt:
    """Return several receipts as one: counts add up, verified only when all are."""
    erased: Counter[str] = Counter()
    for receipt in receipts:
        erased.update(receipt.erased)
    return Receipt(
        forgotten=tuple(sorted({id for receipt in receipts for id in receipt.forgotten})),
        erased=dict(erased),
        verified=all(receipt.verified for receipt in receipts),
        checked=tuple(dict.fromkeys(name for receipt in receipts for name in receipt.checked)),
        unreachable=tuple(dict.fromkeys(place for receipt in receipts for place in receipt.unreachable)),
        found_in=tuple(dict.fromkeys(name for receipt in receipts for name in receipt.found_in)),
    )


def _find_by_words(store: Store, query: str) -> list[Memory]:
    """Return the memories in which the query stands, or all its words do (inflected, or in a cue), best first."""
    terms = search_terms(query)
    hits = (
        [hit for past in (False, True) for hit in store.search_keywords(terms, _MOST_HITS, past=past)] if terms else []
    )
    ids = [hit.memory for hit in hits if len(hit.matched) == len(terms)]
    wanted = fold(query)
    for memory in store.list_memories(state=None if not terms else State.PROPOSED):
        text = fold(memory.text)
        if wanted and (wanted in text or (terms and set(terms) <= set(words(text)))):
            ids.append(memory.id)
    return store.get_memories(list(dict.fromkeys(ids)))
