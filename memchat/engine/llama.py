"""A chat model in the process: llama.cpp through xllamacpp, for a machine without a server.

There is one slot. When a call with another prompt comes between (learning), llama.cpp puts the state of the chat's
prompt aside in memory and takes it back afterwards, so that the conversation is not read again.
"""

import os
import platform
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final

from memchat.engine import JsonSchema
from memchat.engine.gguf import GgufHead, read_head
from memchat.engine.llama_call import Part, Server, Turnstile, ask
from memchat.engine.llama_port import Port
from memchat.engine.machine import total_memory
from memchat.engine.pack_table import MORE_PACKAGES
from memchat.engine.sampling import drawing_options
from memchat.engine.thinking import ThinkingSorter, may_reason_unmarked
from memchat.errors import Cancelled, EngineFailed, ModelMissing, PromptTooLong, UsageError
from memchat.records import ChatCard, Chunk, Done, Message, Sampling
from memchat.text import encodable, estimate_tokens

_PROMPT_PIECE: Final = 64  # tokens read between two looks whether to stop
_X86: Final = ("x86_64", "amd64", "i686")
_UNKNOWN_TOKEN_BYTES: Final = 1 << 17
_WORKING_BYTES: Final = 300 << 20  # beside weights and cache: compute buffers, the library
# What templates mark roles with: a text that holds such a mark must not pass for the program's own.
_ROLE_MARK: Final = re.compile(r"<(?=\|[^|<>\n]{1,40}\|>|/?(?:start|end)_of_turn>)|\[(?=/?INST\])")


@dataclass(slots=True)
class _Answer:
    """An answer while it streams in."""

    sorter: ThinkingSorter
    finish: str = ""
    timings: Mapping[str, object] | None = None


class LlamaChat:
    """The chat model of one GGUF file; building it loads it (seconds) and opens a port that only memchat can use.

    `name` and `digest` are how the card calls it. `num_ctx` is cut to what the model was trained for; `threads` None
    takes all cores. Raises ModelMissing without the library or the file, EngineFailed when it cannot be loaded.
    """

    def __init__(
        self, path: Path, *, name: str = "", digest: str = "", num_ctx: int = 8192, threads: int | None = None
    ) -> None:
        head = read_head(path)
        self._num_ctx = min(num_ctx, head.context or num_ctx)
        _check_memory(path, head, self._num_ctx)
        capabilities = frozenset({"completion"})
        self._card = ChatCard(name or head.name or path.stem, "embedded", digest, head.context, capabilities)
        key = secrets.token_urlsafe(32)
        self._server: Server | None = _load(path, head, key, self._num_ctx, threads or _cores())
        self.address = self._server.listening_address  # on the loopback; it answers to nobody without the key
        self._port = Port(self.address, key)
        self._turnstile = Turnstile()

    def card(self) -> ChatCard:
        """Say which model this is."""
        return self._card

    def stream(self, messages: Sequence[Message], sampling: Sampling, stop: Event) -> Iterator[Chunk]:
        """Yield the reply; see ChatModel."""
        request = {**drawing_options(sampling), "max_tokens": sampling.max_tokens}
        with suppress(Cancelled):
            yield from self._reply(messages, request, stop)

    def complete_json(self, messages: Sequence[Message], schema: JsonSchema, *, max_tokens: int, stop: Event) -> str:
        """Return the model's answer to a schema, which a grammar holds it to; see ChatModel."""
        request: dict[str, object] = {
            "temperature": 0.0,
            "max_tokens": max_tokens,
            "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(schema)}},
        }
        return "".join(chunk.text for chunk in self._reply(messages, request, stop))

    def count_tokens(self, text: str) -> int:
        """Count tokens exactly with the model's own tokenizer; estimate where its port does not answer."""
        counted = self._port.count_tokens(encodable(text))
        return estimate_tokens(text) if counted is None else counted

    def warm_up(self, messages: Sequence[Message], stop: Event) -> None:
        """Read `messages` into the prompt cache; see ChatModel."""
        if not messages:
            return
        with suppress(Cancelled):
            for _ in self._reply(messages, {"max_tokens": 1, "temperature": 0.0}, stop):
                pass

    def close(self) -> None:
        """Free the model, after the call that may still run has been let go."""
        self._turnstile.close()
        self._server = None
        self._port.close()

    # -- one call

    def _reply(self, messages: Sequence[Message], options: Mapping[str, object], stop: Event) -> Iterator[Chunk]:
        server = self._server
        if server is None:
            raise EngineFailed("The embedded model was closed.")
        request = {
            "messages": _as_sent(messages),
            "stream": True,
            "return_progress": True,  # has the callback called while the prompt is read
            "chat_template_kwargs": {"enable_thinking": False},
            **options,
        }
        answer = _Answer(ThinkingSorter(unmarked=may_reason_unmarked(self._card.model)))
        for part in ask(server, request, self._turnstile, stop):
            yield from self._sort(part, answer)
        yield from self._end(answer)

    def _sort(self, part: Part, answer: _Answer) -> Iterator[Chunk]:
        if "error" in part:
            raise _failure(part["error"], self._num_ctx)
        timings = part.get("timings")
        if isinstance(timings, Mapping):
            answer.timings = timings
        for text, thinking, finish in _choices(part):
            answer.finish = finish or answer.finish
            if thinking:
                yield Chunk(thinking=thinking)
            found = answer.sorter.feed(text)
            if found:
                yield Chunk(found.text, found.thinking, restart=found.restart)

    def _end(self, answer: _Answer) -> Iterator[Chunk]:
        found = answer.sorter.finish(complete=answer.finish == "stop")
        if found:
            yield Chunk(found.text, found.thinking, restart=found.restart)
        if not answer.finish:
            raise EngineFailed("The reply was interrupted: the embedded model ended it half-way. Try again.")
        yield Chunk(done=_done(answer))


def _load(path: Path, head: GgufHead, key: str, num_ctx: int, threads: int) -> Server:
    try:
        import xllamacpp  # late: it loads a library of many megabytes
    except ImportError as error:
        raise ModelMissing(f"xllamacpp is not installed; {MORE_PACKAGES}") from error
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(path)
    wanted.n_ctx, wanted.n_parallel = num_ctx, 1
    wanted.n_batch = wanted.n_ubatch = _PROMPT_PIECE
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = threads
    wanted.cache_ram_mib = _aside_mib(head, num_ctx)
    # On x86 a second copy of the weights, laid out anew, takes 600 MB with the standard model and reads a tenth faster.
    wanted.no_extra_bufts = platform.machine().lower() in _X86
    wanted.api_keys, wanted.ui, wanted.offline = [key], False, True
    wanted.endpoint_slots, wanted.endpoint_metrics, wanted.n_threads_http = False, True, 2
    wanted.verbosity = -1  # its log would land on the user's screen
    try:
        server: Server = xllamacpp.Server(wanted)
        server.handle_metrics()  # answered by the loop: one that is freed before its loop runs never ends
    except (RuntimeError, ValueError) as error:
        raise EngineFailed(
            f"The model file {path} cannot be loaded: it is damaged, of a kind that this llama.cpp does not know, or "
            "too large for this machine."
        ) from error
    return server


def _check_memory(path: Path, head: GgufHead, num_ctx: int) -> None:
    """Refuse what would have the system kill this process."""
    needed = path.stat().st_size + num_ctx * head.token_bytes + _WORKING_BYTES
    there = total_memory()
    if there is not None and needed > there:
        raise EngineFailed(
            f"The model {path.name} needs about {needed / 1e9:.1f} GB of memory with a window of {num_ctx} tokens, and "
            f"this machine has {there / 1e9:.1f} GB: choose a smaller one, or lower chat.num_ctx."
        )


def _aside_mib(head: GgufHead, num_ctx: int) -> int:
    """Return how much prompt state is kept aside: a full window of the chat and half of one for what comes between."""
    return max(64, (head.token_bytes or _UNKNOWN_TOKEN_BYTES) * num_ctx * 3 // 2 >> 20)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _as_sent(messages: Sequence[Message]) -> list[dict[str, str]]:
    if not messages:
        raise ValueError("llama.cpp never returns from a prompt without messages")
    if any(message.images for message in messages):
        raise UsageError("The embedded model cannot see pictures: attach text, or use Ollama with a model that can.")
    return [{"role": message.role.value, "content": _harmless(message.content)} for message in messages]


def _harmless(text: str) -> str:
    """Return the text so that none of it can pass for a mark between the roles."""
    return _ROLE_MARK.sub(lambda found: found[0] + " ", encodable(text))


def _choices(part: Part) -> Iterator[tuple[str, str, str]]:
    """Yield text, reasoning and reason of ending of each choice in a part."""
    choices = part.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        delta = choice.get("delta") or {}
        yield delta.get("content") or "", delta.get("reasoning_content") or "", choice.get("finish_reason") or ""


def _failure(error: object, num_ctx: int) -> EngineFailed | PromptTooLong:
    told = error if isinstance(error, Mapping) else {}
    if told.get("type") == "exceed_context_size_error":
        return PromptTooLong(
            f"The prompt has {told.get('n_prompt_tokens', 'too many')} tokens, and the window of the embedded model "
            f"holds {told.get('n_ctx', num_ctx)}: say it shorter, or raise chat.num_ctx in the config."
        )
    said = str(told.get("message", error))
    return EngineFailed(f"The embedded model cannot do this: {said[:200].rstrip('.')}.")


def _done(answer: _Answer) -> Done:
    timings = answer.timings or {}

    def number(key: str) -> float:
        value = timings.get(key)
        return value if isinstance(value, int | float) else 0

    cached = int(number("cache_n"))
    return Done(
        reason="length" if answer.finish == "length" else "stop",
        prompt_tokens=cached + int(number("prompt_n")),
        cached_tokens=cached,
        reply_tokens=int(number("predicted_n")),
        prompt_ms=number("prompt_ms"),
        tokens_per_second=number("predicted_per_second"),
    )
