"""[Undo] of a note, reminders changed by commands and in words, and what never becomes a matter."""

from __future__ import annotations

import pytest
from story import PERSON, bot_lines, bot_texts, reply, rows, shows, tap, tapped

pytestmark = pytest.mark.acceptance


@pytest.fixture
async def here(bot_here):
    """Start a concierge who lives in Berlin."""
    return await bot_here(CONTINUITY_MODEL="offline", CONTINUITY_TIMEZONE="Europe/Berlin")


async def test_undo_takes_back_the_note_above_it_and_no_other(api, model, here):
    """Of that one message, whatever was noted since; after a restart, and a second tap changes nothing."""
    dog = await reply(api, "My dog Rex is 4 years old.")
    await reply(api, "We decided to use Postgres for the database.")
    await reply(api, "I have to call the vet on Friday.")
    assert dog.buttons == (("Undo",),)
    await here.restart()

    await tap(api, "Undo", "I've taken that back", on=dog)
    listed = (await reply(api, "/memory")).text
    assert "Rex" not in listed
    assert "Postgres" in listed
    assert "Rex" not in (await reply(api, "How old is Rex?")).text.replace("“Rex”", "")
    assert "Postgres" in (await reply(api, "What did we decide about the database?")).text
    assert "call the vet" in (await reply(api, "/loops")).text


async def test_what_a_talk_ended_is_on_no_list(api, model, here):
    """“The first one is done”, said of what the concierge listed, leaves /loops and /status too."""
    await reply(api, "Ich muss bis Freitag die Steuererklärung abgeben")
    await reply(api, "Ich muss morgen den Tierarzt anrufen")
    await reply(api, "Was ist noch offen?")
    assert "Tierarzt" in (await reply(api, "das zweite ist erledigt")).text

    for command in ("/loops", "/status"):
        text = (await reply(api, command)).text
        assert "„Ich muss bis Freitag die Steuererklärung" in text
        assert "„Ich muss morgen den Tierarzt" not in text


async def test_what_was_taken_back_in_words_is_nowhere_noted(api, model, here):
    """“That's wrong” means the last note: it leaves /memory, /loops and /summary, also after a restart."""
    await reply(api, "My dog Rex is 4 years old.")
    await reply(api, "I have to call the zoo tomorrow.")
    assert "I've taken that back" in (await reply(api, "that's wrong")).text
    await here.restart()

    for command in ("/memory", "/loops", "/summary"):
        assert "zoo" not in (await reply(api, command)).text
    assert "Rex" in (await reply(api, "/memory")).text


@pytest.mark.parametrize(
    "story",
    [
        "I have to call the vet tomorrow > done with the vet > undo > Okay, call the vet is open again. > vet",
        "Ich muss den Tierarzt anrufen > Tierarzt erledigt > rückgängig > Okay, wieder offen: > Tierarzt",
        "I have to call the vet tomorrow > forget about the vet > undo > call the vet is open again. > vet",
        "I must call the vet on 9 March > sorry, the vet is on 11 March > that's wrong > vet, due Tue 9 Mar > 9 Mar",
        "remind me to call Ana at 5pm > cancel it > undo > I'll remind you today at 17:00 > call Ana",
        "remind me to call Ana at 5pm > move it to 6pm > undo > I'll remind you today at 17:00 > today at 17:00",
        "remind me every day at 5pm to call Ana > cancel it > undo > I'll remind you every day > today at 17:00",
        "remind me to call Ana at 5pm > cancel it > nvm keep it > I'll remind you today at 17:00 > call Ana",
        "I have to call the vet tomorrow > done with the vet > no wait, leave it on > vet is open again. > vet",
        "erinnere mich um 17 Uhr an Ana > lösch das > nein, lass es doch drin > heute um 17:00 > Ana",
        "recuérdame a las 17:00 llamar a Ana > cancélalo > no, espera, déjalo > hoy a las 17:00 > Ana",
        "rappelle-moi à 17h d'appeler Ana > annule-le > non, garde-le > 17:00 > Ana",
        "me lembre às 17:00 de ligar para Ana > cancela isso > não, deixa como estava > hoje às 17:00 > Ana",
        "напомни в 17:00 позвонить Ане > отмени это напоминание > нет, оставь > 17:00 > Ане",
        "ricordami alle 17:00 di chiamare Ana > cancellalo > no aspetta, lascialo > 17:00 > Ana",
        "I have to call the vet > remind me to call Ana at 5pm > undo > I won't remind you: call Ana > vet",
    ],
)
async def test_undo_takes_back_the_last_change_of_any_kind(api, model, here, story):
    """What was ended is open again, what was moved is where it was, and a reminder as it stood: in words and by tap."""
    before, changes, undo, told, listed = story.split(" > ")
    await reply(api, before)
    changed = await reply(api, changes)
    assert told in (await reply(api, undo)).text
    assert listed in (await reply(api, "/loops")).text

    assert (await reply(api, changes)).text == changed.text
    if ("Undo",) in changed.buttons:
        await reply(api, "thanks")
        again = next(line for line in reversed(bot_lines(api)) if ("Undo",) in line.buttons)
        await tap(api, "Undo", "I've taken that back", on=again)
        assert listed in (await reply(api, "/loops")).text


@pytest.mark.parametrize(
    ("asked", "corrected"),
    [
        ("remind me to call Ana at 5pm", "no, at 7pm"),
        ("remind me to call Ana at 5pm", "actually make it 7pm"),
        ("remind me to call Ana at 5pm", "sorry, I meant 7pm for Ana"),
        ("remind me to call Ana at 5pm", "snooze Ana till 7pm"),
        ("erinnere mich um 17 Uhr daran, Ana anzurufen", "nein, um 19 Uhr"),
    ],
)
async def test_one_correction_changes_a_reminder_and_its_line_on_the_list(api, model, here, asked, corrected):
    """What names neither is about what was just set: /reminders and /loops tell the same hour."""
    await reply(api, asked)
    assert "19:00" in (await reply(api, corrected)).text

    for command in ("/reminders", "/loops"):
        text = (await reply(api, command)).text
        assert "19:00" in text
        assert "17:00" not in text


@pytest.mark.parametrize("ended", ["I called Ana already", "the first one is done", "forget about the call to Ana"])
async def test_what_was_done_or_dropped_before_its_hour_does_not_ring(api, model, here, ended):
    """Its reminder ends with its line on the list; "undo" brings both back, and what comes every day goes on."""
    await reply(api, "remind me to call Ana at 5pm")
    assert "call Ana" in (await reply(api, "/loops")).text
    await reply(api, "every day at 8 remind me to water the plants")
    await reply(api, ended)
    for command in ("/reminders", "/loops"):
        assert "call Ana" not in (await reply(api, command)).text
    await reply(api, "I watered the plants")
    assert "water the plants" in (await reply(api, "/reminders")).text

    await reply(api, "undo")
    await reply(api, "undo")
    assert "call Ana" in (await reply(api, "/reminders")).text


@pytest.mark.parametrize(
    "story",
    [
        ("remind me every day at 8 to take the statin", "i no longer take the statin", "The reminder is stopped"),
        ("erinnere mich jeden Tag um 8 das Statin zu nehmen", "ich nehme das Statin nicht mehr", "kommt nicht mehr"),
        ("rappelle-moi tous les jours à 8h de prendre la statine", "je ne prends plus la statine", "arrêté"),
        ("recuérdame cada día a las 8 tomar la estatina", "ya no tomo la estatina", "detenido"),
        ("me lembra todo dia às 8 de tomar a estatina", "não tomo mais a estatina", "parado"),
        ("напоминай мне каждый день в 8 принимать статин", "больше не принимаю статин", "остановлено"),
    ],
)
async def test_what_somebody_does_no_longer_does_not_ring(api, model, here, story):
    """The answer says which reminder is stopped, and [Undo] brings it back; the others go on."""
    asked, said, stopped = story
    await reply(api, "remind me every day at 9 to water the plants")
    await reply(api, asked)
    answer = await reply(api, said)
    assert stopped in answer.text
    assert "statin" in answer.text.lower() or "статин" in answer.text
    listed = (await reply(api, "/reminders")).text
    assert "statin" not in listed.lower()
    assert "статин" not in listed
    assert "water the plants" in listed

    await tap(api, answer.buttons[0][0], "", on=answer)
    listed = (await reply(api, "/reminders")).text
    assert "statin" in listed.lower() or "статин" in listed


async def test_a_second_tap_on_undo_changes_nothing(api, model, here):
    """The button is used once."""
    noted = await reply(api, "My dog Rex is 4 years old.")
    data = api.view(4711).lines[-1]
    await tap(api, "Undo", "I've taken that back", on=noted)
    with pytest.raises(LookupError):
        api.people.presses(4711, "Undo", message_id=data.message_id)
    assert tapped(api) == "Done"


async def test_reminders_are_moved_repeated_and_cancelled_by_commands(api, model, here):
    """By the number on the list that was shown last, or by name; asked which when it is not clear."""
    await reply(api, "Remind me tomorrow at 9 to call Ana")
    await reply(api, "Remind me tomorrow at 10 to water the plants")
    assert "No reminder" in (await reply(api, "/cancel zebra")).text
    await reply(api, "/reminders")

    assert (await reply(api, "/move 1 to 6pm")).text == "Moved. I'll remind you tomorrow at 18:00: call Ana"
    assert "every week, first on Mon 8 Mar at 09:00" in (await reply(api, "/repeat plants every Monday at 9")).text
    assert (await reply(api, "/cancel call Ana")).text == "Okay, I won't remind you: call Ana"
    assert (await reply(api, "/reminders")).text == (
        "Coming up:\n1. water the plants (on Mon 8 Mar at 09:00, every week)"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("every Monday at 9 water the plants", "on Mon 8 Mar at 09:00 (Europe/Berlin): water the plants"),
        ("Jeden Montag um 9 die Pflanzen gießen", "am Mo, 8. März, um 09:00 (Europe/Berlin): die Pflanzen gießen"),
        ("todos los lunes a las 9 regar las plantas", "el lun 8 de mar a las 09:00 (Europe/Berlin): regar las plantas"),
        ("tous les lundis à 9h arroser les plantes", "le lun. 8 mars à 09:00 (Europe/Berlin)\u00a0: arroser"),
        ("toda segunda às 9 regar as plantas", "seg, 8 de mar, às 09:00 (Europe/Berlin): regar as plantas"),
        ("каждый понедельник в 9 поливать цветы", "в пн, 8 марта, в 09:00 (Europe/Berlin): поливать цветы"),
    ],
)
async def test_a_routine_is_a_reminder_without_remind_me(api, model, here, words, said):
    """Told with a clock time and something to do; a habit that is only told is none."""
    assert said in (await reply(api, words)).text
    assert rows(here, "SELECT repeats FROM jobs") == [("week@09:00",)]


@pytest.mark.parametrize(
    ("words", "when"),
    [
        ("Remind me tomorrow at 9 to call Ana", "tomorrow at 09:00"),
        ("Erinnere mich morgen um 9 daran, Ana anzurufen", "morgen um 09:00"),
        ("Recuérdame mañana a las 9 llamar a Ana", "mañana a las 09:00"),
        ("Rappelle-moi demain à 9h d'appeler Ana", "demain à 09:00"),
        ("Me lembre amanhã às 9 de ligar para Ana", "amanhã às 09:00"),
        ("Напомни мне завтра в 9 позвонить Ане", "завтра в 09:00"),
    ],
)
async def test_tomorrow_is_once(api, model, here, words, when):
    """No word for tomorrow makes a reminder come again and again."""
    assert when in (await reply(api, words)).text
    assert rows(here, "SELECT repeats FROM jobs") == [("",)]


async def test_asking_back_swallows_nothing(api, model, here):
    """After "When?" another sentence is what it says; the question waits no more and is no open matter."""
    for ask, said, noted in (
        ("remind me to pay the rent", "I love pizza", "you love pizza"),
        ("Recuérdame pagar el alquiler", "Me encanta la pizza", "Me encanta la pizza"),
        ("Erinnere mich daran, die Miete zu zahlen", "Ich liebe Pizza", "Ich liebe Pizza"),
    ):
        await reply(api, ask)
        text = (await reply(api, said)).text
        assert noted in text
        assert "\n" not in text
    assert "remind" not in (await reply(api, "/loops")).text.replace("remind me to pay the rent", "")


async def test_what_the_bot_says_of_reminders_is_no_matter(api, model, here):
    """Set, moved, repeated, cancelled: none of its sentences shows in /loops, /memory or the preview."""
    await reply(api, "Remind me tomorrow at 9 to call Ana")
    await reply(api, "move it to 6pm")
    await reply(api, "every Monday at 9")
    await reply(api, "cancel it")
    await reply(api, "I have to renew my passport by 12 March")

    for command in ("/loops", "/memory", "/summary"):
        text = (await reply(api, command)).text
        assert "passport" in text
        assert "I'll remind you" not in text
        assert "I won't" not in text
        assert "6pm" not in text


async def test_snoozing_keeps_the_day_of_the_matter(api, model, here):
    """[Snooze] puts off being told of it; when it is due stays what the person said."""
    await reply(api, "I have to renew my passport by 12 March")
    await reply(api, "/loops")
    line = (await tap(api, "1 Snooze", "snoozed, back")).text.splitlines()[1]

    assert "due on Fri 12 Mar" in line
    assert "snoozed, back tomorrow at 09:00" in line
    await here.passes(hours=24)
    after = (await reply(api, "/loops")).text
    assert "due on Fri 12 Mar" in after
    assert "sleeps" not in after


async def test_the_greeting_names_what_matters_and_no_topic_words(api, model, here):
    """What is carried forward, and “where were we?”, in the person's own words; a hello does not tell it again."""
    await reply(api, "I still have to send the harbour report to Anna by Friday.")
    assert "“I still have to send the harbour report to Anna by Friday”" in (await reply(api, "where were we?")).text
    await here.passes(hours=23)
    api.people.says(4711, "hello")
    await shows(api, "carry forward this context")
    await tap(api, "Continue")
    carried = (await shows(api, "Carrying this forward")).text
    assert "harbour report" in carried
    await shows(api, "Hello")
    assert "measurements" not in " ".join(bot_texts(api))


async def test_a_message_that_was_edited_and_answered_again_takes_its_first_notes_along(api, model, here):
    """The notes are those of the new words alone, in every list and after a restart; other notes stay."""
    await reply(api, "We decided to use Postgres for the database.")
    said = api.people.says(PERSON, "I have to call the vet on Friday about Rex.")
    await shows(api, "call the vet")
    api.people.edits(PERSON, said.message_id, "I have to call the groomer on Monday about Rex.")
    edited = await shows(api, "changed a message")
    await tap(api, "Answer again", on=edited)
    await shows(api, "groomer")
    await here.restart()

    for command in ("/memory", "/loops"):
        text = (await reply(api, command)).text
        assert "groomer" in text
        assert "vet" not in text
    assert "Postgres" in (await reply(api, "/memory")).text
