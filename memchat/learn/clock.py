"""Hours of the day in a statement: "5.45 pm", "17:45", "14 Uhr", "half past three", "noon"."""

import re
from typing import Final

_CLOCK: Final = re.compile(
    r"\b(\d{1,2})(?:[:.](\d\d))?\s*(am|pm|a\.m\.|p\.m\.)"
    r"|\b(\d{1,2})[:h](\d\d)\b(?:\s*uhr)?|\b(\d{1,2}) (?:uhr|o'clock)\b"
)
_HOURS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SPOKEN: Final = re.compile(
    rf"\b(?P<what>half past|half|quarter past|quarter to) (?P<hour>{'|'.join(_HOURS)})\b"
    r"(?:\s*(?P<part>am|pm|in the (?:morning|afternoon|evening)))?|\b(?P<named>noon|midday|midnight)\b"
)
_MINUTES: Final = {"quarter past": 15, "quarter to": -15}


def take_hours(plain: str, times: set[str]) -> str:
    """Return a folded text without its hours, which are added to `times` as "t:17:45"."""

    def figures(found: re.Match[str]) -> str:
        hour = int(found[1] or found[4] or found[6]) % 24
        hour = hour % 12 + 12 if (found[3] or "").startswith("p") else hour % 12 if found[3] else hour
        times.add(f"t:{hour:02}:{found[2] or found[5] or '00'}")
        return " "

    def spoken(found: re.Match[str]) -> str:
        times.add(_spoken(found))
        return " "

    return _CLOCK.sub(figures, _SPOKEN.sub(spoken, plain))


def _spoken(found: re.Match[str]) -> str:
    """Return a spoken hour; without a part of the day, one to six are in the afternoon."""
    if found["named"]:
        return "t:00:00" if found["named"] == "midnight" else "t:12:00"
    hour, part = _HOURS.index(found["hour"]) + 1, found["part"] or ""
    late = part == "pm" or "noon" in part or "evening" in part or (not part and hour <= 6)
    minutes = (hour % 12 + 12 * late) * 60 + _MINUTES.get(found["what"], 30)
    return f"t:{minutes // 60 % 24:02}:{minutes % 60:02}"
