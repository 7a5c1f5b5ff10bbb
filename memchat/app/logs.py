"""The log file: off unless `log.level` says otherwise, readable by the owner alone, never the text of messages."""

import logging
import os
from pathlib import Path

_ROOT = logging.getLogger("memchat")
_MOST_BYTES = 1_000_000


def start_log(level: str, path: Path) -> None:
    """Write what happens to `path` from `level` on ("off", "info", "debug"); nothing ever goes to the screen."""
    _ROOT.propagate = False
    for old in list(_ROOT.handlers):
        _ROOT.removeHandler(old)
        old.close()
    if level == "off":
        _ROOT.addHandler(logging.NullHandler())
        return
    from logging.handlers import RotatingFileHandler  # late: only for who wants a log

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        writer = RotatingFileHandler(path, maxBytes=_MOST_BYTES, backupCount=0, encoding="utf-8")
    except OSError:
        _ROOT.addHandler(logging.NullHandler())  # no log is no reason not to chat
        return
    writer.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    _ROOT.addHandler(writer)
    _ROOT.setLevel(logging.DEBUG if level == "debug" else logging.INFO)
