"""What is wrong with this installation, each with the one line that mends it."""

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from memchat.engine.remote import full_name
from memchat.errors import MemchatError, StoreError
from memchat.paths import Paths, list_histories
from memchat.recall.embed import same_space
from memchat.records import EmbedderCard
from memchat.store import MODES, NOTHING_NEW, Store
from memchat.text import counted

_LEAST_CONTEXT: Final = 2048  # tokens: a profile, five memories, a question and a reply need about this
_LEAST_FREE_BYTES: Final = 200 * 1024 * 1024
_OLDEST_SERVER: Final = (0, 5, 0)  # structured output, without which nothing can be learnt
_CLOCK_SLACK: Final = timedelta(minutes=5)
_WRITTEN: Final = datetime(2026, 1, 1, tzinfo=UTC)  # this program is younger; a clock before it is wrong
_STUCK_ATTEMPTS: Final = 3
_OTHER_EMBEDDER: Final = "memchat config set embed_model nomic-embed-text"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: `found` says how it stands, `mend` the line that mends it ("" when nothing is wrong)."""

    name: str
    ok: bool
    found: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All checks; `ok` when none failed."""

    ok: bool
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class EngineState:
    """What a look at the engines found, as plain values; None where it was not looked at or cannot be told.

    `chat_remote` names the place text would be sent to when the chat model is not on this machine. `embed_model`
    is the one the file wants, else the configured one.
    """

    wanted: str = "auto"  # auto | ollama | embedded
    host: str | None = None
    server: bool | None = None  # an Ollama server answers at the host
    server_version: str | None = None
    server_fault: str = ""
    chat_model: str | None = None
    chat_ready: bool | None = None
    chat_remote: str | None = None
    chat_context: int | None = None  # the window it was trained for, in tokens; 0 when unknown
    embed_model: str | None = None
    embed_ready: bool | None = None
    embeds: bool | None = None  # it can embed at all
    embed_languages: str = "unknown"
    embed_asked: str | None = None  # settings["embed_model"], by its full name
    embed_asked_ready: bool | None = None
    embed_asked_embeds: bool | None = None
    embed_asked_dimensions: int | None = None  # settings["embed_dimensions"]
    packs: tuple[tuple[str, bool], ...] = ()  # the embedded models' names, and whether they are there and whole
    allowed: tuple[str, ...] = ()  # settings["allow_remote"]


def examine(
    store: Store | None,
    paths: Paths,
    engine: EngineState,
    *,
    now: datetime,
    num_ctx: int = 8192,
    embedder: EmbedderCard | None = None,
    store_fault: str = "",
    config_fault: str = "",
) -> Report:
    """Look at everything; a `store` of None is a file that could not be opened, with `store_fault` saying why."""
    of_file = list(_store_checks(store, store_fault))
    wide_file = any(check.name == MODES and not check.ok for check in of_file)
    checks = [
        _config_check(paths, config_fault),
        *of_file,
        *_told(_index_checks(store, embedder)),
        *_engine_checks(engine, num_ctx, embedder),
        *_mode_checks(paths, with_db=store is None, told=wide_file),
        *_told(_machine_checks(store, paths, now)),
    ]
    return Report(all(check.ok for check in checks), tuple(checks))


def _told(checks: Iterator[Check]) -> Iterator[Check]:
    """Yield checks; where the file is too damaged for one of them, that is told in its place."""
    try:
        yield from checks
    except StoreError as error:
        yield Check("memory file", False, error.sentence, "Bring back a copy, or rescue the text: memchat export")


def fix(store: Store, paths: Paths) -> tuple[str, ...]:
    """Mend what can be mended without a model: drift in the file, rights of files; return what was done."""
    done = list(store.fix())
    for place, wanted in _private_places(paths, with_db=False):
        mode = _mode(place)
        if mode is not None and mode & 0o077:
            try:
                place.chmod(wanted)
            except OSError:
                continue  # somebody else's file: the check names it again
            done.append(f"{place} was open to others (mode {mode:o}); it is now {wanted:o}.")
    return tuple(done)


# -- the memory file


def _config_check(paths: Paths, fault: str) -> Check:
    if fault:
        return Check("config", False, fault, f"Correct it in {paths.config}.")
    return Check("config", True, f"{paths.config}" if os.path.exists(paths.config) else "no config file, defaults hold")


def _store_checks(store: Store | None, fault: str) -> Iterator[Check]:
    if store is None:
        yield Check("memory file", False, fault or "not opened", "Follow what the message says, or name another --db.")
        return
    try:
        faults = store.check()
    except MemchatError as error:
        yield Check("memory file", False, error.sentence, "memchat doctor --fix")
        return
    for found in faults:
        yield Check(found.name, False, found.found, found.mend)
    if not faults:
        yield Check("memory file", True, f"{store.path}: {counted(store.count_memories(), 'memory')}, whole")
    # What keeps vectors from being searched is told with the index.
    yield from (_notice_check(store, notice) for notice in store.notices if notice != store.why_no_vectors)


def _notice_check(store: Store, notice: str) -> Check:
    if not notice.endswith(NOTHING_NEW):
        return Check("file rights", True, notice)  # mended by now
    if "is full" in notice:
        return Check("writing", False, notice, "Free some disk space.")
    return Check("writing", False, notice, f"chmod u+rw {store.path}; chmod u+rwx {store.path.parent}")


def _index_checks(store: Store | None, embedder: EmbedderCard | None) -> Iterator[Check]:
    if store is None:
        return
    if store.why_no_vectors:
        yield Check("extension", False, store.why_no_vectors, "pip install --force-reinstall sqlite-vec")
    else:
        yield Check("extension", True, "sqlite-vec loads")
    yield _vectors_check(store, embedder)
    yield _queue_check(store)


def _vectors_check(store: Store, embedder: EmbedderCard | None) -> Check:
    card, building = store.embedder(), store.reindexing_to()
    if card is not None and embedder is not None and not same_space(card, embedder):
        found = f"the vectors are of {_card_name(card)}, in use is {_card_name(embedder)}: only keywords are searched"
        return Check("vectors", False, found, "memchat reindex")
    pending = store.count_pending_keys()
    found = f"{counted(pending, 'key')} without a vector" if pending else "every key has its vector"
    if building is not None:  # search uses the old ones until the new ones are whole: nothing is wrong
        found += f"; the change to {building.model} stands at {counted(store.count_reindex_keys(), 'key')} from its end"
    # With an embedder at hand the next command that stores or learns catches up.
    ok = pending == 0 or embedder is not None
    return Check("vectors", ok, found, "memchat reindex" if pending or building is not None else "")


def _card_name(card: EmbedderCard) -> str:
    return f"{card.model} ({card.dimensions} dimensions, {card.digest[:12] or 'no digest'})"


def _queue_check(store: Store) -> Check:
    waiting = store.count_queued()
    stuck = [(queued, reason) for queued, reason in store.list_stuck() if queued.attempts >= _STUCK_ATTEMPTS]
    if not stuck:
        return Check("queue", True, f"{counted(waiting, 'exchange')} to be learnt" if waiting else "nothing waits")
    queued, reason = stuck[-1]
    found = f"{counted(len(stuck), 'exchange')} failed again and again; turn {queued.turn.id}: {reason}"
    return Check("queue", False, found, "memchat learn")


# -- engines


def _engine_checks(engine: EngineState, num_ctx: int, embedder: EmbedderCard | None) -> Iterator[Check]:
    yield _server_check(engine)
    if engine.chat_ready or not engine.chat_remote:
        yield _chat_check(engine)
    if engine.chat_remote:
        allowed = engine.chat_model in engine.allowed or engine.chat_remote in engine.allowed
        found = f"{engine.chat_model} would send your text to {engine.chat_remote}" + (" (allowed)" if allowed else "")
        yield Check("locality", allowed, found, "" if allowed else "memchat config set model NAME (a local one)")
    if engine.chat_context is not None and engine.chat_model:
        yield _context_check(engine, num_ctx)
    yield _embed_check(engine)
    asked = engine.embed_asked_dimensions
    if embedder is not None and asked is not None and asked < embedder.dimensions:
        found = f"the settings ask for vectors of {asked}, those of this file are {embedder.dimensions} long"
        yield Check("embed_dimensions", False, found, "memchat reindex")
    if engine.embed_asked and engine.embed_model and full_name(engine.embed_asked) != full_name(engine.embed_model):
        yield _asked_check(engine, engine.embed_asked)
    for name, whole in engine.packs:
        yield Check(f"pack {name}", whole, "whole" if whole else "missing or broken", "" if whole else "memchat setup")


def _server_check(engine: EngineState) -> Check:
    if engine.server:
        version = _version(engine.server_version)
        old = version is not None and (0, 0, 0) < version < _OLDEST_SERVER
        found = f"Ollama {engine.server_version or 'of unknown version'} answers at {engine.host}"
        return Check("ollama", not old, found, "Update Ollama from its own site." if old else "")
    why = engine.server_fault or f"nothing answers at {engine.host or 'the host'}"
    refused = engine.server_fault and engine.server is None
    if refused:
        return Check("ollama", False, why, "memchat config unset host")
    if engine.wanted == "ollama":
        return Check("ollama", False, why, "ollama serve")
    if engine.chat_ready:
        return Check("ollama", True, why.rstrip(".") + "; the embedded model serves")
    if engine.wanted == "embedded":
        return Check("ollama", True, why.rstrip(".") + "; the settings ask for the embedded model")
    return Check(
        "ollama", False, f"{why.rstrip('.')}, and no embedded model is there", "ollama serve, or: memchat setup"
    )


def _version(text: str | None) -> tuple[int, ...] | None:
    """Return "0.33.0-rc2" as (0, 33, 0); None when it is no version. A server built from source says 0.0.0."""
    parts = (text or "").split("-")[0].split(".")
    return tuple(int(part) for part in parts) if parts[0] and all(part.isdecimal() for part in parts) else None


def _chat_check(engine: EngineState) -> Check:
    if engine.chat_model is None:
        return Check("chat model", False, "there is none", "memchat setup")
    if engine.chat_ready is False:
        mend = f"ollama pull {engine.chat_model}" if engine.server and engine.wanted != "embedded" else "memchat setup"
        return Check("chat model", False, f"{engine.chat_model} is not there", mend)
    return Check("chat model", True, engine.chat_model)


def _context_check(engine: EngineState, num_ctx: int) -> Check:
    trained = engine.chat_context or 0
    window = min(num_ctx, trained) if trained else num_ctx
    if window < _LEAST_CONTEXT:
        mend = f"memchat config set chat.num_ctx {max(_LEAST_CONTEXT, 4096)}"
        if num_ctx >= _LEAST_CONTEXT:
            mend = "memchat config set model NAME (one with a larger window)"
        return Check("context", False, f"a window of {window} tokens holds no conversation with memories", mend)
    return Check("context", True, f"{window} tokens" + (f" of {trained}" if trained else ""))


def _embed_check(engine: EngineState) -> Check:
    name, model = "embedding model", engine.embed_model
    if model is None:
        return Check(name, False, "there is none: only keywords are searched", "memchat setup")
    if engine.embed_ready is False:
        mend = f"ollama pull {model}" if engine.server else "memchat setup"
        return Check(name, False, f"{model} is not there: only keywords are searched", mend)
    if engine.embeds is False:
        return Check(name, False, f"{model} cannot embed", _OTHER_EMBEDDER)
    reach = {"english": "good for English; others are found by keywords", "multilingual": "many languages"}
    note = reach.get(engine.embed_languages, "")
    return Check(name, True, model + (f" ({note})" if note else ""))


def _asked_check(engine: EngineState, asked: str) -> Check:
    """Say why the embedder of the settings is not the one in use: the file's vectors are of another."""
    name, stays = "embed_model", f"{engine.embed_model}, which made this file's vectors, is used on"
    if engine.embed_asked_embeds is False:
        return Check(name, False, f"{asked} cannot embed; {stays}", _OTHER_EMBEDDER)
    if engine.embed_asked_ready is False:
        mend = "memchat setup" if engine.embed_asked_embeds else f"ollama pull {asked}"
        return Check(name, False, f"{asked} is not there; {stays}", mend)
    return Check(name, False, f"the settings ask for {asked}; {stays}", "memchat reindex")


# -- the machine


def _private_places(paths: Paths, *, with_db: bool) -> Iterable[tuple[Path, int]]:
    """Yield what only the owner may read, with the mode it should have; a store that opens checks its own files."""
    if os.name != "posix":
        return
    for file in (*([paths.db] if with_db else []), *list_histories(paths), paths.log, paths.config):
        if os.path.isfile(file):  # a device, such as /dev/null for no config at all, is everybody's
            yield file, 0o600
    if paths.db.parent.name == "memchat":
        yield paths.db.parent, 0o700


def _mode(place: Path) -> int | None:
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except OSError:
        return None


def _mode_checks(paths: Paths, *, with_db: bool, told: bool) -> Iterator[Check]:
    """Name what others may read; `told` when the memory file's own check has named some of it already."""
    wide = [
        Check("private files", False, f"others may read {place} (mode {mode:o})", f"chmod {wanted:o} {place}")
        for place, wanted in _private_places(paths, with_db=with_db)
        if (mode := _mode(place)) is not None and mode & 0o077
    ]
    yield from wide
    if not wide and not told:
        yield Check("private files", True, "only you can read the files")


def _machine_checks(store: Store | None, paths: Paths, now: datetime) -> Iterator[Check]:
    newest = _newest_moment(store)
    if now < _WRITTEN or (newest is not None and newest > now + _CLOCK_SLACK):
        found = f"the clock says {now:%Y-%m-%d %H:%M} UTC"
        found += f", a memory is of {newest:%Y-%m-%d %H:%M}" if newest and newest > now else ""
        yield Check("clock", False, found, "Set the clock of this machine.")
    else:
        yield Check("clock", True, f"{now:%Y-%m-%d %H:%M} UTC")
    yield _disk_check(paths)


def _newest_moment(store: Store | None) -> datetime | None:
    latest = store.find_latest_session() if store is not None else None
    changes = store.list_changes(limit=1) if store is not None else []
    moments = [change.at for change in changes]
    moments += [latest.last_turn_at] if latest is not None and latest.last_turn_at else []
    return max(moments, default=None)


def _disk_check(paths: Paths) -> Check:
    folder = next((folder for folder in paths.db.parents if os.path.isdir(folder)), Path.cwd())
    free = shutil.disk_usage(folder).free
    size = paths.db.stat().st_size if os.path.isfile(paths.db) else 0
    needed = max(_LEAST_FREE_BYTES, 2 * size)  # a forget writes the whole file anew
    found = f"{free // 2**20} MB free in {folder}"
    if free < needed:
        return Check("disk", False, f"{found}; {needed // 2**20} MB are needed", "Free some disk space.")
    return Check("disk", True, found)
