"""Relative dates become absolute in the user's language, from the user's own date and zone."""

from datetime import UTC, date, datetime

import pytest

from memchat.learn.dates import absolute_dates, local_date
from memchat.learn.dates_spoken import is_month_first
from memchat.learn.dating import add_months, next_weekday
from memchat.learn.language import guess_language

MONDAY = "2026-11-30"
DATES = [
    ("2026-10-15", "I have my driving test tomorrow at nine.", "I have my driving test on 16 October 2026 at nine."),
    ("2026-11-13", "The movers come next Friday.", "The movers come on 20 November 2026."),
    (MONDAY, "My exam is next Friday.", "My exam is on 4 December 2026."),
    ("2026-09-01", "I started my job yesterday.", "I started my job on 31 August 2026."),
    ("2026-11-20", "We're getting married in March.", "We're getting married in March 2027."),
    (MONDAY, "I moved to Berlin in March.", "I moved to Berlin in March 2026."),
    ("2026-06-02", "My contract runs out in three weeks.", "My contract runs out on 23 June 2026."),
    ("2026-07-14", "We moved in exactly two years ago today.", "We moved in on 14 July 2024."),
    ("2026-01-12", "Dentist on the 28th, 8:40.", "Dentist on 28 January 2026, 8:40."),
    ("2026-04-20", "It is on the 12th of June, not the 2nd.", "It is on the 12th of June 2026, not the 2nd."),
    ("2026-09-14", "I must return it by Friday.", "I must return it by 18 September 2026."),
    ("2026-09-14", "I'll read it by the end of this year.", "I'll read it by the end of 2026."),
    (MONDAY, "My parents visit next month.", "My parents visit in December 2026."),
    (MONDAY, "I graduated last year.", "I graduated in 2025."),
    (MONDAY, "Next week on Friday we move.", "on 11 December 2026 we move."),
    (MONDAY, "Our lease ends in two months.", "Our lease ends in January 2027."),
    (MONDAY, "My visa expires on 3 February.", "My visa expires on 3 February 2027."),
    (MONDAY, "Wir ziehen nächsten Monat um.", "Wir ziehen im 2026-12 um."),
    ("2026-09-14", "Sie hat am kommenden Samstag Geburtstag.", "Sie hat am 2026-09-19 Geburtstag."),
    (MONDAY, "Morgen habe ich eine Prüfung.", "am 2026-12-01 habe ich eine Prüfung."),
    (MONDAY, "Mañana empiezo en el museo.", "el 2026-12-01 empiezo en el museo."),
    (MONDAY, "Nos casamos en marzo.", "Nos casamos en marzo de 2027."),
    (MONDAY, "Vendredi prochain je passe mon permis.", "le 2026-12-04 je passe mon permis."),
    ("2026-05-06", "Comecei as aulas ontem com a minha irmã.", "Comecei as aulas em 2026-05-05 com a minha irmã."),
    (MONDAY, "Mi sono sposata due anni fa.", "Mi sono sposata nel 2024."),
    (MONDAY, "Over drie weken begint mijn stage.", "op 2026-12-21 begint mijn stage."),
    (MONDAY, "Za tydzień lecę do Rzymu.", "2026-12-07 lecę do Rzymu."),
    (MONDAY, "Через неделю приезжает моя сестра.", "2026-12-07 приезжает моя сестра."),
    (MONDAY, "Gelecek cuma taşınıyoruz.", "2026-12-04 taşınıyoruz."),
    (MONDAY, "ننتقل إلى الرباط الشهر القادم.", "ننتقل إلى الرباط في 2026-12."),
    (MONDAY, "कल मैंने नई नौकरी शुरू की।", "2026-11-29 मैंने नई नौकरी शुरू की।"),
    (MONDAY, "来週の金曜日に引っ越します。", "2026年12月11日に引っ越します。"),
    ("2026-10-10", "我下个月搬到成都。", "我2026年11月搬到成都。"),
    (MONDAY, "내년 3월에 결혼해요.", "2027년 3월에 결혼해요."),
]
UNTOUCHED = [
    "I play chess on Tuesdays.",
    "Every Monday I go swimming.",
    "I take the bus on Monday mornings.",
    "My birthday is on 5 May.",
    "I was born on 4 February 1987.",
    "I may visit you in spring.",
    "I read it in two weeks and finished early.",
    "Por la mañana tomo té.",
    "Jeden Morgen laufe ich.",
    "Bin day is Wednesday.",
    "毎週金曜日に泳ぎます。",
]


@pytest.mark.parametrize(("today", "text", "absolute"), DATES, ids=[row[1] for row in DATES])
def test_a_relative_date_becomes_absolute(today: str, text: str, absolute: str) -> None:
    assert absolute_dates(text, date.fromisoformat(today), guess_language(text)).text == absolute


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_returns_or_is_no_date_stays(text: str) -> None:
    assert absolute_dates(text, date(2026, 11, 30), guess_language(text)).text == text


def test_the_day_is_told_when_there_is_exactly_one() -> None:
    assert absolute_dates("We move tomorrow.", date(2026, 5, 31), "en").day == date(2026, 6, 1)
    assert absolute_dates("We move in March.", date(2026, 5, 31), "en").day is None
    assert absolute_dates("We pack tomorrow and move on Friday.", date(2026, 5, 31), "en").day is None


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Pacific/Auckland", date(2026, 6, 1)),
        ("America/Recife", date(2026, 5, 31)),
        ("+0200", date(2026, 6, 1)),
        ("-03:30", date(2026, 5, 31)),
        ("nonsense", date(2026, 5, 31)),
        ("", date(2026, 5, 31)),
    ],
)
def test_the_local_date_is_that_of_the_users_clock(zone: str, day: date) -> None:
    assert local_date(datetime(2026, 5, 31, 23, 30, tzinfo=UTC), zone) == day


@pytest.mark.parametrize("text", ["فردا امتحان دارم", "আমি আগামীকাল ঢাকা যাব"])
def test_a_language_without_a_table_is_left_to_the_library(text: str) -> None:
    assert absolute_dates(text, date(2026, 5, 31), guess_language(text)).day == date(2026, 6, 1)


def test_months_are_added_within_their_length() -> None:
    assert add_months(date(2026, 1, 31), 1) == date(2026, 2, 28)
    assert add_months(date(2026, 3, 15), -3) == date(2025, 12, 15)


def test_the_next_weekday_is_never_today() -> None:
    friday = date(2026, 11, 13)
    assert next_weekday(friday, 4) == date(2026, 11, 20)
    assert next_weekday(friday, 4, back=True) == date(2026, 11, 6)


@pytest.mark.parametrize(
    ("text", "language", "day"),
    [
        ("I fly a week on Thursday.", "en", date(2026, 12, 10)),
        ("Thursday week I fly.", "en", date(2026, 12, 10)),
        ("He lands Tuesday fortnight.", "en", date(2026, 12, 15)),
        ("My exam is in a fortnight.", "en", date(2026, 12, 14)),
        ("The movers come a week today.", "en", date(2026, 12, 7)),
        ("It's the Friday after next.", "en", date(2026, 12, 11)),
        ("We met a week last Tuesday.", "en", date(2026, 11, 17)),
        ("We wed on the first Monday in May.", "en", date(2027, 5, 3)),
        ("Am Donnerstag in einer Woche heirate ich.", "de", date(2026, 12, 10)),
        ("Prüfung ist am 6.11.", "de", date(2027, 11, 6)),
        ("Je pars jeudi en huit.", "fr", date(2026, 12, 10)),
        ("Ik vlieg donderdag over een week.", "nl", date(2026, 12, 10)),
    ],
)
def test_dates_are_understood_as_they_are_spoken(text: str, language: str, day: date) -> None:
    assert absolute_dates(text, date(2026, 11, 30), language).day == day


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("America/Chicago", date(2027, 11, 6)),
        ("Europe/London", date(2027, 6, 11)),
        ("America/Bogota", date(2027, 6, 11)),
    ],
)
def test_a_date_in_figures_is_read_as_where_the_user_lives(zone: str, day: date) -> None:
    dated = absolute_dates("The sale is on 11/6.", date(2026, 11, 30), "en", month_first=is_month_first(zone))
    assert dated.day == day


@pytest.mark.parametrize("text", ["I work 24/7.", "I scored 9/10.", "I drank 1/2 a pint.", "It costs 3.50."])
def test_figures_that_are_no_date_stay(text: str) -> None:
    assert absolute_dates(text, date(2026, 11, 30), "en").text == text
