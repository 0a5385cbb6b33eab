"""Times in words: when they are, in seven languages, by the clock of the person; and what of a text is left."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.offline.times import moment_in

NOW = int(datetime(2026, 11, 23, 14, 10, tzinfo=UTC).timestamp() * 1000)
"""A Monday."""

SAID = {
    "en": [
        ("tomorrow at 9", "2026-11-24T09:00", ""),
        ("at 3", "2026-11-23T15:00", ""),
        ("half past ten tomorrow", "2026-11-24T10:30", ""),
        ("quarter to five", "2026-11-23T16:45", ""),
        ("in 20 minutes", "2026-11-23T14:30", ""),
        ("in 3 days at 10am", "2026-11-26T10:00", ""),
        ("on Friday", "2026-11-27", ""),
        ("27 Nov", "2026-11-27", ""),
        ("the fourth of August at 7pm", "2027-08-04T19:00", ""),
        ("tonight", "2026-11-23T19:00", ""),
        ("next week", "2026-11-30", ""),
        ("sunday evening around 7", "2026-11-29T19:00", ""),
        ("every second Monday", "2026-11-30T09:00", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO"),
        ("on weekdays at 8", "2026-11-24T08:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("every Mon, Wed and Fri at 7", "2026-11-25T07:00", "FREQ=WEEKLY;BYDAY=MO,WE,FR"),
        ("every month on the 1st", "2026-12-01T09:00", "FREQ=MONTHLY;BYMONTHDAY=1"),
    ],
    "de": [
        ("morgen um 9", "2026-11-24T09:00", ""),
        ("um halb acht", "2026-11-23T19:30", ""),
        ("übermorgen früh", "2026-11-25T08:00", ""),
        ("morgen früh um 6", "2026-11-24T06:00", ""),
        ("am 27.11. um 15:30", "2026-11-27T15:30", ""),
        ("in 20 Minuten", "2026-11-23T14:30", ""),
        ("am Freitag", "2026-11-27", ""),
        ("nächste Woche", "2026-11-30", ""),
        ("jeden Sonntag abend so um 7", "2026-11-29T19:00", "FREQ=WEEKLY;BYDAY=SU"),
        ("jeden zweiten Montag um 8", "2026-11-30T08:00", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO"),
        ("werktags um 8 Uhr", "2026-11-24T08:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
    ],
    "fr": [
        ("demain à 9h", "2026-11-24T09:00", ""),
        ("à 15h30", "2026-11-23T15:30", ""),
        ("vendredi", "2026-11-27", ""),
        ("le 27 novembre à 10h", "2026-11-27T10:00", ""),
        ("dans une demi-heure", "2026-11-23T14:40", ""),
        ("ce soir", "2026-11-23T19:00", ""),
        ("la semaine prochaine", "2026-11-30", ""),
        ("tous les lundis à 8h", "2026-11-30T08:00", "FREQ=WEEKLY;BYDAY=MO"),
    ],
    "es": [
        ("mañana a las 9", "2026-11-24T09:00", ""),
        ("mañana por la mañana", "2026-11-24T09:00", ""),
        ("a las tres y media", "2026-11-23T15:30", ""),
        ("el viernes", "2026-11-27", ""),
        ("el 27 de noviembre", "2026-11-27", ""),
        ("en 20 minutos", "2026-11-23T14:30", ""),
        ("esta noche", "2026-11-23T20:00", ""),
        ("todos los lunes a las 8", "2026-11-30T08:00", "FREQ=WEEKLY;BYDAY=MO"),
    ],
    "it": [
        ("domani alle 9", "2026-11-24T09:00", ""),
        ("alle tre e mezza", "2026-11-23T15:30", ""),
        ("venerdì", "2026-11-27", ""),
        ("il 27 novembre alle 10", "2026-11-27T10:00", ""),
        ("tra 20 minuti", "2026-11-23T14:30", ""),
        ("stasera", "2026-11-23T19:00", ""),
        ("ogni lunedì alle 8", "2026-11-30T08:00", "FREQ=WEEKLY;BYDAY=MO"),
    ],
    "pt": [
        ("amanhã às 9", "2026-11-24T09:00", ""),
        ("às 15h30", "2026-11-23T15:30", ""),
        ("na sexta", "2026-11-27", ""),
        ("27 de novembro às 10", "2026-11-27T10:00", ""),
        ("daqui a 20 minutos", "2026-11-23T14:30", ""),
        ("hoje à noite", "2026-11-23T20:00", ""),
        ("toda segunda às 8", "2026-11-30T08:00", "FREQ=WEEKLY;BYDAY=MO"),
    ],
    "ru": [
        ("завтра в 9", "2026-11-24T09:00", ""),
        ("в 7 вечера", "2026-11-23T19:00", ""),
        ("в пятницу", "2026-11-27", ""),
        ("27 ноября в 10 утра", "2026-11-27T10:00", ""),
        ("через 20 минут", "2026-11-23T14:30", ""),
        ("сегодня вечером", "2026-11-23T19:00", ""),
        ("на следующей неделе", "2026-11-30", ""),
        ("каждый понедельник в 8", "2026-11-30T08:00", "FREQ=WEEKLY;BYDAY=MO"),
    ],
}


@pytest.mark.parametrize(("code", "said", "local", "rule"), [(c, *row) for c, rows in SAID.items() for row in rows])
def test_a_time_in_words_is_read(code, said, local, rule):
    """The day, the hour where one is said, and how often it comes; nothing of the words is left over."""
    found = moment_in(said, NOW, "UTC", code)

    assert found is not None
    assert (found.local, found.repeats) == (local, rule)
    assert not found.rest_of(said)


@pytest.mark.parametrize(
    "said",
    ["", "call 5 people", "I need 3 apples", "I may sit", "the thirty-first of February", "30 % off", "today at 2 pm"],
)
def test_no_time_and_one_that_is_over_are_none(said):
    """Numbers of something else, days that no calendar has, and what has passed."""
    assert moment_in(said, NOW, "UTC", "en") is None


def test_today_counts_while_its_hour_is_to_come():
    """At ten past two "today at 3" is in fifty minutes, and "at 9" is nine in the evening."""
    assert moment_in("today at 3", NOW, "UTC", "en").local == "2026-11-23T15:00"
    assert moment_in("at 9", NOW, "UTC", "en").local == "2026-11-23T21:00"
    assert moment_in("monday at 5pm", NOW, "UTC", "en").local == "2026-11-23T17:00"
    assert moment_in("monday at 9am", NOW, "UTC", "en").local == "2026-11-30T09:00"


def test_so_long_from_now_is_the_nearest_minute():
    """Notes ring on the minute: in two seconds is now, in 20 minutes at 14:10:40 is 14:31."""
    assert moment_in("in 2 seconds", NOW, "UTC", "en").local == "2026-11-23T14:10"
    assert moment_in("in 20 minutes", NOW + 40_000, "UTC", "en").local == "2026-11-23T14:31"
    assert moment_in("every 5 seconds", NOW, "UTC", "en") is None


def test_times_are_those_of_the_persons_clock():
    """In Auckland it is tomorrow already."""
    assert moment_in("tomorrow at 9", NOW, "Pacific/Auckland", "en").local == "2026-11-25T09:00"


def test_the_matter_is_what_is_left_of_the_words():
    """The stretches that said the time are taken out, wherever they stand."""
    said = "call Ana tomorrow about the keys at 3"
    found = moment_in(said, NOW, "UTC", "en")

    assert found.local == "2026-11-24T15:00"
    assert found.rest_of(said) == "call Ana about the keys"
    assert said[found.start : found.end] == "tomorrow about the keys at 3"
