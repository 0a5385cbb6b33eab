"""Reminders in plain words once they are set: moved, cancelled, repeated, listed; the right one, or which is asked."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.answers.remind_first import ASK_WHAT, ASK_WHEN, RemindFirst
from bot.answers.responder import Answer, Ask
from bot.reminders.repeats import next_at, rule_of
from bot.reminders.rules import Reminder, job_id_of, listed_reminders, next_id_of, next_reminder, reminder_list
from bot.reminders.words import words_for
from bot.replies import speaking
from memory.language.languages import Languages
from memory.state.listed import show
from memory.state.state_manager import new_state, open_loop
from memory.types import CANCELS, LISTS_REMINDERS, MOVES, REMINDS, WHICH, ConversationContextPacket, ConversationTurn

LANGUAGES = Languages.load()
NOW_MS = int(datetime(2026, 11, 21, 12, 0, tzinfo=UTC).timestamp() * 1000)
HOUR = 3_600_000
CODES = ["en", "de", "es", "fr", "it", "pt", "ru"]


def at(day, hour, minute=0, month=11):
    return int(datetime(2026, month, day, hour, minute, tzinfo=UTC).timestamp() * 1000)


def reminder(job_id, title, due_at_ms, repeats="", status="scheduled"):
    return Reminder(job_id, "tg:1:2:0", "s", 2, "reminder", title, status, due_at_ms, "UTC", repeats)


DENTIST = reminder("j_dentist", "call the dentist", at(22, 12))
VET = reminder("j_vet", "book the vet", at(21, 17), "day@17:00")


def turn(user_text, action_name, reply="?"):
    return ConversationTurn(
        turn_id="t0",
        session_id="s",
        conversation_id="c",
        seq=1,
        user_text=user_text,
        assistant_text=reply,
        action_name=action_name,
        language="en",
        created_at_ms=NOW_MS - 60_000,
    )


def asking(text, *, last=None, state=None):
    packet = ConversationContextPacket(
        conversation_id="c",
        session_id="s",
        session_status="active",
        history=(last,) if last else (),
        context_compiled_at_ms=NOW_MS,
    )
    return Ask(
        turn_id="t1",
        conversation_id="tg:1:2:0",
        user_id=2,
        user_name="Ada",
        text=text,
        state=state or new_state("s", "c"),
        packet=packet,
        persona="",
        time_zone="UTC",
        now_ms=NOW_MS,
    )


def answer(text, reminders=(DENTIST, VET), *, tools=False, **before):
    return RemindFirst(None, LANGUAGES, next_has_tools=tools).answer(asking(text, **before), reminders)


@pytest.mark.parametrize(
    "text",
    [
        "remind me tomorrow at 9 to call Ana",
        "Hi! Could you remind me `now` in 20 minutes to stretch?",
        "erinnere mich morgen um 9 an den Zahnarzt",
        "recuérdame mañana a las 9 llamar a Ana",
        "напомни мне завтра в 9 позвонить Ане",
        "what reminders do I have?",
        "every Monday at 9 remind me to water the plants",
    ],
)
async def test_what_is_for_us_is_never_passed_on(text):
    """The quick look before the thread lets through whatever has an answer of ours, also when nothing is set."""
    answered = answer(text, (), tools=True)
    first = RemindFirst(Passed(), LANGUAGES, next_has_tools=True)

    assert answered
    assert (await first.respond(asking(text), lambda _: None)).text == answered.text


async def test_what_speaks_of_no_reminder_costs_no_thread(monkeypatch):
    """It goes straight on to the model."""
    monkeypatch.setattr(RemindFirst, "answer", None)
    first = RemindFirst(Passed(), LANGUAGES, next_has_tools=True)

    assert (await first.respond(asking("Please tell me about matter 7"), lambda _: None)).text == "passed on"


class Passed:
    """Whoever comes next."""

    async def respond(self, *_):
        return Answer("passed on")


def changes(found):
    return {e.params["job_id"]: (e.params["to_status"], e.params["due_at_ms"]) for e in found.effects}


@pytest.mark.parametrize("tools", [False, True])
@pytest.mark.parametrize(
    ("text", "job_id", "due_at_ms"),
    [
        ("move the vet to 8pm", "j_vet", at(21, 20)),
        ("please move the dentist to Friday", "j_dentist", at(27, 12)),
        ("change the dentist reminder to tomorrow at 10", "j_dentist", at(22, 10)),
        ("reschedule the dentist for 23 November at 9", "j_dentist", at(23, 9)),
    ],
)
def test_a_reminder_is_moved_by_its_name(text, job_id, due_at_ms, tools):
    """An hour alone keeps the day, a day alone keeps the hour; with and without a model."""
    found = answer(text, tools=tools)

    assert found.action_name == MOVES
    assert changes(found) == {job_id: ("scheduled", due_at_ms)}
    assert found.job_refs == (job_id,)


@pytest.mark.parametrize(
    "text",
    [
        "move it to 6pm",
        "push it to 6 pm",
        "make it 6pm",
        "move it to 6",
        "verschiebe es auf 18 Uhr",
        "cámbialo a las 18:00",
        "décale-le à 18h",
        "muda isso para as 18h",
        "перенеси его на 18:00",
    ],
)
def test_it_is_the_only_reminder_there_is(text):
    """In six languages "it" is the reminder, on its own day."""
    found = answer(text, [DENTIST])

    assert changes(found) == {"j_dentist": ("scheduled", at(22, 18))}


@pytest.mark.parametrize(
    "text", ["move it to 6pm", "cancel the reminder", "move it to tomorrow", "lösche die Erinnerung"]
)
def test_of_several_it_is_asked_which(text):
    """Nothing is touched; the reminders are listed, and the list is remembered."""
    found = answer(text)

    assert found.action_name == WHICH
    assert found.effects == ()
    assert "1. call the dentist" in found.text
    assert [item.ref for item in found.change(new_state("s", "c")).listed.items] == ["j_dentist", "j_vet"]


@pytest.mark.parametrize(("text", "job_id"), [("the second one", "j_vet"), ("1", "j_dentist"), ("the vet", "j_vet")])
def test_the_answer_to_which_one_goes_on(text, job_id):
    """Its place on the list or its name; the wish is that of the message before."""
    state = show(new_state("s", "c"), listed_reminders([DENTIST, VET]), NOW_MS)
    found = answer(text, last=turn("cancel the reminder", WHICH), state=state)

    assert changes(found)[job_id][0] == "cancelled"
    assert len(found.effects) == 1


def test_it_is_what_was_spoken_of_last():
    """The reminder of the turn before, and what rang a moment ago."""
    spoken = new_state("s", "c").model_copy(update={"resolved_entities": {"that task": "j_vet"}})
    rang = reminder("j_rang", "take the pizza out", NOW_MS - 60_000, status="delivered")

    assert set(changes(answer("move it to 6pm", state=spoken))) == {"j_vet"}
    assert set(changes(answer("move it to 6pm", [DENTIST, rang]))) == {"j_rang"}


@pytest.mark.parametrize(
    "text",
    [
        "no more reminders about the dentist",
        "keine Erinnerung mehr an the dentist",
        "no quiero más recordatorios de the dentist",
        "plus de rappel pour the dentist",
        "niente più promemoria per the dentist",
        "não quero mais lembretes de the dentist",
        "больше не надо напоминаний про the dentist",
    ],
)
def test_no_more_reminders_cancels(text):
    """It was noted, and the reminder rang on."""
    assert changes(answer(text)) == {"j_dentist": ("cancelled", DENTIST.due_at_ms)}


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("давай в 9", 21),
        ("в 9 утра", 9),
        ("doch lieber um 9", 21),
        ("move it to 11", 23),
        ("um 14 Uhr", 14),
        ("plutot 22h", 22),
    ],
)
def test_an_hour_alone_is_the_one_nearer_to_what_was_set(text, hour):
    """Who is reminded at eight in the evening and says "at 9" means an hour later, not the morning after."""
    evening = reminder("j_mum", "call mum", at(22, 20))
    spoken = new_state("s", "c").model_copy(update={"resolved_entities": {"that task": "j_mum"}})
    last = turn("…", REMINDS).model_copy(update={"language": LANGUAGES.detect(text).code})

    found = answer(text, [evening], state=spoken, last=last, tools=True)

    assert changes(found) == {"j_mum": ("scheduled", at(22, hour))}


@pytest.mark.parametrize(
    ("text", "due_at_ms"),
    [
        ("no, friday", at(27, 12)),
        ("no, at 7pm", at(22, 19)),
        ("actually 6pm", at(22, 18)),
        ("nee, freitag", at(27, 12)),
        ("nein, um 18 Uhr", at(22, 18)),
        ("no, el viernes", at(27, 12)),
        ("non, vendredi", at(27, 12)),
        ("no, venerdì", at(27, 12)),
        ("não, sexta", at(27, 12)),
        ("нет, в пятницу", at(27, 12)),
        ("a las 6 de la tarde", at(22, 18)),
        ("äh um 18:30", at(22, 18, 30)),
        ("opa, às 18h", at(22, 18)),
        ("no, not friday", None),
        ("no", None),
        ("no thanks", None),
        ("no, call Ana tomorrow", None),
    ],
)
def test_a_no_with_a_time_puts_right_what_was_just_set(text, due_at_ms):
    """Right behind a reminder that was set or moved it is that one's time; what says more is a message of its own."""
    spoken = new_state("s", "c").model_copy(update={"resolved_entities": {"that task": "j_dentist"}})
    language = LANGUAGES.detect(text).code
    found = answer(text, state=spoken, last=turn("…", REMINDS).model_copy(update={"language": language}), tools=True)

    assert found == due_at_ms or changes(found) == {"j_dentist": ("scheduled", due_at_ms)}
    assert answer(text, state=spoken, last=turn("hello", "greet"), tools=True) is None


@pytest.mark.parametrize(
    "text",
    [
        "every monday", "make it every monday", "no, every monday", "actually every monday", "nein, jeden Montag",
        "no, cada lunes", "non, chaque lundi", "no, ogni lunedì", "não, toda segunda", "нет, каждый понедельник",
    ],
)  # fmt: skip
def test_how_often_is_put_right_right_behind_a_reminder(text):
    """It comes so from then on; the first Monday alone was set, and what came every day went on so."""
    spoken = new_state("s", "c").model_copy(update={"resolved_entities": {"that task": "j_dentist"}})
    language = LANGUAGES.detect(text).code
    found = answer(text, state=spoken, last=turn("…", REMINDS).model_copy(update={"language": language}), tools=True)

    assert [(e.params["job_id"], e.params["repeats"][:5]) for e in found.effects] == [("j_dentist", "week@")]


def test_it_is_no_reminder_where_an_open_matter_was_spoken_of():
    """Nobody's reminder is cancelled because a task is called off; a move is asked about, or is of its own day."""
    state = open_loop(new_state("s", "c"), "paint the fence", turn_id="t0", at_ms=1)
    state = state.model_copy(update={"resolved_entities": {"that task": "t0.1"}})

    assert answer("cancel it", [DENTIST], state=state) is None
    assert answer("move it to 6pm", [DENTIST], state=state).action_name == WHICH

    dated = tuple(loop.model_copy(update={"due_at_ms": at(22, 12)}) for loop in state.open_loops)
    assert answer("move it to 6pm", [DENTIST], state=state.model_copy(update={"open_loops": dated})) is None


@pytest.mark.parametrize(
    "text",
    [
        "cancel the dentist",
        "stop the dentist ones",
        "forget about the dentist",
        "don't remind me about the dentist",
        "delete the dentist reminder",
    ],
)
def test_a_reminder_is_cancelled_by_its_name(text):
    """The vet stays."""
    found = answer(text)

    assert found.action_name == CANCELS
    assert changes(found) == {"j_dentist": ("cancelled", at(22, 12))}


@pytest.mark.parametrize(
    "text",
    [
        "cancel my gym membership",
        "I need to move to Berlin",
        "change the world for good",
        "the first one",
        "move on",
        "forget about the milk",
        "can you set the table?",
        "cancel it",
    ],
)
def test_what_is_not_about_reminders_is_left_alone(text):
    """Other things are cancelled and moved too."""
    assert answer(text) is None


def test_reminders_are_listed_in_words():
    """With when and how often."""
    found = answer("which reminders do I have?")

    assert found.action_name == LISTS_REMINDERS
    assert (
        found.text == "Coming up:\n1. call the dentist (tomorrow at 12:00)\n2. book the vet (today at 17:00, every day)"
    )


@pytest.mark.parametrize(
    ("text", "rule", "due_at_ms", "title"),
    [
        ("remind me every Monday at 9 to water the plants", "week@09:00", at(23, 9), "water the plants"),
        ("remind me every day to stretch", "day@09:00", at(22, 9), "stretch"),
        ("every weekday at 7:30 remind me to take pills", "weekday@07:30", at(23, 7, 30), "take pills"),
        ("remind me on Mondays at 8 to call mom", "week@08:00", at(23, 8), "call mom"),
        ("remind me every other week on Friday at 10 to pay rent", "2week@10:00", at(27, 10), "pay rent"),
        ("remind me every month on the 1st to pay rent", "month@09:00/1", at(1, 9, month=12), "pay rent"),
        ("erinnere mich jeden Montag um 9 an die Müllabfuhr", "week@09:00", at(23, 9), "Müllabfuhr"),
        ("Recuérdame cada lunes a las 9 regar las plantas", "week@09:00", at(23, 9), "regar las plantas"),
        ("rappelle-moi tous les lundis à 9h d'arroser les plantes", "week@09:00", at(23, 9), "arroser les plantes"),
        ("me lembre toda segunda às 9 de regar as plantas", "week@09:00", at(23, 9), "regar as plantas"),
        ("напомни каждый понедельник в 9 полить цветы", "week@09:00", at(23, 9), "полить цветы"),
        ("remind me every mon wed and fri at 7am to go to the gym", "week135@07:00", at(23, 7), "go to the gym"),
        ("gym tue thurs sunday 7am, remind me", "week247@07:00", at(22, 7), "gym"),
        ("remind me on tuesdays and thursdays to water the plants", "week24@09:00", at(24, 9), "water the plants"),
        ("remind me weekdays at 8:30 to take vitamins", "weekday@08:30", at(23, 8, 30), "take vitamins"),
        ("erinnere mich jeden Montag, Mittwoch und Freitag um 7 ans Training", "week135@07:00", at(23, 7), "Training"),
        ("recuérdame los lunes, miércoles y viernes a las 7 ir al gym", "week135@07:00", at(23, 7), "ir al gym"),
        ("rappelle-moi tous les mardis et jeudis à 7h d'aller nager", "week24@07:00", at(24, 7), "aller nager"),
        ("me lembra toda terça e quinta às 7 de ir à academia", "week24@07:00", at(24, 7), "ir à academia"),
        ("напоминай мне каждый вторник и четверг в 7 идти в зал", "week24@07:00", at(24, 7), "идти в зал"),
        ("ricordami ogni martedì e giovedì alle 7 di andare a nuoto", "week24@07:00", at(24, 7), "andare a nuoto"),
    ],
)
def test_reminders_that_come_again_are_set_in_words(text, rule, due_at_ms, title):
    """In seven languages: the rule, the first time, and what it is about, without a day of the rule."""
    found = answer(text, tools=True)
    made = found.effects[0].params

    assert (made["repeats"], made["due_at_ms"]) == (rule, due_at_ms)
    assert title in made["title"]
    assert " and " not in made["title"]


@pytest.mark.parametrize(
    ("text", "title", "due_at_ms", "rule"),
    [
        ("and every night at 10 for the statin", "the statin", at(21, 22), "day@22:00"),
        ("and at 9pm to lock the door", "lock the door", at(21, 21), ""),
        ("und um 21 Uhr die Tür abschließen", "die Tür abschließen", at(21, 21), ""),
        ("y a las 21:00 cerrar la puerta", "cerrar la puerta", at(21, 21), ""),
        ("et à 21h de fermer la porte", "fermer la porte", at(21, 21), ""),
        ("e às 21h de fechar a porta", "fechar a porta", at(21, 21), ""),
        ("и в 21:00 закрыть дверь", "закрыть дверь", at(21, 21), ""),
        ("e alle 21:00 di chiudere la porta", "chiudere la porta", at(21, 21), ""),
    ],
)
def test_one_more_is_set_behind_a_reminder(text, title, due_at_ms, rule):
    """It was "noted", and nothing rang."""
    last = turn("…", REMINDS)
    made = answer(text, last=last).effects[0].params

    assert (made["title"], made["due_at_ms"], made["repeats"]) == (title, due_at_ms, rule)
    assert answer(text, last=turn("…", MOVES)).effects[0].params["title"] == title
    assert answer(text) is None


@pytest.mark.parametrize(
    "text", ["and at 9 i swim", "and the dentist is at 5", "and at 5 my sister comes", "at 9 fish"]
)
def test_what_is_only_told_behind_a_reminder_is_no_reminder(text):
    """A habit, a date and a visit are noted by whoever answers next."""
    assert answer(text, last=turn("…", REMINDS)) is None


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("can u also remind me tomorrow at 9 to ring mum", "ring mum"),
        ("pls remind me to ring mum tmrw at 9", "ring mum"),
        ("oh and remind me tomorrow at 9 to ring mum", "ring mum"),
        ("actually can you remind me about the vet tomorrow at 9", "the vet"),
        ("dont let me forget to pay rent tomorrow at 9", "pay rent"),
        ("kannst du mich auch morgen um 9 daran erinnern, den Müll rauszubringen", "Müll rauszubringen"),
        ("ach ja und erinner mich morgen um 9, die Kinder abzuholen", "die Kinder abzuholen"),
        ("oye, puedes también recordarme mañana a las 9 llamar a Ana", "llamar a Ana"),
        ("tu peux aussi me rappeler demain à 9h d'appeler Anne", "appeler Anne"),
        ("ah e me lembra amanhã às 9 de ligar para Ana", "ligar para Ana"),
        ("а ещё напомни мне завтра в 9 позвонить Ане", "позвонить Ане"),
        ("ah e puoi anche ricordarmi domani alle 9 di chiamare Anna", "chiamare Anna"),
    ],
)
def test_what_leads_a_request_is_no_part_of_the_matter(text, title):
    """What was asked with "can u also remind me …" was on the list as "can u also to …"."""
    made = answer(text).effects[0].params

    assert (made["title"], made["due_at_ms"]) == (title, at(22, 9))


EVERY = {
    "en": ("remind me {} to call Ana", ("every hour|every day at 9|every other day at 9|every weekday at 9|every "
           "Monday at 9|every other week at 9|every month at 9|every year at 9")),
    "de": ("erinnere mich {} an Ana", ("jede Stunde|jeden Tag um 9|jeden zweiten Tag um 9|an jedem Werktag um 9|jeden "
           "Montag um 9|alle zwei Wochen um 9|jeden Monat um 9|jedes Jahr um 9")),
    "es": ("recuérdame {} llamar a Ana", ("cada hora|cada día a las 9|cada dos días a las 9|cada día laborable a las 9|"
           "cada lunes a las 9|cada dos semanas a las 9|cada mes a las 9|cada año a las 9")),
    "fr": ("rappelle-moi {} d'appeler Ana", ("chaque heure|chaque jour à 9h|tous les deux jours à 9h|chaque jour "
           "ouvrable à 9h|chaque lundi à 9h|toutes les deux semaines à 9h|chaque mois à 9h|chaque année à 9h")),
    "it": ("ricordami {} di chiamare Ana", ("ogni ora|ogni giorno alle 9|ogni due giorni alle 9|ogni giorno feriale "
           "alle 9|ogni lunedì alle 9|ogni due settimane alle 9|ogni mese alle 9|ogni anno alle 9")),
    "pt": ("lembra-me {} de ligar à Ana", ("a cada hora|todo dia às 9|dia sim, dia não às 9|em dias úteis às 9|toda "
           "segunda às 9|a cada duas semanas às 9|todo mês às 9|todo ano às 9")),
    "ru": ("напоминай мне {} позвонить Ане", ("каждый час|каждый день в 9|через день в 9|по будням в 9|каждый "
           "понедельник в 9|раз в две недели в 9|каждый месяц в 9|каждый год в 9")),
}  # fmt: skip
KINDS = ("hour", "day", "2day", "weekday", "week", "2week", "month", "year")


@pytest.mark.parametrize("number", range(len(KINDS)))
@pytest.mark.parametrize("code", CODES)
def test_how_often_a_reminder_comes_is_said_in_the_language_of_the_person(code, number):
    """When it is set and where it is listed, of every kind, and never in English."""
    frame, often = EVERY[code]
    found = answer(frame.format(often.split("|")[number]))
    own, english = words_for(code).say(KINDS[number]), words_for("en").say(KINDS[number])
    with speaking(code):
        listed = reminder_list("", [reminder("j", "Ana", at(23, 9), f"{KINDS[number]}@09:00")], NOW_MS, "UTC").text

    assert (own in found.text, own in listed) == (True, True)
    assert code == "en" or english not in found.text + listed


def test_the_days_on_which_a_reminder_comes_are_named():
    """By their short names, in the language of the person."""
    assert answer("remind me every mon, wed and fri at 7 to run").text.startswith(
        "I'll remind you every Mon, Wed, Fri,"
    )
    assert words_for("ru").every("week135") == "по пн, ср, пт"


def test_the_next_one_is_made_with_the_delivery():
    """The same rule, at the next time that is still to come; made once; none for a reminder that comes once."""
    late = at(24, 20)
    again = next_reminder(VET, late)

    assert (again.params["due_at_ms"], again.params["repeats"]) == (at(25, 17), "day@17:00")
    assert again.params["job_id"] == job_id_of(f"j_vet:{VET.due_at_ms}")
    assert next_reminder(DENTIST, late) is None


@pytest.mark.parametrize(
    ("rule", "due", "now", "expected"),
    [
        ("week@09:00", at(23, 9), at(23, 9), at(30, 9)),
        ("2week@09:00", at(9, 9), at(9, 9), at(23, 9)),
        ("weekday@09:00", at(20, 9), at(20, 9), at(23, 9)),
        ("hour@00:15", at(21, 10), at(21, 12, 30), at(21, 13)),
        ("month@09:00/31", at(30, 9), at(30, 9), at(31, 9, month=12)),
        ("week135@09:00", at(23, 9), at(23, 9), at(25, 9)),
        ("week135@09:00", at(27, 9), at(28, 12), at(30, 9)),
        ("nonsense", at(30, 9), at(30, 9), None),
    ],
)
def test_when_it_comes_again(rule, due, now, expected):
    """By the clock of the person; the last day of a short month is no new rule."""
    assert next_at(rule, due, now, "UTC") == expected


def test_it_comes_at_the_same_hour_over_a_change_of_the_clock():
    """Nine o'clock stays nine o'clock when summer time ends."""
    due = int(datetime(2026, 10, 24, 7, 0, tzinfo=UTC).timestamp() * 1000)

    assert rule_of("day", due, "Europe/Berlin") == "day@09:00"
    assert next_at("day@09:00", due, due, "Europe/Berlin") == due + 25 * HOUR


@pytest.mark.parametrize(
    ("rule", "due", "now", "expected"),
    [
        ("day@02:30", (2027, 3, 27, 1, 30), (2027, 3, 27, 1, 30), (2027, 3, 28, 1, 30)),
        ("day@02:30", (2027, 3, 28, 1, 30), (2027, 3, 28, 1, 30), (2027, 3, 29, 0, 30)),
        ("day@02:30", (2027, 10, 30, 0, 30), (2027, 10, 30, 0, 30), (2027, 10, 31, 0, 30)),
        ("day@02:30", (2027, 10, 31, 0, 30), (2027, 10, 31, 0, 30), (2027, 11, 1, 1, 30)),
        ("day@02:30", (2027, 10, 31, 0, 30), (2027, 10, 31, 1, 10), (2027, 11, 1, 1, 30)),
        ("day@02:30", (2027, 10, 30, 0, 30), (2027, 10, 31, 1, 10), (2027, 11, 1, 1, 30)),
        ("month@02:30/31", (2027, 8, 31, 0, 30), (2027, 10, 31, 1, 10), (2027, 11, 30, 1, 30)),
        ("hour@00:30", (2027, 10, 31, 0, 30), (2027, 10, 31, 0, 30), (2027, 10, 31, 1, 30)),
    ],
)
def test_an_hour_that_is_left_out_or_comes_twice_is_kept_once(rule, due, now, expected):
    """When summer time begins it comes an hour later, when it ends once, also when the first of the two was missed."""
    due_ms, now_ms, expected_ms = (int(datetime(*e, tzinfo=UTC).timestamp() * 1000) for e in (due, now, expected))

    assert next_at(rule, due_ms, now_ms, "Europe/Berlin") == expected_ms


@pytest.mark.parametrize(
    "text",
    ["What is the weather like?", "My sister lives in Lisbon.", "never mind", "thanks", "I need to buy milk.", "hello"],
)
def test_a_question_back_never_swallows_the_next_sentence(text):
    """Asked "What about?" or "When?", whoever goes on with something else is heard."""
    assert answer(text, [], last=turn("remind me tomorrow at 9", ASK_WHAT)) is None
    assert answer(text, [], last=turn("remind me to call Ana", ASK_WHEN)) is None
    assert answer("My flight leaves on Friday at 7", [], last=turn("remind me to call Ana", ASK_WHEN)) is None


def test_the_answer_to_a_question_back_sets_the_reminder():
    """A time, or a matter."""
    assert (
        answer("tomorrow at 9", [], last=turn("remind me to call Ana", ASK_WHEN)).effects[0].params["title"]
        == "call Ana"
    )
    assert (
        answer("call Ana", [], last=turn("remind me tomorrow at 9", ASK_WHAT)).effects[0].params["title"] == "call Ana"
    )


@pytest.mark.parametrize("code", CODES)
def test_every_language_has_every_sentence(code):
    """The same sentences with the same blanks as the English ones."""
    english, words = words_for("en").says, words_for(code).says

    assert set(words) == set(english)
    for key, sentence in english.items():
        assert sorted(_blanks(words[key])) == sorted(_blanks(sentence)), key


def _blanks(sentence):
    return [part.split("}")[0] for part in sentence.split("{")[1:]]


@pytest.mark.parametrize(
    ("text", "title", "meant"),
    [
        ("olvida a Tom", "tomar pastillas", False), ("olvida a tom", "tomar pastillas", False),
        ("olvida a Marco", "marcar una cita", False), ("olvida a Marco", "llamar a Marco", True),
        ("forget about tom", "buy tomatoes", False), ("forget about Tom", "call Tom", True),
        ("oublie Marc", "marcher une heure", False), ("vergiss Tom", "Tomaten kaufen", False),
        ("vergiss die Tabletten", "Tablette nehmen", True), ("cancel the dogs", "walk the dog", True),
        ("забудь про Тома", "позвонить Тому", True), ("esquece o Marco", "marcar consulta", False),
        ("dimentica Marco", "marcare i libri", False),
    ],
)  # fmt: skip
def test_a_name_means_no_longer_word_that_begins_with_it(text, title, meant):
    """It is called off by its own name alone; other words are known in all their forms."""
    said = answer(text, [reminder("j_1", title, at(22, 12))])

    assert (said is not None and said.action_name == CANCELS) == meant


@pytest.mark.parametrize(
    ("text", "rule", "due_at_ms"),
    [
        ("move the dentist to every monday", "week@12:00", at(23, 12)),
        ("move the dentist to every wed and fri at 7", "week35@07:00", at(25, 7)),
        ("move the dentist to wed & fri", "week35@12:00", at(25, 12)),
        ("move the dentist to every day", "day@12:00", at(22, 12)),
        ("verschieb den dentist auf jeden Montag", "week@12:00", at(23, 12)),
        ("cambia el dentist a todos los lunes", "week@12:00", at(23, 12)),
        ("décale le dentist à tous les lundis", "week@12:00", at(23, 12)),
        ("muda o dentist para toda segunda", "week@12:00", at(23, 12)),
        ("перенеси dentist на каждый понедельник", "week@12:00", at(23, 12)),
    ],
)
def test_what_is_moved_to_every_monday_comes_again(text, rule, due_at_ms):
    """The first Monday alone was set, and what came daily went on from a day that was passed over."""
    [effect] = answer(text).effects

    assert (effect.params["job_id"], effect.params["repeats"]) == ("j_dentist", rule)
    assert effect.params["due_at_ms"] == due_at_ms


@pytest.mark.parametrize(
    ("text", "title", "rule"),
    [
        ("gym wed fri, remind me: bring shoes", "gym: bring shoes", "week35@09:00"),
        ("remind me wed & fri at 7 to stretch", "stretch", "week35@07:00"),
        ("remind me every wed and fri at 7: bring shoes", "bring shoes", "week35@07:00"),
        ("erinner mich mittwochs und freitags um 7 an Sport", "Sport", "week35@07:00"),
        ("I swim every monday. Remind me tomorrow at 9 to buy goggles", "buy goggles", ""),
    ],
)
def test_days_beside_an_order_are_a_series_and_those_of_another_sentence_are_none(text, title, rule):
    """Two days that are named with "remind me" are meant week by week; a habit beside it repeats nothing."""
    [effect] = answer(text, ()).effects

    assert (effect.params["title"], effect.params["repeats"]) == (title, rule)


def test_a_series_that_was_missed_is_one_line():
    """What rang and what comes next stand on one line; "the first one" is both, and done is what rang."""
    rang = reminder("j_pills", "take pills", at(21, 9), status="delivered")
    coming = reminder(next_id_of(rang), "take pills", at(22, 9), "day@09:00")
    listed = reminder_list("Coming up:", [rang, coming, DENTIST], NOW_MS, "UTC")

    assert (
        listed.text
        == "Coming up:\n1. take pills (tomorrow at 09:00, every day)\n2. call the dentist (tomorrow at 12:00)"
    )
    assert [button.payload["job_id"] for button in listed.buttons[0]] == ["j_pills", "j_pills", coming.job_id]
    assert answer("which reminders do i have?", (rang, coming)).text.count("take pills") == 1

    state = show(new_state("s", "c"), listed_reminders([rang, coming, DENTIST]), NOW_MS)
    assert set(changes(answer("cancel 1", (rang, coming, DENTIST), state=state))) == {"j_pills", coming.job_id}


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "no 3h"), ("de", "nein, 3 Stunden"), ("es", "no, 3 horas"), ("fr", "non, dans 3 heures"),
        ("pt", "não, em 3 horas"), ("ru", "нет, 3 часа"), ("it", "no, 3 ore"),
    ],
)  # fmt: skip
def test_how_long_alone_puts_right_what_was_just_set(code, text):
    """Behind a reminder in two hours "no, 3h" is in three; it was asked which time is meant."""
    spoken = new_state("s", "c").model_copy(update={"resolved_entities": {"that task": "j_dentist"}})
    last = turn("…", REMINDS).model_copy(update={"language": code})

    assert changes(answer(text, state=spoken, last=last)) == {"j_dentist": ("scheduled", NOW_MS + 3 * HOUR)}
