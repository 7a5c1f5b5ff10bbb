"""What a setting must mean beyond its type: asked before it is written, and by the doctor of what stands there."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from memchat.engine.host import check_host, parse_host
from memchat.engine.keep_alive import parse_keep_alive
from memchat.engine.pack_table import PACKS
from memchat.engine.remote import CLOUD_HOST, check_relay, names_cloud
from memchat.errors import ConfigError, NotFound, PrivacyRefusal, UsageError
from memchat.learn.rules import Rules
from memchat.settings import SETTINGS, Settings, Value


def refuse_meaningless(key: str, value: Value, allow_remote: Sequence[str] = ()) -> None:
    """Raise UsageError when a value of the right type makes no sense, PrivacyRefusal when it would send text away."""
    if value is not None and key in _CHECKS:
        _CHECKS[key](value, allow_remote)


def find_meaningless(settings: Settings) -> str:
    """Return what is wrong with a setting in force, "" when each makes sense; where text may go is not asked here."""
    for setting in SETTINGS:
        try:
            refuse_meaningless(setting.key, settings[setting.key], settings.words("allow_remote"))
        except PrivacyRefusal:
            continue
        except UsageError as error:
            return error.sentence
    try:
        settings.instructions()
    except NotFound as error:
        return error.sentence
    return ""


def _check_host(value: Value, allow_remote: Sequence[str]) -> None:
    check_host(parse_host(str(value), "host"), allow_remote)


def _check_model(value: Value, allow_remote: Sequence[str]) -> None:
    if names_cloud(str(value)):
        check_relay(str(value), CLOUD_HOST, allow_remote)


def _check_rules(value: Value, allow_remote: Sequence[str]) -> None:
    Rules.of(value if isinstance(value, tuple) else (str(value),))


def _check_keep_alive(value: Value, allow_remote: Sequence[str]) -> None:
    parse_keep_alive(str(value))


def _check_embedded_chat(value: Value, allow_remote: Sequence[str]) -> None:
    """A path need not lead anywhere yet, but a bare word that is no pack never will."""
    which = str(value)
    chats = [pack.name for pack in PACKS if pack.role == "chat"]
    if which not in chats and not which.lower().endswith(".gguf") and not {"/", "\\"} & set(which):
        raise ConfigError(f"embedded.chat must be {', '.join(chats)} or the path of a GGUF file; not {which!r}.")


_CHECKS: Final[Mapping[str, Callable[[Value, Sequence[str]], None]]] = {
    "host": _check_host,
    "model": _check_model,
    "embed_model": _check_model,
    "learn.never_learn": _check_rules,
    "chat.keep_alive": _check_keep_alive,
    "embedded.chat": _check_embedded_chat,
}
