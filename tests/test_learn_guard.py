"""What a model proposes is read however it is wrapped, and held against what the user typed."""

from datetime import date

import pytest

from memchat.learn.cues import clean_cues, renders
from memchat.learn.drafts import Reading, ReadingOptions, read_message
from memchat.learn.guard import Proposal, Refusal, bare_acceptance, check_proposal, stands_in, why_unfaithful
from memchat.learn.json_reply import items_of, read_json
from memchat.learn.wording import (
    EXAMPLE_WORDS,
    KNOWN_EMPTY,
    cue_messages,
    english_messages,
    judge_messages,
    relation_schema,
)
from memchat.records import Kind, Message, Role

TODAY = date(2026, 9, 14)
LINES = {"memories": [{"line": 1}]}


def read(text: str) -> Reading:
    return read_message(text, TODAY, ReadingOptions())


WRAPPED = [
    ("plain", '{"memories":[{"line":1}]}'),
    ("prose around", 'Sure! {"memories":[{"line":1}]} Hope that helps {note}.'),
    ("a fence", '```json\n{"memories":[{"line":1}]}\n```'),
    ("reasoning before", '<think>maybe {"memories":[]}?</think>{"memories":[{"line":1}]}'),
    ("only the end of reasoning", 'line 1 it is</think>{"memories":[{"line":1}]}'),
    ("a doubled brace", '{{"memories":[{"line":1}]}'),
    ("a bare list", '[{"line":1}]'),
]


@pytest.mark.parametrize("reply", [row[1] for row in WRAPPED], ids=[row[0] for row in WRAPPED])
def test_json_is_found_in_a_reply(reply: str) -> None:
    assert items_of(reply, "memories") == LINES["memories"]


@pytest.mark.parametrize("reply", ["", "no", '{"facts": 3}', '{"memories": "none"}', "{" * 500, "<think>"])
def test_a_reply_without_the_shape_gives_nothing(reply: str) -> None:
    assert items_of(reply, "memories") is None


def test_a_fence_inside_a_string_is_left_alone() -> None:
    assert read_json('{"sentence":"use ```x=1```"}') == {"sentence": "use ```x=1```"}


def test_items_that_are_no_objects_are_left_out() -> None:
    assert items_of('{"memories":["x", 3, {"line":1}, null]}', "memories") == [{"line": 1}]


SAID = "We live in Tartu. Should I learn Rust? I hate coriander. In the film he says 'I left Chile'."
REFUSED = [
    ("not in the message", Proposal("I like hiking"), "no evidence"),
    ("the assistant's words", Proposal("You could try falconry"), "no evidence"),
    ("a question", Proposal("Should I learn Rust?"), "not a statement of the user"),
    ("a quotation", Proposal("I left Chile"), "no evidence"),
    ("an unknown kind", Proposal("We live in Tartu", kind="hobby"), "unknown kind"),
    ("a copied example", Proposal("We live in Tartu", "My zelbin Qorvane lives in Tartu."), "copied example"),
    ("nothing", Proposal(""), "no evidence"),
]


@pytest.mark.parametrize(("proposal", "reason"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_proposal_is_refused_by_name(proposal: Proposal, reason: str) -> None:
    assert check_proposal(proposal, read(SAID)) == Refusal(reason)


@pytest.mark.parametrize("quote", ["we live in  TARTU", "We live in Tartu.", "live in Tartu"])
def test_evidence_is_found_after_folding(quote: str) -> None:
    draft = check_proposal(Proposal(quote, kind="identity"), read(SAID))
    assert not isinstance(draft, Refusal)
    assert draft.text == "We live in Tartu."


def test_an_unfaithful_sentence_falls_back_to_the_users_words() -> None:
    draft = check_proposal(Proposal("I hate coriander", "I love coriander."), read(SAID))
    assert not isinstance(draft, Refusal)
    assert draft.text == "I hate coriander."


def test_a_faithful_sentence_is_taken() -> None:
    draft = check_proposal(Proposal("We live in Tartu", "I live in Tartu."), read("We live in Tartu, by the river."))
    assert not isinstance(draft, Refusal)
    assert draft.text == "I live in Tartu."


def test_the_models_kind_and_importance_move_code_only_a_little() -> None:
    reading = read("I'm allergic to nuts. The shed on our street is odd.")
    limit = check_proposal(Proposal("I'm allergic to nuts", kind="skill", importance=1), reading)
    assert not isinstance(limit, Refusal)
    assert limit.judgement.kind is Kind.CONSTRAINT
    assert limit.judgement.importance >= 7


UNFAITHFUL = [
    ("I live in Tartu.", "We live in Tartu", None),
    ("I walk dogs.", "I walk my dog", None),
    ("I love coriander.", "I hate coriander", "polarity"),
    ("I eat fish.", "I don't eat fish", "polarity"),
    ("I have three cats.", "I have two cats", "numbers"),
    ("My exam is on 5 May 2026.", "My exam is on 4 May 2026", "numbers"),
    ("I like hiking and camping.", "what's a good weekend trip from here", "polarity"),
    ("I visit Rome at weekends.", "what's a good weekend trip from here", "words not in the quote"),
    ("I have two twin boys.", "I have twins", "numbers"),
    ("Ich wohne in Wien.", "Ich wohne in Graz", "words not in the quote"),
    ("我住在杭州。", "我住在苏州", "words not in the quote"),
    ("The user lives in Tartu.", "We live in Tartu", "not in the first person"),
    ("Do I live in Tartu?", "We live in Tartu", "question"),
    ("", "We live in Tartu", "empty"),
    ("I live in Tartu " + "really " * 40, "We live in Tartu", "too long"),
]


@pytest.mark.parametrize(("sentence", "quote", "reason"), UNFAITHFUL, ids=[row[0][:30] for row in UNFAITHFUL])
def test_a_sentence_says_no_more_than_its_evidence(sentence: str, quote: str, reason: str | None) -> None:
    assert why_unfaithful(sentence, quote) == reason


def test_a_quote_with_a_hole_stands_nowhere() -> None:
    assert not stands_in("\ufffc\ufffc\ufffc", "a \ufffc\ufffc\ufffc b")
    assert not stands_in("x", "x y")


@pytest.mark.parametrize(
    ("text", "bare"),
    [("Good idea, let's do that.", True), ("Good idea, the pottery class it is.", False), ("I live in Tartu.", False)],
)
def test_an_acceptance_that_names_nothing_is_bare(text: str, bare: bool) -> None:
    assert [bare_acceptance(draft) for draft in read(text).drafts] == [bare]


CUES = [
    "Where do I live?",
    "where do I live ?",
    "We live in Tartu.",
    "What is Oslo like?",
    "My home",
    "Do I own a plonteg?",
]


def test_cues_of_no_use_are_left_out() -> None:
    assert clean_cues(CUES, "We live in Tartu.") == ("Where do I live?", "My home?")


@pytest.mark.parametrize(
    ("text", "english", "fits"),
    [
        ("No sé nadar.", "I can't swim.", True),
        ("No sé nadar.", "I can swim.", False),
        ("Vivo en Sevilla desde 2019.", "I have lived in Seville since 2019.", True),
        ("Vivo en Sevilla desde 2019.", "I have lived in Seville since 2018.", False),
        ("Mi hermano vive en Sevilla.", "My brother Llamo lives in Seville.", False),
        ("Aprendo sueco desde marzo.", "I have been learning Swedish since March.", True),
        ("Canto los jueves a las ocho.", "I sing on Thursdays at 8.", True),
        ("Mi marido odia el queso.", "My husband dislikes cheese.", True),
        ("我住在苏州。", "I live in Suzhou.", True),
        ("我住在苏州。", "我住在苏州", False),
        ("Vivo en Sevilla.", "Vivo en Sevilla con mi hermano y mi padre.", False),
        ("Tengo dos gatos.", "I keep zelbins.", False),
        ("Tengo dos gatos.", "", False),
    ],
)
def test_an_english_rendering_keeps_numbers_names_and_negation(text: str, english: str, fits: bool) -> None:
    assert renders(english, text) is fits


def test_every_example_of_the_prompts_is_made_of_known_words() -> None:
    for messages in (
        judge_messages(["I live here."], ()),
        cue_messages("I live here."),
        english_messages("Vivo aquí."),
    ):
        assert any(word in message.content.lower() for message in messages for word in EXAMPLE_WORDS)


def test_the_judging_prompt_rides_on_the_conversation() -> None:
    context = [Message(Role.SYSTEM, "s"), Message(Role.USER, "u"), Message(Role.ASSISTANT, "a")]
    messages = judge_messages(["I live here.", "I ran it."], context)
    assert messages[:3] == context
    assert messages[3].role is Role.USER
    asked = "\n".join(f"{number}. {line}" for number, line in enumerate(("I live here.", "I ran it.", *KNOWN_EMPTY), 1))
    assert messages[3].content.endswith(asked)


def test_the_choice_of_a_relation_is_closed() -> None:
    properties = relation_schema([1, 2])["properties"]
    assert isinstance(properties, dict)
    assert properties["id"]["enum"] == [0, 1, 2]
    assert properties["relation"]["enum"] == ["same", "update", "different"]
