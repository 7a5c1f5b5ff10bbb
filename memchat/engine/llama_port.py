"""The port on this machine's loopback that llama.cpp opens anyway: asked for exact token counts, nothing else."""

import json
from functools import lru_cache
from http.client import HTTPConnection, HTTPException
from threading import Lock
from urllib.parse import urlsplit

_SECONDS = 2.0  # a count takes one millisecond; waiting longer would cost more than a rough one


class Port:
    """A kept connection to the port; `key` keeps everybody else out."""

    def __init__(self, address: str, key: str) -> None:
        where = urlsplit(address)
        self._connection = HTTPConnection(where.hostname or "127.0.0.1", where.port, timeout=_SECONDS)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._lock = Lock()
        self._closed = False
        self._count = lru_cache(maxsize=2048)(self._ask)

    def count_tokens(self, text: str) -> int | None:
        """Return the number of tokens of `text`; None when the port does not answer properly, or is closed."""
        with self._lock:
            if self._closed:  # by now the port may be anybody's
                return None
            try:
                return self._count(text)
            except (OSError, HTTPException, ValueError, KeyError, TypeError):
                self._connection.close()
                return None

    def close(self) -> None:
        """Close the connection for good and forget the texts that were counted."""
        with self._lock:
            self._closed = True
            self._count.cache_clear()
            self._connection.close()

    def _ask(self, text: str) -> int:
        body = json.dumps({"content": text, "parse_special": False})
        self._connection.request("POST", "/tokenize", body, self._headers)
        return len(json.loads(self._connection.getresponse().read())["tokens"])
