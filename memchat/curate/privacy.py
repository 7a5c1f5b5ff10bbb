"""Every place in which text is kept or by which it can leave, each with its state: `doctor --privacy`."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from memchat.curate.doctor import Check, EngineState, Report
from memchat.paths import Paths, list_histories
from memchat.settings import Settings
from memchat.store import Store
from memchat.text import counted

_SHELL_HISTORIES = (".bash_history", ".zsh_history", ".local/share/fish/fish_history")


def list_places(
    store: Store | None, paths: Paths, settings: Settings, engine: EngineState, *, home: Path | None = None
) -> Report:
    """Return the places; one fails when others can read it, or when text leaves this machine by it."""
    checks = (
        *_own_files(store, paths, settings),
        *_engine_places(settings, engine),
        *_places_of_others(settings, home or Path.home()),
    )
    return Report(all(check.ok for check in checks), checks)


def _own_files(store: Store | None, paths: Paths, settings: Settings) -> Iterator[Check]:
    told = ""
    if store is not None:
        told = f"{counted(store.count_memories(), 'memory')}, {counted(len(store.list_sessions()), 'conversation')}; "
    yield _file("memory file", paths.db, f"{told}erased by forget")
    for end in ("-wal", "-shm", "-journal"):
        side = paths.db.with_name(paths.db.name + end)
        if os.path.exists(side):
            yield _file(f"memory file{end}", side, "SQLite's own, erased by forget")
    copies = sorted(paths.db.parent.glob(f"{paths.db.name}.*backup")) if os.path.isdir(paths.db.parent) else []
    for copy in copies:
        yield _file("automatic backup", copy, "made before a migration, erased by forget")
    kept = "what you type in the chat" if settings.flag("terminal.history") else "switched off, nothing is added"
    for history in {paths.history: None} | dict.fromkeys(list_histories(paths)):
        yield _file("input history", history, f"{kept}; forget takes out what quotes the forgotten")
    level = settings.text("log.level")
    yield _file("log", paths.log, "switched off" if level == "off" else f"level {level}, never the text of messages")
    yield _file("config", paths.config, "your own instructions and never-learn words, if you set any")
    yield _file("models", paths.models, "model weights, no text of yours", private=False)


def _file(name: str, place: Path, holds: str, *, private: bool = True) -> Check:
    try:
        state = place.stat()
    except OSError:
        return Check(name, True, f"{place}: not there ({holds})")
    mode = stat.S_IMODE(state.st_mode)
    if private and os.name == "posix" and mode & 0o077 and os.path.isfile(place):
        return Check(name, False, f"{place}: others may read it (mode {mode:o}); {holds}", f"chmod 600 {place}")
    size = f"{counted(state.st_size, 'byte')}, " if os.path.isfile(place) else ""
    return Check(name, True, f"{place}: {size}{'only you can read it; ' if private else ''}{holds}")


def _engine_places(settings: Settings, engine: EngineState) -> Iterator[Check]:
    yield _chat_place(engine)
    allowed = settings.words("allow_remote")
    if allowed:
        mend = "memchat config set allow_remote ''"
        yield Check("allowed to leave", False, f"text may go to {', '.join(allowed)}, as you set it", mend)
    else:
        yield Check("allowed to leave", True, "no host and no model outside this machine")
    if engine.server:
        found = "keeps prompts in memory while a model is loaded, and in its log when it is started with OLLAMA_DEBUG"
        yield Check("ollama server", True, found, "ollama stop MODEL, to empty its memory at once")
    yield Check("network", True, "no telemetry, no update check; proxies and redirects are never followed")


def _chat_place(engine: EngineState) -> Check:
    if engine.chat_remote:
        found = f"{engine.chat_model} sends your messages and memories to {engine.chat_remote}"
        return Check("chat model", False, found, "memchat config set model NAME (a local one)")
    where = f"Ollama at {engine.host}" if engine.server and engine.wanted != "embedded" else "this process"
    return Check("chat model", True, f"{engine.chat_model or 'none'}, in {where}: on this machine")


def _places_of_others(settings: Settings, home: Path) -> Iterator[Check]:
    shells = [str(home / name) for name in _SHELL_HISTORIES if os.path.exists(home / name)]
    where = f" ({', '.join(shells)})" if shells else ""
    yield Check(
        "shell history", True, f"commands with text in them (ask, remember, edit) are kept by your shell{where}"
    )
    yield Check(
        "exports and backups", True, "files you made with export, backup or sessions export stay where you put them"
    )
    yield Check("terminal", True, "its scroll-back, and its own log if it keeps one")
    yield Check("editor", True, "may keep swap, undo and backup files of what you edit in it")
    clipboard = "replies go there when you say /copy" if settings.flag("terminal.clipboard") else "never touched"
    yield Check("clipboard", True, clipboard)
    found = (
        "swap, hibernation, snapshots and a disk's spare blocks may keep old bytes; full-disk encryption covers them"
    )
    yield Check("operating system", True, found)
