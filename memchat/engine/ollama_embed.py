"""An embedding model of an Ollama server: prefixes, limits and norms are seen to here, since the server does not."""

from array import array
from collections.abc import Sequence
from math import isfinite, sqrt
from time import monotonic
from typing import TYPE_CHECKING, Final

from memchat.engine.host import Host
from memchat.engine.keep_alive import parse_keep_alive
from memchat.engine.ollama_server import CLEARED_SECONDS, Call, OllamaServer, encodable
from memchat.engine.prefixes import EmbeddingFamily, find_family
from memchat.engine.remote import PulledModel
from memchat.errors import EngineFailed, MemchatError, ModelMissing
from memchat.records import EmbedderCard, Vector
from memchat.text import estimate_tokens

if TYPE_CHECKING:
    from memchat.engine.line import Refused

DEFAULT_EMBED_MODEL: Final = "nomic-embed-text"
BATCH: Final = 64
_SECONDS: Final = 300.0  # a cold start reads the model from disk, and chat requests may be in front
_PROBE: Final = "memchat"  # embedded once to learn the dimensions; no text of the user
_SHORTEST: Final = 16  # characters below which a text refused as too long is not cut further
_SPECIAL_TOKENS: Final = 4  # begin, end and what a tokenizer adds around a prefix


class OllamaEmbedder:
    """An embedding model on one server. Building it connects to nothing; the first call checks that text stays here.

    Vectors are of L2 norm 1 whatever the server sends, in the order of the texts.
    """

    def __init__(
        self,
        host: Host | str | None,
        model: str = DEFAULT_EMBED_MODEL,
        *,
        keep_alive: str | int = "30m",
        allow_remote: Sequence[str] = (),
        seconds: float = _SECONDS,
    ) -> None:
        self.server = OllamaServer(host, allow_remote=allow_remote)
        self.model = model
        self.family: EmbeddingFamily = find_family(model)
        self._keep_alive = parse_keep_alive(keep_alive)
        self._seconds = seconds
        self._cleared: PulledModel | None = None
        self._cleared_at = 0.0
        self._card: EmbedderCard | None = None
        self._legacy = False  # the server is too old for /api/embed

    def card(self) -> EmbedderCard:
        """Say which model this is; embeds one fixed word the first time to see how long the vectors are."""
        if self._card is None:
            model = self._clear()
            length = len(self._embed_batch([self.family.document + _PROBE])[0])
            self._card = EmbedderCard(model.name, model.digest, length, self.family.scheme, self.family.languages)
        return self._card

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts as what is found. Blank texts are refused with ValueError; too long ones are cut."""
        return self._embed(self.family.document, texts)

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts as what is asked."""
        return self._embed(self.family.query, texts)

    def close(self) -> None:
        """Nothing is held between calls."""

    def _embed(self, prefix: str, texts: Sequence[str]) -> list[Vector]:
        if any(not text.strip() for text in texts):
            raise ValueError("a blank text has no meaning to embed")
        if not texts:
            return []
        limit = self._limit(prefix)
        dimensions = self.card().dimensions
        inputs = [prefix + _cut(encodable(text), limit) for text in texts]
        vectors: list[Vector] = []
        for start in range(0, len(inputs), BATCH):
            vectors += self._embed_batch(inputs[start : start + BATCH])
        if any(len(vector) != dimensions for vector in vectors):
            raise EngineFailed(f"{self.model} sent vectors of another length than before; try again.")
        return vectors

    def _limit(self, prefix: str) -> int:
        """Return how many tokens of one text are read, the prefix not counted."""
        context = self._clear().context or self.family.max_tokens
        return max(_SHORTEST, min(self.family.max_tokens, context) - estimate_tokens(prefix) - _SPECIAL_TOKENS)

    def _embed_batch(self, inputs: list[str]) -> list[Vector]:
        """Embed texts as they are. A batch refused as too long is halved, in the end its longest text."""
        from memchat.engine.ollama_errors import is_unknown_path

        result = self._exchange(inputs)
        if isinstance(result, list):
            return result
        if is_unknown_path(result):
            self._legacy = True
            return self._embed_batch(inputs)
        middle = len(inputs) // 2
        if not middle:
            return self._embed_batch([inputs[0][: len(inputs[0]) // 2]])
        return self._embed_batch(inputs[:middle]) + self._embed_batch(inputs[middle:])

    def _exchange(self, inputs: list[str]) -> "list[Vector] | Refused":
        """Return the vectors, or the refusal where there is something to be done about it."""
        from memchat.engine.line import Refused
        from memchat.engine.ollama_errors import is_too_long, is_unknown_path

        model = self._clear()
        try:
            with self._call(model) as call:
                try:
                    rows = self._ask_old(call, model, inputs) if self._legacy else self._ask(call, model, inputs)
                except Refused as refused:
                    shorter = is_too_long(refused) and (len(inputs) > 1 or len(inputs[0]) > self._shortest())
                    if not shorter and (self._legacy or not is_unknown_path(refused)):
                        raise
                    return refused
        except MemchatError:
            self._cleared = None  # whatever failed, another server may be there next time
            raise
        if len(rows) != len(inputs):
            raise EngineFailed(f"Ollama sent {len(rows)} vectors for {len(inputs)} texts; try again.")
        return [_unit(row, model.name) for row in rows]

    def _call(self, model: PulledModel) -> Call:
        return self.server.call(model.name, first=self._seconds, relay_allowed=bool(model.relayed_to))

    def _ask(self, call: Call, model: PulledModel, inputs: list[str]) -> Sequence[Sequence[float]]:
        # No num_ctx: what other programs use stays loaded, and every family's limit lies below any default.
        return call.client().embed(model.name, inputs, truncate=True, keep_alive=self._keep_alive).embeddings

    def _ask_old(self, call: Call, model: PulledModel, inputs: list[str]) -> Sequence[Sequence[float]]:
        client = call.client()
        return [client.embeddings(model.name, text, keep_alive=self._keep_alive).embedding for text in inputs]

    def _shortest(self) -> int:
        return 2 * (_SHORTEST + max(len(self.family.query), len(self.family.document)))

    def _clear(self) -> PulledModel:
        """Make sure, before any text is sent, that the model is here and embeds; remembered for some minutes."""
        if self._cleared is None or monotonic() - self._cleared_at > CLEARED_SECONDS:
            model = self.server.clear(self.model)
            if not model.embeds:
                raise ModelMissing(
                    f"The model {model.name} chats and cannot embed: choose one like {DEFAULT_EMBED_MODEL} "
                    "with --embed-model."
                )
            self._cleared, self._cleared_at = model, monotonic()
        return self._cleared


def _cut(text: str, tokens: int) -> str:
    """Return the beginning of `text` that is sure to fit, since a server cuts silently or refuses."""
    estimate = estimate_tokens(text)
    while estimate > tokens:
        text = text[: max(1, len(text) * tokens // estimate)]
        estimate = estimate_tokens(text)
    return text


def _unit(row: Sequence[float], model: str) -> Vector:
    """Return a row at L2 norm 1; one that has no direction would be near to everything or to nothing."""
    norm = sqrt(sum(x * x for x in row))
    if not isfinite(norm) or norm == 0:
        raise EngineFailed(f"The model {model} sent a vector that is empty or not finite; try again.")
    return array("f", (x / norm for x in row))
