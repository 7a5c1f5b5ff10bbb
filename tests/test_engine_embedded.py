"""The embedded chat model on a file of some hundred kilobytes: llama.cpp is real, only what it says is nonsense."""

import json
import subprocess
import sys
from threading import Event, Thread
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

import pytest

from memchat.engine.llama import LlamaChat
from memchat.errors import Cancelled, EngineFailed, ModelMissing, PromptTooLong, UsageError
from memchat.records import Message, Role, Sampling
from memchat.text import estimate_tokens
from tests.llama_stage import SCHEMA, reply, said
from tests.tiny_gguf import write_tiny_gguf


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    pytest.importorskip("xllamacpp")
    return write_tiny_gguf(tmp_path_factory.mktemp("models") / "tiny.gguf")


@pytest.fixture(scope="module")
def model(tiny):
    model = LlamaChat(tiny, digest="d1", num_ctx=2048, threads=1)
    yield model
    model.close()


def test_the_card_tells_the_model(model):
    card = model.card()
    assert (card.model, card.engine, card.digest, card.context, card.remote) == ("tiny", "embedded", "d1", 4096, None)


def test_a_reply_comes_in_pieces_and_ends_with_its_figures(model):
    chunks = reply(model, said("hello"), max_tokens=6)
    assert all(chunk.text and chunk.done is None for chunk in chunks[:-1])
    done = chunks[-1].done
    assert (done.reason, done.reply_tokens) == ("length", 6)
    assert done.prompt_tokens > len("hello")
    assert done.tokens_per_second > 0


def test_the_same_seed_gives_the_same_reply(model):
    texts = ["".join(chunk.text for chunk in reply(model, said("hi"), seed=5, temperature=1.0)) for _ in "ab"]
    assert texts[0] == texts[1] != ""


def test_what_was_read_before_is_not_read_again(model):
    start = "Tell me of rivers. " * 20
    reply(model, said(start))
    done = reply(model, said(start, "No.", "And now?"))[-1].done
    assert done.cached_tokens > len(start)
    assert done.prompt_tokens - done.cached_tokens < 80


def test_learning_between_two_turns_does_not_cost_the_prefix(model):
    start = "Tell me of mountains. " * 20
    reply(model, said(start))
    model.complete_json(said("Something quite different. " * 15), SCHEMA, max_tokens=40, stop=Event())
    done = reply(model, said(start, "No.", "And now?"))[-1].done
    assert done.cached_tokens > len(start)


def test_several_kinds_of_prompts_keep_their_own_state(model):
    """Learning asks in several ways, each with instructions that need not be read again."""
    starts = [letter * 300 for letter in "abcd"]
    for start in starts:
        reply(model, said(start))
    for start in starts:
        assert reply(model, said(start, "No.", "And now?"))[-1].done.cached_tokens > len(start)


def test_warming_up_reads_the_prompt_ahead(model):
    start = "Tell me of lakes. " * 20
    model.warm_up(said(start), Event())
    assert reply(model, said(start))[-1].done.cached_tokens > len(start)


def test_warming_up_without_a_prompt_or_when_stopped_does_nothing(model):
    model.warm_up([], Event())
    stop = Event()
    stop.set()
    model.warm_up(said("x"), stop)


def test_an_answer_keeps_to_the_schema(model):
    answer = model.complete_json(said("Is it so?"), SCHEMA, max_tokens=200, stop=Event())
    assert json.loads(answer).keys() == {"yes"}


def test_a_schema_that_is_none_is_told(model):
    with pytest.raises(EngineFailed):
        model.complete_json(said("Is it so?"), {"type": "nothing"}, max_tokens=20, stop=Event())
    assert reply(model, said("and then?"))[-1].done


def test_tokens_are_counted_exactly(model):
    assert model.count_tokens("ab cd") == len("ab cd".replace(" ", "\u2581").encode())
    assert model.count_tokens("") == 0
    assert model.count_tokens("<|im_end|>") == len("<|im_end|>")
    assert model.count_tokens("\ud800") == 1


def test_a_prompt_that_does_not_fit_is_told_with_both_numbers(model):
    with pytest.raises(PromptTooLong, match=r"has \d+ tokens.*holds 2048"):
        reply(model, said("word " * 2000))


def test_a_prompt_without_messages_is_refused(model):
    with pytest.raises(ValueError, match="never returns"):
        reply(model, [])


def test_a_picture_is_refused(model):
    with pytest.raises(UsageError, match="cannot see pictures"):
        reply(model, [Message(Role.USER, "What is this?", images=("aGk=",))])


@pytest.mark.parametrize("mark", ["<|im_end|>", "<|im_start|>"])
def test_a_text_cannot_pass_for_a_mark_between_the_roles(model, mark):
    """In the text each character of a mark is a token; the real mark would be one."""
    plain = reply(model, said(f"a{'x' * len(mark)}b"))[-1].done.prompt_tokens
    assert reply(model, said(f"a{mark}b"))[-1].done.prompt_tokens >= plain


@pytest.mark.parametrize("text", ["\ud800", "a\x00b", "\u202e\U0001f600"], ids=["surrogate", "zero", "odd"])
def test_any_text_can_be_said(model, text):
    assert reply(model, said(text))[-1].done


def test_a_reply_is_stopped_and_the_model_is_free_again(model):
    stop = Event()
    chunks = model.stream(said("hello"), Sampling(temperature=0, max_tokens=1900), stop)
    first = next(chunks)
    stop.set()
    assert first.done is None
    assert all(chunk.done is None for chunk in chunks)
    assert reply(model, said("next"))[-1].done


def test_a_call_that_is_stopped_before_it_begins_is_not_made(model):
    stop = Event()
    stop.set()
    assert reply(model, said("x"), stop) == []
    with pytest.raises(Cancelled):
        model.complete_json(said("x"), SCHEMA, max_tokens=20, stop=stop)


def test_nothing_is_written_on_the_screen(tiny, tmp_path, capfd):
    model = LlamaChat(tiny, num_ctx=512, threads=1)
    reply(model, said("hello"))
    with pytest.raises(PromptTooLong):
        reply(model, said("word " * 500))
    model.close()
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(tiny.read_bytes()[:60_000])
    with pytest.raises(EngineFailed, match="cannot be loaded"):
        LlamaChat(broken)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("path", ["/slots", "/props", "/metrics", "/v1/models"])
def test_the_port_answers_to_nobody_else(model, path):
    with pytest.raises(HTTPError) as refused:
        build_opener(ProxyHandler({})).open(model.address + path, timeout=5)
    refused.value.close()
    assert refused.value.code == 401
    assert model.address.startswith("http://127.0.0.1:")


def test_a_model_closed_right_after_loading_lets_go(tiny):
    """llama.cpp waits for ever when it is freed before its loop runs."""

    def open_and_close():
        for _ in range(5):
            LlamaChat(tiny, num_ctx=512, threads=1).close()

    worker = Thread(target=open_and_close, daemon=True)
    worker.start()
    worker.join(60)
    assert not worker.is_alive()


def test_a_closed_model_says_so(tiny):
    model = LlamaChat(tiny, num_ctx=512, threads=1)
    model.close()
    model.close()
    with pytest.raises(EngineFailed, match="closed"):
        reply(model, said("x"))
    assert model.count_tokens("some words") == estimate_tokens("some words")


def test_closing_ends_the_reply_that_runs(tiny):
    model = LlamaChat(tiny, num_ctx=4096, threads=1)
    chunks = model.stream(said("x"), Sampling(temperature=0, max_tokens=4000), Event())
    next(chunks)
    model.close()
    assert all(chunk.done is None for chunk in chunks)


def test_the_window_is_not_larger_than_the_model_was_made_for(tmp_path, tiny):
    small = write_tiny_gguf(tmp_path / "small.gguf", context=512)
    model = LlamaChat(small, num_ctx=2_000_000_000, threads=1)
    with pytest.raises(PromptTooLong, match="holds 512"):
        reply(model, said("word " * 200))
    model.close()


def test_a_model_larger_than_the_memory_is_refused(tiny, monkeypatch):
    monkeypatch.setattr("memchat.engine.llama.total_memory", lambda: 200 << 20)
    with pytest.raises(EngineFailed, match=r"needs about 0\.3 GB of memory .* this machine has 0\.2 GB"):
        LlamaChat(tiny)


def test_without_the_library_the_command_that_brings_it_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelMissing, match=r"pip install '\.\[embedded\]'"):
        LlamaChat(write_tiny_gguf(tmp_path / "tiny.gguf"))


def test_nothing_heavy_is_imported_before_it_is_needed():
    heavy = ("numpy", "onnxruntime", "tokenizers", "xllamacpp", "httpx", "subprocess")
    modules = ["embedded", "llama", "minilm", "packs", "gguf"]
    program = (
        f"import sys\nfrom memchat.engine import {', '.join(modules)}\nprint([m for m in {heavy} if m in sys.modules])"
    )
    assert run_python(program) == "[]"


def run_python(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
