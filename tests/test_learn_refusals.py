"""What is never learnt: secrets by shape, health, and what the user's own rules forbid."""

from itertools import pairwise

import pytest

from memchat.errors import ConfigError
from memchat.learn.rules import Rules, replay
from memchat.learn.secrets import find_secrets, is_card_number, is_iban, redact_secrets
from memchat.learn.sensitive import health_of, is_limit, without_reason
from memchat.records import Cause, NewMemory
from memchat.store import Store
from tests.store_stage import NOW, say

SECRETS = [
    ("4000 1234 5678 9017 exp 01/30", ("card number", "card detail"), "9017"),
    ("DE29990000000000000099", ("IBAN",), "9900"),
    ("GB82 WEST 1234 5698 7654 32 please", ("IBAN",), "WEST"),
    ("OPENAI_KEY=sk-FAKEfake0000FAKEfake0000FAKE", ("API key",), "FAKEfake"),
    ("Bearer ghp_FAKE0000fake0000FAKE0000", ("API key",), "ghp_"),
    ("AKIAIOSFODNN7EXAMPLE", ("API key",), "AKIA"),
    ("eyJhbGciOiJub25l.eyJzdWIiOiIxMjM0.c2ln", ("token",), "eyJ"),
    ("-----BEGIN PRIVATE KEY-----\nFAKE\n-----END PRIVATE KEY-----", ("private key",), "FAKE"),
    ("postgres://bo:hunter2@db.invalid/x", ("password",), "hunter2"),
    ("my bank PIN is 4321", ("PIN or code",), "4321"),
    ("the gate opens with 7391#", ("PIN or code",), "7391"),
    ("The alarm code is 99-31-07, but", ("PIN or code",), "99-31"),
    ("the wifi password is NotARealPassword-77, ok", ("password",), "NotAReal"),
    ("my password is swordfish.", ("password",), "swordfish"),
    ("Mein WLAN-Passwort lautet Katze-4711", ("password",), "4711"),
    ("el código de la puerta es 4711", ("PIN or code",), "4711"),
    ("la contraseña del wifi es gato123", ("password",), "gato123"),
    ("Le digicode est 12A45", ("PIN or code",), "12A45"),
    ("пароль от вайфая: Котик2020", ("password",), "2020"),
    ("暗証番号は4321です", ("PIN or code",), "4321"),
    ("我的密码是abc12345。我住在苏州", ("password",), "abc12345"),
    ("비밀번호는 1234abcd 입니다", ("password",), "1234abcd"),
]
HARMLESS = [
    "I lost my password",
    "the wifi password is on the fridge",
    "my password is too long",
    "my password manager is Bitwarden",
    "I forgot my PIN in 2024",
    "my locker is number 42",
    "the zip code is 94110",
    "error code 404, exit code 137",
    "call me on +49 30 1234567",
    "ISBN 9783161484100",
    "1234 5678 9012 3456 is not a card",
    "my order is 20260914-0001",
    "mot de passe oublié",
]


@pytest.mark.parametrize(("text", "kinds", "value"), SECRETS, ids=[row[0][:30] for row in SECRETS])
def test_a_secret_is_replaced_by_its_kind(text: str, kinds: tuple[str, ...], value: str) -> None:
    redacted, found = redact_secrets(text)
    assert found == kinds
    assert value not in redacted
    assert redact_secrets(redacted) == (redacted, ())


@pytest.mark.parametrize("text", HARMLESS)
def test_an_ordinary_sentence_is_left_alone(text: str) -> None:
    assert redact_secrets(text) == (text, ())


def test_what_stands_after_a_secret_stays() -> None:
    assert redact_secrets("我的密码是abc12345。我住在苏州")[0].endswith("。我住在苏州")
    assert redact_secrets("IBAN GB82 WEST 1234 5698 7654 32 please")[0] == "IBAN [secret: IBAN] please"


@pytest.mark.parametrize(
    ("digits", "right"), [("4000123456789017", True), ("4000123456789018", False), ("0" * 16, False)]
)
def test_card_numbers_pass_luhn(digits: str, right: bool) -> None:
    assert is_card_number(digits) is right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("DE29990000000000000099", True),
        ("DE28990000000000000099", False),
        ("DE29", False),
        ("", False),
        ("QQ92" + "0" * 18, False),  # no such country
        ("DE02" + "0" * 15, False),  # too short for its country
    ],
)
def test_ibans_pass_mod_97(text: str, right: bool) -> None:
    assert is_iban(text) is right


def made_iban(start: str, rest: str) -> str:
    """Return letters, check digits that fit, and the rest."""
    return next(code for n in range(2, 99) if is_mod_97(code := f"{start}{n:02}{rest}"))


def is_mod_97(code: str) -> bool:
    return int("".join(str(int(character, 36)) for character in code[4:] + code[:4])) % 97 == 1


@pytest.mark.parametrize(
    "text",
    [
        made_iban("QQ", "K7XJ2M9PL4TR8VNW"),
        made_iban("DE", "K7XJ2M9PL4TR8V"),
        made_iban("DE", "370400440532013000") + "Zk3Lw==",
        "aGk+" + made_iban("DE", "370400440532013000"),
        made_iban("DE", "370400440532013000") + "/x9Q",
    ],
    ids=["no country", "wrong length", "goes on", "part of more", "goes on by a slash"],
)
def test_what_only_happens_to_fit_mod_97_is_no_iban(text: str) -> None:
    assert redact_secrets(f"the blob is {text}")[1] == ()


def test_a_number_in_a_sentence_is_an_iban_in_any_spacing() -> None:
    code = made_iban("DE", "370400440532013000")
    spaced = " ".join(code[at : at + 4] for at in range(0, len(code), 4))
    assert redact_secrets(f"iban={code}")[0] == "iban=[secret: IBAN]"
    for form in (code, spaced, code.lower()):
        assert redact_secrets(f"send it to {form} is what she said") == (
            "send it to [secret: IBAN] is what she said",
            ("IBAN",),
        )


def test_secrets_are_found_in_order_without_overlaps() -> None:
    spans = find_secrets("PIN 4321, card 4000123456789017, my password is Tulip!93x")
    assert [secret.kind for secret in spans] == ["PIN or code", "card number", "password"]
    assert all(a.end <= b.start for a, b in pairwise(spans))


HEALTH = [
    ("I have type 1 diabetes and use a pump.", "en", "own"),
    ("I've had a migraine since this morning.", "en", "own"),
    ("My therapist thinks I have an anxiety disorder.", "en", "own"),
    ("I take sertraline.", "en", "own"),
    ("Tengo ansiedad y no duermo bien.", "es", "own"),
    ("Ich habe Rückenschmerzen.", "de", "own"),
    ("我得了糖尿病。", "zh", "own"),
    ("My neighbour Gunnvor was diagnosed with epilepsy.", "en", "other"),
    ("my flatmate is on lithium", "en", "other"),
    ("Meine Schwester hat Brustkrebs.", "de", "other"),
    ("Ma voisine est diabétique.", "fr", "other"),
    ("I live in Perth.", "en", None),
    ("I work at a hospital as a porter.", "en", None),
    ("I'm a psychologist.", "en", None),
    ("My wife is a neurologist.", "en", None),
    ("Ho un gatto.", "it", None),
    ("我在医院当护士。", "zh", None),
]


@pytest.mark.parametrize(("text", "language", "whose"), HEALTH, ids=[row[0] for row in HEALTH])
def test_health_is_told_apart_by_whose_it_is(text: str, language: str, whose: str | None) -> None:
    assert health_of(text, language) == whose


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I'm allergic to bee stings.", "en"),
        ("I use a wheelchair.", "en"),
        ("I'm blind and use NVDA.", "en"),
        ("We keep kosher.", "en"),
        ("Ich vertrage keine Laktose.", "de"),
        ("No como cerdo.", "es"),
        ("私はそばアレルギーがあります。", "ja"),
        ("我不吃羊肉。", "zh"),
        ("لا آكل اللحم.", "ar"),
    ],
)
def test_a_limit_is_always_one(text: str, language: str) -> None:
    assert is_limit(text, language)


def test_a_limit_loses_the_illness_behind_it() -> None:
    assert without_reason("I can't eat sugar because of my diabetes.", "en") == "I can't eat sugar"
    assert without_reason("I can't eat pork because I'm Muslim.", "en") == "I can't eat pork because I'm Muslim."


RULES = [
    ("salary", "My salary is small.", True),
    ("salary", "I like salads.", False),
    ("/\\bFrisian\\b/", "I speak frisian.", True),
    ("topic:health", "Ich habe Kopfschmerzen.", True),
    ("topic:family", "My sister is called Oda.", True),
    ("topic:money", "Ich habe Schulden.", True),
    ("topic:religion", "I go to church.", True),
    ("topic:religion", "I go to school.", False),
]


@pytest.mark.parametrize(("rule", "text", "stopped"), RULES, ids=[f"{rule} {text}" for rule, text, _ in RULES])
def test_a_rule_stops_what_it_names(rule: str, text: str, stopped: bool) -> None:
    assert Rules.of([rule]).stops(text) == (rule if stopped else None)


@pytest.mark.parametrize("rule", ["/(/", "topic:weather"])
def test_a_rule_that_cannot_be_read_is_named(rule: str) -> None:
    with pytest.raises(ConfigError):
        Rules.of([rule])


def test_rules_are_tried_on_past_turns_and_memories(tmp_path) -> None:
    with Store.open(tmp_path / "memory.db") as store:
        turn = say(store, "My salary is small.")
        say(store, "I like salads.")
        memory = store.add_memory(NewMemory("I earn a small salary."), cause=Cause.USER, now=NOW)
        found = replay(store, ["salary"])
    assert [(stopped.turn, stopped.rule) for stopped in found.turns] == [(turn.id, "salary")]
    assert [stopped.id for stopped in found.memories] == [memory.id]
