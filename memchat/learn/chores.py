"""What is done when nothing waits to be learnt: vectors, missing cues, and duplicates that slipped in."""

from collections.abc import Callable
from datetime import datetime
from threading import Event

from memchat.engine import ChatModel, Embedder
from memchat.errors import Cancelled
from memchat.learn.cues import write_cues
from memchat.learn.embedding import embed_new
from memchat.learn.merge import merge_duplicates
from memchat.records import Cause, Memory
from memchat.store import Store


class Chores:
    """Idle work in small pieces; remembers what it has looked at, so that nothing is done again and again."""

    def __init__(self) -> None:
        self._compared = 0  # id of the last memory that was compared with the older ones
        self._asked: set[int] = set()  # memories whose cues were asked for

    def do_next(
        self,
        store: Store,
        model: Callable[[], ChatModel],
        embedder: Embedder | None,
        now: datetime,
        stop: Event,
    ) -> bool:
        """Do one piece of work; False when there is none left.

        Raises Cancelled when `stop` is set, and EngineError when the model fails.
        """
        if stop.is_set():
            raise Cancelled("Stopped.")
        if embedder is not None and embed_new(store, embedder, stop):
            return True
        self._compared, merged = merge_duplicates(store, now, stop, after=self._compared)
        if merged:
            return True
        lacking = store.list_without_cues(limit=len(self._asked) + 1)
        memory = next((memory for memory in lacking if memory.id not in self._asked), None)
        if memory is None:
            return False
        self._asked.add(memory.id)
        add_cues(store, model(), memory, now, stop)
        return True


def add_cues(store: Store, model: ChatModel, memory: Memory, now: datetime, stop: Event) -> bool:
    """Write the cues of one memory, which is not part of its history; False when the model gave none of use."""
    cues = write_cues(model, memory.text, store.embedder(), stop)
    if not cues:
        return False
    with store.transaction():
        there = store.get_memories([memory.id])
        if not there or there[0].text != memory.text:
            return False  # edited or forgotten meanwhile
        store.update_memory(memory.id, cause=Cause.LEARNED, now=now, cues=cues, keep_history=False)
    return True


def write_missing_cues(  # noqa: PLR0917 - the order is that of every function of the write path
    store: Store,
    model: ChatModel,
    embedder: Embedder | None,
    now: datetime,
    stop: Event,
    progress: Callable[[float, float], None] = lambda done, total: None,
) -> int:
    """Write the cues of every memory that has none; return for how many. Raises Cancelled and EngineError."""
    embed_new(store, embedder, stop)  # which also records the embedder that the cues are for
    waiting = store.list_without_cues()
    written = 0
    for number, memory in enumerate(waiting):
        progress(number, len(waiting))
        written += add_cues(store, model, memory, now, stop)
    embed_new(store, embedder, stop)
    return written
