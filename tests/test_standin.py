"""The stand-in keeps to Ollama's protocol: the official client understands it, and its statuses and texts are right."""

import json
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import ollama
import pytest

from tests.standin import Failure, Reply, StandIn
from tests.standin_models import embed_model, remote_stub, thinking_model


def client(server):
    return ollama.Client(server.url, trust_env=False, headers={"Connection": "close"})


def ask(server, path, body=None, method=None, **headers):
    """Return status and text of a raw answer."""
    raw = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    request = Request(server.url + path, data=raw, headers=headers, method=method)
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_the_official_client_reads_every_endpoint():
    with StandIn(replies=["one two", "three"]) as server:
        there = client(server)
        assert [model.model for model in there.list().models] == ["llama3.2:3b", "nomic-embed-text:latest"]
        assert there.show("llama3.2:3b").modelinfo["llama.context_length"] == 131072
        assert there.chat("llama3.2:3b", [{"role": "user", "content": "x"}]).message.content == "one two"
        assert there.generate("llama3.2:3b", "x").response == "three"
        assert len(there.embed("nomic-embed-text", ["a", "b"]).embeddings) == 2
        assert [step.status for step in there.pull("llama3.2:3b", stream=True)][-1] == "success"
        assert there.ps().models[0].model == "llama3.2:3b"
        there.delete("llama3.2:3b")
        assert len(there.list().models) == 1


@pytest.mark.parametrize(
    ("path", "body", "status", "text"),
    [
        ("/", None, 200, "Ollama is running"),
        ("/api/version", None, 200, '{"version": "0.33.0"}'),
        ("/api/nothing", None, 404, "404 page not found"),
        ("/api/chat", b"", 400, "missing request body"),
        ("/api/chat", b"{x", 400, "invalid character"),
        ("/api/chat", {}, 400, "model is required"),
        ("/api/generate", {}, 404, "model '' not found"),
        ("/api/chat", {"model": "x"}, 404, "model 'x' not found"),
        ("/api/embed", {"model": "x", "input": "a"}, 404, 'model \\"x\\" not found, try pulling it first'),
        ("/api/show", {"model": "x"}, 404, "model 'x:latest' not found"),
        ("/api/chat", {"model": "nomic-embed-text"}, 400, "does not support chat"),
        ("/api/chat", {"model": "llama3.2:3b", "think": True}, 400, "does not support thinking"),
        ("/api/chat", {"model": "llama3.2:3b", "keep_alive": "300"}, 400, "missing unit"),
        ("/api/chat", {"model": "llama3.2:3b", "options": {"num_ctx": "8k"}}, 500, "must be of type integer"),
        ("/api/chat", {"model": "llama3.2:3b", "format": "yaml"}, 500, "expected"),
        ("/api/chat", {"model": "llama3.2:3b", "messages": []}, 200, '"done_reason": "load"'),
        ("/api/chat", {"model": "llama3.2:3b", "keep_alive": 0}, 200, '"done_reason": "unload"'),
        ("/api/embed", {"model": "llama3.2:3b", "input": "a"}, 501, "does not support embeddings"),
        ("/api/embed", {"model": "nomic-embed-text", "input": ""}, 200, '"embeddings": []'),
        ("/api/embed", {"model": "nomic-embed-text", "input": [1]}, 400, "invalid input type"),
        ("/api/embed", {"model": "nomic-embed-text", "input": "w " * 3000, "truncate": False}, 400, "exceeds"),
        ("/api/embed", {"model": "nomic-embed-text", "input": "w " * 3000}, 200, '"prompt_eval_count": 2048'),
        ("/api/embeddings", {"model": "nomic-embed-text", "prompt": ""}, 200, '{"embedding": []}'),
    ],
)
def test_statuses_and_texts_are_those_of_the_server(path, body, status, text):
    with StandIn() as server:
        found, answer = ask(server, path, body)
    assert found == status
    assert text in answer


def test_a_thinking_model_thinks_unless_it_is_told_not_to():
    with StandIn([thinking_model()]) as server:
        there, asked = client(server), [{"role": "user", "content": "x"}]
        assert any(part.message.thinking for part in there.chat("qwen3:4b", asked, stream=True))
        assert not any(part.message.thinking for part in there.chat("qwen3:4b", asked, stream=True, think=False))


def test_whole_messages_are_dropped_oldest_first_and_nothing_says_so():
    messages = [{"role": role, "content": f"{role} {'word ' * 20}"} for role in ("system", "user", "assistant", "user")]
    with StandIn() as server:
        reply = client(server).chat("llama3.2:3b", messages, options={"num_ctx": 80})
        assert [message["role"] for message in server.prompts[0]] == ["system", "assistant", "user"]
    assert reply.done_reason == "stop"


def test_a_change_of_num_ctx_loads_the_model_anew():
    with StandIn() as server:
        for size in (4096, 4096, 8192):
            client(server).chat("llama3.2:3b", [{"role": "user", "content": "x"}], options={"num_ctx": size})
        assert server.loads == [("llama3.2:3b", 4096), ("llama3.2:3b", 8192)]


def test_the_tripwire_fails_the_test_that_sent_text_to_a_remote_model():
    with pytest.raises(AssertionError, match="harmless"), StandIn([remote_stub()]) as server:
        client(server).chat("harmless", [{"role": "user", "content": "my name is Ada"}])


def test_a_host_header_that_is_not_local_is_refused():
    with StandIn() as server:
        assert ask(server, "/api/tags", Host="evil.example") == (403, "")


def test_replies_and_vectors_may_come_from_functions():
    def answer(body):
        return f"You said {body['messages'][-1]['content']}."

    with StandIn([embed_model(), "m"], answer, embed=lambda texts, size: [[float(len(t))] for t in texts]) as server:
        assert client(server).chat("m", [{"role": "user", "content": "hi"}]).message.content == "You said hi."
        assert client(server).embed("nomic-embed-text", ["abc"]).embeddings == [[3.0]]


def test_a_format_takes_its_replies_from_the_json_script_and_else_gives_the_least_value():
    schema = {"type": "object", "properties": {"memories": {"type": "array"}}, "required": ["memories"]}
    with StandIn(replies=["prose"], json_replies=[{"a": 1}]) as server:
        asked = [{"role": "user", "content": "x"}]
        replies = [client(server).chat("llama3.2:3b", asked, format=schema).message.content for _ in range(2)]
    assert replies == ['{"a": 1}', '{"memories": []}']


def test_vectors_are_the_same_on_every_run_and_near_where_words_are_shared():
    with StandIn() as server:
        texts = ["search_document: I live in Berlin", "search_query: do I live in Berlin", "purple elephants dance"]
        first, second, third = client(server).embed("nomic-embed-text", texts).embeddings
        assert client(server).embed("nomic-embed-text", texts[0]).embeddings[0] == first
    near = sum(a * b for a, b in zip(first, second, strict=True))
    far = sum(a * b for a, b in zip(first, third, strict=True))
    assert near > 0.8
    assert abs(far) < 0.2


def test_a_failure_is_sent_in_place_of_a_reply():
    with StandIn(replies=[Failure(503, "server busy"), Reply("x", ends="error_line")]) as server:
        asked = [{"role": "user", "content": "x"}]
        with pytest.raises(ollama.ResponseError, match="busy"):
            client(server).chat("llama3.2:3b", asked)
        with pytest.raises(ollama.ResponseError, match="unexpected EOF"):
            list(client(server).chat("llama3.2:3b", asked, stream=True))
