"""Wishes to remember something, said in so many words: "remember that my locker is number 42"."""

import re
from typing import Final

from memchat.learn.language import guess_language
from memchat.learn.lexicon import phrases, phrases_of, said, skeleton
from memchat.learn.mask import mask
from memchat.learn.spans import HOLE, split_sentences
from memchat.learn.trim import as_sentence, trim_clause
from memchat.text import has_unspaced_script

_QUESTION: Final = ("?", "？", "؟")
_EMPTY: Final = re.compile(
    r"^(?:this|that|it|das|es|dies|ca|cela|eso|esto|isso|isto|questo|quello|dat|dit|det|to|это|ce)?$"
)


def explicit_request(text: str) -> str | None:
    """Return what the user asks to have remembered, in their own words; None when they ask for nothing of the kind.

    Pasted text, quotations and questions ("do you remember that …?") are no requests.
    """
    if text not in phrases("wishes.remember") and text not in phrases("wishes.remember_after"):
        return None  # the rest of the word tables need not be read for it
    masked = mask(text).text
    sentences = [span.of(masked) for span in split_sentences(masked)]
    for place, sentence in enumerate(sentences):
        if HOLE in sentence or (sentence.rstrip()[-1:] in _QUESTION and not _POLITE_QUESTION.match(skeleton(sentence))):
            continue
        wish = _wish_in(sentence)
        if wish is None:
            continue
        if wish:
            return _finish(wish, [part for part in sentences[place + 1 :] if HOLE not in part])
        return _stated_before(sentences[:place])
    return None


_POLITE_QUESTION: Final = re.compile(
    r"^(?:can|could|would|will) you |^(?:kannst|konntest) du |^peux-tu |^puedes |^puoi "
)


def is_only_wish(sentence: str) -> bool:
    """Tell whether a sentence only points at what is to be remembered: "Remember that."."""
    return _wish_in(sentence) == ""


def _wish_in(sentence: str) -> str | None:
    """Return the content of a wish, "" when it points back, None when the sentence is no wish."""
    language = guess_language(sentence)
    ending = _without_closing(sentence)
    if ending is not None:
        return ending if _has_content(ending) else ""
    start = 0
    opening = re.match(
        r"(?:(?:ok|okay|oh|so|and|also|hey|hi|please|by the way|btw|und|bitte|y|et|e|por favor)[,\s]+)*",
        skeleton(sentence),
    )
    if opening:
        start = opening.end()
    found = phrases("wishes.remember").begins(sentence, start)
    if found is None:
        trimmed = trim_clause(sentence, language).text
        found = phrases("wishes.remember").begins(trimmed) if trimmed != sentence else None
        sentence = trimmed if found else sentence
    if found is None:
        return None
    rest = sentence[found.end() :]
    handed_over = re.match(
        r"(?:\s*(?:this|that|it|ok|okay|pls|please|das|bitte|ça|eso|esto|questo|"
        r"dit))*\s*[-–—:：]\s*(?=\S)",
        rest,
    )
    rest = rest[handed_over.end() if handed_over else 0 :].strip(" \t:：,，、.!?-–—")
    rest = re.sub(r"^(?:that|this|dass|que|qu'|che|dat|att|at|ze|że|что|що|ότι|أن|कि|about me)\b[\s:,]*", "", rest)
    reminds = "remind" in skeleton(found.group())
    if _is_question_word(rest) or (not reminds and _MEMORIES.match(skeleton(rest))):
        return None
    if reminds and _ASKS_BACK.match(skeleton(rest)):
        return None
    if phrases("wishes.weak_remember").begins(found.group()) and _is_at_hand(rest, language):
        return None
    if (
        handed_over is None
        and phrases("wishes.weak_remember").begins(found.group())
        and phrases_of("speech.first_person", language).find(rest) is None
    ):
        return None
    return rest if _has_content(rest) else ""


# "Remind me what a monad is" asks; "remind me when I say …" does not.
_ASKS_BACK: Final = re.compile(r"(?:what|who|why|how|which|where) (?!i |we |my )")


def _is_at_hand(text: str, language: str) -> bool:
    return any(said(f"kinds.{name}", text, language) is not None for name in ("at_hand", "technical"))


_MEMORIES: Final = re.compile(r"(?:to |me to |when (?:i|we) |what (?:i|we|you) |how (?:i|we) |the time |who i )")


def _without_closing(sentence: str) -> str | None:
    """Return what stands before a closing "…, put that on my list"; None when the sentence does not end so."""
    body = sentence.rstrip(" .!。！")
    for found in phrases("wishes.remember_after").find_all(body):
        rest = re.sub(
            r"\b(?:please|ok|okay|thanks|bitte|por favor|"
            r"s'il te plait)\b",
            "",
            skeleton(body[found.end() :]),
        )
        if re.search(r"\w", rest):
            continue
        head = body[: found.start()]
        if (
            re.search(r"\w", head)
            and not has_unspaced_script(head)
            and not re.search(r"[,;:.!—–-]\s*(?:\w+\s+)?$", head)
        ):
            continue
        return re.sub(r"[\s,;:，、—–-]*(?:and|so|please|und|bitte|y|et|e|ので|から)?\s*$", "", head)
    return None


def _has_content(text: str) -> bool:
    plain = skeleton(text).strip(" .,:;!-")
    return len(plain) >= (2 if has_unspaced_script(text) else 3) and _EMPTY.match(plain) is None


def _is_question_word(rest: str) -> bool:
    return rest.endswith(_QUESTION)


def _stated_before(sentences: list[str]) -> str | None:
    """Return the nearest statement before "remember that."."""
    for sentence in reversed(sentences):
        if HOLE not in sentence and sentence.rstrip()[-1:] not in _QUESTION and _has_content(sentence):
            return _finish(sentence, [])
    return None


def _finish(wish: str, following: list[str]) -> str:
    """Return a wish as a sentence, with a short fragment that follows it ("8:40 in the morning.")."""
    language = guess_language(wish)
    text = trim_clause(wish, language).text
    if (
        following
        and len(following[0].split()) <= 6
        and re.match(r"(?:at |um |a las |à |alle )?\d", skeleton(following[0]))
    ):
        text = f"{text.rstrip(' .!')}, {following[0]}"
    return as_sentence(text)
