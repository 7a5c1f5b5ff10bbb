"""How learning is done: the settings it needs, read once."""

from dataclasses import dataclass, field
from typing import Self

from memchat.learn.rules import Rules
from memchat.settings import Settings


@dataclass(frozen=True, slots=True)
class LearnOptions:
    """`mode` is auto, review or off; `idle_seconds` is how long the user must be still before learning starts."""

    mode: str = "auto"
    min_importance: int = 3
    idle_seconds: float = 1.5
    health: bool = False
    rules: Rules = field(default_factory=Rules)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Read the options from the settings; raises ConfigError for a rule that cannot be read."""
        return cls(
            mode=settings.text("learn.mode") or "auto",
            min_importance=settings.whole("learn.min_importance"),
            idle_seconds=settings.number("learn.idle_seconds"),
            health=settings.flag("learn.health"),
            rules=Rules.of(settings.words("learn.never_learn")),
        )
