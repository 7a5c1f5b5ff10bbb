"""A clause of a message: what was typed, what is left of it without empty openings, and what speaks against it."""

from dataclasses import dataclass

from memchat.learn.plain import spell_out


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: `quote` as typed, `text` without empty openings, `dropped` why it teaches nothing."""

    quote: str
    text: str
    language: str
    dropped: str | None = None
    standing: bool = False  # a wish for every future answer
    introduced: bool = False  # follows "about me:" and the like, so fragments count as statements

    @property
    def plain(self) -> str:
        """The text in plain words, to judge it by."""
        return spell_out(self.text, self.language)
