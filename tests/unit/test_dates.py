"""Days, hours and series as people write them."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from bot.dates import every_text, heading, soon_text, tomorrow_ms, when_text
from bot.sentences import LANGUAGES, sentences
from bot.told_days import rhythm_in

ZONE = "Europe/Berlin"


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


NOW = at("2026-11-24T06:00")


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        ("2026-11-24T13:05", "today at 14:05"),
        ("2026-11-24T23:30", "tomorrow at 00:30"),
        ("2026-11-23T08:00", "yesterday at 09:00"),
        ("2026-12-12T08:00", "on Sat 12 Dec at 09:00"),
        ("2027-03-04T08:00", "on Thu 4 Mar 2027 at 09:00"),
    ],
)
def test_a_moment_is_named_by_the_persons_day_and_clock(moment, said):
    """Near days by their name, others by date, another year with its number; the hour is the person's."""
    assert when_text(at(moment), NOW, ZONE, "en") == said


@pytest.mark.parametrize(
    ("moment", "said"),
    [("2026-11-29T12:00", "this Sunday"), ("2026-11-30T12:00", "on Mon 30 Nov"), ("2026-11-25T12:00", "tomorrow")],
)
def test_a_weekday_alone_is_one_of_this_week(moment, said):
    """On a Tuesday "this Monday" might be yesterday: a day of next week is told by its date."""
    assert soon_text(at(moment), NOW, ZONE, "en", exact=False) == said


def test_a_day_without_an_hour_stays_a_day():
    """Where no hour was said none is shown."""
    assert when_text(at("2026-11-27T23:00"), NOW, ZONE, "de", exact=False) == "am Sa, 28. Nov."


@pytest.mark.parametrize(
    ("rrule", "said"),
    [
        ("FREQ=WEEKLY;BYDAY=SU", "every Sunday"),
        ("FREQ=WEEKLY;BYDAY=FR,MO,WE", "every Monday, Wednesday and Friday"),
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "on weekdays"),
        ("FREQ=DAILY;BYDAY=SA,SU", "at weekends"),
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA", "every day except Sunday"),
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU", "every day"),
        ("FREQ=WEEKLY;INTERVAL=2", "every two weeks"),
        ("FREQ=WEEKLY;BYDAY=SU,MO,TU,WE,TH", "Sun to Thu"),
        ("FREQ=WEEKLY;BYDAY=SU,MO,WE,TH", "every Mon, Wed, Thu and Sun"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=SA,SU", "every other weekend"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=TH,MO", "every two weeks, Mon and Thu"),
        ("FREQ=WEEKLY;INTERVAL=3;BYDAY=TU", "every 3 weeks"),
        ("FREQ=MONTHLY;BYMONTHDAY=3", "every month on the 3rd"),
        ("FREQ=MONTHLY;BYMONTHDAY=11,21", "every month on the 11th and 21st"),
        ("FREQ=MONTHLY;BYDAY=-1FR", "on the last Friday of every month"),
        ("FREQ=MONTHLY;BYDAY=2TH,4TH", "on the second and fourth Thursday of every month"),
        ("FREQ=MONTHLY;INTERVAL=3;BYDAY=-1SA", "every 3 months on the last Saturday"),
        ("FREQ=DAILY;UNTIL=20261231T225959Z", "every day until 31 Dec 2026"),
        ("FREQ=DAILY;BYHOUR=20,8;BYMINUTE=30", "every day at 08:30 and 20:30"),
        ("FREQ=WEEKLY;BYDAY=MO;BYHOUR=8,20", "every Monday at 08:00 and 20:00"),
        ("FREQ=HOURLY;BYHOUR=8", "regularly"),
        ("FREQ=MINUTELY", "regularly"),
        ("no rule at all", "regularly"),
    ],
)
def test_a_rule_is_said_in_plain_words(rrule, said):
    """A series is told as people say it; of a rule that has no plain words only that it comes regularly."""
    assert every_text(rrule, "en") == said


@pytest.mark.parametrize(
    ("days", "said"),
    [
        ("MO,TU,WE,TH", ["Mon to Thu", "du lun. au jeu.", "с пн по чт"]),
        ("MO,TU,WE", ["Mon to Wed", "du lun. au mer.", "с пн по ср"]),
        ("MO,TU,TH,SA", ["every Mon, Tue, Thu and Sat", "chaque lun., mar., jeu. et sam.", "по пн, вт, чт и сб"]),
        ("TU,SA", ["every Tuesday and Saturday", "chaque mardi et samedi", "по вторникам и субботам"]),
    ],
)  # fmt: skip
def test_many_days_of_a_week_are_said_in_few_words(days, said):
    """From the first to the last where they follow each other, in short where there are four and more."""
    assert [every_text(f"FREQ=WEEKLY;BYDAY={days}", language) for language in ("en", "fr", "ru")] == said


def test_a_rhythm_of_many_days_is_known_by_their_names():
    """So that a line does not say behind the text what that says."""
    assert rhythm_in("Italian on Monday, Tuesday, Wednesday", "FREQ=WEEKLY;BYDAY=MO,TU,WE")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_all_days_and_months(language):
    """Seven days short and long and twelve months in each language, none of them with a gap."""
    said = sentences(language)

    assert [len(said[f"dates.{name}"].split()) for name in ("months", "weekdays", "each_weekday")] == [12, 7, 7]


def test_headings_go_from_overdue_to_no_day_at_all():
    """The head of a day's lines: over, today, tomorrow, a date, none."""
    days = [date(2026, 11, day) for day in (20, 24, 25, 27)]

    assert [heading(each, days[1], "en") for each in (*days, None)] == [
        "Overdue",
        "Today",
        "Tomorrow",
        "Fri 27 Nov",
        "No date",
    ]


def test_tomorrow_morning_is_at_nine_also_when_the_clock_changes():
    """On the day after summer time ends nine o'clock is an hour later than a day from now."""
    evening = at("2026-10-24T19:00")

    assert tomorrow_ms(evening, ZONE) == at("2026-10-25T08:00")
