"""One conversation: each turn goes window → recall → stream → hand over to learning."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Event
from time import perf_counter

from memchat.chat.attaching import as_seen, refuse_unseen
from memchat.chat.draft import Draft
from memchat.chat.events import Attachment, Finished, Mode, Notice, Recalled, TurnEvent, TurnResult
from memchat.chat.hints import command_hint
from memchat.chat.idle import Unsummarised
from memchat.chat.keeping import Keeping
from memchat.chat.private import separate
from memchat.chat.standing import Profile
from memchat.chat.stored import Newest, stored_exchanges, stored_reply
from memchat.chat.tracing import trace_turn
from memchat.chat.window import PICTURE_TOKENS, Exchange, Window
from memchat.engine import ChatModel, Embedder
from memchat.errors import MemchatError, NotFound, PromptTooLong, StoreError, UsageError
from memchat.learn import LearnOptions
from memchat.prompts import user_message, with_summary
from memchat.recall import RecallOptions, recall, second_look
from memchat.records import Message, Recall, Role, Sampling, Session
from memchat.store import Store
from memchat.text import counted

_REPLY_MARGIN = 64  # tokens kept free for role marks and the template's own text


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How a conversation is held; token numbers are sizes of the context window and of the longest reply."""

    num_ctx: int = 8192
    sampling: Sampling = field(default_factory=Sampling)
    system_prompt: str | None = None
    show_thinking: bool = False
    learn: LearnOptions = field(default_factory=LearnOptions)


class Chat:
    """A conversation with its window, its frozen profile and its mode.

    `store` is None when there is no memory to use (the file cannot be read): the chat goes on without.
    """

    def __init__(
        self,
        store: Store | None,
        model: Callable[[], ChatModel],
        embedder: Callable[[], Embedder | None],
        options: ChatOptions,
        recall_options: RecallOptions,
        *,
        clock: Callable[[], datetime],
        mode: Mode = Mode.NORMAL,
        session: Session | None = None,
    ) -> None:
        self.store = store
        self.options = options
        self.recall_options = recall_options
        self.mode = mode
        self.session = session
        self.learning = True
        self.last: TurnResult | None = None
        self._model = model
        self._embedder = embedder
        self._clock = clock
        self._window: Window | None = None
        self._profile: Profile | None = None
        self._summary: str | None = None
        self._newest: Newest | None = None
        self._keeping = Keeping(store) if store is not None else None

    @property
    def model(self) -> ChatModel:
        """The chat model; loads it when it is not loaded yet."""
        return self._model()

    def turn(
        self, text: str, stop: Event, attachments: Sequence[Attachment] = (), *, instead: bool = False
    ) -> Iterator[TurnEvent]:
        """Yield what happens from the message to the end of the reply; `stop` ends the reply and keeps what came.

        With `instead` it takes the place of the newest exchange, in the context, in the file and for learning.
        Raises EngineError when the model fails; the message and what came of the reply are kept as interrupted.
        """
        draft = Draft(separate(text), perf_counter(), self._clock())
        if not draft.typed.spoken.strip():
            raise UsageError("There is nothing in the message.")
        yield from self._open(draft, instead)
        draft.recall = yield from self._recall(draft, stop)
        yield Recalled(draft.recall)
        try:
            prompt = yield from self._prompt(draft, attachments)
            yield from self._stream(draft, prompt, stop)
        except MemchatError:
            yield from self._close(draft)
            raise
        yield from self._close(draft)
        assert self.last is not None
        trace_turn(self.last)
        yield Finished(self.last)

    def prompt_prefix(self) -> list[Message]:
        """Return the system prompt and the window, as the next turn will begin."""
        return [Message(Role.SYSTEM, self._system()), *self._get_window().messages()]

    def last_prompt(self, block: str) -> list[Message]:
        """Return the prompt of the newest turn, with another memory block in the place of its own.

        Raises UsageError when that turn is no longer in the conversation.
        """
        shown = self._get_window().shown
        if not shown or self.last is None or shown[-1].turn != self.last.turn:
            raise UsageError("The last exchange is no longer in this conversation.")
        *before, newest = shown
        earlier = [message for exchange in before for message in exchange.messages()]
        asked = replace(user_message(newest.user_text, block=block), images=newest.images)
        return [Message(Role.SYSTEM, self._system()), *earlier, asked]

    def settled_prefix(self) -> list[Message] | None:
        """Return `prompt_prefix` where nothing has to be read from the file for it, else None: for other threads."""
        return self.prompt_prefix() if self._profile is not None and self._window is not None else None

    def profile(self) -> Profile:
        """Return the profile as it stands in the system prompt of this session."""
        if self._profile is None:
            try:
                self._profile = Profile.build(self._readable(), self.recall_options, self._clock())
            except StoreError:
                return Profile(())  # the file cannot be read now: the next turn looks again
        return self._profile

    def forget(self, quotes: Callable[[str], bool]) -> None:
        """Drop what was erased, and every turn that `quotes` it, from the live context; rebuild the profile."""
        self._get_window().drop(lambda turn: quotes(turn.user_text) or quotes(turn.reply))
        if self._keeping is not None:
            self._keeping.drop()
        self._follow_erasing()
        self._profile = self._summary = self._newest = None

    def settle(self) -> int:
        """Write down what the file did not take at once, before the end; return how many turns are lost."""
        if self._keeping is None:
            return 0
        self.session = self._keeping.catch_up(self.session, self.learning)
        return self._keeping.waiting

    def abandon(self) -> None:
        """Take the newest message back if it got no answer: nobody will go on there to try again."""
        newest = self._look_back()
        if self._keeping is not None and newest.turn is not None and not newest.answered:
            self._keeping.abandon(newest.turn)

    def refresh_profile(self) -> None:
        """Rebuild the profile before the next turn, after the user's own edit or a forget."""
        self._profile = None

    def said_last(self) -> str:
        """Return what was kept of the newest message, "" when nothing was said yet or it was erased."""
        return self._look_back().said

    def replied_last(self) -> str:
        """Return the newest reply: of this chat, else as it was kept of the conversation it goes on with."""
        return self.last.reply if self.last and self.last.reply else stored_reply(self.store, self.session)

    def unsummarised(self) -> Unsummarised | None:
        """Return the turns out of sight that the running summary lacks, None when there are none.

        May be called from another thread: it only reads what the newest turn has left.
        """
        window, session = self._window, self.session
        if window is None or session is None or not window.start:
            return None
        return Unsummarised.among(window.dropped, session)

    # -- the stages of a turn

    def _open(self, draft: Draft, instead: bool) -> Iterator[TurnEvent]:
        from memchat.learn import explicit_request  # late: the prompt need not wait for the grammar of wishes

        typed = draft.typed
        if typed.left_out:
            yield Notice(f"Not written down: {', '.join(typed.left_out)}.")
        wish = explicit_request(typed.kept)
        draft.kept = self.store is not None and not self.store.read_only and self.mode is Mode.NORMAL
        if wish is not None and not draft.kept:
            yield Notice(f"Not saved: {self._why_not_saved()}.")
        try:
            yield from self._offer_command(typed.kept)
            self._follow_erasing()
            if instead:
                self._make_room(draft)
            if draft.kept:
                yield from self._begin(draft, wish)
        except StoreError as error:
            yield Notice(f"This is not written down yet. {error.sentence}")

    def _offer_command(self, text: str) -> Iterator[TurnEvent]:
        store = self._readable()
        hint = command_hint(store, text) if store is not None else None
        if hint is not None:
            yield Notice(hint)

    def _begin(self, draft: Draft, wish: str | None) -> Iterator[TurnEvent]:
        assert self._keeping is not None
        self.session = self._keeping.catch_up(self.session, self.learning)
        self.session = self._keeping.begin(self.session, draft)
        yield from self._tell_withdrawn(draft)
        if wish is not None and not draft.again:
            yield from self._save_wish(draft, wish)

    def _look_back(self) -> Newest:
        return self._newest or Newest.stored(self.store, self.session)

    def _make_room(self, draft: Draft) -> None:
        """Have the draft take the place of the newest exchange, which leaves the live context."""
        newest, window = self._look_back(), self._get_window()
        draft.instead, draft.again = newest.turn, newest.said == draft.typed.kept
        if newest.answered and window.exchanges and window.exchanges[-1].turn == newest.turn:
            draft.replaced = window.remove_last()
        if draft.kept and self._keeping is not None:
            self._keeping.withdraw(newest.turn)

    def _tell_withdrawn(self, draft: Draft) -> Iterator[TurnEvent]:
        for change in draft.taken_back:
            if change.action == "added":
                yield Notice(f"No longer known, as you took it back: {change.after['text']}")
        if draft.taken_back:
            self._follow_erasing()  # the profile may quote it

    def _follow_erasing(self) -> None:
        """Drop from the live context what was erased, also by another process: turns, and memories of the profile."""
        store = self._readable()
        if store is None or self._keeping is None:
            return
        window = self._get_window()
        erased = self._keeping.erased([turn.turn for turn in window.exchanges if turn.turn is not None])
        if erased:
            window.drop(lambda turn: turn.turn in erased)
            self._summary = None
        if self._profile is not None and self._profile.has_lost(store):
            self._profile = None

    def _readable(self) -> Store | None:
        """Return the store where this chat may read it."""
        return None if self.mode is Mode.INCOGNITO else self.store

    def _why_not_saved(self) -> str:
        if self.store is None:
            return "there is no memory file in use"
        return "the memory file cannot be written" if self.mode is Mode.NORMAL else f"this chat is {self.mode.value}"

    def _save_wish(self, draft: Draft, wish: str) -> Iterator[TurnEvent]:
        from memchat.learn import store_explicit

        assert self.store is not None
        assert draft.turn is not None
        outcome = store_explicit(self.store, wish, draft.turn, draft.now, self.options.learn)
        draft.saved = outcome.saved
        yield from (Notice(sentence) for sentence in outcome.sentences)

    def _recall(self, draft: Draft, stop: Event) -> Generator[TurnEvent, None, Recall]:
        query, store = draft.typed.kept, self._readable()
        if store is None:
            return Recall(query, "", None, None, (), "", 0)
        try:
            shown = self._get_window().shown
            return recall(
                store,
                self._embedder(),
                query,
                self.recall_options,
                draft.now,
                previous=shown[-1].user_text if shown else None,
                profile=self.profile().entries,
                look=second_look(self._model, stop),
            )
        except StoreError as error:
            yield Notice(f"Nothing is recalled for this reply. {error.sentence}")
            return Recall(query, "", None, None, (), "", 0)

    def _prompt(self, draft: Draft, attachments: Sequence[Attachment]) -> Generator[TurnEvent, None, list[Message]]:
        assert draft.recall is not None
        card = self.model.card()
        draft.model, draft.images = card.model, tuple(one.image for one in attachments if one.image)
        if draft.images:
            refuse_unseen(card)
        window = self._get_window()
        note = self._read_news()
        material = [(a.name, a.content) for a in attachments]
        newest = user_message(draft.typed.spoken, block=draft.recall.block, attachments=material, note=note)
        newest = replace(newest, images=draft.images)
        draft.shown_later = user_message(draft.typed.spoken, attachments=material).content
        fixed = self._count(self._system()) + self._count(newest.content) + PICTURE_TOKENS * len(draft.images)
        draft.size = self._context_size()
        left = window.fit(draft.size - self.options.sampling.max_tokens - _REPLY_MARGIN - fixed)
        if left:
            turns = counted(left, "oldest turn is", "oldest turns are")
            yield Notice(f"The conversation is long: the {turns} out of the model's sight now.")
        draft.used = fixed + window.tokens()
        return [*self.prompt_prefix(), newest]

    def _stream(self, draft: Draft, prompt: list[Message], stop: Event) -> Iterator[TurnEvent]:
        for attempt in (1, 2):
            try:
                for chunk in self.model.stream(as_seen(prompt, self.model.card()), self.options.sampling, stop):
                    yield from draft.take(chunk, show_thinking=self.options.show_thinking)
                return
            except PromptTooLong:
                # The engine counts differently from us: give it half the window once, then tell the user.
                if attempt == 2 or draft.reply or not len(self._get_window().shown):
                    raise
                self._get_window().fit(self._get_window().tokens() // 2)
                prompt = [*self.prompt_prefix(), prompt[-1]]

    def _close(self, draft: Draft) -> Iterator[TurnEvent]:
        """Write down how the turn ended, and take it up into the live context."""
        if draft.kept and self._keeping is not None:
            try:
                self.session = self._keeping.finish(self.session, draft, self.learning)
            except StoreError as error:
                yield Notice(f"This reply is not written down yet. {error.sentence}")
        if draft.reply:
            turn = draft.turn.id if draft.turn else None
            self._get_window().add(Exchange(turn, draft.shown_later, draft.reply, draft.images))
        stands = draft.replaced if draft.again and not draft.reply else None  # the former answer, for want of another
        if stands is not None:
            self._get_window().add(stands)
        self.last = draft.result(self.session)
        self._newest = Newest(self.last.turn, draft.typed.kept, bool(draft.reply or stands))

    # -- pieces of the prompt

    def _system(self) -> str:
        return with_summary(self.profile().system_text(self.options.system_prompt, self._clock()), self._summary)

    def _context_size(self) -> int:
        trained = self.model.card().context
        return min(self.options.num_ctx, trained) if trained else self.options.num_ctx

    def _count(self, text: str) -> int:
        return self.model.count_tokens(text)

    def _get_window(self) -> Window:
        if self._window is None:
            self._window = Window(self._count, stored_exchanges(self.store, self.session))
        return self._window

    def _read_news(self) -> str:
        """Take over a summary that was written meanwhile, and return what has changed since the profile was frozen."""
        store = self._readable()
        if store is None:
            return ""
        try:
            if self.session is not None and self._get_window().start:  # the turns in sight need no summary
                self.session = store.get_session(self.session.id)
                self._summary = self.session.summary
            return self.profile().correction(store)
        except (StoreError, NotFound):  # told already; the conversation may have been erased meanwhile
            return ""
