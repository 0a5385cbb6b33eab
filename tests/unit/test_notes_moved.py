"""A matter that gets another day stands on that day alone, in whatever words it is moved."""

from __future__ import annotations

import pytest
from test_notes_endings import MONDAY_MS, notes_of, viewed

from memory.language.corrected import as_moved
from memory.language.languages import Languages
from memory.notes.lines import line_of
from memory.notes.types import Matter

LANGUAGES = Languages.load()
TUESDAY = {"en": "tuesday", "de": "dienstag", "es": "martes", "fr": "mardi", "pt": "terça", "ru": "вторник"}


def days(language: str, earlier: str, later: str) -> list[str]:
    """Return the days of what goes on, after something was said in one session and something else in the next."""
    view = viewed(language, earlier, later)
    dated = sorted(m.due_at_ms for m in view.matters if m.due_at_ms is not None)
    return [line_of(_on(day), view.now_ms, "UTC").split(":", 1)[0] for day in dated]


def _on(due_at_ms: int) -> Matter:
    return Matter(
        matter_id="t.u0", kind="event", text="x", turn_ids=("t",), said_at_ms=1, weight=1, due_at_ms=due_at_ms
    )


@pytest.mark.parametrize(
    ("language", "earlier", "later", "day"),
    [
        ("en", "Cheryl is coming the weekend of the 21st of march", "Cheryl is coming sooner. the 14th", "Sat 14 Mar"),
        ("de", "Cheryl kommt am 21. März zu Besuch", "Cheryl kommt früher, am 14. März", "Sat 14 Mar"),
        ("es", "Cheryl viene el 21 de marzo", "Cheryl viene antes de lo previsto, el 14 de marzo", "Sat 14 Mar"),
        ("fr", "Cheryl vient nous voir le 21 mars", "Cheryl vient plus tôt, le 14 mars", "Sat 14 Mar"),
        ("pt", "a Cheryl vem no dia 21 de março", "a Cheryl vem mais cedo, dia 14 de março", "Sat 14 Mar"),
        ("ru", "Шерил приедет 21 марта", "Шерил приедет раньше, 14 марта", "Sat 14 Mar"),
        ("en", "our concert is on 19 march, parents and all", "concert got moved to the 20th btw", "Fri 20 Mar"),
        ("en", "Ines is on the ship till 21 march", "Ines emailed from the ship. its the 28th now", "Sat 28 Mar"),
        ("en", "the postmortem is due on 18 march", "postmortem moved to tue 24 march, Ingrid is away", "Tue 24 Mar"),
        ("en", "my hip operation is on tuesday 24 march", "it's thursday the 19th now", "Thu 19 Mar"),
        ("it", "il 20 marzo mi mettono una protesi all'anca", "mi hanno spostata a lunedì 23", "Mon 23 Mar"),
        ("de", "die Untersuchung ist am 18. März", "die Untersuchung wurde verschoben auf den 25. März", "Wed 25 Mar"),
        ("es", "la boda de mi prima es el 21 de marzo", "movieron la boda para el 28 de marzo", "Sat 28 Mar"),
        ("fr", "le concert de la chorale est le 21 mars", "le concert est maintenant le 28 mars", "Sat 28 Mar"),
        ("en", "the boiler inspection is on 19 march at 10", "i moved the boiler inspection to the 20th", "Fri 20 Mar"),
        ("en", "the boiler inspection is on 19 march", "they moved the boiler inspection to the 20th", "Fri 20 Mar"),
        ("en", "the boiler inspection is on 19 march", "boiler inspection got pushed to the 20th", "Fri 20 Mar"),
        ("de", "die Besichtigung ist am 19. März", "hab die Besichtigung auf den 20. März verschoben", "Fri 20 Mar"),
        ("es", "el dentista es el 19 de marzo", "he movido el dentista al 20 de marzo", "Fri 20 Mar"),
        ("fr", "le dentiste est le 19 mars", "j'ai repoussé le dentiste au 20 mars", "Fri 20 Mar"),
        ("pt", "o dentista é dia 19 de março", "remarquei o dentista para o dia 20 de março", "Fri 20 Mar"),
        ("ru", "стоматолог 19 марта в 10:00", "я перенесла стоматолога на 20 марта", "Fri 20 Mar"),
        ("it", "il dentista è il 19 marzo", "ho spostato il dentista al 20 marzo", "Fri 20 Mar"),
    ],
)  # fmt: skip
def test_a_matter_that_was_moved_has_one_day(language, earlier, later, day):
    """The old day is said nowhere: two days of one thing would send somebody on the wrong one."""
    assert days(language, earlier, later) == [day]


def test_what_somebody_gave_more_time_for_is_due_then():
    """The old day stands nowhere."""
    assert {*days("en", "ship the covers to Mette by 12 march", "Mette gave us time till 20 march")} == {"Fri 20 Mar"}


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("dinner with Petra on 19 march", "now I also have the dentist on 24 march"),
        ("the concert is on 19 march", "my flight got moved to the 24th"),
        ("the concert is on 19 march", "the concert hall is great, see you on 24 march"),
        ("the concert is on 19 march", "we moved our sofa to the attic on the 24th"),
    ],
)
def test_another_day_of_something_else_moves_nothing(earlier, later):
    """What shares no word, or only a name, is another matter."""
    assert "Thu 19 Mar" in days("en", earlier, later)


@pytest.mark.parametrize(
    ("language", "both", "later"),
    [
        ("en", "Leo's swimming is on 17 march and Mia sees the dentist on 19 march", "no, it's the 20th not the 19th"),
        ("de", "Leo hat am 17. März Schwimmen und Mia hat am 19. März Zahnarzt", "nein, am 20., nicht am 19."),
        ("es", "Leo tiene natación el 17 de marzo y Mia tiene dentista el 19 de marzo", ""),
        ("fr", "Léo a piscine le 17 mars et Mia va chez le dentiste le 19 mars", ""),
        ("pt", "o Leo tem natação no dia 17 de março e a Mia tem dentista no dia 19 de março", ""),
        ("ru", "у Лео плавание 17 марта и у Мии стоматолог 19 марта", ""),
        ("it", "Leo ha nuoto il 17 marzo e Mia ha il dentista il 19 marzo", ""),
    ],
)
def test_two_matters_of_one_sentence_have_a_day_each(language, both, later):
    """The second had the day of the first, and another day for it was lost."""
    assert days(language, both, later or "ok") == ["Tue 17 Mar", "Fri 20 Mar" if later else "Thu 19 Mar"]


@pytest.mark.parametrize(
    "text",
    [
        "Ana comes on 17 march and leaves on 19 march",
        "on 17 march and 19 march we go to the fair",
        "my brother marries on 17 march and i'm best man. back the 19th",
    ],
)
def test_one_matter_over_some_days_stays_one(text):
    """What is told of the second day says too little to stand alone."""
    assert len(days("en", text, "ok")) == 1


@pytest.mark.parametrize(
    ("language", "earlier", "later", "at"),
    [
        ("en", "meeting on 20 march at 3", "the meeting moved from 3 to 4 on 20 march", 16),
        ("en", "meeting on 20 march at 3", "the meeting moved from 3pm to 4pm", 16),
        ("de", "die Besprechung ist am 20. März um 15 Uhr", "die Besprechung ist von 15 auf 16 Uhr verschoben", 16),
        ("de", "die Besprechung ist am 20. März um 15 Uhr", "Besprechung von 15 Uhr auf 16 Uhr verschoben", 16),
        ("es", "reunión el 20 de marzo a las 15", "la reunión pasa de las 15 a las 16", 16),
        ("fr", "réunion le 20 mars à 15h", "la réunion est décalée de 15h à 16h", 16),
        ("fr", "réunion le 20 mars à 15h", "la réunion passe de 15h à 16h", 16),
        ("pt", "reunião dia 20 de março às 15h", "a reunião mudou das 15h para as 16h", 16),
        ("ru", "встреча 20 марта в 15:00", "встречу перенесли с 15:00 на 16:00", 16),
        ("it", "riunione il 20 marzo alle 15", "la riunione è spostata dalle 15 alle 16", 16),
    ],
)
def test_what_moves_from_one_hour_to_another_is_at_the_later_one(language, earlier, later, at):
    """The hour was lost, or the first of the two was taken for it; the day stays."""
    [matter] = [m for m in viewed(language, earlier, later).matters if not m.faint]

    assert line_of(matter, 0, "UTC").split(":", 1)[0] == "Fri 20 Mar"
    assert (matter.due_at_ms // 3_600_000 % 24, matter.due_exact) == (at, True)


@pytest.mark.parametrize(
    "text", ["the sale is from 3 to 4 on 20 march", "we moved the sofa from 3 to 4 rooms", "i went from 3 to 4 coffees"]
)
def test_from_one_number_to_another_is_no_hour_without_a_move(text):
    """How long something takes, and what is counted, is no new time of day."""
    assert as_moved(text, LANGUAGES.get("en")) == text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "dentist {}"), ("de", "hab am {} zahnarzt"), ("es", "tengo dentista el {}"),
        ("fr", "dentiste {}"), ("pt", "dentista na {}"), ("ru", "стоматолог в {}"),
    ],
)  # fmt: skip
def test_a_day_of_the_week_counts_on_the_day_before_it(language, text):
    """It was taken for an hour that is told in passing, and the dentist of tomorrow was not noted."""
    said = text.format(TUESDAY[language])  # said on a Monday

    assert [matter.text for matter in viewed(language, said, "ok", after_days=0).matters] == [said]


REPORTS = [
    ("en", "i need to hand in the report by friday", "they gave us more time for the report, until 10 April"),
    ("de", "ich muss den Bericht bis Freitag abgeben", "der Bericht wurde verschoben, jetzt am 10. April fällig"),
    ("es", "hay que entregar el informe a finales de mes", "nos han dado más plazo: el informe es el 10 de abril"),
    ("fr", "je dois rendre le rapport vendredi", "ils ont décalé le rapport, à rendre le 10 avril"),
    ("pt", "tenho que entregar o relatório até sexta", "adiaram o relatório, agora é pra 10 de abril"),
    ("ru", "отчёт для Ирины надо сдать до конца месяца", "отчёт перенесли, сдавать теперь 10 апреля"),
]
DENTIST = {
    "en": "remind me tomorrow at 9 to call the dentist",
    "de": "erinner mich morgen um 9 den Zahnarzt anzurufen",
    "es": "recuérdame mañana a las 9 llamar al dentista",
    "fr": "rappelle-moi demain à 9h d'appeler le dentiste",
    "pt": "me lembra amanhã às 9 de ligar pro dentista",
    "ru": "напомни завтра в 9 позвонить стоматологу",
}


@pytest.mark.parametrize(("language", "told", "moved"), REPORTS)
def test_more_time_for_one_thing_moves_that_alone(language, told, moved):
    """The reminder of tomorrow went along to the new day, or the report was said to be done."""
    notes = notes_of(language, (told, "Ok."), (DENTIST[language], "Ok."), (moved, "Ok."))
    shown = sorted(line_of(m, MONDAY_MS, "UTC").split(":", 1)[0] for m in notes.matters)

    assert shown == ["Fri 10 Apr", "Tue 3 Mar"]
    assert not notes.settled


@pytest.mark.parametrize("language", ["en", "es", "fr"])
def test_more_time_for_what_was_never_told_moves_no_reminder(language):
    """It is a matter of its own."""
    moved = next(moved for of, _, moved in REPORTS if of == language)
    notes = notes_of(language, (DENTIST[language], "Ok."), (moved, "Ok."))

    assert "Tue 3 Mar" in [line_of(m, MONDAY_MS, "UTC").split(":", 1)[0] for m in notes.matters]
