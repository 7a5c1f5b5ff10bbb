"""What the log is told of a turn: ids, numbers and times, never a word of it."""

import logging
from typing import Final

from memchat.chat.events import TurnResult

_LOG: Final = logging.getLogger(__name__)


def trace_turn(result: TurnResult) -> None:
    """Write one line for the turn and, at `debug`, one for each memory that was looked at."""
    recall, times = result.recall, result.timings_ms
    _LOG.info(
        "turn %s with %s: %d of %d candidates given, floor %s, %s, context %d of %d%s",
        result.turn or "unstored",
        result.model,
        len(recall.injected),
        len(recall.candidates),
        f"{recall.floor:.3f}" if recall.floor is not None else "none",
        ", ".join(f"{name} {value:.0f} ms" for name, value in times.items()),
        result.context_used,
        result.context_size,
        ", interrupted" if result.interrupted else "",
    )
    for candidate in recall.candidates:
        near = f"{candidate.similarity:.3f}" if candidate.similarity is not None else "none"
        _LOG.debug("memory %d: %s, near %s, score %.3f", candidate.id, candidate.verdict.value, near, candidate.score)
