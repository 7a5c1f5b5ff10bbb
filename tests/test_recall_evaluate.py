"""Recall measured on labelled questions."""

import json
from dataclasses import replace as changed

import pytest

from memchat.errors import NotFound, UsageError
from memchat.recall import compare, evaluate, read_questions
from memchat.records import Kind
from tests.recall_stage import NOW, OPTIONS, embedder, open_store, tell


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path) as store:
        yield store


@pytest.fixture
def home(store):
    for ref, text, kind in (
        ("home", "moved to Berlin", Kind.FACT),
        ("milk", "oat milk in coffee", Kind.FACT),
        ("nuts", "allergic to peanuts", Kind.CONSTRAINT),
        ("bike", "bicycle with hub gears", Kind.EVENT),
    ):
        tell(store, text, kind, ref=ref)
    return store


def write(tmp_path, *rows):
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_gold_by_ref_and_by_id(home, tmp_path):
    id = home.find_by_ref("milk").id
    path = write(
        tmp_path, {"q": "a?", "gold": ["home", id], "category": "direct", "extra": 1}, "", {"q": "hi", "gold": []}
    )
    questions, missing = read_questions(path, home)
    assert [question.gold for question in questions] == [{home.find_by_ref("home").id, id}, set()]
    assert (questions[0].category, missing) == ("direct", ())


@pytest.mark.parametrize("gold", ["home", 1])
def test_gold_may_be_one_label_alone(home, tmp_path, gold):
    questions, missing = read_questions(write(tmp_path, {"q": "a?", "gold": gold}), home)
    (alone,) = read_questions(write(tmp_path, {"q": "a?", "gold": [gold]}), home)[0]
    assert (questions[0].gold, missing) == (alone.gold, ())


def test_a_label_that_names_nothing_counts_as_missed(home, tmp_path):
    path = write(tmp_path, {"q": "Where do I live?", "gold": ["home", "gone"]})
    questions, missing = read_questions(path, home)
    assert missing == ("gone",)
    assert evaluate(home, embedder(), questions, OPTIONS, NOW).given == 0.5


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "line 1: this is not JSON"),
        ("[1]", "line 1: a question is an object"),
        ('{"q": "a"}', 'line 1: "gold" must be a list'),
        ('{"q": "a", "gold": true}', 'line 1: "gold" must be a list'),
        ('{"q": "a", "gold": [1.5]}', 'line 1: "gold" must be a list'),
        ('{"q": " ", "gold": []}', 'line 1: "q" must be the text'),
        ("", "holds no questions"),
    ],
)
def test_a_bad_file_is_told_with_its_line(home, tmp_path, line, reason):
    with pytest.raises(UsageError, match=reason):
        read_questions(write(tmp_path, line), home)


def test_a_file_that_cannot_be_read(home, tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_questions(tmp_path / "none.jsonl", home)
    (tmp_path / "latin.jsonl").write_bytes(b'{"q": "caf\xe9", "gold": []}')
    with pytest.raises(UsageError, match="not UTF-8"):
        read_questions(tmp_path / "latin.jsonl", home)


def measure(store, tmp_path, *rows, options=OPTIONS, **more):
    return evaluate(store, embedder(), read_questions(write(tmp_path, *rows), store)[0], options, NOW, **more)


def test_the_ranking_what_is_given_and_false_recall_apart(home, tmp_path):
    result = measure(
        home,
        tmp_path,
        {"q": "Where do I live?", "gold": ["home"], "category": "direct"},
        {"q": "What can I cook?", "gold": ["nuts", "bike"], "category": "indirect"},
        {"q": "hello", "gold": [], "category": "none"},
        {"q": "milk in coffee", "gold": [], "category": "none"},
        ks=(1, 3),
    )
    assert result.n == 4
    assert result.k["1"] == {"recall": pytest.approx(0.75), "hit": 1.0}
    assert result.mrr == 1.0
    assert result.given == pytest.approx(0.75)  # the bicycle is not near, and an event is not in the profile
    assert result.false_recall == 0.5
    assert result.by_category["indirect"].given == 0.5
    assert result.by_category["none"].given is None
    assert result.by_category["direct"].false_recall is None
    assert set(result.search_ms) == {"p50", "p95"}
    assert (result.past_given, result.keywords_only) == (0, None)


def test_the_profile_counts_as_given_but_not_as_ranked(home, tmp_path):
    row = {"q": "bicycle gears", "gold": ["nuts"]}
    with_profile = measure(home, tmp_path, row, ks=(1,))
    without = measure(home, tmp_path, row, ks=(1,), options=changed(OPTIONS, profile_tokens=0))
    assert (with_profile.given, without.given) == (1.0, 0.0)
    assert with_profile.k["1"]["recall"] == without.k["1"]["recall"] == 0.0


def test_a_follow_up_uses_what_was_said_before(home, tmp_path):
    row = {"q": "And how?", "gold": ["bike"]}
    assert measure(home, tmp_path, row).given == 0.0
    assert measure(home, tmp_path, row | {"prev": "bicycle with hub gears"}).given == 1.0


def test_questions_are_embedded_in_batches(home, tmp_path):
    fake = embedder()
    sizes = []
    embed_queries = fake.embed_queries
    fake.embed_queries = lambda texts: (sizes.append(len(texts)), embed_queries(texts))[1]
    questions = read_questions(write(tmp_path, *({"q": f"q {n}", "gold": []} for n in range(130))), home)[0]
    evaluate(home, fake, questions, OPTIONS, NOW)
    assert sizes[-3:] == [64, 64, 2]


def test_as_of_asks_the_past(home, tmp_path):
    row = {"q": "Where do I live?", "gold": ["home"]}
    with pytest.raises(NotFound):
        measure(home, tmp_path, row, as_of=NOW.replace(year=2020))


def test_an_empty_store_has_nothing_to_find(store, tmp_path):
    with pytest.raises(NotFound, match="no memories"):
        measure(store, tmp_path, {"q": "a", "gold": []})


def test_without_an_embedder_words_are_measured_and_it_is_said(home, tmp_path):
    questions, _ = read_questions(write(tmp_path, {"q": "Is the milk oat?", "gold": ["milk"]}), home)
    result = evaluate(home, None, questions, OPTIONS, NOW)
    assert result.k["3"]["recall"] == 1.0
    assert "words only" in result.keywords_only


def test_two_settings_are_compared_question_by_question(home, tmp_path):
    questions, _ = read_questions(
        write(tmp_path, {"q": "Where do I live?", "gold": ["home"]}, {"q": "milk tea shop", "gold": []}), home
    )
    strict = changed(OPTIONS, floor=0.99, keyword_floor=1.0, profile_tokens=0)
    loose = changed(OPTIONS, profile_tokens=0)
    compared = compare(home, embedder(), questions, (strict, loose), NOW)
    assert (compared.first.given, compared.second.given) == (0.0, 1.0)
    assert compared.better == ("Where do I live?",)
    assert compared.worse == ("milk tea shop",)
