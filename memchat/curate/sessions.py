"""Past conversations: renaming, forking, writing one out as Markdown, deleting it with what was learnt in it."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from memchat.curate.private_files import refuse_target, write_private
from memchat.errors import UsageError
from memchat.records import Memory, Session, Turn
from memchat.store import Store
from memchat.text import clean, one_line

_LONGEST_TITLE = 120


def rename_session(store: Store, id: int, title: str) -> Session:
    """Give a conversation a title of one line; raises NotFound, and UsageError when the title is blank or too long."""
    title = one_line(title)
    if not title or len(title) > _LONGEST_TITLE:
        raise UsageError(f"A title has 1 to {_LONGEST_TITLE} characters.")
    return store.update_session(id, title=title)


def fork_session(store: Store, id: int, now: datetime) -> Session:
    """Start a second conversation from all turns of this one; raises NotFound."""
    return store.fork_session(id, now)


def list_learnt(store: Store, ids: Sequence[int]) -> list[Memory]:
    """Return the memories, of every state, that were first stated in these conversations."""
    wanted = set(ids)
    memories = store.list_memories(state=None)
    return [memory for memory in memories if memory.source is not None and memory.source.session in wanted]


def session_markdown(store: Store, id: int) -> str:
    """Return a conversation as Markdown: title, times of this machine's clock, each message under its speaker.

    Raises NotFound.
    """
    session = store.get_session(id)
    parts = [f"# {session.title or f'Conversation {session.id}'}", f"Started {_local(session.created_at)}"]
    for turn in store.list_turns(id):
        parts += _turn_markdown(turn)
    return "\n\n".join(parts) + "\n"


def _turn_markdown(turn: Turn) -> list[str]:
    if turn.forgotten:
        return [f"## {_local(turn.at)}", "*(forgotten)*"]
    speaker = f"**{turn.model or 'Assistant'}**" + (" *(interrupted)*" if turn.interrupted else "")
    return [f"## {_local(turn.at)}", "**You**", clean(turn.user_text), speaker, clean(turn.reply)]


def _local(at: datetime) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M")


def write_session(store: Store, id: int, path: Path) -> int:
    """Write a conversation as Markdown to `path`, readable by the owner only; return the number of turns."""
    refuse_target(store, path)
    write_private(path, [session_markdown(store, id)])
    return len(store.list_turns(id))
