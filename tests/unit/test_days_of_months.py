"""Days told by their month or their name: the first Sunday in October, mid-October, Christmas Eve, a week on Monday."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.language.languages import Languages
from memory.notes.when import coming_day

LANGUAGES = Languages.load()
SUNDAY_MS = 1_788_084_000_000  # Sunday 30 August 2026, 10:00 UTC


def day(language: str, text: str) -> str | None:
    """Return the coming day that the text names."""
    language_ = LANGUAGES.get(language)
    found = coming_day(language_.mended(text.lower()), SUNDAY_MS, "UTC", language_)
    return found and datetime.fromtimestamp(found.due_at_ms / 1000, UTC).strftime("%a %d %b %Y")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "a stall at the market first sunday in october"), ("en", "the 1st Sunday of October"),
        ("de", "am ersten Sonntag im Oktober"), ("de", "der erste Sonntag im Oktober"),
        ("es", "el primer domingo de octubre"), ("fr", "le premier dimanche d'octobre"),
        ("pt", "no primeiro domingo de outubro"), ("ru", "в первое воскресенье октября"),
        ("it", "la prima domenica di ottobre"),
    ],
)  # fmt: skip
def test_a_weekday_counted_within_its_month_is_that_day(language, text):
    """The next Sunday would be four weeks early."""
    assert day(language, text) == "Sun 04 Oct 2026"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "last friday in september"), ("en", "the last friday of next month"),
        ("en", "the 4th friday in september"),
        ("de", "am letzten Freitag im September"), ("de", "am letzten Freitag nächsten Monats"),
        ("es", "el último viernes de septiembre"), ("fr", "le dernier vendredi de septembre"),
        ("fr", "le dernier vendredi du mois prochain"), ("pt", "na última sexta de setembro"),
        ("ru", "в последнюю пятницу сентября"), ("it", "l'ultimo venerdì di settembre"),
    ],
)  # fmt: skip
def test_the_last_such_weekday_of_a_month(language, text):
    """Counted from its end."""
    assert day(language, text) == "Fri 25 Sep 2026"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the first monday in march", "Mon 01 Mar 2027"), ("the last friday of the month", "Fri 25 Sep 2026"),
        ("the second tuesday of november 2027", "Tue 09 Nov 2027"), ("the 21st of next month", "Mon 21 Sep 2026"),
        ("the last time on monday", "Mon 31 Aug 2026"), ("first thing on monday", "Mon 31 Aug 2026"),
        ("29 february", None), ("the 31st of november", None),
    ],
)  # fmt: skip
def test_what_has_passed_is_of_the_next_month_or_year(text, expected):
    """And a day that there is not is none."""
    assert day("en", text) == expected


@pytest.mark.parametrize(
    ("language", "middle", "start", "end"),
    [
        ("en", "by mid-october", "at the beginning of october", "by the end of october"),
        ("en", "in the middle of october", "in early october", "late october"),
        ("de", "bis mitte Oktober", "anfang Oktober", "bis Ende Oktober"),
        ("es", "a mediados de octubre", "a principios de octubre", "a finales de octubre"),
        ("fr", "à la mi-octobre", "début octobre", "fin octobre"),
        ("pt", "em meados de outubro", "no começo de outubro", "até o fim de outubro"),
        ("ru", "в середине октября", "в начале октября", "до конца октября"),
        ("it", "a metà ottobre", "a inizio ottobre", "entro fine ottobre"),
    ],
)
def test_parts_of_a_month_have_a_day(language, middle, start, end):
    """Its 15th, its first, its last."""
    found = [day(language, text) for text in (middle, start, end)]
    assert found == ["Thu 15 Oct 2026", "Thu 01 Oct 2026", "Sat 31 Oct 2026"]


@pytest.mark.parametrize(
    ("language", "this", "following"),
    [
        ("en", "by the end of the month", "at the start of next month"),
        ("de", "bis Ende des Monats", "Anfang nächsten Monats"), ("de", "am Monatsende", "zum Monatsanfang"),
        ("es", "a fin de mes", "a principios del mes que viene"), ("es", "a finales de mes", "a principios de mes"),
        ("fr", "fin du mois", "début du mois prochain"), ("pt", "até o fim do mês", "no começo do mês que vem"),
        ("ru", "до конца месяца", "в начале следующего месяца"), ("it", "entro fine mese", "a inizio mese prossimo"),
    ],
)  # fmt: skip
def test_the_month_is_this_one_and_the_next_once_its_day_has_passed(language, this, following):
    """Nobody names the month that it is."""
    assert (day(language, this), day(language, following)) == ("Mon 31 Aug 2026", "Tue 01 Sep 2026")


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "lunch with Ana on christmas eve", "Thu 24 Dec 2026"), ("en", "done by christmas", "Fri 25 Dec 2026"),
        ("en", "we meet at new year's eve", "Thu 31 Dec 2026"), ("de", "an Heiligabend", "Thu 24 Dec 2026"),
        ("de", "bis Weihnachten", "Fri 25 Dec 2026"), ("de", "an Silvester", "Thu 31 Dec 2026"),
        ("es", "en nochebuena", "Thu 24 Dec 2026"), ("es", "antes de navidad", "Fri 25 Dec 2026"),
        ("fr", "avant Noël", "Fri 25 Dec 2026"), ("pt", "até o Natal", "Fri 25 Dec 2026"),
        ("ru", "до нового года", "Thu 31 Dec 2026"), ("it", "prima di Natale", "Fri 25 Dec 2026"),
        ("en", "ideas for christmas presents", None), ("de", "Weihnachtsgeschenke besorgen", None),
        ("en", "3/4 of the book", None), ("de", "3/4 der Leute", None), ("en", "early may be fine", None),
        ("en", "here since the middle of october", None), ("fr", "depuis la mi-octobre", None),
    ],
)  # fmt: skip
def test_a_day_with_a_name_is_that_day(language, text, expected):
    """With a word that makes a time of it; presents for Christmas, a fraction, and what began then name no day."""
    assert day(language, text) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "a week on monday", "Mon 07 Sep 2026"), ("en", "monday week", "Mon 07 Sep 2026"),
        ("en", "the friday after next", "Fri 11 Sep 2026"), ("en", "the weekend after next", "Sat 12 Sep 2026"),
        ("en", "a week today", "Sun 06 Sep 2026"), ("fr", "lundi en huit", "Mon 07 Sep 2026"),
        ("es", "el lunes en ocho", "Mon 07 Sep 2026"), ("en", "last week on monday i slept", None),
    ],
)  # fmt: skip
def test_a_week_may_be_added_before_or_behind_the_day(language, text, expected):
    """A week on Monday is not this Monday."""
    assert day(language, text) == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "the centre was down so now its on 3 september"),
        ("en", "the vet was great, next visit is on 3 september"),
        ("de", "der Arzt war krank und jetzt ist der Termin am 3. September"),
        ("es", "el médico estuvo malo y ahora es el 3 de septiembre"),
        ("fr", "le médecin était malade donc maintenant c'est le 3 septembre"),
        ("pt", "o médico foi outro e agora é dia 3 de setembro"), ("ru", "врач был болен и теперь приём 3 сентября"),
        ("it", "il medico era malato e adesso è il 3 settembre"),
    ],
)  # fmt: skip
def test_a_was_before_an_is_tells_of_no_day(language, text):
    """What is now on that day is still to come."""
    assert day(language, text) == "Thu 03 Sep 2026"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("we got a stall at the market first sunday in october", "Sun 04 Oct 2026"),
        ("we got the keys on sunday", None),
        ("the party was on 3 september and it is over", None),
    ],
)  # fmt: skip
def test_only_a_mere_weekday_is_told_of_as_the_last_one(text, expected):
    """With its month it is a date."""
    assert day("en", text) == expected
