"""Remembering, editing and taking back, on a real file."""

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memchat.curate.edit import Revision, edit, redact
from memchat.curate.remember import remember
from memchat.curate.undo import undo
from memchat.errors import EngineFailed, ForgottenBefore, NotFound, SecretFound, UsageError
from memchat.records import Cause, Kind, NewMemory, Source, State
from memchat.store import Store
from memchat.text import fold
from tests.fakes import FakeEmbedder

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
SECRET = "My bank PIN is 4321."


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "memchat" / "memory.db") as opened:
        yield opened


@pytest.fixture
def embedder():
    return FakeEmbedder()


def nearest(store, embedder, words):
    (vector,) = embedder.embed_queries([words])
    return {hit.memory: round(hit.similarity, 2) for hit in store.search_vectors(vector, 5)}


def learn(store, text, now=NOW, **fields):
    """Store a memory as learning does: with a turn that stated it."""
    session = store.add_session(now)
    turn = store.add_turn(
        session.id, user_text=f"Well, {text}", reply="ok", at=now, zone="UTC", model="m", learn=False, recall=None
    )
    new = NewMemory(text, source=Source(session.id, turn.id, text), **fields)
    return store.add_memory(new, cause=Cause.LEARNED, now=now)


# -- remember


def test_a_text_is_kept_verbatim_on_one_line_and_found_at_once(store, embedder):
    kept = remember(store, "  I keep\n bees…  ", now=NOW, embedder=embedder)
    assert (kept.memory.text, kept.restated, kept.pending) == ("I keep bees…", False, None)
    assert not kept.memory.pending
    assert nearest(store, embedder, "keep bees")[kept.memory.id] > 0.5


def test_kind_importance_and_pin_are_kept(store):
    memory = remember(store, "No nuts.", now=NOW, kind=Kind.CONSTRAINT, importance=9, pinned=True).memory
    assert (memory.kind, memory.importance, memory.pinned) == (Kind.CONSTRAINT, 9, True)


@pytest.mark.parametrize("text", ["", "  \n ", "\x07", "x" * 2001], ids=["empty", "space", "control", "too long"])
def test_blank_and_endless_texts_are_refused(store, text):
    with pytest.raises(UsageError):
        remember(store, text, now=NOW)
    assert store.count_memories() == 0


@pytest.mark.parametrize("importance", [0, 11, -1])
def test_an_importance_out_of_range_is_refused(store, importance):
    with pytest.raises(UsageError, match="between 1 and 10"):
        remember(store, "a b", now=NOW, importance=importance)


def test_a_secret_is_refused_until_confirmed(store):
    with pytest.raises(SecretFound, match="PIN"):
        remember(store, SECRET, now=NOW)
    assert store.count_memories() == 0
    assert remember(store, SECRET, now=NOW, confirmed=True).memory.text == SECRET


def test_the_same_text_again_is_the_same_memory(store, embedder):
    first = remember(store, "I keep bees.", now=NOW, embedder=embedder).memory
    again = remember(store, "i  keep BEES.", now=LATER, embedder=embedder, pinned=True)
    assert (again.memory.id, again.restated) == (first.id, True)
    assert (again.memory.text, again.memory.pinned, again.memory.last_seen_at) == ("I keep bees.", True, LATER)
    assert again.memory.importance == first.importance
    assert store.count_memories() == 1


def test_what_was_forgotten_needs_to_be_allowed_again(store):
    store.erase([remember(store, "I keep bees.", now=NOW).memory.id])
    with pytest.raises(ForgottenBefore, match="--allow-again"):
        remember(store, "I keep BEES.", now=NOW)
    remember(store, "I keep bees.", now=NOW, allow_again=True)
    assert not store.is_forgotten("I keep bees.")


@pytest.mark.parametrize("failure", [None, EngineFailed("The server said no.")], ids=["no embedder", "one that fails"])
def test_without_vectors_the_text_is_kept_and_pending(store, failure):
    embedder = None
    if failure is not None:
        embedder = FakeEmbedder()
        embedder.failure = failure
    kept = remember(store, "I keep bees.", now=NOW, embedder=embedder)
    assert kept.memory.pending
    assert kept.pending == ("The server said no." if failure else "There is no embedding model at hand.")
    assert remember(store, "I keep bees.", now=NOW, embedder=FakeEmbedder()).pending is None


def commits(store):
    """Return a list that grows with every commit."""
    counted = []
    store._db._connection.set_commit_hook(lambda: counted.append(1) or False)
    return counted


def test_a_memory_and_its_vector_are_stored_as_one(store, embedder):
    remember(store, "I keep bees.", now=NOW, embedder=embedder)
    counted = commits(store)
    embedder.documents.clear()
    kept = remember(store, "I grow figs.", now=NOW, embedder=embedder)
    assert (kept.pending, kept.memory.pending, embedder.documents) == (None, False, ["I grow figs."])
    assert len(counted) == 1
    assert nearest(store, embedder, "grow figs")[kept.memory.id] > 0.5


def test_an_embedder_that_fails_is_asked_once_and_the_memory_is_kept(store, embedder):
    remember(store, "I keep bees.", now=NOW, embedder=embedder)
    embedder.failure = EngineFailed("The server said no.")
    embedder.documents.clear()
    kept = remember(store, "I grow figs.", now=NOW, embedder=embedder)
    assert (kept.pending, kept.memory.pending, embedder.documents) == ("The server said no.", True, ["I grow figs."])


def test_another_embedder_than_the_files_leaves_it_pending(store, embedder):
    remember(store, "I keep bees.", now=NOW, embedder=embedder)
    kept = remember(store, "I grow figs.", now=NOW, embedder=FakeEmbedder(model="other"))
    assert kept.memory.pending
    assert "reindex" in kept.pending


def test_one_memory_does_not_wait_for_a_thousand_others(store, embedder):
    remember(store, "I keep bees.", now=NOW, embedder=embedder)
    with store.transaction():
        for number in range(300):
            store.add_memory(NewMemory(f"Fact number {number}."), cause=Cause.IMPORTED, now=NOW)
    embedder.documents.clear()
    kept = remember(store, "I grow figs.", now=NOW, embedder=embedder)
    assert (kept.pending, embedder.documents, store.count_pending_keys()) == (None, ["I grow figs."], 300)


@given(texts=st.lists(st.text() | st.text("ab \x00\ud800\u202e\n", max_size=5), max_size=4))
@settings(max_examples=25, deadline=None)
def test_any_text_is_kept_on_one_clean_line_or_refused_by_us(texts):
    with TemporaryDirectory() as folder, Store.open(Path(folder) / "m.db") as store:
        for text in texts:
            with suppress(UsageError, SecretFound):
                memory = remember(store, text, now=NOW).memory
                assert fold(memory.text) == fold(text)
                assert "\n" not in memory.text
                assert edit(store, memory.id, Revision(pinned=True), now=NOW).memory.text == memory.text
        assert store.check() == []


# -- edit


def test_an_edited_memory_is_found_by_its_new_wording_only(store, embedder):
    id = remember(store, "I keep bees.", now=NOW, embedder=embedder).memory.id
    edited = edit(store, id, Revision("I drive a tram"), now=LATER, embedder=embedder)
    assert (edited.memory.text, edited.changed, edited.pending) == ("I drive a tram", True, None)
    assert nearest(store, embedder, "drive tram")[id] > 0.5
    assert nearest(store, embedder, "keep bees")[id] < 0.5
    assert store.search_keywords(["bees"], 5) == []
    (change, _) = store.list_changes(id)
    assert (change.action, change.before["text"]) == ("edited", "I keep bees.")


def test_without_an_embedder_the_old_vector_is_gone(store, embedder):
    id = remember(store, "I keep bees.", now=NOW, embedder=embedder).memory.id
    edited = edit(store, id, Revision("I drive a tram"), now=LATER)
    assert edited.memory.pending
    assert nearest(store, embedder, "keep bees") == {}


def test_fields_change_without_touching_the_vector(store, embedder):
    id = remember(store, "I keep bees.", now=NOW, embedder=embedder).memory.id
    embedder.documents.clear()
    memory = edit(store, id, Revision(kind=Kind.SKILL, importance=2, pinned=True), now=LATER, embedder=embedder).memory
    assert (memory.kind, memory.importance, memory.pinned, memory.pending) == (Kind.SKILL, 2, True, False)
    assert embedder.documents == []
    assert not edit(store, id, Revision(pinned=True), now=LATER).changed


def test_what_was_derived_from_the_old_wording_goes_with_it(store):
    memory = store.add_memory(
        NewMemory(
            "I moved to Berlin in March 2026.",
            subject="user",
            attribute="home",
            value="Berlin",
            event_date=date(2026, 3, 1),
            cues=("Where do I live?",),
        ),
        cause=Cause.LEARNED,
        now=NOW,
    )
    shorter = edit(store, memory.id, Revision("I moved to Berlin."), now=NOW).memory
    assert (shorter.value, shorter.event_date, shorter.cues) == ("Berlin", date(2026, 3, 1), ("Where do I live?",))
    reworded = edit(store, memory.id, Revision("I came to Berlin."), now=NOW).memory
    assert (reworded.value, reworded.event_date, reworded.cues) == ("Berlin", None, ())
    other = edit(store, memory.id, Revision("I came to Porto."), now=NOW).memory
    assert (other.subject, other.attribute, other.value) == (None, None, None)


@pytest.mark.parametrize(
    ("revision", "error"),
    [
        (Revision(), UsageError),
        (Revision(""), UsageError),
        (Revision("I grow FIGS."), UsageError),
        (Revision(SECRET), SecretFound),
        (Revision("I like jazz."), ForgottenBefore),
        (Revision(importance=11), UsageError),
    ],
    ids=["nothing", "blank", "another memory's text", "a secret", "forgotten", "importance"],
)
def test_an_edit_that_cannot_be_is_refused_and_nothing_changes(store, revision, error):
    memory = remember(store, "I keep bees.", now=NOW).memory
    remember(store, "I grow figs.", now=NOW)
    store.erase([remember(store, "I like jazz.", now=NOW).memory.id])
    with pytest.raises(error):
        edit(store, memory.id, revision, now=LATER)
    assert store.get_memory(memory.id) == memory


def test_a_refused_edit_can_be_confirmed_and_allowed(store):
    id = remember(store, "I keep bees.", now=NOW).memory.id
    store.erase([remember(store, "I like jazz.", now=NOW).memory.id])
    assert edit(store, id, Revision("I like jazz.", allow_again=True), now=NOW).changed
    assert edit(store, id, Revision(SECRET, confirmed=True), now=NOW).memory.text == SECRET


def test_the_case_of_a_text_can_be_corrected(store):
    id = remember(store, "i keep bees.", now=NOW).memory.id
    assert edit(store, id, Revision("I keep bees."), now=NOW).memory.text == "I keep bees."


def test_editing_what_is_not_there_is_told(store):
    with pytest.raises(NotFound):
        edit(store, 99, Revision("x y"), now=NOW)


def test_a_redacted_wording_is_in_no_file(store, embedder, tmp_path):
    memory = learn(store, "I keep zanzibarian honeybees.")
    history = tmp_path / "history"
    history.write_text("\n# 1\n+Well, I keep zanzibarian honeybees.\n\n# 2\n+what is 2+2\n", encoding="utf-8")
    revision = Revision("I keep animals.")
    edited = redact(store, memory.id, revision, now=LATER, embedder=embedder, history=history)
    assert edited.receipt.verified
    assert edited.receipt.erased["input_lines"] == 1
    assert "history" in edited.receipt.checked
    assert (edited.memory.text, edited.memory.pending) == ("I keep animals.", False)
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or b"anzibar" not in file.read_bytes(), file
    assert history.read_text(encoding="utf-8") == "\n# 2\n+what is 2+2\n"
    with pytest.raises(ForgottenBefore):
        remember(store, "I keep zanzibarian honeybees.", now=NOW)
    assert store.get_turn(memory.source.turn).forgotten


def test_an_empty_redaction_erases_earlier_wordings_only(store):
    id = remember(store, "I keep bees.", now=NOW).memory.id
    edit(store, id, Revision("I keep animals."), now=NOW)
    edited = redact(store, id, Revision(), now=NOW)
    assert (edited.memory.text, edited.changed) == ("I keep animals.", False)
    assert store.list_changes(id) == []
    with pytest.raises(NotFound):
        undo(store, LATER)


# -- undo


def test_undo_takes_back_the_last_edit_then_the_memory(store):
    id = remember(store, "I keep bees.", now=NOW).memory.id
    edit(store, id, Revision("I drive a tram"), now=NOW)
    assert undo(store, LATER).ids == (id,)
    assert store.get_memory(id).text == "I keep bees."
    undo(store, LATER)
    with pytest.raises(NotFound):
        store.get_memory(id)
    with pytest.raises(NotFound, match="forgotten cannot be brought back"):
        undo(store, LATER)


def test_a_learning_with_what_it_superseded_is_one_step(store):
    old = learn(store, "I live in Berlin.")
    bystander = learn(store, "I keep bees.")
    new = learn(store, "I live in Porto.", LATER)
    store.supersede_memory(old.id, by=new.id, cause=Cause.LEARNED, now=LATER, turn=new.source.turn)
    outcome = undo(store, LATER)
    assert (outcome.steps, set(outcome.ids)) == (1, {old.id, new.id})
    assert store.get_memory(old.id).state is State.CURRENT
    assert [memory.id for memory in store.list_memories()] == [old.id, bystander.id]


def test_two_memories_of_one_turn_are_two_steps(store):
    first = learn(store, "I keep bees.")
    second = store.add_memory(
        NewMemory("I grow figs.", source=first.source), cause=Cause.LEARNED, now=NOW, turn=first.source.turn
    )
    assert undo(store, LATER).ids == (second.id,)
    assert undo(store, LATER).ids == (first.id,)


def test_what_was_undone_is_not_learnt_again_from_the_same_turn(store):
    memory = learn(store, "I keep bees.")
    undo(store, LATER)
    assert store.is_forgotten("I keep bees.", turn=memory.source.turn)
    assert not store.is_forgotten("I keep bees.")


def test_saying_a_thing_twice_and_undoing_leaves_it(store):
    id = remember(store, "I keep bees.", now=NOW).memory.id
    remember(store, "I keep bees.", now=LATER)
    undo(store, LATER)
    assert store.get_memory(id).last_seen_at == NOW


def test_several_steps_stop_where_there_is_no_more(store):
    ids = [remember(store, f"Fact {number}.", now=NOW).memory.id for number in range(3)]
    outcome = undo(store, LATER, 2)
    assert (outcome.steps, outcome.ids, outcome.note) == (2, (ids[2], ids[1]), "")
    outcome = undo(store, LATER, 5)
    assert (outcome.steps, outcome.ids) == (1, (ids[0],))
    assert "cannot be brought back" in outcome.note
    with pytest.raises(UsageError):
        undo(store, LATER, 0)


def test_undo_never_brings_back_what_was_forgotten(store):
    kept = remember(store, "I keep bees.", now=NOW).memory
    store.erase([remember(store, "I grow figs.", now=NOW).memory.id])
    assert undo(store, LATER).ids == (kept.id,)
    assert store.list_memories(state=None) == []
