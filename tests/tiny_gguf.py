"""Writes a GGUF file of some hundred kilobytes with random weights: it talks nonsense, but llama.cpp loads it."""

import random
import struct
from array import array
from pathlib import Path

_WIDTH, _VOCABULARY, _FEED = 32, 3 + 256 + 2, 64
_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_MATRIX_SHAPES = {
    "token_embd": (_WIDTH, _VOCABULARY),
    "output": (_WIDTH, _VOCABULARY),
    "blk.0.attn_q": (_WIDTH, _WIDTH),
    "blk.0.attn_k": (_WIDTH, _WIDTH),
    "blk.0.attn_v": (_WIDTH, _WIDTH),
    "blk.0.attn_output": (_WIDTH, _WIDTH),
    "blk.0.ffn_gate": (_WIDTH, _FEED),
    "blk.0.ffn_up": (_WIDTH, _FEED),
    "blk.0.ffn_down": (_FEED, _WIDTH),
}
_NORMS = ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm")


def write_tiny_gguf(path: Path, *, architecture: str = "llama", context: int = 4096, **more: object) -> Path:
    """Write the model; `more` are further key-value pairs, with "__" in place of the dots."""
    pairs = {
        "general.architecture": architecture,
        "general.name": "tiny",
        f"{architecture}.context_length": context,
        f"{architecture}.embedding_length": _WIDTH,
        f"{architecture}.block_count": 1,
        f"{architecture}.feed_forward_length": _FEED,
        f"{architecture}.attention.head_count": 2,
        f"{architecture}.attention.head_count_kv": 2,
        f"{architecture}.attention.layer_norm_rms_epsilon": 1e-5,
        f"{architecture}.rope.dimension_count": _WIDTH // 2,
        **{key.replace("__", "."): value for key, value in more.items()},
        **_tokenizer(),
    }
    path.write_bytes(_head(pairs) + _weights())
    return path


def _tokenizer() -> dict[str, object]:
    marks = ["<|im_start|>", "<|im_end|>"]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *marks]
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [0.0] * len(tokens),
        "tokenizer.ggml.token_type": [2, 3, 3, *([6] * 256), 3, 3],  # unknown, control, byte, control
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.add_space_prefix": False,
        "tokenizer.ggml.eos_token_id": len(tokens) - 1,
        "tokenizer.chat_template": _TEMPLATE,
    }


def _head(pairs: dict[str, object]) -> bytes:
    shapes = _MATRIX_SHAPES | dict.fromkeys(_NORMS, (_WIDTH,))
    parts = [b"GGUF", struct.pack("<IQQ", 3, len(shapes), len(pairs))]
    parts += [_text(key) + _value(value) for key, value in pairs.items()]
    offset = 0
    for name, shape in shapes.items():
        dimensions = struct.pack(f"<{len(shape)}Q", *shape)
        parts.append(
            _text(f"{name}.weight") + struct.pack("<I", len(shape)) + dimensions + struct.pack("<IQ", 0, offset)
        )
        offset += _padded(_count(shape) * 4)
    head = b"".join(parts)
    return head + bytes(_padded(len(head)) - len(head))


def _weights() -> bytes:
    chance = random.Random(7)
    parts = []
    for name, shape in _MATRIX_SHAPES.items():
        numbers = array("f", (chance.gauss(0, 0.3) for _ in range(_count(shape))))
        if name == "output":  # marks never win, so that at temperature 0 a reply goes on until it is cut
            for token in (0, 1, 2, _VOCABULARY - 2, _VOCABULARY - 1):
                numbers[token * _WIDTH : (token + 1) * _WIDTH] = array("f", bytes(4 * _WIDTH))
        parts.append(numbers.tobytes())
    parts += [array("f", [1.0] * _WIDTH).tobytes() for _ in _NORMS]
    return b"".join(part + bytes(_padded(len(part)) - len(part)) for part in parts)


def _count(shape: tuple[int, ...]) -> int:
    return shape[0] * (shape[1] if len(shape) > 1 else 1)


def _padded(size: int) -> int:
    return -(-size // 32) * 32


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: object) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    kind, write = {
        str: (8, _text),
        float: (6, lambda x: struct.pack("<f", x)),
        int: (5, lambda x: struct.pack("<i", x)),
    }[type(value[0])]
    return struct.pack("<IIQ", 9, kind, len(value)) + b"".join(map(write, value))
