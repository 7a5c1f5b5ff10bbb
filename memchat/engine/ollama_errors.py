"""Every way in which a call to Ollama can fail, in words that say what to do.

Matches on the status and a loose part of the text, never on a whole one: the texts differ between versions.
"""

from typing import Final

import httpx

from memchat.engine.host import Host
from memchat.engine.line import Line, NotOllama, Refused
from memchat.errors import (
    Cancelled,
    EngineFailed,
    EngineUnreachable,
    MemchatError,
    ModelMissing,
    PrivacyRefusal,
    PromptTooLong,
)
from memchat.text import one_line

# ResponseError cannot be named here without the cost of importing the client; it is an Exception, told by its name.
FOREIGN: Final = (Refused, NotOllama, ConnectionError, httpx.HTTPError, httpx.InvalidURL, ValueError)
_NOT_OLLAMA: Final = (
    "What answers at {url} is not Ollama, or a version that memchat does not understand ({why}): {mend}"
)
_MEND_HOST: Final = "check --host, OLLAMA_HOST or the setting `host`."


def is_foreign(error: BaseException) -> bool:
    """Tell whether an exception comes from the client, from HTTP or from what the server sent."""
    return isinstance(error, FOREIGN) or type(error).__name__ in ("ResponseError", "RequestError")


def in_words(error: BaseException, host: Host, model: str, line: Line) -> MemchatError:
    """Return a foreign exception of one call as an error of ours."""
    if line.cut_by == "stop":
        return Cancelled("Stopped.")
    if line.cut_by == "silence" or isinstance(error, httpx.ReadTimeout):
        return _too_slow(host, line)
    if isinstance(error, Refused):
        return _refused(error.status, error.text, host, model)
    if isinstance(error, NotOllama | ValueError | httpx.InvalidURL | httpx.DecodingError):
        return _not_ollama(host, str(error) if isinstance(error, NotOllama) else "an unknown shape of answer")
    if isinstance(error, ConnectionError | httpx.ConnectError | httpx.ConnectTimeout):
        return _unreachable(host, str(error))
    if isinstance(error, httpx.HTTPError):
        return _broken_off(error, host, line)
    return _refused(getattr(error, "status_code", -1), str(getattr(error, "error", error)), host, model)


def is_too_long(refused: Refused) -> bool:
    """Tell whether the server refused because the input does not fit the model's window."""
    text = refused.text.casefold()
    return refused.status in (-1, 400, 500) and (
        ("context" in text and any(word in text for word in ("exceed", "longer", "too long")))
        or "too large to process" in text
    )


def is_about_thinking(refused: Refused) -> bool:
    """Tell whether the server refused the `think` field."""
    return refused.status == 400 and "think" in refused.text.casefold()


def is_unknown_path(refused: Refused) -> bool:
    """Tell whether the server has no such endpoint (an unknown model is a 404, too)."""
    return refused.status in (404, 405) and "model" not in refused.text.casefold()


def model_missing(model: str, near: tuple[str, ...] = ()) -> ModelMissing:
    """Return the error for a model that is not pulled, with the names of similar ones that are."""
    name = one_line(model)[:80]
    there = f" There is {', '.join(near)}." if near else ""
    return ModelMissing(f"Ollama has no model {name}: get it with `ollama pull {name}`, or name another.{there}")


def _too_slow(host: Host, line: Line) -> MemchatError:
    seconds = line.idle if line.heard else line.first
    doing = "fell silent" if line.heard else "did not begin to answer"
    return EngineFailed(
        f"Ollama at {host.url} {doing} for {seconds:.0f} seconds: it may be loading a model or be busy; "
        "look at `ollama ps`, then try again."
    )


def _unreachable(host: Host, reason: str) -> MemchatError:
    if "CERTIFICATE" in reason.upper():
        return EngineUnreachable(f"The certificate of {host.url} cannot be trusted: {one_line(reason)[:120]}")
    if host.is_loopback:
        return EngineUnreachable(
            f"Ollama does not answer at {host.url}: start it (`ollama serve` or the Ollama app), or {_MEND_HOST}"
        )
    return EngineUnreachable(
        f"Ollama does not answer at {host.url} (proxies are never used): start it there, or {_MEND_HOST}"
    )


def _broken_off(error: httpx.HTTPError, host: Host, line: Line) -> MemchatError:
    if line.heard:
        return EngineFailed("The reply was interrupted: the connection to Ollama broke off. Try again.")
    if isinstance(error, httpx.RemoteProtocolError) and "illegal" in str(error):
        return _not_ollama(host, "it does not speak HTTP")
    return EngineFailed(
        f"{host.url} closed the connection without an answer: Ollama may have crashed (its log says more), "
        "or something else listens there."
    )


def _not_ollama(host: Host, why: str) -> MemchatError:
    return EngineUnreachable(_NOT_OLLAMA.format(url=host.url, why=one_line(why)[:80], mend=_MEND_HOST))


def _refused(status: int, text: str, host: Host, model: str) -> MemchatError:
    said = text.casefold()
    for applies, error in (
        (300 <= status < 400, _redirect),
        (status in (401, 403) or "cloud is disabled" in said, _forbidden),
        (status in (404, 405), _absent),
        (status in (502, 504) or "<html" in said or "<!doctype" in said, _gateway),
        (is_too_long(Refused(status, text)), _too_long),
        (status == 501 or "does not support" in said, _unable),
        (status == 503 or "server busy" in said, _busy),
        ("memory" in said or "vram" in said, _no_memory),
    ):
        if applies:
            return error(status, text, host, model)
    return EngineFailed(f"Ollama could not answer with {model or 'the model'}: {_quote(text)}. Its log says more.")


def _quote(text: str) -> str:
    return one_line(text)[:200].rstrip(". ") or "it gave no reason"


def _redirect(status: int, text: str, host: Host, model: str) -> MemchatError:
    return EngineUnreachable(f"{host.url} sends requests elsewhere (HTTP {status}), which memchat does not follow.")


def _forbidden(status: int, text: str, host: Host, model: str) -> MemchatError:
    if "cloud" in text.casefold():
        return PrivacyRefusal(f"The model {model} runs in Ollama's cloud; choose a model that is on this machine.")
    if status == 401:
        return EngineUnreachable(f"{host.url} asks for credentials (HTTP 401), and memchat sends none.")
    if host.name == "127.0.0.1":
        return _not_ollama(host, f"HTTP {status}: {text[:40] or 'forbidden'}")
    return EngineUnreachable(f"Ollama refuses requests under the name {host.name} (HTTP {status}): use 127.0.0.1.")


def _absent(status: int, text: str, host: Host, model: str) -> MemchatError:
    if "model" in text.casefold() and "not found" in text.casefold():
        return model_missing(model)
    return _not_ollama(host, f"HTTP {status} for a path that Ollama has")


def _gateway(status: int, text: str, host: Host, model: str) -> MemchatError:
    return _not_ollama(host, f"HTTP {status}: {_quote(text)[:40]}" if status > 0 else "it sent a web page")


def _too_long(status: int, text: str, host: Host, model: str) -> MemchatError:
    return PromptTooLong(
        f"The prompt does not fit the context window of {model}: say it shorter, or raise chat.num_ctx in the config."
    )


def _unable(status: int, text: str, host: Host, model: str) -> MemchatError:
    said = text.casefold()
    if "support chat" in said or "support generate" in said:
        return ModelMissing(f"The model {model} makes vectors and cannot chat: choose another with --model.")
    if "embed" in said:
        return ModelMissing(f"The model {model} cannot embed: choose one like nomic-embed-text with --embed-model.")
    return EngineFailed(f"Ollama cannot do this with {model}: {_quote(text)}.")


def _busy(status: int, text: str, host: Host, model: str) -> MemchatError:
    return EngineFailed("Ollama is busy with other requests: wait a little and try again.")


def _no_memory(status: int, text: str, host: Host, model: str) -> MemchatError:
    return EngineFailed(
        f"Ollama has not enough memory for {model} ({_quote(text)}): choose a smaller model, or lower chat.num_ctx."
    )
