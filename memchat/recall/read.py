"""One pass of the read path: what a message recalls, with every number, verdict and the time that each stage took."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from time import perf_counter

from memchat.engine import Embedder
from memchat.recall.calibrate import question_floor
from memchat.recall.embed import Asked, embed_question
from memchat.recall.options import RecallOptions
from memchat.recall.profile import profile_size
from memchat.recall.query import asks_about_past, guess_language, search_groups, search_texts
from memchat.recall.rerank import SecondLook, look_again
from memchat.recall.search import CANDIDATES, Found, find
from memchat.recall.select import Bar, raised, select
from memchat.recall.weigh import weigh
from memchat.records import ProfileEntry, Rankable, Recall, State
from memchat.store import Store

_SPARE = 4  # candidates for each memory that may be given: twins, the profile and the floor take some away
_OWN_WORDS = 0.5  # share of `keyword_floor` that does where meaning cannot be trusted: no vectors, another language


def recall(
    store: Store,
    embedder: Embedder | None,
    query: str,
    options: RecallOptions,
    now: datetime,
    *,
    previous: str | None = None,
    profile: Sequence[ProfileEntry] = (),
    as_of: datetime | None = None,
    why_no_vectors: str | None = None,
    look: SecondLook | None = None,
) -> Recall:
    """Return what `query` recalls now, or what it would have recalled at `as_of`.

    `previous` is the user's message before this one, for messages that lean on it; memories of `profile` are not
    repeated unless they come first. `look` is asked where the options want a second look. Without a usable embedder
    words alone are searched, and `keywords_only` says why.
    """
    started = perf_counter()
    texts = search_texts(query, previous)
    asked = embed_question(store, embedder, texts, options, why_no_vectors)
    return answer(store, asked, texts, options, now, profile=profile, as_of=as_of, started=started, look=look)


def answer(
    store: Store,
    asked: Asked,
    texts: Sequence[str],
    options: RecallOptions,
    now: datetime,
    *,
    profile: Sequence[ProfileEntry] = (),
    as_of: datetime | None = None,
    started: float | None = None,
    look: SecondLook | None = None,
) -> Recall:
    """Return what a question with ready vectors recalls; `texts` is the message, and it again with its context."""
    embedded = perf_counter()
    moment = as_of or now
    groups, most = search_groups(texts[-1], moment), max(CANDIDATES, _SPARE * options.limit)
    found = find(store, asked.vectors, groups, most, cue_discount=options.cue_discount)
    memories = store.get_rankables([hit.memory for hit in found])
    if as_of is not None:
        found = _as_of(found, memories, as_of)
    searched = perf_counter()
    bar = _bar(asked, texts, options, profile)
    weighed = weigh(found, memories, options, moment, _noise(asked))
    bar = bar if options.floor is not None else raised(bar, weighed, options.best_share)
    if options.rerank and look is not None:
        weighed, passed_over = look_again(weighed, bar, texts[0], look)
        bar = replace(bar, passed_over=passed_over)
    selection = select(weighed, bar, options)
    ended = perf_counter()
    return Recall(
        query=texts[0],
        user=store.user,
        embed_model=_model_of(store, asked),
        floor=bar.floor,
        candidates=selection.candidates,
        block=selection.block,
        tokens=selection.tokens,
        profile=tuple(profile),
        profile_tokens=profile_size(profile),
        timings_ms=_timings(started or embedded, embedded, searched, ended),
        keywords_only=asked.why_not,
    )


def _noise(asked: Asked) -> float:
    return asked.calibration.noise_deviation if asked.calibration else 0.0


def _bar(asked: Asked, texts: Sequence[str], options: RecallOptions, profile: Sequence[ProfileEntry]) -> Bar:
    floor = _floor(asked, texts, options)
    trusted = floor is not None and (asked.multilingual or guess_language(texts[0]) == "en")
    matched = options.keyword_floor if trusted else options.keyword_floor * _OWN_WORDS
    past = any(asks_about_past(text) for text in texts)
    return Bar(floor, matched, about_past=past, profile=frozenset(entry.id for entry in profile))


def _floor(asked: Asked, texts: Sequence[str], options: RecallOptions) -> float | None:
    if not asked.vectors or asked.calibration is None:
        return None
    if options.floor is not None:
        return options.floor
    return question_floor(asked.calibration, texts, asked.vectors, options.false_alarm, options.personal_weight)


def _as_of(found: Sequence[Found], memories: Mapping[int, Rankable], moment: datetime) -> list[Found]:
    """Keep what was known at `moment`; what was replaced only later was still true then."""
    known = [hit for hit in found if hit.memory in memories and memories[hit.memory].created_at <= moment]
    return [
        Found(hit.memory, _was_past(memories[hit.memory], moment), hit.similarity, hit.key_text, hit.bm25, hit.matched)
        for hit in known
    ]


def _was_past(memory: Rankable, moment: datetime) -> bool:
    ended = memory.superseded_at
    return memory.state is State.SUPERSEDED and (ended is None or ended <= moment)


def _model_of(store: Store, asked: Asked) -> str | None:
    card = store.embedder() if asked.vectors else None
    return card.model if card else None


def _timings(started: float, embedded: float, searched: float, ended: float) -> dict[str, float]:
    spans = {"embed": embedded - started, "search": searched - embedded, "rank": ended - searched}
    return {name: round(span * 1000, 3) for name, span in (spans | {"total": ended - started}).items()}
