"""A look at the engines for `doctor`: what is there, what is missing, what would leave this machine."""

from memchat.app import App
from memchat.app.engines import EMBEDDED_EMBEDDER
from memchat.curate.doctor import EngineState
from memchat.engine.host import parse_host
from memchat.engine.ollama import PulledModel, ServerState, probe
from memchat.engine.packs import has_chat, model_name
from memchat.engine.remote import find_model, names_cloud
from memchat.errors import EngineError, MemchatError
from memchat.records import EmbedderCard


def look(app: App) -> tuple[EngineState, EmbedderCard | None]:
    """Return how the engines stand and the card of the embedder in use, None where it is not to be had."""
    settings = app.settings
    server, fault = _probe(app)
    chosen, ready = _chosen(app)
    chat = chosen or settings.text("model")  # one that was refused is looked at too
    pulled = find_model(server.models, chat) if server is not None and chat else None
    card = _embedder_card(app)
    name = card.model if card else app.engines.embedder_name()
    asked = app.engines.asked_embedder()
    state = EngineState(
        wanted=settings.text("engine") or "auto",
        host=server.url if server is not None else settings.text("host"),
        server=server.running if server is not None else None,
        server_version=server.version if server is not None and server.running else None,
        server_fault=fault or (server.problem if server is not None else ""),
        chat_model=chat,
        chat_ready=ready,
        chat_remote=_leaves_for(pulled, chat),
        chat_context=pulled.context if pulled else None,
        embed_model=name,
        embed_ready=card is not None,
        embeds=_embeds(server, name),
        embed_languages=card.languages if card else "unknown",
        embed_asked=asked,
        embed_asked_dimensions=asked_length if isinstance(asked_length := settings["embed_dimensions"], int) else None,
        embed_asked_ready=_is_there(app, server, asked),
        embed_asked_embeds=_embeds(server, asked),
        packs=_packs(app),
        allowed=settings.words("allow_remote"),
    )
    return state, card


def _probe(app: App) -> tuple[ServerState | None, str]:
    try:
        host = parse_host(app.settings.text("host"), app.settings.origin("host"))
        return probe(host, allow_remote=app.settings.words("allow_remote")), ""
    except MemchatError as error:
        return None, error.sentence


def _chosen(app: App) -> tuple[str | None, bool]:
    """Return the model's own name, and whether it is there."""
    try:
        choice = app.engines.choose()
    except MemchatError:
        return None, False
    if choice.engine == "ollama":
        return choice.model, True
    which = choice.model or app.settings.text("embedded.chat") or "standard"
    return model_name(which), has_chat(app.paths.models, which)


def _leaves_for(pulled: PulledModel | None, chat: str | None) -> str | None:
    if pulled is not None and pulled.relayed_to:
        return pulled.relayed_to
    return "ollama.com" if chat and names_cloud(chat) else None


def _embedder_card(app: App) -> EmbedderCard | None:
    embedder = app.embedder()
    if embedder is None:
        return None
    try:
        return embedder.card()
    except EngineError:
        return None


def _embeds(server: ServerState | None, name: str | None) -> bool | None:
    if name == EMBEDDED_EMBEDDER:
        return True
    pulled = find_model(server.models, name) if server is not None and name else None
    return pulled.embeds if pulled else None


def _is_there(app: App, server: ServerState | None, name: str | None) -> bool | None:
    if name == EMBEDDED_EMBEDDER:
        from memchat.engine.packs import has_embedder

        return has_embedder(app.paths.models)
    if server is None or not server.running or name is None:
        return None
    return find_model(server.models, name) is not None


def _packs(app: App) -> tuple[tuple[str, bool], ...]:
    from memchat.engine.packs import installed

    return tuple((name, whole) for name, whole in installed(app.paths.models).items())
