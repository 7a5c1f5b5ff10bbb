"""A stand-in of the Ollama server for tests and benchmarks: its protocol, its texts, and its faults on demand.

    with StandIn(models=["llama3.2:3b", "nomic-embed-text"], replies=["Hello!"]) as server:
        ...                      # talk to server.url
    server.requests              # everything that was asked; .chats, .embedded, .prompts and .loads are views of it

Replies come from `replies` in turn (then "ok"), those with a `format` from `json_replies` (then the smallest value of
the schema); both may be functions of the request's body. A warm-up (num_predict 1) takes no reply. A request that
bears text to a remote or cloud model trips the wire: leaving the `with` block fails then, unless `may_relay`.
"""

import json
import math
import select
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Self

from tests.standin_models import Body, Failure, Reply, Script, Scripted, StandInModel, fill_schema, guess_model
from tests.standin_routes import answer


@dataclass(frozen=True)
class Request:
    """One request as it came in; `body` is {} where there was none."""

    method: str
    path: str
    body: Mapping[str, object]
    headers: Mapping[str, str]  # names in lower case


@dataclass
class Switches:
    """How the server behaves; may be changed while it runs."""

    version: str = "0.33.0"
    cloud_disabled: bool | None = False  # None: too old for /api/status
    tell_capabilities: bool = True  # in the list; servers before 0.30 tell them only in show
    default_context: int = 4096
    embed_bug: bool = False  # 0.13.5: too long a text is refused although it should be cut
    old_embeddings: bool = False  # too old for /api/embed
    one_at_a_time: bool = False  # requests to one model wait for each other
    check_host: bool = True  # a Host header that is not local gets a 403
    everywhere: Failure | None = None  # what every path answers
    redirect_to: str | None = None
    pullable: Sequence[str] = ("llama3.2:3b", "nomic-embed-text")
    pull_ends: str = "success"  # or: cut, silent (no success line), or the text of an error line
    prefix: str = ""  # path in front of /api


class Gone(Exception):
    """The client has left, or the stand-in is closing."""


class StandIn(AbstractContextManager["StandIn"]):
    """The server; see the module. `embed`, a function of texts and dimensions, replaces the hashed vectors."""

    def __init__(
        self,
        models: Sequence[str | StandInModel] = ("llama3.2:3b", "nomic-embed-text"),
        replies: Script = (),
        *,
        json_replies: Script = (),
        embed: Callable[[Sequence[str], int], list[list[float]]] | None = None,
        may_relay: bool = False,
        **switches: object,
    ) -> None:
        self.models = [guess_model(model) if isinstance(model, str) else model for model in models]
        self.switches = Switches(**switches)
        self.requests: list[Request] = []
        self.prompts: list[list[Mapping[str, object]]] = []  # what the model was given, after the server's cuts
        self.embedded: list[str] = []
        self.loads: list[tuple[str, int]] = []  # model and num_ctx, each time a load was needed
        self.tripped: list[Request] = []
        self.left: list[float] = []  # when clients went away in the middle, by time.monotonic()
        self.embed = embed
        self.closing = Event()
        self._replies = replies if callable(replies) else list(replies)
        self._json_replies = json_replies if callable(json_replies) else list(json_replies)
        self._may_relay = may_relay
        self._lock = Lock()
        self._turns: dict[str, Lock] = {}
        self._loaded: dict[str, int] = {}

    def __enter__(self) -> Self:
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.standin = self
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)
        if kind is None and self.tripped and not self._may_relay:
            names = sorted({str(request.body.get("model")) for request in self.tripped})
            raise AssertionError(f"text was sent to a remote model: {', '.join(names)}")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}{self.switches.prefix}"

    @property
    def chats(self) -> list[Mapping[str, object]]:
        """The bodies of the chat requests that bear messages, warm-ups included."""
        return [
            request.body for request in self.requests if request.path == "/api/chat" and request.body.get("messages")
        ]

    def asked(self, path: str) -> list[Mapping[str, object]]:
        """The bodies of the requests to one path."""
        return [request.body for request in self.requests if request.path == path]

    def say(self, *replies: Scripted) -> None:
        """Add replies to the script."""
        with self._lock:
            self._replies.extend(replies)

    # -- for the routes

    def find(self, name: str) -> StandInModel | None:
        """The model of that name, with or without its tag."""
        wanted = name.casefold() if ":" in name else f"{name.casefold()}:latest"
        return next((model for model in self.models if model.name.casefold() == wanted), None)

    def note(self, request: Request) -> None:
        with self._lock:
            self.requests.append(request)

    def trip(self, request: Request) -> None:
        with self._lock:
            self.tripped.append(request)

    def next_reply(self, body: Body) -> Reply | Failure:
        """The scripted reply for this request, as a Reply or a Failure."""
        script = self._json_replies if body.get("format") else self._replies
        if callable(script):
            return as_reply(script(body))
        with self._lock:
            scripted = script.pop(0) if script else None
        if scripted is None:
            return as_reply(json.dumps(fill_schema(body["format"])) if body.get("format") else "ok")
        return as_reply(scripted)

    def load(self, model: StandInModel, num_ctx: int) -> bool:
        """Load a model with a window; tells whether that took a load."""
        with self._lock:
            known = self._loaded.get(model.name) == num_ctx
            if not known:
                self._loaded[model.name] = num_ctx
                self.loads.append((model.name, num_ctx))
            return not known

    def loaded(self) -> dict[str, int]:
        with self._lock:
            return dict(self._loaded)

    def unload(self, model: StandInModel) -> None:
        with self._lock:
            self._loaded.pop(model.name, None)

    @contextmanager
    def turn_of(self, model: StandInModel, connection: socket.socket):
        """Wait until the model is free, where the server takes one request at a time."""
        if not self.switches.one_at_a_time:
            yield
            return
        with self._lock:
            lock = self._turns.setdefault(model.name, Lock())
        while not lock.acquire(timeout=0.01):
            self.look(connection)
        try:
            yield
        finally:
            lock.release()

    def wait(self, seconds: float, connection: socket.socket) -> None:
        """Wait as a model does that thinks; raises Gone when the client leaves meanwhile."""
        until = time.monotonic() + seconds if seconds < math.inf else math.inf
        while time.monotonic() < until:
            self.look(connection)
            self.closing.wait(max(0.0, min(0.01, until - time.monotonic())))

    def look(self, connection: socket.socket) -> None:
        """Raise Gone when the client has left."""
        readable, _, _ = select.select([connection], [], [], 0)
        if self.closing.is_set() or (readable and not connection.recv(1, socket.MSG_PEEK)):
            raise Gone


def as_reply(scripted: Scripted) -> Reply | Failure:
    """Text, pieces and JSON values as replies; everything else as it is."""
    if isinstance(scripted, Reply | Failure):
        return scripted
    return Reply(json.dumps(scripted, ensure_ascii=False) if isinstance(scripted, Mapping) else scripted)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    standin: StandIn

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that left is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a body waits 40 ms for the acknowledgement of its headers
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Silence: tests read `requests`."""

    def _serve(self) -> None:
        standin = self.server.standin
        try:
            answer(standin, self, self._request())
        except (Gone, ConnectionError):
            standin.left.append(time.monotonic())
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_DELETE = _serve  # noqa: N815 - the names that http.server calls

    def _request(self) -> Request:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0].removeprefix(self.server.standin.switches.prefix)
        self.raw = raw
        try:
            body = {} if path.startswith("/api/blobs") else json.loads(raw or b"{}")
        except ValueError:
            body = {}
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, path, body if isinstance(body, dict) else {}, headers)
        self.server.standin.note(request)
        return request

    # -- what the routes answer with

    def send_json(self, value: Mapping[str, object], status: int = 200) -> None:
        self.send_page(json.dumps(value), status, "application/json; charset=utf-8")

    def send_page(self, text: str, status: int = 200, kind: str = "text/plain; charset=utf-8") -> None:
        raw = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw)

    def send_failure(self, failure: Failure) -> None:
        if failure.page is None:
            self.send_json({"error": failure.error}, failure.status)
        else:
            self.send_page(failure.page, failure.status, failure.page_type)

    def begin_lines(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send_line(self, value: Mapping[str, object] | None) -> None:
        """One object and its newline, flushed at once; None is a blank line."""
        raw = b"\n" if value is None else json.dumps(value, ensure_ascii=False).encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
        self.wfile.flush()

    def end_lines(self) -> None:
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def cut(self) -> None:
        """Break the connection in the middle of a chunk."""
        self.wfile.write(b"ff\r\n{")
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


__all__ = ["Failure", "Gone", "Reply", "Request", "StandIn", "StandInModel", "Switches"]
