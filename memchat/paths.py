"""Where things lie on this machine, by the habits of the platform."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Paths:
    """Files and folders of one installation; nothing is created here."""

    config: Path
    db: Path
    models: Path
    history: Path
    log: Path


def locate(db: str | None = None, config: str | None = None) -> Paths:
    """Return the paths in force; options win over the platform's folders."""
    import platformdirs  # late: a third of the time of `memchat --help`

    data = Path(platformdirs.user_data_dir("memchat", appauthor=False))
    settings = Path(platformdirs.user_config_dir("memchat", appauthor=False)) / "config.toml"
    return Paths(
        config=Path(config).expanduser() if config else settings,
        db=Path(db).expanduser() if db else data / "memory.db",
        models=data / "models",
        history=data / "history",
        log=data / "memchat.log",
    )
