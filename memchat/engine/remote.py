"""Which models an Ollama server would relay to another machine, told from what the server lists, not from names alone.

Works on the raw answers of /api/tags and /api/show: the official client drops the fields that give a relay away.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memchat.engine.host import host_of
from memchat.errors import PrivacyRefusal
from memchat.text import one_line

CLOUD_HOST: Final = "ollama.com"
_SMALLEST_MODEL: Final = 1_000_000  # bytes: weights are larger, the stub of a remote model has a few hundred
_DEFAULT_PREFIXES: Final = ("registry.ollama.ai/library/", "registry.ollama.ai/", "library/")
_UNITS: Final = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


@dataclass(frozen=True, slots=True)
class PulledModel:
    """A model that a server lists. Numbers are 0 and texts "" where the server does not tell."""

    name: str  # always with its tag
    digest: str = ""
    size: int = 0  # bytes on disk
    parameters: float = 0.0
    context: int = 0  # tokens it was trained for
    dimensions: int = 0  # of its embedding vectors
    family: str = ""
    format: str = ""
    capabilities: frozenset[str] = frozenset()  # empty: not told (servers before 0.30 tell only in show)
    relayed_to: str = ""  # host that answers in its place

    @property
    def embeds(self) -> bool:
        """Tell whether it makes vectors; a model that tells no capabilities may."""
        return not self.capabilities or "embedding" in self.capabilities

    @property
    def chats(self) -> bool:
        """Tell whether it writes text; a model that tells no capabilities may."""
        return not self.capabilities or "completion" in self.capabilities


def full_name(name: str) -> str:
    """Return a model name as it is compared: lower case, with its tag, without the default registry."""
    name = name.strip().casefold()
    for prefix in _DEFAULT_PREFIXES:
        name = name.removeprefix(prefix)
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def names_cloud(name: str) -> bool:
    """Tell whether a server sends requests for this name to the cloud, whatever it has pulled."""
    _, colon, tag = name.strip().casefold().rpartition(":")
    return bool(colon) and (tag == "cloud" or (tag.endswith("-cloud") and "/" not in tag))


def find_model(models: Sequence[PulledModel], name: str) -> PulledModel | None:
    """Return the listed model of that name, compared whole and with `:latest` filled in."""
    wanted = full_name(name)
    return next((model for model in models if full_name(model.name) == wanted), None)


def read_tag(entry: object) -> PulledModel | None:
    """Read one entry of /api/tags; None for an entry without a name."""
    if not isinstance(entry, Mapping):
        return None
    name = _word(entry, "name") or _word(entry, "model")
    if not name:
        return None
    details = _table(entry, "details")
    parameters = _parameters(_word(details, "parameter_size"))
    model = PulledModel(
        name=name,
        digest=_word(entry, "digest").removeprefix("sha256:"),
        size=_whole(entry, "size"),
        parameters=parameters,
        context=_whole(details, "context_length"),
        dimensions=_whole(details, "embedding_length"),
        family=_word(details, "family"),
        format=_word(details, "format"),
        capabilities=_words(entry, "capabilities"),
    )
    return replace(model, relayed_to=_relay(entry) or _relay_by_looks(model))


def add_shown(model: PulledModel, shown: Mapping[str, object]) -> PulledModel:
    """Return the model with what /api/show tells beyond the list."""
    facts = _table(shown, "model_info")
    architecture = _word(facts, "general.architecture")
    return replace(
        model,
        context=model.context or _whole(facts, f"{architecture}.context_length"),
        dimensions=model.dimensions or _whole(facts, f"{architecture}.embedding_length"),
        parameters=model.parameters or float(_whole(facts, "general.parameter_count")),
        capabilities=model.capabilities or _words(shown, "capabilities") or _guessed(facts, architecture),
        relayed_to=model.relayed_to or _relay(shown),
    )


def relay_in(reply: Mapping[str, object]) -> str:
    """Return the host that a reply says it came from, "" for the server itself."""
    return _relay(reply)


def check_relay(name: str, relayed_to: str, allow_remote: Sequence[str]) -> None:
    """Raise PrivacyRefusal when a model is relayed elsewhere and the user has named neither it nor that host."""
    if not relayed_to or names_relay(name, relayed_to, allow_remote):
        return
    raise PrivacyRefusal(
        f"The model {one_line(name)[:80]} does not run on this machine: Ollama would send your text to "
        f"{one_line(relayed_to)[:80]}. Choose a model that is here (`ollama list`), or add "
        f"{one_line(name)[:80]!r} to allow_remote if you want that."
    )


def names_relay(name: str, relayed_to: str, allow_remote: Sequence[str]) -> bool:
    """Tell whether an entry of `allow_remote` names this model or the host it is relayed to."""
    entries = {entry.strip().casefold() for entry in allow_remote}
    return relayed_to.casefold() in entries or full_name(name) in {full_name(entry) for entry in entries}


def _relay(answer: Mapping[str, object]) -> str:
    told = _word(answer, "remote_host")
    if told:
        return host_of(told) or told
    return CLOUD_HOST if answer.get("remote_model") else ""


def _relay_by_looks(model: PulledModel) -> str:
    """A stub has no weights: a few hundred bytes and no file format. An unknown relay counts as the cloud."""
    stub = model.size < _SMALLEST_MODEL or not model.format
    return CLOUD_HOST if stub or names_cloud(model.name) else ""


def _guessed(facts: Mapping[str, object], architecture: str) -> frozenset[str]:
    """Servers before 0.6.4 tell no capabilities, but a pooling type marks an embedding model."""
    return frozenset({"embedding"}) if f"{architecture}.pooling_type" in facts else frozenset()


def _parameters(text: str) -> float:
    """Read "7.6B", "494.03M" or "8x7B" as a number of parameters, 0 where it cannot be read."""
    match = re.fullmatch(r"(?:(\d{1,3})x)?(\d{1,6}(?:\.\d{1,6})?)\s?([kmbt]?)", text.strip().lower())
    return float(match[1] or 1) * float(match[2]) * _UNITS[match[3]] if match else 0.0


def _word(table: Mapping[str, object], key: str) -> str:
    value = table.get(key)
    return one_line(value) if isinstance(value, str) else ""


def _whole(table: Mapping[str, object], key: str) -> int:
    value = table.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _words(table: Mapping[str, object], key: str) -> frozenset[str]:
    value = table.get(key)
    return frozenset(item for item in value if isinstance(item, str)) if isinstance(value, list) else frozenset()


def _table(table: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = table.get(key)
    return value if isinstance(value, Mapping) else {}
