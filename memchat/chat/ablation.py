"""The last answer again, without one memory at a time: which of them changed what was said."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from threading import Event
from typing import Final

from memchat.chat.attaching import as_seen
from memchat.chat.conversation import Chat
from memchat.errors import UsageError
from memchat.recall import block_of
from memchat.records import Candidate, Sampling
from memchat.text import words

_SEED: Final = 7  # any; the same for all answers, so that only the memories differ


@dataclass(frozen=True, slots=True)
class Ablation:
    """One answer without the memory `without`; None stands for the answer with all of them.

    `alike` is the share of words, in their order, that it has in common with the answer with all (0-1).
    """

    without: Candidate | None
    reply: str
    alike: float

    @property
    def changed(self) -> bool:
        """Whether a single word differs."""
        return self.alike < 1.0


def ablate(chat: Chat, stop: Event) -> Iterator[Ablation]:
    """Yield the last answer with all its recalled memories, then without each of them, at temperature 0.

    The profile stays as it is. Ends early when `stop` is set; raises UsageError when no memory was recalled,
    EngineError when the model fails.
    """
    given = chat.last.recall.injected if chat.last is not None and chat.last.reply else ()
    if not given:
        raise UsageError("The last reply was given no recalled memory, so there is none to leave out.")
    sampling = replace(chat.options.sampling, temperature=0.0, seed=_SEED)
    whole = _answer(chat, given, sampling, stop)
    if not stop.is_set():
        yield Ablation(None, whole, 1.0)
    for candidate in given:
        reply = "" if stop.is_set() else _answer(chat, [one for one in given if one != candidate], sampling, stop)
        if stop.is_set():
            return
        yield Ablation(candidate, reply, _alike(whole, reply))


def _answer(chat: Chat, given: Sequence[Candidate], sampling: Sampling, stop: Event) -> str:
    reply = ""
    prompt = as_seen(chat.last_prompt(block_of(given)), chat.model.card())
    for chunk in chat.model.stream(prompt, sampling, stop):
        reply = chunk.text if chunk.restart else reply + chunk.text
    return reply.strip()


def _alike(a: str, b: str) -> float:
    return SequenceMatcher(None, words(a), words(b), autojunk=False).ratio()
