"""Slash commands for conversations: list, start, go on, name, copy, write out, and the mode of this one."""

import os.path

from memchat.chat import Mode
from memchat.curate.forget import select_sessions
from memchat.curate.sessions import fork_session, rename_session, write_session
from memchat.errors import UsageError
from memchat.paths import typed_path
from memchat.records import Session
from memchat.terminal.desk import Desk, Outcome, read_id, read_switch
from memchat.terminal.memory_text import print_sessions
from memchat.terminal.render import quiet, shortened
from memchat.text import counted

_LISTED = 20
_TOLD = {
    Mode.NORMAL: "Memories are used and learnt again.",
    Mode.READ_ONLY: "Memories are used; nothing is stored, your input neither, until /read-only again.",
    Mode.INCOGNITO: "No memories are read and nothing is stored until /incognito again.",
}


def list_sessions(desk: Desk, rest: str) -> Outcome:
    """List past conversations, or those that hold the words."""
    print_sessions(desk.console, desk.store.list_sessions(search=rest or None, limit=_LISTED), desk.now())
    return None


def new(desk: Desk, rest: str) -> Outcome:
    """Start a new conversation; the old one stays in the list."""
    _move(desk, None)
    quiet(desk.remarks, "A new conversation.")
    return None


def continue_latest(desk: Desk, rest: str) -> Outcome:
    """Go on with the latest conversation other than this one."""
    here = desk.chat.session.id if desk.chat.session else None
    earlier = [session for session in desk.store.list_sessions(limit=2) if session.id != here]
    if not earlier:
        raise UsageError("There is no earlier conversation.")
    return _go_on(desk, earlier[0])


def resume(desk: Desk, rest: str) -> Outcome:
    """Go on with a past conversation."""
    return _go_on(desk, desk.store.get_session(read_id(rest)))


def rename(desk: Desk, rest: str) -> Outcome:
    """Give this conversation a title."""
    desk.chat.session = rename_session(desk.store, _session(desk).id, rest)
    quiet(desk.remarks, f"This conversation is called “{desk.chat.session.title}”.")
    return None


def fork(desk: Desk, rest: str) -> Outcome:
    """Go on in a copy, so that the original stays as it is."""
    return _go_on(desk, fork_session(desk.writable(), _session(desk).id, desk.now()))


def export(desk: Desk, rest: str) -> Outcome:
    """Write this conversation to a file."""
    if not rest:
        raise UsageError("Name a file: /export trip.md")
    path = typed_path(rest)
    if os.path.exists(path):
        raise UsageError(f"{path} is there already; name another file.")
    turns = write_session(desk.store, _session(desk).id, path)
    quiet(desk.remarks, f"{counted(turns, 'turn')} written to {path}.")
    return None


def delete(desk: Desk, rest: str) -> Outcome:
    """Erase a conversation with what was learnt in it, after one question."""
    words = [word for word in rest.split() if word != "--yes"]
    chosen = select_sessions(desk.store, [read_id(" ".join(words))])
    session = desk.store.get_session(chosen.sessions[0])
    what = f"conversation {session.id} ({counted(session.turns, 'turn')}, {counted(len(chosen.memories), 'memory')})"
    refusal = f"Nobody can be asked here; to erase {what} add --yes."
    if len(words) == len(rest.split()) and not desk.confirm(f"Erase {what} for good?", refusal):
        return None
    if desk.chat.session is not None and desk.chat.session.id == session.id:
        _move(desk, None)
    desk.erase(chosen)
    return None


def switch_mode(desk: Desk, mode: Mode, rest: str) -> Outcome:
    """Turn a mode on or off as `rest` says, else over; incognito starts a conversation of its own."""
    is_on = desk.chat.mode is mode
    turn_on = read_switch(rest, is_on, mode.value)
    if turn_on == is_on:
        quiet(
            desk.remarks,
            f"This chat is {f'{mode.value} already' if is_on else f'not {mode.value}'}; nothing has changed.",
        )
        return None
    wanted = mode if turn_on else Mode.NORMAL
    if Mode.INCOGNITO in (wanted, desk.chat.mode):
        # What was said in one must not be in the context of the other.
        _move(desk, None, wanted)
    else:
        desk.chat.mode = wanted
    quiet(desk.remarks, _TOLD[wanted])
    return None


def _session(desk: Desk) -> Session:
    if desk.chat.session is None:
        raise UsageError("Nothing of this conversation is stored yet.")
    return desk.chat.session


def _go_on(desk: Desk, session: Session) -> Outcome:
    mode = Mode.READ_ONLY if desk.chat.mode is Mode.READ_ONLY else Mode.NORMAL
    _move(desk, session.id, mode)
    turns = desk.store.list_turns(session.id)
    title = f" “{session.title}”" if session.title else ""
    quiet(desk.remarks, f"Going on with conversation {session.id}{title}, {counted(len(turns), 'turn')}.")
    if turns:
        quiet(desk.remarks, f"You said last: {shortened(turns[-1].user_text, 200)}")
    return None


def _move(desk: Desk, session: int | None, mode: Mode | None = None) -> None:
    desk.chat = desk.app.open_chat(resume=session, mode=mode or desk.chat.mode)
    desk.attached, desk.last_text, desk.last_attached = (), "", ()
