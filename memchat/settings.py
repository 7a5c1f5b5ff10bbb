"""Every setting, in one table: key, type, default, one sentence. The example config and `config show` come from it."""

import difflib
import os
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memchat.errors import ConfigError, NotFound
from memchat.text import clean

Value = str | int | float | bool | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table. A default of None means "not set"; numbers have inclusive bounds."""

    key: str
    type: type
    default: Value
    sentence: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    env: str | None = None
    longest: int | None = None  # characters of a text on one line; None for a text of any form


def _text(
    key: str,
    default: str | None,
    sentence: str,
    choices: tuple[str, ...] = (),
    *,
    env: str | None = None,
    longest: int | None = None,
) -> Setting:
    return Setting(key, str, default, sentence, choices=choices, env=env, longest=longest)


def _flag(key: str, default: bool, sentence: str) -> Setting:
    return Setting(key, bool, default, sentence)


def _whole(key: str, default: int | None, sentence: str, low: float, high: float) -> Setting:
    return Setting(key, int, default, sentence, low=low, high=high)


def _share(key: str, default: float | None, sentence: str, low: float = 0.0, high: float = 1.0) -> Setting:
    return Setting(key, float, default, sentence, low=low, high=high)


def _list(key: str, sentence: str) -> Setting:
    return Setting(key, tuple, (), sentence)


SETTINGS: Final = (
    _text("db", None, "The memory file; the default lies in your data folder.", env="MEMCHAT_DB"),
    _text("user", "default", "Whose memories are read and written.", env="MEMCHAT_USER", longest=100),
    _text(
        "engine",
        "auto",
        "What answers: an Ollama server, the embedded model, or whichever is there.",
        choices=("auto", "ollama", "embedded"),
        env="MEMCHAT_ENGINE",
    ),
    _text("host", None, "Where Ollama listens; the default is http://127.0.0.1:11434.", env="MEMCHAT_HOST"),
    _text("model", None, "The chat model; by default the best one already there.", env="MEMCHAT_MODEL"),
    _text(
        "embed_model",
        None,
        "The embedding model for a new memory file; an existing file keeps its own until `memchat reindex`.",
        env="MEMCHAT_EMBED_MODEL",
    ),
    _whole(
        "embed_dimensions",
        None,
        "Keep so many numbers of each vector, of models made for it (nomic-embed-text: 256); `reindex` applies it.",
        8,
        65536,
    ),
    _list("allow_remote", "Hosts and models that may see your text although they are not on this machine."),
    _text(
        "chat.system_prompt",
        None,
        "Replaces the assistant's instructions (the profile and the date still follow).",
    ),
    _text("chat.persona", None, "Which of your personas answers, by its name under [personas]."),
    _whole(
        "chat.num_ctx",
        8192,
        "Context window in tokens, the same for every call, since a change reloads the model.",
        1024,
        1048576,
    ),
    _whole("chat.max_reply_tokens", 1024, "Longest reply, kept free in the context window.", 16, 65536),
    _share("chat.temperature", 0.7, "How freely the reply is drawn; 0 always takes the likeliest word.", 0.0, 2.0),
    _share("chat.top_p", 0.9, "Only the likeliest words up to this share are drawn from."),
    _whole("chat.top_k", None, "Only so many of the likeliest words are drawn from.", 1, 1000),
    _share("chat.min_p", None, "Only words at least this likely, measured by the likeliest one, are drawn from."),
    _share(
        "chat.repeat_penalty", 1.05, "How much words that were said already are held back; 1 is not at all.", 0.1, 2.0
    ),
    _whole("chat.seed", None, "A number makes replies repeatable.", 0, 2**31 - 1),
    _text("chat.keep_alive", "30m", "How long Ollama keeps the models loaded after the last message."),
    _text(
        "chat.thinking",
        "off",
        "Whether thinking models reason before they answer, and how that is shown; off is the quickest.",
        choices=("off", "hide", "dim", "show"),
    ),
    _flag("chat.summarise", True, "Sum up the turns that leave the context window, when idle."),
    _flag("chat.titles", True, "Give sessions a title, when idle."),
    _flag("terminal.plain", False, "Print replies as they come, without Markdown or colours."),
    _flag("terminal.notices", True, "Show after a reply what was recalled and what was learnt."),
    _flag("terminal.history", True, "Keep what you typed for arrow-up and search."),
    _flag("terminal.vi", False, "Edit the input line with vi keys."),
    _flag("terminal.clipboard", False, "Allow /copy to set the terminal's clipboard (OSC 52)."),
    _whole(
        "recall.limit",
        5,
        "Most memories recalled beside a message, not counting up to two repeated from the profile.",
        0,
        50,
    ),
    _whole("recall.budget_tokens", 300, "Most tokens that the recalled memories may take.", 0, 8192),
    _whole(
        "recall.profile_tokens",
        300,
        "Most tokens of the profile in the system prompt; 0 switches it off.",
        0,
        8192,
    ),
    _share(
        "recall.false_alarm",
        0.1,
        "Share of unrelated questions that may pass the floor; the floor is measured for each embedding model.",
    ),
    _share("recall.floor", None, "A fixed similarity floor in place of the measured one.", -1.0, 1.0),
    _share("recall.best_share", 0.3, "Share of the best memory's similarity that the others must have beside it."),
    _share(
        "recall.personal_weight",
        2.0,
        "How much lower the floor is for a question about your own life than for one about the world.",
        0.0,
        10.0,
    ),
    _share("recall.semantic_weight", 0.65, "Weight of meaning against keywords when both find something."),
    _share("recall.cue_discount", 0.12, "How much less a memory's questions count than its text in finding it."),
    _share(
        "recall.keyword_floor",
        0.6,
        "Share of a question's rare words that lets a memory pass below the floor.",
    ),
    _share("recall.importance_weight", 0.1, "How much importance moves the order."),
    _share("recall.use_weight", 0.05, "How much earlier use moves the order."),
    _share(
        "recall.duplicate_similarity",
        0.95,
        "Memories nearer to a chosen one than this are passed over as twins.",
    ),
    _whole("recall.half_life_days", 90, "Days after which an event or a task counts half.", 1, 36500),
    _whole(
        "recall.slow_half_life_days",
        365,
        "Days after which facts, preferences, decisions, goals and skills count half.",
        1,
        36500,
    ),
    _share("recall.decay_floor", 0.9, "The least that age leaves of a memory's score."),
    _flag(
        "recall.rerank",
        False,
        "Have the model pick among the ten best memories before it answers; slow, for strong models.",
    ),
    _text(
        "learn.mode",
        "auto",
        "Learn by itself, wait for your approval, or not at all.",
        choices=("auto", "review", "off"),
    ),
    _whole(
        "learn.min_importance",
        3,
        "Memories less important than this (1-10) live for the session only.",
        1,
        10,
    ),
    _share("learn.idle_seconds", 1.5, "How long you must be idle before learning starts.", 0.0, 3600.0),
    _list(
        "learn.never_learn",
        "What must never be learnt: plain words, /regular expressions/, or topics as topic:health.",
    ),
    _flag("learn.health", False, "Learn your own diagnoses, treatments and symptoms without being asked."),
    _whole("learn.exit_seconds", 20, "Longest wait at exit for what is still being learnt.", 0, 3600),
    _text(
        "embedded.chat",
        "standard",
        "Which embedded chat model: the standard pack, the small one, or a path to a GGUF file.",
    ),
    _whole("embedded.threads", None, "Processor threads for the embedded model; by default all cores.", 1, 512),
    _text(
        "log.level",
        "off",
        "What goes to the log file in the data folder; never the text of messages.",
        choices=("off", "info", "debug"),
    ),
)

_BY_KEY: Final = {setting.key: setting for setting in SETTINGS}
_PERSONAS: Final = "personas."
_PERSONA: Final = re.compile(r"personas\.[\w-]{1,40}")


class Settings:
    """The settings in force: `settings["recall.limit"]`, with where each came from."""

    def __init__(self, values: Mapping[str, Value] | None = None, origins: Mapping[str, str] | None = None) -> None:
        self._values = {setting.key: setting.default for setting in SETTINGS} | dict(values or {})
        self._origins = dict(origins or {})

    def __getitem__(self, key: str) -> Value:
        return self._values.get(key) if key.startswith(_PERSONAS) else self._values[key]

    def origin(self, key: str) -> str:
        """Where the value in force comes from: "default", a file, a variable or an option."""
        return self._origins.get(key, "default")

    def text(self, key: str) -> str | None:
        """Return a text setting, None where it is not set."""
        value = self._values[key]
        return None if value is None else str(value)

    def whole(self, key: str) -> int:
        """Return a whole-number setting that has a default."""
        value = self._values[key]
        assert isinstance(value, int), key
        return value

    def number(self, key: str) -> float:
        """Return a numeric setting that has a default."""
        value = self._values[key]
        assert isinstance(value, int | float), key
        return float(value)

    def flag(self, key: str) -> bool:
        """Return a yes-or-no setting."""
        return bool(self._values[key])

    def words(self, key: str) -> tuple[str, ...]:
        """Return a list setting."""
        value = self._values[key]
        assert isinstance(value, tuple), key
        return value

    @property
    def personas(self) -> dict[str, str]:
        """The user's named instructions."""
        named = {key: value for key, value in self._values.items() if key.startswith(_PERSONAS)}
        return {key.removeprefix(_PERSONAS): str(value) for key, value in sorted(named.items()) if value}

    def instructions(self) -> str | None:
        """Return what replaces the assistant's instructions: the persona's, else the user's own, else None.

        Raises NotFound when there is no such persona.
        """
        name, personas = self.text("chat.persona"), self.personas
        if not name:
            return self.text("chat.system_prompt")
        if name not in personas:
            raise NotFound(_no_persona(name, list(personas)))
        return personas[name]

    def with_value(self, key: str, value: Value, origin: str) -> "Settings":
        """Return a copy in which one value is this, None too."""
        return Settings(self._values | {key: value}, self._origins | {key: origin})

    def with_values(self, values: Mapping[str, Value], origin: str) -> "Settings":
        """Return a copy in which `values` (not None ones) win."""
        given = {key: value for key, value in values.items() if value is not None}
        return Settings(self._values | given, self._origins | dict.fromkeys(given, origin))


def _no_persona(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    there = f" there are {', '.join(names)}" if names else ""
    how = 'add one with: memchat config set personas.NAME "You are …"'
    return f"There is no persona {name!r};" + (f" did you mean {near[0]!r}?" if near else f"{there or ' ' + how}.")


def find_setting(key: str) -> Setting:
    """Return the table's row for `key`, a persona's too; raises ConfigError naming the nearest right key."""
    if key in _BY_KEY:
        return _BY_KEY[key]
    if _PERSONA.fullmatch(key):
        return _text(
            key, None, "Instructions that stand in the place of chat.system_prompt while this persona answers."
        )
    near = difflib.get_close_matches(key, _BY_KEY, n=1, cutoff=0.4)
    raise ConfigError(f"There is no setting {key!r}" + (f"; did you mean {near[0]!r}?" if near else "."))


def parse_value(setting: Setting, raw: object) -> Value:
    """Check a value from a file or from words against its row; raises ConfigError with the reason."""
    if setting.type is tuple:
        return _parse_list(setting, raw)
    if setting.type is bool:
        return _parse_flag(setting, raw)
    if setting.type in (int, float):
        return _parse_number(setting, raw)
    if not isinstance(raw, str):
        raise ConfigError(f"{setting.key} must be a text in quotes.")
    if clean(raw) != unicodedata.normalize("NFC", raw):
        raise ConfigError(f"{setting.key} holds control characters, or bytes that are not UTF-8.")
    if setting.longest and not (raw.strip() and len(raw) <= setting.longest and not {"\n", "\t"} & set(raw)):
        raise ConfigError(f"{setting.key} must be 1 to {setting.longest} characters on one line.")
    if setting.choices and raw not in setting.choices:
        raise ConfigError(f"{setting.key} must be one of {', '.join(setting.choices)}; not {raw!r}.")
    return raw


def _parse_list(setting: Setting, raw: object) -> tuple[str, ...]:
    if isinstance(raw, str):
        raw = [part.strip() for part in raw.split(",") if part.strip()]
    if not isinstance(raw, list | tuple) or not all(isinstance(item, str) for item in raw):
        raise ConfigError(f"{setting.key} must be a list of texts.")
    return tuple(raw)


def _parse_flag(setting: Setting, raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    word = str(raw).strip().lower()
    if isinstance(raw, str) and word in ("true", "yes", "on", "1", "false", "no", "off", "0"):
        return word in ("true", "yes", "on", "1")
    raise ConfigError(f"{setting.key} must be true or false.")


def _parse_number(setting: Setting, raw: object) -> int | float:
    kind = "a whole number" if setting.type is int else "a number"
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        raise ConfigError(f"{setting.key} must be {kind}.")
    try:
        number = setting.type(raw)
    except (ValueError, OverflowError):
        raise ConfigError(f"{setting.key} must be {kind}.") from None
    low, high = setting.low, setting.high
    if number != number or (low is not None and number < low) or (high is not None and number > high):
        raise ConfigError(f"{setting.key} must lie between {_shown(low)} and {_shown(high)}; not {raw}.")
    if setting.type is int and isinstance(raw, float) and raw != number:
        raise ConfigError(f"{setting.key} must be {kind}.")
    return number  # type: ignore[no-any-return]


def load_settings(path: Path | None, environ: Mapping[str, str] | None = None) -> Settings:
    """Read the config file (a missing one is empty) and the environment; raises ConfigError with file and line."""
    settings = Settings()
    if path is not None:
        settings = settings.with_values(_read_file(path), str(path))
    environ = os.environ if environ is None else environ
    for setting in SETTINGS:
        if setting.env and environ.get(setting.env):
            try:
                value = parse_value(setting, environ[setting.env])
            except ConfigError as error:
                raise ConfigError(f"The variable {setting.env}: {error.sentence}") from None
            settings = settings.with_values({setting.key: value}, setting.env)
    if environ.get("OLLAMA_HOST") and not environ.get("MEMCHAT_HOST"):
        settings = settings.with_values({"host": environ["OLLAMA_HOST"]}, "OLLAMA_HOST")
    return settings


def _read_file(path: Path) -> dict[str, Value]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The config file {path} cannot be read: {_reason(error)}.") from None
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"The config file {path} is not valid TOML: it is nested too deeply.") from None
    except ValueError as error:  # TOMLDecodeError is one, and so is what Python says of a number of 5,000 digits
        raise ConfigError(f"The config file {path} is not valid TOML: {error}.") from None
    values: dict[str, Value] = {}
    for key, raw in _flatten(document):
        try:
            values[key] = parse_value(find_setting(key), raw)
        except ConfigError as error:
            raise ConfigError(f"{path}, line {_line_of(text, key)}: {error.sentence}") from None
    return values


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or "unknown" if isinstance(error, OSError) else "it is not UTF-8"


def _flatten(table: Mapping[str, object], prefix: str = "") -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for name, value in table.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict):
            # An empty table holds nothing to check but its name: an unknown one is named like an unknown key.
            known = key + "." == _PERSONAS or any(setting.key.startswith(key + ".") for setting in SETTINGS)
            rows.extend(_flatten(value, key + ".") or ([] if known else [(key, value)]))
        else:
            rows.append((key, value))
    return rows


def _line_of(text: str, key: str) -> int:
    """Return the line on which `key` stands: after its table's header, or dotted."""
    *table, name = key.split(".")
    header = re.compile(r"^\s*\[\s*" + r"\s*\.\s*".join(map(re.escape, table)) + r"\s*\]") if table else None
    plain = re.compile(rf'^\s*"?{re.escape(name)}"?\s*[.=]')
    dotted = re.compile(r"^\s*" + r"\s*\.\s*".join(map(re.escape, key.split("."))) + r"\s*=")
    inside = header is None
    for number, line in enumerate(text.splitlines(), 1):
        if dotted.match(line) or (inside and plain.match(line)):
            return number
        if line.lstrip().startswith("["):
            inside = bool(header and header.match(line))
    return 1


def example_config() -> str:
    """Return the text of `config.example.toml`: every setting at its default, commented with its sentence."""
    lines = ["# Every setting of memchat with its default. Uncomment what you want to change.", ""]
    section = ""
    for setting in SETTINGS:
        table, _, name = setting.key.rpartition(".")
        if table != section:
            section = table
            lines += [f"[{table}]", ""]
        lines.append(f"# {setting.sentence}" + _bounds(setting))
        shown = "" if setting.default is None else to_toml(setting.default)
        lines += [f"# {name} = {shown}".rstrip(), ""]
    return "\n".join([*lines, *_EXAMPLE_PERSONA]).rstrip() + "\n"


_EXAMPLE_PERSONA: Final = (
    "[personas]",
    "",
    "# Named instructions, as many as you like: `/persona cook`, or `memchat chat --persona cook`.",
    '# cook = "You are a patient cook. Answer with short recipes."',
)


def _bounds(setting: Setting) -> str:
    if setting.choices:
        return f" One of: {', '.join(setting.choices)}."
    if setting.low is not None and setting.high is not None and setting.type is not str:
        return f" From {_shown(setting.low)} to {_shown(setting.high)}."
    return ""


def _shown(bound: float | None) -> str:
    """Return a bound as people write it: 1048576, not 1.04858e+06."""
    return "any" if bound is None else f"{bound:.15g}"


def to_toml(value: Value) -> str:
    """Write one value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(to_toml(item) for item in value) + "]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return str(value)
