"""Slash commands for memories: keep, look at, change, forget, take back."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from memchat.curate.edit import Edited, Revision
from memchat.curate.edit import edit as edit_memory
from memchat.curate.forget import Selection, select_ids, select_query
from memchat.curate.remember import Kept
from memchat.curate.remember import remember as keep
from memchat.curate.undo import undo as take_back
from memchat.errors import ForgottenBefore, NotFound, SecretFound, UsageError
from memchat.records import Cause, Kind, Memory, State
from memchat.terminal.desk import Desk, Outcome, is_ids, read_id, read_ids
from memchat.terminal.memory_text import memory_line, print_changes, print_memories, print_memory
from memchat.terminal.render import quiet
from memchat.text import counted, fold

_T = TypeVar("_T")
_LISTED: Final = 30  # newest memories that a bare /memories shows


def remember(desk: Desk, rest: str) -> Outcome:
    """Keep the text as a memory; a secret, and what was forgotten before, only when the user says so."""
    if not rest:
        raise UsageError("Say what to remember: /remember I moved to Berlin.")
    store, embedder = desk.writable(), desk.app.embedder()

    def attempt(confirmed: bool, allow_again: bool) -> Kept:
        return keep(store, rest, now=desk.now(), embedder=embedder, confirmed=confirmed, allow_again=allow_again)

    kept = _with_consent(desk, attempt)
    if kept is None:
        return None
    desk.chat.refresh_profile()
    quiet(desk.remarks, ("= " if kept.restated else "+ ") + memory_line(kept.memory) + _pending(kept.pending))
    return None


def _with_consent(desk: Desk, attempt: Callable[[bool, bool], _T]) -> _T | None:
    """Return what `attempt(confirmed, allow_again)` gives, asking for each consent it lacks; None without consent."""
    confirmed = allowed = False
    while True:
        try:
            return attempt(confirmed, allowed)
        except SecretFound as found:
            confirmed = desk.confirm("This looks as if it held a secret. Keep it?", found.sentence)
            if not confirmed:
                return None
        except ForgottenBefore as found:
            allowed = desk.confirm("You had this forgotten. Keep it again?", found.sentence)
            if not allowed:
                return None


def _pending(why: str | None) -> str:
    return f" (found by its words only: {why})" if why else ""


def list_memories(desk: Desk, rest: str) -> Outcome:
    """List the newest memories, those of a kind, or those that hold the words; `all` lists every one."""
    memories = _select(desk, rest)
    shown = memories if rest else memories[-_LISTED:]
    print_memories(desk.console, shown, desk.now())
    if len(shown) < len(memories):
        quiet(desk.remarks, f"… {counted(len(memories) - len(shown), 'older one')}: /memories all")
    return None


def _select(desk: Desk, rest: str) -> list[Memory]:
    if rest in set(Kind):
        return desk.store.list_memories(kind=Kind(rest))
    memories = desk.store.list_memories()
    return memories if rest in ("", "all") else _holding(memories, rest)


def _holding(memories: Sequence[Memory], words: str) -> list[Memory]:
    """Return the memories that hold every one of the words."""
    sought = fold(words).split()
    return [memory for memory in memories if all(word in fold(memory.text) for word in sought)]


def show(desk: Desk, rest: str) -> Outcome:
    """Show one memory whole."""
    store, id = desk.store, read_id(rest)
    memory = store.get_memory(id)
    sources, keys, changes = store.list_sources(id), store.list_keys(id), store.list_changes(id)
    print_memory(desk.console, memory, desk.now(), sources=sources, keys=keys, changes=changes)
    return None


def edit(desk: Desk, rest: str) -> Outcome:
    """Reword a memory, in the editor when no text follows the id."""
    store = desk.writable()
    word, _, text = rest.partition(" ")
    memory = store.get_memory(read_id(word))
    if not text.strip():
        if desk.ask is None:
            raise UsageError("Without a terminal there is no editor: /edit ID TEXT")
        # Late: only a bare /edit needs it.
        from memchat.terminal.editor import edit_text

        text = edit_text(memory.text)
    if not text.strip() or text.strip() == memory.text:
        quiet(desk.remarks, "Nothing was changed.")
        return None
    embedder = desk.app.embedder()

    def attempt(confirmed: bool, allow_again: bool) -> Edited:
        revision = Revision(text=text, confirmed=confirmed, allow_again=allow_again)
        return edit_memory(store, memory.id, revision, now=desk.now(), embedder=embedder)

    edited = _with_consent(desk, attempt)
    if edited is None:
        return None
    desk.chat.refresh_profile()
    quiet(desk.remarks, f"= {memory_line(edited.memory)} · /undo{_pending(edited.pending)}")
    return None


def forget(desk: Desk, rest: str) -> Outcome:
    """Erase memories for good: by ids after one question, by words after a list and a question."""
    words = rest.split()
    certain = "--yes" in words
    rest = " ".join(word for word in words if word != "--yes")
    if not rest:
        raise UsageError("Say what to forget: /forget 17, or /forget my old address")
    store = desk.store
    if is_ids(rest):
        chosen = select_ids(store, read_ids(rest.split()))
    else:
        chosen = select_query(
            store,
            rest,
            now=desk.now(),
            embedder=desk.app.embedder(),
            options=desk.chat.recall_options,
            by_meaning=not certain and desk.ask is not None,
        )
    if certain or _sure(desk, chosen):
        desk.erase(chosen)
    return None


def _sure(desk: Desk, chosen: Selection) -> bool:
    print_memories(desk.remarks, chosen.memories, desk.now())
    number = len(chosen.memories) + len(chosen.undone)
    them = "it" if number == 1 else f"these {number}"
    return desk.confirm(f"Erase {them} for good?", f"Nobody can be asked here; to erase {them} say /forget … --yes")


def pin(desk: Desk, rest: str) -> Outcome:
    """Pin memories, so that they never fade and stand in the profile."""
    return _set_pin(desk, rest, True)


def unpin(desk: Desk, rest: str) -> Outcome:
    """Take the pin off memories."""
    return _set_pin(desk, rest, False)


def _set_pin(desk: Desk, rest: str, pinned: bool) -> Outcome:
    store, ids = desk.writable(), read_ids(rest.split())
    if not ids:
        raise UsageError("Name at least one id, for example 17.")
    with store.transaction():
        for id in ids:
            store.update_memory(id, cause=Cause.USER, now=desk.now(), pinned=pinned)
    desk.chat.refresh_profile()
    quiet(desk.remarks, f"{'Pinned' if pinned else 'No longer pinned'}: {', '.join(f'#{id}' for id in ids)}.")
    return None


def history(desk: Desk, rest: str) -> Outcome:
    """Show the changes of one memory or of all, newest first."""
    if rest:
        id = read_id(rest)
        desk.store.get_memory(id)
        print_changes(desk.console, desk.store.list_changes(id), desk.now())
    else:
        print_changes(desk.console, desk.store.list_changes(limit=_LISTED), desk.now())
    return None


def undo(desk: Desk, rest: str) -> Outcome:
    """Take back the newest learnings or edits."""
    if rest and not rest.isdecimal():
        raise UsageError("Say how many to take back: /undo or /undo 2")
    undone = take_back(desk.writable(), desk.now(), int(rest or 1))
    desk.chat.refresh_profile()
    print_changes(desk.console, undone.changes, desk.now())
    quiet(desk.remarks, f"Taken back: {counted(undone.steps, 'step')}. {undone.note}".rstrip())
    return None


def pending(desk: Desk, rest: str) -> Outcome:
    """List what waits for approval, or approve or reject it."""
    verb, *words = rest.split() or [""]
    if not verb:
        print_memories(desk.console, desk.store.list_memories(state=State.PROPOSED), desk.now())
        return None
    if verb not in ("approve", "reject"):
        raise UsageError("Use /pending, /pending approve ID… or /pending reject ID…")
    return _decide(desk, verb == "approve", words)


def _decide(desk: Desk, keep_them: bool, words: list[str]) -> Outcome:
    from memchat.learn import approve, reject  # late: the prompt need not wait for what learns

    store = desk.writable()
    waiting = {memory.id: memory for memory in store.list_memories(state=State.PROPOSED)}
    ids = read_ids(words) or list(waiting)
    missing = [f"#{id}" for id in ids if id not in waiting]
    if missing:
        raise NotFound(f"{', '.join(missing)} does not wait for approval.")
    settle = approve if keep_them else reject
    for id in ids:
        settle(store, waiting[id], desk.now())
    desk.chat.refresh_profile()
    quiet(desk.remarks, f"{'Kept' if keep_them else 'Rejected'}: {counted(len(ids), 'memory')}.")
    return None


def learn(desk: Desk, rest: str) -> Outcome:
    """Have the waiting exchanges learnt now, in the background."""
    waiting = desk.store.count_queued()
    desk.learn()
    quiet(desk.remarks, f"{counted(waiting, 'exchange')} to learn from." if waiting else "Nothing waits to be learnt.")
    return None
