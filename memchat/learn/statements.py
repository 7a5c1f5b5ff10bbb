"""A statement taken apart: numbers, dates, names, people, negation, so that another can be laid beside it in code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from memchat.learn.clock import take_hours
from memchat.learn.datewords import date_words
from memchat.learn.language import guess_language
from memchat.learn.lexicon import Phrases, phrases_of, said, skeleton, word_table
from memchat.learn.synonyms import unify
from memchat.text import fold, has_unspaced_script


@dataclass(frozen=True, slots=True)
class Statement:
    """What decides whether two statements tell the same fact; sets of stems, of normal forms, of concepts."""

    text: str
    language: str
    words: frozenset[str]  # stems of content words, without numbers, times, negation and liking
    numbers: frozenset[str]
    times: frozenset[str]  # "d:10-15", "y:2026", "t:14:00", "w:4"
    names: frozenset[str]
    people: frozenset[str]  # concepts: "sister", "son"
    called: frozenset[str]  # names given to those people: "Lena" in "my sister Lena"
    head: str | None  # stem of what the sentence is about when it is not the user: "wedding", "lena"
    named: bool  # the head is a name
    slots: frozenset[str]  # "home", "age", "favourite:color"
    negated: bool
    likes: bool
    past: bool
    changes: bool
    moves: bool  # something is at another time or place than before
    over: bool  # something came to an end
    takes_back: bool
    adds: bool  # "also", "another": it comes on top of what was said before
    which: frozenset[str]  # of several: "elder", "younger"


@lru_cache(maxsize=512)
def take_apart(text: str, language: str | None = None) -> Statement:
    """Return the parts of a statement; sentences about "the user" and in the first person give the same ones."""
    language = language or guess_language(text)
    bare = _NOTED.sub(" ", text)
    times, rest = _take_times(fold(bare), language)
    numbers, rest = _take_numbers(unify(rest, language), language)
    head = _head(bare, language)
    return Statement(
        text=text,
        language=language,
        words=frozenset(_content(rest, language)),
        numbers=frozenset(numbers),
        times=frozenset(times),
        names=frozenset(_one_spelling(_names(bare, language), language)),
        people=frozenset(_people(bare, language)),
        called=frozenset(_called(bare, language)),
        head=head.lower() if head is not None else None,
        named=head is not None and head[0].isupper(),
        slots=frozenset(_slots(bare, language)),
        negated=said("speech.negation", bare, language) is not None,
        likes=said("speech.like", bare, language) is not None,
        past=said("wishes.formerly", bare, language) is not None,
        changes=said("wishes.changes", bare, language) is not None,
        moves=said("wishes.moves", bare, language) is not None,
        over=said("wishes.over", bare, language) is not None,
        takes_back=any(said(name, bare, language) for name in ("wishes.takes_back", "wishes.denies")),
        adds=phrases_of("wishes.additive", language).find(bare) is not None,
        which=frozenset(name for name in _WHICH if phrases_of(f"wishes.{name}", language).find(bare) is not None),
    )


_WHICH: Final = ("elder", "younger")
# "(said in October 2025)", "(March 2026)": when it was said is no part of the fact.
_NOTED: Final = re.compile(
    r"\((?:said|as of|in|on|stand|dit|visto|dicho)?[^()\d]{0,24}(?:19|20)\d\d[^()]{0,12}\)", re.I
)
_ISO: Final = re.compile(r"\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b")
_DENSE: Final = re.compile(r"(?:((?:19|20)\d\d)\s?[年년]\s?)?(\d{1,2})\s?[月월]\s?(?:(\d{1,2})\s?[日号號일])?")
_YEAR: Final = re.compile(r"(?<![\d.,])((?:19|20)\d\d)(?![\d.,]\d|\d)\s?[年년]?")


def _take_times(plain: str, language: str) -> tuple[set[str], str]:
    times: set[str] = set()

    def iso(found: re.Match[str]) -> str:
        times.update({f"y:{found[1]}", f"d:{found[2]}-{found[3]}" if found[3] else f"m:{found[2]}"})
        return " "

    def dense(found: re.Match[str]) -> str:
        times.update({f"y:{found[1]}"} if found[1] else set())
        times.add(f"d:{int(found[2]):02}-{int(found[3]):02}" if found[3] else f"m:{int(found[2]):02}")
        return " "

    plain = take_hours(_DENSE.sub(dense, _ISO.sub(iso, plain)), times)
    plain = _take_named_times(plain, language, times)
    times.update(f"y:{found[1]}" for found in _YEAR.finditer(plain))
    return times, _YEAR.sub(" ", plain)


def _take_named_times(plain: str, language: str, times: set[str]) -> str:
    words = date_words(language)
    if words is None:
        return plain
    text = skeleton(plain)
    for found in words.calendar_days.finditer(text):
        month, day = words.month_number(found["m1"] or found["m2"]), int(found["d1"] or found["d2"])
        times.add(f"d:{month:02}-{day:02}")
    text = words.calendar_days.sub(" ", text)
    for found in words.weekday_names.finditer(text):
        times.add(f"w:{words.weekday_number(found[1])}")
    text = words.weekday_names.sub(" ", text)
    for found in words.month_names.finditer(text):
        times.add(f"m:{words.month_number(found[1]):02}")
    return words.month_names.sub(" ", text)


def _take_numbers(plain: str, language: str) -> tuple[set[str], str]:
    numbers: set[str] = set()

    def digits(found: re.Match[str]) -> str:
        numbers.add(re.sub(r"[.,](?=\d{3}\b)", "", found[0]).replace(",", "."))
        return " "

    plain = re.sub(r"\d+(?:[.,]\d+)*", digits, plain)
    words = date_words(language)
    if words is not None:
        for word in re.findall(r"\w+", skeleton(plain)):
            value = words.number(word)
            if value is not None and value > 1:
                numbers.add(str(value))
                plain = re.sub(rf"\b{re.escape(word)}\b", " ", skeleton(plain))
    return numbers, plain


# -- words


def _content(plain: str, language: str) -> set[str]:
    if has_unspaced_script(plain):
        runs = re.findall("[\u30a0-\u30ff\u3400-\u9fff\u0e00-\u0e7f]+", plain)
        return {run[i : i + 2] for run in runs for i in range(max(1, len(run) - 1))}
    taken = skeleton(plain)
    for name in ("speech.like", "speech.negation", "wishes.adverbs", "wishes.changes"):
        taken = phrases_of(name, language).strip(taken)
    stop = stop_words(language)
    return {stem(word, language) for word in re.findall(r"[^\W\d_]+", taken) if word not in stop and len(word) > 1}


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the words of a language that carry no content, as skeletons."""
    common = word_table("languages").get(language, {}).get("words", "").split()
    own = word_table("speech")["first_person"].get(language, "")
    words = {skeleton(part) for phrase in (*common, *own.split("|")) for part in re.findall(r"[^\W\d_]+", phrase)}
    return frozenset(words | _fillers())


@cache
def _fillers() -> frozenset[str]:
    return frozenset(skeleton(word) for word in word_table("languages")["fillers"]["words"].split())


_ENDING: Final = re.compile(r"(?<=\w{3})(?:es|en|em|er|os|as|is|et|te|st|s|e|n|a|o|i|y|u|t|ą|ę|ы|и|а|я|у|ю|е|о|ом|ой)$")


def stem(word: str, language: str) -> str:
    """Return what a word shares with its inflections: rough, but the same for both statements."""
    if language != "en":
        return _ENDING.sub("", word)[:5]
    word = word.replace("our", "or").replace("z", "s")
    for ending in ("ings", "ing", "ies", "ers", "ed", "er", "es", "s", "ly", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + ("i" if ending == "ies" else "")
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return (word[:-1] + "i" if word.endswith("y") else word)[:6]


# -- names, people, slots

_CAPITAL: Final = re.compile(r"(?<![\w'’-])([A-ZÀ-ÞĀ-ŽА-ЯЁΑ-Ω][\w'’+-]*)")


def _head(text: str, language: str) -> str | None:
    """Return the stem of what a sentence is about, with a capital when it is a name; None when that is the user."""
    openers = ("speech.subject", "speech.polite", "speech.standing", "speech.request_start")
    text = text.strip()
    if has_unspaced_script(text) or any(phrases_of(name, language).begins(text) for name in openers):
        return None
    if re.search(r",\s*(?:the user|i|we|ich|je)\b", skeleton(text)):
        return None  # "Given the choice, I …"
    words = re.findall(r"[^\W\d_][\w'’+-]*", text)[:4]
    article = bool(words) and phrases_of("speech.article", language).begins(words[0]) is not None
    for word in words[1:] if article else words[:1]:
        plain = skeleton(word).removesuffix("'s")
        if plain in ("new", "old", "current", "latest", "present"):
            continue
        if plain in _fillers() or plain in stop_words(language) or (language == "en" and _LEADS.fullmatch(plain)):
            return None
        found = stem(plain, language)
        # Where the verb alone tells the person, a first word with a capital may be that verb.
        return found if article else found.capitalize() if word[0].isupper() and language in _WITH_SUBJECT else None
    return None


# A first word that is no subject: a verb whose subject was left out, or what says when.
_LEADS: Final = re.compile(
    r"\w{3,}(?:ing|ed)|born|got|been|went|gone|had|made|took|as|since|from|these|until|after|before|on|in|at|by|for"
)
_WITH_SUBJECT: Final = frozenset(("en", "de", "fr", "nl", "sv", "da", "ru", "uk"))


def _names(text: str, language: str) -> set[str]:
    """Return what is written with a capital inside a sentence; German writes every noun so, and gives none."""
    if language == "de":
        return set()
    starts = {0} | {found.end() for found in re.finditer(r"[.!?:;]\s+", text)}
    stop = stop_words(language)
    names = set()
    for found in _CAPITAL.finditer(text):
        word = skeleton(found[1]).removesuffix("'s")
        if (
            word in stop
            or _is_time_word(word, language)
            or (found.start() in starts and language == "en" and text[found.end() :].startswith(" ") and len(word) < 2)
        ):
            continue
        if found.start() not in starts or _looks_like_name(text, found):
            names.add(word)
    return names


def _one_spelling(names: set[str], language: str) -> Iterator[str]:
    """Yield names with one name for each place; "TV" is no name."""
    for name in names:
        one = unify(name, language).strip()
        if one == name or len(name) > 3:
            yield one or name


def _is_time_word(word: str, language: str) -> bool:
    words = date_words(language)
    return words is not None and words.is_calendar_word(word)


def _looks_like_name(text: str, found: re.Match[str]) -> bool:
    # "Mirko is the user's cat", "Mirko and I": a first word is a name when a verb or "and" follows it at once.
    return (
        re.match(r"\s+(?:is|and|was|lives|works|et|est|es|y|e|und|ist|è|en|och|og)\b", text[found.end() :]) is not None
    )


@cache
def _relatives() -> tuple[tuple[str, Phrases], ...]:
    return tuple((concept, Phrases(rows.values())) for concept, rows in word_table("relatives").items())


def _people(text: str, language: str) -> set[str]:
    return {concept for concept, _ in _roles(text, language)}


def _roles(text: str, language: str) -> Iterator[tuple[str, int]]:
    """Yield each person's role in a text with the position after it."""
    for concept, words in _relatives():
        for found in words.find_all(text):
            # The table holds all languages ("man", "kind", "far"): only words of this text's language count.
            if said("people.relation", found[0], language) is None:
                continue
            if not _is_company(text[: found.start()]):
                yield concept, found.end()


def _is_company(before: str) -> bool:
    """Tell whether somebody only comes along: "with the children"."""
    return (
        re.search(
            r"\b(?:with|mit|avec|con|com|met|med|tillsammans med|z|ze|со?|з)\s+(?:\w+\s+){0,2}$", skeleton(before)
        )
        is not None
    )


_CALLED: Final = re.compile(
    r"(?:'s name)?,?\s+(?:(?:is|are|was|heißt|heißen|ist|s'appelle|est|se llama|es|se chama|é|si chiama|è|heet|heter|"
    r"hedder|зовут|to|ma na imię)\s+)?(?:called\s+|named\s+|spelled\s+)?([A-ZÀ-ÞА-ЯЁŁŚ][\w'’-]+)"
)


def _called(text: str, language: str) -> set[str]:
    """Return the names that stand right after a person's role or after "is called"."""
    named = (_CALLED.match(text, end) for _, end in _roles(text, language))
    return {skeleton(found[1]).removesuffix("'s") for found in named if found is not None}


# "I live with my cousin" says nothing of where.
_WITH_WHOM: Final = re.compile(
    r"\s*(?:with|alone|together|mit|allein|zusammen|avec|seule?|ensemble|con|solo|sola|juntos|juntas|com|sozinh[oa]|"
    r"insieme|met|alleen|samen|med|ensam|ensom|z|ze|sam|sama|с|со|один|одна)\b"
)


def _slots(text: str, language: str) -> set[str]:
    slots = set()
    for name in word_table("slots"):
        found = said(f"slots.{name}", text, language)
        if found is not None and not (name == "home" and _WITH_WHOM.match(skeleton(text), found.end())):
            slots.add(f"{name}:{stem(found[0].split()[-1], language)}" if name == "favourite" else name)
    return slots
