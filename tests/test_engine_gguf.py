"""The head of a GGUF file: read without loading it, and every fault of a file told."""

import pytest

from memchat.engine.gguf import read_head
from memchat.errors import EngineFailed, ModelMissing
from tests.tiny_gguf import write_tiny_gguf


def test_a_models_head_is_read_without_loading_it(tmp_path):
    head = read_head(write_tiny_gguf(tmp_path / "tiny.gguf"))
    assert (head.name, head.architecture, head.context) == ("tiny", "llama", 4096)
    assert head.token_bytes == 1 * 2 * 2 * 16 * 2  # layers, heads, keys and values, width of a head, bytes


def test_lists_before_what_is_looked_for_are_read_past(tmp_path):
    path = write_tiny_gguf(tmp_path / "tiny.gguf", general__tags=["one", "two"], general__sizes=[1, 2, 3])
    assert read_head(path).context == 4096


def test_numbers_that_vary_by_layer_count_as_unknown(tmp_path):
    path = write_tiny_gguf(tmp_path / "tiny.gguf", llama__attention__head_count_kv=[2, 1])
    assert read_head(path).token_bytes == 0


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "not a model in the GGUF format"),
        (b"PK\x03\x04 a zip", "not a model in the GGUF format"),
        (b"GGUF\x01\x00\x00\x00" + bytes(16), "version 1"),
        (b"GGUF\x03\x00\x00\x00", "damaged or cut short"),
        (b"GGUF\x03\x00\x00\x00" + b"\xff" * 16, "damaged or cut short"),
        (
            b"GGUF\x03\x00\x00\x00" + bytes(8) + b"\x01" + bytes(7) + b"\x01" + bytes(7) + b"k\x63\x00\x00\x00",
            "damaged",
        ),
        (
            b"GGUF\x03\x00\x00\x00"
            + bytes(8)
            + b"\x01"
            + bytes(7)
            + b"\x01"
            + bytes(7)
            + b"k\x09\x00\x00\x00"
            + (b"\x09\x00\x00\x00\x01" + bytes(7)) * 3000,
            "damaged",
        ),
    ],
    ids=["empty", "zip", "old version", "cut", "huge counts", "unknown type", "arrays without end"],
)
def test_what_is_no_model_is_told(tmp_path, content, told):
    path = tmp_path / "odd.gguf"
    path.write_bytes(content)
    with pytest.raises(EngineFailed, match=told):
        read_head(path)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"architecture": "nomic-bert"}, "kind nomic-bert, which cannot chat"),
        ({"architecture": "bert"}, "kind bert, which cannot chat"),
        ({"split__no": 1}, "not the first of its parts"),
    ],
    ids=["an encoder", "the oldest encoder", "a later part"],
)
def test_a_model_of_the_wrong_kind_is_told(tmp_path, more, told):
    path = write_tiny_gguf(tmp_path / "odd.gguf", **more)
    with pytest.raises(EngineFailed, match=told):
        read_head(path)


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda path: None, ModelMissing, "no model file"),
        (lambda path: path.mkdir(), ModelMissing, "is a folder"),
    ],
    ids=["missing", "folder"],
)
def test_what_is_not_a_file_is_told(tmp_path, make, error, told):
    make(tmp_path / "model")
    with pytest.raises(error, match=told):
        read_head(tmp_path / "model")
