"""The date words of one language, compiled from `words/dates.toml` into the patterns that `dates` searches with."""

import re
from functools import cache
from typing import Final

from memchat.learn.lexicon import Phrases, skeleton, word_table

_STEPS: Final = {"next": 1, "after_next": 1, "this": 0, "last": -1, "after_last": -1}
_UNITS: Final = ("day", "week", "month", "year")


@cache
def date_words(language: str) -> "DateWords | None":
    """Return the words of a language, None when there is no table for it."""
    table = word_table("dates").get(language)
    return DateWords(language, table) if table else None


@cache
def annual_words() -> Phrases:
    """Return the words that make a day come back every year: it needs no year."""
    return Phrases([word_table("dates")["shared"]["annual"]])


def _shared(name: str) -> list[str]:
    return _spellings(word_table("dates")["shared"][name])


def _spellings(text: str) -> list[str]:
    return [skeleton(word.strip()) for word in text.split("|") if word.strip()]


def _items(text: str) -> list[list[str]]:
    return [_spellings(item) for item in text.split(";")] if text else []


def _any(spellings: list[str]) -> str:
    """Return a pattern of the spellings, longest first; one that matches nothing when there are none."""
    ordered = sorted(set(spellings), key=len, reverse=True)
    return "(?:" + "|".join(r"\s+".join(map(re.escape, word.split())) for word in ordered) + ")" if ordered else r"(?!)"


class DateWords:
    """The patterns of one language; all of them search a skeleton."""

    def __init__(self, language: str, table: dict[str, str]) -> None:
        self.language = language
        self.on = table["on"]
        self.inside = table["in"]
        self.past = Phrases([table.get("past", "")])
        self.future = Phrases([table.get("future", "")])
        self._table = table
        self._days = {key: _offsets(table.get(key, "")) for key in ("days", "past_days", "future_days")}
        self._numbers = {word: n for n, item in enumerate(_items(table["numbers"]), 1) for word in item}
        self._weekdays = {word: n for n, item in enumerate(_items(table["weekdays"])) for word in item}
        self._months = {word: n for n, item in enumerate(_items(table["months"]), 1) for word in item}
        self._unit_words = {word: _UNITS[n] for n, item in enumerate(_items(table["units"])) for word in item}
        self._duals = dict(pair.split("=") for pair in table.get("duals", "").split(";") if pair)
        self._compile()

    def _compile(self) -> None:
        table = self._table
        names = [name for offsets in self._days.values() for name in offsets]
        self.days = re.compile(rf"(?<!\w)(?:the\s+)?(?P<word>{_any(names)})(?!\w)")
        self._marks = {key: set(_spellings(table.get(key, ""))) for key in _STEPS}
        seasons = [word for item in _items(table.get("seasons", "")) for word in item]
        self._seasons = frozenset(seasons)
        self._weekend = frozenset(_spellings(table.get("weekend", "")))
        self.weekdays = self._marked(list(self._weekdays))
        self.months = self._marked(list(self._months))
        article = r"(?:(?:the|la|le|l'|el|il|der|die|das|den|de|het|a|o)\s*(?<=[\s']))?"
        self.periods = self._marked([*self._unit_words, *seasons, *self._weekend], article)
        self.ahead = self._distance(table["ahead"])
        self.ago = self._distance(table["ago"])
        self.month_days = self._month_days()
        self.calendar_days = self._month_days(dated=True)
        self.weekday_names = re.compile(rf"(?<!\w)({_any(list(self._weekdays))})s?(?!\w)")
        self.month_names = re.compile(
            rf"(?<!\w)({_any([m for m in self._months if m not in _shared('ambiguous_months')])})(?!\w)"
        )
        self.day_numbers = _DAY_NUMBERS.get(self.language, re.compile(r"(?!)(?P<all>)(?P<day>)"))
        self.weekday_pattern = _any(list(self._weekdays))
        self.number_pattern = rf"(?:\d{{1,2}}|{_any(list(self._numbers))})"
        self.since = re.compile(rf"(?<!\w){_any(_shared('since'))}\s+$")

    def _marked(self, words: list[str], article: str = "") -> re.Pattern[str]:
        before = _any([mark for key in ("next", "this", "last") for mark in self._marks[key]])
        after = _any([mark for key in ("after_next", "after_last") for mark in self._marks[key]])
        return re.compile(
            rf"(?<!\w){article}(?:(?P<mark>{before})\s+)?(?P<word>{_any(words)})(?:\s+(?P<tail>{after}))?(?!\w)"
        )

    def step(self, hit: re.Match[str]) -> int | None:
        """Return 1 for "next", 0 for "this", -1 for "last", None where the word stands alone."""
        for group in ("mark", "tail"):
            said = re.sub(r"\s+", " ", hit[group] or "")
            for key, step in _STEPS.items():
                if said and said in self._marks[key]:
                    return step
        return None

    def _distance(self, forms: str) -> re.Pattern[str]:
        number = rf"(?:\d{{1,3}}|{_any(list(self._numbers))})"
        unit = _any(list(self._unit_words))
        amount = rf"(?:{number}\s+{unit}|{_any(list(self._duals))}"
        amount += rf"|{unit})" if self._table.get("bare_unit") else ")"
        patterns = []
        for form in forms.split("|"):
            head, _, tail = form.partition("{n} {u}")
            words = [re.escape(skeleton(word)) for word in (head.strip(), tail.strip())]
            pattern = rf"{words[0]}\s+" if head.strip() else ""
            pattern += amount
            pattern += (rf"\s*{words[1]}" if tail.startswith("'") else rf"\s+{words[1]}") if tail.strip() else ""
            patterns.append(pattern.replace(r"\ ", r"\s+"))
        return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)")

    def amount(self, hit: re.Match[str]) -> tuple[int, str] | None:
        """Return number and unit of a distance that `ahead` or `ago` matched."""
        found = hit.group()
        for dual, meaning in self._duals.items():
            if skeleton(dual) in found:
                unit, _, number = meaning.partition(" ")
                return int(number), unit
        units = re.findall(rf"(?<!\w){_any(list(self._unit_words))}(?!\w)", found)
        if not units:
            return None
        digits = re.search(r"\d+", found)
        if digits:
            return int(digits.group()), self._unit_words[units[-1]]
        numbers = re.findall(rf"(?<!\w){_any(list(self._numbers))}(?=\s+{re.escape(units[-1])})", found)
        return (self._numbers[re.sub(r"\s+", " ", numbers[-1])] if numbers else 1), self._unit_words[units[-1]]

    def _month_days(self, *, dated: bool = False) -> re.Pattern[str]:
        month = _any(list(self._months))
        year = r"(?!\w)" if dated else r"(?!\w|\.?,?\s*(?:de\s+|of\s+|del\s+)?(?:19|20)\d\d)"
        ordinal = r"(?:st|nd|rd|th|\.|º|°|er|ος)?(?:\s+(?:of|de|d'|di))?"
        first = rf"(?<![\d.,:/])(?P<d1>\d{{1,2}}){ordinal}\s+(?P<m1>{month}){year}"
        if self.language != "en":
            return re.compile(rf"{first}|(?P<m2>(?!))(?P<d2>)")
        return re.compile(
            rf"{first}|(?<!\w)(?P<m2>{month})\s+(?:the\s+)?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d|[:.]\d){year}"
        )

    # -- what a match means

    def day_offsets(self, *, past: bool) -> dict[str, int]:
        """Return the day words with their offsets; some languages have one word for tomorrow and yesterday."""
        return self._days["days"] | self._days["past_days" if past else "future_days"]

    def weekday_number(self, word: str) -> int:
        """Return 0 for Monday to 6 for Sunday."""
        return self._weekdays[re.sub(r"\s+", " ", word)]

    def is_calendar_word(self, word: str) -> bool:
        """Tell whether a skeleton is the name of a month or a weekday."""
        return word in self._months or word.removesuffix("s") in self._weekdays

    def is_weekday(self, word: str) -> bool:
        """Tell whether a skeleton is the name of a weekday."""
        return word in self._weekdays

    def number(self, word: str) -> int | None:
        """Return the value of a number word of this language."""
        return self._numbers.get(word)

    def month_number(self, word: str) -> int:
        """Return 1 to 12."""
        return self._months[re.sub(r"\s+", " ", word)]

    def period_unit(self, word: str) -> str | None:
        """Return day, week, month, year, weekend or season."""
        word = re.sub(r"\s+", " ", word)
        if word in self._weekend:
            return "weekend"
        return "season" if word in self._seasons else self._unit_words.get(word)

    def placed(self, text: str, start: int, shown: str, preposition: str) -> str:
        """Return a date with its preposition, unless one stands before it already."""
        before = re.search(r"([^\W\d]+'?)\s*$", skeleton(text[:start]))
        if not preposition or (before and before[1] in _spellings(self._table["joins"])):
            return shown
        return f"{preposition} {shown}"

    def joined(self, plain: str, start: int, end: int) -> bool:
        """Tell whether a bare weekday is a date: after a preposition or at the clause's edge; not "Monday mornings"."""
        if re.match(r"\s+(?:mornings|afternoons|evenings|nights)\b", plain[end:]):
            return False
        before = re.search(r"([^\W\d]+'?)\s*$", plain[:start])
        if before and before[1] in _shared("not_a_date_after"):
            return False
        return before is None or before[1] in _spellings(self._table["joins"]) or not re.search(r"\w", plain[end:])

    def only_joins(self, between: str) -> bool:
        """Tell whether nothing but short joining words stands between two date words."""
        joins = {*_spellings(self._table["joins"]), self.on, self.inside, *_shared("joins")}
        return len(between) <= 14 and all(word in joins for word in re.findall(r"[^\W\d]+'?", between))

    def is_month(self, text: str, plain: str, hit: re.Match[str]) -> bool:
        """Tell a month from an ordinary word, and one without a year or day from one with."""
        if (
            re.match(r"\.?,?\s*(?:de\s+|of\s+|del\s+)?(?:19|20)?\d", plain[hit.end() :])
            or plain[: hit.start()].rstrip()[-1:].isdigit()
        ):
            return False
        before = re.search(r"([^\W\d]+'?)\s*$", plain[: hit.start()])
        if before and (
            before[1] in _spellings(self._table["joins"]) or before[1] == self.inside or before[1] in _shared("edges")
        ):
            return True
        if hit["word"] in _shared("ambiguous_months") or len(hit["word"]) < 4:
            return False
        return self.language != "en" or text[hit.start("word")].isupper()

    def recurs(self, plain: str, start: int) -> bool:
        """Tell whether "every" or the like stands before a date word."""
        if re.search(rf"(?<!\w){_any(_shared('days_of'))}\b[^.,;]*$", plain[:start]):
            return True  # "bin day is Wednesday"
        return re.search(rf"(?<!\w){_any(_spellings(self._table['every']))}\s+(?:\w+\s+)?$", plain[:start]) is not None

    def shadowed(self, plain: str, start: int) -> bool:
        """Tell whether a day word means something else there: "por la mañana", "am Morgen"."""
        never = _spellings(self._table.get("never_after", ""))
        return bool(never) and re.search(rf"(?<!\w){_any(never)}\s+$", plain[:start]) is not None


def _offsets(text: str) -> dict[str, int]:
    pairs = (pair.split("=") for pair in text.split("|") if pair)
    return {skeleton(name.strip()): int(offset) for name, offset in pairs}


_DAY_NUMBERS: Final = {
    "en": re.compile(
        r"\b(?:on|by|until|till|from|for|before|after|since|is)\s+(?P<all>the\s+(?P<day>\d{1,2})(?:st|nd|rd|th))(?!\w|\s+of\b|\s+floor|\s+street|\s+place|\s+avenue)"
    ),
    "de": re.compile(r"\b(?:am|bis zum|ab dem|vom)\s+(?P<all>(?P<day>\d{1,2})\.)(?!\s*(?:\d|[^\W\d]))"),
    "fr": re.compile(r"\b(?P<all>le\s+(?P<day>\d{1,2}))(?=\s*(?:[.,;!]|$|a \d|prochain))"),
    "es": re.compile(r"\b(?P<all>el\s+(?:dia\s+)?(?P<day>\d{1,2}))(?=\s*(?:[.,;!]|$|a las?\b|de este mes))"),
    "pt": re.compile(r"\b(?:no|ate o|em)\s+(?P<all>(?:dia\s+)(?P<day>\d{1,2}))(?=\s*(?:[.,;!]|$|as\b|deste mes))"),
    "it": re.compile(r"\b(?P<all>il\s+(?:giorno\s+)?(?P<day>\d{1,2}))(?=\s*(?:[.,;!]|$|alle\b))"),
    "nl": re.compile(r"\b(?:op|tot|vanaf)\s+(?P<all>de\s+(?P<day>\d{1,2})(?:e|de|ste))(?!\w)"),
    "ru": re.compile(r"(?<!\w)(?P<all>(?P<day>\d{1,2})(?:-го)?\s+числа)(?!\w)"),
}
