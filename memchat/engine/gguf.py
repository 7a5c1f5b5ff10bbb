"""Reads the head of a GGUF file: what model it is, before anything heavy tries to load it.

The layout is that of the GGUF specification, version 2 and 3: magic, version, counts, then typed key-value pairs,
all little-endian.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from memchat.errors import EngineFailed, ModelMissing

_MAGIC: Final = b"GGUF"
_VERSIONS: Final = (2, 3)
_NUMBERS: Final = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING: Final = 8
_ARRAY: Final = 9
_MOST_PAIRS: Final = 4096
_LONGEST: Final = 1 << 20  # bytes of one text: a template has some kilobytes
_NOT_CHAT: Final = ("bert", "clip", "t5encoder", "whisper", "wavtokenizer")  # words in names of what cannot chat

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class GgufHead:
    """What a model says of itself; numbers are 0 and texts "" where it does not say.

    `context` is the largest window in tokens, `token_bytes` what one token takes in the cache of 16-bit numbers.
    """

    name: str
    architecture: str
    context: int
    token_bytes: int


def read_head(path: Path) -> GgufHead:
    """Return what the file says of its model, with every fault told better than llama.cpp would.

    Raises ModelMissing when there is no such file, EngineFailed when it is no whole chat model in GGUF.
    """
    try:
        with path.open("rb") as file:
            return _checked(path, _pairs_of(path, file))
    except FileNotFoundError:
        raise ModelMissing(f"There is no model file {path}: set `embedded.chat` to a GGUF file that exists.") from None
    except IsADirectoryError:
        raise ModelMissing(f"{path} is a folder: set `embedded.chat` to the GGUF file in it.") from None
    except OSError as error:
        raise EngineFailed(f"The model file {path} cannot be read: {error.strerror or error}.") from error
    except (struct.error, UnicodeDecodeError, ValueError) as error:
        raise EngineFailed(f"The model file {path} is damaged or cut short: get it again.") from error


def _pairs_of(path: Path, file: BinaryIO) -> dict[str, Scalar]:
    if file.read(4) != _MAGIC:
        raise EngineFailed(f"{path} is not a model in the GGUF format, the only one that memchat can load.")
    version, _, count = struct.unpack("<IQQ", _exactly(file, 20))
    if version not in _VERSIONS:
        raise EngineFailed(f"{path} is a GGUF file of version {version}, which this program does not know.")
    return dict(_pairs(file, min(count, _MOST_PAIRS)))


def _pairs(file: BinaryIO, count: int) -> Iterator[tuple[str, Scalar]]:
    """Yield the pairs before the vocabulary, which is long and comes last."""
    for _ in range(count):
        key = _text(file)
        if key.startswith("tokenizer."):
            return
        value = _value(file, _number(file, "<I"))
        if value is not None:
            yield key, value


def _value(file: BinaryIO, kind: int) -> Scalar | None:
    if kind == _STRING:
        return _text(file)
    if kind in _NUMBERS:
        return _number(file, _NUMBERS[kind])
    if kind != _ARRAY:
        raise ValueError("unknown type")
    inner, length = struct.unpack("<IQ", _exactly(file, 12))  # read past it
    if length > _LONGEST or inner == _ARRAY:
        raise ValueError("no array that a model's head would hold")
    for _ in range(length):
        _value(file, inner)
    return None


def _number(file: BinaryIO, layout: str) -> int:
    number: int = struct.unpack(layout, _exactly(file, struct.calcsize(layout)))[0]
    return number


def _text(file: BinaryIO) -> str:
    length = _number(file, "<Q")
    if length > _LONGEST:
        raise ValueError("text too long")
    return _exactly(file, length).decode("utf-8")


def _exactly(file: BinaryIO, length: int) -> bytes:
    read = file.read(length)
    if len(read) < length:
        raise ValueError("file ends early")
    return read


def _checked(path: Path, pairs: dict[str, Scalar]) -> GgufHead:
    architecture = str(pairs.get("general.architecture", ""))
    if any(word in architecture for word in _NOT_CHAT):
        raise EngineFailed(f"{path} holds a model of the kind {architecture}, which cannot chat: choose a chat model.")
    if _whole(pairs, "split.no") > 0:
        raise EngineFailed(f"{path} is not the first of its parts: set `embedded.chat` to the one 00001-of-N.")
    return GgufHead(
        str(pairs.get("general.name", "")),
        architecture,
        _whole(pairs, f"{architecture}.context_length"),
        _token_bytes(pairs, architecture),
    )


def _token_bytes(pairs: dict[str, Scalar], architecture: str) -> int:
    """Return layers x key-value heads x (key + value length) x 2 bytes; 0 where a model varies them by layer."""
    layers, heads, kv_heads, width, length = (
        _whole(pairs, f"{architecture}.{key}")
        for key in (
            "block_count",
            "attention.head_count",
            "attention.head_count_kv",
            "embedding_length",
            "attention.key_length",
        )
    )
    return layers * kv_heads * 2 * (length or (width // heads if heads else 0)) * 2


def _whole(pairs: dict[str, Scalar], key: str) -> int:
    value = pairs.get(key, 0)
    return value if isinstance(value, int) else 0
