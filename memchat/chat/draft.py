"""A turn while it is made."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter

from memchat.chat.events import Notice, Piece, Thinking, TurnEvent, TurnResult
from memchat.chat.private import Typed
from memchat.chat.window import Exchange
from memchat.records import Change, Chunk, Done, Memory, Recall, Session, Turn
from memchat.text import estimate_tokens


@dataclass(slots=True)
class Draft:
    """A turn while it is made."""

    typed: Typed
    started: float
    now: datetime
    kept: bool = False  # whether this turn is to be stored at all
    instead: int | None = None  # the stored turn whose place it takes
    again: bool = False  # it is the same message as the one whose place it takes
    replaced: Exchange | None = None  # what left the live context for it
    taken_back: tuple[Change, ...] = ()  # what had been learnt from the message whose place it takes
    turn: Turn | None = None
    recall: Recall | None = None
    saved: tuple[Memory, ...] = ()
    reply: str = ""
    done: Done | None = None
    queued: bool = False
    first_token: float = 0.0
    used: int = 0  # tokens of the prompt
    size: int = 0  # tokens of the context window
    model: str = ""
    images: tuple[str, ...] = ()  # of the attached pictures
    shown_later: str = ""  # the message as the following turns see it: without what was recalled for it

    def take(self, chunk: Chunk, *, show_thinking: bool) -> Iterator[TurnEvent]:
        """Take in one more piece of the reply and yield what is to be seen of it."""
        if chunk.restart and self.reply:
            self.reply = ""
            yield Notice("That was the model's reasoning; its answer follows.")
        if (chunk.text or chunk.thinking) and not self.first_token:
            self.first_token = perf_counter()
        if chunk.thinking and show_thinking:
            yield Thinking(chunk.thinking)
        if chunk.text:
            self.reply += chunk.text
            yield Piece(chunk.text)
        self.done = chunk.done or self.done

    def result(self, session: Session | None) -> TurnResult:
        """Return the turn as it ended, now."""
        assert self.recall is not None
        ended = perf_counter()
        timings = {
            "embed": self.recall.timings_ms.get("embed", 0.0),
            "search": self.recall.timings_ms.get("search", 0.0),
            "first_token": ((self.first_token or ended) - self.started) * 1000,
            "total": (ended - self.started) * 1000,
        }
        return TurnResult(
            turn=self.turn.id if self.turn else None,
            session=session.id if session and self.turn else None,
            reply=self.reply,
            interrupted=self.done is None,
            recall=self.recall,
            model=self.model,
            saved=self.saved,
            queued=self.queued,
            done=self.done,
            timings_ms=timings,
            context_used=self.used + estimate_tokens(self.reply),
            context_size=self.size,
        )
