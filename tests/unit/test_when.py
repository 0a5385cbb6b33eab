"""Times in people's words."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from memory.language.due_dates import find_due, parse_when, reminder_request
from memory.language.languages import Languages

LANGUAGES = Languages.load()
ZONE = "Europe/Berlin"
NOW_MS = int(datetime(2026, 11, 21, 14, tzinfo=UTC).timestamp() * 1000)


def local(due_at_ms, zone=ZONE):
    return (
        None if due_at_ms is None else datetime.fromtimestamp(due_at_ms / 1000, ZoneInfo(zone)).strftime("%d.%m. %H:%M")
    )


@pytest.mark.parametrize(
    ("code", "text", "due", "what"),
    [
        ("en", "remind me tomorrow at 9 to call Ana", "22.11. 09:00", "call Ana"),
        ("en", "Remind me in 20 minutes to check the oven", "21.11. 15:20", "check the oven"),
        ("en", "remind me to pay rent on December 1st", "01.12. 09:00", "pay rent"),
        ("en", "please remind me on Monday at 6:30 pm about the dentist", "23.11. 18:30", "the dentist"),
        ("en", "remind me at 9 to sleep", "21.11. 21:00", "sleep"),
        ("en", "remind me in two and a half hours to stop", "21.11. 17:30", "stop"),
        ("en", "remind me 2026-12-24 at 18:00 to light candles", "24.12. 18:00", "light candles"),
        ("en", "remind me next Friday evening to call mom", "27.11. 19:00", "call mom"),
        ("en", "remind me at 2 in the afternoon to rest", "22.11. 14:00", "rest"),
        ("en", "remind me tomorrow night at 10 to sleep", "22.11. 22:00", "sleep"),
        ("de", "erinnere mich um 2 Uhr nachmittags an die Pause", "22.11. 14:00", "die Pause"),
        ("es", "recuérdame a las 2 de la tarde comer", "22.11. 14:00", "comer"),
        ("en", "remind me to buy milk", None, "buy milk"),
        ("de", "Erinnere mich morgen um 9 daran, Ana anzurufen", "22.11. 09:00", "Ana anzurufen"),
        ("de", "Kannst du mich am 3. Dezember um halb acht an die Prüfung erinnern?", "03.12. 07:30", "die Prüfung"),
        ("de", "erinnere mich heute Abend an die Tabletten", "21.11. 19:00", "die Tabletten"),
        ("es", "Recuérdame mañana a las 9 llamar a Ana", "22.11. 09:00", "llamar a Ana"),
        ("es", "Recuérdame el viernes a las 6 de la tarde comprar pan", "27.11. 18:00", "comprar pan"),
        ("pt", "Me lembre amanhã às 9 de ligar para a Ana", "22.11. 09:00", "ligar para a Ana"),
        ("pt", "me lembre depois de amanhã de enviar o relatório", "23.11. 09:00", "enviar o relatório"),
        ("pt", "Lembra-me de ligar ao Rui na quinta às 18h", "26.11. 18:00", "ligar ao Rui"),
        ("pt", "Podias recordar-me amanhã de pagar a renda?", "22.11. 09:00", "pagar a renda"),
        ("fr", "Rappelle-moi demain à 9h d'appeler Ana", "22.11. 09:00", "appeler Ana"),
        ("fr", "Rappelle-moi de payer le loyer le 1er décembre", "01.12. 09:00", "payer le loyer"),
        ("ru", "Напомни мне завтра в 9 позвонить Ане", "22.11. 09:00", "позвонить Ане"),
        ("ru", "напомни через час выключить плиту", "21.11. 16:00", "выключить плиту"),
        ("ru", "напомни завтра в 7 вечера забрать посылку", "22.11. 19:00", "забрать посылку"),
        ("es", "recuerdame mañana a las 9 llamar a Ana", "22.11. 09:00", "llamar a Ana"),
        ("pt", "me lembra amanha as 9 de ligar pro joao", "22.11. 09:00", "ligar pro joao"),
        ("fr", "rappelle moi ce soir a 19h d'arroser les plantes", "21.11. 19:00", "arroser les plantes"),
        ("en", "dentist tomorrow at 10, remind me an hour before", "22.11. 09:00", "dentist"),
        ("de", "morgen um 10 zahnarzt, erinner mich eine stunde vorher", "22.11. 09:00", "zahnarzt"),
        ("es", "mañana a las 10 tengo médico, recuérdamelo una hora antes", "22.11. 09:00", "tengo médico"),
        ("fr", "demain à 10h j'ai le dentiste, rappelle-le-moi 30 minutes avant", "22.11. 09:30", "j'ai le dentiste"),
        ("pt", "amanhã às 10 tenho médico, me lembra uma hora antes", "22.11. 09:00", "tenho médico"),
        ("it", "domani alle 10 ho il medico, ricordamelo un'ora prima", "22.11. 09:00", "ho il medico"),
        ("ru", "завтра в 10 врач, напомни за час", "22.11. 09:00", "врач"),
    ],
)
def test_a_reminder_in_plain_words(code, text, due, what):
    """Time and matter are told apart, in the user's time zone."""
    found = reminder_request(text, NOW_MS, ZONE, LANGUAGES.get(code))

    assert (local(found.due_at_ms), found.what) == (due, what)


@pytest.mark.parametrize(
    ("code", "text", "due"),
    [
        ("en", "next week thursday i see the dentist", "26.11. 09:00"),
        ("en", "thursday next week works", "26.11. 09:00"),
        ("en", "the dentist is thursday week", "03.12. 09:00"),
        ("en", "friday in two weeks at 10:00", "04.12. 10:00"),
        ("en", "the week after next", "05.12. 09:00"),
        ("de", "Nächste Woche Donnerstag hab ich Zahnarzt", "26.11. 09:00"),
        ("de", "Donnerstag nächster Woche", "26.11. 09:00"),
        ("de", "übernächste Woche Dienstag", "01.12. 09:00"),
        ("de", "jonas hat am 1.12. um 14:30 termin", "01.12. 14:30"),
        ("de", "am 1.12 um 14:30 zahnarzt", "01.12. 14:30"),
        ("de", "um 10.12. geht's los", "22.11. 10:12"),
        ("ru", "в четверг в 18 00 собрание", "26.11. 18:00"),
        ("es", "a las 2 de la tarde", "22.11. 14:00"),
        ("en", "in the afternoon at 2", "22.11. 14:00"),
        ("it", "giovedì alle 18 30", "26.11. 18:30"),
        ("pt", "quinta as 15h e depois casa", "26.11. 15:00"),
        ("es", "el jueves de la semana que viene", "26.11. 09:00"),
        ("pt", "quinta da próxima semana", "26.11. 09:00"),
        ("fr", "la semaine prochaine, jeudi", "26.11. 09:00"),
        ("ru", "в четверг на следующей неделе", "26.11. 09:00"),
        ("it", "giovedì della prossima settimana", "26.11. 09:00"),
    ],
)
def test_a_weekday_is_that_of_the_week_that_was_named(code, text, due):
    """Said on a Saturday: not the coming Thursday by its name, and not a week from today."""
    assert local(find_due(text, NOW_MS, ZONE, LANGUAGES.get(code)).due_at_ms) == due


@pytest.mark.parametrize(
    ("code", "text", "due"),
    [
        ("en", "help her pack the weekend of the 16th", "16.01."),
        ("en", "see you at the weekend, on the 3rd floor", "22.11."),
        ("de", "am Wochenende vom 16. packen", "16.01."),
        ("es", "el fin de semana del 16", "16.01."),
        ("fr", "le week-end du 16", "16.01."),
        ("pt", "no fim de semana do dia 16", "16.01."),
        ("ru", "на выходных 16-го", "16.01."),
        ("it", "il weekend del 16", "16.01."),
    ],
)
def test_a_weekend_with_a_number_is_the_one_with_that_day(code, text, due):
    """The 16th of December is a Wednesday; it had been this weekend whatever its number."""
    found = find_due(text, NOW_MS, ZONE, LANGUAGES.get(code))

    assert found is not None
    assert local(found.due_at_ms).startswith(due)


@pytest.mark.parametrize(
    ("code", "text", "due", "exact"),
    [
        ("en", "the rent is due in 2 weeks", "05.12. 15:00", False),
        ("en", "in 3 days at 5 i call Ana", "24.11. 17:00", True),
        ("en", "in 3 days in the evening", "24.11. 19:00", True),
        ("en", "in 3 hours", "21.11. 18:00", True),
        ("de", "die Miete ist in 2 Wochen fällig", "05.12. 15:00", False),
        ("de", "in 3 Tagen um 17 Uhr Ana anrufen", "24.11. 17:00", True),
        ("es", "el alquiler vence en 2 semanas", "05.12. 15:00", False),
        ("es", "en 3 días a las 17:00 llamar a Ana", "24.11. 17:00", True),
        ("fr", "le loyer est dû dans 2 semaines", "05.12. 15:00", False),
        ("fr", "dans 3 jours à 17h appeler Ana", "24.11. 17:00", True),
        ("pt", "o aluguel vence em 2 semanas", "05.12. 15:00", False),
        ("pt", "em 3 dias às 17h ligar para a Ana", "24.11. 17:00", True),
        ("ru", "через 2 недели платить за квартиру", "05.12. 15:00", False),
        ("ru", "через 3 дня в 17:00 позвонить Ане", "24.11. 17:00", True),
        ("it", "l'affitto scade tra 2 settimane", "05.12. 15:00", False),
        ("it", "tra 3 giorni alle 17 chiamare Ana", "24.11. 17:00", True),
    ],
)
def test_so_many_days_ahead_is_a_day_with_the_hour_that_is_said(code, text, due, exact):
    """No hour was said with "in 2 weeks", and the one behind "in 3 days" counts: it had been that of the message."""
    found = find_due(text, NOW_MS, ZONE, LANGUAGES.get(code))

    assert found is not None
    assert (local(found.due_at_ms), found.exact) == (due, exact)


@pytest.mark.parametrize(
    ("code", "text", "due", "what"),
    [
        ("en", "remind me tomrow at 8 to put bins out", "22.11. 08:00", "put bins out"),
        ("en", "remind me 2moro at 10 to pay", "22.11. 10:00", "pay"),
        ("en", "remind me on thrusday at 10 to pay", "26.11. 10:00", "pay"),
        ("de", "erinnere mich morgn um 9 an Ana", "22.11. 09:00", "Ana"),
        ("es", "recuérdame manana a las 9 llamar a Ana", "22.11. 09:00", "llamar a Ana"),
        ("fr", "rappelle-moi 2main à 9h d'appeler Ana", "22.11. 09:00", "appeler Ana"),
        ("pt", "me lembre amnhã às 9 de ligar para a Ana", "22.11. 09:00", "ligar para a Ana"),
        ("ru", "напомни завтро в 9 позвонить Ане", "22.11. 09:00", "позвонить Ане"),
    ],
)
def test_a_day_that_is_misspelt_is_still_that_day(code, text, due, what):
    """It rang today, and the misspelt word stood in the reminder."""
    found = reminder_request(text, NOW_MS, ZONE, LANGUAGES.get(code))

    assert (local(found.due_at_ms), found.what) == (due, what)


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("it's at half ten", "21.11. 22:30"),
        ("tomorrow half 3", "22.11. 15:30"),
        ("tomorrow at half past ten", "22.11. 10:30"),
        ("I ate half two apples", None),
        ("half 10 people came", None),
    ],
)
def test_half_ten_is_half_past_ten(text, due):
    """As the British say it; half of something is no time."""
    found = find_due(text.lower(), NOW_MS, ZONE, LANGUAGES.get("en"))

    assert (found and local(found.due_at_ms)) == due


@pytest.mark.parametrize(
    "text",
    [
        "did you remind me about the bins?",
        "morning! did you remind me about the bins?",
        "why didn't you remind me at 9?",
        "have you reminded me about the bins tomorrow?",
    ],
)
def test_whether_one_was_reminded_is_no_order(text):
    """It set "did you about the bins" for tomorrow; who can or could remind is asked to."""
    assert reminder_request(text, NOW_MS, ZONE, LANGUAGES.get("en")) is None
    assert reminder_request("can you remind me at 5 to go?", NOW_MS, ZONE, LANGUAGES.get("en")).what == "go"


def test_a_week_far_from_the_weekday_is_not_its_week():
    """What stands between them is what the reminder is about, and stays."""
    found = reminder_request("remind me Thursday call Ana next week", NOW_MS, ZONE, LANGUAGES.get("en"))

    assert "call Ana" in found.what


@pytest.mark.parametrize("text", ["Tomorrow at 9 I call Ana", "Do you remind people?", "", "hello"])
def test_what_is_no_wish_for_a_reminder(text):
    """A time alone is not a reminder."""
    assert reminder_request(text, NOW_MS, ZONE, LANGUAGES.get("en")) is None


def test_a_command_needs_no_trigger():
    """`/remind tomorrow at 9 call Ana` has only time and matter."""
    due_at_ms, what = parse_when("tomorrow at 9 call Ana", NOW_MS, ZONE, LANGUAGES.get("en"))

    assert (local(due_at_ms), what) == ("22.11. 09:00", "call Ana")


def test_the_zone_decides_when_nine_is():
    """The same words mean another moment in another zone."""
    english = LANGUAGES.get("en")
    berlin, tokyo = (parse_when("tomorrow at 9", NOW_MS, zone, english) for zone in (ZONE, "Asia/Tokyo"))

    assert local(tokyo[0], "Asia/Tokyo") == "22.11. 09:00"
    assert berlin[0] - tokyo[0] == 8 * 3_600_000


def test_nine_is_nine_also_behind_the_change_of_the_clocks():
    """A wall-clock time stays what was said when summer time ends in between."""
    before_ms = int(datetime(2026, 10, 24, 12, tzinfo=UTC).timestamp() * 1000)
    due_at_ms, _ = parse_when("tomorrow at 9", before_ms, ZONE, LANGUAGES.get("en"))

    assert local(due_at_ms) == "25.10. 09:00"


@pytest.mark.parametrize(
    ("now", "text", "due"),
    [
        ((2027, 3, 27, 12), "tomorrow at 02:30 check", (2027, 3, 28, 1, 30)),
        ((2027, 3, 28, 0, 50), "at 02:30 check", (2027, 3, 28, 1, 30)),
        ((2027, 3, 28, 0, 50), "in half an hour check", (2027, 3, 28, 1, 20)),
        ((2027, 3, 27, 12), "in 24 hours check", (2027, 3, 28, 12)),
        ((2027, 10, 30, 12), "tomorrow at 02:30 check", (2027, 10, 31, 0, 30)),
        ((2027, 10, 31, 0, 50), "in half an hour check", (2027, 10, 31, 1, 20)),
        ((2027, 10, 31, 0, 10), "at 02:30 check", (2027, 10, 31, 0, 30)),
        ((2027, 10, 31, 1, 10), "at 02:30 check", (2027, 10, 31, 1, 30)),
        ((2027, 10, 31, 1, 40), "tomorrow at 02:30 check", (2027, 11, 1, 1, 30)),
    ],
)
def test_an_hour_that_is_left_out_or_comes_twice_is_never_in_the_past(now, text, due):
    """02:30 on the day when summer time begins is 03:30; when it ends, the next time the clock shows it."""
    now_ms, due_ms = (int(datetime(*each, tzinfo=UTC).timestamp() * 1000) for each in (now, due))

    assert parse_when(text, now_ms, ZONE, LANGUAGES.get("en")) == (due_ms, "check")


def test_an_unknown_zone_counts_as_utc():
    """A zone that does not exist fails nothing."""
    due_at_ms, _ = parse_when("tomorrow at 9", NOW_MS, "Mars/Olympus", LANGUAGES.get("en"))

    assert local(due_at_ms, "UTC") == "22.11. 09:00"


@pytest.mark.parametrize("text", ["on 31 February", "at 25:00", "in 999 weeks", "32.13.", "tomorrow " * 50])
def test_odd_times_raise_nothing(text):
    """A day that does not exist is no due date, or a later one; never an error."""
    due = find_due(text, NOW_MS, ZONE, LANGUAGES.get("en"))

    assert due is None or due.due_at_ms > NOW_MS


def test_a_language_without_time_words_finds_none():
    """Unknown languages have no due dates."""
    assert find_due("morgen um 9", NOW_MS, ZONE, LANGUAGES.get("xx")) is None


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "the lease ends on 12 May 2030"),
        ("en", "May 12, 2030 is the day"),
        ("de", "der Vertrag endet am 12. Mai 2030"),
        ("es", "el contrato acaba el 12 de mayo de 2030"),
        ("fr", "le bail finit le 12 mai 2030"),
        ("pt", "o contrato acaba no dia 12 de maio de 2030"),
        ("ru", "договор до 12 мая 2030 года"),
        ("it", "il contratto scade il 12 maggio 2030"),
    ],
)
def test_a_year_behind_a_month_counts(code, text):
    """A date with its year is that day and not the next one of its name; one of the past is no time ahead."""
    due = find_due(text, NOW_MS, ZONE, LANGUAGES.get(code))

    assert due is not None
    assert datetime.fromtimestamp(due.due_at_ms / 1000, UTC).strftime("%Y-%m-%d") == "2030-05-12"
    assert find_due(text.replace("2030", "2020"), NOW_MS, ZONE, LANGUAGES.get(code)) is None


def test_a_decimal_is_no_date_where_it_is_written_with_a_point():
    """In English "2.5" is two and a half; a date has a slash or a year."""
    english = LANGUAGES.get("en")

    assert find_due("3 hrs yesterday, 2.5 the night before", NOW_MS, ZONE, english) is None
    assert local(find_due("on 2/5", NOW_MS, ZONE, english).due_at_ms) == "02.05. 09:00"


@pytest.mark.parametrize(
    ("code", "text", "due", "what"),
    [
        ("en", "reminder tomorrow at 10 call Ana", "22.11. 10:00", "call Ana"),
        ("en", "call Ana tomorrow at 10, remind", "22.11. 10:00", "call Ana"),
        ("en", "dont forget the inhaler tomorrow at 8", "22.11. 08:00", "the inhaler"),
        ("de", "ruf morgen um 10 an erinnern", "22.11. 10:00", "ruf an"),
        ("de", "morgen um 10 zahnarzt anrufen erinnern", "22.11. 10:00", "zahnarzt anrufen"),
        ("de", "Inhalator morgen um 8 nicht vergessen", "22.11. 08:00", "Inhalator"),
        ("de", "vergiss den Inhalator morgen um 8 nicht", "22.11. 08:00", "Inhalator"),
        ("es", "recordar mañana a las 10 llamar", "22.11. 10:00", "llamar"),
        ("fr", "rappeler demain à 10h d'appeler Ana", "22.11. 10:00", "appeler Ana"),
        ("fr", "rappel demain 10h dentiste", "22.11. 10:00", "dentiste"),
        ("pt", "lembrar amanhã às 10 de ligar", "22.11. 10:00", "ligar"),
        ("ru", "напомнить завтра в 10 позвонить", "22.11. 10:00", "позвонить"),
        ("ru", "завтра в 10 позвонить маме напомнить", "22.11. 10:00", "позвонить маме"),
        ("it", "ricordare domani alle 10 di chiamare Ana", "22.11. 10:00", "chiamare Ana"),
    ],
)
def test_a_bare_remind_at_either_end_is_an_order_where_a_time_stands_beside_it(code, text, due, what):
    """Who is in a hurry leaves out whom, and says the verb or the noun first or last."""
    found = reminder_request(text, NOW_MS, ZONE, LANGUAGES.get(code))

    assert (local(found.due_at_ms), found.what) == (due, what)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "I need to remind Ana tomorrow at 10"),
        ("en", "don't forget the inhaler"),
        ("en", "he said don't forget the keys tomorrow"),
        ("en", "reminder tomorrow at 10"),
        ("de", "ich muss sie morgen um 10 an den Termin erinnern"),
        ("de", "er soll Mama morgen daran erinnern"),
        ("de", "vergiss den Inhalator"),
        ("es", "tengo que recordar mañana a Ana la cita"),
        ("es", "recordar es vivir"),
        ("fr", "rappeler Ana demain à 10h"),
        ("pt", "preciso lembrar a Ana amanhã às 10"),
        ("ru", "надо завтра в 10 напомнить маме про врача"),
    ],
)
def test_who_has_to_remind_somebody_else_asks_for_no_reminder(code, text):
    """Nor does what names no time, or calls back."""
    assert reminder_request(text, NOW_MS, ZONE, LANGUAGES.get(code)) is None


@pytest.mark.parametrize(
    ("code", "text", "due", "what"),
    [
        ("en", "remind me tomorrow at 8 to turn the heating on", "22.11. 08:00", "turn the heating on"),
        ("en", "remind me to turn the heating on at 8pm", "21.11. 20:00", "turn the heating on"),
        ("de", "erinner mich morgen um 10: ruf Mama an", "22.11. 10:00", "ruf Mama an"),
        ("en", "remind me tomorrow at 7: bring shoes", "22.11. 07:00", "bring shoes"),
        ("es", "recuérdame mañana a las 7: llevar zapatos", "22.11. 07:00", "llevar zapatos"),
        ("en", "remind me to call Ana tomorrow at 9 please", "22.11. 09:00", "call Ana"),
    ],
)
def test_the_matter_keeps_its_last_word_and_a_colon_parts_it_from_the_hour(code, text, due, what):
    """The heating was to be turned, and the hour before a colon was lost."""
    found = reminder_request(text, NOW_MS, ZONE, LANGUAGES.get(code))

    assert (local(found.due_at_ms), found.what) == (due, what)


@pytest.mark.parametrize(
    ("code", "text", "what"),
    [
        ("en", "good night, remind me tomorrow at 8 to call Ann", "call Ann"),
        ("de", "gute Nacht, erinnere mich morgen um 8 an Anna", "Anna"),
        ("es", "buenas noches, recuérdame mañana a las 8 llamar a Ana", "llamar a Ana"),
        ("fr", "bonne nuit, rappelle-moi demain à 8h d'appeler Anne", "appeler Anne"),
        ("pt", "boa noite, me lembra amanhã às 8 de ligar pra Ana", "ligar pra Ana"),
        ("ru", "спокойной ночи, напомни завтра в 8 позвонить Ане", "позвонить Ане"),
    ],
)
def test_a_greeting_before_a_wish_is_no_part_of_the_matter(code, text, what):
    """It rang with "good night, to call Ann"."""
    assert reminder_request(text, NOW_MS, "UTC", LANGUAGES.get(code)).what == what
