"""One Ollama server as seen from here: a guarded call to it, and what it tells of itself without hearing any text."""

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from types import TracebackType
from typing import TYPE_CHECKING, Final

from memchat.engine.host import Host, check_host, parse_host
from memchat.engine.remote import (
    CLOUD_HOST,
    PulledModel,
    add_shown,
    check_relay,
    find_model,
    full_name,
    names_cloud,
    read_tag,
)
from memchat.errors import EngineError, EngineUnreachable, PrivacyRefusal

if TYPE_CHECKING:
    import httpx
    import ollama

    from memchat.engine.line import Line

# httpx, the official client and the modules line and ollama_errors that need them are imported inside functions: a
# command that talks to no server must not pay a second for them.

READ_SECONDS: Final = 10.0  # for answers that need no model
CLEARED_SECONDS: Final = 300.0  # after which it is asked again whether a model is still local
_REMOTE_CONNECT: Final = 3.0
_LOCAL_CONNECT: Final = 1.0


@dataclass(frozen=True, slots=True)
class ServerState:
    """What a look at a server found; `problem` is one sentence where it cannot be used."""

    url: str
    running: bool
    version: str = ""
    cloud_disabled: bool | None = None  # None: the server is too old to tell
    models: tuple[PulledModel, ...] = ()
    problem: str = ""


class Call:
    """One exchange with the server on a connection of its own. Foreign exceptions leave it as errors of ours.

    Raises Cancelled when the exchange broke because the stop of its line was set.
    """

    def __init__(self, host: Host, model: str, line: "Line", *, streams: bool, relay_allowed: bool) -> None:
        from memchat.engine.line import Transport

        self._host, self._model, self._line = host, model, line
        self._transport = Transport(host, line, streams=streams, relay_allowed=relay_allowed)

    def __enter__(self) -> "Call":
        self._line.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        from memchat.engine.ollama_errors import in_words, is_foreign

        self._line.__exit__(kind, error, at)
        self._transport.close()
        if error is not None and is_foreign(error):
            raise in_words(error, self._host, self._model, self._line) from error

    def client(self) -> "ollama.Client":
        """Return the official client, bound to this call's connection."""
        from memchat.engine.ollama_import import build_client

        return build_client(self._host.url, self._transport, self._timeout())

    def read(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Mapping[str, object]:
        """Return a raw answer with all its fields, the unknown ones included."""
        import httpx

        client = httpx.Client(
            base_url=self._host.url,
            transport=self._transport,
            timeout=self._timeout(),
            trust_env=False,
            follow_redirects=False,
        )
        answer: Mapping[str, object] = client.request(method, path, json=body).json()
        return answer

    def _timeout(self) -> "httpx.Timeout":
        import httpx

        connect = _LOCAL_CONNECT if self._host.is_loopback else _REMOTE_CONNECT
        return httpx.Timeout(self._line.first, connect=connect)


class OllamaServer:
    """The server at one host. Building it checks that the host is this machine or one that the user allows.

    Raises PrivacyRefusal otherwise, and UsageError for a host that cannot be read; connects to nothing yet.
    """

    def __init__(self, host: Host | str | None = None, *, allow_remote: Sequence[str] = ()) -> None:
        self.host = host if isinstance(host, Host) else parse_host(host)
        self.allow_remote = tuple(allow_remote)
        check_host(self.host, self.allow_remote)

    def call(
        self,
        model: str = "",
        *,
        stop: Event | None = None,
        first: float = READ_SECONDS,
        idle: float = READ_SECONDS,
        streams: bool = False,
        relay_allowed: bool = False,
    ) -> Call:
        """Begin one exchange; `first` and `idle` are the longest silences in seconds before and within its answer."""
        from memchat.engine.line import Line

        return Call(self.host, model, Line(stop, first, idle), streams=streams, relay_allowed=relay_allowed)

    def version(self) -> str:
        """Return the server's version, "0.0.0" for one built from source."""
        return str(self._read("GET", "/api/version").get("version") or "unknown")

    def cloud_disabled(self) -> bool | None:
        """Tell whether the server's own switch keeps it from the cloud; None where it is too old to say."""
        try:
            cloud = self._read("GET", "/api/status").get("cloud")
        except EngineUnreachable:
            return None
        disabled = cloud.get("disabled") if isinstance(cloud, Mapping) else None
        return disabled if isinstance(disabled, bool) else None

    def models(self, stop: Event | None = None) -> tuple[PulledModel, ...]:
        """Return the pulled models, newest first, as the list tells them."""
        entries = self._read("GET", "/api/tags", stop=stop).get("models")
        found = map(read_tag, entries if isinstance(entries, list) else [])
        return tuple(model for model in found if model is not None)

    def shown(self, model: PulledModel, stop: Event | None = None) -> PulledModel:
        """Return the model with what only /api/show tells; asks nothing about one that is relayed elsewhere."""
        if model.relayed_to:
            return model  # showing a cloud model makes the server contact the cloud
        asked = {"model": model.name, "name": model.name}  # the second for old servers
        return add_shown(model, self._read("POST", "/api/show", asked, model.name, stop))

    def clear(self, name: str, stop: Event | None = None) -> PulledModel:
        """Return the model of that name once it is sure that its text stays here, or goes where the user allows.

        Sends no text. Raises ModelMissing for one that is not pulled, PrivacyRefusal for one that is relayed,
        Cancelled when `stop` is set meanwhile.
        """
        if names_cloud(name):
            check_relay(name, CLOUD_HOST, self.allow_remote)
            return PulledModel(name, relayed_to=CLOUD_HOST)
        models = self.models(stop)
        model = find_model(models, name)
        if model is None:
            from memchat.engine.ollama_errors import model_missing

            raise model_missing(name, _similar(models, name))
        model = self.shown(model, stop)
        check_relay(model.name, model.relayed_to, self.allow_remote)
        return model

    def loaded_context(self, name: str) -> int:
        """Return the window in tokens that the server really gave to a loaded model, 0 where it is not loaded."""
        entries = self._read("GET", "/api/ps").get("models")
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, Mapping) and full_name(str(entry.get("name"))) == full_name(name):
                context = entry.get("context_length")
                return context if isinstance(context, int) else 0
        return 0

    def _read(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        model: str = "",
        stop: Event | None = None,
    ) -> Mapping[str, object]:
        # Fields that give a relay away are what is looked for here, so they must not stop the answer.
        with self.call(model, stop=stop, relay_allowed=True) as call:
            return call.read(method, path, body)


def encodable(text: str) -> str:
    """Return `text` without lone surrogates, which no JSON can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _similar(models: Sequence[PulledModel], name: str) -> tuple[str, ...]:
    stem = full_name(name).partition(":")[0]
    return tuple(model.name for model in models if full_name(model.name).partition(":")[0] == stem)[:3]


def probe(host: Host | str | None = None, *, allow_remote: Sequence[str] = ()) -> ServerState:
    """Look at a server: is it there, which version, which models. A missing one costs a refused connection, no more.

    Raises PrivacyRefusal or UsageError for a host that must not be spoken to; everything else is in the state.
    """
    server = OllamaServer(host, allow_remote=allow_remote)
    url = server.host.url
    if not _listens(server.host):
        where = "start it (`ollama serve` or the Ollama app)" if server.host.is_loopback else "start it there"
        return ServerState(url, False, problem=f"Ollama does not answer at {url}: {where}.")
    try:
        version = server.version()
        models = tuple(_told(server, model) for model in server.models())
        return ServerState(url, True, version, server.cloud_disabled(), models)
    except EngineError as error:
        return ServerState(url, False, problem=error.sentence)


def _listens(host: Host) -> bool:
    """Tell whether a connection can be made, before the cost of importing an HTTP client."""
    try:
        with socket.create_connection((host.name, host.port), _LOCAL_CONNECT if host.is_loopback else _REMOTE_CONNECT):
            return True
    except (OSError, UnicodeError):
        return False


def _told(server: OllamaServer, model: PulledModel) -> PulledModel:
    """Ask for the capabilities that older servers tell only in show; a model that cannot be shown stays as listed."""
    if model.capabilities and model.context:
        return model
    try:
        return server.shown(model)
    except (EngineError, PrivacyRefusal):
        return model
