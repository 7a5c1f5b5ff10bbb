"""The one place that opens the memory file and speaks to APSW: pragmas, vec0, transactions, errors of ours."""

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import apsw

from memchat.errors import StoreBusy, StoreError, StoreFull, StoreUnusable
from memchat.store import location
from memchat.text import fold

Row = tuple[Any, ...]  # what stands in the columns; STRICT tables vouch for the types
Bindings = Sequence[str | int | float | bytes | None]

BUSY_MS: Final = 5000
_SECOND_LOOKS: Final = (0.05, 0.2)  # seconds; a wipe in another process makes the file smaller before our eyes
_MMAP_BYTES: Final = 4 << 30
_BRING_BACK: Final = "bring back a copy or use `sqlite3 .recover`."
_NO_VECTORS: Final = "sqlite-vec cannot be loaded ({}); only keywords are searched. Reinstall it with pip."


class _Translating:
    """Within: errors of APSW become ours. No generator, which would cost as much as a small query."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, apsw.Error):
            raise translate(error, self._path) from error
        if isinstance(error, UnicodeDecodeError):
            raise StoreUnusable(f"{self._path} is damaged (a text is not UTF-8); {_BRING_BACK}") from error


class Database:
    """One open connection, for one thread. `why_no_vectors` says why vec0 is missing, None when it works."""

    def __init__(self, connection: apsw.Connection, path: Path, *, writable: bool) -> None:
        self._connection = connection
        self._depth = 0
        self.path = path
        self.writable = writable
        self.why_no_vectors: str | None = None
        self._translating = _Translating(path)

    def rows(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        """Return every row of a query."""
        with self._translating:
            try:
                return list(self._connection.execute(sql, bindings))
            except OverflowError:  # somebody named an id of thirty digits: there is no such row
                return list(self._connection.execute(sql, [_fitting(value) for value in bindings]))

    def row(self, sql: str, bindings: Bindings = ()) -> Row | None:
        """Return the first row of a query."""
        found = self.rows(sql, bindings)
        return found[0] if found else None

    def value(self, sql: str, bindings: Bindings = ()) -> Any:  # noqa: ANN401 - the type of one column
        """Return the first column of the first row, None without rows."""
        found = self.row(sql, bindings)
        return found[0] if found else None

    def column(self, sql: str, bindings: Bindings = ()) -> list[Any]:
        """Return the first column of every row."""
        return [row[0] for row in self.rows(sql, bindings)]

    def write(self, sql: str, bindings: Bindings = ()) -> int:
        """Run one change and return how many rows it touched."""
        self._refuse_read_only()
        with self._translating:
            self._connection.execute(sql, bindings).fetchall()
            return self._connection.changes()  # not total_changes: vec0 and FTS5 write many rows of their own

    def write_many(self, sql: str, bindings: Iterable[Bindings]) -> None:
        """Run one change for each row of bindings."""
        self._refuse_read_only()
        with self._translating:
            self._connection.executemany(sql, bindings).fetchall()

    def insert(self, sql: str, bindings: Bindings = ()) -> int:
        """Insert one row and return its id."""
        self.write(sql, bindings)
        return self._connection.last_insert_rowid()

    @contextmanager
    def hastily(self) -> Iterator[None]:
        """Hold a transaction that does not wait for the disk: a power cut may lose it, the end of the process cannot.

        The next ordinary transaction makes it as lasting as itself.
        """
        self._refuse_read_only()
        if self._depth:
            raise RuntimeError("the outermost transaction says how lasting it is")
        self._run("PRAGMA synchronous=NORMAL")
        try:
            with self.transaction():
                yield
        finally:
            self._run("PRAGMA synchronous=FULL")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Take the write lock at once (an upgrade later would fail); inside another one it is a savepoint."""
        self._refuse_read_only()
        name = f"level_{self._depth}"
        begin, end, back = (
            (f"SAVEPOINT {name}", f"RELEASE {name}", f"ROLLBACK TO {name}; RELEASE {name}")
            if self._depth
            else ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
        )
        self._run(begin)
        self._depth += 1
        try:
            yield
            self._run(end)
        except BaseException:  # also Ctrl-C: half a change must never stay
            if self._connection.in_transaction:  # a full disk makes SQLite roll back by itself
                self._run(back)
            raise
        finally:
            self._depth -= 1

    @contextmanager
    def without_waiting(self) -> Iterator[None]:
        """Within: a lock that another connection holds is an error at once."""
        self._connection.set_busy_timeout(0)
        try:
            yield
        finally:
            self._connection.set_busy_timeout(BUSY_MS)

    def tokens(self, text: str) -> set[str]:
        """Return the terms that FTS5 makes of `text`."""
        tokenizer = self._connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        found = tokenizer(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False)
        return {str(term) for terms in found for term in terms}

    def read_bytes(self, offset: int, amount: int, *, wal: bool = False) -> bytes:
        """Return raw bytes of the file or its WAL, read by SQLite so that no lock is lost; b"" after the end."""
        place = location.side_files(self.path)[0] if wal else self.path
        amount = min(amount, max(0, location.size(place) - offset))
        if not amount:
            return b""
        with self._translating:
            return self._connection.read("main", int(wal), offset, amount)[1]

    def configure(self) -> None:
        """Set everything a connection needs, and load sqlite-vec."""
        with self._translating:
            _configure(self._connection, self.writable)
        self.why_no_vectors = _load_vec0(self._connection)

    def close(self) -> None:
        """Close the connection; may be called twice."""
        with self._translating:
            self._connection.close()

    def _run(self, sql: str) -> None:
        with self._translating:
            self._connection.execute(sql).fetchall()

    def _refuse_read_only(self) -> None:
        if not self.writable:
            raise StoreUnusable(
                f"{self.path} is opened for reading only, so nothing was changed; "
                "check its rights and the room on its disk."
            )


def open_database(path: Path, newest: int, *, writable: bool) -> Database:
    """Open an existing file if it is ours with a schema up to `newest`; until that is known nothing touches it."""
    database = Database(_connect(path, writable), path, writable=writable)
    try:
        _examine(database, newest)
        database.configure()
    except BaseException:
        database.close()
        raise
    return database


def _examine(database: Database, newest: int) -> None:
    """Refuse what is no whole memory file."""
    for pause in (*_SECOND_LOOKS, None):
        header = database.read_bytes(0, location.HEADER_SIZE)
        location.examine_header(database.path, header, newest)
        if not location.is_cut_short(database.path, header):
            return
        if pause is not None:
            time.sleep(pause)
    raise StoreUnusable(f"{database.path} is cut short (a part of the file is missing); bring back a copy of it.")


def translate(error: apsw.Error, path: Path) -> StoreError:
    """Return the error of ours that tells the user what an APSW error means for the file."""
    reason = str(error).removeprefix(f"{type(error).__name__}: ")
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(f"Another program is writing to {path}; nothing was changed, try again in a moment.")
        case apsw.FullError():
            return StoreFull(f"The disk that holds {path} is full; nothing was stored. Make room and try again.")
        case apsw.IOError() if _disk_is_full(path):
            return StoreFull(f"The disk that holds {path} is full; nothing was stored. Make room and try again.")
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.AuthError():
            return StoreUnusable(f"{path} cannot be written ({reason}); check the rights of the file and its folder.")
        case apsw.CorruptError() | apsw.NotADBError():
            return StoreUnusable(f"{path} is damaged ({reason}); {_BRING_BACK}")
        case apsw.CantOpenError() | apsw.IOError():
            return StoreUnusable(f"{path} cannot be opened ({reason}); check its rights, or name a file with --db.")
    return StoreError(f"The memory file {path} refused a request ({reason}); run `memchat doctor`.")


def _fitting(value: str | int | float | bytes | None) -> str | int | float | bytes | None:
    """Return a value as SQLite can hold it: whole numbers have 64 bits there."""
    return max(-(2**63), min(value, 2**63 - 1)) if isinstance(value, int) else value


def _disk_is_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < 65536
    except OSError:
        return False


def _connect(path: Path, writable: bool) -> apsw.Connection:
    try:
        return _opened(path, writable)
    except apsw.Error as error:
        raise translate(error, path) from error


def _opened(path: Path, writable: bool) -> apsw.Connection:
    if writable:
        return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    wal, shm, _ = location.side_files(path)
    # Without a WAL to read nothing can be pending, and only `immutable` opens a WAL file in a folder where no
    # shared-memory file can be made.
    alone = not (shm.exists() or location.is_writable(path)) or _disk_is_full(path)
    lone = alone and not location.size(wal)
    return apsw.Connection(path.as_uri() + ("?immutable=1" if lone else "?mode=ro"), flags=flags)


def _configure(connection: apsw.Connection, writable: bool) -> None:
    connection.set_busy_timeout(BUSY_MS)
    connection.create_scalar_function("folded", _folded, -1, deterministic=True)
    settings = [f"mmap_size={_MMAP_BYTES}", "foreign_keys=ON", "temp_store=MEMORY"]
    if writable:
        settings += ["secure_delete=ON", "synchronous=FULL", "journal_size_limit=4194304"]
    for setting in settings:
        connection.execute(f"PRAGMA {setting}").fetchall()
    if writable:
        _make_ours(connection)
    # Reading the schema first tells damage as what it is: registering alone would blame a missing FTS5 for it.
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    connection.register_fts5_function("matched_phrases", _matched_phrases)


def _make_ours(connection: apsw.Connection) -> None:
    """Set the application id while the file is empty, and switch to WAL (which never waits, so we do)."""
    if not connection.execute("PRAGMA page_count").get:
        connection.execute(f"PRAGMA application_id={location.APPLICATION_ID}").fetchall()
    if connection.execute("PRAGMA journal_mode").get != "wal":
        patiently(lambda: connection.execute("PRAGMA journal_mode=WAL").fetchall(), BUSY_MS / 1000)


def patiently(attempt: Callable[[], object], seconds: float) -> None:
    """Repeat `attempt` while it meets a lock, for at most `seconds`; the last BusyError is raised."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            attempt()
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _folded(*texts: object) -> str:
    return fold(" ".join(text for text in texts if isinstance(text, str)))


def _matched_phrases(api: apsw.FTS5ExtensionApi, *_: object) -> str:
    return ",".join(str(phrase) for phrase in range(api.phrase_count) if api.phrase_columns(phrase))


def _load_vec0(connection: apsw.Connection) -> str | None:
    """Load sqlite-vec without importing it, since its package imports numpy; return why it cannot, or None."""
    found = PathFinder.find_spec("sqlite_vec")
    folders = found.submodule_search_locations if found is not None else None
    files = [file for folder in folders or () for file in Path(folder).glob("vec0.*")]
    if not files:
        return _NO_VECTORS.format("it is not installed")
    try:
        connection.enable_load_extension(True)
        connection.load_extension(str(files[0]), "sqlite3_vec_init")
        connection.enable_load_extension(False)
    except apsw.Error as error:
        return _NO_VECTORS.format(error)
    return None
