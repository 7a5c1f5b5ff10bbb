"""Secrets by their shape: found and replaced before anything is written down.

High precision is the point: "I lost my password" and "the wifi password is on the fridge" are ordinary sentences.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from memchat.learn.lexicon import phrases, skeleton

_MARK: Final = re.compile(r"\[secret: [^\]\n]{1,40}\]")


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret stands in a text, and what kind it is."""

    start: int
    end: int
    kind: str


def redact_secrets(text: str) -> tuple[str, tuple[str, ...]]:
    """Return `text` with every secret replaced by "[secret: kind]", and the kinds found, each once."""
    pieces: list[str] = []
    kinds: list[str] = []
    place = 0
    for secret in find_secrets(text):
        pieces += [text[place : secret.start], f"[secret: {secret.kind}]"]
        kinds.append(secret.kind)
        place = secret.end
    return "".join([*pieces, text[place:]]), tuple(dict.fromkeys(kinds))


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets in `text`, in order and without overlaps; marks of earlier redactions are none."""
    marks = [mark.span() for mark in _MARK.finditer(text)]
    chosen: list[Secret] = []
    for secret in sorted((s for find in _FINDERS for s in find(text)), key=lambda s: (s.start, -s.end)):
        apart = all(secret.end <= start or end <= secret.start for start, end in marks)
        if apart and (not chosen or secret.start >= chosen[-1].end):
            chosen.append(secret)
    return chosen


def has_redaction(text: str) -> bool:
    """Tell whether something was taken out of `text`: a secret, or what the user marked private."""
    return "[secret: " in text or "[private" in text


# -- shapes that speak for themselves

_SHAPES: Final = (
    (
        "private key",
        re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z0-9 -]*-----|\Z)", re.S),
    ),
    ("token", re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?")),
    (
        "API key",
        re.compile(
            r"\b(?:sk|pk|rk)[-_](?:[a-z]{2,10}[-_])*[\w-]{16,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{15,}"
            r"|\bxox[a-z]-[\w-]{10,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bhf_[A-Za-z0-9]{20,}"
            r"|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[\w-]{30,}|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bya29\.[\w-]{20,}"
            r"|\bdop_v1_[0-9a-f]{40,}|\bAGE-SECRET-KEY-1[0-9A-Z]{40,}|\b\d{8,10}:AA[\w-]{30,}"
        ),
    ),
    ("token", re.compile(r"(?i:\bbearer\s+)([\w.~+/=-]{16,})")),
    ("password", re.compile(r"\b[a-zA-Z][\w+.-]*://[^\s/:@]+:([^\s/@]+)@")),
    (
        "API key",
        re.compile(
            r"(?i:\b[\w-]*(?:api[_-]?key|apikey|secret(?:[_-]?key)?|access[_-]?key|auth[_-]?token|access[_-]?token"
            r"|token|_key))[\"']?\s*[=:]\s*[\"']?((?=[\w+/.~-]*\d)[\w+/.~-]{12,}={0,2})"
        ),
    ),
)
_CARD: Final = re.compile(r"(?<![\w.])(?:\d[ -]?){12,18}\d(?![\w])")
_CARD_EXTRAS: Final = re.compile(
    r"(?i)\b(?:exp(?:ires|iry)?\.?|valid (?:thru|until)|cvv2?|cvc2?|csc|g[uü]ltig bis|caduca|exp\.? date)"
    r"[\s:=]*(\d{2} ?/ ?\d{2,4}|\d{3,4})\b"
)
_IBAN_START: Final = re.compile(r"(?<![\w+/])[A-Z]{2}\d{2}(?= ?[A-Z0-9])", re.I)
_IBAN_REGISTRY: Final = """AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27
    DK18 DO28
    EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30
    KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24
    PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22
    VG24 XK20 YE30"""  # how long the numbers of each country are: ISO 13616
_IBAN_LENGTHS: Final = {entry[:2]: int(entry[2:]) for entry in _IBAN_REGISTRY.split()}


def is_card_number(digits: str) -> bool:
    """Tell whether 13-19 digits pass the Luhn check (ISO/IEC 7812-1, annex B) and begin like a payment card."""
    if not 13 <= len(digits) <= 19 or digits[0] not in "23456" or len(set(digits)) < 2:
        return False
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def is_iban(text: str) -> bool:
    """Tell whether `text` is as long as its country's numbers and passes the mod-97 check, both of ISO 13616."""
    code = re.sub(r"\s", "", text).upper()
    if len(code) != _IBAN_LENGTHS.get(code[:2]) or not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]+", code):
        return False
    return int("".join(str(int(character, 36)) for character in code[4:] + code[:4])) % 97 == 1


def _shapes(text: str) -> Iterator[Secret]:
    for kind, pattern in _SHAPES:
        for found in pattern.finditer(text):
            start, end = found.span(found.re.groups)
            yield Secret(start, end, kind)


def _cards(text: str) -> Iterator[Secret]:
    cards = [found for found in _CARD.finditer(text) if is_card_number(re.sub(r"\D", "", found.group()))]
    yield from (Secret(card.start(), card.end(), "card number") for card in cards)
    if cards or text in phrases("secrets.card"):
        for found in _CARD_EXTRAS.finditer(text):
            yield Secret(found.start(1), found.end(1), "card detail")


def _ibans(text: str) -> Iterator[Secret]:
    for start in _IBAN_START.finditer(text):
        length = _IBAN_LENGTHS.get(start.group()[:2].upper(), 4)
        # A word that begins right behind it would make it a part of something else, such as base64.
        whole = re.compile(rf"(?: ?[A-Z0-9]){{{length - 4}}}(?![\w+/=])", re.IGNORECASE).match(text, start.end())
        if whole and is_iban(text[start.start() : whole.end()]):
            yield Secret(start.start(), whole.end(), "IBAN")


# -- values that follow their name

_GAP: Final = r"(?:[ \t]+[^\W\d_][\w'/-]*){0,6}?"
_LINK: Final = (
    rf"(?:{_GAP}(?:'s|[ \t]+(?:is|was|ist|lautet|war|est|es|e|jest|to|on|ar|er|je|ile|هو|هي|है))\s+"
    rf"|{_GAP}\s*(?P<sign>[:=]|->|\s-\s)\s*|(?:は|는|은|是|为|為)\s*)"
)


def _labelled(text: str) -> Iterator[Secret]:
    plain = skeleton(text)
    for label in phrases("secrets.password").find_all(text):
        yield from _value(plain, text, label.end(), _PASSWORD_VALUE, "password")
    for label in phrases("secrets.code").find_all(text):
        yield from _value(plain, text, label.end(), _CODE_VALUE, "PIN or code")
    for label in phrases("secrets.opens_with").find_all(text):
        yield from _value(plain, text, label.end(), _ADJACENT_CODE, "PIN or code")
    for found in _SEED.finditer(plain):
        yield Secret(found.start(1), found.end(1), "seed phrase")
    for found in _ACCOUNT.finditer(plain):
        yield Secret(found.start(1), found.end(1), "account number")


_QUOTED: Final = r"[\"'«「『(]?"
_PASSWORD_VALUE: Final = re.compile(
    rf"{_LINK}{_QUOTED}(?P<value>[^\s\"'«»「」『』,;()\[\]。，、；！？]{{3,64}})"
    r"|\s+(?P<bare>(?=\S*\d)(?=\S*[a-z])[^\s,;\[\]]{6,64})"
)
_NUMBER: Final = r"(?:[#*]?\d(?:[ -]?\d){2,11}[#*]?|\d+[a-z]\d+[#*]?|[a-z]\d{3,8}|\d{3,8}[a-z#*])"
_CODE_VALUE: Final = re.compile(rf"(?:{_LINK}|\s*){_QUOTED}(?P<value>{_NUMBER})(?![a-z0-9])")
_ADJACENT_CODE: Final = re.compile(
    rf"(?P<sign>(?:\s+(?:the|code|den|dem|le|el|o|il|kod))*)\s*(?P<value>{_NUMBER})(?![a-z0-9])"
)
_SEED: Final = re.compile(
    r"\b(?:seed(?: phrase)?|recovery phrase|mnemonic|wiederherstellungsphrase|phrase de recuperation|frase semilla)"
    r"(?:\s+\w+){0,4}?\s*(?:is|ist|est|es|:|=)\s*((?:[a-z]{3,8}[ ,]+){11,23}[a-z]{3,8})\b"
)
_ACCOUNT: Final = re.compile(
    r"\b(?:bank account(?: number)?|account number|routing number|sort code|kontonummer|numero de cuenta"
    r"|numero de compte|numero di conto|social security number|ssn|sozialversicherungsnummer)"
    r"\s*(?:is|:|=|ist|es|est|e)?\s*"
    r"(\d[\d -]{4,22}\d)\b"
)


def _value(plain: str, text: str, start: int, pattern: re.Pattern[str], kind: str) -> Iterator[Secret]:
    found = pattern.match(plain, start)
    if found is None:
        return
    begin, end = found.span("value" if found.group("value") is not None else "bare")
    value = text[begin:end].rstrip(".!?。！？…:")
    if kind == "password" and not _is_password(value, plain[begin + len(value) :]):
        return
    yield Secret(begin, begin + len(value), kind)


def _is_password(value: str, rest: str) -> bool:
    """Tell whether what follows "password is" is a value: it has a digit or a symbol, or is one last, odd word."""
    if re.search(r"\d|[^\w\s'-]|[a-z][A-Z]", value):
        return len(value) >= 3
    ordinary = value in phrases("secrets.not_a_password") or re.search(r"(?:ed|ing|en|te|e|o|a)$", skeleton(value))
    return not ordinary and len(value) >= 4 and re.match(r"\s*(?:[.!,;]|$)", rest) is not None


_FINDERS: Final[tuple[Callable[[str], Iterator[Secret]], ...]] = (_shapes, _cards, _ibans, _labelled)
