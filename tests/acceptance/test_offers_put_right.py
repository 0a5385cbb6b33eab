"""An offer under an edited message looks at the notes for a while, never for good, whatever dies or refuses."""

from __future__ import annotations

import pytest
from loopback.model import Gate, ToolCall
from story import PERSON, bot_lines, rows, shows

from bot.playground.bot_api.faults import Kind
from memory.errors import StorageUnavailable

pytestmark = pytest.mark.acceptance

LOOKING = "I'm looking at what that changes:\n• The tubes came to £21"
AS_BEFORE = "For now my notes are as before:\n• The tubes came to £21\nTap “Answer again”"
MARKED = "SELECT COUNT(*) FROM buttons WHERE payload_json LIKE '%looks_since%'"


def noting(messages):
    """Note what the tubes came to as it is said, and nothing as it is read."""
    last = messages[-1]
    is_said = last["role"] == "user" and str(last["content"]).endswith("came to 21 pounds")
    return [ToolCall("note", {"text": "The tubes came to £21", "kind": "fact"}, "n")] if is_said else "Fine."


async def said(api, model):
    """Let a person tell what is noted, and return their message."""
    model.reply = noting
    message = api.people.says(PERSON, "the tubes came to 21 pounds")
    await shows(api, "Fine.")
    return message


async def killed_while_it_looks(bot, model, count):
    """Kill the bot once the keeper was asked, the model at its gate; start it again with the gate open."""
    await model.until(lambda: len(model.requests) > count)
    await bot.kill()
    model.gate.open()
    model.gate = None
    await bot.start()


@pytest.mark.crash
async def test_an_offer_does_not_look_for_ever_when_its_process_was_killed(api, model, bot_process):
    """The next start says in the same message what to tap, and its button is the same."""
    bot = await bot_process()
    message = await said(api, model)
    count, model.gate = len(model.requests), Gate()
    api.people.edits(PERSON, message.message_id, "the tubes came to 36 pounds")
    offer = await shows(api, LOOKING)
    await killed_while_it_looks(bot, model, count)

    after = await shows(api, AS_BEFORE)
    assert (after.message_id, after.buttons) == (offer.message_id, (("Answer again",),))
    assert not [line for line in bot_lines(api) if "looking" in line.text]
    assert rows(bot, MARKED) == [(0,)]


@pytest.mark.crash
async def test_an_offer_that_stands_looks_again_at_the_next_edit_and_outlives_a_kill_of_that(api, model, bot_process):
    """All in one message: what it said of the first edit is not left there while the second one is read."""
    bot = await bot_process()
    message = await said(api, model)
    api.people.edits(PERSON, message.message_id, "the tubes came to 36 pounds")
    offer = await shows(api, AS_BEFORE)
    count, model.gate = len(model.requests), Gate()
    api.people.edits(PERSON, message.message_id, "the tubes came to 38 pounds")
    assert (await shows(api, LOOKING)).message_id == offer.message_id
    await killed_while_it_looks(bot, model, count)

    after = await shows(api, AS_BEFORE)
    assert (after.message_id, after.buttons) == (offer.message_id, (("Answer again",),))
    assert len([line for line in bot_lines(api) if "changed that one" in line.text]) == 1
    assert rows(bot, MARKED) == [(0,)]


async def test_an_offer_that_went_out_late_is_put_right_then(api, model, bot_here):
    """It was on its way when the keeper had read, and longer than that is waited for."""
    bot = await bot_here()
    message = await said(api, model)

    async def flush(_patience_s):
        return False

    bot.app.services.delivery.flush = flush
    api.faults.plant("sendMessage", Kind.TOO_MANY, chat_id=PERSON, retry_after_s=1)
    api.people.edits(PERSON, message.message_id, "the tubes came to 36 pounds")

    await shows(api, AS_BEFORE)
    await api.until(lambda: rows(bot, MARKED) == [(0,)])


async def test_an_offer_is_put_right_once_the_disk_takes_it(api, model, bot_here, monkeypatch):
    """A refusal is waited for, and nobody has to start the bot again."""
    bot = await bot_here()
    message = await said(api, model)
    db, refused = type(bot.app.services.db), []
    read = db.read

    async def refuses(self, name, **values):
        if name in {"offers_on_screen", "offers_looking"} and refused.count(name) < 1:
            refused.append(name)
            raise StorageUnavailable("disk full")
        return await read(self, name, **values)

    monkeypatch.setattr(db, "read", refuses)
    api.people.edits(PERSON, message.message_id, "the tubes came to 36 pounds")

    await shows(api, AS_BEFORE)
    assert refused == ["offers_on_screen", "offers_looking"]
