"""What comes of polls and checklists later: told in their turn, of a poll by the next answer too; no chat is named."""

from __future__ import annotations

import pytest
from story import PERSON, asked, bot_lines, heard, reply, rows, tap

from bot import replies

pytestmark = pytest.mark.acceptance
ENDED = "The poll “Which colour?” has ended"


def poll(poll_id: str = "p1", *, lilac: int = 0, sage: int = 0, over: bool = False):
    """Return a poll as Telegram tells of it."""
    options = [{"text": "lilac", "voter_count": lilac}, {"text": "sage", "voter_count": sage}]
    return {"id": poll_id, "question": "Which colour?", "options": options, "is_closed": over}


def sends(api, given, user: int = PERSON, **where) -> None:
    """Let somebody send a poll to the bot."""
    api.people.sends(user, {"poll": given}, **where)


def ends(api, given) -> int:
    """Let Telegram tell that a poll has ended."""
    return api.people.injects({"poll": given})


async def settled(api, bot) -> None:
    await api.until(lambda: not api.updates.waiting)
    await bot.settled()


async def test_how_a_poll_ended_is_told(api, model, bot_here):
    """Its turn tells the votes from then on; where that stands in no message any more, the next answer is told once."""
    bot = await bot_here(CONTINUITY_ALLOWED_USERS=str(PERSON))
    sends(api, poll())
    await api.until(lambda: bot_lines(api))
    ends(api, poll(lilac=4, sage=2, over=True))
    await settled(api, bot)

    assert heard(bot)[0].endswith(f"> {ENDED}:\n> - lilac (4 votes)\n> - sage (2 votes)")
    assert len(asked(model)) == len(bot_lines(api)) == 1
    await reply(api, "so, what do we paint?")
    assert str(asked(model)[-1].messages).count(ENDED) == 1
    assert rows(bot, "SELECT * FROM polls") == []


async def test_a_poll_of_an_earlier_conversation_is_told_once(api, model, bot_here, clock):
    """After a silence the messages do not hold it: the next answer is told by the program, the one behind is not."""
    bot = await bot_here(CONTINUITY_ALLOWED_USERS=str(PERSON))
    sends(api, poll())
    await api.until(lambda: bot_lines(api))
    await bot.settled()
    clock.advance(hours=20 * 24)
    await bot.restart()  # what is done goes after 14 days
    ends(api, poll(lilac=4, sage=2, over=True))
    await settled(api, bot)
    await reply(api, "good morning")

    assert "lilac (4 votes)" in asked(model)[-1].messages[-1][1]
    await reply(api, "thanks")
    assert "lilac (4 votes)" not in asked(model)[-1].messages[-1][1]


async def test_a_poll_that_nobody_here_sent_is_stored_nowhere(api, model, bot_here):
    """Of an unknown poll, of one of somebody who is not let in, and of one that goes on, nothing is kept (P14)."""
    bot = await bot_here(CONTINUITY_ALLOWED_USERS=str(PERSON))
    sends(api, poll("theirs"), user=PERSON + 1)
    for given in (poll("theirs", over=True), poll("unknown", over=True), poll("p1", lilac=1)):
        ends(api, given)
    ends(api, {"id": ["p1"], "is_closed": True})
    await reply(api, "hello")

    assert rows(bot, "SELECT COUNT(*) FROM inbox") == [(1,)]
    assert rows(bot, "SELECT COUNT(*) FROM polls") == [(0,)]


async def test_a_poll_in_two_chats_ends_in_both(api, model, bot_here):
    """Forwarded to a second chat it is the same poll; in the group's topic and in private both turns tell its end."""
    bot = await bot_here(CONTINUITY_ALLOWED_USERS=f"{PERSON},{PERSON + 1}")
    sends(api, poll())
    group = api.people.opens_group("House", is_forum=True)
    topic = api.people.opens_topic(group, "Walls")
    word = await reply(api, "/voice@continuity_bot", chat_id=group, thread_id=topic)
    sends(api, poll(), chat_id=group, thread_id=topic, reply_to=word.message_id)
    await api.until(lambda: bot_lines(api) and len(bot_lines(api, group)) > 1)
    await bot.settled()
    ends(api, poll(sage=1, over=True))
    ends(api, poll(sage=1, over=True))
    await settled(api, bot)

    assert [text.count(ENDED) for text in heard(bot)] == [1, 1]
    assert len({where for (where,) in rows(bot, "SELECT conversation_id FROM polls")}) == 2


@pytest.mark.sweep
@pytest.mark.crash
@pytest.mark.file
@pytest.mark.parametrize("step", ["inbox_before_write", "inbox_after_write", "edit_checkpoint_gone", "edit_stored"])
async def test_an_end_that_dies_at_any_step_is_told_once(api, model, bot_process, step):
    """Dead at this step, started again: its turn tells the end once, and nothing is left to do."""
    bot = await bot_process()
    sends(api, poll())
    await api.until(lambda: bot_lines(api))
    await bot.terminate()
    ends(api, poll(lilac=4, over=True))
    await bot.launch(CONTINUITY_FAULT=step)
    assert await bot.wait() == -9
    await bot.start()
    await api.until(lambda: ENDED in heard(bot)[0])
    await reply(api, "so, what do we paint?")
    await bot.terminate()

    assert heard(bot)[0].count(ENDED) == 1
    assert rows(bot, "SELECT COUNT(*) FROM inbox WHERE state <> 'done'") == [(0,)]


async def test_a_forgotten_poll_stays_forgotten(api, model, bot_here):
    """What is forgotten is not brought back by its end."""
    bot = await bot_here(CONTINUITY_ALLOWED_USERS=str(PERSON))
    sends(api, poll())
    await api.until(lambda: bot_lines(api))
    await reply(api, "/forget last")
    await tap(api, replies.say("forget_yes"))
    ends(api, poll(lilac=4, over=True))
    await settled(api, bot)

    assert rows(bot, "SELECT COUNT(*) FROM polls") == [(0,)]
    assert not any("lilac" in text for text in heard(bot))


async def test_what_is_ticked_off_in_a_checklist_is_known(api, model, bot_here):
    """Its turn tells it from then on; nobody is answered, and the next answer sees it in the messages."""
    bot = await bot_here(CONTINUITY_ALLOWED_USERS=str(PERSON))
    given = {"title": "Trip", "tasks": [{"id": 1, "text": "Pack"}, {"id": 2, "text": "Go"}]}
    sent = api.people.sends(PERSON, {"checklist": given})
    await api.until(lambda: bot_lines(api))
    original = {"message_id": sent.message_id, "checklist": given}
    api.people.sends(PERSON, {"checklist_tasks_done": {"checklist_message": original, "marked_as_done_task_ids": [1]}})
    await settled(api, bot)

    assert heard(bot)[0].endswith("> Ticked off in the checklist “Trip”:\n> - Pack")
    assert len(bot_lines(api)) == 1
    await reply(api, "what is left?")
    assert "Ticked off in the checklist" in str(asked(model)[-1].messages)
