"""One conversation, turn by turn, on a real store with a scripted model."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest

from memchat.chat import (
    Attachment,
    Chat,
    ChatOptions,
    Finished,
    Mode,
    Notice,
    Piece,
    Recalled,
    TurnEvent,
)
from memchat.chat.idle import give_title, summarise
from memchat.errors import EngineFailed, PromptTooLong, UsageError
from memchat.prompts import SYSTEM_PROMPT
from memchat.recall import ensure_embedded
from memchat.records import Cause, Kind, Role, Sampling
from memchat.store import Store
from tests.chat_stage import NOW, add, chat_with, result_of, say
from tests.fakes import FakeChat, FakeEmbedder


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "memory.db") as opened:
        yield opened


def test_a_turn_recalls_streams_and_is_stored_with_what_it_was_given(store: Store):
    memory = add(store, "I moved to Berlin in March.")
    model = FakeChat(["Try ", "Potsdam."])
    events = say(chat_with(store, model), "Which city did I say I moved to?")
    assert [type(event) for event in events] == [Recalled, Piece, Piece, Finished]
    result = result_of(events)
    assert result.reply == "Try Potsdam."
    assert result.turn is not None
    assert [one.id for one in store.get_recall(result.turn).injected] == [memory.id]
    stored = store.get_turn(result.turn)
    assert (stored.user_text, stored.reply, stored.interrupted) == (
        "Which city did I say I moved to?",
        "Try Potsdam.",
        False,
    )
    assert [queued.turn.id for queued in store.list_queued(9, NOW)] == [result.turn]
    assert store.get_memory(memory.id).recall_count == 1


def test_the_memories_stand_in_the_newest_message_before_its_text_and_are_gone_from_the_next_turn(store: Store):
    add(store, "I moved to Berlin in March.")
    model = FakeChat("One.", "Two.")
    chat = chat_with(store, model)
    say(chat, "Which city have I moved to?")
    say(chat, "And a haiku please")
    first, second = model.prompts
    newest = first[-1].content
    assert newest.endswith("Which city have I moved to?")
    assert "I moved to Berlin in March." in newest
    assert "8 months ago" in newest
    assert second[: len(first) - 1] == first[:-1], "the beginning of the prompt stays the same, byte for byte"
    assert second[1].content == "Which city have I moved to?"
    assert second[2].content == "One."


def test_the_profile_stands_in_the_system_prompt_and_stays_for_the_session(store: Store):
    add(store, "I am allergic to peanuts.", Kind.CONSTRAINT)
    model = FakeChat("a", "b")
    chat = chat_with(store, model)
    say(chat, "hello")
    add(store, "My name is Ines.", Kind.IDENTITY)
    say(chat, "hello again")
    first, second = (prompt[0].content for prompt in model.prompts)
    assert first.startswith(SYSTEM_PROMPT)
    assert "- I am allergic to peanuts" in first
    assert "30 November 2026" in first
    assert second == first
    chat.refresh_profile()
    assert "- My name is Ines" in chat.prompt_prefix()[0].content


def test_a_superseded_profile_memory_is_corrected_beside_the_message(store: Store):
    old = add(store, "I live in Munich.", Kind.IDENTITY)
    model = FakeChat("a", "b")
    chat = chat_with(store, model)
    say(chat, "hello")
    new = add(store, "I live in Berlin.", Kind.IDENTITY)
    store.supersede_memory(old.id, by=new.id, cause=Cause.LEARNED, now=NOW)
    say(chat, "thanks")
    assert "No longer true: I live in Munich. Now: I live in Berlin." in model.prompts[1][-1].content
    assert "- I live in Munich" in model.prompts[1][0].content, "the system prompt is not touched"


def test_ctrl_c_keeps_what_came_marks_it_interrupted_and_learns_nothing_from_it(store: Store):
    stop = Event()
    model = FakeChat(["Once ", "upon ", "a time"])
    chat = chat_with(store, model)
    events: list[TurnEvent] = []
    for event in chat.turn("tell me a story", stop):
        events.append(event)
        if isinstance(event, Piece) and event.text == "upon ":
            stop.set()
    result = result_of(events)
    assert (result.reply, result.interrupted, result.queued) == ("Once upon ", True, False)
    assert result.turn is not None
    assert store.get_turn(result.turn).interrupted
    assert store.count_queued() == 0


def test_a_model_that_fails_half_way_loses_neither_the_message_nor_what_came(store: Store):
    model = FakeChat(["Half ", EngineFailed("The model broke.")], "fine")
    chat = chat_with(store, model)
    with pytest.raises(EngineFailed):
        say(chat, "I have two cats.")
    (session,) = store.list_sessions()
    (turn,) = store.list_turns(session.id)
    assert (turn.user_text, turn.reply, turn.interrupted) == ("I have two cats.", "Half ", True)
    assert store.count_queued() == 0
    assert result_of(say(chat, "again")).reply == "fine"


def test_a_wish_to_remember_is_stored_in_the_users_words_and_the_program_says_so(store: Store):
    events = say(chat_with(store, FakeChat("Sure.")), "Remember that my locker at the pool is number 42.")
    (memory,) = store.list_memories()
    assert "my locker at the pool is number 42" in memory.text.lower()
    assert any(isinstance(event, Notice) and f"#{memory.id}" in event.sentence for event in events)
    assert [saved.id for saved in result_of(events).saved] == [memory.id]
    assert memory.source is not None
    assert memory.source.turn == result_of(events).turn


@pytest.mark.parametrize("mode", [Mode.INCOGNITO, Mode.READ_ONLY])
def test_these_modes_write_nothing_at_all(store: Store, mode: Mode):
    add(store, "I moved to Berlin in March.")
    chat = chat_with(store, FakeChat("ok"), mode=mode)
    events = say(chat, "Remember that I moved to Berlin and have a dog.")
    assert store.list_sessions() == []
    assert store.count_memories() == 1
    assert store.count_queued() == 0
    assert store.list_memories()[0].recall_count == 0
    assert any(isinstance(event, Notice) and "Not saved" in event.sentence for event in events)


def test_incognito_reads_nothing_and_read_only_reads(store: Store):
    add(store, "I am allergic to peanuts.", Kind.CONSTRAINT)
    add(store, "I moved to Berlin in March.")
    for mode, reads in ((Mode.INCOGNITO, False), (Mode.READ_ONLY, True)):
        model = FakeChat("ok")
        say(chat_with(store, model, mode=mode), "Which city have I moved to?")
        prompt = "\n".join(message.content for message in model.prompts[0])
        assert ("Berlin" in prompt, "peanuts" in prompt) == (reads, reads)


def test_what_is_marked_private_is_told_to_be_kept_nowhere(store: Store):
    private, open_ = (say(chat_with(store, FakeChat()), text) for text in ("<private>I sing.</private>", "I sing."))
    assert [one.sentence for one in private if isinstance(one, Notice)] == [
        "Not written down: what you marked private and the reply to it."
    ]
    assert not any(isinstance(one, Notice) for one in open_)


def test_private_spans_and_secrets_reach_the_model_but_no_file(store: Store, tmp_path: Path):
    model = FakeChat("ok")
    text = "My friend <private>Zebulon</private> says my card is 4111 1111 1111 1111."
    events = say(chat_with(store, model), text)
    newest = model.prompts[0][-1].content
    assert "Zebulon" in newest
    assert "4111 1111 1111 1111" in newest
    assert "<private>" not in newest
    told = [event.sentence for event in events if isinstance(event, Notice)]
    assert told == ["Not written down: card number, what you marked private and the reply to it."]
    store.close()
    for file in tmp_path.iterdir():
        assert b"Zebulon" not in file.read_bytes(), file
        assert b"4111 1111" not in file.read_bytes(), file


def test_an_attachment_is_shown_to_the_model_stays_in_the_window_and_is_not_stored(store: Store):
    model = FakeChat("a", "b")
    chat = chat_with(store, model)
    say(chat, "Review this", attachments=[Attachment("x.py", "CITY = 'Perth'")])
    say(chat, "and line one?")
    assert "CITY = 'Perth'" in model.prompts[0][-1].content
    assert "CITY = 'Perth'" in model.prompts[1][1].content
    (session,) = store.list_sessions()
    assert [turn.user_text for turn in store.list_turns(session.id)] == ["Review this", "and line one?"]


def test_the_oldest_turns_leave_whole_the_user_is_told_once_and_the_prompt_never_overflows(store: Store):
    options = ChatOptions(num_ctx=2048, sampling=Sampling(max_tokens=256))
    model = FakeChat(*["word " * 60] * 30)
    chat = chat_with(store, model, options=options)
    notices = 0
    for number in range(30):
        events = say(chat, f"question {number} " + "pad " * 40)
        notices += sum(isinstance(event, Notice) and "out of the model's sight" in event.sentence for event in events)
        assert result_of(events).context_used <= 2048
    assert 1 <= notices <= 10, "the window jumps seldom"
    for prompt in model.prompts:
        assert prompt[0].role is Role.SYSTEM
        assert [m.role for m in prompt[1:]] == [Role.USER, Role.ASSISTANT] * ((len(prompt) - 2) // 2) + [Role.USER]


def test_a_message_too_long_for_the_window_is_refused_in_words_and_the_chat_goes_on(store: Store):
    options = ChatOptions(num_ctx=1024, sampling=Sampling(max_tokens=128))
    chat = chat_with(store, FakeChat("ok"), options=options)
    with pytest.raises(PromptTooLong, match=r"chat\.num_ctx"):
        say(chat, "word " * 4000)
    assert result_of(say(chat, "short")).reply == "ok"


def test_an_engine_that_counts_more_tokens_gets_half_the_window_once(store: Store):
    model = FakeChat(*["fine"] * 4, PromptTooLong("too long"), "after all")
    chat = chat_with(store, model)
    for _ in range(4):
        say(chat, "hello there")
    assert result_of(say(chat, "and now")).reply == "after all"
    assert len(model.prompts[-1]) < len(model.prompts[-2])


def test_a_forgotten_turn_leaves_the_live_context_and_the_profile_is_made_anew(store: Store):
    memory = add(store, "I am allergic to peanuts.", Kind.CONSTRAINT)
    model = FakeChat("a", "b")
    chat = chat_with(store, model)
    turn = result_of(say(chat, "peanuts are bad for me")).turn
    assert turn is not None
    store.erase([memory.id])
    chat.forget(lambda text: "peanuts" in text)
    say(chat, "hello")
    assert "peanuts" not in "\n".join(message.content for message in model.prompts[1])


def test_a_resumed_session_goes_on_with_its_turns(store: Store):
    first = chat_with(store, FakeChat("Hi Ines."))
    say(first, "I am Ines")
    model = FakeChat("ok")
    second = chat_with(store, model, session=store.find_latest_session())
    assert result_of(say(second, "and now?")).session == store.list_sessions()[0].id
    assert [m.content for m in model.prompts[0][1:3]] == ["I am Ines", "Hi Ines."]


def test_a_chat_without_a_memory_file_still_answers():
    events = say(chat_with(None, FakeChat("hello")), "hi")
    assert result_of(events).reply == "hello"
    assert result_of(events).turn is None


def test_an_embedder_that_fails_leaves_keywords_and_says_so(store: Store):
    memory = add(store, "I moved to Berlin in March.")
    embedder = FakeEmbedder()
    ensure_embedded(store, embedder)
    embedder.failure = EngineFailed("The embedding model broke.")
    result = result_of(say(chat_with(store, FakeChat("ok"), embedder), "Who moved to Berlin?"))
    assert result.recall.keywords_only
    assert "broke" in result.recall.keywords_only
    assert [one.id for one in result.recall.injected] == [memory.id]


@pytest.mark.parametrize("text", ["", "   ", "\x1b[2J", "<private> </private>"])
def test_nothing_is_no_message(store: Store, text: str):
    with pytest.raises(UsageError):
        say(chat_with(store, FakeChat()), text)
    assert store.list_sessions() == []


def test_times_tell_embedding_search_first_token_and_the_whole(store: Store):
    timings = result_of(say(chat_with(store, FakeChat("x")), "hi")).timings_ms
    assert set(timings) == {"embed", "search", "first_token", "total"}
    assert 0 < timings["first_token"] <= timings["total"] < timedelta(minutes=1).total_seconds() * 1000


class TestIdleWork:
    def long_talk(self, store: Store, model: FakeChat) -> Chat:
        options = ChatOptions(num_ctx=2048, sampling=Sampling(max_tokens=256))
        chat = chat_with(store, model, options=options)
        for number in range(12):
            say(chat, f"question {number} " + "pad " * 60)
        return chat

    def test_the_turns_out_of_sight_are_summed_up_and_the_summary_joins_the_prompt(self, store: Store):
        model = FakeChat(*["word " * 60] * 13, json_replies=[{"summary": "They asked many questions."}])
        chat = self.long_talk(store, model)
        waiting = chat.unsummarised()
        assert waiting is not None
        assert summarise(store, model, waiting, Event())
        asked = model.json_prompts[0][-1].content
        assert "question 0" in asked
        say(chat, "and now?")
        assert "They asked many questions." in model.prompts[-1][0].content
        left = chat.unsummarised()
        assert left is None or left.exchanges[0].turn > waiting.exchanges[0].turn  # type: ignore[operator]

    def test_nothing_is_summed_up_of_what_was_forgotten_meanwhile(self, store: Store):
        model = FakeChat(*["word " * 60] * 12, json_replies=[{"summary": "They keep zebras."}])
        chat = self.long_talk(store, model)
        waiting = chat.unsummarised()
        assert waiting is not None
        assert chat.session is not None
        store.erase_sessions([chat.session.id])
        assert not summarise(store, model, waiting, Event())

    @pytest.mark.parametrize("reply", ["no json", "[]", '{"summary": 3}', '{"summary": "  "}'])
    def test_a_model_that_gives_nothing_of_use_changes_nothing(self, store: Store, reply: str):
        model = FakeChat(*["word " * 60] * 12, json_replies=[reply])
        chat = self.long_talk(store, model)
        waiting = chat.unsummarised()
        assert waiting is not None
        assert not summarise(store, model, waiting, Event())
        assert store.list_sessions()[0].summary is None

    def test_a_short_talk_is_called_by_its_first_words_and_a_longer_one_by_the_model(self, store: Store):
        say(
            chat_with(store, FakeChat("ok")),
            "What is a good name for a cat that is very very fluffy and also quite old?",
        )
        model = FakeChat("a", "b", json_replies=[{"title": "«Bees» and honey."}])
        chat = chat_with(store, model)
        say(chat, "tell me about bees")
        here = chat.session.id if chat.session else None
        assert give_title(store, lambda: model, Event(), here)
        assert not give_title(store, lambda: model, Event(), here), "the one that goes on waits for its second turn"
        say(chat, "and honey?")
        assert give_title(store, lambda: model, Event(), here)
        titles = [session.title for session in store.list_sessions()]
        assert titles == ["«Bees» and honey", "What is a good name for a cat that is very very fluffy and…"]
        assert not give_title(store, lambda: model, Event())


@pytest.mark.parametrize(
    ("text", "offers"),
    [
        ("forget that", "/forget 1"),
        ("Please forget it.", "/forget 1"),
        ("No, that's wrong.", "/undo"),
        ("Das ist falsch!", "/undo"),
        ("Vergiss das bitte", "/forget 1"),
        ("forget that old bike, I want a new one", None),
        ("Why is that wrong?", None),
        ("that's wrong in so many ways, let me explain what I really meant by it", None),
    ],
)
def test_plain_words_offer_the_command_they_mean(store: Store, text: str, offers: str | None):
    add(store, "I keep bees.")
    notices = [event.sentence for event in say(chat_with(store, FakeChat()), text) if isinstance(event, Notice)]
    assert any(offers in sentence for sentence in notices) if offers else not notices
    assert store.count_memories() == 1, "nothing is done by itself"


def test_a_chat_has_its_model_take_the_second_look_where_that_is_wanted(store: Store) -> None:
    add(store, "I live in Berlin near the canal.")
    add(store, "I ride a bike in Berlin.")
    model = FakeChat(json_replies=[{"needed": [1]}])
    chat = chat_with(store, model)
    chat.recall_options = replace(chat.recall_options, profile_tokens=0)  # what stands in the profile is not looked at
    question = "How do I ride in Berlin near the canal?"
    assert len(result_of(say(chat, question)).recall.injected) == 2
    chat.recall_options = replace(chat.recall_options, rerank=True)
    assert len(result_of(say(chat, question)).recall.injected) == 1
    assert len(model.json_prompts) == 1


def test_the_log_is_told_of_each_turn(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr("memchat.chat.tracing._LOG.info", lambda form, *values: told.append(form % values))
    say(chat_with(store, FakeChat("Fine.")), "How are you?")
    assert [line.split(":")[0] for line in told] == ["turn 1 with fake-chat"]
