"""A reminder that rang is called done in one's own words, and what set it moves and ends with it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from test_rearrange import CODES, DENTIST, HOUR, LANGUAGES, NOW_MS, VET, answer, changes, reminder, turn

from bot import replies
from bot.answers.rearrange import cancelled, finished, moved
from bot.features.overview import ChatStatus, status_text
from bot.reminders.repeats import rule_of
from bot.reminders.rules import reminder_list
from bot.reminders.words import words_for
from memory.language.due_dates import find_due
from memory.notes.rules import read_by_rules
from memory.notes.types import ReadingRequest
from memory.testing import START_MS, make_turn
from memory.types import FINISHES, REMINDS

RANG = reminder("j_rang", "call the dentist", NOW_MS - 30_000, status="delivered")
PLANTS = reminder("j_plants", "water the plants", NOW_MS - 20_000, status="delivered")
BARE = ["done", "Done!", "erledigt", "hecho", "c'est fait", "fatto", "feito", "сделано"]
NAMED = {
    "en": ("call the dentist", "I called the dentist", "called the dentist"),
    "de": ("den Zahnarzt anrufen", "Ich habe den Zahnarzt angerufen", "Zahnarzt angerufen"),
    "es": ("llamar al dentista", "Ya llamé al dentista", "llamé al dentista"),
    "fr": ("appeler le dentiste", "J'ai appelé le dentiste", "dentiste appelé"),
    "it": ("chiamare il dentista", "Ho chiamato il dentista", "chiamato il dentista"),
    "pt": ("ligar para o dentista", "Liguei para o dentista", "já liguei para o dentista"),
    "ru": ("позвонить стоматологу", "Я позвонила стоматологу", "стоматологу позвонил"),
}
SET = {
    "en": "remind me tomorrow at 9 to call the dentist", "de": "erinnere mich morgen um 9 an den Zahnarzt",
    "es": "recuérdame mañana a las 9 llamar al dentista", "fr": "rappelle-moi demain à 9h d'appeler le dentiste",
    "it": "ricordami domani alle 9 di chiamare il dentista", "pt": "lembre-me amanhã às 9 de ligar para o dentista",
    "ru": "напомни мне завтра в 9 позвонить стоматологу",
}  # fmt: skip


@pytest.mark.parametrize("tools", [False, True])
@pytest.mark.parametrize("text", BARE)
def test_done_means_what_rang_since_the_last_message(text: str, *, tools: bool):
    """The word alone ends that reminder and nothing else; with a model, too."""
    found = answer(text, (RANG, VET), tools=tools, last=turn("hi", None))

    assert changes(found) == {"j_rang": ("done", RANG.due_at_ms)}
    assert found.action_name == FINISHES
    assert "call the dentist" in found.text


@pytest.mark.parametrize("code", NAMED)
def test_a_report_ends_the_reminder_that_it_names(code: str):
    """Hours after it rang and with another one beside it; an open matter of that name ends by the same words."""
    title, *reports = NAMED[code]
    rang = replace(RANG, title=title, due_at_ms=NOW_MS - 10 * HOUR)
    for text in reports:
        found = answer(text, (rang, PLANTS), last=turn("hi", None))
        assert changes(found) == {"j_rang": ("done", rang.due_at_ms)}, text
        assert found.action_name == "done"


def test_of_several_that_rang_it_is_asked_which():
    """The word after two of them is not taken for either."""
    last = turn("done", None)
    found = answer("done", (RANG, PLANTS), last=turn("hi", None))

    assert found.effects == ()
    assert "1. call the dentist" in found.text
    chosen = answer("the plants", (RANG, PLANTS), last=replace_turn(last, found.action_name))
    assert changes(chosen) == {"j_plants": ("done", PLANTS.due_at_ms)}


@pytest.mark.parametrize(
    "text", ["done", "I haven't called the dentist yet", "did I call the dentist?", "I will call the dentist"]
)
def test_what_has_not_rung_or_is_not_done_stays(text: str):
    """A reminder that is to come is not ended, neither is one by a promise, a question or a denial."""
    reminders = (DENTIST,) if text == "done" else (RANG,)
    found = answer(text, reminders, last=turn("hi", None))

    assert found is None or not found.effects


def replace_turn(one, action_name):
    return one.model_copy(update={"action_name": action_name})


def told(seq, user_text, reply, code):
    one = make_turn(seq=seq, user_text=user_text, assistant_text=reply.text)
    return one.model_copy(
        update={
            "language": code, "action_name": reply.action_name, "authored": reply.authored,
            "created_at_ms": START_MS + seq * 60_000,
        }
    )  # fmt: skip


class Here:
    """Where something is said."""

    now_ms, time_zone, turn_id = START_MS, "UTC", ""


def noted(code, change):
    """Return what is open once a reminder was set and then changed."""
    words, due = words_for(code), START_MS + 20 * HOUR
    title = NAMED[code][0] if code != "de" else "den Zahnarzt"
    one = replace(DENTIST, title=title, due_at_ms=due)
    first = told(1, SET[code], finished([one], Here(), words, named=False), code).model_copy(
        update={"action_name": REMINDS}
    )
    turns = (first, told(2, "…", change(one, words), code)) if change else (first,)
    request = ReadingRequest(
        session_id=turns[0].session_id, conversation_id=turns[0].conversation_id, turns=turns, language=code,
        now_ms=START_MS + HOUR,
    )  # fmt: skip
    return [matter for matter in read_by_rules(request, LANGUAGES).matters if matter.status == "open"]


@pytest.mark.parametrize("code", CODES)
def test_what_set_a_reminder_has_its_new_time(code: str):
    """What a return offers is not at the old hour; the words of the old time are gone."""
    to_ms = START_MS + 5 * 24 * HOUR
    to_ms -= to_ms % 60_000
    when = words_for(code).when(to_ms, START_MS, "UTC")

    def move(one, words):
        text, authored = (words.say("moved", title=title, when=when) for title in (one.title, "…"))
        return replace(moved([one], "8pm", Here(), LANGUAGES.get("en")), text=text, authored=authored)

    before, after = noted(code, None), noted(code, move)
    assert [matter.due_at_ms for matter in after] == [to_ms]
    assert len(before) == 1
    assert "9" not in after[0].text


@pytest.mark.parametrize("code", CODES)
def test_what_set_a_reminder_ends_with_it(code: str):
    """Cancelled or called done, nothing of it is open."""
    assert noted(code, lambda one, words: cancelled([one], Here(), words)) == []
    assert noted(code, lambda one, words: finished([one], Here(), words, named=False)) == []


@pytest.mark.parametrize("code", CODES)
def test_the_times_that_are_said_of_reminders_are_understood(code: str):
    """Each day of a year as it is written in a confirmation is read as that day."""
    words, wrong = words_for(code), []
    start = int(datetime(2026, 11, 21, 6, 0, tzinfo=UTC).timestamp() * 1000)
    for day in range(1, 360, 5):
        due = start + day * 24 * HOUR
        found = find_due(words.when(due, start, "UTC").lower(), start, "UTC", LANGUAGES.get(code))
        if found is None or found.due_at_ms != due:
            wrong.append(words.when(due, start, "UTC"))
    assert not wrong


def test_how_often_it_comes_is_said_in_the_language_that_is_spoken():
    """A list of reminders in German holds no "every week"."""
    weekly = replace(PLANTS, repeats=rule_of("week", PLANTS.due_at_ms or 0, "UTC"))
    with replies.speaking("de"):
        text = reminder_list("Das steht an:", [weekly], NOW_MS, "UTC").text

    assert "jede Woche" in text


def test_status_names_what_rang_and_was_not_called_done():
    """/reminders lists it as due, so /status does not say that there is none."""
    text = status_text(ChatStatus("", 1, (), 0, (RANG, PLANTS)), NOW_MS, "UTC")

    assert "Not called done yet: call the dentist, water the plants (/reminders)" in text
    assert "Reminders: none" not in text
