"""Reminders so long before something that was told already: at its hour, or only that is asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_rearrange import LANGUAGES, NOW_MS, asking, at, turn

from bot.answers.remind_first import ASK_EVENT, ASK_WHEN, RemindFirst
from memory.notes.rules import read_by_rules
from memory.notes.types import Matter, ReadingRequest
from memory.testing import make_turn
from memory.types import REMINDS


def noted(text, due_at_ms, *, exact=True, turn_id="t0", said_at_ms=NOW_MS - 60_000, signs=()):
    return Matter(
        matter_id=f"{turn_id}.u0", kind="event", text=text, due_at_ms=due_at_ms, due_exact=exact, turn_ids=(turn_id,),
        said_at_ms=said_at_ms, signs=signs,
    )  # fmt: skip


def answer(text, matters, *, last=None, language="en", tools=False):
    ask = asking(text, last=last)
    ask = replace(ask, state=ask.state.model_copy(update={"language": language}))
    return RemindFirst(None, LANGUAGES, next_has_tools=tools).answer(ask, (), matters)


def set_at(found):
    [effect] = found.effects
    return effect.params["due_at_ms"], effect.params["title"]


GYM = [
    ("en", "gym at 6pm tomorrow", "remind me an hour before", "remind me 60 mins before the gym", "gym"),
    ("de", "morgen 18 uhr training", "erinner mich ne stunde vorher", "erinner mich 1h vor dem training", "training"),
    ("es", "gimnasio mañana a las 18", "recuérdamelo una hora antes", "recuérdame 1h antes del gimnasio", "gimnasio"),
    ("fr", "sport demain à 18h", "rappelle-moi une heure avant", "rappelle-moi 1h avant le sport", "sport"),
    ("pt", "academia amanhã às 18", "me lembra uma hora antes", "me lembra 1h antes da academia", "academia"),
    ("ru", "завтра в 18 тренировка", "напомни за час", "напомни за час до тренировки", "тренировка"),
    ("it", "domani alle 18 palestra", "ricordamelo un'ora prima", "ricordamelo 1h prima della palestra", "palestra"),
]


@pytest.mark.parametrize("tools", [False, True])
@pytest.mark.parametrize("case", GYM)
def test_it_rings_so_long_before_what_was_told(case, tools):
    """The hour is known from a message before, the last one or the one that the words name."""
    code, told, order, by_name, title = case
    matters = [noted(told, at(22, 18))]
    last = turn(told, "note").model_copy(update={"language": code})

    assert set_at(answer(order, matters, last=last, language=code, tools=tools)) == (at(22, 17), title)
    due_at_ms, named = set_at(answer(by_name, matters, language=code, tools=tools))
    assert due_at_ms == at(22, 17)
    assert named.rpartition(" ")[2][:4] == title[:4]


def test_half_an_hour_and_a_day_before():
    """A part of an hour counts, and a day before what has no hour."""
    gym, fair = noted("gym tomorrow at 6pm", at(22, 18)), noted("the fair on friday", at(27, 9), exact=False)

    assert set_at(answer("remind me half an hour before the gym", [gym]))[0] == at(22, 17, 30)
    assert set_at(answer("remind me the day before the fair", [fair]))[0] == at(26, 9)


def test_the_event_is_meant_and_not_a_reminder_of_it():
    """Of two that have the name, what takes place; one that is over is not meant."""
    event, order = noted("gym tomorrow at 6pm", at(22, 18)), noted("gym", at(22, 15), turn_id="t1", signs=("reminds",))
    over = noted("gym at 10", at(21, 10), turn_id="t2", said_at_ms=NOW_MS)

    assert set_at(answer("remind me an hour before the gym", [event, order, over]))[0] == at(22, 17)


@pytest.mark.parametrize(
    ("code", "told", "order", "question", "hour"),
    [
        ("en", "dentist on friday", "remind me an hour before", "At what time is it?", "at 10"),
        ("de", "Zahnarzt am Freitag", "erinner mich ne stunde vorher", "Um wie viel Uhr ist das?", "um 10"),
        ("es", "dentista el viernes", "recuérdamelo una hora antes", "¿A qué hora es?", "a las 10"),
        ("fr", "dentiste vendredi", "rappelle-moi une heure avant", "C'est à quelle heure\xa0?", "à 10h"),
        ("pt", "dentista na sexta", "me lembra uma hora antes", "A que horas é?", "às 10"),
        ("ru", "стоматолог в пятницу", "напомни за час", "Во сколько это будет?", "в 10"),
    ],
)
def test_of_a_day_without_an_hour_only_the_hour_is_asked_for(code, told, order, question, hour):
    """And the answer to it sets the reminder on that day."""
    matters = [noted(told, at(27, 9), exact=False)]
    last = turn(told, "note").model_copy(update={"language": code})
    asked = answer(order, matters, last=last, language=code)
    assert (asked.text.replace("\u202f", "\xa0"), asked.action_name) == (question, ASK_EVENT)

    back = turn(order, ASK_EVENT).model_copy(update={"language": code})
    assert set_at(answer(hour, matters, last=back, language=code))[0] == at(27, 9)


def test_of_what_nobody_knows_it_is_asked_when_that_is():
    """The answer is the time of the event; it had been taken for that of the reminder."""
    asked = answer("remind me an hour before the wedding", [])
    assert (asked.text, asked.action_name) == ("When is it?", ASK_EVENT)

    told = answer("5 december at 3pm", [], last=turn("remind me an hour before the wedding", ASK_EVENT))
    assert set_at(told) == (at(5, 14, month=12), "the wedding")


def test_what_is_too_near_asks_when():
    """An hour before what begins in half an hour is over."""
    assert answer("remind me an hour before the call", [noted("call at 12:30", at(21, 12, 30))]).action_name == ASK_WHEN


def test_the_order_itself_is_no_matter_and_nothing_leans_on_it():
    """The dentist was noted as a part of the order before it, and lost when the order came again."""
    texts = ("gym tomorrow at 6pm", "remind me an hour before", "also dentist friday", "remind me an hour before")
    actions = ("note", REMINDS, "note", ASK_EVENT)
    turns = tuple(
        make_turn(seq=n, user_text=text).model_copy(update={"action_name": action})
        for n, (text, action) in enumerate(zip(texts, actions, strict=True), 1)
    )
    request = ReadingRequest(
        session_id=turns[0].session_id, conversation_id=turns[0].conversation_id, turns=turns,
        now_ms=turns[-1].created_at_ms,
    )  # fmt: skip

    assert [matter.text for matter in read_by_rules(request, LANGUAGES).matters] == [texts[0], texts[2]]
