"""Whatever a server does wrong, the user gets one sentence that says what to do, and never a foreign exception."""

import contextlib
import json
import math
import os
import socket
import subprocess
import sys
from threading import Event, Thread
from time import monotonic

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memchat.engine.host import parse_host
from memchat.engine.ollama_chat import OllamaChat
from memchat.engine.ollama_embed import OllamaEmbedder
from memchat.engine.ollama_server import OllamaServer, probe
from memchat.errors import (
    EngineFailed,
    EngineUnreachable,
    MemchatError,
    ModelMissing,
    PrivacyRefusal,
    PromptTooLong,
)
from memchat.records import Message, Role, Sampling
from tests.standin import Failure, Reply, StandIn

ASKED = [Message(Role.USER, "Hello?")]
TOO_LONG = json.dumps({"error": {"type": "exceed_context_size_error", "message": "exceeds the available context size"}})


def read(url, **options):
    """Return the pieces that came and the error that ended them."""
    pieces = []
    try:
        for chunk in OllamaChat(url, "llama3.2:3b", **options).stream(ASKED, Sampling(), Event()):
            pieces.append(chunk.text)
    except MemchatError as error:
        return pieces, error
    return pieces, None


FAILURES = [
    ("busy", Failure(503, "server busy, please try again.  maximum pending requests exceeded"), EngineFailed, "busy"),
    ("no memory", Failure(500, "model requires more system memory (9 GiB) than is available"), EngineFailed, "smaller"),
    ("startup", Failure(500, "llama-server: out-of-memory during startup"), EngineFailed, "smaller"),
    ("runner died", Failure(500, "llama-server process has terminated: exit 1"), EngineFailed, "has terminated"),
    ("no reason", Failure(500, ""), EngineFailed, "no reason"),
    ("gone model", Failure(404, "model 'llama3.2:3b' not found"), ModelMissing, "ollama pull llama3.2:3b"),
    ("old server", Failure(404, page="404 page not found", page_type="text/plain"), EngineUnreachable, "not Ollama"),
    ("method", Failure(405, page="405 method not allowed", page_type="text/plain"), EngineUnreachable, "not Ollama"),
    ("gateway", Failure(502, page="<html>Bad Gateway</html>"), EngineUnreachable, "502"),
    ("page", Failure(200, page="<html>Welcome</html>"), EngineUnreachable, "not Ollama"),
    ("page 400", Failure(400, page="<!DOCTYPE html><p>no"), EngineUnreachable, "HTTP 400"),
    ("too long", Failure(400, TOO_LONG), PromptTooLong, "context window"),
    ("too long, old", Failure(400, "the prompt is longer than the context length currently"), PromptTooLong, "num_ctx"),
    ("credentials", Failure(401, "unauthorized"), EngineUnreachable, "credentials"),
    ("host check", Failure(403, page="", page_type="text/plain"), EngineUnreachable, "127.0.0.1"),
    ("cloud off", Failure(403, "ollama cloud is disabled"), PrivacyRefusal, "cloud"),
    ("embedder", Failure(400, '"x" does not support chat'), ModelMissing, "cannot chat"),
    ("tools", Failure(400, "x does not support tools"), EngineFailed, "does not support tools"),
    ("redirect", Failure(302, page=""), EngineUnreachable, "does not follow"),
    ("list", Failure(200, page="[1, 2]"), EngineUnreachable, "not Ollama"),
    ("number", Failure(200, page="12"), EngineUnreachable, "not Ollama"),
    ("no message", Failure(200, page='{"model": "m", "done": true}'), EngineUnreachable, "not Ollama"),
    ("wrong types", Failure(200, page='{"message": {"role": 3}}'), EngineUnreachable, "not Ollama"),
    ("deep", Failure(200, page="[" * 100_000), EngineUnreachable, "not Ollama"),
    ("empty", Failure(200, page=""), EngineFailed, "interrupted"),
    ("error is a list", Failure(500, page='["broken"]'), EngineFailed, "broken"),
    ("error is a table", Failure(500, page='{"error": {"code": 7}}'), EngineFailed, "code"),
    ("escape codes", Failure(500, "\x1b[31mred\x07\nlines"), EngineFailed, "red lines"),
    ("long text", Failure(500, "x" * 50_000), EngineFailed, "xxx"),
]


@pytest.mark.parametrize(("failure", "kind", "words"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES])
def test_an_answer_that_is_no_reply_becomes_one_sentence(failure, kind, words):
    with StandIn(replies=[failure]) as server:
        pieces, error = read(server.url)
    assert pieces == []
    assert type(error) is kind
    assert words in error.sentence
    assert "\n" not in error.sentence
    assert "\x1b" not in error.sentence
    assert len(error.sentence) < 400


BROKEN = [
    ("error line", Reply("one two", ends="error_line"), EngineFailed, "unexpected EOF"),
    ("error line, memory", Reply("one two", ends="error_line", error="cuda out of memory"), EngineFailed, "smaller"),
    ("no done", Reply("one two", ends="no_done"), EngineFailed, "interrupted"),
    ("cut", Reply("one two", ends="cut"), EngineFailed, "interrupted"),
]


@pytest.mark.parametrize(("reply", "kind", "words"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_stream_that_breaks_gives_its_pieces_and_then_the_error(reply, kind, words):
    with StandIn(replies=[reply, "next"]) as server:
        pieces, error = read(server.url)
        assert "".join(pieces) == "one two"
        assert type(error) is kind
        assert words in error.sentence
        assert read(server.url) == (["next", ""], None)


def test_a_blank_line_in_a_stream_is_passed_over():
    with StandIn(replies=[Reply("one two three", ends="blank_line")]) as server:
        pieces, error = read(server.url)
    assert ("".join(pieces), error) == ("one two three", None)


def test_a_broken_json_answer_is_an_error_and_not_half_an_answer():
    with StandIn(json_replies=[Reply('{"memories": [', ends="cut")]) as server:
        chat = OllamaChat(server.url, "llama3.2:3b")
        with pytest.raises(EngineFailed, match="interrupted"):
            chat.complete_json(ASKED, {"type": "object"}, max_tokens=9, stop=Event())


@pytest.mark.parametrize(
    ("reply", "limits", "words"),
    [
        (Reply("x", first_token=math.inf), (0.3, 30), "did not begin"),
        (Reply("one two", ends="hang"), (30, 0.3), "fell silent"),
    ],
    ids=["never answers", "falls silent"],
)
def test_silence_has_a_limit_of_its_own_before_and_within_a_reply(reply, limits, words):
    with StandIn(replies=[reply]) as server:
        started = monotonic()
        _, error = read(server.url, first_token_seconds=limits[0], idle_seconds=limits[1])
        assert monotonic() - started < 3
    assert isinstance(error, EngineFailed)
    assert words in error.sentence


def test_a_slow_first_token_within_the_limit_is_waited_for_beyond_the_idle_limit():
    with StandIn(replies=[Reply("late", first_token=0.8)]) as server:
        assert read(server.url, first_token_seconds=9, idle_seconds=0.5)[1] is None


def test_a_server_that_is_not_there_is_named_with_what_to_do():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    for act in (
        lambda: list(OllamaChat(url, "m").stream(ASKED, Sampling(), Event())),
        lambda: OllamaEmbedder(url).embed_queries(["x"]),
        lambda: OllamaServer(url).models(),
    ):
        with pytest.raises(EngineUnreachable, match=r"does not answer at .*ollama serve"):
            act()
    started = monotonic()
    state = probe(url)
    assert monotonic() - started < 0.5
    assert not state.running
    assert "ollama serve" in state.problem


def serve_raw(answer: bytes):
    """A server that says `answer` to whoever connects, and closes."""
    listener = socket.create_server(("127.0.0.1", 0))

    def work():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

    Thread(target=work, daemon=True).start()
    return listener


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"SSH-2.0-OpenSSH_9.9\r\n", "something else listens"),
        (b"", "may have crashed"),
        (b"HTTP/1.1 abc\r\n\r\n", "does not speak HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", "interrupted"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", "not Ollama"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\xff\xfe", "not Ollama"),
    ],
    ids=["ssh", "nothing", "status", "cut", "wrong encoding", "no text"],
)
def test_a_server_that_speaks_no_or_broken_http_is_told(answer, words):
    listener = serve_raw(answer)
    with listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(MemchatError) as caught:
            OllamaServer(url).models()
        assert words in caught.value.sentence
        assert probe(url).problem
        listener.shutdown(socket.SHUT_RDWR)


_KEYS = st.sampled_from(
    ["models", "name", "details", "message", "content", "role", "done", "error", "embeddings", "embedding", "size",
     "version", "cloud", "model_info", "capabilities", "remote_host", "done_reason", "prompt_eval_count", "digest"]
)  # fmt: skip
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | _KEYS, inner, max_size=4),
    max_leaves=8,
)


@given(page=st.one_of(_VALUES.map(json.dumps), st.text(max_size=40), st.dictionaries(_KEYS, _VALUES).map(json.dumps)))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_a_server_answers_only_errors_of_ours_come_out(fuzzed, page):
    fuzzed.switches.everywhere = Failure(
        200, page=page.encode("utf-8", "replace").decode(), page_type="application/json"
    )
    for act in (
        lambda: probe(fuzzed.url),
        lambda: OllamaServer(fuzzed.url).clear("m"),
        lambda: OllamaServer(fuzzed.url).loaded_context("m"),
    ):
        with contextlib.suppress(MemchatError):
            act()
    fuzzed.switches.everywhere = None
    fuzzed.say(Failure(200, page=page.encode("utf-8", "replace").decode()))
    _, error = read(fuzzed.url)
    assert error is None or "\n" not in error.sentence


@pytest.fixture(scope="module")
def fuzzed():
    with StandIn(may_relay=True) as server:
        yield server


# -- the environment


def run(code, **environ):
    """Run `code` in a fresh interpreter with more variables set."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | environ,
        capture_output=True,
        text=True,
        timeout=60,
    )


TALK = """
import sys
from threading import Event
from memchat.engine.ollama import OllamaChat, OllamaEmbedder
from memchat.records import Message, Role, Sampling
assert not {"httpx", "ollama", "pydantic"} & set(sys.modules), "imported too early"
chat = OllamaChat(sys.argv[1] if len(sys.argv) > 1 else URL, "llama3.2:3b")
print("".join(c.text for c in chat.stream([Message(Role.USER, "hi")], Sampling(), Event())))
print(len(OllamaEmbedder(URL).embed_queries(["hi"])[0]))
import os
print(os.environ.get("ALL_PROXY"), os.environ.get("OLLAMA_HOST"))
"""

ENVIRONMENTS = {
    "proxies": {"ALL_PROXY": "socks5h://127.0.0.1:1", "http_proxy": "http://127.0.0.1:1", "HTTPS_PROXY": "::::"},
    "bad host": {"OLLAMA_HOST": "host:abc", "HTTP_PROXY": "http://127.0.0.1:1", "NO_PROXY": ""},
    "certificates and key": {"SSL_CERT_FILE": "/nowhere.pem", "SSL_CERT_DIR": "/no", "OLLAMA_API_KEY": "sk-secret"},
}


@pytest.mark.parametrize("environ", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_the_environment_neither_breaks_the_client_nor_leads_it_away(environ):
    with StandIn(replies=["hello"]) as server:
        ran = run(f"URL = {server.url!r}\n" + TALK, **environ)
        assert ran.returncode == 0, ran.stderr
        kept = f"{environ.get('ALL_PROXY')} {environ.get('OLLAMA_HOST')}"
        assert ran.stdout.splitlines() == ["hello", "768", kept]
        assert server.requests
        for request in server.requests:
            assert "authorization" not in request.headers
            assert "sk-secret" not in str(request)


class _Connection:
    """A connection to somewhere, as the HTTP library tells of it."""

    def __init__(self, peer):
        self.peer, self.closed = peer, False

    def get_extra_info(self, _what):
        return self

    def getpeername(self):
        return (self.peer, 11434)

    def close(self):
        self.closed = True


def test_a_local_name_that_leads_to_another_machine_is_left_before_anything_is_said():
    from memchat.engine.line import Line, Transport

    transport = Transport(parse_host("localhost"), Line(None, 1, 1), streams=False, relay_allowed=False)
    elsewhere = _Connection("192.0.2.1")
    with pytest.raises(PrivacyRefusal, match="localhost leads to another machine"):
        transport._on_event("connection.connect_tcp.complete", {"return_value": elsewhere})
    assert elsewhere.closed
    here = _Connection("127.0.0.1")
    transport._on_event("connection.connect_tcp.complete", {"return_value": here})
    assert not here.closed


def test_errors_of_the_official_client_itself_are_put_into_words():
    from ollama import ResponseError

    for error, kind in (
        (ResponseError("model 'llama3.2:3b' not found", 404), ModelMissing),
        (ResponseError("boom"), EngineFailed),
        (ConnectionError("Failed to connect to Ollama"), EngineUnreachable),
    ):
        with pytest.raises(kind), OllamaServer().call("llama3.2:3b"):
            raise error


def test_a_call_to_another_host_than_its_own_is_stopped():
    with StandIn() as server, pytest.raises(PrivacyRefusal, match="only http"), OllamaServer(server.url).call() as call:
        call.read("GET", "http://127.0.0.1:9/api/tags")


def test_redirects_are_not_followed_even_to_this_machine():
    with StandIn() as elsewhere, StandIn(redirect_to=elsewhere.url) as server:
        with pytest.raises(EngineUnreachable, match="does not follow"):
            list(OllamaChat(server.url, "llama3.2:3b").stream(ASKED, Sampling(), Event()))
        assert not elsewhere.requests


def test_a_path_in_front_of_the_api_is_kept():
    with StandIn(replies=["hi"], prefix="/behind/proxy") as server:
        assert read(server.url)[0] == ["hi", ""]
        assert server.chats
