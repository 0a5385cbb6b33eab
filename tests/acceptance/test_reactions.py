"""👍 and 👎 under answers: kept for the operator, answered by nobody, gone with the answer."""

from __future__ import annotations

import pytest
from story import PERSON, asked, bot_lines, reply, rows, tap

from bot import replies

pytestmark = pytest.mark.acceptance


def reacts(api, message_id: int, emoji: str, user: int = PERSON) -> None:
    """Let somebody react to a message, or take it back with ""."""
    new = [{"type": "emoji", "emoji": emoji}] if emoji else []
    who = {"id": user, "is_bot": False, "first_name": "Ana"}
    about = {"chat": {"id": PERSON, "type": "private"}, "message_id": message_id, "date": 1_800_000_000, "user": who}
    api.people.injects({"message_reaction": {**about, "old_reaction": [], "new_reaction": new}})


async def test_what_people_think_of_an_answer_is_kept(api, model, bot_here):
    """The last reaction counts, one that is taken back goes, and what is no answer, or a stranger's, is not kept."""
    bot = await bot_here(CONTINUITY_ALLOWED_USERS=str(PERSON))
    answer = await reply(api, "hello")
    other = await reply(api, "and now?")
    listed = await reply(api, "/files")
    reacts(api, answer.message_id, "👍")
    reacts(api, answer.message_id, "👎")
    reacts(api, other.message_id, "👍")
    reacts(api, other.message_id, "")
    reacts(api, listed.message_id, "👍")
    reacts(api, answer.message_id, "🔥", user=PERSON + 1)
    await api.until(lambda: not api.updates.waiting)
    await bot.settled()

    assert rows(bot, "SELECT emoji FROM reactions") == [("👎",)]
    assert len(asked(model)) == 2
    assert len(bot_lines(api)) == 3
    await reply(api, "/forget all")
    await tap(api, replies.say("forget_yes"))
    await bot.settled()
    assert rows(bot, "SELECT COUNT(*) FROM reactions") == [(0,)]
