"""Which engines this run uses: chosen at first use, kept for the run, shared by the threads."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Final

from memchat.errors import EngineError, EngineUnreachable, MemchatError, ModelMissing
from memchat.settings import Settings

if TYPE_CHECKING:
    from memchat.engine import ChatModel, Embedder
    from memchat.engine.host import Host
    from memchat.records import EmbedderCard

_LOG: Final = logging.getLogger(__name__)
EMBEDDED_EMBEDDER: Final = "all-MiniLM-L6-v2"  # how the embedded embedder calls itself in memory files


@dataclass(frozen=True, slots=True)
class Choice:
    """The engine that answers, and for Ollama the name of its model."""

    engine: str  # ollama | embedded
    model: str | None = None


class Engines:
    """The chat model and the embedder of this run.

    `recorded` tells which embedder the memory file belongs to: that one is used for it, whatever answers the chat.
    """

    def __init__(self, settings: Settings, models: Path, recorded: "Callable[[], EmbedderCard | None]") -> None:
        self._settings = settings
        self._models = models
        self._recorded = recorded
        # one lock each: loading a chat model takes seconds, and the embedder must not wait for it
        self._choosing, self._chatting, self._embedding = RLock(), RLock(), RLock()
        self._choice: Choice | None = None
        self._chat: ChatModel | None = None
        self._embedder: Embedder | None = None
        self._embedder_tried = False
        self.why_no_embedder: str | None = None

    def choose(self) -> Choice:
        """Return what answers the chat; raises EngineError with what to do when nothing can."""
        with self._choosing:
            if self._choice is None:
                self._choice = self._choose()
                _LOG.info("engine %s, model %s", self._choice.engine, self._choice.model or "its own")
            return self._choice

    def chat(self) -> "ChatModel":
        """Return the chat model, loading it at the first call."""
        with self._chatting:
            if self._chat is None:
                self._chat = self._open_chat(self.choose())
            return self._chat

    def switch(self, model: str) -> "ChatModel":
        """Go over to another chat model by name; the old one is kept when that fails."""
        with self._chatting:
            choice = self._named(model)
            opened = self._open_chat(choice)
            if self._chat is not None:
                self._chat.close()
            self._choice, self._chat = choice, opened
            return opened

    def choose_again(self) -> None:
        """Forget what was chosen, since setup has changed what there is."""
        self.close()
        with self._choosing, self._embedding:
            self._choice, self._embedder_tried, self.why_no_embedder = None, False, None

    def embedder(self) -> "Embedder | None":
        """Return the memory file's embedder; None where it is not to be had, and `why_no_embedder` says why."""
        with self._embedding:
            if not self._embedder_tried:
                self._embedder_tried = True
                try:
                    self._embedder = self._open_embedder(self._embedder_name(), self._dimensions())
                except EngineUnreachable:
                    self.why_no_embedder = "There is no embedding model at hand: `memchat setup` gets one."
                except MemchatError as error:
                    self.why_no_embedder = error.sentence
            return self._embedder

    def embedder_name(self) -> str | None:
        """Return the name of the embedder for this file, whether it is to be had or not; None when nothing says."""
        try:
            return self._embedder_name()
        except MemchatError:
            return None

    def reachable_embedder(self) -> "Embedder | None":
        """Return the embedder if it answers now, else None."""
        embedder = self.embedder()
        try:
            if embedder is not None:
                embedder.card()
        except EngineError:
            return None
        return embedder

    def wanted_embedder(self) -> "Embedder":
        """Return the embedder that the settings ask for, whatever the file was made with: for `reindex`.

        Raises EngineError when it is not to be had.
        """
        return self._open_embedder(self.asked_embedder() or self._embedder_name(), self._asked_dimensions())

    def asked_embedder(self) -> str | None:
        """Return the name of the embedder that the settings ask for; None where they leave the choice open."""
        wanted = self._settings.text("embed_model")
        return None if wanted is None else _full_name(wanted)

    def close(self) -> None:
        """Free both models."""
        with self._chatting, self._embedding:
            for model in (self._chat, self._embedder):
                if model is not None:
                    model.close()
            self._chat = self._embedder = None

    # -- choosing

    def _choose(self) -> Choice:
        wanted = self._settings.text("engine")
        if wanted == "ollama":
            return self._choose_ollama()
        if wanted == "embedded":
            return Choice("embedded")
        try:
            return self._choose_ollama()
        except EngineError as error:
            if self._settings.text("model") is None and self._embedded_chat_there():
                return Choice("embedded")
            if isinstance(error, ModelMissing):
                raise
            raise EngineUnreachable(_nothing_there(error.sentence)) from None

    def _choose_ollama(self) -> Choice:
        from memchat.engine.ollama import OllamaServer, choose_chat_model, probe

        state = probe(self._host(), allow_remote=self._allowed())
        if not state.running:
            raise EngineUnreachable(state.problem)
        server = OllamaServer(self._host(), allow_remote=self._allowed())
        return Choice("ollama", choose_chat_model(server, self._settings.text("model")))

    def _named(self, model: str) -> Choice:
        if self.choose().engine == "embedded":
            return Choice("embedded", model)
        from memchat.engine.ollama import OllamaServer, choose_chat_model

        return Choice("ollama", choose_chat_model(OllamaServer(self._host(), allow_remote=self._allowed()), model))

    def _embedded_chat_there(self) -> bool:
        from memchat.engine.packs import has_chat

        return has_chat(self._models, self._settings.text("embedded.chat") or "standard")

    def _embedder_name(self) -> str:
        recorded = self._recorded()
        if recorded is not None:
            return recorded.model
        asked = self.asked_embedder()
        if asked is not None:
            return asked
        if self.choose().engine == "ollama":
            found = self._pulled_embedder()
            if found is not None:
                return found
        return EMBEDDED_EMBEDDER

    def _pulled_embedder(self) -> str | None:
        """Return the server's default embedding model, None where it is not pulled but the embedded one is there."""
        from memchat.engine.ollama import DEFAULT_EMBED_MODEL, OllamaServer
        from memchat.engine.packs import has_embedder
        from memchat.engine.remote import find_model

        models = OllamaServer(self._host(), allow_remote=self._allowed()).models()
        if find_model(models, DEFAULT_EMBED_MODEL) is None and has_embedder(self._models):
            return None
        return DEFAULT_EMBED_MODEL

    # -- opening

    def _open_chat(self, choice: Choice) -> "ChatModel":
        settings = self._settings
        if choice.engine == "embedded":
            from memchat.engine.embedded import open_chat

            threads = settings["embedded.threads"]
            return open_chat(
                self._models,
                choice.model or settings.text("embedded.chat") or "standard",
                num_ctx=settings.whole("chat.num_ctx"),
                threads=threads if isinstance(threads, int) else None,
            )
        from memchat.engine.ollama import OllamaChat

        return OllamaChat(
            self._host(),
            choice.model or "",
            num_ctx=settings.whole("chat.num_ctx"),
            keep_alive=settings.text("chat.keep_alive") or "30m",
            allow_remote=self._allowed(),
        )

    def _dimensions(self) -> int | None:
        """Return how long the vectors of this file are; for a new file what the settings ask for, if anything."""
        recorded = self._recorded()
        return recorded.dimensions if recorded is not None else self._asked_dimensions()

    def _asked_dimensions(self) -> int | None:
        asked = self._settings["embed_dimensions"]
        return asked if isinstance(asked, int) else None

    def _open_embedder(self, name: str, dimensions: int | None) -> "Embedder":
        embedder = self._open_whole(name)
        if dimensions is None:
            return embedder
        from memchat.engine.shortened import ShortenedEmbedder

        return ShortenedEmbedder(embedder, dimensions)

    def _open_whole(self, name: str) -> "Embedder":
        if name == EMBEDDED_EMBEDDER:
            from memchat.engine.embedded import open_embedder

            return open_embedder(self._models)
        from memchat.engine.ollama import OllamaEmbedder

        keep_alive = self._settings.text("chat.keep_alive") or "30m"
        return OllamaEmbedder(self._host(), name, keep_alive=keep_alive, allow_remote=self._allowed())

    def _host(self) -> "Host":
        from memchat.engine.host import parse_host

        origin = self._settings.origin("host")
        return parse_host(self._settings.text("host"), origin)

    def _allowed(self) -> tuple[str, ...]:
        return self._settings.words("allow_remote")


def _full_name(name: str) -> str:
    """Return the embedder's name in memory files; the embedded one has short names too."""
    return EMBEDDED_EMBEDDER if name.lower() in ("embedded", "minilm", EMBEDDED_EMBEDDER.lower()) else name


def _nothing_there(problem: str) -> str:
    return (
        f"There is no model to talk with. {problem}\n"
        "With Ollama: get it from ollama.com, start it, then run `memchat setup`.\n"
        "Without: run `memchat setup`, which fetches a small model that runs inside memchat (1.2 GB)."
    )
