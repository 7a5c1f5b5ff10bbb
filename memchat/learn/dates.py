"""Relative dates made absolute, so that a memory still says when after months: "next Friday" → "on 4 December 2026"."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memchat.learn.dates_dense import dense_looks_ahead, find_dense
from memchat.learn.dates_spoken import numeric_dates, spoken_dates
from memchat.learn.datewords import DateWords, annual_words, date_words
from memchat.learn.dating import Found, add_months, day_text, month_text, next_weekday, span_text, year_text
from memchat.learn.lexicon import skeleton


@dataclass(frozen=True, slots=True)
class Dated:
    """A text with its dates absolute, and the day it tells of where there is exactly one."""

    text: str
    day: date | None = None


def local_date(at: datetime, zone: str) -> date:
    """Return the date on the user's clock; `zone` is an IANA name or an offset as "+0200", UTC when unknown."""
    return at.astimezone(_zone(zone)).date()


def absolute_dates(text: str, today: date, language: str, *, month_first: bool = False) -> Dated:
    """Return `text` with "tomorrow", "last March", "in three weeks" and the like made dates as seen from `today`.

    `month_first` tells how to read "11/6".
    """
    found = list(numeric_dates(text, today, language, month_first=month_first))
    for find in _finders(language):
        for expression in find(text, today, language):
            if all(expression.end <= other.start or other.end <= expression.start for other in found):
                found.append(expression)
    found.sort(key=lambda expression: expression.start)
    pieces, place = [], 0
    for expression in found:
        pieces += [text[place : expression.start], expression.text]
        place = expression.end
    days = {expression.day for expression in found if expression.day is not None}
    return Dated("".join([*pieces, text[place:]]), days.pop() if len(days) == 1 else None)


def _zone(name: str) -> timezone | ZoneInfo:
    offset = re.fullmatch(r"([+-])(\d\d):?(\d\d)", name.strip())
    if offset:
        minutes = int(offset[2]) * 60 + int(offset[3])
        return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes))
    try:
        return ZoneInfo(name.strip())
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


_Finder = Callable[[str, date, str], Iterator[Found]]


def _finders(language: str) -> tuple[_Finder, ...]:
    if language in ("zh", "ja", "ko"):
        return (find_dense,)
    if date_words(language) is None:
        return (_by_library,)
    return (
        spoken_dates,
        _distances,
        _days,
        _ends,
        _weeks_with_day,
        _weekdays,
        _periods,
        _month_days,
        _months,
        _day_numbers,
    )


def _by_library(text: str, today: date, language: str) -> Iterator[Found]:
    """Find dates of a language without a table of ours."""
    # dateparser loads its tables of languages when imported, which only these rare languages should pay for.
    from dateparser.search import search_dates

    noon = datetime(today.year, today.month, today.day, 12)
    settings = {"RELATIVE_BASE": noon, "PREFER_DATES_FROM": "future", "RETURN_AS_TIMEZONE_AWARE": False}
    try:
        hits = search_dates(text, languages=[language], settings=settings) or []
    except ValueError:  # a language it does not know
        return
    for words, when in hits:
        start = text.find(words)
        if start >= 0 and len(words) >= 4 and re.search(r"[^\W\d]", words):
            yield Found(start, start + len(words), when.date().isoformat(), when.date())


# -- languages with spaces


def _distances(text: str, today: date, language: str) -> Iterator[Found]:
    """ "in three weeks", "two years ago"."""
    words = _words(language)
    plain = skeleton(text)
    past = _is_past(plain, words)
    for pattern, sign in ((words.ahead, 1), (words.ago, -1)):
        for hit in pattern.finditer(plain):
            if sign > 0 and past:
                continue  # "I read it in two weeks" is how long it took
            amount = words.amount(hit)
            if amount is not None:
                yield _at_distance(text, hit, (sign * amount[0], amount[1]), today, words)


def _at_distance(text: str, hit: re.Match[str], amount: tuple[int, str], today: date, words: DateWords) -> Found:
    number, unit = amount
    exact = re.match(r"\s+(?:today|to the day)\b", skeleton(text)[hit.end() :])
    end = hit.end() + (exact.end() if exact else 0)
    start = hit.start()
    head = re.search(r"\bexactly\s+$", text[:start], re.I)
    if exact or (head and unit in ("month", "year")):
        start = head.start() if head else start
        day = add_months(today, number * (12 if unit == "year" else 1)) if unit in ("month", "year") else None
    else:
        day = None
    if unit in ("day", "week"):
        day = today + timedelta(days=number * (7 if unit == "week" else 1))
    if day is not None:
        return Found(start, end, words.placed(text, start, day_text(day, words.language), words.on), day)
    if unit == "month":
        when = add_months(today, number)
        return Found(start, end, words.placed(text, start, month_text(when, words.language), words.inside))
    return Found(start, end, words.placed(text, start, year_text(today.year + number), words.inside))


def _days(text: str, today: date, language: str) -> Iterator[Found]:
    """ "tomorrow", "the day before yesterday"."""
    words = _words(language)
    plain = skeleton(text)
    offsets = words.day_offsets(past=_is_past(plain, words))
    for hit in words.days.finditer(plain):
        name = re.sub(r"\s+", " ", hit["word"])
        if name not in offsets or words.shadowed(plain, hit.start("word")):
            continue
        day = today + timedelta(days=offsets[name])
        shown, end = day_text(day, language), hit.end()
        part = re.match(r"\s+(morning|afternoon|evening|night)\b", plain[end:]) if language == "en" else None
        if part:
            shown, end = f"the {part[1]} of {shown}", end + part.end()
        yield Found(hit.start(), end, words.placed(text, hit.start(), shown, words.on), day)


def _weekdays(text: str, today: date, language: str) -> Iterator[Found]:
    """ "next Friday", "on Friday", "last Friday"; not "on Fridays" or "every Friday"."""
    words = _words(language)
    plain = skeleton(text)
    for hit in words.weekdays.finditer(plain):
        number = words.weekday_number(hit["word"])
        step = words.step(hit)
        if re.match(r"\s+(?:of|in) (?:every|each|the month)\b", plain[hit.end() :]):
            continue
        if words.recurs(plain, hit.start()) or (step is None and not words.joined(plain, hit.start(), hit.end())):
            continue
        back = step == -1 or (step is None and _looks_back(plain, hit.start(), words))
        day = today if step == 0 and today.weekday() == number else next_weekday(today, number, back=back)
        yield Found(hit.start(), hit.end(), words.placed(text, hit.start(), day_text(day, language), words.on), day)


_ENDS: Final = {
    "en": re.compile(r"\bend of (?P<all>the (?P<unit>month|year))\b"),
    "de": re.compile(r"\bende (?P<all>des (?P<unit>monats|jahres))\b"),
    "fr": re.compile(r"\bfin (?P<all>du (?P<unit>mois)|de l'(?P<unit2>annee))\b"),
}


def _ends(text: str, today: date, language: str) -> Iterator[Found]:
    """ "by the end of the month" means this one."""
    for hit in _ENDS[language].finditer(skeleton(text)) if language in _ENDS else ():
        of_year = "ye" in hit["all"] or "jahr" in hit["all"] or "annee" in hit["all"]
        shown = year_text(today.year) if of_year else month_text(today, language)
        yield Found(hit.start("all"), hit.end("all"), shown)


def _weeks_with_day(text: str, today: date, language: str) -> Iterator[Found]:
    """ "next week on Friday", "Friday next week"."""
    words = _words(language)
    plain = skeleton(text)
    weeks = [hit for hit in words.periods.finditer(plain) if words.period_unit(hit["word"]) == "week"]
    for week in weeks:
        step = words.step(week)
        for hit in words.weekdays.finditer(plain) if step is not None else ():
            start, end = min(week.start(), hit.start()), max(week.end(), hit.end())
            between = plain[min(week.end(), hit.end()) : max(week.start(), hit.start())]
            if words.only_joins(between):
                monday = today - timedelta(days=today.weekday()) + timedelta(weeks=step or 0)
                day = monday + timedelta(days=words.weekday_number(hit["word"]))
                yield Found(start, end, words.placed(text, start, day_text(day, language), words.on), day)
                break


def _periods(text: str, today: date, language: str) -> Iterator[Found]:
    """ "next month", "this year", "last weekend", "this summer"."""
    words = _words(language)
    for hit in words.periods.finditer(skeleton(text)):
        step, unit = words.step(hit), words.period_unit(hit["word"])
        if step is None or unit in ("day", None):
            continue
        shown, inside = _period_text(unit, step, today, hit["word"], words)
        yield Found(hit.start(), hit.end(), words.placed(text, hit.start(), shown, inside))


def _period_text(unit: str | None, step: int, today: date, word: str, words: DateWords) -> tuple[str, str]:
    monday = today - timedelta(days=today.weekday())
    if unit == "week":
        first = monday + timedelta(weeks=step)
        return span_text("week", first, words.language), words.inside if words.language == "en" else ""
    if unit == "weekend":
        first = monday + timedelta(weeks=step, days=5)
        return span_text("weekend", first, words.language), words.on if words.language == "en" else ""
    if unit == "month":
        return month_text(add_months(today.replace(day=1), step), words.language), words.inside
    if unit == "season":
        return f"{word} {today.year + step}", words.inside
    return year_text(today.year + step), words.inside


def _month_days(text: str, today: date, language: str) -> Iterator[Found]:
    """ "12 June", "June 12th": the year is added unless the day returns every year."""
    words = _words(language)
    plain = skeleton(text)
    if plain in annual_words():
        return
    for hit in words.month_days.finditer(plain):
        month = words.month_number(hit["m1"] or hit["m2"])
        number = int(hit["d1"] or hit["d2"])
        if not 1 <= number <= 31 or words.recurs(plain, hit.start()):
            continue
        day = _nearest(today, month, number, back=_looks_back(plain, hit.start(), words))
        if day is not None:
            of = " de " if language in ("es", "pt") else ", " if hit["m2"] and language == "en" else " "
            yield Found(hit.start(), hit.end(), f"{text[hit.start() : hit.end()]}{of}{day.year}", day)


def _months(text: str, today: date, language: str) -> Iterator[Found]:
    """ "in March", "since May": the year is added."""
    words = _words(language)
    plain = skeleton(text)
    if plain in annual_words():
        return
    for hit in words.months.finditer(plain):
        month = words.month_number(hit["word"])
        step = words.step(hit)
        if words.recurs(plain, hit.start()) or not (step is not None or words.is_month(text, plain, hit)):
            continue
        back = step == -1 or (step is None and _looks_back(plain, hit.start(), words))
        year = today.year
        if back and month > today.month - (1 if step == -1 else 0):
            year -= 1
        elif not back and step != 0 and month < today.month + (1 if step == 1 else 0):
            year += 1
        of = " de " if language in ("es", "pt") else " "
        shown = f"{text[hit.start('word') : hit.end('word')]}{of}{year}"
        if step is not None:
            shown = words.placed(text, hit.start(), shown, words.inside)
        yield Found(hit.start(), hit.end(), shown)


def _day_numbers(text: str, today: date, language: str) -> Iterator[Found]:
    """ "on the 28th": the next one, or the last one when the clause looks back."""
    words = _words(language)
    plain = skeleton(text)
    for hit in words.day_numbers.finditer(plain):
        number = int(hit["day"])
        back = _looks_back(plain, hit.start(), words)
        for months in range(4):
            first = add_months(today.replace(day=1), -months if back else months)
            day = _valid(first.year, first.month, number)
            if day and (day <= today if back else day >= today):
                yield Found(hit.start("all"), hit.end(), day_text(day, language), day)
                break


def looks_ahead(text: str, language: str) -> bool:
    """Tell whether a clause speaks of what is to come, as far as its language has a table."""
    words = date_words(language)
    plain = skeleton(text)
    if language in ("zh", "ja", "ko"):
        return dense_looks_ahead(text)
    return words is not None and plain in words.future and plain not in words.past


def _is_past(plain: str, words: DateWords) -> bool:
    return plain in words.past and plain not in words.future


def _looks_back(plain: str, place: int, words: DateWords) -> bool:
    """Tell whether a month or weekday at `place` lies behind: after "since", or in a clause in the past tense."""
    if words.since.search(plain[:place]):
        return True
    if _AHEAD_OF.search(plain[:place]):
        return False
    return _is_past(plain, words)


# "The show is on 9 January, and I've been …": the verb beside the date counts.
_AHEAD_OF: Final = re.compile(
    r"(?:\b(?:is|are|starts|begins|opens|ist|sind|est|es|e|on)|'s)\s+(?:on|in|at|am|im|le|el|il)?\s*(?:the\s+)?$"
)


def _nearest(today: date, month: int, number: int, *, back: bool) -> date | None:
    years = (today.year, today.year - 1) if back else (today.year, today.year + 1)
    for year in years:
        day = _valid(year, month, number)
        if day and (day <= today if back else day >= today):
            return day
    return None


def _valid(year: int, month: int, number: int) -> date | None:
    try:
        return date(year, month, number)
    except ValueError:
        return None


def _words(language: str) -> DateWords:
    words = date_words(language)
    assert words is not None, language
    return words
