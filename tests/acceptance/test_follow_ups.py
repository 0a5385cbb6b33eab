"""Being asked how it went: only who wants it, once, in the daytime; the answer ends the matter or keeps it."""

from __future__ import annotations

import pytest
from story import bot_lines, ledger_of, noted, reply, tap

from memory.ledger import series

pytestmark = pytest.mark.acceptance


def questions(api) -> list[str]:
    return [line.text for line in bot_lines(api) if "Did it work out?" in line.text]


async def told(bot, api, *, wanted=True, text="Call the plumber about the kitchen tap"):
    """Somebody who chose to be asked has something to do tomorrow."""
    await reply(api, "hello there")
    if wanted:
        await reply(api, "/settings")
        await tap(api, "Ask me how it went", "When a new conversation begins")
    await due_tomorrow(bot, text)


async def due_tomorrow(bot, text):
    day = series.local_of(bot.clock.now_ms() + 86_400_000, "UTC")[:10]
    await noted(bot, "task", text, due_at_ms=series.at_ms_of(f"{day}T00:00", "UTC"))


async def test_what_had_its_day_is_asked_about_once(api, model, bot_here):
    """Not on the day itself, not at night, the next morning once; nothing more, also after a restart."""
    bot = await bot_here()
    await told(bot, api)
    await bot.passes(hours=24)
    assert questions(api) == []
    await bot.passes(hours=16)
    assert questions(api) == []

    await bot.passes(hours=8)
    assert len(questions(api)) == 1
    assert "Call the plumber" in questions(api)[0]
    await bot.restart()
    await bot.passes(hours=5)
    await bot.passes(hours=20)
    assert len(questions(api)) == 1
    assert [note.offered for note in await ledger_of(bot)] == [True]


async def test_nobody_is_asked_who_did_not_choose_it(api, model, bot_here):
    """It is off until somebody switches it on."""
    bot = await bot_here()
    await told(bot, api, wanted=False)
    await bot.passes(hours=48)

    assert questions(api) == []


@pytest.mark.parametrize(
    ("answer", "said"),
    [("Yes", "off my list"), ("Not yet", "stays on my list"), ("Drop", "off my list")],
)
async def test_the_answer_ends_the_matter_or_keeps_it(api, model, bot_here, answer, said):
    """[Yes] and [Drop] take it off the list, [Not yet] leaves it there; it is not asked about again."""
    bot = await bot_here()
    await told(bot, api)
    await bot.passes(hours=48)

    await tap(api, answer, said)
    assert ("plumber" in (await reply(api, "/loops")).text) is said.startswith("stays")
    await bot.passes(hours=24)
    await bot.passes(hours=24)
    assert questions(api) == []


async def test_one_question_a_day(api, model, bot_here):
    """Two things of one day are asked about on two days."""
    bot = await bot_here()
    await told(bot, api)
    await due_tomorrow(bot, "Send the landlord the photos of the window")
    await bot.passes(hours=48)
    assert len(questions(api)) == 1

    await bot.passes(hours=3)
    assert len(questions(api)) == 1
    await bot.passes(hours=21)
    assert len(questions(api)) == 2
