"""A group becomes a supergroup: a new number on Telegram, the same conversation for the people in it."""

from __future__ import annotations

import pytest
from story import bot_texts, change, rows

pytestmark = pytest.mark.acceptance
ANA, STRANGER = 11, 666


def said(api, chat_id):
    return bot_texts(api, chat_id)


async def told(api, chat_id, text, *, by=ANA):
    """Say something to the bot in a group and return what it says to that."""
    before = len(said(api, chat_id))
    api.people.says(by, text, chat_id=chat_id)
    await api.until(lambda: len(said(api, chat_id)) > before)
    return said(api, chat_id)[-1]


async def killed(api, bot):
    """Kill it when everything that it said is written down as sent: else the next start says it once more."""
    await api.until(lambda: not rows(bot, "SELECT 1 FROM outbox WHERE state <> 'sent'"))
    await bot.kill()


@pytest.mark.parametrize("by", [ANA, STRANGER])
async def test_a_group_keeps_its_conversation_reminders_and_buttons(api, model, bot_process, by):
    """Whoever upgrades it: the next message is answered in the same session, after a restart too; old buttons work."""
    bot = await bot_process(CONTINUITY_ALLOWED_USERS=str(ANA))
    group = api.people.opens_group("Friends", kind="group")
    await told(api, group, "@continuity_bot The codeword is zebrafish")
    await told(api, group, "/remind@continuity_bot tomorrow at 9 water the plants")
    new = api.people.upgrades_group(group, user_id=by)
    await told(api, new, "@continuity_bot and what was the codeword?")
    assert "zebrafish" in model.requests[-1].text

    await killed(api, bot)
    change(bot, "UPDATE notes SET rings_from = '2026-01-01T09:00', rings_at_ms = 1767258000000")
    await bot.start()
    await api.until(lambda: any(line.buttons for line in api.view(new).lines))
    assert "water the plants" in said(api, new)[-1]
    assert [each["user"]["id"] for each in api.view(new).lines[-1].entities] == [ANA]
    await told(api, new, "@continuity_bot still the same?")

    assert rows(bot, "SELECT COUNT(*) FROM conversations") == [(1,)]
    assert rows(bot, "SELECT COUNT(DISTINCT session_id) FROM conversation_turns") == [(1,)]
    line = next(line for line in reversed(api.view(new).lines) if line.buttons)
    api.people.presses(ANA, line.buttons[0][0], chat_id=new)
    await api.until(lambda: api.calls_of("answerCallbackQuery"))
    assert "too old" not in str(api.calls_of("answerCallbackQuery")[-1].params).lower()


async def test_the_move_of_a_group_of_strangers_leaves_no_trace(api, bot_process):
    """Somebody added the bot to a group of their own: its numbers are not stored (P14)."""
    bot = await bot_process(CONTINUITY_ALLOWED_USERS=str(ANA))
    group = api.people.opens_group("Strangers", kind="group")
    api.people.upgrades_group(group, user_id=STRANGER)
    api.people.says(ANA, "hi")
    await api.until(lambda: said(api, ANA))

    assert rows(bot, "SELECT COUNT(*) FROM chat_moves") == [(0,)]


async def test_a_strangers_word_moves_no_group(api, bot_process):
    """Somebody who is not let in says that a group we know has moved: Telegram is asked, and says that it has not."""
    bot = await bot_process(CONTINUITY_ALLOWED_USERS=str(ANA))
    group = api.people.opens_group("Friends", kind="group")
    await told(api, group, "@continuity_bot hello")
    theirs = api.people.opens_group("Theirs", kind="supergroup")
    place, user = api.people._place(STRANGER, theirs), api.world.user(STRANGER)
    claim = api.world.add_message(place, user, {"migrate_from_chat_id": group}, now_s=1)
    api.people._tell({"message": dict(claim)})
    await told(api, group, "@continuity_bot still here?")

    assert rows(bot, "SELECT COUNT(*) FROM chat_moves") == [(0,)]


async def test_a_group_that_moved_while_the_bot_was_off_for_days_keeps_its_conversation(api, model, bot_process):
    """Telegram forgot to tell: the bot asks, before it answers; of a namesake that moved elsewhere nothing is taken."""
    bot = await bot_process(CONTINUITY_ALLOWED_USERS=str(ANA))
    other, group = (api.people.opens_group("Friends", kind="group") for _ in range(2))
    await told(api, other, "@continuity_bot The password is aardvark")
    await told(api, group, "@continuity_bot The codeword is zebrafish")
    await told(api, group, "/remind@continuity_bot tomorrow at 9 water the plants")
    await killed(api, bot)
    api.people.upgrades_group(other, user_id=ANA)
    new = api.people.upgrades_group(group, user_id=ANA)
    api.updates.waiting.clear()
    await bot.start()
    namesake = api.people.opens_group("Friends")
    await told(api, namesake, "@continuity_bot hello")
    await told(api, new, "@continuity_bot and what was the codeword?")

    assert "zebrafish" in model.requests[-1].text
    assert "aardvark" not in model.requests[-1].text
    assert "water the plants" in await told(api, new, "/reminders@continuity_bot")
    assert rows(bot, "SELECT from_chat_id, to_chat_id FROM chat_moves") == [(group, new)]
    assert rows(bot, "SELECT COUNT(*) FROM conversations") == [(3,)]


async def test_a_group_is_asked_again_what_became_of_it_when_telegram_does_not_say(api, model, bot_process):
    """Its first message there waits for that; answered at once, the group's memory would be cut off for ever."""
    bot = await bot_process(CONTINUITY_ALLOWED_USERS=str(ANA))
    group = api.people.opens_group("Friends", kind="group")
    await told(api, group, "@continuity_bot The codeword is zebrafish")
    await killed(api, bot)
    new = api.people.upgrades_group(group, user_id=ANA)
    api.updates.waiting.clear()
    unsaid = api.faults.plant("sendChatAction", "server_error", chat_id=group, times=2)
    await bot.start()
    await told(api, new, "@continuity_bot and what was the codeword?")

    assert unsaid.hits == 2
    assert "zebrafish" in model.requests[-1].text
    assert rows(bot, "SELECT from_chat_id, to_chat_id FROM chat_moves") == [(group, new)]


@pytest.mark.sweep
async def test_a_supergroup_that_was_talked_in_already_keeps_both(api, model, bot_process):
    """The bot was off when a group became a supergroup, Telegram did not tell, and it was talked to there.

    Its reminder rings there, the button under it works, what was said before is found from there, after a restart too,
    and `/forget everything` leaves nothing of either.
    """
    bot = await bot_process(CONTINUITY_ALLOWED_USERS=str(ANA))
    group = api.people.opens_group("Friends", kind="group", owner=ANA)
    await told(api, group, "@continuity_bot The codeword is zebrafish")
    await told(api, group, "/remind@continuity_bot tomorrow at 9 water the plants")
    await killed(api, bot)
    new = api.people.upgrades_group(group, user_id=ANA)
    api.updates.waiting.clear()  # Telegram keeps them for a day
    unsaid = api.faults.plant("sendChatAction", "server_error", chat_id=group, times=None)
    change(bot, "UPDATE notes SET rings_from = '2040-01-01T09:00', rings_at_ms = 2209021200000")
    await bot.start()
    await told(api, new, "@continuity_bot hello there")
    assert unsaid.hits
    api.faults.clear()
    await killed(api, bot)
    change(bot, "UPDATE notes SET rings_from = '2026-01-01T09:00', rings_at_ms = 1767258000000")
    await bot.start()
    await api.until(lambda: any(line.buttons for line in api.view(new).lines))
    rung = next(line for line in api.view(new).lines if line.buttons)
    assert "water the plants" in rung.text
    api.people.presses(ANA, rung.buttons[0][0], chat_id=new, message_id=rung.message_id)
    await api.until(lambda: api.calls_of("answerCallbackQuery"))
    assert "too old" not in str(api.calls_of("answerCallbackQuery")[-1].params).lower()

    await killed(api, bot)
    await bot.start()
    found = await told(api, new, "/group@continuity_bot codeword")
    assert "zebrafish" in found
    await told(api, new, "@continuity_bot and now?")
    assert "search_group" in str(model.requests[-1].body["tools"])
    assert rows(bot, "SELECT COUNT(DISTINCT conversation_id) FROM conversation_turns") == [(2,)]
    await told(api, new, "/forget@continuity_bot group")
    line = next(line for line in reversed(api.view(new).lines) if line.buttons)
    api.people.presses(ANA, line.buttons[0][0], chat_id=new, message_id=line.message_id)
    await api.until(lambda: any("nothing of it is left" in text.lower() for text in said(api, new)))
    assert rows(bot, "SELECT COUNT(*) FROM conversation_turns") == [(0,)]
