"""The config file: what is in force and why, and changing one setting without losing a comment."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memchat.curate.meaning import refuse_meaningless
from memchat.curate.private_files import write_private
from memchat.errors import ConfigError
from memchat.settings import SETTINGS, Settings, Value, find_setting, parse_value

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.items import Table


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One setting as it stands: `origin` is "default", a file, a variable or an option."""

    key: str
    value: Value
    origin: str
    default: Value
    sentence: str


@dataclass(frozen=True, slots=True)
class SettingChange:
    """What `config set` did to the file at `path`; None means "not set there"."""

    key: str
    before: Value
    after: Value
    path: Path


def list_settings(settings: Settings, key: str | None = None) -> tuple[SettingLine, ...]:
    """Return every setting, or those of `key` (a setting or a section), in the table's order; raises ConfigError."""
    rows = tuple(
        SettingLine(row.key, settings[row.key], settings.origin(row.key), row.default, row.sentence)
        for row in (*SETTINGS, *(find_setting(f"personas.{name}") for name in settings.personas))
        if key is None or row.key == key or row.key.startswith(f"{key}.")
    )
    if not rows and key is not None:
        find_setting(key)
    return rows


def set_value(path: Path, key: str, raw: str | list[str]) -> SettingChange:
    """Write one setting to the config file (made when missing).

    Raises ConfigError or UsageError when key, value or file is wrong, PrivacyRefusal when it would send text away.
    """
    setting = find_setting(key)
    value = parse_value(setting, raw)
    document = _read(path)
    allowed = _get(document, "allow_remote")
    refuse_meaningless(key, value, allowed if isinstance(allowed, tuple) else ())
    before = _get(document, key)
    _put(document, key, list(value) if isinstance(value, tuple) else value)
    _write(path, document)
    return SettingChange(key, before, value, path)


def unset_value(path: Path, key: str) -> SettingChange:
    """Take one setting out of the config file, so that its default holds; raises ConfigError when the key is wrong."""
    find_setting(key)
    document = _read(path)
    before = _get(document, key)
    if before is not None:
        table = _table_of(document, key)
        assert table is not None
        del table[key.rpartition(".")[2]]
        _drop_if_empty(document, key.rpartition(".")[0])
        _write(path, document)
    return SettingChange(key, before, None, path)


def _drop_if_empty(document: "TOMLDocument", section: str) -> None:
    """Take a section out in which nothing stands any more, not even a comment."""
    table = document.get(section) if section else None
    if table is not None and not table and "#" not in table.as_string() + table.trivia.comment:
        del document[section]


def _read(path: Path) -> "TOMLDocument":
    # tomlkit is imported here since only `config set` needs it.
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return tomlkit.document()
    except (TOMLKitError, RecursionError) as error:
        raise ConfigError(f"The config file {path} is not valid TOML: {error}. Mend it in an editor first.") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"The config file {path} cannot be read: {reason}.") from None


def _table_of(document: "TOMLDocument", key: str) -> "TOMLDocument | Table | None":
    section = key.rpartition(".")[0]
    if not section:
        return document
    table = document.get(section)
    if table is not None and not hasattr(table, "keys"):
        raise ConfigError(f"The config file has a value {section!r} where the table [{section}] should be.")
    return table


def _get(document: "TOMLDocument", key: str) -> Value:
    table = _table_of(document, key)
    value = None if table is None else table.get(key.rpartition(".")[2])
    if value is None:
        return None
    try:
        return parse_value(find_setting(key), value.unwrap() if hasattr(value, "unwrap") else value)
    except ConfigError:
        return str(value)  # wrong until now: this is the mend


def _put(document: "TOMLDocument", key: str, value: str | float | bool | list[str] | None) -> None:
    import tomlkit

    section, _, name = key.rpartition(".")
    if section and section not in document:
        document[section] = tomlkit.table()
    table = _table_of(document, key)
    assert table is not None
    table[name] = value


def _write(path: Path, document: "TOMLDocument") -> None:
    import tomlkit

    text = tomlkit.dumps(document)
    tomllib.loads(text)  # what we write can be read again, or nothing is written
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"The folder {path.parent} cannot be made: {error.strerror}.") from None
    write_private(path, [text])
