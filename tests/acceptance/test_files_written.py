"""Texts that come as a file: a long answer by its button, and what the model writes, or sends back, when asked."""

from __future__ import annotations

import pytest
from loopback.model import ToolCall, echo
from story import PERSON, bot_lines, bot_texts, reply, rows, shows, tap

from bot import replies

pytestmark = pytest.mark.acceptance
LONG = "# The tiles\n\n" + "\n".join(f"{n}. A row of tiles, number {n}, in lilac and sage." for n in range(250))


def files(api):
    """Return name and text of each file that the bot wrote, in order."""
    shown = [line for line in bot_lines(api) if line.media == "document"]
    return [(line.file_name, api.world.files[line.file_id].decode()) for line in shown]


def answers(*replies_in_order):
    """Return what a model replies, one after another; what it is told a tool has done it repeats."""
    left = list(replies_in_order)

    def reply_to(messages):
        return left.pop(0) if left else echo([each for each in messages if each["role"] != "tool"])

    return reply_to


async def test_a_long_answer_comes_as_a_file_on_a_tap(api, model, bot_here):
    """Three messages and a button: the whole answer as it was written, under its first words; a short one has none."""
    await bot_here()
    model.reply = answers(LONG)
    await reply(api, "how do I lay them?")
    await shows(api, "number 249")
    last = bot_lines(api)[-1]
    await tap(api, replies.say("as_file"), on=last)
    await api.until(lambda: files(api))
    await reply(api, "thanks")

    assert files(api) == [("The tiles 0 A row of tiles number 0 in lil.md", LONG)]
    assert not any(replies.say("as_file") in str(line.buttons) for line in bot_lines(api)[-1:])


@pytest.mark.parametrize("fault", [None, "lost_answer"])
async def test_the_model_sends_what_it_writes_once(api, model, bot_here, fault):
    """It comes under the answer, by its name, once, even when the answer to the call is lost; it goes with its turn."""
    bot = await bot_here()
    call = ToolCall("send_file", {"name": "../что стоит.csv", "text": "tile,price\nlilac,4\n"})
    model.reply = answers([call, call], "Here it is.")
    if fault:
        api.faults.plant("sendDocument", fault)
    await reply(api, "as a file, please")
    await api.until(lambda: files(api))
    await reply(api, "thanks")

    assert files(api) == [("что стоит.csv", "tile,price\nlilac,4\n")]
    assert bot_texts(api)[0] == "Here it is."
    await reply(api, "/forget everything")
    await tap(api, replies.say("forget_yes"))
    await bot.settled()
    assert "lilac" not in str(rows(bot, "SELECT text FROM outbox"))


async def test_send_me_that_as_a_file(api, model, bot_here):
    """Without a text it is the answer before, word for word; without one before, the model is told so."""
    await bot_here()
    model.reply = answers([ToolCall("send_file", {})], "There is none.", "The tiles are **lilac**.")
    await reply(api, "send me that as a file")
    assert "there is no answer before" in str(model.requests[-1].messages[-1])
    await reply(api, "which colour?")
    model.reply = answers([ToolCall("send_file", {"name": "tiles.md"})], "Sent.")
    await reply(api, "send me that as a file")
    await api.until(lambda: files(api))

    assert files(api) == [("tiles.md", "The tiles are **lilac**.")]


async def test_the_model_sends_a_file_back(api, model, bot_here):
    """What the person once sent comes back as Telegram has it; a number that is none is refused."""
    await bot_here()
    api.people.sends_file(PERSON, b"The rent is 1,240 euros.", name="lease.txt", caption="Keep it.")
    await api.until(lambda: bot_lines(api))
    model.reply = answers([ToolCall("send_file", {"number": 1}), ToolCall("send_file", {"number": 9})], "Here.")
    await reply(api, "send me the lease again")
    await api.until(lambda: files(api))

    assert [text for _, text in files(api)] == ["The rent is 1,240 euros."]
    assert "there is no such file" in str(model.requests[-1].messages)
