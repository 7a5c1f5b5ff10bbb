"""Chooses a chat model among those that a server has: the configured one, else the best that this machine can run."""

import os
from collections.abc import Sequence
from typing import Final

from memchat.engine.ollama_server import OllamaServer
from memchat.engine.remote import PulledModel
from memchat.errors import ModelMissing

RECOMMENDED_CHAT_MODEL: Final = "llama3.2:3b"
_MOST_PARAMETERS: Final = 15e9  # beyond it, a machine without a large graphics card writes a word a second
_MEMORY_SHARE: Final = 0.7  # of the machine's memory that a model may take, its context included
_OVERHEAD: Final = 1 << 30  # bytes beside the weights: context, compute buffers
_UNKNOWN_MEMORY: Final = 8 << 30


def choose_chat_model(server: OllamaServer, wanted: str | None = None, *, memory: int | None = None) -> str:
    """Return the name of the chat model to use, as the server lists it.

    `memory` is the machine's in bytes, by default read from the system. Raises ModelMissing when `wanted` is not
    pulled or when nothing pulled can chat, PrivacyRefusal when `wanted` is relayed to another machine.
    """
    if wanted:
        model = server.clear(wanted)
        if not model.chats:
            raise ModelMissing(f"The model {model.name} makes vectors and cannot chat: choose another with --model.")
        return model.name
    for model in _by_preference(server.models(), memory or total_memory()):
        if (model if model.capabilities else server.shown(model)).chats:
            return model.name
    raise ModelMissing(
        f"Ollama has no chat model yet: get one with `ollama pull {RECOMMENDED_CHAT_MODEL}`, "
        "or let `memchat setup` do it."
    )


def _by_preference(models: Sequence[PulledModel], memory: int) -> list[PulledModel]:
    """Return the local chat models: those that fit, largest first, then the others, smallest first."""
    local = [model for model in models if not model.relayed_to and model.chats and not _looks_like_embedder(model)]
    fitting = [model for model in local if _fits(model, memory)]
    others = [model for model in local if not _fits(model, memory)]
    return sorted(fitting, key=_weight, reverse=True) + sorted(others, key=_weight)


def _fits(model: PulledModel, memory: int) -> bool:
    return model.size + _OVERHEAD <= memory * _MEMORY_SHARE and model.parameters <= _MOST_PARAMETERS


def _weight(model: PulledModel) -> tuple[float, int]:
    return model.parameters, model.size


def _looks_like_embedder(model: PulledModel) -> bool:
    """Servers before 0.6.4 tell no capabilities, but families of encoders never chat."""
    return not model.capabilities and (model.family.endswith("bert") or "embed" in model.name)


def total_memory() -> int:
    """Return the machine's memory in bytes; a modest guess where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return _UNKNOWN_MEMORY
