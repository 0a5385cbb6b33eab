"""Commands, previews, buttons and reminders in the language of the person."""

from __future__ import annotations

import pytest
from story import PERSON, reply, shows, tap

pytestmark = pytest.mark.acceptance


@pytest.fixture
async def here(bot_here):
    """Start a concierge who lives in Berlin."""
    return await bot_here(CONTINUITY_MODEL="offline", CONTINUITY_TIMEZONE="Europe/Berlin")


async def test_who_writes_german_is_told_everything_in_german(api, model, here):
    """What they wrote last counts: commands, lists with their days, the question before something is forgotten."""
    await reply(api, "Ich muss bis Freitag die Steuererklärung abgeben")

    assert "Noch offen:" in (await reply(api, "/loops")).text
    assert "Fr, 5. März\n1. die Steuererklärung abgeben" in (await reply(api, "/loops")).text
    assert "Das kann ich:" in (await reply(api, "/help")).text
    assert "dort ist es gerade" in (await reply(api, "/timezone")).text
    assert ("Doch nicht",) in (await reply(api, "/forget")).buttons
    assert (
        "Soll ich deine letzte Nachricht"
        in (await tap(api, "Meine letzte Nachricht und deine Antwort", "Soll ich")).text
    )


async def test_one_letter_in_another_language_changes_nothing(api, model, here):
    """Somebody who writes English and has one letter drafted in German is still spoken to in English."""
    first = await reply(api, "Ich muss bis Freitag die Steuererklärung abgeben")
    assert first.buttons == (("Rückgängig",),)
    for text in ("I have to call the vet on Friday.", "We decided to meet on Monday.", "What is still open?"):
        await reply(api, text)
    await reply(api, "Sehr geehrte Frau Halden, bitte überweisen Sie den Betrag bis Freitag auf mein Konto")

    assert "Still open" in (await reply(api, "/loops")).text


async def test_before_the_first_word_the_phone_tells(api, model, here):
    """/start is answered in the language of the phone; somebody else's phone changes nothing for them."""
    api.people.world.user(PERSON, first_name="Jana", language_code="pt-BR")

    assert (await reply(api, "/start")).text.startswith("Olá, Jana!")


async def test_a_language_that_was_chosen_counts_more_than_what_is_written(api, model, here):
    """Chosen under /settings, shown at once, kept after a restart, and given back with [As I write]."""
    await reply(api, "I have to call the vet on Friday.")
    await reply(api, "/settings")
    await tap(api, "Language", "In which language")
    shown = await tap(api, "Русский", "Твой язык")
    assert "Твой язык: Русский" in shown.text
    await here.restart()
    assert "Ещё открыто" in (await reply(api, "/loops")).text

    await reply(api, "/settings")
    await tap(api, "Язык", "На каком языке")
    await tap(api, "Как я пишу", "Your language")
    assert "Still open" in (await reply(api, "/loops")).text


async def test_a_reminder_comes_in_the_language_of_its_person(api, model, here):
    """With its buttons; the process was restarted meanwhile."""
    await reply(api, "Recuérdame en 2 segundos llamar a Ana")
    await here.restart()

    assert ("Hecho", "En 1 h", "Mañana") in (await shows(api, "⏰ llamar a Ana")).buttons


async def test_telegram_offers_the_commands_in_every_language(api, model, here):
    """Each menu under its language code, the English one for everybody else."""
    await api.until(lambda: len(api.people.world.commands) >= 7)
    menus = {key.removeprefix("default").strip(":"): menu for key, menu in api.people.world.commands.items()}

    assert {"", "de", "es", "fr", "it", "pt", "ru"} <= set(menus)
    assert {command["command"]: command["description"] for command in menus["fr"]}["help"] == "ce que je sais faire"
    assert [command["command"] for command in menus["ru"]] == [command["command"] for command in menus[""]]
