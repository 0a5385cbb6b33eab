"""A message that set a reminder is edited: the ring is moved and said, or it stays in doubt where people see it."""

from __future__ import annotations

import pytest
from loopback.model import ToolCall
from story import PERSON, bot_texts, ledger_of, noted, reply, rows, shows, tap

from memory.ledger import series

pytestmark = pytest.mark.acceptance
SAID = "please remind me at {} to call Ana"
STILL = "For now my notes are as before:\n• Call Ana (⏰ today at 15:00)\nTap “Answer again” and I'll put them right."


def model_of(answers: dict[str, list[ToolCall]], kept: list[dict]):
    """Return a model that makes these calls at words of the last message, and a keeper that answers this to edits."""

    def reply_to(messages):
        if "New turns:" in str(messages):
            return [ToolCall("keep", {"changes": kept if "[edited since" in str(messages) else []})]
        last = messages[-1]
        if last["role"] != "user":
            return "Okay."
        words = str(last["content"])
        return next((list(made) for said, made in answers.items() if said in words), "Okay.")

    return reply_to


def remind(hour: str, call_id: str = "c", **more) -> ToolCall:
    return ToolCall("remind", {"at": f"2027-03-01T{hour}", **more}, call_id)


def changing(**more) -> dict:
    return {"op": "change", "number": 1, "said": "to call Ana", "turns": [1]} | more


async def edited(api, said, text: str):
    api.people.edits(PERSON, said.message_id, text)
    return await shows(api, "changed that one")


async def rings(bot) -> list[tuple[str, str, bool]]:
    return [(note.text, note.rings_from[11:], note.doubtful) for note in await ledger_of(bot) if note.is_open]


@pytest.mark.parametrize(
    ("kept", "told", "after"),
    [
        (
            [changing(due="2027-03-01T16:00")],
            "I've put my notes right:\n• Call Ana (⏰ today at 16:00)",
            ("16:00", False),
        ),
        (
            [changing(text="Call Ana back")],
            "Call Ana back (⏰ today at 15:00, may be off: that message was changed)",
            ("15:00", True),
        ),
        ([], STILL, ("15:00", True)),
        (
            [changing(due="2027-03-01T15:00")],
            "My notes say now:\n• Call Ana (⏰ today at 15:00)",
            ("15:00", False),
        ),
    ],
    ids=["moved", "only its text", "nothing", "confirmed"],
)
async def test_a_keeper_moves_a_ring_in_sight_or_leaves_it_in_doubt(api, model, bot_here, kept, told, after):  # noqa: PLR0917 - asked for by name
    """A note that only rings is one of those that an edit changed: its day is when it rings."""
    bot = await bot_here(CONTINUITY_TIMEZONE="UTC")
    model.reply = model_of({"at 3": [remind("15:00", text="Call Ana")]}, kept)
    said = api.people.says(PERSON, SAID.format("3"))
    await shows(api, "Okay.")
    await edited(api, said, SAID.format("4"))
    await shows(api, told)
    now = "SELECT substr(rings_from, 12), doubtful FROM notes"
    await api.until(lambda: rows(bot, "SELECT 1 FROM model_readings") and rows(bot, now) == [after])
    listed = (await reply(api, "/reminders")).text
    assert ("that message was changed" in listed) == after[1]


@pytest.mark.parametrize("by_keeper", [True, False], ids=["the keeper moved it", "the answer moved it"])
async def test_an_offer_ends_with_the_notes_as_they_stand_once_an_answer_has_read_the_edit(
    api, model, bot_here, by_keeper
):
    """In the same message, with the new hour: that it was read tells nobody for when the reminder is set."""
    bot = await bot_here(CONTINUITY_TIMEZONE="UTC")
    answers = {"at 3": [remind("15:00", text="Call Ana")]}
    answers |= {} if by_keeper else {"the bank": [remind("16:00", "c2", number=1)]}
    kept = [changing(due="2027-03-01T16:00")] if by_keeper else []
    model.reply = model_of(answers, kept)
    said = api.people.says(PERSON, SAID.format("3"))
    await shows(api, "Okay.")
    await edited(api, said, SAID.format("4"))
    offer = await shows(api, "I've put my notes right" if by_keeper else STILL)
    await reply(api, "and the bank is done")

    after = await shows(api, "My notes say now:\n• Call Ana (⏰ today at 16:00)")
    assert (after.message_id, after.buttons) == (offer.message_id, ())
    assert await rings(bot) == [("Call Ana", "16:00", False)]


async def test_a_ring_that_cannot_be_taken_back_stays_in_doubt_until_it_is_set_anew(api, model, bot_here):
    """Another message changed the note: [Answer again] sets it by its words, and then nothing is in doubt."""
    bot = await bot_here(CONTINUITY_TIMEZONE="UTC")
    change = ToolCall("change", {"numbers": [1], "text": "Call Ana with the papers"}, "c2")
    answers = {"at 3": [remind("15:00", text="Call Ana")], "bring the papers": [change]}
    model.reply = model_of(answers, [])
    said = api.people.says(PERSON, SAID.format("3"))
    await shows(api, "Okay.")
    await reply(api, "and I bring the papers")
    await edited(api, said, SAID.format("4"))
    await tap(api, "Answer again", on=await shows(api, "For now my notes are as before"))
    await bot.settled()
    assert await rings(bot) == [("Call Ana with the papers", "15:00", True)]
    assert "rings Mon 2027-03-01 15:00; doubtful: the message was edited" in str(model.requests[-1].body["messages"])
    assert "that message was changed" in (await reply(api, "/reminders")).text

    answers["at 5"] = [remind("17:00", "c3", text="Call Ana with the papers")]
    api.people.edits(PERSON, said.message_id, SAID.format("5"))
    await bot.settled()
    await api.until(lambda: bot_texts(api)[-1].endswith("Want a new answer?"))
    await tap(api, "Answer again", on=await shows(api, "Want a new answer?"))
    await bot.settled()
    assert await rings(bot) == [("Call Ana with the papers", "17:00", False)]


async def test_another_ring_that_moved_along_and_is_taken_back_is_said(api, model, bot_here):
    """The message had moved an appointment and its ring with it: the offer says that both are as they were."""
    bot = await bot_here(CONTINUITY_TIMEZONE="UTC")
    at = series.at_ms_of("2027-03-01T14:00", "UTC")
    await noted(bot, "event", "Dentist", due_at_ms=at, due_exact=True, rings_from="2027-03-01T13:00", time_zone="UTC")
    move = ToolCall("change", {"numbers": [1], "due": "2027-03-01T17:00"}, "c1")
    model.reply = model_of({"is at 5": [move]}, [])
    said = api.people.says(PERSON, "oh, the dentist is at 5")
    await shows(api, "Okay.")
    assert await rings(bot) == [("Dentist", "16:00", False)]
    offer = await edited(api, said, "oh, the doctor calls at 6")
    await bot.settled()

    await tap(api, "Answer again", on=offer)
    await bot.settled()
    await shows(api, "• As it was: Dentist (today at 14:00, ⏰ 13:00)")
    assert await rings(bot) == [("Dentist", "13:00", False)]
