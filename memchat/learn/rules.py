"""The user's own rules: what must never be learnt, as words, /regular expressions/ and topics."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from memchat.errors import ConfigError
from memchat.learn.lexicon import Phrases, phrases, skeleton
from memchat.store import Store

_TOPICS: Final = {
    "health": ("people.illness", "people.symptom", "people.treatment"),
    "family": ("people.relation",),
    "limits": ("people.limit",),
    "money": ("topics.money",),
    "religion": ("topics.religion",),
    "politics": ("topics.politics",),
    "sex": ("topics.sex",),
    "work": ("topics.work",),
    "home": ("topics.home",),
    "law": ("topics.law",),
}


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of `learn.never_learn`, each as written and what it searches for."""

    searches: tuple[tuple[str, Sequence[re.Pattern[str] | Phrases]], ...] = ()

    @classmethod
    def of(cls, written: Sequence[str]) -> Self:
        """Read the rules; raises ConfigError naming a rule that cannot be read."""
        return cls(tuple((rule, _read(rule)) for rule in written if rule.strip()))

    def stops(self, text: str) -> str | None:
        """Return the first rule that forbids learning `text`, None when none does."""
        for rule, searches in self.searches:
            for search in searches:
                hit = search.search(text) if isinstance(search, re.Pattern) else search.find(text)
                if hit is not None:
                    return rule
        return None


def _read(rule: str) -> Sequence[re.Pattern[str] | Phrases]:
    rule = rule.strip()
    if len(rule) > 2 and rule.startswith("/") and rule.endswith("/"):
        try:
            return (re.compile(rule[1:-1], re.IGNORECASE),)
        except re.error as error:
            raise ConfigError(f"The rule {rule} in learn.never_learn is no regular expression: {error}.") from None
    if rule.lower().startswith("topic:"):
        topic = skeleton(rule[6:].strip())
        if topic not in _TOPICS:
            raise ConfigError(f"learn.never_learn knows no topic {topic!r}; there are {', '.join(sorted(_TOPICS))}.")
        return tuple(phrases(name) for name in _TOPICS[topic])
    # A word also stops its inflections: "salary" stops "salaries" no more than "salar*" would, so only endings go on.
    return (Phrases([rule.replace("|", " ") + ("*" if rule[-1:].isalpha() else "")]),)


@dataclass(frozen=True, slots=True)
class Stopped:
    """A past message or a memory that a rule is against."""

    id: int
    rule: str
    text: str

    @property
    def turn(self) -> int:
        """The turn, where it is one."""
        return self.id


@dataclass(frozen=True, slots=True)
class Replay:
    """What rules would have stopped in past turns, and which memories are against them."""

    turns: tuple[Stopped, ...] = ()
    memories: tuple[Stopped, ...] = ()


def replay(store: Store, written: Sequence[str]) -> Replay:
    """Try the rules on what the user said so far and on the current memories; raises ConfigError for a bad rule."""
    rules = Rules.of(written)
    turns = (turn for session in store.list_sessions() for turn in store.list_turns(session.id))
    said = [(turn.id, turn.user_text) for turn in turns if not turn.forgotten]
    kept = [(memory.id, memory.text) for memory in store.list_memories()]
    return Replay(_against(rules, sorted(said)), _against(rules, kept))


def _against(rules: Rules, texts: Sequence[tuple[int, str]]) -> tuple[Stopped, ...]:
    found = ((id, rules.stops(text), text) for id, text in texts)
    return tuple(Stopped(id, rule, text) for id, rule, text in found if rule is not None)
