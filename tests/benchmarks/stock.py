"""Memory files of any size to measure on, made once with the product's own calls and kept in the cache."""

import hashlib
import inspect
import random
import shutil
from array import array
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memchat.records import Calibration, Cause, EmbedderCard, Kind, NewMemory, Source, Vector
from memchat.store import Store, migrations

if TYPE_CHECKING:
    import numpy

NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
DIMENSIONS: Final = 384
KEYS: Final = 4  # of each memory: its text and three cues
CARD: Final = EmbedderCard("benchmark", "0" * 64, DIMENSIONS, "none")
CALIBRATION: Final = Calibration(0.05, 0.08, 0.2, 0.1, 1000)
_BATCH: Final = 2000
_RECIPE: Final = 2  # to be raised when the store writes the same schema in another way

_WHO: Final = """Ana Ben Carla David Elif Farid Greta Hugo Ines Jonas Kira Luis Mara Nils Olga Pavel Rosa Sven
    Tara"""
_WHERE: Final = """Berlin Lisbon Osaka Lima Oslo Turin Ghent Quito Kyoto Porto Bergen Graz Lyon Bath Malmö Zadar"""
_WHAT: Final = """chess climbing pottery cycling jazz opera gardening sailing knitting baking karate swimming
    astronomy origami photography running skiing poetry archery fishing"""
_FOOD: Final = """peanuts coriander olives tofu mushrooms oysters lentils cheese mango rye garlic tea coffee beer"""
_SHAPES: Final = (
    (Kind.FACT, "I moved to {where} in {month} for a job at {firm}.", "Where do I live?", "Where do I work?"),
    (
        Kind.PREFERENCE,
        "I like {what} more than {other}, most of all in {where}.",
        "What do I like?",
        "Do I enjoy {what}?",
    ),
    (Kind.RELATIONSHIP, "My friend {who} teaches {what} in {where}.", "Who is {who}?", "Who knows {what}?"),
    (Kind.CONSTRAINT, "I cannot eat {food} since {month}.", "What can I not eat?", "Is {food} fine for me?"),
    (
        Kind.EVENT,
        "On {month} {day} I met {who} at {firm} about {what}.",
        "When did I meet {who}?",
        "What was at {firm}?",
    ),
    (
        Kind.TASK,
        "I have to send {who} the {firm} papers by {month} {day}.",
        "What must I send?",
        "What is due in {month}?",
    ),
    (
        Kind.GOAL,
        "I want to learn {what} before {month} with {who}.",
        "What do I want to learn?",
        "Who helps with {what}?",
    ),
    (
        Kind.FACT,
        "The {firm} project uses {firm2} and costs {day}00 euros.",
        "What does {firm} use?",
        "What does it cost?",
    ),
)
_QUESTIONS: Final = (
    "Where does {who} live?",
    "what should I cook tonight?",
    "When did I meet {who} about {what}?",
    "Which papers does {firm} still need from me?",
    "who can teach me {what}?",
    "What does the {firm} project cost?",
)


class Words:
    """Draws made-up sentences, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def memory(self, number: int) -> NewMemory:
        """Return a memory with three cues, said some time in the last year."""
        kind, text, *cues = self._random.choice(_SHAPES)
        names = self._names()
        said = NOW - timedelta(minutes=self._random.randrange(525_600))
        return NewMemory(
            text.format(**names),
            kind,
            importance=self._random.randint(3, 9),
            created_at=said,
            last_seen_at=said,
            source=Source(None, None, text.format(**names)),
            cues=(*(cue.format(**names) for cue in cues), f"What about {names['firm']} {number}?"),
        )

    def question(self) -> str:
        """Return a question."""
        return self._random.choice(_QUESTIONS).format(**self._names())

    def _names(self) -> dict[str, str]:
        draw = self._random.choice
        firms = ["".join(draw("bdfgklmnprst") + draw("aeiou") for _ in range(3)).title() for _ in range(2)]
        what, other = self._random.sample(_WHAT.split(), 2)
        return {
            "who": draw(_WHO.split()),
            "where": draw(_WHERE.split()),
            "what": what,
            "other": other,
            "food": draw(_FOOD.split()),
            "firm": firms[0],
            "firm2": firms[1],
            "month": draw(["January", "March", "April", "June", "August", "October", "December"]),
            "day": str(self._random.randint(1, 28)),
        }


def unit_vectors(count: int, seed: int = 1) -> "numpy.ndarray":
    """Return random vectors of norm 1, shape (count, 384), float32; drawn in blocks to bound the memory."""
    import numpy as np

    drawn = np.empty((count, DIMENSIONS), dtype=np.float32)
    for start in range(0, count, 10_000):
        block = np.random.default_rng([seed, start]).standard_normal((min(10_000, count - start), DIMENSIONS))
        drawn[start : start + len(block)] = block / np.linalg.norm(block, axis=1, keepdims=True)
    return drawn


def queries(known: "numpy.ndarray", count: int) -> list[Vector]:
    """Return vectors that lie at a cosine of about 0.6 to one of the known ones each, as questions do to answers."""
    noise = unit_vectors(count, seed=2)
    step = max(1, len(known) // count)
    mixed = [0.6 * known[place * step % len(known)] + 0.8 * noise[place] for place in range(count)]
    return [as_vector(one / float((one @ one) ** 0.5)) for one in mixed]


def as_vector(row: "numpy.ndarray") -> Vector:
    """Return a numpy row as the vectors that the product takes."""
    return array("f", row.astype("float32").tobytes())


def user_name(number: int) -> str:
    """Return the name of a user of a stock file."""
    return f"user{number}"


def stock(cache: Path, memories: int, users: int = 1) -> Path:
    """Return a file with so many memories (their users in turn), each with 4 embedded keys; made at the first call.

    Key ids run from 1 in the order of `unit_vectors(memories * 4)`. Open it read-only, or take `copy_of`.
    """
    path = cache / f"stock-{_recipe()}-{memories}-{users}.db"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".part")
        for left in (fresh, *(fresh.with_name(fresh.name + end) for end in ("-wal", "-shm"))):
            left.unlink(missing_ok=True)
        with Store.open(fresh, user_name(0)) as store:
            fill(store, memories, users)
            store.scrub()
        fresh.rename(path)
    return path


def fill(store: Store, memories: int, users: int) -> None:
    """Put memories with their vectors into a new file."""
    shares = [store.for_user(user_name(number)) for number in range(users)]
    words = Words(memories)
    store.adopt_embedder(CARD)
    store.set_calibration(CALIBRATION)
    drawn = unit_vectors(memories * KEYS)
    for start in range(0, memories, _BATCH):
        with store.transaction():
            for number in range(start, min(memories, start + _BATCH)):
                shares[number % users].add_memory(words.memory(number), cause=Cause.IMPORTED, now=NOW)
            for batch in _pending(store):
                store.set_vectors([(key, as_vector(drawn[key - 1])) for key in batch], CARD)


def copy_of(path: Path, folder: Path) -> Path:
    """Return a copy that may be changed."""
    return Path(shutil.copy(path, folder / f"copy-{len(list(folder.iterdir()))}.db"))


def _pending(store: Store) -> Iterator[list[int]]:
    while found := store.list_pending_keys(_BATCH):
        yield [key.id for key in found]


def _recipe() -> str:
    """Return a mark that changes when files would be made otherwise."""
    source = repr((_RECIPE, migrations.MIGRATIONS, inspect.getsource(Words), _SHAPES))
    return hashlib.sha256(source.encode()).hexdigest()[:8]
