"""Being asked how it went: only who wants it, once, in the daytime; the answer ends the matter or keeps it."""

from __future__ import annotations

import pytest
from story import bot_lines, reply, rows, tap

pytestmark = pytest.mark.acceptance


def questions(api) -> list[str]:
    return [line.text for line in bot_lines(api) if "Did it work out?" in line.text]


async def told(bot, api, model, *, wanted=True):
    """Somebody who chose to be asked says what they will do tomorrow."""
    model.reply = lambda _: "Noted."
    await reply(api, "hello there")
    if wanted:
        await reply(api, "/settings")
        await tap(api, "Ask me how it went", "When a new conversation begins")
    await reply(api, "I will call the plumber about the kitchen tap tomorrow.")


async def test_what_had_its_day_is_asked_about_once(api, model, bot_here):
    """Not on the day itself, not at night, the next morning once; nothing more, also after a kill."""
    bot = await bot_here()
    await told(bot, api, model)
    await bot.passes(hours=24)
    assert questions(api) == []
    await bot.passes(hours=16)
    assert questions(api) == []

    await bot.passes(hours=8)
    assert len(questions(api)) == 1
    assert "plumber" in questions(api)[0]
    await bot.restart()
    await bot.passes(hours=5)
    await bot.passes(hours=20)
    assert len(questions(api)) == 1
    assert rows(bot, "SELECT kind, title, status FROM jobs") == [("asked", "", "done")]


async def test_nobody_is_asked_who_did_not_choose_it(api, model, bot_here):
    """It is off until somebody switches it on."""
    bot = await bot_here()
    await told(bot, api, model, wanted=False)
    await bot.passes(hours=48)

    assert questions(api) == []


@pytest.mark.parametrize(
    ("answer", "said"),
    [("Yes", "off my list"), ("Not yet", "stays on my list"), ("Drop", "off my list")],
)
async def test_the_answer_ends_the_matter_or_keeps_it(api, model, bot_here, answer, said):
    """[Yes] and [Drop] take it off the list, [Not yet] leaves it there; it is not asked about again."""
    bot = await bot_here()
    await told(bot, api, model)
    await bot.passes(hours=48)

    await tap(api, answer, said)
    assert ("plumber" in (await reply(api, "/loops")).text) is said.startswith("stays")
    await bot.passes(hours=24)
    await bot.passes(hours=24)
    assert len([line for line in bot_lines(api) if "Did it work out?" in line.text]) == 0


async def test_one_question_a_day(api, model, bot_here):
    """Two things of one day are asked about on two days."""
    bot = await bot_here()
    await told(bot, api, model)
    await reply(api, "And I will send the landlord the photos of the window tomorrow.")
    await bot.passes(hours=48)
    assert len(questions(api)) == 1

    await bot.passes(hours=3)
    assert len(questions(api)) == 1
    await bot.passes(hours=21)
    assert len(questions(api)) == 2
