"""Making a memory findable at once, without making the user wait for what else is pending."""

from typing import Final

from memchat.engine import Embedder
from memchat.errors import EngineError, PrivacyRefusal, StoreError
from memchat.recall.embed import Ahead, embed_ahead, embed_keys, ensure_embedded, same_space
from memchat.store import Store

_FEW: Final = 256  # keys that are embedded on the way, in about a second


def try_ahead(store: Store, embedder: Embedder | None, text: str) -> tuple[Ahead | None, str | None]:
    """Embed a text that is about to be stored; return also why the embedder refused it: it need not be asked again.

    Nothing is embedded for a text that is stored already, nor while others wait: `embed_memory` takes them along.
    """
    if store.find_exact(text) is not None or store.count_pending_keys():
        return None, None
    try:
        return embed_ahead(store, embedder, text), None
    except (EngineError, PrivacyRefusal) as error:
        return None, error.sentence


def embed_memory(store: Store, embedder: Embedder | None, id: int) -> str | None:
    """Embed the pending keys of one memory, and the others when they are few; return why it is still pending."""
    if not store.get_memory(id).pending:
        return None
    if embedder is None:
        return "There is no embedding model at hand."
    try:
        _embed(store, embedder, id)
    except (EngineError, PrivacyRefusal) as error:  # the memory is stored; only the embedder was refused its text
        return error.sentence
    except StoreError as error:
        return f"Its vector was not stored. {error.sentence}"
    except ValueError:
        return "The embedding model gave no usable vector."
    if store.get_memory(id).pending:
        return "The memories are embedded with another model, or many still wait; `memchat reindex` embeds them all."
    return None


def _embed(store: Store, embedder: Embedder, id: int) -> None:
    own = store.embedder()
    if store.count_pending_keys() <= _FEW:
        ensure_embedded(store, embedder)
    elif own is not None and same_space(own, embedder.card()):
        keys = [key for key in store.list_keys(id) if not key.embedded]
        store.set_vectors(embed_keys(embedder, keys), embedder.card())
