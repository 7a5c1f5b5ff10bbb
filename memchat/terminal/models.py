"""Which chat models could answer: for `/model` and its completion."""

from memchat.app import App
from memchat.errors import MemchatError


def list_models(app: App) -> list[str]:
    """Return the names of the chat models at hand, none when the engine cannot be asked."""
    try:
        if app.engines.choose().engine == "embedded":
            return ["standard", "small"]
        # Late: the client of the server, which an embedded chat never needs.
        from memchat.engine.host import parse_host
        from memchat.engine.ollama import probe

        host = parse_host(app.settings.text("host"), app.settings.origin("host"))
        state = probe(host, allow_remote=app.settings.words("allow_remote"))
        return [model.name for model in state.models if model.chats]
    except MemchatError:
        return []
