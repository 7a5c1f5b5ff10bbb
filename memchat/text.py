"""Pure text functions that several layers share: folding for comparison, cleaning for storage and display."""

import re
import unicodedata
from typing import Final

# C0 except tab and newline, DEL, C1; bidi embeddings, overrides and isolates; invisible "tag" letters.
# ZWJ and ZWNJ stay, since emoji and Indic scripts need them.
CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f\u2028\u2029\ufeff\U000e0000-\U000e007f]"
)
_ESCAPES: Final = re.compile(
    r"\x1b\][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[PX^_][^\x1b\x9c]*(?:\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?"
)
_SPACE: Final = re.compile(r"\s+")
_NO_SPACE_SCRIPTS: Final = re.compile(
    "[\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)


def clean(text: str) -> str:
    """Return `text` in NFC without terminal escapes, control and bidi characters; newlines become \\n."""
    if text.isascii() and text.isprintable():
        return text  # as nearly every text is: there is nothing to take out
    text = encodable(text)  # lone surrogates would break SQLite and stdout
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", CONTROLS.sub("", _ESCAPES.sub("", text)))


def encodable(text: str) -> str:
    """Return `text` without lone surrogates, which no JSON can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def one_line(text: str) -> str:
    """Return `text` cleaned, on one line, with single spaces."""
    return _SPACE.sub(" ", clean(text)).strip()


def fold(text: str) -> str:
    """Return the form in which texts are compared: NFKC, case folded, plain quotes, single spaces."""
    text = clean(text)
    if text.isascii():  # which both forms leave as it is
        return " ".join(text.lower().split())
    text = unicodedata.normalize("NFKC", text).casefold().translate(_QUOTES)
    return _SPACE.sub(" ", text).strip()


_QUOTES: Final = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "–": "-", "—": "-", "‑": "-"}
)


def words(text: str) -> list[str]:
    """Return the folded words of `text`; scripts without spaces give one word per run."""
    return re.findall(r"[^\W_]+(?:'[^\W_]+)?", fold(text))


def has_unspaced_script(text: str) -> bool:
    """Tell whether `text` holds a script that is written without spaces (Chinese, Japanese, Thai, …)."""
    return _NO_SPACE_SCRIPTS.search(text) is not None


def estimate_tokens(text: str) -> int:
    """Estimate tokens from above: about 3.2 characters a token, one per character in scripts without spaces."""
    if text.isascii():
        return -(-len(text) * 10 // 32)
    dense = sum(1 for character in text if ord(character) > 0x2E7F or 0x0E00 <= ord(character) <= 0x10FF)
    return dense + -(-(len(text) - dense) * 10 // 32)


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: `1 memory`, `3 memories`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {plural or (noun[:-1] + 'ies' if noun.endswith('y') and noun[-2] not in 'aeo' else noun + 's')}"
