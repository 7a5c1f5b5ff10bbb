"""Where Ollama listens: reads OLLAMA_HOST in every form its server takes, and refuses what is not this machine."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from memchat.errors import PrivacyRefusal, UsageError
from memchat.text import one_line

DEFAULT_PORT: Final = 11434
_SCHEME_PORTS: Final = {"http": 80, "https": 443}
_CLOUD: Final = "ollama.com"
_LONGEST_NAME: Final = 253  # characters, as DNS has it
_NAME: Final = re.compile(r"[\w]([\w.-]*[\w])?\.?")
_PATH: Final = re.compile(r"[\w/.~%+@:-]*")


@dataclass(frozen=True, slots=True)
class Host:
    """One base URL, taken apart. `name` is without brackets, `path` is "" or begins with a slash."""

    scheme: str = "http"
    name: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    path: str = ""
    origin: str = "OLLAMA_HOST"  # the variable, option or setting that the value came from, for sentences

    @property
    def url(self) -> str:
        """The base URL to connect to."""
        name = f"[{self.name}]" if ":" in self.name else self.name
        return f"{self.scheme}://{name}:{self.port}{self.path}"

    @property
    def is_loopback(self) -> bool:
        """Tell whether text sent there stays on this machine."""
        return is_loopback(self.name)


def is_loopback(name: str) -> bool:
    """Tell whether a host name or address is this machine by its form alone; nothing is resolved."""
    if name.casefold().rstrip(".") == "localhost":
        return True
    address = _address(name)
    return address is not None and address.is_loopback


def parse_host(value: str | None, origin: str = "OLLAMA_HOST") -> Host:
    """Read a host as Ollama's own server does; addresses to bind to become ones to connect to.

    Empty means the default. Raises UsageError with a sentence naming `origin` where the value makes no sense.
    """
    text = (value or "").strip().strip("\"'").strip()
    if not text:
        return Host(origin=origin)
    scheme, port, rest = _split_scheme(text, value, origin)
    authority, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    if "@" in authority:
        raise _wrong(value, origin, "it holds a user name, and memchat sends no credentials")
    name, typed_port = _split_port(authority)
    if typed_port:
        port = _parse_port(typed_port, value, origin)
    if slash and not _PATH.fullmatch(path):
        raise _wrong(value, origin, "its path holds characters that do not belong there")
    path = path.strip("/")
    return Host(scheme, _parse_name(name, value, origin), port, f"/{path}" if path else "", origin)


def _split_scheme(text: str, value: str | None, origin: str) -> tuple[str, int, str]:
    """Return scheme, the port it stands for, and what follows it."""
    scheme, mark, rest = text.partition("://")
    if not mark:
        bare_cloud = text.casefold().rstrip("/") == _CLOUD
        return ("https", 443, text) if bare_cloud else ("http", DEFAULT_PORT, text)
    scheme = scheme.lower()
    if scheme not in _SCHEME_PORTS:
        raise _wrong(value, origin, "only http:// and https:// are understood")
    return scheme, _SCHEME_PORTS[scheme], rest


def _split_port(authority: str) -> tuple[str, str]:
    """Return name and port; an IPv6 address without brackets has no port."""
    if authority.startswith("["):
        name, closed, rest = authority[1:].partition("]")
        well_formed = closed and (not rest or rest.startswith(":"))
        return name, rest.removeprefix(":") if well_formed else "?"
    if authority.count(":") > 1:
        return authority, ""
    name, _, port = authority.partition(":")
    return name, port


def _parse_port(text: str, value: str | None, origin: str) -> int:
    port = int(text) if re.fullmatch(r"[0-9]{1,6}", text) else 0
    if not 1 <= port <= 65535:
        raise _wrong(value, origin, "the port must be a number from 1 to 65535")
    return port


def _parse_name(name: str, value: str | None, origin: str) -> str:
    if not name:
        return "127.0.0.1"
    address = _address(name)
    if address is not None and address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "::1"
    if address is not None:
        return str(address)
    if ":" in name or len(name) > _LONGEST_NAME or not _NAME.fullmatch(name) or name.casefold() in _SCHEME_PORTS:
        raise _wrong(value, origin, "that is neither a host name nor an address")
    return name.casefold()


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the address that `name` is, with IPv4 taken out of its IPv6 wrapping; None for a name."""
    if "%" in name:
        return None
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _wrong(value: str | None, origin: str, why: str) -> UsageError:
    shown = re.sub(r"[^/]*@", "…@", one_line(value or ""))[:80]  # a password is nobody's business
    return UsageError(f"{origin} is {shown!r}: {why}; write it like http://127.0.0.1:{DEFAULT_PORT}.")


def check_host(host: Host, allow_remote: Sequence[str] = ()) -> None:
    """Raise PrivacyRefusal when text sent to `host` would leave this machine and the user has not named it."""
    if host.is_loopback:
        return
    if host.name.rstrip(".") == _CLOUD or host.name.rstrip(".").endswith("." + _CLOUD):
        raise PrivacyRefusal(
            f"{host.origin} names {host.name}, Ollama's cloud: memchat never sends your text there. "
            f"Use the server of this machine, http://127.0.0.1:{DEFAULT_PORT}."
        )
    if not names_host(host, allow_remote):
        raise PrivacyRefusal(
            f"{host.origin} names {host.name}, which is not this machine, so your text would leave it. "
            f"Use http://127.0.0.1:{DEFAULT_PORT}, or add {host.name!r} to allow_remote if you want that."
        )


def names_host(host: Host, allow_remote: Sequence[str]) -> bool:
    """Tell whether an entry of `allow_remote` names this host, with or without its port, or as its URL."""
    name = f"[{host.name}]" if ":" in host.name else host.name
    forms = {host.name, name, f"{name}:{host.port}", host.url, f"{host.scheme}://{name}:{host.port}"}
    if _SCHEME_PORTS[host.scheme] == host.port:
        forms.add(f"{host.scheme}://{name}")
    return any(entry.strip().casefold().rstrip("/") in forms for entry in allow_remote)


def host_of(url: str) -> str:
    """Return the host name in a URL or `name:port` that a server told, "" where there is none."""
    try:
        return urlsplit(url if "://" in url else f"//{url}").hostname or ""
    except ValueError:
        return ""
