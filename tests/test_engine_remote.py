"""No text goes to a model that an Ollama server would relay, whatever the model is called."""

from threading import Event

import pytest

from memchat.engine.ollama_chat import OllamaChat
from memchat.engine.ollama_embed import OllamaEmbedder
from memchat.engine.ollama_server import OllamaServer
from memchat.engine.remote import add_shown, check_relay, find_model, full_name, names_cloud, read_tag
from memchat.errors import ModelMissing, PrivacyRefusal
from memchat.records import Message, Role, Sampling
from tests.standin import Reply, StandIn
from tests.standin_models import StandInModel, remote_stub

ASKED = [Message(Role.USER, "My name is Ada.")]


@pytest.mark.parametrize(
    ("name", "cloud"),
    [
        ("gpt-oss:120b-cloud", True),
        ("GPT-OSS:120B-CLOUD", True),
        ("qwen3-coder:cloud", True),
        ("someone/model:Cloud", True),
        (" x:cloud ", True),
        ("llama3.2:3b", False),
        ("cloud", False),
        ("my-cloud", False),
        ("cloud:latest", False),
        ("host:5000/some-cloud", False),
        ("host:5000/a:7b-cloud", True),
        ("x:cloudy", False),
        ("x:cloud:local", False),
    ],
)
def test_a_cloud_model_is_known_by_what_follows_the_last_colon(name, cloud):
    assert names_cloud(name) is cloud


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("llama3.2", "llama3.2:latest"),
        ("Llama3.2:3B", "llama3.2:3b"),
        ("library/llama3.2", "llama3.2:latest"),
        ("registry.ollama.ai/library/llama3.2:3b", "llama3.2:3b"),
        ("someone/model", "someone/model:latest"),
        ("box:5000/a/b", "box:5000/a/b:latest"),
    ],
)
def test_names_are_compared_whole_with_the_tag_filled_in(name, full):
    assert full_name(name) == full


LISTED = {"name": "m:latest", "size": 2_000_000_000, "digest": "sha256:ab", "details": {"format": "gguf"}}


@pytest.mark.parametrize(
    ("change", "relayed_to"),
    [
        ({}, ""),
        ({"remote_host": "https://ollama.com:443"}, "ollama.com"),
        ({"remote_host": "box.lan:11434"}, "box.lan"),
        ({"remote_model": "gpt-oss:120b"}, "ollama.com"),
        ({"size": 384}, "ollama.com"),
        ({"size": None}, "ollama.com"),
        ({"details": {}}, "ollama.com"),
        ({"details": None}, "ollama.com"),
        ({"name": "m:cloud"}, "ollama.com"),
        ({"remote_host": 7}, ""),
    ],
)
def test_a_listed_model_without_weights_of_its_own_is_relayed(change, relayed_to):
    model = read_tag(LISTED | change)
    assert model is not None
    assert model.relayed_to == relayed_to
    assert model.digest == "ab"


@pytest.mark.parametrize("entry", [None, 3, "m", [], {}, {"name": ""}, {"name": 3}])
def test_an_entry_without_a_name_is_no_model(entry):
    assert read_tag(entry) is None


@pytest.mark.parametrize(
    ("size", "parameters"),
    [("7.6B", 7.6e9), ("494.03M", 494.03e6), ("8x7B", 56e9), ("1.5b", 1.5e9), ("", 0), ("big", 0), ("9" * 99, 0)],
)
def test_parameter_sizes_are_read(size, parameters):
    model = read_tag(LISTED | {"details": {"format": "gguf", "parameter_size": size}})
    assert model is not None
    assert model.parameters == pytest.approx(parameters)


def test_what_only_show_tells_is_added():
    model = read_tag(LISTED)
    assert model is not None
    facts = {"general.architecture": "bert", "bert.context_length": 512, "bert.pooling_type": 1}
    shown = add_shown(model, {"model_info": facts, "remote_host": "ollama.com"})
    assert (shown.context, shown.embeds, shown.chats, shown.relayed_to) == (512, True, False, "ollama.com")


@pytest.mark.parametrize("entry", ["gpt-oss:120b-cloud", "GPT-OSS:120b-cloud", "ollama.com", " ollama.com "])
def test_a_relayed_model_is_allowed_by_its_name_or_its_host(entry):
    check_relay("gpt-oss:120b-cloud", "ollama.com", [entry])


@pytest.mark.parametrize("entry", ["gpt-oss", "com", "*", "", "gpt-oss:latest"])
def test_a_relayed_model_is_not_allowed_by_something_near(entry):
    with pytest.raises(PrivacyRefusal, match="does not run on this machine"):
        check_relay("gpt-oss:120b-cloud", "ollama.com", [entry])


def talk(url, model, allow=()):
    return "".join(c.text for c in OllamaChat(url, model, allow_remote=allow).stream(ASKED, Sampling(), Event()))


SHOWN_ONLY = StandInModel("shown-only:latest", remote_host="https://ollama.com:443", list_hides_it=True)
REMOTE = [
    "gpt-oss:120b-cloud",
    "qwen3-coder:cloud",
    "harmless",
    "harmless:latest",
    "HARMLESS",
    "shown-only",
]


@pytest.mark.parametrize("name", REMOTE)
@pytest.mark.parametrize("disabled", [False, True, None], ids=["cloud on", "cloud off", "old server"])
def test_text_never_reaches_a_remote_model(name, disabled):
    """The stand-in's tripwire fails the test if it does."""
    models = ["llama3.2:3b", remote_stub(), SHOWN_ONLY]
    with StandIn(models, cloud_disabled=disabled) as server:
        with pytest.raises(PrivacyRefusal) as caught:
            talk(server.url, name)
        with pytest.raises(PrivacyRefusal):
            OllamaEmbedder(server.url, name).embed_documents(["My name is Ada."])
        assert caught.value.exit_status == 5
        assert "cloud" in caught.value.sentence or "allow_remote" in caught.value.sentence
        assert not server.tripped
        assert not any("Ada" in str(request.body) for request in server.requests)


def test_showing_a_cloud_name_would_contact_the_cloud_so_it_is_not_asked():
    with StandIn(["llama3.2:3b", remote_stub()]) as server:
        for name in ("gpt-oss:120b-cloud", "harmless"):
            with pytest.raises(PrivacyRefusal):
                talk(server.url, name)
        assert not server.asked("/api/show")


@pytest.mark.parametrize(
    ("name", "allow"),
    [("harmless", "harmless"), ("harmless", "ollama.com"), ("gpt-oss:120b-cloud", "gpt-oss:120b-cloud")],
)
def test_a_remote_model_that_the_user_names_is_used_and_says_where_text_goes(name, allow):
    models = [remote_stub(), remote_stub("gpt-oss:120b-cloud")]
    with StandIn(models, ["hello from afar"], may_relay=True) as server:
        assert talk(server.url, name, [allow]) == "hello from afar"
        assert OllamaChat(server.url, name, allow_remote=[allow]).card().remote == "ollama.com"


def test_a_reply_that_says_it_came_from_elsewhere_is_stopped_at_its_first_line():
    relayed = Reply("one two", relay="https://ollama.com:443")
    with StandIn(replies=[relayed]) as server, pytest.raises(PrivacyRefusal, match=r"came from ollama\.com"):
        talk(server.url, "llama3.2:3b")


def test_a_reply_that_only_talks_of_remote_hosts_is_no_relay():
    with StandIn(replies=['Set {"remote_host": "ollama.com"} there.']) as server:
        assert talk(server.url, "llama3.2:3b") == 'Set {"remote_host": "ollama.com"} there.'


def test_a_model_that_turns_remote_later_is_noticed_after_a_failure():
    with StandIn(["m"], [Reply("a b", ends="cut"), "x"]) as server:
        chat = OllamaChat(server.url, "m")
        with pytest.raises(Exception, match="interrupted"):
            list(chat.stream(ASKED, Sampling(), Event()))
        server.models = [remote_stub("m:latest")]
        with pytest.raises(PrivacyRefusal):
            list(chat.stream(ASKED, Sampling(), Event()))


def test_a_host_elsewhere_is_refused_before_anything_is_built_or_sent():
    for build in (OllamaServer, lambda host: OllamaChat(host, "m"), OllamaEmbedder):
        with pytest.raises(PrivacyRefusal, match=r"192\.0\.2\.1"):
            build("192.0.2.1")


def test_a_missing_model_names_the_pull_and_what_is_there_instead():
    with StandIn(["llama3.2:3b"]) as server:
        with pytest.raises(ModelMissing) as caught:
            OllamaServer(server.url).clear("llama3.2")
        assert "`ollama pull llama3.2`" in caught.value.sentence
        assert "There is llama3.2:3b." in caught.value.sentence


def test_a_model_is_found_with_and_without_its_tag_and_in_any_case():
    with StandIn(["nomic-embed-text"]) as server:
        models = OllamaServer(server.url).models()
        for name in ("nomic-embed-text", "Nomic-Embed-Text:latest", "library/nomic-embed-text"):
            assert find_model(models, name) is not None
        assert find_model(models, "nomic-embed-text:v1.5") is None
