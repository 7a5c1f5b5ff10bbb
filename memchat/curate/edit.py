"""Changing a memory by hand: wording, kind, importance, pin; the old wording stays as history or goes for good."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memchat.curate.embedding import embed_memory
from memchat.curate.forget import complete_receipt
from memchat.curate.quotes import gather_old_wordings, list_retold
from memchat.curate.remember import given_fields
from memchat.curate.repl_history import strip_history
from memchat.curate.wording import forms_of, refuse_forgotten, refuse_secret, says_nothing_new, tidy
from memchat.engine import Embedder
from memchat.errors import UsageError
from memchat.records import Cause, Kind, Memory, Receipt
from memchat.store import Store
from memchat.store.revisions import MemoryFields
from memchat.text import fold


@dataclass(frozen=True, slots=True)
class Revision:
    """What is to change; None leaves a field as it is.

    `confirmed` lets the shape of a secret pass, `allow_again` a text that was forgotten before.
    """

    text: str | None = None
    kind: Kind | None = None
    importance: int | None = None
    pinned: bool | None = None
    confirmed: bool = False
    allow_again: bool = False

    @property
    def empty(self) -> bool:
        """Whether nothing is to change."""
        return (self.text, self.kind, self.importance, self.pinned) == (None, None, None, None)


@dataclass(frozen=True, slots=True)
class Edited:
    """A memory after an edit. `pending` says why it has no vector yet; `receipt` is of a redaction."""

    memory: Memory
    changed: bool
    pending: str | None = None
    receipt: Receipt | None = None


def edit(store: Store, id: int, revision: Revision, *, now: datetime, embedder: Embedder | None = None) -> Edited:
    """Change what is given; a new wording is embedded anew, and what was derived from the old one goes.

    Raises NotFound; UsageError when nothing is given, the text is blank, too long or another memory's;
    SecretFound and ForgottenBefore unless the revision lets them pass.
    """
    before = store.get_memory(id)
    after = _revise(store, before, revision, now)
    pending = embed_memory(store, embedder, id)
    return Edited(store.get_memory(id), after != before, pending)


def redact(
    store: Store,
    id: int,
    revision: Revision,
    *,
    now: datetime,
    embedder: Embedder | None = None,
    history: Path | None = None,
    log: Path | None = None,
) -> Edited:
    """Edit, then erase every earlier wording with the exchanges that stated it; there is no undo afterwards.

    An empty revision only erases. The receipt tells what was erased and what cannot be reached. Raises what `edit`
    does, and StoreBusy when another program keeps the old bytes from being wiped.
    """
    before = store.get_memory(id)
    with store.transaction():
        pass  # a file that cannot be written is refused before anything is taken out of the input history
    after = before if revision.empty else _revise(store, before, revision, now)
    quotes = gather_old_wordings(store, after)
    stripped = strip_history(history, quotes.found_in) if history is not None else 0
    retold = list_retold(store, [after], quotes)
    files = [file for file in (history, log) if file is not None]
    receipt = store.erase_wording(id, retold=retold, extra_files=files)
    pending = embed_memory(store, embedder, id)
    return Edited(store.get_memory(id), after != before, pending, complete_receipt(receipt, history, stripped))


def _revise(store: Store, before: Memory, revision: Revision, now: datetime) -> Memory:
    given = given_fields(revision.kind, revision.importance, revision.pinned)
    if revision.empty:
        raise UsageError("Nothing to change was given: name a text, --kind, --importance, --pin or --unpin.")
    if revision.text is not None:
        given |= _wording_fields(before, _check_wording(store, before, revision.text, revision))
    with store.transaction():
        if revision.text is not None and revision.allow_again:
            store.allow_again(revision.text, forms=forms_of(revision.text))
        return store.update_memory(before.id, cause=Cause.USER, now=now, **given)


def _check_wording(store: Store, memory: Memory, text: str, revision: Revision) -> str:
    """Return the new wording as it is stored; raises what `edit` says."""
    text = tidy(text)
    if not revision.confirmed:
        refuse_secret(text)
    if fold(text) == fold(memory.text):
        return text
    if not revision.allow_again:
        refuse_forgotten(store, text)
    twin = store.find_exact(text)
    if twin is not None and twin.id != memory.id:
        raise UsageError(f"Memory {twin.id} says this already; forget {memory.id} instead, if it is not needed.")
    return text


def _wording_fields(memory: Memory, text: str) -> MemoryFields:
    """Return the fields that change with a new wording: a value, date or cue that it does not bear out goes."""
    fields: MemoryFields = {"text": text}
    holds = says_nothing_new(memory.text, text)
    if holds:
        fields["cues"] = memory.cues
    elif memory.event_date is not None:
        fields["event_date"] = None
    if memory.value is not None and fold(memory.value) not in fold(text):
        fields |= {"subject": None, "attribute": None, "value": None}
    return fields
