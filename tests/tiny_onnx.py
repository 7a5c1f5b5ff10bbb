"""Writes an embedding model of a few words as ONNX, with its tokenizer: one known vector for each word.

The file is put together by the rules of protocol buffers: a tag, then a number or a length and bytes.
"""

from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path

_FLOAT, _INT64 = 1, 7  # TensorProto.DataType


def write_tiny_onnx(path: Path, table: Sequence[Sequence[float]]) -> Path:
    """Write a graph that looks every token id up in `table` and ignores the other two inputs of the real model."""
    width = len(table[0])
    numbers = array("f", [x for row in table for x in row]).tobytes()
    tensor = _number(1, len(table)) + _number(1, width) + _number(2, _FLOAT) + _bytes(8, b"table") + _bytes(9, numbers)
    node = _bytes(1, b"table") + _bytes(1, b"input_ids") + _bytes(2, b"last_hidden_state") + _bytes(4, b"Gather")
    graph = _bytes(1, node) + _bytes(2, b"tiny") + _bytes(5, tensor)
    for name in ("input_ids", "attention_mask", "token_type_ids"):
        graph += _bytes(11, _value(name, _INT64, ("batch", "sequence")))
    graph += _bytes(12, _value("last_hidden_state", _FLOAT, ("batch", "sequence", width)))
    path.write_bytes(_number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, b"") + _number(2, 13)))
    return path


def write_tiny_tokenizer(path: Path, vocabulary: Mapping[str, int]) -> Path:
    """Write a tokenizer of whole words; others become [UNK]."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel(dict(vocabulary), unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(path))
    return path


def _value(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    dimensions = b"".join(
        _bytes(1, _number(1, size) if isinstance(size, int) else _bytes(2, size.encode())) for size in shape
    )
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, dimensions)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])
