"""Who told several things at once has one of them forgotten: its part goes, the rest of the message stays."""

from __future__ import annotations

import pytest
from loopback.model import ToolCall, echo
from story import noted, reply, rows, stored_turns, tap

pytestmark = pytest.mark.acceptance

DIVORCE = "Your sister Nuala is going through a divorce and in bits; Lisbon is kind of a rescue mission for her."
TRIP = "You and your sister Nuala are off to Lisbon; flights are booked."
SAGE, MAM = (
    "Sage for the café walls, final; ochre was a moment.",
    "Your mam likes gardening, crosswords and Daniel O'Donnell.",
)
SAID_TRIP = (
    "ok oven fella just rang, its FRIDAY 7am now the chancer. and sister nuala + me are off to lisbon 11-14 dec, "
    "flights booked, hotel not. food safety inspection sometime next week, they dont say when, and mams 70th is 2 dec, "
    "need a gift AND a cake for 40 people 😵"
)
REST = "paint: no actually ochre. its warmer. my mam likes gardening, crosswords & daniel o'donnell, budget 120ish"
SAID_DIVORCE = f"nuala's going through a divorce btw, shes in bits, so lisbon is kinda a rescue mission. {REST}"
HOTEL = "booked the lisbon hotel!! little place in alfama, 3 nights, 412 between us. booking under nualas name"
OISIN = (
    "yeah do the declan one on sat. not the oven, ill know soon enough lol. oisín (15) plays hurling tuesdays and "
    "saturdays, this sat only training moved to 11. also sage or ochre for the café walls?? im leaning sage. hmm"
)
FORGET = "forget what i said about nuala's divorce, shouldnt have told u that"
RECAP = "Fri 4 Dec: €180 flour credit, else Declan. No rush: €20 off Siobhán, Lisbon hotel with Nuala, Aoife's phone."


def maeve(messages):
    """Answer as a model that notes each thing, and lets go of a note that is to be forgotten."""
    if messages[-1]["role"] == "tool":
        return "Gone, I won't use it again." if "Used no more" in str(messages[-1]["content"]) else "Got it."
    said = str(messages[-1]["content"])
    notes = {SAID_TRIP: [TRIP], SAID_DIVORCE: [DIVORCE, SAGE, MAM]}
    for message, texts in notes.items():
        if message in said:
            return [ToolCall("note", {"text": text, "kind": "fact"}, f"c_{n}") for n, text in enumerate(texts)]
    if FORGET in said:
        return [ToolCall("forget", {"numbers": [2]})]
    return RECAP if "where were we" in said else "Lovely." if HOTEL in said else echo(messages)


async def told(api, model, bot_here):
    bot = await bot_here()
    model.reply = maeve
    for text in (SAID_TRIP, SAID_DIVORCE, OISIN, "so where were we?", HOTEL):
        await reply(api, text)
    return bot


async def test_one_thing_of_a_message_goes_and_the_rest_stays(api, model, bot_here):
    """By the assistant, then by the button: the divorce alone; trip, paint and mam's gift stay, in words and notes."""
    bot = await told(api, model, bot_here)
    await reply(api, FORGET)
    asked = await tap(api, "Delete the messages too", "can't be undone")

    assert f"• from your message: “{SAID_DIVORCE.removesuffix(' ' + REST)}”" in asked.text
    assert not [word for word in ("oven", "ochre. its", "alfama", "Siobhán", "hurling") if word in asked.text]
    assert "• Sage for the café walls, final; ochre was a moment\n" in asked.text
    report = await tap(api, "Yes, forget it", "I've checked|Only the messages")

    assert report.text.startswith("Okay, that's forgotten: the part of a message about it and my note.")
    assert report.text.endswith("nothing of it is left.")
    said = [user for user, _ in stored_turns(bot)]
    assert said == [SAID_TRIP, f"[…] {REST}", OISIN, "so where were we?", HOTEL, FORGET]
    left = [text for (text,) in rows(bot, "SELECT text FROM notes WHERE status = 'open' ORDER BY number")]
    assert left == [TRIP, SAGE, MAM]
    assert not rows(bot, "SELECT 1 FROM conversation_turns WHERE tool_calls_json LIKE '%divorce and in bits%'")
    assert not rows(bot, "SELECT 1 FROM note_changes WHERE after_json LIKE '%divorce%' OR said LIKE '%divorce%'")


async def test_by_its_word_what_is_offered_is_what_goes(api, model, bot_here):
    """Two messages are named and two are confirmed, of one a part; nothing is named afterwards that tells nothing."""
    bot = await told(api, model, bot_here)
    await reply(api, FORGET)
    found = await reply(api, "/forget divorce")
    assert "All 2 of them" in str(found.buttons)
    asked = await tap(api, "All 2 of them", "can't be undone")

    assert asked.text.count("your message") == 2
    assert f"• your message “{FORGET}” and my answer to it" in asked.text
    assert "• You and your sister Nuala are off to Lisbon; flights are booked" in asked.text
    report = await tap(api, "Yes, forget it", "I've checked|Only the messages")

    assert report.text.startswith("Okay, that's forgotten: the message with my answer, the part of a message about it")
    assert "comes up" not in report.text
    said = [user for user, _ in stored_turns(bot)]
    assert said == [SAID_TRIP, f"[…] {REST}", OISIN, "so where were we?", HOTEL]
    assert not rows(bot, "SELECT 1 FROM buttons WHERE payload_json LIKE '%divorce%'")


async def test_what_was_cut_is_found_by_nobody_and_the_rest_is(api, model, bot_here):
    """Neither search nor prompt have it; after a restart neither."""
    bot = await told(api, model, bot_here)
    await reply(api, FORGET)
    await reply(api, "/forget divorce")
    await tap(api, "All 2 of them", "can't be undone")
    await tap(api, "Yes, forget it", "I've checked|Only the messages")
    await bot.restart()

    assert "can't find anything about “rescue mission”" in (await reply(api, "/forget rescue mission")).text
    assert REST[:20] in (await reply(api, "/forget paint warmer")).text
    await reply(api, "and now?")
    assert "divorce" not in str(model.requests[-1].messages)
    assert f"[…] {REST}" in str(model.requests[-1].messages)


async def test_a_note_is_found_by_the_day_on_which_it_stands(api, model, bot_here):
    """`/forget oisín's training on saturday`: the note that is due on one, first; Tuesday's stays."""
    bot = await bot_here()
    services = bot.app.services
    day_ms, now_ms = 86_400_000, services.clock.now_ms()
    to_saturday = next(n for n in range(7) if (now_ms // day_ms + n + 4) % 7 == 6) * day_ms  # the epoch was a Thursday
    moved, both = (
        "Oisín's hurling training, moved to 11 just the once",
        "Oisín (15) plays hurling on Tuesdays and Saturdays",
    )
    due = {"time_zone": "UTC", "due_exact": True}
    await noted(bot, "event", moved, due_at_ms=now_ms + to_saturday, **due)
    await noted(bot, "event", "Oisín's training", due_at_ms=now_ms + to_saturday + 3 * day_ms, **due)
    await noted(bot, "fact", both)

    found = await reply(api, "/forget oisín's training on saturday")

    assert f"1. {moved}" in found.text
    assert "2." not in found.text
    await tap(api, "Forget 1", "Should I forget this note")
    await tap(api, "Yes, forget it", "I've checked|Only the messages")
    left = [text for (text,) in rows(bot, "SELECT text FROM notes WHERE status = 'open' ORDER BY number")]
    assert left == ["Oisín's training", both]
