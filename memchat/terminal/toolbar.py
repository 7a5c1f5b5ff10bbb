"""The line under the prompt: model, engine, user, mode, memories, what waits, how full the context is."""

from dataclasses import dataclass

from memchat.chat import Mode
from memchat.terminal.render import shortened
from memchat.text import counted, one_line


@dataclass(frozen=True, slots=True)
class Standing:
    """What the toolbar tells; None where it is not known (yet)."""

    user: str
    mode: Mode = Mode.NORMAL
    model: str | None = None
    engine: str | None = None
    remote: str | None = None  # the host that text goes to, when it is not this machine
    memories: int | None = None
    pending: int = 0  # exchanges still to be learnt
    context_used: int = 0
    context_size: int = 0
    attached: int = 0
    no_model: bool = False


def toolbar_text(standing: Standing, width: int) -> str:
    """Return the line, cut to `width` cells."""
    model = standing.model or ("no model" if standing.no_model else "loading the model…")
    parts = [
        f"{model} ({standing.engine})" if standing.engine and standing.model else model,
        f"goes to {standing.remote}" if standing.remote else "",
        standing.user if standing.user != "default" else "",
        standing.mode.value if standing.mode is not Mode.NORMAL else "",
        counted(standing.memories, "memory") if standing.memories is not None else "no memory file",
        f"{standing.pending} to learn" if standing.pending else "",
        f"{counted(standing.attached, 'file')} attached" if standing.attached else "",
        _context(standing),
    ]
    return shortened(" · ".join(one_line(part) for part in parts if part), max(1, width - 1))


def _context(standing: Standing) -> str:
    if not standing.context_size or not standing.context_used:
        return ""
    return f"context {100 * standing.context_used // standing.context_size} %"


def prompt_text(standing: Standing) -> str:
    """Return the prompt: it shows whatever makes this chat differ from an ordinary one."""
    marks = [standing.mode.value] if standing.mode is not Mode.NORMAL else []
    marks += ["remote"] if standing.remote else []
    return f"{' '.join(marks)}> "
