"""Arithmetic and spelling of dates: months are added, weekdays found, and days written as the language writes them."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final


@dataclass(frozen=True, slots=True)
class Found:
    """A date expression in a text, what takes its place, and the day it means when it means one."""

    start: int
    end: int
    text: str
    day: date | None = None


_ENGLISH_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def add_months(day: date, months: int) -> date:
    """Return the date `months` later (or earlier); the day is cut to the month's length."""
    place = day.year * 12 + day.month - 1 + months
    year, month = divmod(place, 12)
    for number in range(day.day, 27, -1):
        try:
            return date(year, month + 1, number)
        except ValueError:
            continue
    return date(year, month + 1, day.day)


def next_weekday(today: date, weekday: int, *, back: bool = False) -> date:
    """Return the first such weekday (0 is Monday) after `today`, or the last one before it."""
    if back:
        return today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)
    return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)


def day_text(day: date, language: str) -> str:
    """Write a day as the language does, or by ISO 8601, which is read everywhere."""
    if language == "en":
        return f"{day.day} {_ENGLISH_MONTHS[day.month - 1]} {day.year}"
    if language in ("zh", "ja"):
        return f"{day.year}年{day.month}月{day.day}日"
    if language == "ko":
        return f"{day.year}년 {day.month}월 {day.day}일"
    return day.isoformat()


def month_text(day: date, language: str) -> str:
    """Write the month of `day`."""
    if language == "en":
        return f"{_ENGLISH_MONTHS[day.month - 1]} {day.year}"
    if language in ("zh", "ja"):
        return f"{day.year}年{day.month}月"
    if language == "ko":
        return f"{day.year}년 {day.month}월"
    return f"{day.year}-{day.month:02}"


def year_text(year: int) -> str:
    """Write a year."""
    return str(year)


def span_text(what: str, first: date, language: str) -> str:
    """Write a week or a weekend by its first day."""
    if language == "en":
        return f"the {what} of {day_text(first, language)}"
    last = first + timedelta(days=6 if what == "week" else 1)
    if language in ("zh", "ja", "ko"):
        return f"{day_text(first, language)}~{day_text(last, language)}"
    return f"{first.isoformat()} – {last.isoformat()}"
