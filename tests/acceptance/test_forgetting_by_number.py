"""What will be forgotten is shown before it is confirmed; a list's number names it; /summary speaks to the person."""

from __future__ import annotations

import pytest
from story import FRIEND, PERSON, bot_lines, noted, reply, tap

from memory.keeper.session_lines import SessionLine, put_session_line

pytestmark = pytest.mark.acceptance


async def session_of(bot) -> str:
    """Return the session that goes on in the person's chat."""
    services = bot.app.services
    return await services.memory.store.current_session_id(f"tg:{services.me.bot_id}:{PERSON}:0")


async def test_forget_1_shows_what_goes_before_it_is_confirmed(api, model, bot_here):
    """The note, and its message when that is asked for; nothing else, and nothing yet."""
    await bot_here(CONTINUITY_MODEL="offline")
    await reply(api, "Remember that the dog is called Rex.")
    await reply(api, "Remember that the cat is called Tom.")
    listed = await reply(api, "/memory")
    first = next(line for line in listed.text.splitlines() if line.startswith("1. "))
    mine, other = ("dog", "cat") if "dog" in first else ("cat", "dog")

    asked = await tap(api, "Forget 1", "Should I forget this note")
    assert f"• what I noted: The {mine} is called" in asked.text
    assert "your message" not in asked.text
    asked = await tap(api, "Delete the messages too", "go with it")
    assert f"• your message “Remember that the {mine} is called" in asked.text
    assert other not in asked.text
    await tap(api, "Never mind", "leave it at that")
    assert mine in (await reply(api, "/memory")).text


async def test_a_number_forgets_the_line_of_the_list_that_was_shown_last(api, model, bot_here):
    """Also after a restart; a number that is on no list is said to be none."""
    bot = await bot_here(CONTINUITY_MODEL="offline")
    await reply(api, "Remember that the dog is called Rex.")
    await reply(api, "Remember that the cat is called Tom.")
    second = next(line for line in (await reply(api, "/memory")).text.splitlines() if line.startswith("2. "))
    gone, stays = ("Rex", "Tom") if "Rex" in second else ("Tom", "Rex")
    await bot.restart()

    assert "no number 7 on the list" in (await reply(api, "/forget 7")).text
    asked = await reply(api, "/forget 2")
    assert gone in asked.text
    assert stays not in asked.text
    await tap(api, "Yes, forget it", "I've checked|Only the messages")
    left = (await reply(api, "/memory")).text
    assert stays in left
    assert gone not in left


async def test_a_list_keeps_no_words_of_what_is_forgotten_elsewhere(api, model, bot_here):
    """A list shown in one session holds nothing readable of another session's matter once that is forgotten (P13)."""
    bot = await bot_here(CONTINUITY_MODEL="offline")
    await reply(api, "Remember that the cat is called Zebrafish.")
    await reply(api, "I have to send the quagga report on Friday.")
    await bot.passes(hours=30)
    await reply(api, "/new")
    await reply(api, "hello there")
    for words in ("Zebrafish", "quagga"):
        await reply(api, "/memory")
        await reply(api, "/loops")
        await reply(api, f"/forget {words}")
        label = next(b for row in bot_lines(api)[-1].buttons for b in row if b.startswith("All"))
        await tap(api, label, "Should I forget this")
        await tap(api, "Yes, forget it", "I've checked|Only the messages")
    await bot.stop()

    files = [file for file in bot.folder.rglob("*") if file.is_file()]
    assert not [file.name for file in files if b"quagga" in file.read_bytes() or b"Zebrafish" in file.read_bytes()]


async def test_a_conversation_says_how_much_goes(api, model, bot_here):
    """A whole conversation is counted, not recited."""
    await bot_here()
    await reply(api, "first words")
    await reply(api, "second words")

    asked = await reply(api, "/forget session")
    assert "That's 2 messages and their answers." in asked.text
    assert "first words" not in asked.text


async def test_in_a_group_only_ones_own_is_shown_and_goes(api, model, bot_here):
    """What a friend said is neither shown nor counted."""
    await bot_here()
    group = api.people.opens_group("Friends")
    await reply(api, "@continuity_bot the friend's secret", group, FRIEND)
    await reply(api, "@continuity_bot my own words", group, PERSON)

    asked = await reply(api, "/forget@continuity_bot everything", group, PERSON)
    assert "That's 1 message and its answer." in asked.text


async def test_the_summary_speaks_to_the_person_and_of_their_matters(api, model, bot_here):
    """Their matters and what they told; nothing of the bot's own working, no commands, no "the user"."""
    bot = await bot_here(CONTINUITY_MODEL="offline", CONTINUITY_TIMEZONE="Europe/Berlin")
    assert "nothing to sum up" in (await reply(api, "/summary")).text
    await reply(api, "hello")
    assert (await reply(api, "/summary")).text == "Nothing to sum up yet."
    await noted(bot, "task", "Renew the passport", session_id=await session_of(bot))
    await noted(bot, "constraint", "Allergic to peanuts", session_id=await session_of(bot))

    summary = (await reply(api, "/summary")).text
    assert "What's going on:\n• Renew the passport" in summary
    assert "What you told me:\n• Allergic to peanuts" in summary
    assert "the user" not in summary.lower()
    assert summary.startswith("This conversation\n\n")


async def test_a_summary_of_what_has_just_begun_tells_the_time_before(api, model, bot_here):
    """In the morning the talk of the evening is summed up; after /fresh it is not."""
    bot = await bot_here(CONTINUITY_MODEL="offline")
    await reply(api, "hello")
    memory, me = bot.app.services.memory, bot.app.services.me
    state = await memory.recorder.current(f"tg:{me.bot_id}:{PERSON}:0")
    line = SessionLine(state.session_id, state.conversation_id, "The kitchen", "The tiles are chosen.")
    await memory.db.write(put_session_line(line))
    await bot.passes(hours=12)
    assert "Last time" not in (await reply(api, "/summary")).text  # no other session is before this one
    await memory.recorder.open_session(state.conversation_id, PERSON, "gap")
    assert (await reply(api, "/summary")).text == "Last time: The kitchen.\n\nThe tiles are chosen."
    await reply(api, "good morning")

    assert (await reply(api, "/summary")).text.endswith("Last time: The kitchen.\n\nThe tiles are chosen.")
    await reply(api, "/fresh")
    assert "The tiles" not in (await reply(api, "/summary")).text
    await reply(api, "hello again")
    assert "The tiles" not in (await reply(api, "/summary")).text
