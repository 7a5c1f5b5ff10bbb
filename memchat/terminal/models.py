"""Which chat models could answer: for `/model`, and for completion in the chat and in the shell."""

from typing import TYPE_CHECKING

from memchat.app import App
from memchat.errors import MemchatError

if TYPE_CHECKING:
    from memchat.engine.ollama import PulledModel


def list_models(app: App) -> list[tuple[str, str]]:
    """Return the names of the chat models at hand with what they are, none when the engine cannot be asked."""
    try:
        if app.engines.choose().engine == "embedded":
            from memchat.engine.pack_table import PACKS

            return [(pack.name, pack.model) for pack in PACKS if pack.role == "chat"]
        # Late: the client of the server, which an embedded chat never needs.
        from memchat.engine.host import parse_host
        from memchat.engine.ollama import probe

        host = parse_host(app.settings.text("host"), app.settings.origin("host"))
        state = probe(host, allow_remote=app.settings.words("allow_remote"))
        return [(model.name, _described(model)) for model in state.models if model.chats]
    except MemchatError:
        return []


def _described(model: "PulledModel") -> str:
    """Return size and abilities in words."""
    parts = [f"{model.parameters / 1e9:.1f}B"] if model.parameters else []
    parts += ["sees pictures"] if "vision" in model.capabilities else []
    parts += ["thinks"] if "thinking" in model.capabilities else []
    parts += [f"at {model.relayed_to}, not on this machine"] if model.relayed_to else []
    return ", ".join(parts)
