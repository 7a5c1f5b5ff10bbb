"""Reading conversations held elsewhere, and queueing them once."""

import json
import zipfile
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memchat.curate.import_lines import parse_lines
from memchat.curate.transcript_queue import clauses, queue_transcript
from memchat.curate.transcripts import parse_transcript, read_transcript
from memchat.errors import UsageError
from memchat.records import Cause, NewMemory, Source
from memchat.store import Store

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
KEYS = st.sampled_from(
    [
        "user",
        "assistant",
        "at",
        "title",
        "mapping",
        "message",
        "author",
        "role",
        "content",
        "parts",
        "parent",
        "children",
        "current_node",
        "chat_messages",
        "sender",
        "text",
        "created_at",
        "id",
        "ref",
        "superseded_by",
        "kind",
        "cues",
        "source",
        "evidence",
        "importance",
    ]
)


def as_lines(documents):
    return b"\n".join(json.dumps(document).encode() for document in documents)


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "memchat" / "memory.db") as opened:
        yield opened


def plain(*exchanges):
    return "\n".join(json.dumps(exchange) for exchange in exchanges).encode()


def gpt_message(role, text, at=1_700_000_000.0, **more):
    return {"author": {"role": role}, "create_time": at, "content": {"content_type": "text", "parts": [text]}} | more


def gpt_talk(*messages, title="Trip", talk="c1"):
    """A conversation whose messages hang one under the other, below an empty root."""
    mapping = {"root": {"id": "root", "message": None, "parent": None, "children": ["m0"]}}
    for number, message in enumerate(messages):
        children = [f"m{number + 1}"] if number + 1 < len(messages) else []
        parent = f"m{number - 1}" if number else "root"
        mapping[f"m{number}"] = {"id": f"m{number}", "message": message, "parent": parent, "children": children}
    return {
        "title": title,
        "create_time": 1_690_000_000.0,
        "conversation_id": talk,
        "mapping": mapping,
        "current_node": f"m{len(messages) - 1}",
    }


def claude_talk(*messages):
    return {
        "uuid": "u1",
        "name": "Garden",
        "created_at": "2026-01-02T03:04:05.678Z",
        "chat_messages": [
            {"sender": sender, "text": text, "created_at": "2026-01-02T03:05:00Z"} for sender, text in messages
        ],
    }


def read(content):
    return parse_transcript(content, "file")


def told(transcript):
    return [(turn.user_text, turn.reply) for turn in transcript.turns]


def test_plain_lines_become_turns_with_their_times():
    transcript = read(
        plain(
            {"user": "I keep bees.", "assistant": "Nice!", "at": "2026-03-01T10:00:00+02:00"},
            {"user": "hi"},
            {"user": "  ", "assistant": "?"},
        )
    )
    assert transcript.form == "lines"
    assert told(transcript) == [("I keep bees.", "Nice!"), ("hi", "")]
    assert transcript.turns[0].at == datetime(2026, 3, 1, 10, tzinfo=timezone(timedelta(hours=2)))
    assert transcript.turns[1].at is None


def test_every_bad_line_is_named_and_may_be_skipped():
    content = plain({"user": "a"}, {"assistant": "b"}) + b"\nnope\n"
    with pytest.raises(UsageError) as caught:
        read(content)
    assert "file, line 2: user: is missing" in caught.value.sentence
    assert "file, line 3: Invalid JSON" in caught.value.sentence
    assert told(parse_transcript(content, "file", skip_bad=True)) == [("a", "")]


def test_a_chatgpt_export_gives_the_branch_shown_last():
    talk = gpt_talk(
        gpt_message("system", "Be brief."),
        gpt_message("user", "I moved to Berlin."),
        gpt_message("assistant", "search()", recipient="browser"),
        gpt_message("tool", "results"),
        gpt_message("assistant", "Welcome!"),
        gpt_message("assistant", "Enjoy."),
        gpt_message("user", "Thanks"),
    )
    talk["mapping"]["dead"] = {"message": gpt_message("user", "An earlier wording"), "parent": "m0", "children": []}
    transcript = read(json.dumps([talk]).encode())
    assert transcript.form == "chatgpt"
    assert told(transcript) == [("I moved to Berlin.", "Welcome!\n\nEnjoy."), ("Thanks", "")]
    turn = transcript.turns[0]
    assert (turn.conversation, turn.title) == ("c1", "Trip")
    assert turn.at == datetime.fromtimestamp(1_700_000_000, UTC)


@pytest.mark.parametrize("node", [None, "gone"], ids=["no current node", "a current node that is not there"])
def test_a_chatgpt_tree_without_a_current_node_gives_its_last_leaf(node):
    talk = gpt_talk(gpt_message("user", "a"), gpt_message("assistant", "b")) | {"current_node": node}
    assert told(read(json.dumps([talk]).encode())) == [("a", "b")]


def test_a_chatgpt_tree_in_a_circle_ends():
    talk = gpt_talk(gpt_message("user", "a"))
    talk["mapping"]["root"]["parent"] = "m0"
    assert told(read(json.dumps([talk]).encode())) == [("a", "")]


def test_images_and_code_of_a_chatgpt_export_are_no_words():
    picture = gpt_message("user", "")
    picture["content"] = {"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}, "What is this?"]}
    code = gpt_message("assistant", "")
    code["content"] = {"content_type": "code", "text": "1+1"}
    assert told(read(json.dumps([gpt_talk(picture, code)]).encode())) == [("What is this?", "")]


def test_a_claude_export_is_read_in_both_its_forms():
    talk = claude_talk(("human", "I grow roses."), ("assistant", "Lovely."))
    talk["chat_messages"].append(
        {"sender": "human", "text": "", "content": [{"type": "text", "text": "And figs."}, {"type": "tool_use"}]}
    )
    transcript = read(json.dumps([talk]).encode())
    assert transcript.form == "claude"
    assert told(transcript) == [("I grow roses.", "Lovely."), ("And figs.", "")]
    assert transcript.turns[0].at == datetime(2026, 1, 2, 3, 5, tzinfo=UTC)
    assert transcript.turns[0].title == "Garden"


@pytest.mark.parametrize("content", [b"[1, 2]", b"[{]", b"["], ids=["no objects", "no JSON", "cut short"])
def test_what_is_no_export_is_refused(content):
    with pytest.raises(UsageError, match="file"):
        read(content)


def test_a_broken_conversation_is_named_and_the_others_can_be_had():
    content = json.dumps([{"title": "x", "mapping": 3}, gpt_talk(gpt_message("user", "a"))]).encode()
    with pytest.raises(UsageError, match="conversation 1: mapping"):
        read(content)
    assert told(parse_transcript(content, "file", skip_bad=True)) == [("a", "")]


def test_the_zip_of_an_export_is_read_as_it_comes(tmp_path):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("chat.html", "<html>")
        archive.writestr("data/conversations.json", json.dumps([gpt_talk(gpt_message("user", "a"))]))
    assert told(read_transcript(path)) == [("a", "")]


@pytest.mark.parametrize("name", ["missing", "."], ids=["missing", "a folder"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, name):
    with pytest.raises(UsageError, match="cannot be read"):
        read_transcript(tmp_path / name)


def test_a_zip_without_conversations_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("chat.html", "<html>")
    with pytest.raises(UsageError, match=r"conversations\.json"):
        read_transcript(tmp_path / "a.zip")


def test_keys_stay_the_same_when_the_export_has_grown():
    before = read(json.dumps([gpt_talk(gpt_message("user", "a"), gpt_message("assistant", "b"))]).encode())
    after = read(
        json.dumps(
            [gpt_talk(gpt_message("user", "a"), gpt_message("assistant", "b"), gpt_message("user", "c"))]
        ).encode()
    )
    assert [turn.key for turn in before.turns] == [turn.key for turn in after.turns][:1]
    assert len({turn.key for turn in after.turns}) == 2


# -- the queue


def test_each_conversation_becomes_a_session_and_waits_to_be_learnt(store):
    transcript = read(json.dumps([gpt_talk(gpt_message("user", "I moved to Berlin."), title="Trip")]).encode())
    outcome = queue_transcript(store, transcript, now=NOW)
    assert (outcome.queued, outcome.sessions) == (1, 1)
    (queued,) = store.list_queued(10, NOW)
    assert queued.turn.user_text == "I moved to Berlin."
    assert queued.turn.at == datetime.fromtimestamp(1_700_000_000, UTC)
    assert queued.turn.model == "ChatGPT"
    assert store.get_session(queued.turn.session).title == "Trip"


def test_a_second_run_queues_only_what_is_new_in_the_same_session(store):
    first = read(plain({"user": "a", "at": "2026-01-01T00:00:00Z"}, {"user": "undated"}))
    grown = read(plain({"user": "a", "at": "2026-01-01T00:00:00Z"}, {"user": "undated"}, {"user": "b"}))
    queue_transcript(store, first, now=NOW)
    again = queue_transcript(store, grown, now=NOW + timedelta(days=1))
    assert (again.queued, again.known, again.sessions) == (1, 2, 0)
    assert store.count_queued() == 3


def test_the_same_words_at_two_times_are_two_exchanges(store):
    transcript = read(
        plain({"user": "a", "at": "2026-01-01"}, {"user": "b", "at": "2026-01-01"}, {"user": "a", "at": "2026-01-02"})
    )
    assert queue_transcript(store, transcript, now=NOW).queued == 3
    assert queue_transcript(store, transcript, now=NOW).known == 3


def test_the_zone_of_a_time_is_kept_and_the_users_own_stands_in(store):
    transcript = read(
        plain({"user": "a", "at": "2026-01-01T10:00:00+02:00"}, {"user": "b", "at": "2026-01-01T10:00:00Z"})
    )
    queue_transcript(store, transcript, now=NOW, zone="Europe/Berlin")
    assert [queued.turn.zone for queued in store.list_queued(10, NOW)] == ["+0200", "Europe/Berlin"]


def test_a_secret_is_replaced_before_anything_is_written(store):
    card = "4012 8888 8888 1881"
    outcome = queue_transcript(store, read(plain({"user": f"My card is {card}.", "assistant": card})), now=NOW)
    assert outcome.secrets == 1
    (queued,) = store.list_queued(10, NOW)
    assert card not in queued.turn.user_text + queued.turn.reply
    assert queue_transcript(store, read(plain({"user": f"My card is {card}.", "assistant": card})), now=NOW).known == 1


@pytest.mark.parametrize("at", ["2026-01-01T00:00:00Z", None], ids=["dated", "undated"])
def test_a_forgotten_exchange_does_not_come_back_with_an_old_transcript(store, tmp_path, at):
    content = plain({"user": "I keep zanzibarian bees. Do you?", "at": at}, {"user": "hello there"})
    queue_transcript(store, read(content), now=NOW)
    queued = store.list_queued(1, NOW)[0]
    source = Source(queued.turn.session, queued.turn.id, "I keep zanzibarian bees.")
    memory = store.add_memory(NewMemory("I keep zanzibarian bees.", source=source), cause=Cause.LEARNED, now=NOW)
    store.erase([memory.id])
    again = queue_transcript(store, read(content), now=NOW)
    assert (again.queued, again.known, again.forgotten) == (0, 1, 1)
    assert b"zanzibarian" not in b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_a_message_is_taken_apart_into_what_a_forgotten_clause_may_be():
    parts = list(clauses("I live in Oslo. I keep bees, and my cat is called Mo!"))
    assert parts[0] == "I live in Oslo. I keep bees, and my cat is called Mo!"
    assert {"I live in Oslo", "I live in Oslo.", "I keep bees", "my cat is called Mo"} <= set(parts)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=12,
)


@given(st.binary(max_size=200) | st.lists(JSON | st.text(), max_size=4).map(as_lines))
@settings(max_examples=150, deadline=None)
def test_whatever_a_file_holds_only_our_error_comes_out(content):
    with suppress(UsageError):
        parse_transcript(content, "file")
    with suppress(UsageError):
        parse_transcript(b"[" + content.replace(b"\n", b",") + b"]", "file")
    parse_lines(content.splitlines(), NOW)


@pytest.mark.parametrize(
    "text",
    [
        "User: I live in Turin.\nI like it.\nAssistant: Nice.\nUser: And you?\nAssistant: Nowhere.\n",
        "# A talk\n\nYou: I live in Turin.\nI like it.\nAI: Nice.\nYou: And you?\nAI: Nowhere.",
        "Human: I live in Turin.\nI like it.\n\nClaude: Nice.\n\nHuman: And you?\n\nClaude: Nowhere.\n",
        "**User:** I live in Turin.\nI like it.\n\n**AI:** Nice.\n\n**User:** And you?\n\n**Assistant:** Nowhere.",
        "System: Be brief.\nME: I live in Turin.\nI like it.\nbot: Nice.\nme: And you?\nbot: Nowhere.",
        "## User\n## You said:\nI live in Turin.\nI like it.\n## ChatGPT said:\nNice.\nYou: And you?\nAI: Nowhere.",
        "**You**\n\nI live in Turin.\nI like it.\n\n**Assistant**\n\nNice.\n\n**You**\n\nAnd you?\n\n**AI**\nNowhere.",
    ],
)
def test_a_text_that_names_the_speakers_is_a_transcript(text):
    turns = parse_transcript(text.encode(), "talk.txt").turns
    assert [(turn.user_text, turn.reply) for turn in turns] == [
        ("I live in Turin.\nI like it.", "Nice."),
        ("And you?", "Nowhere."),
    ]
    assert all(turn.at is None for turn in turns)


@pytest.mark.parametrize(
    "before", ["[2024-03-01 10:00] User", "User (2024-03-01T10:00Z)", "2024-03-01 11:00+01:00 You"]
)
def test_a_time_beside_a_name_is_when_it_was_said(before):
    (turn,) = parse_transcript(f"{before}: I moved to Milan.\nAI: Nice.".encode(), "talk.txt").turns
    assert turn.at == datetime(2024, 3, 1, 10, tzinfo=UTC)
    assert turn.user_text == "I moved to Milan."


def test_a_text_without_speakers_is_refused_with_the_forms_that_can_be_read():
    with pytest.raises(UsageError, match=r'JSON Lines of .*"User: …".*Claude export'):
        parse_transcript(b"Dear diary,\nI live in Turin.\n", "diary.txt")
