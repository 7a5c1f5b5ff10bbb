"""Relative dates in Chinese, Japanese and Korean, where words are not divided and numbers carry the units."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from memchat.learn.dating import Found, add_months, day_text, month_text, next_weekday, span_text

_NUMBERS: Final = (
    {c: n for n, c in enumerate("一二三四五六七八九十", 1)}
    | {"两": 2, "俩": 2, "兩": 2}
    | {c: n for n, c in enumerate(("한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열"), 1)}
)
_NUMBER: Final = r"(?P<n>\d{1,3}|[一二三四五六七八九十两兩]|한|두|세|네|다섯|여섯|일곱|여덟|아홉|열)"
_DAYS: Final = {
    "大后天": 3, "后天": 2, "明天": 1, "明日": 1, "今天": 0, "今日": 0, "今晚": 0, "今早": 0, "昨天": -1,
    "昨日": -1, "前天": -2,
    "明後日": 2, "あさって": 2, "あした": 1, "明日の": 1, "きょう": 0, "今夜": 0, "今朝": 0, "一昨日": -2,
    "おととい": -2, "きのう": -1,
    "내일모레": 2, "모레": 2, "내일": 1, "오늘": 0, "어제": -1, "그저께": -2, "엊그제": -2,
}  # fmt: skip
_STEPS: Final = {
    "下下": 2, "下": 1, "这": 0, "這": 0, "本": 0, "上上": -2, "上": -1, "再来": 2, "来": 1, "今": 0,
    "先々": -2, "先": -1,
    "다다음": 2, "다음": 1, "이번": 0, "지난": -1, "저번": -1,
}  # fmt: skip
_YEARS: Final = {
    "后年": 2, "明年": 1, "今年": 0, "去年": -1, "前年": -2, "再来年": 2, "来年": 1, "昨年": -1, "一昨年": -2,
    "후년": 2, "내년": 1, "올해": 0, "금년": 0, "작년": -1, "지난해": -1, "재작년": -2,
}  # fmt: skip
_WEEKDAYS: Final = (
    {c: n for n, c in enumerate("一二三四五六")}
    | {"日": 6, "天": 6}
    | {c: n for n, c in enumerate("月火水木金土")}
    | {c: n for n, c in enumerate("월화수목금토일")}
)


def _any(words: object) -> str:
    return "|".join(sorted(words, key=len, reverse=True))  # type: ignore[call-overload]


_WEEK: Final = re.compile(
    r"(?P<step>下下|下|这|這|本|上上|上)个?(?:周|星期|礼拜|週)(?P<zh>[一二三四五六日天])?"
    r"|(?P<step2>再来|来|今|先々|先)週(?:の|の)?(?P<ja>[月火水木金土日](?:曜日?)?)?"
    r"|(?P<step3>다다음|다음|이번|지난|저번)\s?주\s?(?P<ko>[월화수목금토일](?=요일))?(?:요일)?"
)
_MONTH: Final = re.compile(
    r"(?P<step>下下|下|这|這|本|上)个?月(?:的)?(?P<day>\d{1,2})?(?(day)[号日]?)"
    r"|(?P<step2>再来|来|今|先)月(?:の)?(?P<day2>\d{1,2})?(?(day2)日)"
    r"|(?P<step3>다다음|다음|이번|지난)\s?달\s?(?P<day3>\d{1,2})?(?(day3)일)"
)
_YEAR: Final = re.compile(
    rf"(?P<year>{_any(_YEARS)})(?:の)?\s?(?:(?P<month>\d{{1,2}}|[一二三四五六七八九十]|十[一二])(?:月|월)(?:の)?\s?(?:(?P<day>\d{{1,2}})[日号일])?)?"
)
_DATE: Final = re.compile(
    r"(?<![\d年년/.-])(?<!年\s)(?<!년\s)(?P<month>\d{1,2})(?:月|월)\s?(?:(?P<day>\d{1,2})[日号号일])?"
)
_AWAY: Final = re.compile(
    rf"{_NUMBER}\s?个?(?P<unit>天|日|周|星期|礼拜|週間?|か月|ヶ月|カ月|个月|月|年|일|주일?|개월|달|년)\s?"
    r"(?P<way>以?后|以?後|之后|之後|以?前|之前|후|뒤|전)"
)
_DAY: Final = re.compile(_any(_DAYS))
_WEEKDAY: Final = re.compile(
    r"(?<!毎週)(?<!每)(?<!매주 )(?:(?:次の|今度の)?(?P<ja>[月火水木金土日])曜日?"
    r"|(?:周|星期|礼拜|週)(?P<zh>[一二三四五六日天])|(?P<ko>[월화수목금토일])요일)"
)
_BACK: Final = re.compile("了|过|過|ました|でした|した|った|んだ|いだ|だった|었|았|했|였|렸|졌|부터|以来|から")
_AHEAD: Final = re.compile("予定|つもり|ます(?!た)|要|会|將|将|打算|准备|할|될|갈|올|예정|려고|가요|겠|새로")
_ANNUAL: Final = re.compile("生日|诞辰|誕生日|記念日|纪念日|생일|기념일|每|毎|매년|매주|生まれ|出生|태어")


def find_dense(text: str, today: date, language: str) -> Iterator[Found]:
    """Yield the date expressions of a Chinese, Japanese or Korean text."""
    back = _BACK.search(text) is not None and _AHEAD.search(text) is None
    yield from _away(text, today, language)
    yield from _weeks(text, today, language)
    yield from _months(text, today, language)
    yield from _years(text, today, language)
    if not _ANNUAL.search(text):
        yield from _dates(text, today, language, back)
    for hit in _DAY.finditer(text):
        day = today + timedelta(days=_DAYS[hit.group()])
        particle = "の" if hit.group().endswith("の") else ""
        yield Found(hit.start(), hit.end(), day_text(day, language) + particle, day)
    if not re.search("每周|每星期|毎週|매주", text):
        for hit in _WEEKDAY.finditer(text):
            day = next_weekday(today, _WEEKDAYS[hit["ja"] or hit["zh"] or hit["ko"]], back=back)
            yield Found(hit.start(), hit.end(), day_text(day, language), day)


def dense_looks_ahead(text: str) -> bool:
    """Tell whether a text speaks of what is to come."""
    return _AHEAD.search(text) is not None and _BACK.search(text) is None


def _away(text: str, today: date, language: str) -> Iterator[Found]:
    for hit in _AWAY.finditer(text):
        number = int(hit["n"]) if hit["n"].isdigit() else _NUMBERS[hit["n"]]
        number *= -1 if hit["way"] in ("前", "以前", "之前", "전") else 1
        unit = hit["unit"]
        if unit in ("天", "日", "일") or re.match("周|星期|礼拜|週|주", unit):
            day = today + timedelta(days=number * (1 if unit in ("天", "日", "일") else 7))
            yield Found(hit.start(), hit.end(), day_text(day, language), day)
        elif unit in ("年", "년"):
            yield Found(hit.start(), hit.end(), f"{today.year + number}{unit}")
        else:
            yield Found(hit.start(), hit.end(), month_text(add_months(today.replace(day=1), number), language))


def _weeks(text: str, today: date, language: str) -> Iterator[Found]:
    monday = today - timedelta(days=today.weekday())
    for hit in _WEEK.finditer(text):
        first = monday + timedelta(weeks=_STEPS[hit["step"] or hit["step2"] or hit["step3"]])
        weekday = (hit["zh"] or hit["ja"] or hit["ko"] or "")[:1]
        if weekday:
            day = first + timedelta(days=_WEEKDAYS[weekday])
            yield Found(hit.start(), hit.end(), day_text(day, language), day)
        else:
            yield Found(hit.start(), hit.end(), span_text("week", first, language))


def _months(text: str, today: date, language: str) -> Iterator[Found]:
    for hit in _MONTH.finditer(text):
        month = add_months(today.replace(day=1), _STEPS[hit["step"] or hit["step2"] or hit["step3"]])
        number = hit["day"] or hit["day2"] or hit["day3"]
        day = _valid(month.year, month.month, int(number)) if number else None
        yield Found(hit.start(), hit.end(), day_text(day, language) if day else month_text(month, language), day)


def _years(text: str, today: date, language: str) -> Iterator[Found]:
    for hit in _YEAR.finditer(text):
        year = today.year + _YEARS[hit["year"]]
        unit = "년" if language == "ko" else "年"
        shown, day = f"{year}{unit}", None
        if hit["month"]:
            month = int(hit["month"]) if hit["month"].isdigit() else _chinese(hit["month"])
            day = _valid(year, month, int(hit["day"])) if hit["day"] else None
            first = _valid(year, month, 1)
            shown = day_text(day, language) if day else month_text(first, language) if first else shown
        trail = re.search(r"(?:の|\s)$", hit.group())
        yield Found(hit.start(), hit.end(), shown + (trail.group() if trail else ""), day)


def _dates(text: str, today: date, language: str, back: bool) -> Iterator[Found]:
    for hit in _DATE.finditer(text):
        month, number = int(hit["month"]), int(hit["day"] or 1)
        year = today.year
        first = _valid(year, month, number)
        if first is None:
            continue
        edge = today if hit["day"] else today.replace(day=1)
        if back and first > edge:
            year -= 1
        elif not back and first < edge:
            year += 1
        day = _valid(year, month, number)
        if day is not None:
            exact = day if hit["day"] else None
            yield Found(hit.start(), hit.end(), day_text(day, language) if exact else month_text(day, language), exact)


def _chinese(word: str) -> int:
    return sum(_NUMBERS[character] for character in word)


def _valid(year: int, month: int, number: int) -> date | None:
    try:
        return date(year, month, number)
    except ValueError:
        return None
