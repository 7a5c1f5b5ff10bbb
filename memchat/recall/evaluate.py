"""Measures recall on a person's own questions: how often what is needed is found, and how often noise is given."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Final

from memchat.engine import Embedder
from memchat.errors import NotFound
from memchat.recall.embed import embed_questions, ensure_embedded
from memchat.recall.options import RecallOptions
from memchat.recall.profile import build_profile
from memchat.recall.query import search_texts
from memchat.recall.questions import Question
from memchat.recall.ranking import quantile
from memchat.recall.read import answer
from memchat.recall.rerank import SecondLook
from memchat.records import Candidate, Recall
from memchat.store import Store

KS: Final = (3, 5, 10)


@dataclass(frozen=True, slots=True)
class Score:
    """Means over some questions (shares 0-1); those of an empty list are None.

    `k` and `mrr` judge the ranking of all memories, `given` what the model would really get, and `false_recall` is
    the share of the questions without gold for which anything stands beside the message.
    """

    n: int
    k: Mapping[str, Mapping[str, float]]
    mrr: float | None
    given: float | None
    false_recall: float | None


@dataclass(frozen=True, slots=True)
class EvalResult:
    """The whole measurement; `search_ms` leaves the embedding out, `past_given` counts undated superseded memories."""

    n: int
    k: Mapping[str, Mapping[str, float]]
    mrr: float | None
    given: float | None
    false_recall: float | None
    by_category: Mapping[str, Score]
    search_ms: Mapping[str, float]
    profile_tokens: int
    recalled: float
    past_given: int
    keywords_only: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The same questions under two sets of options, and the questions that came out better or worse with the second."""

    first: EvalResult
    second: EvalResult
    better: tuple[str, ...]
    worse: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """What one question came to; `found` is the recall at each k, `first` one over the place of the first gold."""

    question: Question
    found: Mapping[int, float]
    first: float
    given: float
    recalled: int


def evaluate(
    store: Store,
    embedder: Embedder | None,
    questions: Sequence[Question],
    options: RecallOptions,
    now: datetime,
    *,
    ks: Sequence[int] = KS,
    as_of: datetime | None = None,
    why_no_vectors: str | None = None,
    look: SecondLook | None = None,
) -> EvalResult:
    """Ask every question as the chat would and return the means; questions are embedded in batches.

    Raises NotFound when the store holds no memory to find, EngineError when what waits cannot be embedded.
    """
    recalls = _ask(store, embedder, questions, options, now, as_of=as_of, why_no_vectors=why_no_vectors, look=look)
    return _result([_row(*one, ks) for one in zip(questions, recalls, strict=True)], recalls, ks)


def compare(
    store: Store,
    embedder: Embedder | None,
    questions: Sequence[Question],
    options: tuple[RecallOptions, RecallOptions],
    now: datetime,
    *,
    ks: Sequence[int] = KS,
    as_of: datetime | None = None,
    why_no_vectors: str | None = None,
    look: SecondLook | None = None,
) -> Comparison:
    """Ask every question under two sets of options; a question is better when more of its gold is given."""
    tables, results = [], []
    for option in options:
        recalls = _ask(store, embedder, questions, option, now, as_of=as_of, why_no_vectors=why_no_vectors, look=look)
        tables.append([_row(*one, ks) for one in zip(questions, recalls, strict=True)])
        results.append(_result(tables[-1], recalls, ks))
    changes = [(after.question.q, _worth(after) - _worth(before)) for before, after in zip(*tables, strict=True)]
    return Comparison(
        first=results[0],
        second=results[1],
        better=tuple(q for q, change in changes if change > 0),
        worse=tuple(q for q, change in changes if change < 0),
    )


def _ask(
    store: Store,
    embedder: Embedder | None,
    questions: Sequence[Question],
    options: RecallOptions,
    now: datetime,
    *,
    as_of: datetime | None,
    why_no_vectors: str | None,
    look: SecondLook | None,
) -> list[Recall]:
    if not store.list_memories(limit=1, as_of=as_of):
        raise NotFound("There are no memories to search; `memchat remember` or `memchat import` adds some.")
    if embedder is not None:
        ensure_embedded(store, embedder, options=options)
    profile = build_profile(store, options, now, as_of=as_of)
    texts = [search_texts(question.q, question.prev) for question in questions]
    asked = embed_questions(store, embedder, texts, options, why_no_vectors)
    return [
        answer(store, vectors, searched, options, now, profile=profile, as_of=as_of, look=look)
        for vectors, searched in zip(asked, texts, strict=True)
    ]


def _row(question: Question, given: Recall, ks: Sequence[int]) -> _Row:
    order = [one.id for one in given.candidates if not _is_past(one)]
    gold = question.gold
    places = [order.index(id) + 1 for id in gold if id in order]
    to_the_model = {entry.id for entry in given.profile} | {one.id for one in given.injected}
    share = 1 / (len(gold) or 1)
    return _Row(
        question,
        found={k: sum(place <= k for place in places) * share for k in ks},
        first=1 / min(places) if places else 0.0,
        given=len(gold & to_the_model) * share,
        recalled=len(given.injected),
    )


def _is_past(candidate: Candidate) -> bool:
    return candidate.superseded_at is not None


def _worth(row: _Row) -> float:
    return row.given if row.question.gold else -float(row.recalled > 0)


def _result(rows: Sequence[_Row], recalls: Sequence[Recall], ks: Sequence[int]) -> EvalResult:
    whole = _score(rows, ks)
    times = [given.timings_ms["search"] + given.timings_ms["rank"] for given in recalls]
    return EvalResult(
        n=whole.n,
        k=whole.k,
        mrr=whole.mrr,
        given=whole.given,
        false_recall=whole.false_recall,
        by_category={name: _score(part, ks) for name, part in _by_category(rows).items()},
        search_ms={"p50": round(quantile(times, 0.5), 3), "p95": round(quantile(times, 0.95), 3)},
        profile_tokens=recalls[0].profile_tokens,
        recalled=fmean(row.recalled for row in rows),
        past_given=sum(_is_past(one) for given in recalls for one in given.injected),
        keywords_only=recalls[0].keywords_only,
    )


def _by_category(rows: Iterable[_Row]) -> dict[str, list[_Row]]:
    parts: dict[str, list[_Row]] = {}
    for row in rows:
        if row.question.category:
            parts.setdefault(row.question.category, []).append(row)
    return parts


def _score(rows: Sequence[_Row], ks: Sequence[int]) -> Score:
    asked = [row for row in rows if row.question.gold]
    none = [row for row in rows if not row.question.gold]
    by_k = {
        str(k): {
            "recall": fmean(row.found[k] for row in asked),
            "hit": fmean(float(row.found[k] > 0) for row in asked),
        }
        for k in (ks if asked else ())
    }
    return Score(
        n=len(rows),
        k=by_k,
        mrr=fmean(row.first for row in asked) if asked else None,
        given=fmean(row.given for row in asked) if asked else None,
        false_recall=fmean(float(row.recalled > 0) for row in none) if none else None,
    )
