"""Rows of a turn: what stands before the request, and how soon the first token comes."""

import statistics
from collections.abc import Iterator, Sequence
from threading import Event
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Final

from memchat.chat import Chat, ChatOptions, Finished
from memchat.engine.host import parse_host
from memchat.engine.ollama import OllamaChat
from memchat.learn.wording import JUDGE_SCHEMA, judge_messages
from memchat.prompts import SYSTEM_PROMPT, BlockLine, memory_block, user_message
from memchat.recall import RecallOptions
from memchat.records import Chunk, Message, Role, Sampling
from memchat.store import Store
from tests.benchmarks.lab import Lab
from tests.benchmarks.measure import duel, quartiles
from tests.benchmarks.report import Line, difference_line, ratio_line
from tests.benchmarks.stock import CARD, DIMENSIONS, NOW, Words, copy_of, user_name
from tests.fakes import FakeEmbedder
from tests.standin import Request, StandIn

if TYPE_CHECKING:
    from memchat.engine.llama import LlamaChat

_MODEL: Final = "llama3.2:3b"
_ROUNDS: Final = 30
_FEW: Final = 3  # rounds where a model reads thousands of tokens
_CONVERSATION: Final = 2300  # tokens
_RECALLED: Final = 5
_ONE_TOKEN: Final = Sampling(temperature=0.0, max_tokens=8)


class _Clocked(StandIn):
    """A stand-in without latency that notes when a chat request came in."""

    arrived = 0.0

    def note(self, request: Request) -> None:
        if request.path == "/api/chat":
            self.arrived = perf_counter()
        super().note(request)


class _Noting(OllamaChat):
    """A client that notes the processor time of its thread when it is about to ask."""

    asked = 0.0

    def stream(self, messages: Sequence[Message], sampling: Sampling, stop: Event) -> Iterator[Chunk]:
        self.asked = thread_time()
        return super().stream(messages, sampling, stop)


def before(lab: Lab) -> list[Line]:
    """What memchat does between Enter and the request, beside the same client sending the bare message."""
    folder = lab.folder("before")
    embedder = FakeEmbedder(DIMENSIONS, model=CARD.model, digest=CARD.digest)
    words = Words(5)
    with (
        _Clocked(models=[_MODEL]) as server,
        Store.open(copy_of(lab.stock(lab.count(900)), folder), user_name(0)) as store,
    ):
        model, worked = _Noting(parse_host(server.url), _MODEL), list[float]()
        chat = Chat(store, lambda: model, lambda: embedder, ChatOptions(), RecallOptions(), clock=lambda: NOW)

        def ours(turn: int) -> float:
            started, busy, embedding = perf_counter(), thread_time(), 0.0
            for event in chat.turn(words.question(), Event()):
                if isinstance(event, Finished):
                    embedding = event.result.timings_ms["embed"] / 1000
            worked.append(model.asked - busy - embedding)
            return server.arrived - started - embedding

        def bare(turn: int) -> float:
            started = perf_counter()
            for _ in model.stream([Message(Role.USER, words.question())], _ONE_TOKEN, Event()):
                pass
            return server.arrived - started

        pairs = duel(ours, bare, lab.rounds(_ROUNDS))
        model.close()
    what = "a turn until its request leaves"
    seconds = tuple(worked[-len(pairs.ours) :])
    return [
        difference_line("before", what, "the bare request", pairs, 10.0),
        Line(
            "before",
            f"{what}, processor",
            "nothing",
            statistics.median(seconds) * 1000,
            value=statistics.median(seconds) * 1000,
            limit=10.0,
            form="{:.1f} ms",
            spread=quartiles([one * 1000 for one in seconds]),
            ours=seconds,
        ),
    ]


def prefix(lab: Lab) -> list[Line]:
    """First token with the memories beside the newest message, beside the same memories in the system prompt."""
    model = lab.chat()
    try:
        history = _conversation(model)

        def beside(turn: int) -> list[Message]:
            return [Message(Role.SYSTEM, SYSTEM_PROMPT), *history, user_message(_question(turn), _block(turn))]

        def within(turn: int) -> list[Message]:
            return [Message(Role.SYSTEM, f"{SYSTEM_PROMPT}\n\n{_block(turn)}"), *history, user_message(_question(turn))]

        pairs = duel(
            lambda turn: _next_turn(model, beside(turn - 1), beside(turn)),
            lambda turn: _next_turn(model, within(turn - 1), within(turn)),
            _FEW,
            warm=0,
        )
        what = f"first token, {_CONVERSATION:,} tokens of conversation"
        against = "memories in the system prompt"
        return [ratio_line("prefix", what, against, pairs, 0.1, clock="wall", note=model.card().model)]
    finally:
        model.close()


def learning(lab: Lab) -> list[Line]:
    """First token of the turn after something was learnt, beside a turn after which nothing was."""
    model = lab.chat()
    try:
        history = [Message(Role.SYSTEM, SYSTEM_PROMPT), *_conversation(model)]

        def turn_after(turn: int, *, learn: bool) -> float:
            first = [*history, user_message(_question(turn), _block(turn))]
            said = [*history, user_message(_question(turn)), Message(Role.ASSISTANT, "I see, tell me more.")]
            _first_token(model, first)
            if learn:
                lines = ["I might take the night train to Turin with Ana.", "The cake was good."]
                model.complete_json(judge_messages(lines, ()), JUDGE_SCHEMA, max_tokens=120, stop=Event())
            return _first_token(model, [*said, user_message(_question(turn + 1), _block(turn + 1))])

        pairs = duel(
            lambda turn: turn_after(turn, learn=True), lambda turn: turn_after(turn, learn=False), _FEW, warm=1
        )
        what = "first token of the turn after a learning"
        return [ratio_line("learning", what, "no learning", pairs, 1.2, clock="wall", note=model.card().model)]
    finally:
        model.close()


def _next_turn(model: "LlamaChat", last: Sequence[Message], now: Sequence[Message]) -> float:
    """Return the seconds to the first token of a turn, the engine being left as the turn before leaves it."""
    model.warm_up(last, Event())
    return _first_token(model, now)


def _first_token(model: "LlamaChat", messages: Sequence[Message]) -> float:
    stop, started = Event(), perf_counter()
    seconds = 0.0
    for chunk in model.stream(messages, _ONE_TOKEN, stop):
        if chunk.text and not seconds:
            seconds = perf_counter() - started
            stop.set()
    return seconds or perf_counter() - started


def _conversation(model: "LlamaChat") -> list[Message]:
    """Return turns of about `_CONVERSATION` tokens."""
    words, messages, tokens = Words(3), list[Message](), 0
    while tokens < _CONVERSATION:
        said = " ".join(words.memory(number).text for number in range(2))
        answered = " ".join(words.memory(number).text for number in range(6))
        messages += [Message(Role.USER, said), Message(Role.ASSISTANT, answered)]
        tokens += model.count_tokens(said) + model.count_tokens(answered)
    return messages


def _question(turn: int) -> str:
    return Words(100 + turn).question()


def _block(turn: int) -> str:
    words = Words(200 + turn)
    return memory_block([BlockLine(words.memory(number).text, "3 months ago") for number in range(_RECALLED)])
