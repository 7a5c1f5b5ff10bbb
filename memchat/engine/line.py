"""The line to an Ollama server: every request and every answer passes here, and nothing reaches anywhere else.

This module imports httpx at its top and is itself imported late, since httpx costs a third of a second at start-up.
"""

import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import suppress
from threading import Event, Lock, Thread
from time import monotonic
from types import TracebackType
from typing import Final, Literal

import httpx

from memchat.engine.host import Host, is_loopback
from memchat.engine.remote import relay_in
from memchat.errors import PrivacyRefusal

LARGEST_ANSWER: Final = 64_000_000  # bytes of one JSON value: 64 vectors of 4,096 numbers take a tenth of it
_GLANCE: Final = 0.05  # seconds between two looks at the clock while somebody may want to stop


class Refused(Exception):
    """The server answered with an error; `status` is -1 when it did so within a stream."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class NotOllama(Exception):
    """What answered does not speak Ollama's language."""


class Line:
    """One call's connection. Setting `stop` cuts it at once, and so does silence for too long.

    `first` is how many seconds the server may take to begin its answer, `idle` how many between two parts of it.
    """

    def __init__(self, stop: Event | None, first: float, idle: float) -> None:
        self.first, self.idle = first, idle
        self.cut_by: Literal["", "stop", "silence"] = ""
        self._stop = stop
        self._lock = Lock()
        self._socket: socket.socket | None = None
        self._waiting_since: float | None = None
        self.heard = False
        self._over = False

    def __enter__(self) -> "Line":
        if self._stop is not None:
            Thread(target=self._watch, args=(self._stop,), name="ollama-line", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over = True

    def attach(self, connection: socket.socket) -> None:
        """Say which socket to cut; cuts it now when the order came before the connection."""
        with self._lock:
            self._socket = connection
            if self.cut_by:
                _shut(connection)

    def waits(self) -> None:
        """Note that we begin to wait for the server."""
        self._waiting_since = monotonic()

    def asks(self) -> None:
        """Note that a request goes out, to which nothing was said yet."""
        self.heard = False
        self.waits()

    def hears(self) -> None:
        """Note that the server said something."""
        self.heard, self._waiting_since = True, None

    def _watch(self, stop: Event) -> None:
        while not self._over:
            if stop.wait(_GLANCE):
                self._cut("stop")
                return
            since = self._waiting_since
            if since is not None and monotonic() - since > (self.idle if self.heard else self.first):
                self._cut("silence")
                return

    def _cut(self, cause: Literal["stop", "silence"]) -> None:
        with self._lock:
            self.cut_by = cause
            if self._socket is not None and not self._over:
                _shut(self._socket)


def _shut(connection: socket.socket) -> None:
    """Wake whoever reads from the socket: closing it would not, and may hit a stranger's descriptor."""
    with suppress(OSError):  # it may have ended by itself meanwhile
        # The plain class's method: that of a TLS socket would pull the session away from under the reader.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


class Transport(httpx.BaseTransport):
    """Carries requests to one host only, without credentials, and lets nothing pass that is not Ollama's.

    Raises Refused for an error answer, NotOllama for an answer that is no JSON object, PrivacyRefusal for one that was
    made on another machine. `streams` says that the answer is one JSON object a line.
    """

    def __init__(self, host: Host, line: Line, *, streams: bool, relay_allowed: bool) -> None:
        self._host, self._line = host, line
        self._streams, self._relay_allowed = streams, relay_allowed
        self._inner = httpx.HTTPTransport(verify=_tls(host), trust_env=False, http2=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request and return the answer once its headers are here."""
        if _origin(request.url) != _origin(httpx.URL(self._host.url)):
            raise PrivacyRefusal(f"A request to {request.url.host} was stopped: only {self._host.url} is spoken to.")
        request.headers.pop("authorization", None)  # the official client adds OLLAMA_API_KEY for whoever listens
        request.headers["accept-encoding"] = "identity"
        request.headers["connection"] = "close"  # a connection for each call, so that each can be cut alone
        request.extensions["trace"] = self._on_event
        self._line.asks()
        response = self._inner.handle_request(request)
        if response.status_code >= 300:
            raise Refused(response.status_code, self._reason(response))
        return httpx.Response(response.status_code, headers=response.headers, stream=self._checked(response))

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def _on_event(self, event: str, details: Mapping[str, object]) -> None:
        if event not in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            return
        stream = details["return_value"]
        connection: socket.socket = stream.get_extra_info("socket")  # type: ignore[attr-defined]  # httpcore is untyped here
        if self._host.is_loopback and not is_loopback(connection.getpeername()[0]):
            connection.close()
            raise PrivacyRefusal(f"{self._host.name} leads to another machine here, so nothing was sent.")
        self._line.attach(connection)

    def _reason(self, response: httpx.Response) -> str:
        """Return the error text of an answer: the JSON's, or the beginning of what is there."""
        raw = b""
        assert isinstance(response.stream, httpx.SyncByteStream)
        for part in response.stream:
            raw += part
            if len(raw) > 65536:
                break
        response.close()
        try:
            answer = json.loads(raw)
        except (ValueError, RecursionError):
            return raw.decode("utf-8", "replace")
        told = answer.get("error") if isinstance(answer, dict) else answer
        return told if isinstance(told, str) else json.dumps(told)

    def _checked(self, response: httpx.Response) -> "_Answer":
        assert isinstance(response.stream, httpx.SyncByteStream)
        return _Answer(response.stream, self._line, streams=self._streams, relay_allowed=self._relay_allowed)


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _tls(host: Host) -> ssl.SSLContext | bool:
    """Loading the certificates takes longer than the whole request, so that only https does it."""
    return True if host.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class _Answer(httpx.SyncByteStream):
    """The body of an answer, passed on by whole JSON objects; blank lines are left out."""

    def __init__(self, inner: httpx.SyncByteStream, line: Line, *, streams: bool, relay_allowed: bool) -> None:
        self._inner, self._line = inner, line
        self._streams, self._relay_allowed = streams, relay_allowed

    def __iter__(self) -> Iterator[bytes]:
        pending = bytearray()
        for part in self._parts():
            pending += part
            if self._streams and b"\n" in part:
                *lines, pending = pending.split(b"\n")
                yield from (self._check(line) + b"\n" for line in lines if line.strip())
            if len(pending) > LARGEST_ANSWER:
                raise NotOllama("an answer without end")
        if pending.strip():
            yield self._check(pending)

    def close(self) -> None:
        self._inner.close()

    def _parts(self) -> Iterator[bytes]:
        parts = iter(self._inner)
        while True:
            self._line.waits()
            part = next(parts, None)
            self._line.hears()
            if part is None:
                return
            yield part

    def _check(self, raw: bytearray) -> bytes:
        try:
            answer = json.loads(raw)
        except (ValueError, RecursionError):
            raise NotOllama("an answer that is not JSON") from None
        if not isinstance(answer, dict):
            raise NotOllama("an answer that is not a JSON object")
        if answer.get("error"):
            raise Refused(-1, answer["error"] if isinstance(answer["error"], str) else json.dumps(answer["error"]))
        relay = relay_in(answer)
        if relay and not self._relay_allowed:
            raise PrivacyRefusal(f"The reply came from {relay}, not from this machine; it was stopped.")
        return bytes(raw)
