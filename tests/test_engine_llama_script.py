"""The embedded chat model with llama.cpp replaced by a script: stopping, waiting, faults, what is passed on."""

import sys
from socket import create_server
from threading import Event, Thread, Timer
from time import monotonic

import pytest

from memchat.engine.llama import LlamaChat
from memchat.errors import Cancelled, EngineFailed
from memchat.records import Sampling
from memchat.text import estimate_tokens
from tests.llama_stage import SCHEMA, reply, said
from tests.tiny_gguf import write_tiny_gguf


class ScriptedServer:
    """Stands for `xllamacpp.Server`: gives its parts to the callback until that wants no more."""

    listening_address = ""
    parts: tuple = ()
    failure: Exception | None = None
    pause = 0.0

    def __init__(self, params):
        self.requests, self.told_to_stop, self.running, self.most = [], Event(), 0, 0

    def handle_metrics(self):
        return ""

    def handle_chat_completions(self, request, callback):
        self.requests.append(request)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            if self.failure is not None:
                raise self.failure
            for part in self.parts:
                Event().wait(self.pause)
                if callback(part):
                    self.told_to_stop.set()
                    return
        finally:
            self.running -= 1


class AnyParams:
    """Stands for `CommonParams`: takes whatever is set."""

    def __init__(self):
        self.__dict__.update(model=type("Model", (), {})(), cpuparams=type("Cpu", (), {})())
        self.cpuparams_batch = self.cpuparams


@pytest.fixture
def scripted(tmp_path, monkeypatch):
    """Return a function that opens a model whose llama.cpp follows a script."""
    opened = []

    def open_scripted(*parts, failure=None, pause=0.0, port=9):
        script = {"parts": parts, "failure": failure, "pause": pause, "listening_address": f"http://127.0.0.1:{port}"}
        server = type("Server", (ScriptedServer,), script)
        library = type("Library", (), {"CommonParams": AnyParams, "Server": server})
        monkeypatch.setitem(sys.modules, "xllamacpp", library)
        model = LlamaChat(write_tiny_gguf(tmp_path / "tiny.gguf"))
        opened.append(model)
        return model, model._server

    yield open_scripted
    for model in opened:
        model.close()


def delta(finish=None, **content):
    return {"choices": [{"index": 0, "delta": content, "finish_reason": finish}]}


PROGRESS = delta(content=None) | {"prompt_progress": {"total": 9000, "processed": 64}}
ENDLESS = (PROGRESS,) * 10_000


def test_every_figure_of_a_reply_is_passed_on(scripted):
    figures = {"cache_n": 90, "prompt_n": 10, "predicted_n": 7, "prompt_ms": 12.5, "predicted_per_second": 13.0}
    model, _ = scripted(PROGRESS, delta(content="Hi"), delta("stop") | {"timings": figures})
    *_, last = reply(model, said("hello"))
    done = last.done
    assert (done.reason, done.prompt_tokens, done.cached_tokens, done.reply_tokens) == ("stop", 100, 90, 7)
    assert (done.prompt_ms, done.tokens_per_second) == (12.5, 13.0)


@pytest.mark.parametrize(
    "parts",
    [
        (delta(reasoning_content="hm"), delta(content="Hi")),
        (delta(content="<think>hm</th"), delta(content="ink>Hi")),
    ],
    ids=["set apart by llama.cpp", "in tags"],
)
def test_reasoning_is_kept_apart(scripted, parts):
    model, server = scripted(*parts, delta("stop"))
    chunks = reply(model, said("hello"))
    assert "".join(chunk.text for chunk in chunks) == "Hi"
    assert "".join(chunk.thinking for chunk in chunks) == "hm"
    assert server.requests[0]["chat_template_kwargs"] == {"enable_thinking": False}


def test_a_reply_that_breaks_off_is_no_reply(scripted):
    model, _ = scripted(delta(content="Hi"))
    chunks = model.stream(said("hello"), Sampling(), Event())
    assert next(chunks).text == "Hi"
    with pytest.raises(EngineFailed, match="interrupted"):
        next(chunks)


@pytest.mark.parametrize(
    ("parts", "failure", "told"),
    [
        (({"error": {"code": 500, "message": "Compute error.", "type": "server_error"}},), None, "Compute error."),
        (({"error": "odd"},), None, "odd"),
        ((), RuntimeError("bad json"), "failed: try again"),
    ],
    ids=["said", "odd", "raised"],
)
def test_a_fault_of_llama_cpp_is_told(scripted, parts, failure, told):
    model, _ = scripted(*parts, failure=failure)
    with pytest.raises(EngineFailed) as caught:
        reply(model, said("hello"))
    assert told in caught.value.sentence


def test_reading_a_long_prompt_is_stopped_at_once(scripted):
    """The one who stopped does not wait until llama.cpp notices, and llama.cpp does notice."""
    model, server = scripted(*ENDLESS, pause=2.0)
    stop = Event()
    Timer(0.05, stop.set).start()
    begun = monotonic()
    assert reply(model, said("long"), stop) == []
    assert monotonic() - begun < 1.5
    assert server.told_to_stop.wait(10)


def test_a_reader_who_leaves_stops_the_work(scripted):
    model, server = scripted(delta(content="Hi "), *ENDLESS, pause=0.01)
    chunks = model.stream(said("x"), Sampling(), Event())
    next(chunks)
    chunks.close()
    assert server.told_to_stop.wait(10)


def test_one_call_at_a_time_reaches_the_model(scripted):
    model, server = scripted(*[delta(content="a")] * 5, delta("stop"), pause=0.01)
    threads = [Thread(target=reply, args=(model, said(str(number)))) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(server.requests) == 4
    assert server.most == 1


def test_who_waits_for_the_model_can_be_stopped(scripted):
    model, server = scripted(*ENDLESS, pause=0.01)
    first, stop = Event(), Event()
    worker = Thread(target=reply, args=(model, said("long"), first))
    worker.start()
    Timer(0.1, stop.set).start()
    with pytest.raises(Cancelled):
        model.complete_json(said("x"), SCHEMA, max_tokens=20, stop=stop)
    assert len(server.requests) <= 1
    first.set()
    worker.join(5)


def test_a_port_that_does_not_answer_leaves_an_estimate(scripted):
    model, _ = scripted()
    assert model.count_tokens("some words") == estimate_tokens("some words")


def test_a_closed_model_sends_nothing_to_whoever_has_its_port_now(scripted):
    with create_server(("127.0.0.1", 0)) as other:
        other.settimeout(0.2)
        model, _ = scripted(port=other.getsockname()[1])
        model.close()
        assert model.count_tokens("some words") == estimate_tokens("some words")
        with pytest.raises(TimeoutError):
            other.accept()
