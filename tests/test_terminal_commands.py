"""Slash commands: what is one, what each does, what it says when it cannot."""

import base64
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from memchat.chat import Mode
from memchat.errors import MemchatError, NotFound, UsageError
from memchat.records import Cause, Kind, NewMemory, State
from memchat.terminal.commands import COMMANDS, Call, find_command, in_chat, read_call, run_command
from memchat.terminal.desk import Leave, Outcome, Say, Write
from memchat.terminal.talk_commands import SAMPLING
from tests.fakes import FakeChat
from tests.stage import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path, FakeChat("Hello.\n```python\nx = 1\n```\nand\n```\ny\n```", "Again."))
    yield made
    made.app.close()


def run(stage: Stage, line: str) -> Outcome:
    call = read_call(line)
    assert call is not None, line
    return run_command(stage.desk, call)


def talk(stage: Stage, text: str = "hi") -> None:
    stage.desk.last_text = text
    list(stage.chat.turn(text, Event()))


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("/help", Call("help", "")),
        ("/Help ", Call("help", "")),
        ("/edit 3 new  text", Call("edit", "3 new  text")),
        ("/read-only", Call("read-only", "")),
        ("/wrod", Call("wrod", "")),
        ("/remember it's so", Call("remember", "it's so")),
        (" /help", None),
        ("// a comment", None),
        ("//help", None),
        ("/usr/bin is full", None),
        ("/etc/passwd", None),
        ("/", Call("", "")),
        ("/ ", Call("", "")),
        (" /", None),
        ("/ help", None),
        ("/remember one\ntwo", None),
        ("help", None),
        ("/3", None),
    ],
)
def test_what_is_a_command(message: str, call: Call | None) -> None:
    assert read_call(message) == call


@pytest.mark.parametrize(
    ("word", "near"),
    [("rember", "/remember"), ("memry", "/memories"), ("mem", "/memories"), ("exti", "/exit"), ("zzzz", "/help")],
)
def test_a_typo_is_answered_with_the_nearest_command(stage: Stage, word: str, near: str) -> None:
    with pytest.raises(UsageError, match=near):
        run(stage, f"/{word}")


def test_a_lone_slash_is_told_and_not_sent(stage: Stage) -> None:
    with pytest.raises(UsageError, match="alone is no command"):
        run(stage, "/")


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("There is no memory 9; `memchat list` shows those there are.", "/memories shows"),
        ("There is no session 9; `memchat sessions` shows those there are.", "/sessions shows"),
        ("`memchat setup` gets one.", "`memchat setup` gets one."),
        ("run `memchat doctor --fix`", "`memchat doctor --fix`"),
    ],
)
def test_a_sentence_in_the_chat_names_its_own_commands(sentence: str, told: str) -> None:
    assert told in in_chat(sentence)


def test_names_and_aliases_are_unique_and_described() -> None:
    names = [name for row in COMMANDS for name in (row.name, *row.aliases)]
    assert len(names) == len(set(names))
    assert all(row.help.endswith(".") for row in COMMANDS)


def test_help_lists_every_command_and_explains_one(stage: Stage) -> None:
    run(stage, "/help")
    listed = stage.seen()
    assert all(f"/{row.name}" in listed for row in COMMANDS)
    run(stage, "/help /quit")
    assert "Also /exit" in stage.seen()
    with pytest.raises(UsageError, match="no command /nope"):
        run(stage, "/help nope")


@pytest.mark.parametrize("word", ["quit", "exit", "bye", "q"])
def test_quitting(stage: Stage, word: str) -> None:
    assert run(stage, f"/{word}") == Leave()


def test_remember_stores_the_words_and_says_the_id(stage: Stage) -> None:
    run(stage, "/remember My cat is called [Mimi].")
    assert stage.seen() == "+ #1 My cat is called [Mimi].\n"
    assert stage.app.store.get_memory(1).text == "My cat is called [Mimi]."
    run(stage, "/remember my cat is called [mimi].")
    assert stage.seen().startswith("= #1")


def test_a_secret_is_kept_only_after_a_yes(stage: Stage) -> None:
    line = "/remember my api key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
    run(stage, line)
    assert stage.app.store.count_memories() == 0
    stage.answers = [True]
    run(stage, line)
    assert stage.app.store.count_memories() == 1


def test_nobody_to_ask_means_no(stage: Stage) -> None:
    stage.desk.ask = None
    with pytest.raises(MemchatError):
        run(stage, "/remember my api key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789")
    assert stage.app.store.count_memories() == 0


def test_what_was_forgotten_comes_back_only_after_a_yes(stage: Stage) -> None:
    run(stage, "/remember I like tea.")
    run(stage, "/forget 1 --yes")
    run(stage, "/remember I like tea.")
    assert stage.app.store.count_memories() == 0
    stage.answers = [True]
    run(stage, "/remember I like tea.")
    assert stage.app.store.count_memories() == 1


@pytest.mark.parametrize("mode", [Mode.INCOGNITO, Mode.READ_ONLY])
@pytest.mark.parametrize("line", ["/remember x y", "/edit 1 new", "/pin 1", "/undo", "/pending approve 1"])
def test_a_mode_that_stores_nothing_changes_nothing(stage: Stage, mode: Mode, line: str) -> None:
    run(stage, "/remember I like tea.")
    run(stage, f"/{mode.value}")
    with pytest.raises(UsageError, match=f"/{mode.value}"):
        run(stage, line)
    run(stage, "/forget 1 --yes")
    assert stage.app.store.count_memories() == 0


def add(stage: Stage, text: str, kind: Kind = Kind.FACT, state: State = State.CURRENT) -> int:
    new = NewMemory(text, kind, state=state)
    return stage.app.store.add_memory(new, cause=Cause.LEARNED, now=stage.app.clock()).id


def test_memories_are_listed_by_kind_and_by_words(stage: Stage) -> None:
    add(stage, "I like tea.", Kind.PREFERENCE)
    add(stage, "I live in Berlin.")
    for line, count in (("/memories", 2), ("/memories preference", 1), ("/memories berlin LIVE", 1), ("/list x", 0)):
        run(stage, line)
        assert stage.seen().count("#") == count, line


def test_a_long_list_shows_the_newest_and_how_to_see_all(stage: Stage) -> None:
    for number in range(40):
        add(stage, f"I own book number {number}.")
    run(stage, "/memories")
    seen = stage.seen()
    assert "number 39." in seen
    assert "number 3." not in seen
    assert "10 older ones: /memories all" in seen
    run(stage, "/memories all")
    assert "number 3." in stage.seen()


def test_one_memory_is_shown_whole(stage: Stage) -> None:
    run(stage, "/remember I like tea.")
    stage.seen()
    run(stage, "/show #1")
    assert "importance" in stage.seen()
    with pytest.raises(NotFound):
        run(stage, "/show 99")
    for line in ("/show", "/show tea", "/show 1 2"):
        with pytest.raises(UsageError):
            run(stage, line)


def test_editing_rewords_and_can_be_undone(stage: Stage) -> None:
    run(stage, "/remember I like tea.")
    run(stage, "/edit 1 I like green tea.")
    assert "= #1 I like green tea. · /undo" in stage.seen()
    run(stage, "/undo")
    assert stage.app.store.get_memory(1).text == "I like tea."
    run(stage, "/edit 1 I like tea.")
    assert "Nothing was changed" in stage.seen()


def test_editing_without_text_opens_the_editor(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "editor"
    script.write_text("#!/bin/sh\nsed -i 's/tea/coffee/' \"$1\"\n")
    script.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(script))
    run(stage, "/remember I like tea.")
    run(stage, "/edit 1")
    assert stage.app.store.get_memory(1).text == "I like coffee."
    stage.desk.ask = None
    with pytest.raises(UsageError, match="/edit ID TEXT"):
        run(stage, "/edit 1")


def test_forgetting_an_id_asks_once_and_prints_a_receipt(stage: Stage) -> None:
    run(stage, "/remember I like tea.")
    run(stage, "/forget 1")
    assert stage.app.store.count_memories() == 1
    stage.answers = [True]
    stage.seen()
    run(stage, "/forget #1")
    seen = stage.seen()
    assert len(stage.questions) == 2
    assert "Forgotten: #1." in seen
    assert "nothing of it is left" in seen


def test_forgetting_by_words_lists_what_it_means(stage: Stage) -> None:
    add(stage, "My dog is called Rex.")
    add(stage, "My dog likes fish.")
    add(stage, "I like tea.")
    stage.answers = [True]
    run(stage, "/forget dog")
    assert "My dog likes fish." in stage.seen()
    assert stage.questions == ["Erase these 2 for good?"]
    assert [memory.id for memory in stage.app.store.list_memories()] == [3]
    with pytest.raises(NotFound):
        run(stage, "/forget elephant --yes")
    with pytest.raises(UsageError):
        run(stage, "/forget")


def test_forgetting_drops_it_from_the_live_chat(stage: Stage) -> None:
    forgotten: list[bool] = []
    stage.desk.forgot = lambda: forgotten.append(True)
    run(stage, "/remember I am Ann.")
    run(stage, "/pin 1")
    talk(stage, "I am Ann.")
    stage.answers = [True]
    run(stage, "/forget 1")
    assert forgotten == [True]
    assert "Ann" not in "".join(message.content for message in stage.chat.prompt_prefix())


def test_without_a_terminal_forgetting_needs_a_word(stage: Stage) -> None:
    run(stage, "/remember I like tea.")
    stage.desk.ask = None
    with pytest.raises(UsageError, match="--yes"):
        run(stage, "/forget 1")
    run(stage, "/forget 1 --yes")
    assert stage.app.store.count_memories() == 0


def test_pins_go_on_and_off(stage: Stage) -> None:
    run(stage, "/remember I like tea.")
    run(stage, "/pin 1")
    assert stage.app.store.get_memory(1).pinned
    run(stage, "/unpin #1")
    assert not stage.app.store.get_memory(1).pinned
    with pytest.raises(UsageError):
        run(stage, "/pin")
    with pytest.raises(NotFound):
        run(stage, "/pin 7")


def test_history_tells_what_changed(stage: Stage) -> None:
    run(stage, "/remember I like tea.")
    run(stage, "/edit 1 I like coffee.")
    stage.seen()
    run(stage, "/history 1")
    assert "“I like tea.” → “I like coffee.”" in stage.seen()
    run(stage, "/history")
    assert "added" in stage.seen()


@pytest.mark.parametrize("line", ["/undo", "/undo 5"])
def test_nothing_to_undo_is_said(stage: Stage, line: str) -> None:
    with pytest.raises(NotFound):
        run(stage, line)


def test_proposals_wait_for_a_word(stage: Stage) -> None:
    add(stage, "I like tea.", state=State.PROPOSED)
    add(stage, "I like beer.", state=State.PROPOSED)
    run(stage, "/pending")
    assert "waits for approval" in stage.seen()
    run(stage, "/pending approve 1")
    run(stage, "/pending reject")
    assert [memory.text for memory in stage.app.store.list_memories()] == ["I like tea."]
    for line, error in (("/pending approve 9", NotFound), ("/pending nonsense", UsageError)):
        with pytest.raises(error):
            run(stage, line)


def test_learn_wakes_the_learner(stage: Stage) -> None:
    woken: list[bool] = []
    stage.desk.learn = lambda: woken.append(True)
    run(stage, "/learn")
    assert woken == [True]
    assert "Nothing waits" in stage.seen()


def test_why_shows_what_the_last_reply_was_given(stage: Stage) -> None:
    with pytest.raises(UsageError, match="no reply"):
        run(stage, "/why")
    run(stage, "/remember My favourite tea is oolong.")
    talk(stage, "Which tea is my favourite tea?")
    stage.seen()
    run(stage, "/why")
    assert "My favourite tea is oolong." in stage.seen()
    run(stage, "/log")
    assert "Which tea" in stage.seen()


def test_why_shows_an_earlier_reply_too(stage: Stage) -> None:
    run(stage, "/remember My favourite tea is oolong.")
    talk(stage, "Which tea is my favourite tea?")
    talk(stage, "And now?")
    stage.seen()
    run(stage, "/why 1")
    assert "Which tea" in stage.seen()
    with pytest.raises(NotFound):
        run(stage, "/why 99")


def test_why_ablate_answers_again_without_each_memory(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeChat("Oolong, you said.", "Oolong, you said.", "I do not know."))
    with pytest.raises(UsageError, match="no recalled memory"):
        run(stage, "/why --ablate")
    run(stage, "/remember My favourite tea is oolong.")
    talk(stage, "Which tea is my favourite tea?")
    stage.seen()
    run(stage, "/why --ablate")
    seen = stage.seen()
    assert "with all of them:\nOolong, you said.\nwithout #1 (My favourite tea is oolong.): 0% of the words" in seen
    assert "words stay\nI do not know.\n" in seen


def test_inspect_runs_the_read_path(stage: Stage) -> None:
    run(stage, "/remember My favourite tea is oolong.")
    stage.seen()
    run(stage, "/inspect Which tea is my favourite?")
    assert "My favourite tea is oolong." in stage.seen()
    with pytest.raises(UsageError):
        run(stage, "/inspect")


def test_the_profile_is_shown(stage: Stage) -> None:
    run(stage, "/profile")
    assert "empty" in stage.seen()
    run(stage, "/remember I am Ann.")
    run(stage, "/pin 1")
    run(stage, "/profile")
    assert "#1  I am Ann" in stage.seen()


def test_stats_are_shown(stage: Stage) -> None:
    run(stage, "/stats")
    assert "0 memories of default" in stage.seen()


def test_conversations_are_listed_named_and_gone_on_with(stage: Stage) -> None:
    talk(stage, "about Paris")
    run(stage, "/rename Trip to [Paris]")
    run(stage, "/new")
    with pytest.raises(UsageError):
        run(stage, "/rename nothing said yet")
    talk(stage, "about Rome")
    stage.seen()
    run(stage, "/sessions")
    assert "Trip to [Paris]" in stage.seen()
    run(stage, "/resume 1")
    assert stage.chat.session.id == 1
    assert "You said last: about Paris" in stage.seen()
    run(stage, "/continue")
    assert stage.chat.session.id == 2
    with pytest.raises(NotFound):
        run(stage, "/resume 77")


def test_a_copy_leaves_the_original_alone(stage: Stage) -> None:
    with pytest.raises(UsageError):
        run(stage, "/fork")
    talk(stage)
    run(stage, "/fork")
    talk(stage, "only in the copy")
    assert [turn.user_text for turn in stage.app.store.list_turns(1)] == ["hi"]


def test_a_conversation_is_deleted_after_a_yes(stage: Stage) -> None:
    talk(stage, "about Paris")
    run(stage, "/delete 1")
    assert stage.questions == ["Erase conversation 1 (1 turn, 0 memories) for good?"]
    stage.answers = [True]
    run(stage, "/delete 1")
    assert stage.app.store.list_sessions() == []
    assert stage.chat.session is None
    talk(stage, "about Rome")
    stage.desk.ask = None
    with pytest.raises(UsageError, match="--yes"):
        run(stage, "/delete 2")
    run(stage, "/delete 2 --yes")
    assert stage.app.store.list_sessions() == []
    for line, error in (("/delete", UsageError), ("/delete 7", NotFound)):
        with pytest.raises(error):
            run(stage, line)


def test_nothing_to_continue_is_said(stage: Stage) -> None:
    with pytest.raises(UsageError, match="no earlier"):
        run(stage, "/continue")


def test_a_conversation_is_exported_once(stage: Stage, tmp_path: Path) -> None:
    talk(stage)
    run(stage, f"/export {tmp_path}/talk.md")
    assert "Hello." in (tmp_path / "talk.md").read_text()
    with pytest.raises(UsageError, match="already"):
        run(stage, f"/export {tmp_path}/talk.md")


def test_incognito_starts_and_ends_a_conversation_of_its_own(stage: Stage) -> None:
    talk(stage, "open words")
    run(stage, "/incognito")
    assert stage.chat.mode is Mode.INCOGNITO
    assert len(stage.chat.prompt_prefix()) == 1
    talk(stage, "hidden words")
    run(stage, "/incognito")
    assert stage.chat.mode is Mode.NORMAL
    assert len(stage.chat.prompt_prefix()) == 1
    assert len(stage.app.store.list_sessions()) == 1


def test_read_only_keeps_the_conversation(stage: Stage) -> None:
    talk(stage)
    run(stage, "/read-only")
    assert stage.chat.mode is Mode.READ_ONLY
    assert len(stage.chat.prompt_prefix()) == 3
    run(stage, "/readonly")
    assert stage.chat.mode is Mode.NORMAL


@pytest.mark.parametrize(("command", "mode"), [("/incognito", Mode.INCOGNITO), ("/read-only", Mode.READ_ONLY)])
def test_a_mode_is_switched_as_it_is_said(stage: Stage, command: str, mode: Mode) -> None:
    for word, wanted in [("on", mode), ("ON", mode), ("yes", mode), ("off", Mode.NORMAL), ("no", Mode.NORMAL)]:
        run(stage, f"{command} {word}")
        assert stage.chat.mode is wanted, word
    with pytest.raises(UsageError, match=f"{command} takes on or off"):
        run(stage, f"{command} maybe")
    assert stage.chat.mode is Mode.NORMAL


def test_a_mode_that_stands_already_keeps_its_conversation(stage: Stage) -> None:
    run(stage, "/incognito on")
    talk(stage, "hidden words")
    run(stage, "/read-only off")
    run(stage, "/incognito on")
    assert len(stage.chat.prompt_prefix()) == 3
    assert "incognito already" in stage.seen()


def test_plain_is_switched_as_it_is_said(stage: Stage) -> None:
    for word, wanted in [("on", True), ("on", True), ("off", False), ("off", False), ("", True), ("", False)]:
        run(stage, f"/plain {word}")
        assert stage.desk.plain is wanted
    with pytest.raises(UsageError, match="/plain takes on or off"):
        run(stage, "/plain maybe")


def test_retry_and_edit_last_send_again(stage: Stage) -> None:
    for line in ("/retry", "/edit-last"):
        with pytest.raises(UsageError):
            run(stage, line)
    talk(stage, "first")
    assert run(stage, "/retry") == Say("first", instead=True)
    assert run(stage, "/edit-last") == Write("first")
    assert run(stage, "/edit-last second") == Say("second", instead=True)


def test_a_conversation_that_goes_on_can_be_tried_again(stage: Stage) -> None:
    talk(stage, "first")
    stage.desk.chat, stage.desk.last_text = stage.app.open_chat(continue_=True), ""
    assert run(stage, "/retry") == Say("first", instead=True)


def test_trying_again_takes_the_files_along(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("the notes")
    run(stage, f"/attach {tmp_path}/notes.txt")
    along = stage.desk.next_message("read it", instead=False)
    stage.desk.attached = ()
    assert stage.desk.next_message("read it", instead=True) == along
    assert stage.desk.next_message("more", instead=False) == ()


def test_files_are_attached_as_material(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("some \x1b[31mnotes")
    run(stage, f'/attach "{tmp_path}/notes.txt"')
    assert stage.desk.attached[0].content == "some notes"
    (tmp_path / "program").write_bytes(b"\x7fELF\0\0")
    for name in ("program", "missing", ""):
        with pytest.raises(UsageError):
            run(stage, f"/attach {tmp_path}/{name}")


def test_a_picture_is_refused_at_once_where_the_model_is_known_not_to_see(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "cat.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    run(stage, f"/attach {tmp_path}/cat.png")
    assert "a picture" in stage.seen()
    stage.desk.card = stage.chat.model.card()
    with pytest.raises(UsageError, match="cannot see"):
        run(stage, f"/attach {tmp_path}/cat.png")
    assert len(stage.desk.attached) == 1


def test_copying_needs_consent_and_a_terminal(stage: Stage, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no answer"):
        run(stage, "/copy")
    talk(stage)
    with pytest.raises(UsageError, match=r"terminal\.clipboard"):
        run(stage, "/copy")
    stage.app.change_setting("terminal.clipboard", True)
    with pytest.raises(UsageError, match="needs a terminal"):
        run(stage, "/copy")
    stage.out.isatty = lambda: True
    stage.desk.console._force_terminal = True
    run(stage, "/copy 2")
    assert base64.b64encode(b"y\n").decode() in stage.seen()
    with pytest.raises(UsageError, match="2 code blocks"):
        run(stage, "/copy 3")


@pytest.mark.parametrize("line", ["/fork", "/resume 1"])
def test_the_last_answer_can_be_copied_in_a_conversation_that_goes_on(stage: Stage, line: str) -> None:
    talk(stage)
    stage.app.change_setting("terminal.clipboard", True)
    stage.out.isatty = lambda: True
    stage.desk.console._force_terminal = True
    run(stage, line)
    run(stage, "/copy 2")
    assert base64.b64encode(b"y\n").decode() in stage.seen()


def test_the_model_is_told_and_switched(stage: Stage) -> None:
    run(stage, "/model")
    assert stage.seen() == "fake-chat (fake).\n"
    run(stage, "/model qwen3:8b")
    assert stage.app.engines.switched == ["qwen3:8b"]


def test_instructions_hold_until_they_are_taken_off(stage: Stage) -> None:
    run(stage, "/system You are a pirate.")
    assert "pirate" in stage.chat.prompt_prefix()[0].content
    run(stage, "/system")
    assert "pirate" in stage.seen()
    run(stage, "/system off")
    assert "pirate" not in stage.chat.prompt_prefix()[0].content


def test_instructions_hold_in_the_next_conversation_too(stage: Stage) -> None:
    run(stage, "/system You are a pirate.")
    run(stage, "/new")
    assert "pirate" in stage.chat.prompt_prefix()[0].content


def test_how_replies_are_drawn_is_changed_until_the_user_leaves(stage: Stage) -> None:
    for line in ("/set temperature 0.2", "/set num_predict 50", "/set top_k 40", "/set seed 7", "/new"):
        run(stage, line)
    sampling = stage.chat.options.sampling
    assert (sampling.temperature, sampling.max_tokens, sampling.top_k, sampling.seed) == (0.2, 50, 40, 7)
    run(stage, "/set seed off")
    assert stage.chat.options.sampling.seed is None
    stage.seen()
    run(stage, "/set")
    told = dict(line.split(maxsplit=1) for line in stage.seen().splitlines())
    assert (told["temperature"], told["seed"]) == ("0.2", "left to the engine")
    assert set(told) == set(SAMPLING)
    for line in ("/set colour red", "/set temperature", "/set temperature hot", "/set temperature 9", "/set num_ctx 9"):
        with pytest.raises(UsageError):
            run(stage, line)


def test_thinking_is_switched_until_the_user_leaves(stage: Stage) -> None:
    for mode, reasons, shown in (
        ("dim", True, True),
        ("hide", True, False),
        ("show", True, True),
        ("off", False, False),
    ):
        run(stage, f"/think {mode}")
        options = stage.chat.options
        assert (options.sampling.thinking, options.show_thinking, stage.desk.thinking) == (reasons, shown, mode)
    run(stage, "/think dim")
    run(stage, "/new")
    assert stage.chat.options.sampling.thinking
    stage.desk.card = stage.chat.model.card()
    run(stage, "/think show")
    assert "fake-chat does not reason first." in stage.seen()
    with pytest.raises(UsageError):
        run(stage, "/think loud")


@pytest.fixture
def cast(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path, personas__cook="You are a cook.", personas__poet="You are a poet.")
    yield made
    made.app.close()


def test_a_persona_is_taken_on_and_dropped(cast: Stage) -> None:
    add(cast, "My name is Ada.", kind=Kind.IDENTITY)
    run(cast, "/persona cook")
    run(cast, "/new")
    system = cast.chat.prompt_prefix()[0].content
    assert system.startswith("You are a cook.")
    assert "My name is Ada" in system, "a persona knows the user too"
    run(cast, "/persona")
    assert "● cook" in cast.seen()
    run(cast, "/persona off")
    assert "You are memchat" in cast.chat.prompt_prefix()[0].content


def test_a_persona_that_is_not_there_is_told_and_the_old_one_stays(cast: Stage, stage: Stage) -> None:
    run(cast, "/persona poet")
    with pytest.raises(NotFound, match="did you mean 'cook'"):
        run(cast, "/persona cok")
    assert cast.chat.options.system_prompt == "You are a poet."
    with pytest.raises(NotFound, match="config set personas"):
        run(stage, "/persona cook")
    run(stage, "/persona")
    assert "There are none yet" in stage.seen()


def test_other_instructions_take_the_place_of_a_persona(cast: Stage) -> None:
    run(cast, "/persona cook")
    run(cast, "/system You are a pirate.")
    assert cast.chat.options.system_prompt == "You are a pirate."
    run(cast, "/system off")
    assert cast.chat.options.system_prompt is None


def test_plain_switches_back_and_forth(stage: Stage) -> None:
    run(stage, "/plain")
    assert stage.desk.plain
    run(stage, "/plain")
    assert not stage.desk.plain


def test_every_command_has_a_usage_that_its_own_help_shows(stage: Stage) -> None:
    for row in COMMANDS:
        run(stage, f"/help {row.name}")
        assert row.help in stage.seen().replace("\n", " ")
        assert find_command(row.name) is row
