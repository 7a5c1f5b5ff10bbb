"""Names of times in a question, said in all the ways a memory may say them: "next month" is also "January" and "enero".

Memories keep their dates in words of the user's language, so that a month's name in any language, or a year reckoned
from today, is what finds them.
"""

import re
from datetime import datetime
from typing import Final

from memchat.text import words

_NAMES: Final = (
    "january enero januar jänner janvier gennaio janeiro januari 一月 1月",
    "february febrero februar février febbraio fevereiro februari 二月 2月",
    "march marzo märz mars março maart 三月 3月",
    "april abril avril aprile 四月 4月",
    "may mayo mai maggio maio mei 五月 5月",
    "june junio juni juin giugno junho 六月 6月",
    "july julio juli juillet luglio julho 七月 7月",
    "august agosto août augustus 八月 8月",
    "september septiembre septembre settembre setembro 九月 9月",
    "october octubre oktober octobre ottobre outubro 十月 10月",
    "november noviembre novembre novembro 十一月 11月",
    "december diciembre dezember décembre dicembre dezembro 十二月 12月",
)
MONTHS: Final = tuple(tuple(names.split()) for names in _NAMES)
_BY_NAME: Final = {name: place for place, names in enumerate(MONTHS) for name in names}
_MONTH_SHIFT: Final = re.compile(
    r"\b(?:(?P<now>this month|este mes|diesen monat|ce mois|questo mese|este mês|deze maand)"
    r"|(?P<next>next month|(?:el )?mes que viene|próximo mes|nächsten monat|mois prochain|mese prossimo|volgende maand)"
    r"|(?P<last>last month|mes pasado|letzten monat|mois dernier|mese scorso|mês passado|vorige maand))\b"
)
_YEAR_SHIFT: Final = re.compile(
    r"\b(?:(?P<now>this year|este año|dieses jahr|cette année|quest'anno|este ano|dit jaar)"
    r"|(?P<next>next (?:year|spring|summer)|(?:el )?año que viene|próximo año|nächstes jahr|l'année prochaine"
    r"|l'anno prossimo|próximo ano|volgend jaar)"
    r"|(?P<last>last year|año pasado|letztes jahr|l'année dernière|l'anno scorso|ano passado|vorig jaar))\b"
)
_SHIFTS: Final = {"now": 0, "next": 1, "last": -1}
_MAY: Final = re.compile(
    r"\b(?:in|of|early|late|mid|next|last|this|since|until|till|by|before|after|through|from|to|\d{1,2}(?:st|nd|rd|th)?)"
    r" may\b|\bmay (?:\d|of)"
)


def names_of_times(text: str, now: datetime) -> tuple[tuple[str, ...], ...]:
    """Return one group of words for each month or year that `text` means, any of which may stand in a memory."""
    spoken = " ".join(words(text))
    months = {_BY_NAME[word] for word in spoken.split() if word in _BY_NAME and word != "may"}
    if _MAY.search(spoken):
        months.add(_BY_NAME["may"])
    months |= {(now.month - 1 + shift) % 12 for shift in _shifts(_MONTH_SHIFT, spoken)}
    years = sorted({str(now.year + shift) for shift in _shifts(_YEAR_SHIFT, spoken)})
    return (*(MONTHS[month] for month in sorted(months)), *((year,) for year in years))


def _shifts(pattern: re.Pattern[str], spoken: str) -> list[int]:
    return [_SHIFTS[str(match.lastgroup)] for match in pattern.finditer(spoken)]
