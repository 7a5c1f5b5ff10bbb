"""The line under the prompt: model, engine, user, mode, memories, what waits, how full the context is."""

from dataclasses import dataclass
from typing import Final

from memchat.terminal.flow import cut
from memchat.text import counted, one_line

_ORDINARY: Final = "normal"  # the mode that needs no mark


@dataclass(frozen=True, slots=True)
class Standing:
    """What the toolbar tells; None where it is not known (yet)."""

    user: str
    mode: str = _ORDINARY  # a `Mode`, whose module is not loaded when the first prompt is drawn
    model: str | None = None
    engine: str | None = None
    remote: str | None = None  # the host that text goes to, when it is not this machine
    memories: int | None = None
    pending: int = 0  # exchanges still to be learnt
    context_used: int = 0
    context_size: int = 0
    attached: int = 0
    no_model: bool = False
    opening: bool = False  # the memory file is still to be opened
    persona: str | None = None


def toolbar_text(standing: Standing, width: int) -> str:
    """Return the line, cut to `width` cells."""
    model = standing.model or ("no model" if standing.no_model else "loading the model…")
    parts = [
        f"{model} ({standing.engine})" if standing.engine and standing.model else model,
        f"goes to {standing.remote}" if standing.remote else "",
        standing.user if standing.user != "default" else "",
        f"as {standing.persona}" if standing.persona else "",
        _mark(standing),
        _memories(standing),
        f"{standing.pending} to learn" if standing.pending else "",
        f"{counted(standing.attached, 'file')} attached" if standing.attached else "",
        _context(standing),
    ]
    return _shortened(" · ".join(one_line(part) for part in parts if part), max(1, width - 1))


def _mark(standing: Standing) -> str:
    return str(standing.mode) if standing.mode != _ORDINARY else ""


def _memories(standing: Standing) -> str:
    if standing.memories is None:
        return "" if standing.opening else "no memory file"
    return counted(standing.memories, "memory")


def _shortened(line: str, size: int) -> str:
    """Return the line cut at `size` cells; prompt-toolkit counts them, which is loaded here in any case."""
    from prompt_toolkit.utils import get_cwidth

    return cut(line, size, get_cwidth)


def _context(standing: Standing) -> str:
    if not standing.context_size or not standing.context_used:
        return ""
    return f"context {100 * standing.context_used // standing.context_size} %"


def prompt_text(standing: Standing) -> str:
    """Return the prompt: it shows whatever makes this chat differ from an ordinary one."""
    marks = [_mark(standing), "remote" if standing.remote else ""]
    return f"{' '.join(mark for mark in marks if mark)}> "
