"""A chat model of an Ollama server: streams replies, answers JSON schemas, warms up.

The same `num_ctx` goes with every call, since another value makes the server load the model anew.
"""

from base64 import b64decode
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Final

from memchat.engine import JsonSchema
from memchat.engine.host import Host
from memchat.engine.keep_alive import parse_keep_alive
from memchat.engine.ollama_server import CLEARED_SECONDS, Call, OllamaServer, encodable
from memchat.engine.remote import PulledModel
from memchat.engine.sampling import drawing_options
from memchat.engine.thinking import Sorted, ThinkingSorter, may_reason_unmarked
from memchat.errors import Cancelled, EngineFailed, MemchatError, ModelMissing, UsageError
from memchat.records import ChatCard, Chunk, Done, Message, Sampling
from memchat.text import estimate_tokens

if TYPE_CHECKING:
    from ollama import ChatResponse

FIRST_TOKEN_SECONDS: Final = 600.0  # a cold start reads gigabytes from disk, and other requests may be in front
IDLE_SECONDS: Final = 120.0  # between two tokens; sliding a full window reads half of it again


@dataclass(frozen=True, slots=True)
class _Request:
    """What is asked of the model, apart from the settings that every call shares."""

    messages: Sequence[Mapping[str, object]]  # as they are sent
    options: Mapping[str, float | int]
    think: bool
    schema: JsonSchema | None = None


@dataclass(slots=True)
class _Answer:
    """An answer while it streams in."""

    sorter: ThinkingSorter
    native: bool = False  # the server itself sets reasoning apart
    text: bool = False
    last: "ChatResponse | None" = field(default=None)


class OllamaChat:
    """A chat model on one server. Building it connects to nothing; the first call makes sure that text stays here.

    `keep_alive` is what Ollama takes: seconds as a number, or a duration such as "30m".
    """

    def __init__(
        self,
        host: Host | str | None,
        model: str,
        *,
        num_ctx: int = 8192,
        keep_alive: str | int = "30m",
        allow_remote: Sequence[str] = (),
        first_token_seconds: float = FIRST_TOKEN_SECONDS,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self.server = OllamaServer(host, allow_remote=allow_remote)
        self.model = model
        self._num_ctx = num_ctx
        self._keep_alive = parse_keep_alive(keep_alive)
        self._first, self._idle = first_token_seconds, idle_seconds
        self._cleared: PulledModel | None = None
        self._cleared_at = 0.0
        self._takes_think = True
        self._json_needs_thinking = False
        self._unmarked = False

    def card(self) -> ChatCard:
        """Say which model this is, and where text goes if not to this machine."""
        model = self._clear()
        host = self.server.host
        remote = model.relayed_to or (None if host.is_loopback else host.name)
        return ChatCard(model.name, "ollama", model.digest, model.context, model.capabilities, remote)

    def stream(self, messages: Sequence[Message], sampling: Sampling, stop: Event) -> Iterator[Chunk]:
        """Yield the reply; see ChatModel. Reasoning comes apart from the text, and never as text."""
        options = {**drawing_options(sampling), "num_predict": sampling.max_tokens}
        try:
            think = sampling.thinking and "thinking" in self._clear(stop).capabilities
            yield from self._reply(_Request(_as_sent(messages), options, think), stop)
        except Cancelled:
            return

    def complete_json(self, messages: Sequence[Message], schema: JsonSchema, *, max_tokens: int, stop: Event) -> str:
        """Return the model's raw answer to a schema; see ChatModel.

        Some reasoning models keep to a schema only while they may reason: such a one is found out and let.
        """
        request = self._json_request(messages, schema, max_tokens, think=self._json_needs_thinking)
        answer = self._whole(request, stop)
        if "{" in answer or "[" in answer or request.think or "thinking" not in self._clear(stop).capabilities:
            return answer
        second = self._whole(self._json_request(messages, schema, max_tokens, think=True), stop)
        self._json_needs_thinking = "{" in second
        return second

    def _json_request(
        self, messages: Sequence[Message], schema: JsonSchema, max_tokens: int, *, think: bool
    ) -> _Request:
        room = max_tokens + (self._num_ctx // 4 if think else 0)  # reasoning counts as reply
        options: dict[str, float | int] = {"temperature": 0.0, "num_predict": room, "repeat_penalty": 1.0}
        return _Request(_as_sent(messages), options, think, schema)

    def count_tokens(self, text: str) -> int:
        """Estimate tokens, erring upwards: the server has no way to count them."""
        return estimate_tokens(text)

    def warm_up(self, messages: Sequence[Message], stop: Event) -> None:
        """Load the model and have it read `messages`; with none it is only loaded."""
        # One token, not none: for some versions 0 means "no limit".
        request = _Request(
            [_one_as_sent(message) for message in messages],
            {"num_predict": 1, "repeat_penalty": Sampling().repeat_penalty, "temperature": 0.0},
            False,
        )
        try:
            for _ in self._attempt(request, stop):
                pass
        except Cancelled:
            return

    def close(self) -> None:
        """Nothing is held between calls."""

    # -- one call

    def _whole(self, request: _Request, stop: Event) -> str:
        text = ""
        for chunk in self._reply(request, stop):
            text = chunk.text if chunk.restart else text + chunk.text
        if stop.is_set():
            raise Cancelled("Stopped.")
        return text

    def _reply(self, request: _Request, stop: Event) -> Iterator[Chunk]:
        """Yield a reply; one that only loaded the model is asked for once more."""
        for attempt in (1, 2):
            answer = yield from self._attempt(request, stop)
            if answer.text or answer.last is None or answer.last.done_reason not in ("load", "unload"):
                break
            if attempt == 2:
                raise EngineFailed(f"Ollama loaded {self.model} but gave no reply: try again.")
        if answer.last is not None:
            yield Chunk(done=_done(answer.last))

    def _attempt(self, request: _Request, stop: Event) -> Generator[Chunk, None, _Answer]:
        model = self._clear(stop)
        answer = _Answer(ThinkingSorter(unmarked=self._unmarked or _reasons_unmarked(model)))
        if stop.is_set():
            raise Cancelled("Stopped.")
        try:
            with self._call(model, stop) as call:
                yield from self._parts(call, model, request, answer, stop)
                yield from self._end(answer, stop)
        except MemchatError:
            self._cleared = None  # whatever failed, another server may be there next time
            raise
        return answer

    def _call(self, model: PulledModel, stop: Event) -> Call:
        return self.server.call(
            model.name,
            stop=stop,
            first=self._first,
            idle=self._idle,
            streams=True,
            relay_allowed=bool(model.relayed_to),
        )

    def _parts(
        self, call: Call, model: PulledModel, request: _Request, answer: _Answer, stop: Event
    ) -> Iterator[Chunk]:
        from memchat.engine.line import Refused
        from memchat.engine.ollama_errors import is_about_thinking

        try:
            for part in self._ask(call, model, request):
                if stop.is_set():
                    raise Cancelled("Stopped.")
                yield from self._sort(part, answer)
                if part.done:
                    answer.last = part
                    return
        except Refused as refused:
            if not (self._takes_think and is_about_thinking(refused)):
                raise
            self._takes_think = False
            yield from self._parts(call, model, request, answer, stop)

    def _ask(self, call: Call, model: PulledModel, request: _Request) -> "Iterator[ChatResponse]":
        return call.client().chat(
            model=model.name,
            messages=request.messages,
            stream=True,
            format=None if request.schema is None else dict(request.schema),
            options={"num_ctx": self._num_ctx, **request.options},
            keep_alive=self._keep_alive,
            think=request.think if self._takes_think else None,
        )

    def _sort(self, part: "ChatResponse", answer: _Answer) -> Iterator[Chunk]:
        content = part.message.content or ""
        if part.message.thinking:
            answer.native = True
            yield Chunk(thinking=part.message.thinking)
        yield from self._chunk(Sorted(content) if answer.native else answer.sorter.feed(content), answer)

    def _end(self, answer: _Answer, stop: Event) -> Iterator[Chunk]:
        """Yield what the sorter still held back; raise when the stream ended before the reply did."""
        if stop.is_set() and answer.last is None:
            raise Cancelled("Stopped.")
        complete = answer.last is not None and answer.last.done_reason != "length"
        yield from self._chunk(answer.sorter.finish(complete=complete), answer)
        if answer.last is None:
            raise EngineFailed("The reply was interrupted: Ollama ended it half-way. Try again.")

    def _chunk(self, found: Sorted, answer: _Answer) -> Iterator[Chunk]:
        answer.text = answer.text or bool(found.text)
        self._unmarked = self._unmarked or found.restart
        if found:
            yield Chunk(found.text, found.thinking, restart=found.restart)

    # -- what is known of the model

    def _clear(self, stop: Event | None = None) -> PulledModel:
        """Make sure, before any text is sent, that the model is here and chats; remembered for some minutes."""
        if self._cleared is None or monotonic() - self._cleared_at > CLEARED_SECONDS:
            model = self.server.clear(self.model, stop)
            if not model.chats:
                raise ModelMissing(
                    f"The model {model.name} makes vectors and cannot chat: choose another with --model."
                )
            self._cleared, self._cleared_at = model, monotonic()
        return self._cleared


def _reasons_unmarked(model: PulledModel) -> bool:
    return "thinking" not in model.capabilities and may_reason_unmarked(model.name)


def _as_sent(messages: Sequence[Message]) -> list[dict[str, object]]:
    if not messages:
        raise ValueError("a prompt without messages would only load the model")
    return [_one_as_sent(message) for message in messages]


def _one_as_sent(message: Message) -> dict[str, object]:
    sent: dict[str, object] = {"role": message.role.value, "content": encodable(message.content)}
    if message.images:
        # As bytes: the client takes a text for the path of a file and would read that.
        sent["images"] = [_picture(image) for image in message.images]
    return sent


def _picture(image: str) -> bytes:
    try:
        return b64decode(image, validate=True)
    except ValueError:
        raise UsageError("An attached picture is not in base64.") from None


def _done(last: "ChatResponse") -> Done:
    nanoseconds = last.eval_duration or 0
    return Done(
        reason="length" if last.done_reason == "length" else "stop",
        prompt_tokens=last.prompt_eval_count or 0,
        reply_tokens=last.eval_count or 0,
        prompt_ms=(last.prompt_eval_duration or 0) / 1e6,
        tokens_per_second=(last.eval_count or 0) * 1e9 / nanoseconds if nanoseconds > 0 else 0.0,
    )
