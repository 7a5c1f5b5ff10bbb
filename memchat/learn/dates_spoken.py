"""Dates as they are spoken or jotted down: "a week on Thursday", "jeudi en huit", "the first Monday in May", "11/6"."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from memchat.learn.datewords import DateWords, annual_words, date_words
from memchat.learn.dating import Found, add_months, day_text, month_text, next_weekday
from memchat.learn.lexicon import skeleton

_AMERICAN: Final = re.compile(
    r"US/|America/(?:New_York|Chicago|Denver|Los_Angeles|Phoenix|Anchorage|Detroit|Boise|Juneau|Adak|Nome|Sitka|"
    r"Menominee|"
    r"Indiana/|Kentucky/|North_Dakota/|Puerto_Rico)|Pacific/(?:Honolulu|Guam)|Asia/Manila|E[SD]T|C[SD]T|M[SD]T|P[SD]T"
)


def is_month_first(zone: str) -> bool:
    """Tell whether "11/6" is said month first where the clock of `zone` goes."""
    return _AMERICAN.match(zone) is not None


# "{w}" is a weekday, "{n}" a number, both of the language.
_WEEKS_ON: Final = {
    "en": (
        r"(?:a|(?P<n>{n})) weeks?(?:'s? time)? (?:on|from|this|this coming|after) (?P<w>{w})|"
        r"(?P<w2>{w}) (?:week|in a week)|"
        r"(?:a )?fortnight (?:on|from|this) (?P<f>{w})|(?P<f2>{w}) fortnight|(?:the )?(?P<a>{w}) after next"
    ),
    "de": r"(?P<w>{w}) in (?:einer|1|(?P<n>{n})) wochen?|(?P<f>{w}) in (?:14|vierzehn) tagen|"
    "(?P<a>{w}) in acht tagen",
    "fr": r"(?P<w>{w}) en huit|(?P<f>{w}) en quinze|(?P<a>{w}) dans (?:huit jours|une semaine)",
    "nl": r"(?P<w>{w}) over (?:een|1|(?P<n>{n})) we(?:ek|ken)|(?P<f>{w}) over (?:14|veertien) dagen",
    "it": r"(?P<w>{w}) a otto|(?P<f>{w}) a quindici",
    "sv": r"(?P<w>{w}) om (?:en|(?P<n>{n})) veckor?",
    "da": r"(?P<w>{w}) om (?:en|(?P<n>{n})) uger?",
    "es": r"(?P<w>{w}) que viene no,? el (?:siguiente|otro)|(?P<f>{w}) dentro de (?:quince dias|dos semanas)",
}
_AGO_ON: Final = {
    "en": r"a week (?:ago |last )(?:on )?(?P<w>{w})|(?P<w2>{w}) before last|(?P<last>{w}) (?:just )?(?:gone|"
    "past)|last week's (?P<last2>{w})"
}
_FROM_DAY: Final = re.compile(
    r"\b(?:(?P<n>a|one|two|three) weeks? (?:today|(?P<t>tomorrow))|(?:today|(?P<t2>tomorrow)) week|"
    r"a fortnight (?P<f>today|tomorrow)|"
    r"(?P<de>heute|morgen) in (?P<den>einer|zwei|drei) wochen?|(?P<fr>d'aujourd'hui|"
    r"aujourd'hui) en (?P<frn>huit|quinze)|hoy en (?P<es>ocho|quince))\b"
)
_AFTER_NEXT: Final = re.compile(
    r"\b(?:the )?(?P<u>week|weekend|month) (?P<way>after next|before last)\b|\b(?P<de>ubernachste[nrs]?|"
    r"vorletzte[nrs]?) (?P<deu>woche|wochenende|monat)\b"
)
_NTH: Final = re.compile(
    r"\b(?:the )?(?P<nth>first|second|third|fourth|last|1st|2nd|3rd|4th) (?P<w>[a-z]+) (?:of|"
    r"in) (?:(?P<next>next month)|(?P<m>[a-z]+))(?!\s+(?:19|20)\d\d)\b"
)
_ORDINALS: Final = {
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
    "last": -1,
}
_SHORT_YEAR: Final = re.compile(r"(?<=\s)['’](?P<y>\d\d)(?=[\s.,;:!?)]|$)")
_NUMERIC: Final = re.compile(
    r"(?<![\d/.:-])(?P<a>\d{1,2})(?P<mark>[/.])(?P<b>\d{1,2})(?:(?P=mark)(?P<y>(?:20)?\d\d))?(?P<stop>\.)?"
    r"(?![\d/%:]|\s*(?:pm|am|p\.m|a\.m|uhr|%|percent|cups?|of a)\b)"
)
_BEFORE_NUMERIC: Final = re.compile(
    r"(?<!\w)(?:on|by|until|till|til|before|after|from|since|is|are|was|due|starts?|ends?|the|to|"
    r"am|bis|bis zum|vom|ab|seit|zum|ist|der|dem|den|le|au|du|el|al|del|hasta el|dia|em|no dia|ate|il|entro il|"
    r"dal|op|tot|vanaf|den|d\.|do|od|na|dnia|с|до|на|к|от)\s+$"
)


def numeric_dates(text: str, today: date, language: str, *, month_first: bool) -> Iterator[Found]:
    """Find "11/6", "6.11." and "'22": `month_first` as it is written where the user lives."""
    plain = skeleton(text)
    for hit in _SHORT_YEAR.finditer(text):
        year = 2000 + int(hit["y"])
        yield Found(hit.start(), hit.end(), str(year if year <= today.year + 20 else year - 100))
    for hit in _NUMERIC.finditer(plain):
        if (hit["mark"] == "." and language == "en") or not _BEFORE_NUMERIC.search(plain[: hit.start()]):
            continue
        day, month = int(hit["a"]), int(hit["b"])
        if (month_first and hit["mark"] == "/" and day <= 12) or month > 12 >= day:
            day, month = month, day
        found = _nearest(today, month, day, hit["y"], back=_looks_back(plain, language))
        if found is not None and plain not in annual_words():
            end = hit.start("stop") if hit["stop"] and (hit["mark"] == "/" or hit.end() == len(text)) else hit.end()
            yield Found(hit.start(), end, day_text(found, language), found)


def _nearest(today: date, month: int, day: int, year: str | None, *, back: bool) -> date | None:
    years = [2000 + int(year) % 100] if year else [today.year, today.year + (-1 if back else 1)]
    for number in years:
        try:
            found = date(number, month, day)
        except ValueError:
            return None
        if year or (found <= today if back else found >= today):
            return found
    return None


def _looks_back(plain: str, language: str) -> bool:
    words = date_words(language)
    return words is not None and plain in words.past and plain not in words.future


def spoken_dates(text: str, today: date, language: str) -> Iterator[Found]:
    """Find a weekday so many weeks on, "a week today", "the week after next", "the first Monday in May"."""
    words = date_words(language)
    if words is None:
        return
    plain = skeleton(text)
    yield from _weeks_on(text, plain, today, words)
    yield from _from_day(text, plain, today, words)
    yield from _after_next(plain, today, language)
    if language == "en":
        yield from _nth_weekday(text, plain, today, words)


def _weeks_on(text: str, plain: str, today: date, words: DateWords) -> Iterator[Found]:
    for table, back in ((_WEEKS_ON, False), (_AGO_ON, True)):
        form = table.get(words.language)
        if form is None:
            continue
        form = form.replace("{w}", words.weekday_pattern).replace("{n}", words.number_pattern)
        for hit in re.finditer(rf"(?<!\w)(?:{form})(?!\w)", plain):
            said = {name: value for name, value in hit.groupdict().items() if value}
            name = next(value for key, value in said.items() if key != "n")
            day = next_weekday(today, words.weekday_number(name), back=back)
            day += timedelta(weeks=(-1 if back else 1) * _weeks(said, words))
            yield Found(
                hit.start(), hit.end(), words.placed(text, hit.start(), day_text(day, words.language), words.on), day
            )


def _weeks(said: dict[str, str], words: DateWords) -> int:
    """Return how many weeks lie between the nearest such weekday and the one meant."""
    if any(key.startswith("last") for key in said):
        return 0
    if any(key.startswith("f") for key in said):
        return 2
    number = said.get("n", "1")
    return int(number) if number.isdigit() else words.number(number) or 1


def _from_day(text: str, plain: str, today: date, words: DateWords) -> Iterator[Found]:
    numbers = {
        "a": 1,
        "one": 1,
        "two": 2,
        "three": 3,
        "einer": 1,
        "zwei": 2,
        "drei": 3,
        "huit": 1,
        "quinze": 2,
        "ocho": 1,
        "quince": 2,
    }
    for hit in _FROM_DAY.finditer(plain):
        said = hit["n"] or hit["den"] or hit["frn"] or hit["es"]
        weeks = 2 if hit["f"] else numbers.get(said, 1)
        later = bool(hit["t"] or hit["t2"] or hit["f"] == "tomorrow" or hit["de"] == "morgen")
        day = today + timedelta(weeks=weeks, days=int(later))
        shown = words.placed(text, hit.start(), day_text(day, words.language), words.on)
        yield Found(hit.start(), hit.end(), shown, day)


def _after_next(plain: str, today: date, language: str) -> Iterator[Found]:
    monday = today - timedelta(days=today.weekday())
    for hit in _AFTER_NEXT.finditer(plain):
        steps = -2 if hit["way"] == "before last" or (hit["de"] or "").startswith("vor") else 2
        unit = hit["u"] or hit["deu"]
        if unit in ("month", "monat"):
            yield Found(hit.start(), hit.end(), month_text(add_months(today.replace(day=1), steps), language))
            continue
        first = monday + timedelta(weeks=steps, days=5 if "end" in unit else 0)
        what = ("the weekend of " if "end" in unit else "the week of ") if language == "en" else ""
        yield Found(hit.start(), hit.end(), f"{what}{day_text(first, language)}")


def _nth_weekday(text: str, plain: str, today: date, words: DateWords) -> Iterator[Found]:
    for hit in _NTH.finditer(plain):
        if words.recurs(plain, hit.start()) or not words.is_calendar_word(hit["w"]) or not words.is_weekday(hit["w"]):
            continue
        if hit["next"]:
            first = add_months(today.replace(day=1), 1)
        elif words.is_calendar_word(hit["m"]) and not words.is_weekday(hit["m"]):
            month = words.month_number(hit["m"])
            first = date(today.year + (month < today.month), month, 1)
        else:
            continue
        day = _nth(first, words.weekday_number(hit["w"]), _ORDINALS[hit["nth"]])
        yield Found(hit.start(), hit.end(), words.placed(text, hit.start(), day_text(day, "en"), words.on), day)


def _nth(first: date, weekday: int, place: int) -> date:
    if place < 0:
        last = add_months(first, 1) - timedelta(days=1)
        return last - timedelta(days=(last.weekday() - weekday) % 7)
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (place - 1))
