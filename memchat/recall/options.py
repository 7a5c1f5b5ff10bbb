"""What can be set about the read path, as one value."""

from dataclasses import dataclass

from memchat.settings import Settings


@dataclass(frozen=True, slots=True)
class RecallOptions:
    """The settings under `recall.`; shares and weights are 0-1 unless their sentence in the table says otherwise."""

    limit: int = 5
    budget_tokens: int = 300
    profile_tokens: int = 300
    false_alarm: float = 0.1
    floor: float | None = None
    personal_weight: float = 2.0
    semantic_weight: float = 0.65
    cue_discount: float = 0.12
    best_share: float = 0.3
    keyword_floor: float = 0.6
    importance_weight: float = 0.1
    use_weight: float = 0.05
    duplicate_similarity: float = 0.95
    half_life_days: float = 90.0
    slow_half_life_days: float = 365.0
    decay_floor: float = 0.9
    rerank: bool = False

    @classmethod
    def of(cls, settings: Settings) -> "RecallOptions":
        """Return the options in force."""
        floor = settings["recall.floor"]
        return cls(
            limit=settings.whole("recall.limit"),
            budget_tokens=settings.whole("recall.budget_tokens"),
            profile_tokens=settings.whole("recall.profile_tokens"),
            floor=float(floor) if isinstance(floor, int | float) else None,
            half_life_days=settings.number("recall.half_life_days"),
            slow_half_life_days=settings.number("recall.slow_half_life_days"),
            rerank=settings.flag("recall.rerank"),
            **{name: settings.number(f"recall.{name}") for name in _WEIGHTS},
        )


_WEIGHTS = (
    "false_alarm",
    "personal_weight",
    "semantic_weight",
    "cue_discount",
    "best_share",
    "keyword_floor",
    "importance_weight",
    "use_weight",
    "duplicate_similarity",
    "decay_floor",
)
