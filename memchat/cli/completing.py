"""What the shell offers at Tab: ids with their text, kinds, settings, models. It creates nothing and never fails."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from functools import wraps
from typing import TYPE_CHECKING, Final

import typer

from memchat.errors import MemchatError

if TYPE_CHECKING:
    from memchat.app import App
    from memchat.store import Store

Offer = tuple[str, str]  # what is inserted, what it is
Complete = Callable[[typer.Context, str], list[Offer]]

_MOST: Final = 100
_WIDTH: Final = 70  # characters of a text


def _offering(ask: Callable[[typer.Context, str], Iterable[Offer]]) -> Complete:
    """Let what `ask` yields begin with what was typed, and let nothing that goes wrong disturb the typing."""

    @wraps(ask)
    def offer(context: typer.Context, incomplete: str) -> list[Offer]:
        bare = incomplete.removeprefix("#")
        with suppress(MemchatError, OSError, ValueError):
            return [(name, help) for name, help in ask(context, bare) if name.startswith(bare)][:_MOST]
        return []

    return offer


@_offering
def memory_ids(context: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer memories: those that changed last, or those whose ids begin as typed."""
    with closing(_app(context)) as app:
        store = _store(app)
        if store is None:
            return
        changed = [change.memory for change in store.list_changes(limit=5 * _MOST)]
        typed = _begun(int(incomplete)) if incomplete.isdecimal() and len(incomplete) < 10 else []
        for memory in store.get_memories(list(dict.fromkeys([*typed, *changed]))):
            yield str(memory.id), _brief(memory.text)


@_offering
def proposal_ids(context: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the memories that wait for a word."""
    from memchat.records import State

    with closing(_app(context)) as app:
        store = _store(app)
        for memory in store.list_memories(state=State.PROPOSED) if store is not None else ():
            yield str(memory.id), _brief(memory.text)


@_offering
def session_ids(context: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer conversations, newest first."""
    with closing(_app(context)) as app:
        store = _store(app)
        for session in store.list_sessions(limit=None if incomplete else _MOST) if store is not None else ():
            yield str(session.id), _brief(session.title or "")


@_offering
def turn_ids(context: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the turns of the retrieval log with their questions, newest first."""
    with closing(_app(context)) as app:
        store = _store(app)
        for turn, recall in store.list_recalls(limit=_MOST) if store is not None else ():
            yield str(turn.id), _brief(recall.query)


@_offering
def kinds(context: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the kinds of memories."""
    from memchat.records import KIND_MEANINGS

    yield from ((kind.value, meaning) for kind, meaning in KIND_MEANINGS.items())


@_offering
def setting_keys(context: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the settings with their sentences."""
    from memchat.settings import SETTINGS

    yield from ((setting.key, setting.sentence) for setting in SETTINGS)


@_offering
def setting_values(context: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer what the setting that was named can be, where that is a choice."""
    from memchat.settings import find_setting, to_toml

    setting = find_setting(str(context.params.get("key")))
    choices = setting.choices or (("true", "false") if setting.type is bool else ())
    default = str(setting.default) if isinstance(setting.default, str) else to_toml(setting.default)
    yield from ((choice, "default" if choice == default else "") for choice in choices)


@_offering
def engines(context: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the engines."""
    from memchat.settings import find_setting

    yield from ((choice, "") for choice in find_setting("engine").choices)


@_offering
def chat_models(context: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the chat models at hand."""
    from memchat.terminal.models import list_models

    with closing(_app(context)) as app:
        yield from list_models(app)


@_offering
def personas(context: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the user's personas."""
    with closing(_app(context)) as app:
        yield from ((name, _brief(text)) for name, text in app.settings.personas.items())


@_offering
def decisions(context: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer what can be done with a proposal."""
    yield from (("approve", "Keep it."), ("reject", "It was never true."))


def _app(context: typer.Context) -> "App":
    """Build the program with the global options as far as they are typed."""
    from memchat.app import App

    given = context.find_root().params
    config = given.get("config")
    values = {key: value for key in _GLOBALS if isinstance(value := given.get(key), str)}
    return App.build(config if isinstance(config, str) else None, values)


_GLOBALS: Final = ("db", "user", "engine", "host", "model", "embed_model")


def _store(app: "App") -> "Store | None":
    return app.open_store(read_only=True) if app.paths.db.is_file() else None


def _begun(typed: int) -> list[int]:
    """Return the ids that begin with the digits typed, up to a hundredfold."""
    return [typed, *range(10 * typed, 10 * typed + 10), *range(100 * typed, 100 * typed + 100)]


def _brief(text: str) -> str:
    from memchat.text import one_line

    line = one_line(text)
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1].rstrip() + "…"
