"""Fetches a model through the Ollama server, with its progress."""

from collections.abc import Iterator
from threading import Event
from typing import Final

from memchat.engine.ollama_server import OllamaServer
from memchat.engine.remote import CLOUD_HOST, check_relay, names_cloud
from memchat.errors import Cancelled, EngineError, EngineFailed, ModelMissing
from memchat.text import one_line

Progress = tuple[str, int, int]  # what is being done, bytes done, bytes in all (0 where it has no size)
_SILENCE_SECONDS: Final = 120.0


def pull(server: OllamaServer, name: str, stop: Event) -> Iterator[Progress]:
    """Pull `name`, yielding the server's progress, which goes layer by layer; what came stays for a next try.

    Raises ModelMissing for an unknown name, PrivacyRefusal for a cloud model, EngineFailed when it breaks off (the
    server offline, its disk full), Cancelled when `stop` is set.
    """
    if names_cloud(name):
        check_relay(name, CLOUD_HOST, server.allow_remote)
    status = ""
    try:
        with server.call(name, stop=stop, first=_SILENCE_SECONDS, idle=_SILENCE_SECONDS, streams=True) as call:
            for part in call.client().pull(name, stream=True):
                status = part.status or ""
                yield one_line(status), part.completed or 0, part.total or 0
    except ModelMissing:
        raise
    except EngineError as error:
        raise _pull_failed(name, error) from error
    if stop.is_set() and status != "success":
        raise Cancelled("Stopped.")
    if status != "success":
        raise EngineFailed(f"Pulling {name} was interrupted: run it again, what came is kept.")


def _pull_failed(name: str, error: EngineError) -> EngineError:
    from memchat.engine.line import Refused

    said = error.__cause__.text.casefold() if isinstance(error.__cause__, Refused) else ""
    shown = one_line(name)[:80]
    if "file does not exist" in said or "not found" in said or "invalid model name" in said:
        return ModelMissing(f"Ollama's library has no model {shown}: check the name at ollama.com/library.")
    if "412" in said:
        return EngineFailed(f"The model {shown} needs a newer Ollama: update it, then pull again.")
    if "dial " in said or "lookup " in said or "timeout" in said:
        return EngineFailed(f"Ollama cannot reach its library to pull {shown}: is this machine online?")
    if "no space" in said:
        return EngineFailed(f"The disk is full: Ollama cannot store {shown}.")
    return error
