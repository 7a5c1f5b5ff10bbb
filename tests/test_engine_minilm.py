"""The embedded embedder on a model of four words: onnxruntime and tokenizers are real, every vector is known."""

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memchat.engine.minilm import DIMENSIONS, MiniLmEmbedder
from memchat.errors import EngineFailed, ModelMissing
from tests.tiny_onnx import write_tiny_onnx, write_tiny_tokenizer


@pytest.fixture(scope="module")
def embedder(tmp_path_factory):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("minilm")
    table = [[0.0] * DIMENSIONS for _ in range(4)]
    for token, row in enumerate(table):
        row[token] = float(token + 1)
    weights = write_tiny_onnx(folder / "tiny.onnx", table)
    tokenizer = write_tiny_tokenizer(folder / "tokenizer.json", {"[UNK]": 0, "sun": 1, "moon": 2, "star": 3})
    embedder = MiniLmEmbedder(weights, tokenizer, "d1", threads=1)
    yield embedder
    embedder.close()


def test_a_vector_is_the_mean_of_its_words_with_norm_one(embedder):
    (vector,) = embedder.embed_documents(["sun moon moon"])
    length = math.hypot(2, 6)
    assert list(vector[:4]) == pytest.approx([0, 2 / length, 6 / length, 0])
    assert (vector.typecode, len(vector)) == ("f", DIMENSIONS)
    assert math.hypot(*vector) == pytest.approx(1)


def test_questions_and_documents_are_embedded_alike(embedder):
    assert embedder.embed_queries(["sun star"]) == embedder.embed_documents(["sun star"])


def test_what_fills_up_a_batch_does_not_count(embedder):
    texts = ["sun", "moon star moon star moon", "sun star"]
    for text, vector in zip(texts, embedder.embed_documents(texts), strict=True):
        assert list(vector) == pytest.approx(list(embedder.embed_documents([text])[0]), abs=1e-6)


def test_many_texts_come_back_in_their_order(embedder):
    texts = ["sun " + "moon " * (n * 7 % 13) + "star " * (n % 5) for n in range(150)]
    for text, vector in zip(texts, embedder.embed_documents(texts), strict=True):
        assert list(vector[:4]) == pytest.approx(list(embedder.embed_documents([text])[0][:4]), abs=1e-6)


def test_a_text_too_long_is_cut(embedder):
    assert embedder.embed_documents(["sun " * 256 + "moon " * 5000]) == embedder.embed_documents(["sun"])


@pytest.mark.parametrize("texts", [[""], ["sun", " \n"]], ids=["empty", "blank among others"])
def test_a_blank_text_is_refused(embedder, texts):
    with pytest.raises(ValueError, match="blank"):
        embedder.embed_documents(texts)


def test_no_texts_give_no_vectors(embedder):
    assert embedder.embed_documents([]) == []


@pytest.mark.parametrize("text", ["\ud800 sun", "\x00", "\U0001f31e"], ids=["surrogate", "zero", "emoji"])
def test_any_text_can_be_embedded(embedder, text):
    assert math.hypot(*embedder.embed_documents([text])[0]) == pytest.approx(1)


def test_the_embedders_card_tells_its_model(embedder):
    card = embedder.card()
    assert (card.model, card.digest, card.dimensions, card.scheme) == ("all-MiniLM-L6-v2", "d1", 384, "none")
    assert card.languages == "english"


@pytest.mark.parametrize("broken", ["tiny.onnx", "tokenizer.json"])
def test_a_broken_file_of_the_embedder_is_told(tmp_path, broken, capfd):
    pytest.importorskip("onnxruntime")
    weights = write_tiny_onnx(tmp_path / "tiny.onnx", [[1.0] * DIMENSIONS])
    tokenizer = write_tiny_tokenizer(tmp_path / "tokenizer.json", {"[UNK]": 0})
    (tmp_path / broken).write_bytes(b"broken")
    with pytest.raises(EngineFailed, match=f"{broken} cannot be loaded: run `memchat setup`"):
        MiniLmEmbedder(weights, tokenizer, "d1")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_without_a_library_the_command_that_brings_it_is_told(tmp_path, monkeypatch, library):
    pytest.importorskip("tokenizers")
    tokenizer = write_tiny_tokenizer(tmp_path / "tokenizer.json", {"[UNK]": 0})
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ModelMissing, match=rf"{library} is not installed.*pip install"):
        MiniLmEmbedder(tmp_path / "tiny.onnx", tokenizer, "d1")


def test_a_closed_embedder_says_so(tmp_path):
    pytest.importorskip("onnxruntime")
    weights = write_tiny_onnx(tmp_path / "tiny.onnx", [[1.0] * DIMENSIONS])
    embedder = MiniLmEmbedder(weights, write_tiny_tokenizer(tmp_path / "tokenizer.json", {"[UNK]": 0}), "d1")
    embedder.close()
    embedder.close()
    with pytest.raises(EngineFailed, match="closed"):
        embedder.embed_queries(["sun"])


def test_the_library_keeps_no_report_of_its_use(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    weights = write_tiny_onnx(tmp_path / "tiny.onnx", [[1.0] * DIMENSIONS] * 4)
    tokenizer = write_tiny_tokenizer(tmp_path / "tiny.json", {"[UNK]": 0, "hello": 1})
    code = f"""
from pathlib import Path
from memchat.engine.minilm import MiniLmEmbedder
MiniLmEmbedder(Path({str(weights)!r}), Path({str(tokenizer)!r}), "d").embed_queries(["hello"])
"""
    home = tmp_path / "home"
    environ = {"HOME": str(home), "PATH": os.environ["PATH"]}
    subprocess.run([sys.executable, "-c", code], env=environ, check=True)
    assert not list(home.rglob("*")), "onnxruntime tells its maker of every use unless it is told not to"
