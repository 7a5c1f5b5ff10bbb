"""Telling what quotes a memory that is to be forgotten, gathered before it goes."""

from collections.abc import Iterable, Sequence
from typing import Final

from memchat.recall.query import search_terms
from memchat.records import Memory, State
from memchat.store import Store
from memchat.store.exchanges import WordSearch
from memchat.text import fold, words

_SHORTEST: Final = 5  # letters; a shorter word says little about a memory by itself
_ENDING: Final = 3  # letters that an inflected form may differ in


class Quotes:
    """Finds texts that repeat a wording, or hold a word that only the forgotten memories had.

    `wordings` are whole sentences and messages, `told` the texts whose single words tell of the memory, `kept`
    the texts that stay.
    """

    def __init__(self, wordings: Iterable[str], told: Iterable[str], kept: Iterable[str]) -> None:
        self._wordings = {fold(wording) for wording in wordings}
        self._search = WordSearch(self._wordings)
        self._holding: dict[str, list[str]] = {}  # word → wordings that hold it
        for wording in self._wordings:
            for word in set(words(wording)):
                self._holding.setdefault(word, []).append(wording)
        staying = {word for text in kept for word in words(text)}
        telling = {word for text in told for word in search_terms(text) if len(word) >= _SHORTEST}
        self._stems = {word[: max(_SHORTEST, len(word) - _ENDING)] for word in telling - staying}

    def found_in(self, text: str) -> bool:
        """Tell whether `text` quotes what is forgotten."""
        folded, spoken = fold(text), words(text)
        if folded in self._wordings or any(self._tells(word) for word in spoken):
            return True
        return (len(spoken) > 1 and self._is_part(folded, spoken)) or self._search.found_in(text)

    def _tells(self, word: str) -> bool:
        """Tell whether a word is one that only the forgotten memories had, in some inflection or compound."""
        return any(word[:end] in self._stems for end in range(_SHORTEST, len(word) + 1))

    def _is_part(self, folded: str, spoken: Sequence[str]) -> bool:
        longest = max(spoken[1:-1] or spoken, key=len)  # the first and last may be cut short
        return any(folded in wording for wording in self._holding.get(longest, ()))


def gather_quotes(
    store: Store, memories: Sequence[Memory], sessions: Sequence[int] = (), undone: Sequence[int] = ()
) -> Quotes:
    """Return what quotes these memories with all earlier versions and wordings, and what was said in the sessions.

    `undone` are memories of which only the history tells.
    """
    going = with_past(store, memories)
    told = [text for memory in going for text in _tellings(store, memory)]
    told += [text for id in undone for text in _changed_texts(store, id)]
    said = [_said(store, memory) for memory in going]
    spoken = [turn.user_text for session in sessions for turn in store.list_turns(session)]
    ids = {memory.id for memory in going}
    kept = (memory.text for memory in store.list_memories(state=None) if memory.id not in ids)
    return Quotes([*told, *(text for texts in said for text in texts), *spoken], told, kept)


def gather_old_wordings(store: Store, memory: Memory) -> Quotes:
    """Return what quotes the earlier wordings of a memory whose present text stays."""
    present = fold(memory.text)
    told = [text for text in _tellings(store, memory) if fold(text) != present and text not in memory.cues]
    return Quotes([*told, *_said(store, memory)], told, [memory.text])


def list_retold(store: Store, memories: Sequence[Memory], quotes: Quotes, undone: Sequence[int] = ()) -> list[int]:
    """Return the turns whose model was given any of these memories, and in which its words came back."""
    given = store.list_turns_given([*(memory.id for memory in with_past(store, memories)), *undone])
    return [turn.id for turn in given if quotes.found_in(turn.user_text) or quotes.found_in(turn.reply)]


def with_past(store: Store, memories: Sequence[Memory]) -> list[Memory]:
    """Return memories with all that they replaced, as an erasing takes them."""
    going = {memory.id: memory for memory in memories}
    past = store.list_memories(state=State.SUPERSEDED)
    while more := [memory for memory in past if memory.superseded_by in going and memory.id not in going]:
        going |= {memory.id: memory for memory in more}
    return list(going.values())


def _tellings(store: Store, memory: Memory) -> list[str]:
    """Return every wording of a memory, its evidence and its cues."""
    earlier = _changed_texts(store, memory.id)
    evidence = [source.evidence for source in store.list_sources(memory.id) if source.evidence]
    return [memory.text, *earlier, *evidence, *memory.cues]


def _changed_texts(store: Store, id: int) -> list[str]:
    """Return the wordings that the history tells of."""
    changes = store.list_changes(id)
    return [str(fields["text"]) for change in changes for fields in (change.before, change.after) if "text" in fields]


def _said(store: Store, memory: Memory) -> list[str]:
    """Return the messages in which a memory was stated."""
    turns = [source.turn for source in store.list_sources(memory.id) if source.turn is not None]
    return [turn.user_text for turn in map(store.get_turn, turns) if not turn.forgotten]
