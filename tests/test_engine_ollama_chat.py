"""The chat model of an Ollama server: what goes over the wire, what comes back, and how it is stopped."""

import base64
import socket
import time
from threading import Event, Thread, active_count
from time import monotonic

import pytest

from memchat.engine.keep_alive import parse_keep_alive
from memchat.engine.ollama_chat import OllamaChat
from memchat.errors import Cancelled, EngineFailed, ModelMissing, PromptTooLong, UsageError
from memchat.records import Message, Role, Sampling
from tests.standin import Failure, Reply, StandIn
from tests.standin_models import StandInModel, thinking_model

SOON = 10.0  # seconds: what hangs here hangs for a minute, and a busy machine is slow
ASKED = [Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "Hello?")]
THINKING = Sampling(thinking=True)
SCHEMA = {"type": "object", "properties": {"memories": {"type": "array"}}, "required": ["memories"]}


def read(chat, messages=ASKED, sampling=None, stop=None):
    """Return text, reasoning and Done of a reply."""
    text, thinking, done = "", "", None
    for chunk in chat.stream(messages, sampling or Sampling(), stop or Event()):
        text = chunk.text if chunk.restart else text + chunk.text
        thinking += chunk.thinking
        done = chunk.done or done
    return text, thinking, done


def test_a_reply_comes_in_pieces_and_ends_with_the_counts():
    with StandIn(replies=["Hello there, friend."]) as server:
        chunks = list(OllamaChat(server.url, "llama3.2:3b").stream(ASKED, Sampling(), Event()))
    assert [chunk.text for chunk in chunks] == ["Hello", " there,", " friend.", ""]
    done = chunks[-1].done
    assert (done.reason, done.prompt_tokens, done.reply_tokens, done.tokens_per_second) == ("stop", 13, 3, 20.0)
    assert done.prompt_ms == 13.0


def test_counts_that_the_server_leaves_out_are_zero():
    with StandIn(replies=[Reply("")]) as server:
        assert read(OllamaChat(server.url, "llama3.2:3b"))[2].tokens_per_second == 0.0


def test_every_call_sends_one_num_ctx_keep_alive_and_no_thinking():
    with StandIn() as server:
        chat = OllamaChat(server.url, "llama3.2:3b", num_ctx=4000, keep_alive="10m")
        chat.warm_up(ASKED, Event())
        chat.warm_up([], Event())
        read(chat)
        chat.complete_json(ASKED, SCHEMA, max_tokens=50, stop=Event())
        bodies = server.asked("/api/chat")
        assert len(bodies) == 4
        assert {body["options"]["num_ctx"] for body in bodies} == {4000}
        assert {body["keep_alive"] for body in bodies} == {"10m"}
        assert {body["think"] for body in bodies} == {False}
        assert all("repeat_penalty" in body["options"] for body in bodies)
        assert server.loads == [("llama3.2:3b", 4000)]


def test_the_sampling_goes_with_a_reply():
    with StandIn() as server:
        read(OllamaChat(server.url, "llama3.2:3b"), sampling=Sampling(0.3, 0.8, seed=7, max_tokens=99))
        options = server.chats[0]["options"]
    assert (options["temperature"], options["top_p"], options["seed"], options["num_predict"]) == (0.3, 0.8, 7, 99)
    assert not {"top_k", "min_p"} & set(options), "what is not set is left to the server"


def test_what_else_is_set_of_the_sampling_goes_with_it():
    with StandIn() as server:
        read(OllamaChat(server.url, "llama3.2:3b"), sampling=Sampling(top_k=40, min_p=0.1, repeat_penalty=1.2))
        options = server.chats[0]["options"]
    assert (options["top_k"], options["min_p"], options["repeat_penalty"]) == (40, 0.1, 1.2)


def test_a_json_answer_is_asked_for_with_the_schema_at_temperature_0():
    with StandIn(json_replies=[{"memories": [{"text": "I live in Berlin."}]}]) as server:
        answer = OllamaChat(server.url, "llama3.2:3b").complete_json(ASKED, SCHEMA, max_tokens=50, stop=Event())
        body = server.chats[0]
    assert answer == '{"memories": [{"text": "I live in Berlin."}]}'
    assert body["format"] == SCHEMA
    assert (body["options"]["temperature"], body["options"]["num_predict"]) == (0, 50)


def test_a_reply_cut_by_its_length_says_so():
    with StandIn(replies=["one two three four"]) as server:
        text, _, done = read(OllamaChat(server.url, "llama3.2:3b"), sampling=Sampling(max_tokens=2))
    assert (text, done.reason) == ("one two", "length")


def test_pictures_go_as_base64_and_a_path_is_never_read(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("TOP SECRET")
    picture = base64.b64encode(b"\x89PNG picture").decode()
    with StandIn() as server:
        chat = OllamaChat(server.url, "llama3.2:3b")
        read(chat, [Message(Role.USER, "What is this?", (picture,))])
        assert server.chats[0]["messages"][0]["images"] == [picture]
        with pytest.raises(UsageError, match="base64"):
            read(chat, [Message(Role.USER, "What is this?", (str(secret),))])


def test_the_card_tells_digest_context_and_capabilities():
    with StandIn(["m"]) as server:
        card = OllamaChat(server.url, "M").card()
    assert (card.model, card.engine, card.context, card.remote) == ("m:latest", "ollama", 131072, None)
    assert len(card.digest) == 64
    assert "completion" in card.capabilities


def test_servers_that_tell_capabilities_only_in_show_are_asked_there():
    with StandIn([thinking_model()], tell_capabilities=False) as server:
        card = OllamaChat(server.url, "qwen3:4b").card()
    assert "thinking" in card.capabilities
    assert card.context == 131072


# -- reasoning


def test_a_thinking_model_reasons_only_when_wanted():
    with StandIn([thinking_model()], [Reply("Hi.", thinking="Hm."), Reply("Hi.", thinking="Hm.")]) as server:
        assert read(OllamaChat(server.url, "qwen3:4b"))[:2] == ("Hi.", "")
        assert read(OllamaChat(server.url, "qwen3:4b"), sampling=THINKING)[:2] == ("Hi.", "Hm.")
        assert [body["think"] for body in server.chats] == [False, True]


def test_a_model_that_cannot_think_is_never_asked_to():
    with StandIn() as server:
        read(OllamaChat(server.url, "llama3.2:3b"), sampling=THINKING)
        assert [body["think"] for body in server.chats] == [False]


def test_a_server_that_refuses_the_field_is_asked_again_without_it_and_that_is_remembered():
    refusal = Failure(400, '"llama3.2:3b" does not support thinking')
    with StandIn(replies=[refusal, "one", "two"]) as server:
        chat = OllamaChat(server.url, "llama3.2:3b")
        assert [read(chat)[0], read(chat)[0]] == ["one", "two"]
        assert [body.get("think") for body in server.chats] == [False, None, None]


def test_reasoning_left_in_the_text_is_sorted_out():
    with StandIn(replies=[Reply(["<thi", "nk>Hm.</th", "ink>\n\nHi", "."])]) as server:
        assert read(OllamaChat(server.url, "llama3.2:3b"))[:2] == ("Hi.", "Hm.")


def test_reasoning_without_an_opening_tag_restarts_the_first_reply_and_is_held_back_in_the_next():
    with StandIn(replies=[Reply(["Hm.", "\n</think>", "\n\nHi."]), Reply(["Hm.", "\n</think>", "\n\nHo."])]) as server:
        chat = OllamaChat(server.url, "llama3.2:3b")
        first = list(chat.stream(ASKED, Sampling(), Event()))
        assert [chunk.restart for chunk in first if chunk.text or chunk.restart] == [False, False, True]
        assert [chunk.text for chunk in chat.stream(ASKED, Sampling(), Event()) if chunk.text] == ["Ho."]


def test_a_tag_that_the_server_sets_apart_itself_leaves_the_text_alone():
    reply = Reply(["<think>", " opens it."], thinking="They ask about tags.")
    with StandIn([thinking_model()], [reply]) as server:
        text, thinking, _ = read(OllamaChat(server.url, "qwen3:4b"), sampling=THINKING)
    assert (text, thinking) == ("<think> opens it.", "They ask about tags.")


def test_a_model_that_keeps_to_a_schema_only_while_reasoning_is_let_reason_from_then_on():
    replies = ["Sure, nothing to note!", '{"memories": []}', '{"memories": []}']
    with StandIn([thinking_model()], json_replies=replies) as server:
        chat = OllamaChat(server.url, "qwen3:4b")
        for _ in range(2):
            assert chat.complete_json(ASKED, SCHEMA, max_tokens=50, stop=Event()) == '{"memories": []}'
        assert [body["think"] for body in server.chats] == [False, True, True]
        assert [body["options"]["num_predict"] for body in server.chats] == [50, 2098, 2098]


def test_prose_in_place_of_json_is_handed_on_as_it_is():
    with StandIn(json_replies=["Sure!"]) as server:
        answer = OllamaChat(server.url, "llama3.2:3b").complete_json(ASKED, SCHEMA, max_tokens=50, stop=Event())
    assert answer == "Sure!"


def test_broken_text_is_sent_with_its_broken_letters_replaced():
    with StandIn() as server:
        read(OllamaChat(server.url, "llama3.2:3b"), [Message(Role.USER, "a\ud800b")])
        assert server.chats[0]["messages"][0]["content"] == "a?b"


# -- refusals and repeats


def test_an_empty_reply_that_only_loaded_the_model_is_asked_for_again_once():
    with StandIn(replies=[Reply("x", ends="load"), "Hi."]) as server:
        text, _, done = read(OllamaChat(server.url, "llama3.2:3b"))
    assert (text, done.reason) == ("Hi.", "stop")


def test_a_model_that_only_ever_loads_fails_in_words():
    with StandIn(replies=[Reply("x", ends="load")] * 2) as server:
        with pytest.raises(EngineFailed, match="gave no reply"):
            read(OllamaChat(server.url, "llama3.2:3b"))
        assert len(server.chats) == 2


def test_an_embedding_model_is_refused_before_any_text():
    with StandIn() as server:
        with pytest.raises(ModelMissing, match="cannot chat"):
            read(OllamaChat(server.url, "nomic-embed-text"))
        assert not server.chats


def test_a_prompt_without_messages_is_a_mistake_of_the_caller():
    with StandIn() as server, pytest.raises(ValueError, match="without messages"):
        read(OllamaChat(server.url, "llama3.2:3b"), [])


def test_what_the_server_cut_silently_shows_in_the_count():
    long = [Message(Role.USER, "word " * 900), Message(Role.ASSISTANT, "ok"), *ASKED]
    with StandIn() as server:
        done = read(OllamaChat(server.url, "llama3.2:3b", num_ctx=500), long)[2]
        assert len(server.prompts[0]) < len(long)
        assert done.prompt_tokens < 500


def test_a_newest_message_that_cannot_fit_is_told_as_too_long():
    with StandIn() as server, pytest.raises(PromptTooLong, match="num_ctx"):
        read(OllamaChat(server.url, "llama3.2:3b", num_ctx=500), [Message(Role.USER, "word " * 900)])


@pytest.mark.parametrize(
    ("value", "sent"),
    [("30m", "30m"), ("1h30m", "1h30m"), ("-1m", "-1m"), ("300", 300), ("-1", -1), ("0", 0), (" 5M ", "5m"), (60, 60),
     ("forever", -1), ("1.5h", "1.5h")],
)  # fmt: skip
def test_keep_alive_is_a_number_or_a_duration(value, sent):
    assert parse_keep_alive(value) == sent
    with StandIn() as server:
        read(OllamaChat(server.url, "llama3.2:3b", keep_alive=value))
        assert server.chats[0]["keep_alive"] == sent


@pytest.mark.parametrize("value", ["", "soon", "1d", "10 m", "m", "1e3", "30m; rm"])
def test_a_keep_alive_that_the_server_would_refuse_is_refused_here(value):
    with pytest.raises(UsageError, match=r"chat\.keep_alive"):
        parse_keep_alive(value)


# -- stopping


def stop_after(seconds):
    stop = Event()
    Thread(target=lambda: (time.sleep(seconds), stop.set()), daemon=True).start()
    return stop


@pytest.mark.parametrize(
    "reply",
    [Reply("x", first_token=60), Reply("a b c", ends="hang"), Reply("word " * 1000, pause=0.05)],
    ids=["before the first token", "in a silence", "between tokens"],
)
def test_stop_closes_the_connection_at_once_and_the_reply_ends_without_done(reply):
    with StandIn(replies=[reply, "next"]) as server:
        chat = OllamaChat(server.url, "llama3.2:3b")
        chat.card()
        stop, started = stop_after(0.2), monotonic()
        _, _, done = read(chat, stop=stop)
        assert monotonic() - started < SOON
        assert done is None
        deadline = monotonic() + SOON
        while not server.left and monotonic() < deadline:
            time.sleep(0.005)
        assert server.left
        assert read(chat)[0] == "next"


def test_stop_ends_a_wait_for_other_requests_of_the_model():
    with StandIn(replies=[Reply("x", first_token=60), "y"], one_at_a_time=True) as server:
        chat, first_stop = OllamaChat(server.url, "llama3.2:3b"), Event()
        first = Thread(target=lambda: read(chat, stop=first_stop), daemon=True)
        first.start()
        while not server.prompts:
            time.sleep(0.005)
        started = monotonic()
        assert read(chat, stop=stop_after(0.2))[2] is None
        assert monotonic() - started < SOON
        first_stop.set()
        first.join(SOON)
        assert not first.is_alive()


def test_a_stopped_json_answer_raises_cancelled():
    with StandIn(json_replies=[Reply("x", first_token=60)]) as server:
        chat = OllamaChat(server.url, "llama3.2:3b")
        started = monotonic()
        with pytest.raises(Cancelled):
            chat.complete_json(ASKED, SCHEMA, max_tokens=50, stop=stop_after(0.1))
        assert monotonic() - started < SOON


def test_a_warm_up_can_be_stopped():
    with StandIn(one_at_a_time=True, replies=[Reply("x", first_token=60)]) as server:
        chat, stop = OllamaChat(server.url, "llama3.2:3b"), Event()
        busy = Thread(target=lambda: read(chat, stop=stop), daemon=True)
        busy.start()
        while not server.prompts:
            time.sleep(0.005)
        started = monotonic()
        chat.warm_up(ASKED, stop_after(0.1))
        assert monotonic() - started < SOON
        stop.set()
        busy.join(SOON)


def test_stop_ends_the_look_at_a_server_that_hangs_before_any_text():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        chat = OllamaChat(f"127.0.0.1:{listener.getsockname()[1]}", "llama3.2:3b")
        started = monotonic()
        assert read(chat, stop=stop_after(0.1)) == ("", "", None)
        assert monotonic() - started < SOON


def test_a_stop_that_is_set_already_sends_nothing():
    stop = Event()
    stop.set()
    with StandIn() as server:
        chat = OllamaChat(server.url, "llama3.2:3b")
        assert read(chat, stop=stop) == ("", "", None)
        with pytest.raises(Cancelled):
            chat.complete_json(ASKED, SCHEMA, max_tokens=5, stop=stop)
        assert not server.chats


def test_leaving_the_iterator_closes_the_connection():
    with StandIn(replies=[Reply("word " * 3000, pause=0.02)]) as server:
        reply = OllamaChat(server.url, "llama3.2:3b").stream(ASKED, Sampling(), Event())
        assert next(reply).text == "word"
        reply.close()
        deadline = monotonic() + SOON
        while not server.left and monotonic() < deadline:
            time.sleep(0.005)
        assert server.left


def test_no_thread_is_left_after_a_reply():
    with StandIn() as server:
        chat = OllamaChat(server.url, "llama3.2:3b")
        read(chat)
        time.sleep(0.2)
        before = active_count()
        for _ in range(5):
            read(chat)
        time.sleep(0.2)
        assert active_count() <= before


def test_a_slow_reader_is_not_taken_for_a_silent_server():
    with StandIn(replies=[Reply("one" + " more" * 11, pause=0.1)]) as server:
        reply = OllamaChat(server.url, "llama3.2:3b", idle_seconds=0.6).stream(ASKED, Sampling(), Event())
        assert next(reply).text == "one"
        time.sleep(1.0)
        assert "".join(chunk.text for chunk in reply) == " more" * 11


def test_a_model_with_a_small_window_is_known_by_its_card():
    with StandIn([StandInModel("tiny:latest", context=2048)]) as server:
        assert OllamaChat(server.url, "tiny").card().context == 2048
