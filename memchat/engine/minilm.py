"""all-MiniLM-L6-v2 in the process: texts become vectors through onnxruntime, with no server.

The pipeline is the model's own: WordPiece tokens, mean of the token vectors under the attention mask, L2 norm.
"""

import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol

from memchat.engine.pack_table import MORE_PACKAGES
from memchat.errors import EngineFailed, ModelMissing
from memchat.records import EmbedderCard, Vector
from memchat.text import encodable

if TYPE_CHECKING:
    import numpy

MODEL: Final = "all-MiniLM-L6-v2"
DIMENSIONS: Final = 384
LONGEST: Final = 256  # tokens, as the model was trained; what is longer is cut
BATCH: Final = 64  # texts of one run


class _Encoding(Protocol):
    @property
    def ids(self) -> Sequence[int]: ...
    @property
    def attention_mask(self) -> Sequence[int]: ...
    @property
    def type_ids(self) -> Sequence[int]: ...


class _Tokenizer(Protocol):
    def encode_batch(self, input: Sequence[str]) -> Sequence[_Encoding]: ...


class _Session(Protocol):
    def run(self, wanted: None, feed: "Mapping[str, numpy.ndarray]") -> "list[numpy.ndarray]": ...


class MiniLmEmbedder:
    """The embedder; vectors have 384 dimensions, questions and documents are embedded alike.

    `digest` is the sha256 of the weights. Safe for several threads: one text is embedded at a time.
    """

    def __init__(self, weights: Path, tokenizer: Path, digest: str, threads: int | None = None) -> None:
        self._card = EmbedderCard(MODEL, digest, DIMENSIONS, "none", "english")
        self._lock = Lock()
        self._tokenizer: _Tokenizer | None = _load_tokenizer(tokenizer)
        self._session: _Session | None = _load_session(weights, threads)

    def card(self) -> EmbedderCard:
        """Say which model this is."""
        return self._card

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts as what is found; see Embedder."""
        return self._embed(texts)

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts as what is asked, which this model does not tell apart."""
        return self._embed(texts)

    def close(self) -> None:
        """Let go of the model."""
        with self._lock:
            self._tokenizer = self._session = None

    def _embed(self, texts: Sequence[str]) -> list[Vector]:
        if any(not text.strip() for text in texts):
            raise ValueError("a blank text has no meaning to embed")
        vectors: list[Vector] = [array("f")] * len(texts)
        # by length, since every text of a batch is filled up to its longest
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            with self._lock:
                found = list(self._run([texts[index] for index in batch]))
            for index, vector in zip(batch, found, strict=True):
                vectors[index] = vector
        return vectors

    def _run(self, texts: list[str]) -> Iterator[Vector]:
        import numpy as np  # late, as all three libraries here: together they cost half a second

        if self._session is None or self._tokenizer is None:
            raise EngineFailed("The embedding model was closed.")
        encoded = self._tokenizer.encode_batch([encodable(text) for text in texts])
        mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
        feed = {
            "input_ids": np.array([one.ids for one in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([one.type_ids for one in encoded], dtype=np.int64),
        }
        tokens = _in_session(self._session, feed)
        weights = mask[:, :, None].astype(np.float32)
        means = (tokens * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
        means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
        for row in means.astype(np.float32):
            yield array("f", row.tobytes())


def _in_session(session: _Session, feed: "Mapping[str, numpy.ndarray]") -> "numpy.ndarray":
    try:
        return session.run(None, feed)[0]
    except _session_faults() as error:
        raise EngineFailed("The embedding model failed: run `memchat setup` to fetch it again.") from error


def _session_faults() -> tuple[type[Exception], ...]:
    """Return the exceptions of onnxruntime, which share no base of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as native

    own = [kind for kind in vars(native).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    return (*own, RuntimeError, ValueError)


def _load_tokenizer(path: Path) -> _Tokenizer:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ModelMissing(f"tokenizers is not installed; {MORE_PACKAGES}") from error
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more special
        raise _unreadable(path) from error
    tokenizer.enable_truncation(LONGEST)
    tokenizer.enable_padding()
    loaded: _Tokenizer = tokenizer
    return loaded


def _load_session(path: Path, threads: int | None) -> _Session:
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # the library reports its use to its maker otherwise; read at import
    try:
        import onnxruntime
    except ImportError as error:
        raise ModelMissing(f"onnxruntime is not installed; {MORE_PACKAGES}") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or os.cpu_count() or 1
    options.log_severity_level = 4  # fatal ones only: it writes to the screen
    # Waiting threads sleep: spinning, they would take the processor from the chat model and from everybody else.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session: _Session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except _session_faults() as error:
        raise _unreadable(path) from error
    return session


def _unreadable(path: Path) -> EngineFailed:
    return EngineFailed(f"The embedding model {path} cannot be loaded: run `memchat setup` to fetch it again.")
