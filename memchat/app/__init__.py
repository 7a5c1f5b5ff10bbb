"""The composition root: the only place that builds the objects and hands them on."""

import os.path
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Self

from memchat.app.engines import Engines
from memchat.errors import NotFound, StoreError
from memchat.paths import DEFAULT_USER, Paths, locate, memory_folder
from memchat.settings import Settings, Value, load_settings

if TYPE_CHECKING:  # late where they are used: a prompt needs none of them to stand, and most commands the file alone
    from tempfile import TemporaryDirectory

    from memchat.chat import Chat, ChatOptions, Mode
    from memchat.engine import ChatModel, Embedder
    from memchat.learn import Learner
    from memchat.records import EmbedderCard, Message, QueuedTurn, Session
    from memchat.store import Store


def utc_now() -> datetime:
    """Return the time as memchat keeps it."""
    return datetime.now(UTC)


class App:
    """One run of the program. Everything is opened at first use, since most commands need little of it."""

    def __init__(self, settings: Settings, paths: Paths, clock: Callable[[], datetime] = utc_now) -> None:
        self.settings = settings
        self.configured = settings  # as it was before this run changed anything
        self.paths = paths
        self.clock = clock
        self.engines = Engines(settings, paths.models, self._recorded_embedder)
        self.only_looks = False  # the command reads: it makes no memory file
        self.why_no_memory: str | None = None
        self._store: Store | None = None
        self._folder: TemporaryDirectory[str] | None = None  # of a store that is gone at the end
        self._learner: Learner | None = None
        self._chat: Chat | None = None
        self._cooled = False  # the model was used for something else than the chat

    @classmethod
    def build(cls, config: str | None, overrides: Mapping[str, Value], *, use_file: bool = True) -> Self:
        """Read the settings and say where things lie; raises ConfigError."""
        path = locate(config=config).config if use_file else None
        settings = load_settings(path)
        for key, value in overrides.items():
            settings = settings.with_values({key: value}, f"--{key.replace('_', '-')}")
        return cls(settings, locate(settings.text("db"), config, settings.text("user") or DEFAULT_USER))

    @property
    def has_store(self) -> bool:
        """Tell whether the memory file is open."""
        return self._store is not None

    @property
    def user(self) -> str:
        """Whose memories this run reads and writes."""
        return self.settings.text("user") or DEFAULT_USER

    @property
    def store(self) -> "Store":
        """The memory file of the main thread; raises StoreError when it cannot be used."""
        if self._store is None:
            told = self._tell_of_new_file()
            self._store = self._open_empty() or self.open_store()
            self._store.notices += told
        return self._store

    def _open_empty(self) -> "Store | None":
        """Return an empty store that is gone at the end, where a mere look would make a file of a mistyped name."""
        from tempfile import TemporaryDirectory

        from memchat.store import Store
        from memchat.store.location import examine_place, resolve

        if not self.only_looks or self.settings.origin("db") == "default":
            return None
        path = resolve(self.paths.db)
        examine_place(path)
        if path.exists():
            return None
        self._folder = TemporaryDirectory(prefix="memchat-", dir=memory_folder())
        return Store.open(Path(self._folder.name) / path.name, self.user)

    def _tell_of_new_file(self) -> list[str]:
        """Say that a file which somebody named is not there yet: the name may be mistyped."""
        path = self.paths.db
        if self.settings.origin("db") == "default" or os.path.exists(path):
            return []
        if self.only_looks:
            return [f"{path} is not there, so there is nothing in it; no file was made."]
        return [f"{path} is a new memory file" + (", in a new folder." if not os.path.isdir(path.parent) else ".")]

    def open_store(self, *, read_only: bool = False) -> "Store":
        """Open another connection, for another thread or only for a look."""
        from memchat.store import Store

        return Store.open(self.paths.db, self.user, read_only=read_only)

    def chat_model(self) -> "ChatModel":
        """Return the chat model, loading it at the first call."""
        return self.engines.chat()

    def embedder(self) -> "Embedder | None":
        """Return the file's embedder, or None when it is not to be had."""
        return self.engines.embedder()

    def change_setting(self, key: str, value: Value) -> None:
        """Set a value for this run only; None brings back what it began with."""
        if value is None:
            self.settings = self.settings.with_value(key, self.configured[key], self.configured.origin(key))
        else:
            self.settings = self.settings.with_value(key, value, "this run")

    def open_chat(self, *, mode: "Mode | None" = None, continue_: bool = False, resume: int | None = None) -> "Chat":
        """Begin or go on with a conversation, normally. A memory file that cannot be used leaves a chat without one."""
        from memchat.chat import Chat, Mode
        from memchat.recall import RecallOptions

        store = self._store_or_none() if resume is None and not continue_ else self.store
        session = self._session(store, continue_, resume)
        self._chat = Chat(
            store,
            self.chat_model,
            self.embedder,
            self.chat_options(),
            RecallOptions.of(self.settings),
            clock=self.clock,
            mode=mode or Mode.NORMAL,
            session=session,
        )
        self._chat.learning = self.settings.text("learn.mode") != "off"
        return self._chat

    def learner(self) -> "Learner":
        """Return the worker that learns in the background; the caller starts it."""
        from memchat.app.logs import start_log
        from memchat.learn import Learner, LearnOptions

        if self._learner is None:
            start_log(self.settings.text("log.level") or "off", self.paths.log)
            self._learner = Learner(
                self.open_store,
                self._model_for_learning,
                self.embedder,
                LearnOptions.of(self.settings),
                clock=self.clock,
                context=self._context_of,
            )
            self._learner.more_chores = (self._summarise, self._give_title, self._warm_again)
        return self._learner

    def close(self) -> None:
        """Stop the worker, free the models, close the file; may be called twice."""
        if self._learner is not None:
            self._learner.close()
        self.engines.close()
        if self._store is not None:
            self._store.close()
            self._store = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    # -- what keeps the chat's prompt in the engine's cache while others use the model

    def _model_for_learning(self) -> "ChatModel":
        self._cooled = True
        return self.chat_model()

    def _context_of(self, queued: "QueuedTurn") -> "Sequence[Message]":
        """Return the prompt for learning to ride on: an Ollama server may have one slot and no other cache."""
        chat = self._chat
        if chat is None or chat.session is None or chat.session.id != queued.turn.session:
            return ()
        if self.engines.choose().engine != "ollama":
            return ()  # the embedded engine puts the chat's state aside by itself
        return chat.settled_prefix() or ()

    def _warm_again(self, store: "Store", model: "Callable[[], ChatModel]", stop: Event) -> bool:
        """Have the model read the chat's prompt again after idle work with prompts of its own."""
        prefix = self._chat.settled_prefix() if self._chat is not None and self._cooled else None
        if prefix is not None:
            self.chat_model().warm_up(prefix, stop)
            self._cooled = False
        return False

    # -- idle work on conversations, in the learner's thread and with its store

    def _summarise(self, store: "Store", model: "Callable[[], ChatModel]", stop: Event) -> bool:
        from memchat.chat.idle import summarise

        waiting = self._chat.unsummarised() if self._chat and self.settings.flag("chat.summarise") else None
        return waiting is not None and summarise(store, model(), waiting, stop)

    def _give_title(self, store: "Store", model: "Callable[[], ChatModel]", stop: Event) -> bool:
        from memchat.chat.idle import give_title

        here = self._chat.session.id if self._chat and self._chat.session else None
        return self.settings.flag("chat.titles") and give_title(store, model, stop, here)

    def _store_or_none(self) -> "Store | None":
        try:
            return self.store
        except StoreError as error:
            self.why_no_memory = error.sentence
            return None

    def _session(self, store: "Store | None", continue_: bool, resume: int | None) -> "Session | None":
        if store is None:
            return None
        if resume is not None:
            return store.get_session(resume)
        if continue_:
            session = store.find_latest_session()
            if session is None:
                raise NotFound("There is no conversation to go on with yet.")
            return session
        return None

    def chat_options(self) -> "ChatOptions":
        """Return how a conversation is held, by the settings as they are now."""
        from memchat.chat import ChatOptions
        from memchat.learn import LearnOptions
        from memchat.records import Sampling

        settings = self.settings
        seed, top_k, min_p = settings["chat.seed"], settings["chat.top_k"], settings["chat.min_p"]
        return ChatOptions(
            num_ctx=settings.whole("chat.num_ctx"),
            sampling=Sampling(
                temperature=settings.number("chat.temperature"),
                top_p=settings.number("chat.top_p"),
                seed=seed if isinstance(seed, int) else None,
                max_tokens=settings.whole("chat.max_reply_tokens"),
                top_k=top_k if isinstance(top_k, int) else None,
                min_p=min_p if isinstance(min_p, int | float) else None,
                repeat_penalty=settings.number("chat.repeat_penalty"),
                thinking=settings.text("chat.thinking") != "off",
            ),
            system_prompt=settings.instructions(),
            show_thinking=settings.text("chat.thinking") in ("dim", "show"),
            learn=LearnOptions.of(settings),
        )

    def _recorded_embedder(self) -> "EmbedderCard | None":
        if not os.path.exists(self.paths.db):
            return None
        from memchat.store import Store

        try:  # a connection of its own, since any thread may be the first to need an embedder
            with Store.open(self.paths.db, self.user, read_only=True) as store:
                return store.embedder()
        except StoreError:
            return None
