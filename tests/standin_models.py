"""What the Ollama stand-in serves: models, scripted replies, and vectors that are the same on every run."""

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

Body = Mapping[str, object]
_GIB = 1 << 30
_PREFIX = re.compile(r"^(search_(query|document)|clustering|classification|query|passage): ")


@dataclass(frozen=True)
class StandInModel:
    """A model on the stand-in. `remote_host` makes it a stub, which any name may hide."""

    name: str
    capabilities: tuple[str, ...] = ("completion", "tools")
    size: int = 2 * _GIB
    parameters: str = "3.2B"
    context: int = 131072
    dimensions: int = 3072
    family: str = "llama"
    remote_host: str = ""
    remote_model: str = ""
    list_hides_it: bool = False  # only show tells that it is remote

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()

    @property
    def is_remote(self) -> bool:
        return bool(self.remote_host or self.remote_model)

    def remote_fields(self) -> dict[str, object]:
        fields = {"remote_model": self.remote_model, "remote_host": self.remote_host}
        return {key: value for key, value in fields.items() if value}


def embed_model(name: str = "nomic-embed-text:latest", dimensions: int = 768, context: int = 2048) -> StandInModel:
    return StandInModel(name, ("embedding",), 274_302_450, "137M", context, dimensions, "nomic-bert")


def thinking_model(name: str = "qwen3:4b") -> StandInModel:
    return StandInModel(name, ("completion", "tools", "thinking"), parameters="4B", family="qwen3")


def remote_stub(name: str = "harmless:latest", host: str = "https://ollama.com:443") -> StandInModel:
    return StandInModel(name, ("completion",), 384, "", 0, 0, "", host, "gpt-oss:120b")


def guess_model(name: str) -> StandInModel:
    """A model as its name suggests: an embedder, a cloud stub or a chat model."""
    tagged = name if ":" in name else f"{name}:latest"
    if tagged.endswith("cloud"):
        return remote_stub(tagged)
    dimensions = {"nomic-embed-text": 768, "embeddinggemma": 768, "all-minilm": 384}.get(tagged.partition(":")[0], 1024)
    if re.search(r"embed|minilm|bge", tagged):
        return embed_model(tagged, dimensions)
    return StandInModel(tagged)


Ending = Literal["done", "no_done", "error_line", "cut", "blank_line", "load", "hang"]


@dataclass(frozen=True)
class Reply:
    """A reply of the model. A text is streamed word by word, a list piece by piece; times are in seconds.

    `ends` other than "done" is a fault: a stream that closes without `done`, an error line, a cut connection, a blank
    line in the middle, an empty reply that only loaded the model, or silence until the client leaves.
    """

    text: str | Sequence[str] = ""
    thinking: str = ""
    first_token: float = 0.0  # math.inf never answers
    pause: float = 0.0
    ends: Ending = "done"
    error: str = "an error was encountered while running the model: unexpected EOF"
    done_reason: str = "stop"
    relay: str = ""  # a remote_host told only in the reply

    def pieces(self) -> list[str]:
        return re.findall(r"\s*\S+\s*$|\s*\S+", self.text) if isinstance(self.text, str) else list(self.text)


@dataclass(frozen=True)
class Failure:
    """An HTTP answer in place of a reply: an error as JSON, or a page of any type."""

    status: int = 500
    error: str = ""
    page: str | None = None
    page_type: str = "text/html"


Scripted = str | Sequence[str] | Mapping[str, object] | Reply | Failure
Script = Sequence[Scripted] | Callable[[Body], Scripted]


def count_tokens(text: str) -> int:
    """Words and marks, which is near enough to a tokenizer."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def cut_tokens(text: str, limit: int) -> str:
    ends = [match.end() for match in re.finditer(r"\w+|[^\w\s]", text)]
    return text if len(ends) <= limit else text[: ends[limit - 1]] if limit > 0 else ""


def hash_vector(text: str, dimensions: int) -> list[float]:
    """A unit vector from the words of `text`, task prefix aside: texts that share words are near to each other."""
    sums = [0.0] * dimensions
    for word in re.findall(r"\w+", _PREFIX.sub("", text).casefold()) or [text]:
        seed = hashlib.sha256(word.encode("utf-8", "replace")).digest()
        for place in range(8):
            sums[int.from_bytes(seed[2 * place : 2 * place + 2]) % dimensions] += 1.0 if seed[16 + place] % 2 else -1.0
    norm = math.sqrt(sum(x * x for x in sums))
    if norm == 0:
        sums[0] = norm = 1.0
    return [x / norm for x in sums]


def now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def fill_schema(schema: object) -> object:
    """The smallest value that a JSON schema allows: what a model answers that finds nothing to say."""
    if not isinstance(schema, Mapping):
        return {}
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: fill_schema(properties[name]) for name in schema.get("required", ()) if name in properties}
    return {"array": [], "string": "", "integer": 0, "number": 0, "boolean": False, "null": None}.get(str(kind), {})
