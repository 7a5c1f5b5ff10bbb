"""Imports the official Ollama client, late and under a guard.

Late, since the import takes a second. Guarded, since it builds a client of its own from the environment: a bad
OLLAMA_HOST, a SOCKS proxy or a missing certificate file make the import itself fail.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Final

from memchat.errors import EngineFailed

if TYPE_CHECKING:
    import httpx
    import ollama

_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_IN_THE_WAY: Final = ("OLLAMA_HOST", "SSL_CERT_FILE", "SSL_CERT_DIR", *_PROXIES, *(name.lower() for name in _PROXIES))
_LOCK: Final = Lock()


def build_client(url: str, transport: "httpx.BaseTransport", timeout: "httpx.Timeout") -> "ollama.Client":
    """Return the official client for one base URL, which reads no environment and follows no redirect."""
    with _LOCK, _without(_IN_THE_WAY):
        try:
            import ollama
        except ImportError as error:
            raise EngineFailed(f"The ollama package cannot be loaded ({error}): install memchat again.") from error
        return ollama.Client(host=url, transport=transport, timeout=timeout, trust_env=False, follow_redirects=False)


@contextmanager
def _without(names: tuple[str, ...]) -> Iterator[None]:
    """Hide environment variables for a moment; nothing changes for the process where none is set."""
    hidden = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(hidden)
