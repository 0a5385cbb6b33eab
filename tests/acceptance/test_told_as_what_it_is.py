"""What people send beside texts and files reaches the model as what it is, with whose it is and from when."""

from __future__ import annotations

import pytest
from story import PERSON, asked, bot_lines, reply

pytestmark = pytest.mark.acceptance

PLACE = {"latitude": 54.3, "longitude": 10.1}
DAY_S = 1_790_000_000
FORWARDED = {"type": "user", "sender_user": {"id": 5, "is_bot": False, "first_name": "Rui"}, "date": DAY_S}
LINK = {"is_disabled": False, "url": "https://example.org/tiles"}
SENT = {
    "location": ({"location": PLACE}, ["[location: latitude 54.3, longitude 10.1]"]),
    "venue": ({"venue": {"location": PLACE, "title": "Fähre", "address": "Kiel"}, "location": PLACE}, ["Fähre, Kiel"]),
    "contact": ({"contact": {"phone_number": "+351 1", "first_name": "Rui"}}, ["Contact", "Rui, +351 1"]),
    "poll": (
        {"poll": {"id": "1", "question": "When?", "options": [{"text": "Monday", "voter_count": 2}]}},
        ["When?", "- Monday (2 votes)"],
    ),
    "dice": ({"dice": {"emoji": "🎲", "value": 4}}, ["[🎲: 4]"]),
    "checklist": (
        {"checklist": {"title": "Trip", "tasks": [{"id": 1, "text": "Pack", "completion_date": 9}]}},
        ["Trip", "- [x] Pack"],
    ),
    "story": ({"story": {"id": 1, "chat": {"id": 9, "type": "private", "first_name": "Rui"}}}, ["Story of Rui"]),
    "sticker": ({"sticker": {"file_id": "s", "file_unique_id": "s", "emoji": "👍"}}, ["[sticker 👍]"]),
    "forward": ({"text": "The sand comes", "forward_origin": FORWARDED}, ["Rui (2026-09-21)", "The sand comes"]),
    "quote": (
        {
            "text": "Why?",
            "reply_to_message": {"message_id": 3, "date": DAY_S, "from": {"id": 5}, "text": "It rains and it rains"},
            "quote": {"text": "it rains", "position": 13},
        },
        ["it rains", "Why?"],
    ),
    "link": ({"text": "Look at these", "link_preview_options": LINK}, ["Look at these", "https://example.org/tiles"]),
}


async def test_what_is_sent_is_told_as_what_it_is(api, model, bot_here):
    """Its words stand in the message that the model answers."""
    await bot_here()
    for answers, (kind, (content, words)) in enumerate(SENT.items()):
        api.people.sends(PERSON, content)
        await api.until(lambda before=answers: len(bot_lines(api)) > before)

        said = asked(model)[-1].messages[-1][1]
        assert [word for word in words if word not in said] == [], kind


async def test_a_reply_shows_the_old_message_that_it_is_to(api, model, bot_here, clock):
    """A day and a restart later, behind more messages than the prompt holds: what is replied to stands above it."""
    bot = await bot_here()
    old = api.people.says(PERSON, "the grey tiles, please")
    await api.until(lambda: bot_lines(api))
    await reply(api, "/fresh")
    clock.advance(hours=26)
    await bot.restart()
    await reply(api, "These, I mean", reply_to=old.message_id)
    said = asked(model)[-1].messages[-1][1]

    assert "Reply to their own message" in said
    assert said.index("the grey tiles, please") < said.index("These, I mean")
