"""Embedding families: what a model wants in front of a question and of a document, and how much it reads.

Ollama adds no prefix by itself. Vectors made under different schemes must never be compared, so a scheme has a name,
which changes when a prefix does. Sources: the models' cards.
"""

from dataclasses import dataclass
from typing import Final, Literal

Languages = Literal["english", "multilingual", "unknown"]


@dataclass(frozen=True, slots=True)
class EmbeddingFamily:
    """How to use the embedding models whose name begins with `begins`. `max_tokens` is what is read of one text."""

    begins: str
    scheme: str
    query: str
    document: str
    max_tokens: int
    dimensions: int  # 0 where sizes of the family differ
    languages: Languages


_RETRIEVE: Final = "Represent this sentence for searching relevant passages: "
_QWEN3: Final = "Instruct: Given a question, find the notes about this person that answer it\nQuery:"
_GEMMA: Final = ("task: search result | query: ", "title: none | text: ")
_UNKNOWN: Final = EmbeddingFamily("", "none", "", "", 512, 0, "unknown")

# The first row whose beginning fits counts, so the longer beginnings stand first.
FAMILIES: Final = (
    EmbeddingFamily("nomic-embed-text-v2", "nomic", "search_query: ", "search_document: ", 512, 768, "multilingual"),
    EmbeddingFamily("nomic-embed-text", "nomic", "search_query: ", "search_document: ", 2048, 768, "english"),
    EmbeddingFamily("embeddinggemma", "gemma", *_GEMMA, 2048, 768, "multilingual"),
    EmbeddingFamily("mxbai-embed-large", "retrieve", _RETRIEVE, "", 512, 1024, "english"),
    EmbeddingFamily("all-minilm", "none", "", "", 256, 384, "english"),
    EmbeddingFamily("paraphrase-multilingual", "none", "", "", 128, 0, "multilingual"),
    EmbeddingFamily("qwen3-embedding", "qwen3-notes", _QWEN3, "", 2048, 0, "multilingual"),
    EmbeddingFamily("bge-m3", "none", "", "", 2048, 1024, "multilingual"),
    EmbeddingFamily("bge-", "retrieve", _RETRIEVE, "", 512, 0, "english"),
    EmbeddingFamily("snowflake-arctic-embed2", "query", "query: ", "", 2048, 1024, "multilingual"),
    EmbeddingFamily("snowflake-arctic-embed-l-v2", "query", "query: ", "", 2048, 1024, "multilingual"),
    EmbeddingFamily("snowflake-arctic-embed", "retrieve", _RETRIEVE, "", 512, 0, "english"),
    EmbeddingFamily("multilingual-e5", "e5", "query: ", "passage: ", 512, 0, "multilingual"),
    EmbeddingFamily("e5-", "e5", "query: ", "passage: ", 512, 0, "english"),
    EmbeddingFamily("granite-embedding", "none", "", "", 512, 0, "multilingual"),
)


def find_family(model: str) -> EmbeddingFamily:
    """Return the family of a model name with or without namespace and tag; an unknown one gets no prefixes."""
    stem = model.strip().casefold().rpartition("/")[2].partition(":")[0]
    return next((family for family in FAMILIES if stem.startswith(family.begins)), _UNKNOWN)


def language_note(family: EmbeddingFamily) -> str:
    """Return what to tell someone whose memories are not in English, "" where nothing is lost."""
    if family.languages != "english":
        return ""
    return (
        f"{family.begins} is made for English and finds memories in other languages badly; "
        "embeddinggemma and bge-m3 know many languages (`memchat reindex` changes the model of a file)."
    )
