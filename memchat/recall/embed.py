"""Turns texts into the vectors that the store keeps, and a question into the vectors it is searched with."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from memchat.engine import Embedder
from memchat.errors import EngineError, StoreError
from memchat.recall.calibrate import calibrate
from memchat.recall.options import RecallOptions
from memchat.recall.spoken import as_spoken
from memchat.records import Calibration, EmbedderCard, Key, Memory, Vector
from memchat.store import Store

_BATCH: Final = 64


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's vectors, one for each text it is searched with; without any, `why_not` says so in a sentence."""

    vectors: tuple[Vector, ...] = ()
    calibration: Calibration | None = None
    why_not: str | None = None
    multilingual: bool = False


@dataclass(frozen=True, slots=True)
class Ahead:
    """The vector of a text that is about to be stored, so that both can be stored in one transaction."""

    text: str
    vector: Vector
    card: EmbedderCard


def same_space(a: EmbedderCard, b: EmbedderCard) -> bool:
    """Tell whether vectors made under two cards may be compared: model, digest, length and prefixes are equal."""
    return (a.model, a.digest, a.dimensions, a.scheme) == (b.model, b.digest, b.dimensions, b.scheme)


def embed_keys(embedder: Embedder, keys: Sequence[Key]) -> list[tuple[int, Vector]]:
    """Return each key's id with its vector; a memory's text is embedded as the user would say it."""
    texts = [as_spoken(key.text) if key.role == "text" else key.text for key in keys]
    return list(zip((key.id for key in keys), embedder.embed_documents(texts), strict=True))


def embed_ahead(store: Store, embedder: Embedder | None, text: str) -> Ahead | None:
    """Return the vector for a memory that will say `text`; None where it must be embedded later or cannot be at all.

    Raises EngineError when the embedder fails.
    """
    own = store.embedder()
    if embedder is None or own is None or not same_space(own, embedder.card()):
        return None
    (vector,) = embedder.embed_documents([as_spoken(text)])
    return None if _fault(vector, own.dimensions) else Ahead(text, vector, own)


def give_vector(store: Store, memory: Memory, ahead: Ahead | None) -> None:
    """Store with a memory, in the same transaction, what was embedded ahead of it; what does not fit stays pending."""
    own = store.embedder() if store.why_no_vectors is None else None
    if ahead is None or own is None or ahead.text != memory.text or not same_space(own, ahead.card):
        return
    keys = [key.id for key in store.list_keys(memory.id) if key.role == "text"]
    store.set_vectors([(key, ahead.vector) for key in keys], own)


def ensure_embedded(store: Store, embedder: Embedder, batch: int = 64, options: RecallOptions | None = None) -> int:
    """Embed the keys that wait, in batches, and return how many; the first use adopts and calibrates the embedder.

    Nothing is embedded when the file's vectors are those of another embedder. Raises EngineError when the embedder
    fails: what was embedded before stays, the rest keeps waiting.
    """
    keys = store.list_pending_keys(batch)
    if not keys:
        return 0
    card = embedder.card()
    if not _adopt(store, embedder, card, options or RecallOptions()):
        return 0
    done, last = 0, 0
    while keys and keys[-1].id != last:  # keys that got a useless vector stay in front and must not be tried for ever
        last = keys[-1].id
        vectors = _usable(embed_keys(embedder, keys), card)
        store.set_vectors(vectors, card)
        done += len(vectors)
        keys = store.list_pending_keys(batch)
    return done


def embed_question(
    store: Store, embedder: Embedder | None, texts: Sequence[str], options: RecallOptions, why_none: str | None = None
) -> Asked:
    """Return the vectors of a question's texts, or the sentence why words alone must do."""
    return embed_questions(store, embedder, [texts], options, why_none)[0]


def embed_questions(
    store: Store,
    embedder: Embedder | None,
    questions: Sequence[Sequence[str]],
    options: RecallOptions,
    why_none: str | None = None,
) -> list[Asked]:
    """Return what `embed_question` does for each of many questions, embedding them in batches."""
    if not all(text.strip() for question in questions for text in question):  # which no embedder takes
        return [_blank_apart(store, embedder, question, options, why_none) for question in questions]
    texts = [text for question in questions for text in question]
    vectors: list[Vector] = []
    try:
        calibration, why_not = _usable_calibration(store, embedder, options, why_none)
        if embedder is not None and calibration is not None:
            card = embedder.card()
            for start in range(0, len(texts), _BATCH):
                vectors += embedder.embed_queries(texts[start : start + _BATCH])
    except EngineError as error:
        calibration, why_not = None, _by_words(error.sentence)
    if calibration is None:
        return [Asked(why_not=why_not)] * len(questions)
    left = iter(vectors)
    return [_asked([next(left) for _ in question], calibration, card) for question in questions]


def _blank_apart(
    store: Store, embedder: Embedder | None, question: Sequence[str], options: RecallOptions, why_none: str | None
) -> Asked:
    if not all(text.strip() for text in question):
        return Asked(why_not=_by_words("A blank text has no meaning to look for."))
    return embed_questions(store, embedder, [question], options, why_none)[0]


def _usable_calibration(
    store: Store, embedder: Embedder | None, options: RecallOptions, why_none: str | None
) -> tuple[Calibration | None, str | None]:
    """Return the calibration of an embedder that fits the file's vectors, or the sentence why there is none."""
    if embedder is None:
        return None, _by_words(why_none or "There is no embedding model at hand.")
    card, own = embedder.card(), store.embedder()
    if own is None:
        return None, _by_words("No memory has been embedded yet.") if store.count_pending_keys() else None
    if not same_space(own, card):
        return None, _stale(own, card)
    return _calibrated(store, embedder, options), None


def _asked(vectors: Sequence[Vector], calibration: Calibration, card: EmbedderCard) -> Asked:
    bad = next((reason for vector in vectors if (reason := _fault(vector, card.dimensions))), None)
    if bad is not None:
        return Asked(why_not=_by_words(bad))
    return Asked(tuple(vectors), calibration, multilingual=card.languages == "multilingual")


def _adopt(store: Store, embedder: Embedder, card: EmbedderCard, options: RecallOptions) -> bool:
    own = store.embedder()
    if own is None:
        store.adopt_embedder(card)
    elif not same_space(own, card):
        return False
    _calibrated(store, embedder, options)
    return True


def _calibrated(store: Store, embedder: Embedder, options: RecallOptions) -> Calibration:
    calibration = store.calibration()
    if calibration is not None and calibration.trials:
        return calibration
    measured = calibrate(embedder, options.false_alarm, options.personal_weight)
    with suppress(StoreError):  # a file that can only be read is searched all the same
        store.set_calibration(measured)
    return measured


def _usable(vectors: Sequence[tuple[int, Vector]], card: EmbedderCard) -> list[tuple[int, Vector]]:
    return [(key, vector) for key, vector in vectors if not _fault(vector, card.dimensions)]


def _fault(vector: Vector, dimensions: int) -> str | None:
    if len(vector) != dimensions:
        return f"The embedding model gave {len(vector)} numbers instead of {dimensions}."
    norm = math.hypot(*vector)
    if not 0 < norm < float("inf"):
        return "The embedding model gave an empty vector." if norm == 0 else "The embedding model gave no numbers."
    return None


def _by_words(reason: str) -> str:
    return f"{reason} Memories were searched by words only."


def _stale(own: EmbedderCard, card: EmbedderCard) -> str:
    there, here = own.model, card.model
    if there == here:
        there, here = f"{there} ({_differs(own, card)})", "another version of it"
    return f"The memories are embedded with {there}, not with {here}. {_UNTIL_REINDEX}"


def _differs(own: EmbedderCard, card: EmbedderCard) -> str:
    if own.dimensions != card.dimensions:
        return f"{own.dimensions} dimensions"
    return f"prefixes {own.scheme}" if own.scheme != card.scheme else f"digest {own.digest[:12]}"


_UNTIL_REINDEX = "They are searched by words only until `memchat reindex`."
