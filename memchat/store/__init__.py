"""The memory file: one SQLite database with memories, their indexes, conversations, the queue and the history."""

from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from memchat.errors import StoreFull
from memchat.store import location, migrations, scrubbing
from memchat.store.connection import Database, open_database
from memchat.store.drops import Drops
from memchat.store.erase import Erase
from memchat.store.health import MODES, Health
from memchat.store.keys import Keys
from memchat.store.keywords import Keywords
from memchat.store.queue import Queue
from memchat.store.recalls import Recalls
from memchat.store.sessions import Sessions
from memchat.store.tombstones import Tombstones, slot_value
from memchat.store.turns import Turns
from memchat.store.undo import Undo
from memchat.store.vectors import Vectors

__all__ = ["MODES", "NOTHING_NEW", "Store", "slot_value"]

NOTHING_NEW: Final = "nothing new will be remembered."  # ends the notice of a file that cannot be written

_COUNTED: Final = ("users", "memories", "keys", "sessions", "turns", "queue", "recalls", "changes", "tombstones")


class Store(Health, Undo, Erase, Keys, Keywords, Vectors, Sessions, Turns, Recalls, Queue, Tombstones, Drops):
    """The memories and conversations of one user in one file, over one connection, for one thread."""

    def __init__(self, database: Database, user: str, notices: list[str]) -> None:
        super().__init__(database, user)
        self.notices = notices

    @classmethod
    def open(cls, path: Path, user: str = "default", *, read_only: bool = False, now: datetime | None = None) -> Self:
        """Open the file, creating it (0600, new folders 0700) or bringing its schema up to date after a copy.

        A file that cannot be written, for its rights or a full disk, is opened for reading, and `notices` says so.
        What is not a memory file, is damaged or newer is refused with StoreUnusable and stays as it is.
        """
        path = location.resolve(path)
        location.examine_place(path)
        notices = []
        if not read_only and not path.exists():
            location.create(path)
        writable = not read_only and location.is_writable(path)
        if writable:
            notices += location.tighten(path)
        elif not read_only:
            notices.append(f"{path} cannot be written: {NOTHING_NEW}")
        try:
            database = open_database(path, migrations.NEWEST, writable=writable)
        except StoreFull:  # there is not even room for SQLite's own files beside it
            if not writable or not path.stat().st_size:
                raise
            database = open_database(path, migrations.NEWEST, writable=False)
            notices.append(f"The disk that holds {path} is full: {NOTHING_NEW}")
        try:
            migrations.migrate(database)
            if database.writable:
                scrubbing.finish_due(database)
        except BaseException:
            database.close()
            raise
        notices += [database.why_no_vectors] if database.why_no_vectors else []
        return cls(database, user, notices)

    @property
    def path(self) -> Path:
        """Where the file lies."""
        return self._db.path

    @property
    def read_only(self) -> bool:
        """Tell whether writes are refused."""
        return not self._db.writable

    @property
    def why_no_vectors(self) -> str | None:
        """Why vectors cannot be searched on this machine, as a sentence; None when they can."""
        return self._db.why_no_vectors

    def for_user(self, user: str) -> Self:
        """Return the same connection for another user."""
        return type(self)(self._db, user, self.notices)

    def transaction(self) -> AbstractContextManager[None]:
        """Hold the write lock over several calls; all of them are stored or none. May be nested."""
        return self._db.transaction()

    def hastily(self) -> AbstractContextManager[None]:
        """Hold a transaction that does not wait for the disk: a power cut may lose it, a killed process does not."""
        return self._db.hastily()

    def backup(self, path: Path) -> None:
        """Write a consistent copy of the live file, 0600, to a path that must be new (UsageError)."""
        migrations.copy_to(self._db, location.resolve(path))

    def sizes(self) -> dict[str, int]:
        """Return bytes of the file and its WAL, and the rows of all users by table."""
        file, wal = self.path, location.side_files(self.path)[0]
        sizes = {"file_bytes": location.size(file), "wal_bytes": location.size(wal)}
        return sizes | {table: self._db.value(f"SELECT count(*) FROM {table}") for table in _COUNTED}

    def close(self) -> None:
        """Close the connection; may be called twice."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
