"""The profile of a session: frozen so that the prompt's beginning stays the same, corrected beside the message."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from memchat.prompts import as_data, system_prompt
from memchat.recall import RecallOptions, build_profile
from memchat.records import ProfileEntry, Rankable, State
from memchat.store import Store


@dataclass(slots=True)
class Profile:
    """The entries of the system prompt and the text they were frozen into."""

    entries: Sequence[ProfileEntry]
    _text: str | None = field(default=None)

    @classmethod
    def build(cls, store: Store | None, options: RecallOptions, now: datetime) -> Self:
        """Choose the entries from the store; without one the profile is empty."""
        return cls(build_profile(store, options, now) if store is not None else ())

    def system_text(self, custom: str | None, now: datetime) -> str:
        """Return the system prompt, made once and the same for the whole session."""
        if self._text is None:
            local = now.astimezone()
            self._text = system_prompt(self.entries, f"{local:%A}, {local.day} {local:%B %Y}", custom)
        return self._text

    def has_lost(self, store: Store) -> bool:
        """Tell whether a memory that it quotes is not there any more."""
        return len(self._read(store)) < len(self.entries)

    def correction(self, store: Store) -> str:
        """Return what has changed since the profile was frozen, as a note beside the newest message."""
        current = self._read(store)
        lines = []
        for entry in self.entries:
            memory = current.get(entry.id)
            if memory is not None and memory.state is State.SUPERSEDED:
                lines.append(f"- No longer true: {as_data(memory.text)}{_successor(store, memory)}")
        return "\n".join(["[Changed since:", *lines, "]"]) if lines else ""

    def _read(self, store: Store) -> dict[int, Rankable]:
        return store.get_rankables([entry.id for entry in self.entries])


def _successor(store: Store, memory: Rankable) -> str:
    newer = store.get_rankables([memory.superseded_by] if memory.superseded_by else [])
    return "".join(f" Now: {as_data(one.text)}" for one in newer.values())
