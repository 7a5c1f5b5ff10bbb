"""One request to llama.cpp on a thread of its own: what arrives is read here, and it can be stopped at any time.

llama.cpp asks our callback after every token, and after every piece of the prompt it has read, whether to go on. An
exception raised there would be swallowed and the work run on, so the callback only passes on and tells.
"""

from collections.abc import Callable, Iterator, Mapping
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Final, Protocol

from memchat.errors import Cancelled, EngineFailed

Part = Mapping[str, object]
_GLANCE: Final = 0.02  # seconds between two looks whether to stop


class Server(Protocol):
    """The part of `xllamacpp.Server` that is used here."""

    listening_address: str

    def handle_chat_completions(self, request: dict[str, object], callback: Callable[[Part], bool]) -> object: ...

    def handle_metrics(self) -> str: ...


class Turnstile:
    """Lets one call at a time to the model; one that is told to stop does not wait, and none does once it is closed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.closed = Event()

    def enter(self, stop: Event) -> None:
        """Wait for the model to be free; raises Cancelled when `stop` is set meanwhile, EngineFailed once closed."""
        while not self._lock.acquire(timeout=_GLANCE):
            if stop.is_set():
                raise Cancelled("Stopped.")
        if self.closed.is_set():
            self._lock.release()
            raise EngineFailed("The embedded model was closed.")

    def leave(self) -> None:
        """Let the next one in; any thread may call it for the one inside."""
        self._lock.release()

    def close(self) -> None:
        """Stop the call inside, wait until it is out, and let nobody in any more; may be called twice."""
        self.closed.set()
        with self._lock:
            pass


def ask(server: Server, request: dict[str, object], turnstile: Turnstile, stop: Event) -> Iterator[Part]:
    """Yield the parts of the answer as they come; raises Cancelled as soon as `stop` is set.

    The model may take a moment longer to notice: whoever comes next waits at the turnstile for it. Raises EngineFailed
    when llama.cpp itself breaks.
    """
    turnstile.enter(stop)
    call = _Call(server, request, turnstile)
    try:
        call.start()
    except RuntimeError as error:  # also while the interpreter shuts down
        turnstile.leave()
        raise EngineFailed("The system gives no thread for the embedded model: close other programs.") from error
    try:
        yield from call.parts(stop)
    finally:
        call.unwanted.set()


class _Call(Thread):
    def __init__(self, server: Server, request: dict[str, object], turnstile: Turnstile) -> None:
        super().__init__(name="llama-call")
        self.unwanted = Event()
        self._server, self._request, self._turnstile = server, request, turnstile
        self._arrived: SimpleQueue[Part | Exception | None] = SimpleQueue()

    def run(self) -> None:
        """Work until the answer ends or is unwanted."""
        try:
            self._server.handle_chat_completions(self._request, self._take)
        except (RuntimeError, ValueError, TypeError) as error:
            self._arrived.put(error)
        finally:
            self._turnstile.leave()
            self._arrived.put(None)

    def _take(self, part: Part) -> bool:
        self._arrived.put(part)
        return self.unwanted.is_set() or self._turnstile.closed.is_set()

    def parts(self, stop: Event) -> Iterator[Part]:
        """Yield what arrives until the end."""
        while True:
            if stop.is_set() or self._turnstile.closed.is_set():
                raise Cancelled("Stopped.")
            try:
                arrived = self._arrived.get(timeout=_GLANCE)
            except Empty:
                continue
            if arrived is None:
                return
            if isinstance(arrived, Exception):
                raise EngineFailed("The embedded model failed: try again.") from arrived
            yield arrived
