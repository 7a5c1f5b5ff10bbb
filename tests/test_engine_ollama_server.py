"""What is asked of a server without telling it any text: what it is, what it has, and to fetch a model."""

from threading import Event
from time import monotonic

import pytest

from memchat.engine.choose import choose_chat_model, total_memory
from memchat.engine.ollama import ServerState
from memchat.engine.ollama_chat import OllamaChat
from memchat.engine.ollama_server import OllamaServer, probe
from memchat.engine.pull import pull
from memchat.errors import Cancelled, EngineFailed, ModelMissing, PrivacyRefusal, UsageError
from memchat.records import Message, Role
from tests.standin import Failure, StandIn
from tests.standin_models import StandInModel, embed_model, remote_stub
from tests.test_engine_ollama_chat import stop_after

_GIB = 1 << 30
MEMORY = 16 * _GIB


def chat_model(name, billions, gib=None, **more):
    size = int((gib or billions * 0.6) * _GIB)
    return StandInModel(name, size=size, parameters=f"{billions}B", **more)


# -- probe


def test_a_probe_tells_version_cloud_switch_and_models():
    with StandIn(cloud_disabled=True) as server:
        state = probe(server.url)
    assert (state.running, state.version, state.cloud_disabled, state.problem) == (True, "0.33.0", True, "")
    assert [model.name for model in state.models] == ["llama3.2:3b", "nomic-embed-text:latest"]
    assert (state.models[1].embeds, state.models[1].context, state.models[1].dimensions) == (True, 2048, 768)


def test_a_probe_of_an_old_server_asks_show_for_what_the_list_leaves_out():
    models = ["llama3.2:3b", "nomic-embed-text", remote_stub()]
    with StandIn(models, tell_capabilities=False, cloud_disabled=None, version="0.5.13") as server:
        state = probe(server.url)
        assert [body["model"] for body in server.asked("/api/show")] == ["llama3.2:3b", "nomic-embed-text:latest"]
    assert state.cloud_disabled is None
    assert [model.chats for model in state.models[:2]] == [True, False]
    assert state.models[2].relayed_to == "ollama.com"


@pytest.mark.parametrize("page", ["<html>router</html>", "[]", '{"hello": 1}'])
def test_a_probe_of_something_else_says_that_it_is_not_ollama(page):
    with StandIn(everywhere=Failure(404, page=page)) as server:
        state = probe(server.url)
    assert state == ServerState(server.url, False, problem=state.problem)
    assert "not Ollama" in state.problem


def test_a_probe_sends_no_text_and_speaks_to_this_machine_only():
    with pytest.raises(PrivacyRefusal):
        probe("192.0.2.1")
    with pytest.raises(UsageError):
        probe("host:abc")


def test_the_window_that_the_server_really_gave_is_told():
    with StandIn([StandInModel("m:latest", context=2048)]) as server:
        there = OllamaServer(server.url)
        assert there.loaded_context("m") == 0
        OllamaChat(server.url, "m", num_ctx=8192).warm_up([Message(Role.USER, "x")], Event())
        assert there.loaded_context("M") == 2048


# -- choosing


def choose(models, wanted=None, **switches):
    with StandIn(models, **switches) as server:
        return choose_chat_model(OllamaServer(server.url), wanted, memory=MEMORY)


@pytest.mark.parametrize(
    ("models", "chosen"),
    [
        ([chat_model("a:1b", 1), chat_model("b:8b", 8), chat_model("c:3b", 3)], "b:8b"),
        ([chat_model("a:1b", 1), chat_model("huge:70b", 70)], "a:1b"),
        ([chat_model("a:1b", 1), chat_model("fat:14b", 14, gib=12)], "a:1b"),
        ([chat_model("wide:30b", 30, gib=5), chat_model("a:1b", 1)], "a:1b"),
        ([chat_model("huge:70b", 70), chat_model("big:32b", 32)], "big:32b"),
        ([embed_model(), chat_model("a:1b", 1)], "a:1b"),
        ([remote_stub(), StandInModel("x:120b-cloud", parameters="120B"), chat_model("a:1b", 1)], "a:1b"),
        ([chat_model("first:3b", 3), chat_model("second:3b", 3)], "first:3b"),
    ],
    ids=["largest", "too many parameters", "too many bytes", "too slow", "smallest of those too large", "no embedder",
         "nothing remote", "newest of equals"],
)  # fmt: skip
@pytest.mark.parametrize("told", [True, False], ids=["0.33", "0.5"])
def test_the_best_local_chat_model_that_fits_is_chosen(models, chosen, told):
    assert choose(models, tell_capabilities=told) == chosen


def test_the_configured_model_is_taken_under_its_full_name():
    assert choose(["llama3.2", chat_model("b:8b", 8)], "Llama3.2") == "llama3.2:latest"


@pytest.mark.parametrize("models", [[], ["nomic-embed-text"], [remote_stub()]], ids=["none", "embedder", "remote"])
def test_without_any_chat_model_a_small_one_is_named(models):
    with pytest.raises(ModelMissing, match=r"ollama pull llama3\.2:3b"):
        choose(models)


def test_a_configured_model_that_is_missing_remote_or_an_embedder_is_refused():
    with pytest.raises(ModelMissing, match="ollama pull mistral"):
        choose(["llama3.2:3b"], "mistral")
    with pytest.raises(PrivacyRefusal):
        choose([remote_stub()], "harmless")
    with pytest.raises(ModelMissing, match="cannot chat"):
        choose(["nomic-embed-text"], "nomic-embed-text")


def test_the_memory_of_this_machine_is_known():
    assert total_memory() > _GIB // 4


# -- pulling


def test_a_pull_tells_its_progress_and_the_model_is_there():
    with StandIn(["llama3.2:3b"]) as server:
        there = OllamaServer(server.url)
        steps = list(pull(there, "nomic-embed-text", Event()))
        assert there.clear("nomic-embed-text").embeds
    size = 274_302_450
    assert steps[0] == ("pulling manifest", 0, 0)
    assert steps[-1] == ("success", 0, 0)
    assert [done for _, done, total in steps if total] == [size * share // 4 for share in range(5)]
    assert {total for _, _, total in steps} == {0, size}


@pytest.mark.parametrize(
    ("ends", "kind", "words"),
    [
        ("cut", EngineFailed, "interrupted"),
        ("silent", EngineFailed, "interrupted"),
        ('pull model manifest: Get "https://registry.ollama.ai/v2/": dial tcp: lookup', EngineFailed, "online"),
        ("pull model manifest: 412: requires a newer version", EngineFailed, "update it"),
        ("write /x: no space left on device", EngineFailed, "disk is full"),
        ("some new trouble", EngineFailed, "some new trouble"),
    ],
)
def test_a_pull_that_breaks_off_says_why(ends, kind, words):
    with StandIn([], pull_ends=ends) as server, pytest.raises(kind, match=words):
        list(pull(OllamaServer(server.url), "nomic-embed-text", Event()))


def test_a_pull_of_an_unknown_name_says_so():
    with StandIn([]) as server, pytest.raises(ModelMissing, match="no model nosuch"):
        list(pull(OllamaServer(server.url), "nosuch", Event()))


def test_a_cloud_model_is_not_pulled_unless_allowed():
    with StandIn([]) as server:
        with pytest.raises(PrivacyRefusal):
            list(pull(OllamaServer(server.url), "gpt-oss:120b-cloud", Event()))
        assert not server.requests


def test_a_pull_can_be_stopped():
    with StandIn([], pull_ends="hang") as server:
        started = monotonic()
        with pytest.raises(Cancelled):
            list(pull(OllamaServer(server.url), "nomic-embed-text", stop_after(0.1)))
        assert monotonic() - started < 1.0
