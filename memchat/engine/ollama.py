"""The Ollama engine: what other parts of memchat use of it."""

from memchat.engine.choose import RECOMMENDED_CHAT_MODEL, choose_chat_model
from memchat.engine.host import Host, parse_host
from memchat.engine.ollama_chat import OllamaChat
from memchat.engine.ollama_embed import DEFAULT_EMBED_MODEL, OllamaEmbedder
from memchat.engine.ollama_server import OllamaServer, ServerState, probe
from memchat.engine.pull import pull
from memchat.engine.remote import PulledModel

__all__ = [
    "DEFAULT_EMBED_MODEL",
    "RECOMMENDED_CHAT_MODEL",
    "Host",
    "OllamaChat",
    "OllamaEmbedder",
    "OllamaServer",
    "PulledModel",
    "ServerState",
    "choose_chat_model",
    "parse_host",
    "probe",
    "pull",
]
