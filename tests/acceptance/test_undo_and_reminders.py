"""[Undo] of what a message noted, and lists on which nothing is said twice or in somebody else's words."""

from __future__ import annotations

import pytest
from story import PERSON, ledger_of, noted, reply, shows, tap, tapped

from memory.ledger.types import NO_WORDS, Actor, Change

pytestmark = pytest.mark.acceptance


@pytest.fixture
async def here(bot_here):
    """Start a concierge who lives in Berlin."""
    return await bot_here(CONTINUITY_MODEL="offline", CONTINUITY_TIMEZONE="Europe/Berlin")


async def test_undo_takes_back_the_note_above_it_and_no_other(api, model, here):
    """Of that one message, whatever was noted since; after a restart, and a second tap changes nothing."""
    dog = await reply(api, "Remember that Rex is 4 years old.")
    await reply(api, "Remember that the database is Postgres.")
    await reply(api, "I have to call the vet on Friday.")
    assert dog.buttons == (("Undo",),)
    await here.restart()

    await tap(api, "Undo", "I've taken that back", on=dog)
    listed = (await reply(api, "/memory")).text
    assert "Rex" not in listed
    assert "Postgres" in listed
    assert "vet" in (await reply(api, "/loops")).text


async def test_a_second_tap_on_undo_changes_nothing(api, model, here):
    """The button is used once."""
    dog = await reply(api, "Remember that Rex is 4 years old.")
    await tap(api, "Undo", "I've taken that back", on=dog)
    with pytest.raises(LookupError):
        api.people.presses(PERSON, "Undo", message_id=dog.message_id)
    assert tapped(api) == "Done"


async def test_what_was_touched_since_is_shown_as_it_is(api, model, here):
    """A hand that came later wins: the line stays as that left it, and is shown."""
    dog = await reply(api, "Remember that Rex is 4 years old.")
    [note] = list(await ledger_of(here))
    change = Change(number=note.number, fields={"text": "Rex is 5"})
    await here.app.services.memory.change(note.conversation_id, [change], Actor("operator", here.clock.now_ms(), "x"))

    said = await tap(api, "Undo", "so I've left it: Rex is 5", on=dog)
    assert "taken" not in said.text
    assert "Rex is 5" in (await reply(api, "/memory")).text


async def test_after_forget_there_is_no_undo(api, model, here):
    """What was forgotten is not brought back by the button of the list on which it was forgotten."""
    dog = await reply(api, "Remember that Rex is 4 years old.")
    await reply(api, "/memory")
    await tap(api, "Forget 1", "Should I forget this note")
    await tap(api, "Yes, forget it", "I've checked|Only the messages")

    await tap(api, "Undo", on=dog)
    assert [note.text for note in await ledger_of(here)] == [NO_WORDS]
    assert "Rex" not in (await reply(api, "/memory")).text


async def test_snoozing_keeps_the_day_of_the_matter(api, model, here):
    """[Tomorrow] puts off being told of it; when it is due stays what the person said."""
    await reply(api, "/start")
    await noted(here, "task", "Renew the passport", due_at_ms=here.clock.now_ms() - 86_400_000)
    await reply(api, "/loops")
    shown = (await tap(api, "Tomorrow", "Put off until tomorrow")).text

    assert "Tomorrow\n1. Renew the passport (was due yesterday, put off)" in shown
    await here.passes(hours=24)
    after = (await reply(api, "/loops")).text
    assert "put off" not in after
    assert "Today\n1. Renew the passport (was due on " in after


async def test_a_message_that_was_edited_and_answered_again_takes_its_first_notes_along(api, model, here):
    """The notes are those of the new words alone, in every list and after a restart; other notes stay."""
    await reply(api, "Remember that the database is Postgres.")
    said = api.people.says(PERSON, "I have to call the vet on Friday.")
    await shows(api, "vet")
    api.people.edits(PERSON, said.message_id, "I have to call the groomer on Monday.")
    edited = await shows(api, "changed that one")
    assert "that message was changed" in (await reply(api, "/loops")).text
    await tap(api, "Answer again", on=edited)
    await shows(api, "groomer")
    await here.restart()

    listed = (await reply(api, "/loops")).text
    assert "groomer" in listed
    assert "vet" not in listed
    assert "Postgres" in (await reply(api, "/memory")).text
