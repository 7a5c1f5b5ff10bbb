"""The values that travel between the layers: frozen, typed, free of behaviour that needs anything else."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Final, Literal, NamedTuple, TypeAlias

# Typecode "f", one float32 per dimension, L2 norm 1 (vectors leave the embedder normalised). In quotes, since array
# cannot be subscripted before Python 3.12.
Vector: TypeAlias = "array[float]"


class Kind(StrEnum):
    """What a memory is about; it decides how fast the memory fades and whether it joins the profile."""

    IDENTITY = "identity"
    FACT = "fact"
    PREFERENCE = "preference"
    DECISION = "decision"
    EVENT = "event"
    GOAL = "goal"
    RELATIONSHIP = "relationship"
    CONSTRAINT = "constraint"
    SKILL = "skill"
    TASK = "task"


KIND_MEANINGS: Final = {
    Kind.IDENTITY: "Who you are: name, age, origin, home, work.",
    Kind.FACT: "What is so, and is nothing of the others.",
    Kind.PREFERENCE: "What you like, dislike or rather have.",
    Kind.DECISION: "What you have settled on.",
    Kind.EVENT: "What happened, or will on a day.",
    Kind.GOAL: "What you work towards.",
    Kind.RELATIONSHIP: "People and animals around you.",
    Kind.CONSTRAINT: "What binds you: allergies, limits, rules.",
    Kind.SKILL: "What you can do or are learning.",
    Kind.TASK: "What is to be done.",
}


class State(StrEnum):
    """Where a memory stands: only `current` ones are searched for questions about the present."""

    CURRENT = "current"
    PROPOSED = "proposed"  # waits for the user's approval (learn.mode = review)
    SUPERSEDED = "superseded"  # replaced by a newer value, or ended; kept as history


class Role(StrEnum):
    """Who speaks in a prompt."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of a prompt."""

    role: Role
    content: str
    images: tuple[str, ...] = ()  # base64


@dataclass(frozen=True, slots=True)
class Source:
    """The turn that stated a memory, and the user's own words that prove it."""

    session: int | None
    turn: int | None
    evidence: str


@dataclass(frozen=True, slots=True)
class Memory:
    """One durable fact about the user. Times are aware UTC datetimes; `importance` is 1-10, `confidence` 0-1."""

    id: int
    user: str
    text: str
    kind: Kind
    importance: int
    confidence: float
    pinned: bool
    state: State
    created_at: datetime
    last_seen_at: datetime
    last_recalled_at: datetime | None = None
    recall_count: int = 0
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    event_date: date | None = None
    ref: str | None = None
    superseded_by: int | None = None
    superseded_at: datetime | None = None
    source: Source | None = None
    cues: tuple[str, ...] = ()
    pending: bool = False  # at least one of its keys still waits for its vector


class Rankable(NamedTuple):
    """The part of a `Memory` that ranking weighs and a candidate shows: dozens are read for a question."""

    id: int
    text: str
    kind: Kind
    importance: int
    pinned: bool
    state: State
    created_at: datetime
    last_seen_at: datetime
    recall_count: int = 0
    subject: str | None = None
    attribute: str | None = None
    ref: str | None = None
    superseded_by: int | None = None
    superseded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory before it is stored: what a caller may say of it. Missing times mean "now"."""

    text: str
    kind: Kind = Kind.FACT
    importance: int = 5
    confidence: float = 1.0
    pinned: bool = False
    state: State = State.CURRENT
    created_at: datetime | None = None
    last_seen_at: datetime | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    event_date: date | None = None
    ref: str | None = None
    source: Source | None = None
    cues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation: its title is made later, its summary stands for the turns that left the window."""

    id: int
    user: str
    title: str | None
    created_at: datetime
    last_turn_at: datetime | None
    turns: int
    summary: str | None = None
    summarised_to: int = 0  # id of the last turn that the summary covers
    profile: str | None = None  # the frozen profile text of the session, for the prompt prefix


@dataclass(frozen=True, slots=True)
class Turn:
    """The user's message and the reply. `interrupted` replies are kept for the window but never learnt from."""

    id: int
    session: int
    user_text: str
    reply: str
    at: datetime
    zone: str  # IANA name or UTC offset of the user's clock at that moment
    model: str
    interrupted: bool = False
    forgotten: bool = False  # its text was erased by a forget


@dataclass(frozen=True, slots=True)
class EmbedderCard:
    """What an embedder is: vectors made under different cards are never compared."""

    model: str
    digest: str
    dimensions: int
    scheme: str  # name of the prefix scheme, "none" where the model wants none
    languages: Literal["english", "multilingual", "unknown"] = "unknown"


@dataclass(frozen=True, slots=True)
class ChatCard:
    """What a chat model is. `context` is the largest window in tokens that it was trained for, 0 if unknown."""

    model: str
    engine: Literal["ollama", "embedded", "fake"]
    digest: str = ""
    context: int = 0
    capabilities: frozenset[str] = frozenset()
    remote: str | None = None  # host that text would be sent to, when it is not this machine


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a streamed reply; the last one of a complete reply has `done` set.

    With `restart`, all text before turned out to be reasoning: the reply begins with this chunk's text.
    """

    text: str = ""
    thinking: str = ""
    done: "Done | None" = None
    restart: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """How a reply ended; token counts are 0 where the engine does not tell."""

    reason: str = "stop"  # stop | length
    prompt_tokens: int = 0
    cached_tokens: int = 0
    reply_tokens: int = 0
    prompt_ms: float = 0.0
    tokens_per_second: float = 0.0


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is drawn; None leaves a number to the engine. `thinking` lets a model that can reason do so first."""

    temperature: float = 0.7
    top_p: float = 0.9
    seed: int | None = None
    max_tokens: int = 1024
    top_k: int | None = None
    min_p: float | None = None
    repeat_penalty: float = 1.05  # the engines' own defaults differ between their versions
    thinking: bool = False


@dataclass(frozen=True, slots=True)
class Calibration:
    """What unrelated questions score with one embedder and prefix scheme: cosine similarities, not distances."""

    noise_mean: float
    noise_deviation: float
    floor: float  # similarity that at most `false_alarm` of the unrelated questions reach with any unrelated memory
    false_alarm: float
    pairs: int
    direction: tuple[float, ...] = ()  # unit vector from questions about the world to questions about one's own life
    trials: tuple[tuple[str, float, float], ...] = ()  # per unrelated question: language, best similarity, lean


class Verdict(StrEnum):
    """What became of a candidate; the first that applies, in the order of the read path."""

    INJECTED = "injected"
    IN_PROFILE = "in_profile"
    SUPERSEDED = "superseded"
    BELOW_FLOOR = "below_floor"
    NEAR_DUPLICATE = "near_duplicate"
    OVER_BUDGET = "over_budget"
    BEYOND_K = "beyond_k"
    # only in answer to --expect:
    NOT_STORED = "not_stored"
    NOT_A_CANDIDATE = "not_a_candidate"
    OTHER_USER = "other_user"
    NOT_EMBEDDED = "not_embedded"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One memory on the read path with every number that decided about it (shares and scores are 0-1)."""

    id: int
    ref: str | None
    text: str
    kind: Kind
    age_days: float
    similarity: float | None  # cosine with its best key; None when only keywords found it
    keyword_score: float  # BM25 scaled to 0-1 within this search
    relevance: float
    decay: float
    importance: int
    score: float
    verdict: Verdict
    reason: str
    matched_key: str = ""  # the text or cue that was nearest
    superseded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """One memory of the profile tier, as it stands in the system prompt."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class Recall:
    """The whole result of one read path: what was considered, what was given, and how long each stage took."""

    query: str
    user: str
    embed_model: str | None
    floor: float | None
    candidates: tuple[Candidate, ...]
    block: str  # the recalled tier exactly as the model is given it, "" when nothing is
    tokens: int
    profile: tuple[ProfileEntry, ...] = ()
    profile_tokens: int = 0
    timings_ms: Mapping[str, float] = field(default_factory=dict)  # embed, search, rank, total
    keywords_only: str | None = None  # why vectors took no part, as a sentence

    @property
    def injected(self) -> tuple[Candidate, ...]:
        """The candidates that the model was given, best first."""
        return tuple(c for c in self.candidates if c.verdict is Verdict.INJECTED)


class Cause(StrEnum):
    """Who or what changed a memory."""

    USER = "user"
    LEARNED = "learned"
    IMPORTED = "imported"
    MERGED = "merged"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the history: `before` and `after` are the memory's fields that changed, as JSON values."""

    id: int
    memory: int
    at: datetime
    action: str  # added | edited | superseded | ended | restated | approved | rejected | undone
    cause: Cause
    turn: int | None
    before: Mapping[str, object]
    after: Mapping[str, object]
    undone: bool = False


@dataclass(frozen=True, slots=True)
class QueuedTurn:
    """A turn that still has to be learnt from."""

    id: int
    turn: Turn
    attempts: int
    explicit: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a forget erased, what it read afterwards to be sure, and what it cannot reach."""

    forgotten: tuple[int, ...]
    erased: Mapping[str, int]  # memories vectors keys history turns log queue
    verified: bool
    checked: tuple[str, ...]
    unreachable: tuple[str, ...]
    found_in: tuple[str, ...] = ()  # files in which a byte was still found (verified is then False)


@dataclass(frozen=True, slots=True)
class Key:
    """One text that a memory is found by: its own text, or a question it answers."""

    id: int
    memory: int
    role: Literal["text", "cue"]
    text: str
    embedded: bool


@dataclass(frozen=True, slots=True)
class VectorHit:
    """A memory near a query: its nearest key and the cosine similarity with it."""

    memory: int
    key: int
    key_text: str
    similarity: float


@dataclass(frozen=True, slots=True)
class KeywordHit:
    """A memory that shares words with a query; `bm25` is positive, higher is better."""

    memory: int
    bm25: float
    matched: tuple[str, ...]  # those of the terms asked for that it holds


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with the memory file, and the one-line mend."""

    name: str
    found: str
    mend: str
    fixable: bool  # `Store.fix` mends it
