"""The embedder of an Ollama server: prefixes on the wire, limits, norms, order, and servers old and broken."""

import math
import random

import pytest

from memchat.engine.ollama_embed import OllamaEmbedder
from memchat.engine.prefixes import FAMILIES, find_family, language_note
from memchat.errors import EngineFailed, ModelMissing, PrivacyRefusal, PromptTooLong, UsageError
from memchat.text import estimate_tokens
from tests.standin import Failure, StandIn
from tests.standin_models import StandInModel, embed_model, hash_vector, remote_stub


@pytest.mark.parametrize(
    ("model", "scheme", "query", "document", "tokens"),
    [
        ("nomic-embed-text", "nomic", "search_query: ", "search_document: ", 2048),
        ("nomic-embed-text:v1.5", "nomic", "search_query: ", "search_document: ", 2048),
        ("hf.co/nomic-ai/nomic-embed-text-v2-moe-GGUF:Q8_0", "nomic", "search_query: ", "search_document: ", 512),
        ("embeddinggemma:300m", "gemma", "task: search result | query: ", "title: none | text: ", 2048),
        ("mxbai-embed-large", "retrieve", "Represent this sentence for searching relevant passages: ", "", 512),
        ("all-minilm:l6-v2", "none", "", "", 256),
        ("BGE-M3", "none", "", "", 2048),
        ("snowflake-arctic-embed2", "query", "query: ", "", 2048),
        ("something-else", "none", "", "", 512),
    ],
)
def test_each_family_has_its_prefixes_and_its_limit(model, scheme, query, document, tokens):
    family = find_family(model)
    assert (family.scheme, family.query, family.document, family.max_tokens) == (scheme, query, document, tokens)


def test_qwen3_takes_an_instruction_before_the_question_and_nothing_before_a_document():
    family = find_family("qwen3-embedding:0.6b")
    assert family.query.startswith("Instruct: ")
    assert family.query.endswith("\nQuery:")
    assert family.document == ""


def test_one_scheme_name_never_stands_for_two_pairs_of_prefixes():
    pairs = {(family.scheme, family.query, family.document) for family in FAMILIES}
    assert len({scheme for scheme, _, _ in pairs}) == len(pairs)


def test_a_longer_beginning_is_never_hidden_by_a_shorter_one_before_it():
    for place, family in enumerate(FAMILIES):
        assert not any(family.begins.startswith(earlier.begins) for earlier in FAMILIES[:place])


def test_english_families_say_so():
    assert "embeddinggemma" in language_note(find_family("nomic-embed-text"))
    assert language_note(find_family("bge-m3")) == ""


def test_questions_and_documents_go_out_with_their_prefixes():
    with StandIn() as server:
        embedder = OllamaEmbedder(server.url)
        embedder.embed_documents(["I live in Berlin."])
        embedder.embed_queries(["Where do I live?"])
        sent = server.embedded
    assert sent[-2:] == ["search_document: I live in Berlin.", "search_query: Where do I live?"]


def test_the_card_tells_digest_dimensions_and_scheme_and_sends_no_text_of_the_user():
    with StandIn() as server:
        card = OllamaEmbedder(server.url).card()
        assert server.embedded == ["search_document: memchat"]
    assert (card.model, card.dimensions, card.scheme, card.languages) == (
        "nomic-embed-text:latest",
        768,
        "nomic",
        "english",
    )
    assert len(card.digest) == 64


def test_vectors_come_in_order_with_norm_1_in_batches_of_64():
    texts = [f"memory number {number}" for number in range(150)]
    with StandIn() as server:
        embedder = OllamaEmbedder(server.url, keep_alive="300")
        embedder.card()
        vectors = embedder.embed_documents(texts)
        bodies = server.asked("/api/embed")[1:]
    assert [len(body["input"]) for body in bodies] == [64, 64, 22]
    assert all(body["truncate"] is True and body["keep_alive"] == 300 for body in bodies)
    for text, vector in zip(texts, vectors, strict=True):
        assert vector.typecode == "f"
        assert math.sqrt(sum(x * x for x in vector)) == pytest.approx(1, abs=1e-6)
        assert list(vector) == pytest.approx(hash_vector(text, 768), abs=1e-6)


def test_a_vector_that_is_not_of_norm_1_is_made_so():
    with StandIn(embed=lambda texts, dimensions: [[3.0, 4.0]] * len(texts)) as server:
        assert list(OllamaEmbedder(server.url).embed_queries(["x"])[0]) == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("texts", [[""], [" \n\t"], ["a", "", "b"]])
def test_a_blank_text_is_a_mistake_of_the_caller_and_nothing_is_sent(texts):
    with StandIn() as server:
        with pytest.raises(ValueError, match="blank"):
            OllamaEmbedder(server.url).embed_documents(texts)
        assert not server.requests


def test_no_texts_cost_no_request():
    with StandIn() as server:
        assert OllamaEmbedder(server.url).embed_documents([]) == []
        assert not server.requests


@pytest.mark.parametrize("bug", [False, True], ids=["cuts silently", "0.13.5 bug"])
def test_a_long_text_is_cut_here_before_the_server_has_to(bug):
    with StandIn(embed_bug=bug) as server:
        OllamaEmbedder(server.url).embed_documents(["word " * 20_000, "漢字" * 5000])
        assert all(estimate_tokens(text) <= 2048 for text in server.embedded)
        assert all(len(text) > 1000 for text in server.embedded[1:])


def test_a_batch_refused_as_too_long_is_halved_until_it_passes():
    dense = ["!?" * 900, "short", "." * 1500]
    with StandIn([embed_model(context=400)], embed_bug=True, tell_capabilities=False) as server:
        vectors = OllamaEmbedder(server.url).embed_documents(dense)
        sent = server.embedded
    assert len(vectors) == 3
    assert "search_document: short" in sent
    assert all(text.startswith("search_document: ") for text in sent)


def test_a_text_that_is_refused_at_any_length_is_an_error():
    with StandIn() as server:
        embedder = OllamaEmbedder(server.url)
        embedder.card()
        server.switches.everywhere = Failure(400, "the input length exceeds the context length")
        with pytest.raises(PromptTooLong):
            embedder.embed_queries(["word " * 100])
        assert len(server.asked("/api/embed")) < 12


def test_a_server_too_old_for_the_batch_endpoint_is_asked_text_by_text_and_its_vectors_normalised():
    with StandIn(old_embeddings=True, tell_capabilities=False) as server:
        vectors = OllamaEmbedder(server.url).embed_documents(["one", "two"])
        assert [body["prompt"] for body in server.asked("/api/embeddings")] == [
            "search_document: memchat",
            "search_document: one",
            "search_document: two",
        ]
        assert len(server.asked("/api/embed")) == 1
    assert list(vectors[0]) == pytest.approx(hash_vector("one", 768), abs=1e-6)


@pytest.mark.parametrize(
    "row",
    [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0], [1e200, 1e200], []],
    ids=["zero", "nan", "infinite", "overflow", "empty"],
)
def test_a_vector_without_a_direction_is_an_error(row):
    standin = StandIn(embed=lambda texts, dimensions: [row] * len(texts))
    with standin as server, pytest.raises(EngineFailed, match="empty or not finite"):
        OllamaEmbedder(server.url).embed_queries(["x"])


def test_fewer_vectors_than_texts_are_an_error():
    standin = StandIn(embed=lambda texts, dimensions: [[1.0, 0.0]])
    with standin as server, pytest.raises(EngineFailed, match="1 vectors for 2 texts"):
        OllamaEmbedder(server.url).embed_queries(["x", "y"])


def test_vectors_that_change_their_length_are_an_error():
    lengths = iter([2, 3])
    standin = StandIn(embed=lambda texts, dimensions: [[1.0] * next(lengths)] * len(texts))
    with standin as server, pytest.raises(EngineFailed, match="another length"):
        OllamaEmbedder(server.url).embed_queries(["x"])


@pytest.mark.parametrize("told", [True, False], ids=["told in the list", "told in show"])
def test_a_chat_model_is_refused_before_any_text(told):
    with StandIn(tell_capabilities=told) as server:
        with pytest.raises(ModelMissing, match="cannot embed"):
            OllamaEmbedder(server.url, "llama3.2:3b").embed_documents(["x"])
        assert not server.asked("/api/embed")


def test_a_server_that_cannot_embed_with_a_model_says_which_to_take():
    model = StandInModel("odd:latest", ())
    with StandIn([model]) as server, pytest.raises(ModelMissing, match=r"cannot embed.*nomic-embed-text"):
        OllamaEmbedder(server.url, "odd").embed_documents(["x"])


def test_a_missing_embedder_names_the_pull():
    with StandIn(["llama3.2:3b"]) as server, pytest.raises(ModelMissing, match="ollama pull nomic-embed-text"):
        OllamaEmbedder(server.url).embed_documents(["x"])


def test_an_embedder_that_turns_remote_later_is_noticed_after_a_failure():
    with StandIn() as server:
        embedder = OllamaEmbedder(server.url)
        embedder.embed_queries(["x"])
        server.switches.everywhere = Failure(503, "server busy")
        with pytest.raises(EngineFailed, match="busy"):
            embedder.embed_queries(["x"])
        server.switches.everywhere = None
        server.models = [remote_stub("nomic-embed-text:latest")]
        with pytest.raises(PrivacyRefusal):
            embedder.embed_queries(["x"])


def test_a_bad_keep_alive_is_refused_when_the_embedder_is_built():
    with pytest.raises(UsageError):
        OllamaEmbedder(None, keep_alive="soon")


def test_texts_of_any_letters_are_embedded():
    letters = random.Random(5)
    texts = ["".join(chr(letters.randrange(33, 0x1F9FF)) for _ in range(50)) for _ in range(20)]
    with StandIn() as server:
        assert len(OllamaEmbedder(server.url).embed_documents(texts)) == 20
