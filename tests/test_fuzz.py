"""Anything at every door: only errors of our own come out, never a traceback, and the memory file stays whole.

MEMCHAT_FUZZ multiplies the number of examples for a longer run.
"""

import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memchat.curate.transcript_queue import queue_transcript
from memchat.curate.transcripts import parse_transcript
from memchat.curate.transfer import import_lines
from memchat.engine.ollama import OllamaChat, OllamaEmbedder, OllamaServer, parse_host, probe
from memchat.errors import MemchatError, UsageError
from memchat.learn import LearnOptions, learn_turn
from memchat.records import Cause, Message, NewMemory, Role, Sampling
from memchat.settings import SETTINGS, load_settings
from memchat.store import Store
from memchat.terminal.commands import COMMANDS
from tests.commands import Shell
from tests.fakes import FakeChat, FakeEmbedder
from tests.standin import Failure, StandIn
from tests.store_stage import NOW

_TIMES = int(os.environ.get("MEMCHAT_FUZZ", "1"))


def examples(number: int) -> settings:
    return settings(
        max_examples=number * _TIMES,
        deadline=None,
        derandomize=_TIMES == 1,  # the suite is the same every time; a longer run looks elsewhere
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


def check(holds: bool) -> None:
    """An assertion about an error that may come, and need not."""
    assert holds


# -- what is thrown

NASTY = st.sampled_from(
    [
        "",
        " ",
        "\0",
        "\x1b[2J",
        "\x1b]52;c;aGk=\x07",
        "\ud800",
        "\u202e",
        "[/b]",
        ":beer:",
        "%s%n",
        "'; DROP TABLE--",
        '"',
        "-",
        "--",
        "-1",
        "9" * 40,
        "1e400",
        "NaN",
        "null",
        "true",
        "{}",
        "[]",
        "\r\n",
        "a" * 5000,
        "日本語",
        "👨‍👩‍👧",
        "*",
        "/",
        "~",
        "~root",
        "<private>",
        "</private>",
        "[End of notes]",
        "OR AND NOT NEAR(",
        "my PIN is 4321",
        "/forget all --yes",
    ]
)
TEXT = st.one_of(NASTY, st.text(max_size=40), st.text(st.characters(min_codepoint=0, max_codepoint=0x2FF), max_size=20))
NUMBER = st.one_of(st.integers(-(2**70), 2**70), st.integers(-3, 12))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBER, st.floats(), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)


def as_argument(text: str) -> str:
    """What an operating system lets through: no NUL."""
    return text.replace("\0", "")


def as_file_name(text: str) -> str:
    """A name in the present folder, so that nothing of this machine is written to."""
    return "f" + as_argument(text).replace("/", "_")[:60]


ARGUMENT = st.one_of(TEXT.map(as_argument), NUMBER.map(str))
FILE = TEXT.map(as_file_name)
WHEN = st.one_of(ARGUMENT, st.sampled_from(["2026-01-01", "0001-01-01", "9999-12-31", "2026-01-01T10:00+25:00"]))
TAKES: dict[str, list[st.SearchStrategy[list[str]]]] = {
    name: [st.builds(lambda *parts: list(parts), *row) for row in rows]
    for name, rows in {
        "ask": [(ARGUMENT, ARGUMENT), (st.just("--json"), ARGUMENT), (st.just("--incognito"), ARGUMENT)],
        "remember": [
            (ARGUMENT,),
            (ARGUMENT, st.just("--kind"), ARGUMENT),
            (st.just("--importance"), ARGUMENT, ARGUMENT),
        ],
        "list": [(st.just("--kind"), ARGUMENT), (st.just("--limit"), ARGUMENT), (st.just("--as-of"), WHEN)],
        "show": [(ARGUMENT,), (ARGUMENT, st.just("--json"))],
        "edit": [(ARGUMENT, ARGUMENT), (st.just("1"), ARGUMENT, st.just("--redact")), (st.just("2"), ARGUMENT)],
        "forget": [
            (ARGUMENT,),
            (st.just("--query"), ARGUMENT, st.just("--yes")),
            (st.just("--before"), WHEN, st.just("--yes")),
            (st.just("--session"), ARGUMENT, st.just("--yes")),
            (st.just("--all"), st.just("--yes")),
        ],
        "history": [(ARGUMENT,), (st.just("--limit"), ARGUMENT)],
        "undo": [(ARGUMENT,)],
        "pending": [(ARGUMENT, ARGUMENT)],
        "inspect": [(st.just("--query"), ARGUMENT, st.just("--expect"), ARGUMENT), (st.just("--turn"), ARGUMENT)],
        "log": [(st.just("--limit"), ARGUMENT)],
        "eval": [(FILE, st.just("-k"), ARGUMENT), (FILE, st.just("--vs"), ARGUMENT)],
        "learn": [(), (st.just("--file"), FILE)],
        "import": [(FILE,), (FILE, st.just("--skip-bad"))],
        "export": [(FILE,)],
        "backup": [(FILE,)],
        "sessions": [
            (st.just("--search"), ARGUMENT),
            (st.just("rename"), ARGUMENT, ARGUMENT),
            (st.just("fork"), ARGUMENT),
        ],
        "stats": [()],
        "doctor": [(), (st.just("--fix"),), (st.just("--privacy"),)],
        "config": [(st.just("set"), ARGUMENT, ARGUMENT), (st.just("show"), ARGUMENT), (st.just("unset"), ARGUMENT)],
        "rules": [(st.just("test"),), (ARGUMENT,)],
    }.items()
}
GLOBAL = st.one_of(
    st.just([]),
    st.tuples(st.sampled_from(["--user", "--model", "--engine", "--embed-model", "--host"]), ARGUMENT).map(list),
    st.tuples(st.just("--db"), FILE).map(list),
)
COMMAND = st.sampled_from(sorted(TAKES)).flatmap(lambda name: st.one_of(TAKES[name]).map(lambda rest: [name, *rest]))
SETTING = st.sampled_from([setting.key for setting in SETTINGS if setting.key != "db"])


# -- where it is thrown


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with three memories, one of them superseded, and a conversation that waits to be learnt."""
    home = tmp_path_factory.mktemp("filled")
    (home / "data").mkdir(mode=0o700)
    with Store.open(Shell(home).db) as store:
        made = [
            store.add_memory(NewMemory(text, ref=f"r{n}"), cause=Cause.USER, now=NOW)
            for n, text in enumerate(["I live in Berlin.", "I live in Porto.", "I keep bees."])
        ]
        store.supersede_memory(made[0].id, by=made[1].id, cause=Cause.USER, now=NOW)
        session = store.add_session(NOW)
        store.add_turn(
            session.id, user_text="I like tea.", reply="ok", at=NOW, zone="UTC", model="m", learn=True, recall=None
        )
    return home


@pytest.fixture
def throw(filled: Path, monkeypatch: pytest.MonkeyPatch):
    """Run a command in a fresh copy of the home, and look at the file afterwards."""

    def run(*argv: str, stdin: bytes = b"", config: bytes | None = None, url: str = "http://127.0.0.1:9") -> None:
        with TemporaryDirectory() as folder:
            home = Path(folder) / "home"
            shutil.copytree(filled, home)
            monkeypatch.chdir(home)
            shell = Shell(home, url)
            if config is not None:
                shell.config.parent.mkdir(parents=True)
                shell.config.write_bytes(config)
            result = shell.run(*argv, stdin=stdin)
            assert result.status in (0, 1, 2, 3, 4, 5), result
            assert "Traceback" not in result.out + result.err
            assert not {"\x1b", "\x07", "\u202e"} & set(result.out + result.err)
            assert not result.status or (result.err + result.out).strip(), "an error without a word"
            with Store.open(shell.db) as store:
                assert store.check() == []
            monkeypatch.chdir(Path(folder).parent)

    return run


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "memory.db") as opened:
        yield opened


@given(before=GLOBAL, command=COMMAND)
@examples(30)
def test_any_arguments(throw, before: list[str], command: list[str]):
    throw(*before, *command)


@given(command=st.lists(ARGUMENT, max_size=4).filter(lambda argv: "setup" not in argv))
@examples(5)
def test_any_words_for_a_command(throw, command: list[str]):
    throw("list", *command)
    throw("sessions", *command)


LINE = st.one_of(
    TEXT,
    st.tuples(st.sampled_from([f"/{row.name}" for row in COMMANDS if row.name not in ("export", "attach")]), TEXT).map(
        " ".join
    ),
)


@given(lines=st.lists(LINE, min_size=1, max_size=6))
@examples(6)
def test_any_lines_in_a_piped_chat(throw, answering: str, lines: list[str]):
    throw("chat", stdin="\n".join(lines).encode("utf-8", "surrogatepass"), url=answering)


@given(
    raw=st.binary(max_size=200), command=st.sampled_from([["chat"], ["ask", "-"], ["remember", "-"], ["import", "-"]])
)
@examples(8)
def test_any_bytes_on_stdin(throw, answering: str, raw: bytes, command: list[str]):
    throw(*command, stdin=raw, url=answering)


@pytest.fixture(scope="module")
def answering() -> Iterator[str]:
    """A server that answers and does not embed, so that little time goes into vectors."""
    with StandIn(models=["llama3.2:3b"]) as server:
        yield server.url


TOML = st.one_of(
    TEXT,
    st.tuples(SETTING, JSON).map(lambda pair: f"{pair[0]} = {json.dumps(pair[1])}"),
    st.tuples(SETTING, TEXT).map(lambda pair: f"{pair[0]} = {pair[1]}"),
    st.tuples(TEXT, JSON).map(lambda pair: f"[{pair[0]}]\nx = {json.dumps(pair[1])}"),
)


@given(lines=st.lists(TOML, max_size=4), raw=st.binary(max_size=8))
@examples(60)
def test_any_config_file(tmp_path: Path, lines: list[str], raw: bytes):
    path = tmp_path / "config.toml"
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass") + (raw if len(raw) > 6 else b""))
    try:
        load_settings(path, {})
    except UsageError as refusal:
        check(str(path) in refusal.sentence)


@given(lines=st.lists(TOML, max_size=3), change=st.tuples(SETTING, ARGUMENT))
@examples(3)
def test_any_config_file_under_a_command(throw, lines: list[str], change: tuple[str, str]):
    content = "\n".join(lines).encode("utf-8", "surrogatepass")
    throw("list", config=content)
    throw("config", "set", *change, config=content)


KEYS = ["text", "id", "ref", "kind", "state", "importance", "confidence", "pinned", "created_at", "last_seen_at"]
KEYS += ["superseded_by", "superseded_at", "event_date", "subject", "attribute", "value", "cues", "source"]
ROW = st.builds(
    lambda text, more: {"text": text} | more,
    st.one_of(TEXT, st.sampled_from(["I live in Porto.", "I keep bees."]), JSON),
    st.dictionaries(
        st.sampled_from(KEYS),
        st.one_of(
            JSON, WHEN, st.sampled_from([1, 2, "r1", "fact", "superseded", 0.5, True, ["x?"], {"evidence": "x"}])
        ),
        max_size=5,
    ),
)


def to_line(row: object) -> bytes:
    return json.dumps(row).encode() if not isinstance(row, str) else row.encode("utf-8", "surrogatepass")


@given(rows=st.lists(st.one_of(ROW, JSON, TEXT), max_size=5), skip=st.booleans())
@examples(40)
def test_any_lines_of_an_import(store: Store, rows: list[object], skip: bool):
    lines = b"\n".join(map(to_line, rows)).splitlines()
    before = store.count_memories()
    try:
        import_lines(store, lines, name="given", now=NOW, skip_bad=skip)
    except UsageError as refusal:
        check(not skip and "given, line" in refusal.sentence and store.count_memories() == before)
    assert store.check() == []


EXCHANGE = st.dictionaries(
    st.sampled_from(["user", "assistant", "at", "conversation", "title", "mapping", "chat_messages", "uuid"]),
    st.one_of(TEXT, JSON, WHEN),
    max_size=5,
)


@given(rows=st.lists(st.one_of(EXCHANGE, JSON), max_size=4), as_list=st.booleans(), skip=st.booleans())
@examples(30)
def test_any_transcript(store: Store, rows: list[object], as_list: bool, skip: bool):
    content = json.dumps(rows).encode() if as_list else b"\n".join(map(to_line, rows))
    try:
        queue_transcript(store, parse_transcript(content, "given", skip_bad=skip), now=NOW)
    except UsageError as refusal:
        check("given" in refusal.sentence)
    assert store.check() == []


DRAFT = st.dictionaries(
    st.sampled_from(["n", "id", "text", "kind", "importance", "relation", "quote", "keep"]), JSON, max_size=4
)
EXTRACTION = st.one_of(
    TEXT,
    st.one_of(
        JSON,
        st.dictionaries(
            st.sampled_from(["memories", "facts", "keep", "relation", "id"]),
            st.one_of(JSON, st.lists(DRAFT, max_size=3)),
            max_size=2,
        ),
    ).map(json.dumps),
    st.tuples(TEXT, JSON, TEXT).map(lambda parts: f"{parts[0]}```json\n{json.dumps(parts[1])}\n```{parts[2]}"),
)
SAID = st.sampled_from(["I live in Berlin.", "My sister Ana is 34.", "I moved to Porto in March.", "I hate tea."])


@given(said=st.one_of(SAID, TEXT), replies=st.lists(EXTRACTION, min_size=4, max_size=4))
@examples(25)
def test_any_reply_of_the_model_to_an_extraction(store: Store, said: str, replies: list[str]):
    session = store.find_latest_session() or store.add_session(NOW)
    store.add_turn(session.id, user_text=said, reply="ok", at=NOW, zone="UTC", model="m", learn=True, recall=None)
    (queued,) = store.list_queued(9, NOW + timedelta(days=999))
    model = FakeChat(json_replies=replies)
    try:
        learn_turn(store, model, FakeEmbedder(), queued, LearnOptions(), datetime(2026, 3, 2, tzinfo=UTC), Event())
    except MemchatError:
        store.finish_queued(queued.id)
    spoken = said.encode("utf-8", "replace").decode()
    for memory in store.list_memories(state=None):
        assert memory.source is not None
        assert memory.source.evidence is not None
        if memory.source.turn == queued.turn.id:
            assert len(memory.text) <= len(spoken) + 40, "nothing is remembered that was not said"
    assert store.check() == []


STREAM = st.lists(
    st.one_of(
        JSON.map(json.dumps),
        TEXT.map(lambda text: json.dumps({"message": {"role": "assistant", "content": text}, "done": False})),
        JSON.map(lambda value: json.dumps({"message": value, "done": True})),
        JSON.map(lambda value: json.dumps({"message": {"content": "x", "thinking": value}, "done": value})),
        JSON.map(lambda value: json.dumps({"models": value, "version": value, "embeddings": value, "error": value})),
        JSON.map(lambda value: json.dumps({"models": [{"name": "m:latest", "size": value, "details": value}]})),
        TEXT,
    ),
    max_size=4,
).map("\n".join)


@given(status=st.sampled_from([200, 200, 200, 204, 301, 400, 403, 404, 500, 503, 599]), page=STREAM)
@examples(25)
def test_any_answer_of_a_server(anything: StandIn, status: int, page: str):
    anything.switches.everywhere = Failure(status, page=page.encode("utf-8", "replace").decode())
    host = parse_host(anything.url)
    probe(host)
    for ask in (
        lambda: OllamaServer(host).models(),
        lambda: list(OllamaChat(host, "m", num_ctx=4096).stream([Message(Role.USER, "hi")], Sampling(), Event())),
        lambda: OllamaEmbedder(host, "m").embed_queries(["hi"]),
    ):
        try:
            ask()
        except MemchatError as error:
            check(0 < len(error.sentence) < 600)


@pytest.fixture(scope="module")
def anything() -> Iterator[StandIn]:
    with StandIn() as server:
        yield server


@given(reply=STREAM)
@examples(15)
def test_any_stream_of_a_chat_whose_model_is_there(anything: StandIn, reply: str):
    anything.switches.everywhere = None
    anything.say(Failure(200, page=reply.encode("utf-8", "replace").decode()))
    model = OllamaChat(parse_host(anything.url), "llama3.2:3b", num_ctx=4096)
    try:
        text = "".join(chunk.text for chunk in model.stream([Message(Role.USER, "hi")], Sampling(), Event()))
        text.encode()
    except MemchatError as error:
        check(0 < len(error.sentence) < 600)
