"""Different words for one thing made one: "telly" and "TV", "half a dozen" and 6, "二匹" and "2匹"."""

import re
from functools import cache
from typing import Final

from memchat.learn.lexicon import skeleton, word_table
from memchat.text import has_unspaced_script

_DENSE_NUMBER: Final = re.compile(
    r"(?P<han>[一二两兩三四五六七八九十]{1,3})(?=[匹只隻個个人頭头羽本台歳岁階层條条位家张張辆杯冊册枚軒足着度回次])"
    r"|(?P<ko>한|두|세|네|다섯|여섯|일곱|여덟|아홉|열)\s?(?=마리|명|살|개|대|권|잔|번|채|켤레|그루)"
)
_COUNTER: Final = re.compile(
    r"(\d+)\s?(?:[匹只隻個个人頭头羽本台条條位家张張辆杯冊册枚軒足着]の?|(?:마리|명|개|대|권|잔|채|켤레|그루)(?:[를을가이는은도의])?)"
)
_HAN: Final = {c: n for n, c in enumerate("一二三四五六七八九", 1)} | {"两": 2, "兩": 2}
_KOREAN: Final = {c: n for n, c in enumerate(("한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열"), 1)}


def unify(text: str, language: str) -> str:
    """Return a statement with one word for each thing and figures for numbers, to compare it by."""
    if has_unspaced_script(text) or language == "ko":
        text = _COUNTER.sub(r"\1 ", _DENSE_NUMBER.sub(_figures, text))
    table = _table(language)
    if table is None:
        return text
    pattern, meant = table
    plain = skeleton(text)
    parts: list[str] = []
    end = 0
    for found in pattern.finditer(plain):
        one = meant[re.sub(r"\s+", " ", found[0])]
        parts += [text[end : found.start()], f" {one} "]
        end = found.end()
    return "".join((*parts, text[end:]))


def _figures(found: re.Match[str]) -> str:
    if found["ko"]:
        return f"{_KOREAN[found['ko']]}"
    tens, ten, ones = found["han"].rpartition("十")
    return str((_HAN.get(tens, 1) * 10 if ten else 0) + _HAN.get(ones, 0))


@cache
def _table(language: str) -> tuple[re.Pattern[str], dict[str, str]] | None:
    rows = word_table("synonyms").get(language)
    if rows is None:
        return None
    meant = {
        skeleton(word): "" if one == "nothing" else skeleton(one)
        for one, row in rows.items()
        for word in row.split("|")
    }
    words = sorted(meant, key=len, reverse=True)
    any_word = "|".join(r"\s+".join(map(re.escape, word.split())) for word in words)
    bounds = ("", "") if language in ("ja", "zh", "ko") else (r"(?<![\w'])", r"(?![\w'])")
    return re.compile(f"{bounds[0]}(?:{any_word}){bounds[1]}"), meant
