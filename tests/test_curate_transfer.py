"""Export and import on real files, and making vectors afterwards."""

import json
import os
import stat
from datetime import UTC, date, datetime, timedelta
from threading import Event

import pytest

from memchat.curate.backup import backup
from memchat.curate.reindex import reindex, sum_up
from memchat.curate.transfer import export_lines, import_lines, write_export
from memchat.curate.undo import undo
from memchat.errors import EngineFailed, NotFound, UsageError
from memchat.records import Cause, Kind, NewMemory, Source, State
from memchat.store import Store
from tests.fakes import FakeEmbedder

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
EARLIER = datetime(2025, 12, 3, 9, 0, tzinfo=UTC)


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "memchat" / "memory.db") as opened:
        yield opened


@pytest.fixture
def other(tmp_path):
    with Store.open(tmp_path / "other" / "memory.db") as opened:
        yield opened


def bring(store, *documents, **options):
    lines = [document if isinstance(document, str) else json.dumps(document) for document in documents]
    return import_lines(store, lines, name="mine.jsonl", now=NOW, **options)


def texts(store, state=State.CURRENT):
    return [memory.text for memory in store.list_memories(state=state)]


def fill(store):
    """A store with one memory of each state, and all fields used."""
    full = NewMemory(
        "I moved to Berlin.",
        kind=Kind.EVENT,
        importance=9,
        confidence=0.25,
        pinned=True,
        created_at=EARLIER,
        last_seen_at=EARLIER + timedelta(days=1, milliseconds=5),
        subject="user",
        attribute="home",
        value="Berlin",
        event_date=date(2025, 3, 1),
        ref="r-1",
        source=Source(None, None, "moved to Berlin"),
        cues=("Where do I live?", "What city?"),
    )
    ids = [store.add_memory(full, cause=Cause.LEARNED, now=EARLIER).id]
    for text, state in (("I live in Porto.", State.CURRENT), ("I ski.", State.CURRENT), ("I row?", State.PROPOSED)):
        ids.append(store.add_memory(NewMemory(text, state=state), cause=Cause.USER, now=EARLIER).id)
    rejected = store.add_memory(NewMemory("I fly?", state=State.PROPOSED), cause=Cause.LEARNED, now=EARLIER)
    store.set_state(rejected.id, State.SUPERSEDED, cause=Cause.USER, now=EARLIER)
    store.supersede_memory(ids[0], by=ids[1], cause=Cause.LEARNED, now=NOW)
    store.supersede_memory(ids[2], by=None, cause=Cause.LEARNED, now=NOW)


def portable(store):
    """All that must survive a round trip, with supersedings told by text."""
    memories = store.list_memories(state=None)
    named = {memory.id: memory.text for memory in memories}
    kept = [
        "text",
        "kind",
        "importance",
        "confidence",
        "pinned",
        "state",
        "created_at",
        "last_seen_at",
        "superseded_at",
        "event_date",
        "subject",
        "attribute",
        "value",
        "cues",
        "ref",
    ]
    return [
        {name: getattr(memory, name) for name in kept}
        | {"by": named.get(memory.superseded_by), "evidence": memory.source and memory.source.evidence}
        for memory in memories
    ]


def test_export_then_import_gives_the_same_memories(store, other):
    fill(store)
    outcome = import_lines(other, export_lines(store), name="x", now=NOW + timedelta(days=9))
    assert (outcome.added, outcome.superseded) == (5, 2)
    assert portable(other) == portable(store)


def test_a_second_import_of_an_export_adds_nothing(store, other):
    fill(store)
    lines = list(export_lines(store))
    import_lines(other, lines, name="x", now=NOW)
    before = portable(other)
    again = import_lines(other, lines, name="x", now=NOW + timedelta(days=1))
    assert (again.added, again.known, again.duplicates, again.ids) == (0, 1, 4, ())
    assert portable(other) == before
    into_its_own = import_lines(store, lines, name="x", now=NOW)
    assert into_its_own.added == 0


def test_refs_make_an_import_idempotent_and_are_kept(store):
    document = {"text": "I keep bees.", "ref": "b-1"}
    (id,) = bring(store, document).ids
    assert store.find_by_ref("b-1").id == id
    outcome = bring(store, document | {"text": "Another wording."}, {"text": "I ski.", "ref": 7})
    assert (outcome.known, outcome.added) == (1, 1)
    assert store.find_by_ref("7").text == "I ski."
    assert texts(store) == ["I keep bees.", "I ski."]


def test_the_same_text_is_stored_once_unless_each_has_its_ref(store):
    outcome = bring(store, {"text": "I keep bees."}, {"text": "i keep  BEES."}, {"text": "I ski.", "ref": "a"})
    assert (outcome.added, outcome.duplicates) == (2, 1)
    assert bring(store, {"text": "I SKI."}).duplicates == 1
    assert bring(store, {"text": "I ski.", "ref": "b"}).added == 1


def test_one_bad_line_keeps_everything_out(store):
    with pytest.raises(UsageError) as caught:
        bring(store, {"text": "I keep bees."}, "nope", {"text": "x", "importance": 99})
    assert "mine.jsonl, line 2: Invalid JSON" in caught.value.sentence
    assert "mine.jsonl, line 3: importance" in caught.value.sentence
    assert texts(store) == []
    outcome = bring(store, {"text": "I keep bees."}, "nope", skip_bad=True)
    assert (outcome.added, [fault.line for fault in outcome.bad]) == (1, [2])


def test_a_line_without_its_end_ended_when_the_newer_one_was_said(store):
    outcome = bring(
        store,
        {"text": "I live in Turin.", "id": 4, "superseded_by": 9, "created_at": "2023-02-01"},
        {"text": "I live in Milan.", "id": 9, "created_at": "2024-03-01"},
    )
    assert store.get_memory(outcome.ids[0]).superseded_at == datetime(2024, 3, 1, tzinfo=UTC)
    as_of = datetime(2025, 1, 1, tzinfo=UTC)
    assert [memory.text for memory in store.list_memories(state=None, as_of=as_of)] == ["I live in Milan."]


def test_supersedings_are_kept_with_their_time(store):
    outcome = bring(
        store,
        {"text": "I live in Berlin.", "id": 4, "superseded_by": 9, "superseded_at": "2026-02-01T00:00:00Z"},
        {"text": "I live in Porto.", "id": 9},
    )
    old, new = store.get_memories(outcome.ids)
    assert (old.state, old.superseded_by) == (State.SUPERSEDED, new.id)
    assert old.superseded_at == datetime(2026, 2, 1, tzinfo=UTC)
    assert [hit.memory for hit in store.search_keywords(["berlin"], 5)] == []


def test_what_was_forgotten_is_held_back_and_its_predecessor_has_ended(store):
    store.erase(list(bring(store, {"text": "I live in Porto."}).ids))
    store.erase(list(bring(store, {"text": "I own a cat.", "subject": "user", "attribute": "pet", "value": "cat"}).ids))
    outcome = bring(
        store,
        {"text": "I live in Berlin.", "superseded_by": 2},
        {"id": 2, "text": "I LIVE in Porto."},
        {"text": "My pet is a cat.", "subject": "User", "attribute": "pet", "value": "Cat"},
        {"text": "I ski."},
    )
    assert (outcome.forgotten, outcome.added) == (2, 2)
    old = store.get_memory(outcome.ids[0])
    assert (old.state, old.superseded_by) == (State.SUPERSEDED, None)
    assert texts(store) == ["I ski."]


def test_secrets_are_held_back_wherever_they_stand_unless_they_are_wanted(store):
    lines = (
        {"text": "My bank PIN is 4321."},
        {"text": "I bank online.", "source": {"evidence": "my bank PIN is 4321"}},
        {"text": "I ski."},
    )
    outcome = bring(store, *lines)
    assert (outcome.secrets, outcome.added) == (2, 1)
    assert bring(store, *lines, keep_secrets=True).added == 2


def test_a_dry_run_counts_and_stores_nothing(store):
    outcome = bring(store, {"text": "I keep bees."}, {"text": "i keep bees."}, dry_run=True)
    assert (outcome.added, outcome.duplicates, outcome.ids) == (1, 1, ())
    assert texts(store) == []


def test_an_import_goes_to_the_user_who_imports(store):
    bring(store.for_user("bob"), {"text": "I keep bees.", "user": "ada"})
    assert (texts(store), texts(store.for_user("bob"))) == ([], ["I keep bees."])


def test_one_undo_takes_a_whole_import_back(store):
    bring(store, {"text": "I keep bees."})
    bring_at = NOW + timedelta(hours=1)
    lines = [
        json.dumps({"text": "I live in Berlin.", "superseded_by": "p", "superseded_at": "2026-02-01T00:00:00Z"}),
        json.dumps({"text": "I live in Porto.", "ref": "p"}),
    ]
    import_lines(store, lines, name="x", now=bring_at)
    assert undo(store, bring_at).steps == 1
    assert texts(store, None) == ["I keep bees."]
    undo(store, bring_at)
    with pytest.raises(NotFound):
        undo(store, bring_at)


def test_a_thousand_lines_are_added_once(store):
    lines = [
        json.dumps({"text": f"Fact number {n} of many.", "ref": f"r{n}", "created_at": "2026-01-01"})
        for n in range(1000)
    ]
    assert import_lines(store, lines, name="x", now=NOW).added == 1000
    assert import_lines(store, lines, name="x", now=NOW).known == 1000


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_an_export_is_private_whole_and_readable_json(store, tmp_path):
    fill(store)
    path = tmp_path / "out.jsonl"
    path.write_text("old")
    path.chmod(0o644)
    assert write_export(store, path) == 5
    documents = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [document["id"] for document in documents] == [1, 2, 3, 4, 5]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_export_never_writes_over_the_memory_file_or_a_folder(store, tmp_path):
    with pytest.raises(UsageError, match="memory file itself"):
        write_export(store, store.path)
    with pytest.raises(UsageError, match="folder"):
        write_export(store, tmp_path)


def test_a_backup_opens_as_a_memory_file_and_is_never_written_over(store, tmp_path):
    fill(store)
    done = backup(store, tmp_path / "copy.db")
    assert (done.memories, done.ids) == (1, ())
    assert done.bytes == done.path.stat().st_size
    with Store.open(done.path) as copy:
        assert portable(copy) == portable(store)
    with pytest.raises(UsageError):
        backup(store, done.path)


# -- reindex


def embedded(store, embedder, *words):
    bring(store, *({"text": text} for text in words))
    return sum_up(store, embedder.card(), reindex(store, embedder))


def test_pending_keys_are_embedded_with_progress(store):
    bring(store, *({"text": f"Fact number {n}."} for n in range(100)))
    steps = list(reindex(store, FakeEmbedder()))
    assert [(step.done, step.total) for step in steps] == [(0, 100), (64, 100), (100, 100)]
    assert store.count_pending_keys() == 0
    assert store.calibration() is not None
    assert [(step.done, step.total) for step in reindex(store, FakeEmbedder())] == [(0, 0)]


def test_another_embedder_embeds_everything_anew(store):
    embedded(store, FakeEmbedder(), "I keep bees.", "I ski.")
    new = FakeEmbedder(32, model="new")
    done = sum_up(store, new.card(), reindex(store, new))
    assert (done.embed_model, done.keys, done.memories, done.left, done.ids) == ("new", 2, 2, 0, (1, 2))
    assert store.embedder() == new.card()
    assert store.calibration() is not None
    (vector,) = new.embed_queries(["keep bees"])
    assert store.search_vectors(vector, 1)[0].memory == 1


def test_the_old_index_serves_until_the_new_one_is_whole_and_the_work_goes_on(store):
    old, new = FakeEmbedder(), FakeEmbedder(32, model="new")
    embedded(store, old, *(f"Fact number {n}." for n in range(100)))
    stop = Event()
    for step in reindex(store, new, stop=stop):
        if step.done:
            stop.set()
    assert store.embedder() == old.card()
    (vector,) = old.embed_queries(["fact number 3"])
    assert len(store.search_vectors(vector, 5)) == 5
    new.documents.clear()
    sum_up(store, new.card(), reindex(store, new))
    assert store.embedder() == new.card()
    assert len([text for text in new.documents if text.startswith("Fact number")]) == 36


def test_an_embedder_that_fails_half_way_leaves_the_old_index(store):
    old, new = FakeEmbedder(), FakeEmbedder(32, model="new")
    embedded(store, old, *(f"Fact number {n}." for n in range(100)))
    steps = reindex(store, new)
    next(steps), next(steps)
    new.failure = EngineFailed("The model broke.")
    with pytest.raises(EngineFailed):
        list(steps)
    assert store.embedder() == old.card()


def test_everything_can_be_embedded_anew_with_the_same_embedder(store):
    embedder = FakeEmbedder()
    embedded(store, embedder, "I keep bees.")
    embedder.documents.clear()
    assert sum_up(store, embedder.card(), reindex(store, embedder, everything=True)).keys == 1
    assert "I keep bees." in embedder.documents


class HalfBroken(FakeEmbedder):
    """Gives a vector of zeros for texts with "odd" in them."""

    def _vector(self, text):
        vector = super()._vector(text)
        return type(vector)("f", [0.0] * len(vector)) if "odd" in text else vector


def test_texts_without_a_usable_vector_stay_pending_and_stop_nothing(store):
    bring(store, *({"text": f"An {'odd' if n % 50 == 0 else 'even'} fact {n}."} for n in range(200)))
    embedder = HalfBroken()
    done = sum_up(store, embedder.card(), reindex(store, embedder))
    assert (done.keys, done.left) == (196, 4)
    assert store.count_pending_keys() == 4
