"""Any sequence of calls: what is stored is what a plain model says, and no index ever drifts from it."""

import random

import pytest

from memchat.errors import MemchatError
from memchat.records import Cause, NewMemory, Source, State
from tests.fakes import FakeEmbedder
from tests.store_stage import LATER, NOW, embed_all, files_with, near, open_store, recall_of, say, worded

WORDS = ("bees", "tram", "Berlin", "Köln", "東京に住む", "tea", "chess", "Ana", "job", "12", "don't", "naïve")


class Play:
    """One random sequence over two users, with a model of the current texts of each."""

    def __init__(self, store, seed):
        self.random = random.Random(seed)
        self.stores = [store, store.for_user("ana")]
        self.embedders = [FakeEmbedder(), FakeEmbedder(32, model="other")]
        self.gone = []

    def text(self):
        return " ".join(self.random.choices(WORDS, k=4)) + f" {self.random.randrange(10**9)}"

    def any_id(self, store):
        ids = [memory.id for memory in store.list_memories(state=None)]
        return self.random.choice(ids) if ids else 0

    def step(self):
        store = self.random.choice(self.stores)
        names = [name for name in dir(self) if name.startswith("try_")]
        weights = [5 if name in ("try_add", "try_learn", "try_edit", "try_embed") else 1 for name in names]
        getattr(self, self.random.choices(names, weights)[0])(store)

    def try_add(self, store):
        state = self.random.choice([State.CURRENT, State.CURRENT, State.PROPOSED])
        new = NewMemory(self.text(), cues=(self.text(),), subject="user", attribute="x", state=state)
        store.add_memory(new, cause=Cause.USER, now=NOW)

    def try_learn(self, store):
        text = self.text()
        turn = say(store, text, learn=True, recall=recall_of(*store.list_memories(limit=2)))
        source = Source(turn.session, turn.id, text)
        store.add_memory(NewMemory(text, source=source), cause=Cause.LEARNED, now=NOW)

    def try_edit(self, store):
        store.update_memory(self.any_id(store), cause=Cause.USER, now=LATER, text=self.text(), pinned=True)

    def try_cues(self, store):
        store.update_memory(self.any_id(store), cause=Cause.LEARNED, now=LATER, cues=(self.text(), "same?"))

    def try_supersede(self, store):
        by = self.random.choice([None, self.any_id(store)])
        store.supersede_memory(self.any_id(store), by=by, cause=Cause.LEARNED, now=LATER)

    def try_state(self, store):
        store.set_state(self.any_id(store), self.random.choice(list(State)), cause=Cause.USER, now=LATER)

    def try_undo(self, store):
        changes = store.list_changes(limit=3)
        store.undo_change(self.random.choice(changes).id if changes else 0, LATER)

    def try_fork(self, store):
        sessions = store.list_sessions()
        store.fork_session(self.random.choice(sessions).id if sessions else 0, LATER)

    def try_embed(self, store):
        card = store.embedder()
        embed_all(store, self.embedders[1] if card == self.embedders[1].card() else self.embedders[0])

    def try_reindex(self, store):
        new = self.random.choice(self.embedders)
        store.begin_reindex(new.card())
        keys = store.list_reindex_keys(self.random.choice([1, 1000]))
        vectors = new.embed_documents([key.text for key in keys])
        store.set_reindex_vectors(list(zip([key.id for key in keys], vectors, strict=True)), new.card())
        if self.random.random() < 0.7:
            store.finish_reindex()

    def try_erase(self, store):
        id = self.any_id(store)
        text = store.get_memory(id).text
        assert store.erase([id]).verified
        self.gone.append(text)

    def try_erase_session(self, store):
        sessions = store.list_sessions()
        assert store.erase_sessions([self.random.choice(sessions).id if sessions else 0]).verified

    def try_roll_back(self, store):
        with store.transaction():
            self.try_add(store)
            self.try_edit(store)
            store.get_memory(0)


@pytest.mark.parametrize("seed", range(4))
def test_no_sequence_of_calls_makes_the_indexes_drift(tmp_path, seed):
    with open_store(tmp_path) as store:
        play = Play(store, seed)
        for _ in range(120):
            try:
                play.step()
            except MemchatError:
                continue
        assert [fault for fault in store.check() if fault.name != "reindex"] == []
        embedder = play.embedders[1] if store.embedder() == play.embedders[1].card() else play.embedders[0]
        embed_all(store, embedder)
        for own in play.stores:
            for memory in own.list_memories():
                assert memory.id in near(own, memory.text, embedder=embedder, limit=100)
                assert memory.id in worded(own, memory.text.split()[-1], limit=100)
                assert memory.id not in near(own, memory.text, embedder=embedder, limit=100, past=True)
        assert files_with(store.path, *(text.split()[-1] for text in play.gone)) == []
