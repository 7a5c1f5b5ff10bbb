"""What of a message is not the user speaking for themself: code, quotes, pasted blocks, tasks on a text, fiction.

`mask` keeps every position: what is taken out is filled with `HOLE`, so a quote found in the masked text is a quote
from what the user said.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memchat.learn.language import guess_language, likely_languages
from memchat.learn.lexicon import phrases, phrases_of, skeleton
from memchat.learn.spans import HOLE, Span, split_sentences


@dataclass(frozen=True, slots=True)
class Masked:
    """A message with holes, and why they are there."""

    text: str
    reasons: tuple[str, ...]


def mask(text: str) -> Masked:
    """Return `text` with everything that is not the user's own statement or wish filled with `HOLE`."""
    held = list(text)
    reasons: list[str] = []
    for find in (_blocks, _quotations, _tasks):
        for start, end, reason in find("".join(held)):
            held[start:end] = [c if c in "\n" else HOLE for c in held[start:end]]
            reasons.append(reason)
    return Masked("".join(held), tuple(dict.fromkeys(reasons)))


def opens_fiction(text: str) -> bool:
    """Tell whether a message starts a game, a role or a story that later messages go on with."""
    return any(_is_fiction(sentence.of(text)) for sentence in split_sentences(text))


def closes_fiction(text: str) -> bool:
    """Tell whether a message ends a game or a role."""
    return text in phrases("speech.fiction_end")


_Hole = tuple[int, int, str]

# -- blocks: fences, cited lines, mails, logs, forms

_FENCE: Final = re.compile(r"(?:^|(?<=\s))(`{3,}|~{3,}).*?(?:\1|\Z)", re.S)
_INLINE: Final = re.compile(r"`[^`\n]{1,300}`|\$\$.+?\$\$|\$[^$\n]*[\\^_{=][^$\n]*\$", re.S)
_CITED: Final = re.compile(r"^[ \t]*>.*$", re.M)
_CITED_MAIL: Final = re.compile(r"^(?:[^\n]{4,90}:|-{2,} ?[^\n]{4,60})$", re.M)
_RULE: Final = re.compile(r"^[ \t]*(?:-{3,}|={3,}|\*{3,}|_{3,}|#{5,})[ \t]*$", re.M)
_HEADER: Final = re.compile(r"^([^\W\d_][\w-]{0,12})\s?[:：] ?\S.*$", re.M)
_LOG: Final = re.compile(
    r"^(?:"
    + "|".join(
        (
            r".*\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?\b.*",  # a time stamp
            r"\[?\d\d:\d\d:\d\d[\].,].*",
            r".*\b(?:WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|INFO|CRITICAL)\b[:\s\]].*",
            r"Traceback \(most recent.*|[ \t]+File \".*|[ \t]+at [\w.$<>]+\(.*|\w*(?:Error|Exception):.*",
            r"[\w.-]+@[\w.-]+:[~/].*|[$%#] \w.*|(?:\S+=\S+\s+){2,}.*",  # shells, key=value
            r"[{<\[(][^a-z\n]{0,3}.*[}>\])];?,?|.*[;{}]\s*|\s*[\w.]+\(.*\)\s*",  # code and markup
            r"(?:export|import|def|class|function|var|let|const|SELECT|INSERT|UPDATE|sudo|pip|npm|git|docker)"
            r" .*[=({/:_-].*",
        )
    )
    + ")$",
    re.M,
)
_FORM: Final = re.compile(r"(?:^[ \t•*-]*[^\W\d_][^\n:：]{0,30}[:：][ \t]*\S[^\n]*(?:\n|\Z)){2,}", re.M)


def _blocks(text: str) -> Iterator[_Hole]:
    for pattern, reason in ((_FENCE, "code"), (_CITED, "quotation"), (_LOG, "log")):
        yield from ((found.start(), found.end(), reason) for found in pattern.finditer(text) if found.group().strip())
    for found in _INLINE.finditer(text):
        # `vim` is a name; a command or a formula is not something the user says of themself.
        if len(found.group().split()) > 1 or not re.fullmatch(r"`[\w.+#-]{1,24}`", found.group()):
            yield found.start(), found.end(), "code"
    for line in _CITED_MAIL.finditer(text):
        if line.group() in phrases("blocks.cited"):
            yield line.start(), len(text), "mail"
    yield from _ruled(text)
    yield from _letters(text)
    for found in _FORM.finditer(text):
        if text[: found.start()].rstrip() not in phrases("wishes.introduces_self"):
            yield found.start(), found.end(), "form"


def _ruled(text: str) -> Iterator[_Hole]:
    """Between two rules, or after a single one, stands pasted matter."""
    rules = list(_RULE.finditer(text))
    for first, second in zip(rules[::2], rules[1::2], strict=False):
        yield first.start(), second.end(), "pasted"
    if len(rules) % 2:
        yield rules[-1].start(), len(text), "pasted"


def _letters(text: str) -> Iterator[_Hole]:
    headers = [line for line in _HEADER.finditer(text) if phrases("blocks.header").begins(line[1])]
    two = len(headers) >= 2 and text[headers[0].end() : headers[1].start()].strip() == ""
    if two or any(phrases("blocks.subject").begins(line[1]) for line in headers):
        yield headers[0].start(), len(text), "mail"
    for line in re.finditer(r"^[ \t]*\S.*$", text, re.M):
        start = line.start() + len(line.group()) - len(line.group().lstrip())
        greeting = phrases("blocks.greeting").begins(text, start)
        addressed = greeting and re.match(r"[^\n,，:]{0,50}[,，:、]", text[greeting.end() :])
        if greeting and addressed and phrases("blocks.sign_off").find(text, greeting.end()):
            yield start, len(text), "mail"
            return


# -- quotations

_QUOTED: Final = re.compile(
    r"\"(?P<a>[^\"]{2,}?)\"|“(?P<b>[^”]{2,}?)”|„(?P<c>[^“”\"]{2,}?)[“”\"]|«(?P<d>[^»]{2,}?)»|»(?P<e>[^«]{2,}?)«"
    r"|「(?P<f>[^」]{2,}?)」|『(?P<g>[^』]{2,}?)』|(?<![\w])'(?=\S)(?P<h>[^\n]{2,}?)(?<=\S)'(?!\w)|‘(?P<i>[^’]{2,}?)’(?!\w)"
)
_OPEN_QUOTE: Final = re.compile(r"[:：]\s*[\"“„«「『'‘][^\"”“»」』]*\Z")

_COLON: Final = re.compile(r"([^.!?。！？\n:：]{2,60})[:：]\s+(\S[^\n]*)")


def _quotations(text: str) -> Iterator[_Hole]:
    for found in _QUOTED.finditer(text):
        inner = next(group for group in found.groups() if group is not None)
        if _is_speech(inner, text[: found.start()]):
            yield found.start(), found.end(), "quotation"
    for found in _COLON.finditer(text):
        if _ends_in_speech(found[1]):
            yield found.start(2), found.end(), "quotation"
    unclosed = _OPEN_QUOTE.search(text)
    if unclosed and unclosed.group().count("'") < 2:
        yield unclosed.start(), len(text), "quotation"


def _ends_in_speech(lead: str) -> bool:
    """Tell whether what stands before a colon hands over to others' words: "the customer wrote", "something like"."""
    for name in ("speech.reported", "speech.example"):
        if any(len(lead[found.end() :].split()) <= 2 for found in phrases(name).find_all(lead)):
            return True
    return False


def _is_speech(inner: str, before: str) -> bool:
    """Tell a quoted statement from a name or a title in quotes."""
    count = len(re.findall(r"\w+", inner))
    dense = len(re.findall("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]", inner))
    if count <= 1 and dense <= 6:
        return False
    if re.search(r"[.!?。！？؟।]\s*$", inner) or re.search(r"[:：,，、]\s*$", before):
        return True
    if phrases_of("speech.first_person", guess_language(inner)).find(inner):
        return True
    if before[-60:] in phrases("speech.reported"):
        return True
    capitals = sum(1 for word in re.findall(r"\w+", inner) if word[0].isupper())
    return dense > 12 or (count > 4 and capitals < count / 2)


# -- tasks on a text, fiction, hypotheses


def _tasks(text: str) -> Iterator[_Hole]:
    sentences = split_sentences(text)
    for place, span in enumerate(sentences):
        sentence = span.of(text)
        if _is_fiction(sentence):
            yield span.start, _end_of_fiction(text, sentences[place:]), "fiction"
        elif is_text_task(sentence) and not _is_for_good(sentence):
            yield span.start, _end_of_material(text, span), "task on a text"
            if place and _points_back(text, span):
                yield 0, span.start, "task on a text"
        elif is_hypothetical(sentence):
            ends = sentence.rstrip()[-1:] in "?？؟" or place + 1 == len(sentences)
            yield span.start, span.end if ends else _end_of_paragraph(text, span), "hypothesis"
        elif _announces_paste(text, span):
            yield span.end, len(text), "pasted"


def _is_fiction(sentence: str) -> bool:
    if casts(sentence):
        return True
    found = phrases("speech.fiction").find(sentence)
    # "I play the lead in …" is true of the user; a game starts a sentence, or asks the other to play.
    return found is not None and _lead_in(sentence, found.start()) and sentence not in phrases("speech.fiction_end")


def casts(sentence: str) -> bool:
    """Tell whether a sentence hands the other a part: "you're the miller", not "you're a star"."""
    if sentence.rstrip()[-1:] in "?？؟":
        return False
    language = guess_language(sentence)
    if _BOTH_CAST.search(skeleton(sentence)):
        return True
    found = phrases_of("speech.casting", language).find(sentence)
    if found is None or not _lead_in(sentence, found.start()):
        return False
    return phrases_of("speech.no_part", language).begins(sentence, _next_word(sentence, found.end())) is None


# "You're a pirate, I'm …": a part for the other and one for the speaker.
_BOTH_CAST: Final = re.compile(
    r"\bты (?!прав|молодец|помни|знаешь|можешь|не ).{2,30}?,? а? ?я\b|\b(?:jestes|ty) .{2,40}?\ba ja\b|"
    r"\bty .{2,30}?,? a ja\b"
    r"|你(?:是|当|扮|来当|演).{1,12}?[，,]?我(?:是|当|扮|来当|演)|(?:あなた|君|お前)[はが].{1,15}?(?:私|僕|俺)[はが]"
    r"|(?:너|네|넌|당신)(?:는|은|가)? .{1,15}?(?:나|내|난|저|제)(?:는|은|가)? |तुम .{2,30}?(?:हो|बनो).{0,8}?मैं |(?:انت|"
    r"أنت) .{2,25}? و?(?:انا|أنا) "
    r"|\bsen .{2,25}?,? ben(?: de)?\b|\bdu (?:bist|spielst|warst) .{2,50}?\bich (?:bin|heiße|heisse|spiele)\b"
    r"|\btu (?:es|seras|joues) .{2,60}?\bje (?:suis|m'appelle)\b|\b(?:eres|seras|sos) .{2,60}?\byo (?:soy|sere)\b"
    r"|\b(?:tu )?sei .{2,60}?\bio (?:sono|faccio)\b|\b(?:voce|tu) (?:e|es|vai ser) .{2,60}?\beu (?:sou|vou ser)\b"
    r"|\b(?:jij|je) bent .{2,50}?\bik ben\b|\bdu (?:ar|er) .{2,50}?\b(?:jag|jeg) (?:ar|er)\b"
    r"|\bi(?:'ll be|'m| am) .{2,40}?, (?:and )?you(?:'ll be| be|'re|'re playing| are) (?:the|a|an|my|[a-z]+[.!]?$)"
    r"|\byou(?:'ll be| be|'re| are) (?:the|a|an|my) .{2,50}?(?:and|,) i(?:'m| am|'ll be) (?:the|a|an|your|called)\b"
)


def _next_word(text: str, place: int) -> int:
    space = re.match(r"\W*", text[place:])
    return place + (space.end() if space else 0)


def is_text_task(sentence: str) -> bool:
    """Tell whether a sentence asks for something to be done with a text, or for a text to be made up."""
    return any(_asks_for(sentence, name) for name in ("speech.text_task", "speech.create_task"))


def _is_for_good(sentence: str) -> bool:
    """Tell whether a sentence wishes something of every text to come: "write my mails without emojis from now on"."""
    return re.search(r"[:：]", sentence) is None and sentence in phrases("speech.standing")


def _asks_for(sentence: str, name: str) -> bool:
    asks = sentence.rstrip()[-1:] in "?？؟" or phrases("speech.request_end").find(sentence) is not None
    languages = likely_languages(sentence)
    language = languages[0]
    for found in phrases(name).find_all(sentence):
        if len(found[0]) < _TELLING and not any(
            phrases_of(name, code).begins(sentence, found.start()) for code in {*languages, "en"}
        ):
            continue  # Dutch "vat", German "kurz": a short word of another language
        if _lead_in(sentence, found.start()):
            return True
        own = phrases_of("speech.first_person", language).find(sentence[: found.start()])
        hands_over = re.match(r"\S{0,6}\s*[:：]", sentence[found.end() :]) is not None
        if (asks or hands_over) and own is None and language != "en":
            return True
    return False


_TELLING: Final = 7  # letters from which a word asks for something in whatever language it is taken for


def is_hypothetical(sentence: str) -> bool:
    """Tell whether a sentence starts by supposing something."""
    found = phrases("speech.hypothetical").find(sentence)
    if found is not None and _lead_in(sentence, found.start()):
        return True
    return _UNREAL.search(skeleton(sentence)) is not None


# "…: had I stayed in Lund, I'd …", "I'd keep bees were I in Peru".
_UNREAL: Final = re.compile(
    r"\b(?<!when )(?<!what )(?<!where )(?:had|were) (?:i|we|my \w+)\b.*\b(?:would|'d|could|might|wouldn't)\b"
    r"|\b(?:would|'d|could|might)\b.* (?:had|were) (?:i|we)\b|\bif (?:i|we|my \w+) (?:was|were|had|lived|moved|"
    r"could|\w+ed)\b.*\b(?:would|'d|could|might)\b"
    r"|\b(?:would|'d)\b.*\bif (?:i|we|my \w+) (?:was|were|had|lived|could)\b|\b(?:in the abstract|"
    r"hypothetically|for the sake of argument|thought experiment)\b"
    r"|\bas (?:if|though) (?:i|we) (?:were|was|had)\b"
    r"|\bhatte ich\b.*\b(?:ware|hatte|wurde|brauchte|konnte)\b|\b(?:ware|wurde) ich\b.*\b(?:ware|hatte|wurde|"
    r"brauchte|konnte)\b"
)


def _lead_in(sentence: str, end: int) -> bool:
    """Tell whether nothing but polite words stands before `end`."""
    place = 0
    while place < end:
        space = re.match(r"\W+", sentence[place:end])
        if space:
            place += space.end()
            continue
        found = phrases("speech.polite").begins(sentence, place)
        if found is None or found.end() > end:
            return False
        place = found.end()
    return True


def _end_of_material(text: str, span: Span) -> int:
    """Return where the text of a task ends: with its quotes or fence if it has any, else with the message."""
    sentence = span.of(text)
    if HOLE in sentence or (_QUOTED.search(sentence) and _asks_for(sentence, "speech.text_task")):
        return span.end
    rest = text[span.end :]
    block = re.match(rf"\s*{HOLE}[{HOLE}\s]*", rest)
    return span.end + block.end() if block else len(text)


def _end_of_fiction(text: str, sentences: list[Span]) -> int:
    for span in sentences:
        if closes_fiction(span.of(text)):
            return span.end
    return len(text)


def _end_of_paragraph(text: str, span: Span) -> int:
    blank = re.search(r"\n\s*\n", text[span.end :])
    return span.end + blank.start() if blank else len(text)


def _points_back(text: str, span: Span) -> bool:
    """Tell whether a task is about what stands before it: "… Translate that."."""
    sentence = span.of(text)
    return text[span.end :].strip() == "" and HOLE not in sentence and sentence in phrases("speech.refers_back")


def _announces_paste(text: str, span: Span) -> bool:
    """Tell whether a question or request about "this" ends its line and more lines follow."""
    sentence = span.of(text)
    if not re.match(r"[ \t]*\n\s*\S", text[span.end :]) or sentence in phrases("wishes.introduces_self"):
        return False
    asks = sentence[-1:] in "?？؟:：" or phrases("speech.request_start").begins(sentence) is not None
    return asks and (sentence[-1:] in ":：" or sentence in phrases("blocks.here"))
