"""Says in words how long ago something was."""

from datetime import datetime
from typing import Final

from memchat.text import counted

_UNITS: Final = (("year", 365.25), ("month", 30.44), ("week", 7.0), ("day", 1.0))
_LEAST: Final = {"year": 1.0, "month": 2.0, "week": 2.0, "day": 2.0}  # "40 days" reads as weeks, "14 months" as a year
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def age_in_words(age_days: float) -> str:
    """Return "today", "yesterday", "9 days ago", "3 weeks ago", "8 months ago" or "2 years ago"; rounds down."""
    for unit, days in _UNITS:
        count = int(age_days / days)
        if count >= _LEAST[unit]:
            return f"{counted(count, unit)} ago"
    return "yesterday" if age_days >= 1 else "today"


def day_in_words(moment: datetime) -> str:
    """Return a date as "3 March 2026"."""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
