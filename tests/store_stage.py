"""What the tests of the store share: a fixed clock, short ways to fill a file, and another process beside it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memchat.records import Candidate, Cause, Kind, Memory, NewMemory, ProfileEntry, Recall, Source, Turn, Verdict
from memchat.store import Store
from tests.fakes import FakeEmbedder

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
EMBEDDER = FakeEmbedder()
ROOT = Path(__file__).parent.parent


def embed_all(store, embedder=EMBEDDER):
    """Embed every pending key, as the layers above would."""
    store.adopt_embedder(embedder.card())
    while keys := store.list_pending_keys():
        vectors = embedder.embed_documents([key.text for key in keys])
        store.set_vectors(list(zip([key.id for key in keys], vectors, strict=True)), embedder.card())


def tell(store, text, *cues, turn=None, **fields) -> Memory:
    """Store and embed one memory."""
    source = Source(turn.session, turn.id, turn.user_text) if turn is not None else None
    cause = Cause.LEARNED if turn is not None else Cause.USER
    memory = store.add_memory(NewMemory(text, cues=cues, source=source, **fields), cause=cause, now=NOW)
    embed_all(store)
    return store.get_memory(memory.id)


def say(store, user_text, reply="I see.", *, session=None, learn=False, recall=None, at=NOW) -> Turn:
    """Store one exchange, in a new session unless one is given."""
    session = session if session is not None else store.add_session(at).id
    return store.add_turn(
        session, user_text=user_text, reply=reply, at=at, zone="UTC", model="fake", learn=learn, recall=recall
    )


def recall_of(*memories, query="q", profile=()) -> Recall:
    """Return a recall record that injected the memories."""
    candidates = tuple(
        Candidate(m.id, m.ref, m.text, Kind.FACT, 1.0, 0.9, 0.5, 0.8, 1.0, 5, 0.8, Verdict.INJECTED, "", m.text, NOW)
        for m in memories
    )
    entries = tuple(ProfileEntry(m.id, m.text) for m in profile)
    block = "\n".join(m.text for m in memories)
    return Recall(query, "default", "fake-embed", 0.2, candidates, block, 9, entries, 4, {"total": 1.5})


def near(store, question, *, past=False, embedder=EMBEDDER, limit=10) -> list[int]:
    """Return the ids found by meaning."""
    return [hit.memory for hit in store.search_vectors(embedder.embed_queries([question])[0], limit, past=past)]


def worded(store, *terms, past=False, limit=10) -> list[int]:
    """Return the ids found by words."""
    return [hit.memory for hit in store.search_keywords(terms, limit, past=past)]


def bytes_under(folder: Path) -> bytes:
    """Return the bytes of all files; only for files that this process has closed."""
    return b"\n".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def python(code: str, *arguments: object, **options) -> subprocess.Popen:
    """Start another interpreter on `code`, its standard streams as text pipes."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        **options,
    )


_READER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM memories").fetchall()
print("reading", flush=True)
sys.stdin.readline()
connection.execute("COMMIT")
print("done", flush=True)
sys.stdin.readline()
"""


@contextmanager
def reader(path: Path) -> Iterator[subprocess.Popen]:
    """Hold a read transaction on the file in another process; a line on its stdin ends the transaction."""
    process = python(_READER, path)
    try:
        assert process.stdout.readline() == "reading\n", process.stderr.read()
        yield process
    finally:
        process.kill()
        process.communicate()


_SEARCHER = """
import json, sys
from pathlib import Path
request = json.load(sys.stdin)
files = {file: Path(file).read_bytes() for file in request["files"] if Path(file).exists()}
needles = [bytes.fromhex(needle) for needle in request["needles"]]
print(json.dumps([name for name, content in files.items() if any(needle in content for needle in needles)]))
"""


def files_with(store_path: Path, *needles: str | bytes) -> list[str]:
    """Return which of the store's files hold any needle (texts in UTF-8 and UTF-16), read by another process.

    Opening and closing them in this one would drop the locks of its connections.
    """
    forms = [
        form
        for needle in needles
        for form in (
            [needle] if isinstance(needle, bytes) else [needle.encode(code) for code in ("utf-8", "utf-16-le")]
        )
    ]
    files = [str(store_path), f"{store_path}-wal", f"{store_path}-shm", f"{store_path}-journal"]
    process = python(_SEARCHER)
    out, err = process.communicate(json.dumps({"files": files, "needles": [form.hex() for form in forms]}))
    assert process.returncode == 0, err
    return json.loads(out)


def open_store(folder: Path, **options) -> Store:
    """Open the file that a test works on."""
    return Store.open(folder / "memchat" / "memory.db", **options)
