"""What every part of the store stands on: one connection, one user, and how values look on disk."""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from memchat.errors import NotFound, StoreUnusable
from memchat.store.connection import Database, Row

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
P = ParamSpec("P")
T = TypeVar("T")
Fields = dict[str, Any]  # some columns of one row, as they stand in the changes' JSON


class Part:
    """Reads and writes for one user. The user's number is looked up each time: a forget may take it away."""

    def __init__(self, database: Database, user: str) -> None:
        self._db = database
        self.user = user

    @property
    def _user_id(self) -> int:
        found: int | None = self._db.value("SELECT id FROM users WHERE name = ?", (self.user,))
        return found or 0  # ids begin at 1: nothing belongs to nobody

    def _owner(self) -> int:
        """Return the user's number for a write, giving out one at the first."""
        return self._user_id or self._db.insert("INSERT INTO users (name) VALUES (?)", (self.user,))


def to_ms(moment: datetime) -> int:
    """Return milliseconds since 1970 in UTC; a time without a zone is refused with ValueError."""
    if moment.tzinfo is None:
        raise ValueError("times must carry their zone")
    return (moment - _EPOCH) // _MILLISECOND


def to_time(milliseconds: int) -> datetime:
    """Return the aware UTC time of a column."""
    return _EPOCH + milliseconds * _MILLISECOND


def to_time_or_none(milliseconds: int | None) -> datetime | None:
    """Return the aware UTC time of a column that may be empty."""
    return None if milliseconds is None else to_time(milliseconds)


def to_day(text: str | None) -> date | None:
    """Return the date of a column that may be empty."""
    return None if text is None else date.fromisoformat(text)


def to_json(value: object) -> str:
    """Return compact JSON that keeps every script readable (a byte search must find it)."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def reads(read: Callable[P, T]) -> Callable[P, T]:
    """Let a function that makes records of rows refuse values that no version of this program can have written."""

    @wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return read(*args, **kwargs)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            raise StoreUnusable(
                f"The memory file holds a value that cannot be read ({str(error)[:80]}); run `memchat doctor`."
            ) from error

    return reading


def storable(text: str) -> str:
    """Return `text` without what SQLite cannot hold: lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")


def in_list(values: Iterable[int] | Iterable[str]) -> tuple[str]:
    """Return values as the one binding of `IN (SELECT value FROM json_each(?))`, which has no upper limit."""
    return (to_json(list(values)),)


def found(row: Row | None, sentence: str) -> Row:
    """Return the row, or raise NotFound with the sentence."""
    if row is None:
        raise NotFound(sentence)
    return row


def assignments(fields: Mapping[str, object]) -> str:
    """Return `a = ?, b = ?` for column names that the program itself wrote."""
    return ", ".join(f"{name} = ?" for name in fields)
