"""A weekday with a number behind it is the day of the month on which both fall."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.language.due_dates import find_due
from memory.language.languages import Languages

LANGUAGES = Languages.load()
MONDAY_MS = 1_772_438_400_000  # Monday 2 March 2026, 08:00 UTC


def due(language: str, text: str) -> str | None:
    """Return the day and the hour that the text names."""
    found = find_due(text, MONDAY_MS, "UTC", LANGUAGES.get(language))
    return found and datetime.fromtimestamp(found.due_at_ms / 1000, UTC).strftime("%a %d %b %H:%M")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "the fair is on thursday 19"), ("en", "thursday the 19th"), ("de", "am Donnerstag, den 19."),
        ("de", "Donnerstag 19. hab ich Zahnarzt"), ("es", "el jueves 19 viene el fontanero"), ("fr", "jeudi 19"),
        ("pt", "na quinta 19 eu entrego"), ("pt", "quinta-feira 19"), ("it", "ci vediamo giovedì 19"),
        ("ru", "в четверг 19-го"),
    ],
)  # fmt: skip
def test_a_number_behind_a_weekday_is_the_day_of_the_month(language, text):
    """Next Thursday would be a fortnight early."""
    assert due(language, text) == "Thu 19 Mar 09:00"


@pytest.mark.parametrize(
    ("language", "text", "day"),
    [
        ("en", "friday at 13:00", "Fri 06 Mar 13:00"), ("en", "friday 6pm", "Fri 06 Mar 18:00"),
        ("de", "Freitag um 13 Uhr", "Fri 06 Mar 13:00"), ("fr", "vendredi 13h", "Fri 06 Mar 13:00"),
        ("es", "el viernes a las 13", "Fri 06 Mar 13:00"), ("it", "venerdì alle 13", "Fri 06 Mar 13:00"),
        ("pt", "sexta às 13", "Fri 06 Mar 13:00"), ("en", "thursday 20 people come", "Thu 05 Mar 09:00"),
        ("en", "friday 13% off", "Fri 06 Mar 09:00"), ("es", "el jueves 19 a las 7", "Thu 19 Mar 07:00"),
    ],
)  # fmt: skip
def test_an_hour_an_amount_and_a_number_of_another_weekday_are_none(language, text, day):
    """They leave the weekday as it is."""
    assert due(language, text) == day


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("wednesday at 3", "15:00"), ("wednesday at 3:30", "15:30"), ("wednesday at three", "15:00"),
        ("wednesday 3am", "03:00"), ("wednesday at 03:00", "03:00"), ("wednesday at 5 in the morning", "05:00"),
        ("wednesday at 7", "07:00"), ("wednesday at 9", "09:00"), ("wednesday 4pm", "16:00"),
    ],
)  # fmt: skip
def test_a_small_hour_is_in_the_afternoon_unless_it_says_otherwise(text, hour):
    """Nobody means the middle of the night by "at 3"; where hours are counted to 24 they are taken as said."""
    assert due("en", text) == f"Wed 04 Mar {hour}"
    assert due("de", "Mittwoch um 3") == "Wed 04 Mar 03:00"


@pytest.mark.parametrize("text", ["3am", "at 03:00", "at 5 in the morning"])
def test_an_hour_of_the_morning_that_has_passed_is_tomorrow_s(text):
    """It doesn't become the same hour of the evening."""
    assert (due("en", text) or "").startswith("Tue 03 Mar 0")
