"""Storing what the user says outright: verbatim, checked, and findable at once where an embedder is at hand."""

from dataclasses import dataclass
from datetime import datetime

from memchat.curate.embedding import embed_memory, try_ahead
from memchat.curate.wording import forms_of, refuse_forgotten, refuse_secret, tidy
from memchat.engine import Embedder
from memchat.errors import UsageError
from memchat.recall.embed import give_vector
from memchat.records import Cause, Kind, Memory, NewMemory
from memchat.store import Store
from memchat.store.revisions import MemoryFields


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory as it stands after `remember` or `edit`.

    `restated` tells that it was there already; `pending` says why it has no vector yet, None when it has.
    """

    memory: Memory
    restated: bool = False
    pending: str | None = None


def remember(
    store: Store,
    text: str,
    *,
    now: datetime,
    embedder: Embedder | None = None,
    kind: Kind | None = None,
    importance: int | None = None,
    pinned: bool | None = None,
    confirmed: bool = False,
    allow_again: bool = False,
) -> Kept:
    """Store `text` on one line; the same text again is the same memory, with what else is given changed on it.

    Raises UsageError when it is blank, too long or the importance is not 1-10; SecretFound unless `confirmed`;
    ForgottenBefore unless `allow_again`.
    """
    text = tidy(text)
    given = given_fields(kind, importance, pinned)
    if not confirmed:
        refuse_secret(text)
    if not allow_again:
        refuse_forgotten(store, text)
    ahead, refusal = try_ahead(store, embedder, text)
    with store.transaction():
        if allow_again:
            store.allow_again(text, forms=forms_of(text))
        there = store.find_exact(text)
        if there is None:
            memory = store.add_memory(_new(text, given), cause=Cause.USER, now=now)
            give_vector(store, memory, ahead)
        else:
            memory = _restate(store, there, given, now)
    pending = refusal or embed_memory(store, embedder, memory.id)
    return Kept(store.get_memory(memory.id), restated=there is not None, pending=pending)


def _new(text: str, given: MemoryFields) -> NewMemory:
    plain = NewMemory(text)
    return NewMemory(
        text,
        kind=given.get("kind", plain.kind),
        importance=given.get("importance", plain.importance),
        pinned=given.get("pinned", plain.pinned),
    )


def _restate(store: Store, there: Memory, given: MemoryFields, now: datetime) -> Memory:
    memory = store.restate_memory(there.id, source=None, confidence=1.0, now=now, cause=Cause.USER)
    return store.update_memory(there.id, cause=Cause.USER, now=now, **given) if given else memory


def given_fields(kind: Kind | None, importance: int | None, pinned: bool | None) -> MemoryFields:
    """Return those of the fields that are not None; raises UsageError when the importance is not 1-10."""
    if importance is not None and not 1 <= importance <= 10:
        raise UsageError(f"The importance must lie between 1 and 10; not {importance}.")
    fields: MemoryFields = {}
    if kind is not None:
        fields["kind"] = kind
    if importance is not None:
        fields["importance"] = importance
    if pinned is not None:
        fields["pinned"] = pinned
    return fields
