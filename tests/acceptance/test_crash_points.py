"""Kill -9 at every named point of one turn, and again during the recovery from it: answered once, remembered."""

from __future__ import annotations

import asyncio

import pytest
from loopback.model import Gate
from story import PERSON, TURN_POINTS, answered, answers_to, remembers, stored_turns

from bot import replies

pytestmark = [pytest.mark.acceptance, pytest.mark.crash, pytest.mark.sweep]


def screen(api) -> list[str]:
    return [line.text for line in api.view(PERSON).lines]


async def die(bot, point: str) -> None:
    """Start with this point armed; wait until the process has killed itself there."""
    await bot.launch(CONTINUITY_FAULT=point)
    assert await bot.wait() == -9


BEHIND = ("outbox_recorded", "index_before_write", "checkpoint_temp_written", "checkpoint_renamed")
"""Points behind which nothing is left to recover before the next message."""


@pytest.mark.parametrize("point", TURN_POINTS)
async def test_a_turn_that_dies_anywhere_is_finished_once(api, model, bot_process, point):
    """Whatever point of a turn the process dies at, and again in the recovery, its message is answered once."""
    bot = await bot_process()
    api.people.says(PERSON, "my dog is called Rex")
    await answered(api, PERSON, "my dog is called Rex")
    await bot.terminate()

    api.people.says(PERSON, "what is he called?")
    await die(bot, point)
    if point not in (*BEHIND, "inbox_before_write"):
        await bot.launch(CONTINUITY_FAULT="#1")
        assert await bot.wait() == -9
    await bot.start()
    await answered(api, PERSON, "what is he called?")
    api.people.says(PERSON, "thanks")
    await answered(api, PERSON, "thanks")
    await bot.terminate()

    assert screen(api) == [
        "my dog is called Rex",
        "You said: my dog is called Rex",
        "what is he called?",
        "You said: what is he called?",
        "thanks",
        "You said: thanks",
    ]
    assert [user for user, _ in stored_turns(bot)] == ["my dog is called Rex", "what is he called?", "thanks"]
    assert remembers(model, "my dog is called Rex")


@pytest.mark.soak
@pytest.mark.parametrize("point", ["turn_claimed", "before_commit", "after_commit", "outbox_sent_unrecorded"])
async def test_recovery_that_dies_at_its_first_second_third_point_is_recovered_from(api, bot_process, point):
    """Die at a point, then at point 1, 2, 3 … of the recovery until nothing is left to crash: answered once."""
    for nth in range(1, 30):
        bot = await bot_process(start=False, folder=f"{point}-{nth}")
        text = f"{point} {nth}"
        api.people.says(PERSON, text)
        await die(bot, point)
        await bot.launch(CONTINUITY_FAULT=f"#{nth}")
        ended = asyncio.ensure_future(bot.wait(60))
        shown = asyncio.ensure_future(answered(api, PERSON, text, 60))
        await asyncio.wait({ended, shown}, return_when=asyncio.FIRST_COMPLETED)
        survived = not ended.done()
        if not survived:
            await bot.start()
        await shown
        ended.cancel()
        await bot.terminate()
        assert len(answers_to(api, PERSON, text)) == 1
        assert len(stored_turns(bot)) == 1
        if survived:
            return
    raise AssertionError("the recovery never came to its end")


async def test_who_was_not_alone_at_work_is_not_blamed_for_a_death(api, model, bot_process):
    """Six people are answered at once when the process dies, four times: nobody's message is set aside."""
    model.gate = Gate()
    bot = await bot_process(start=False)
    people = [PERSON + number for number in range(6)]
    for person in people:
        api.people.says(person, f"hello from {person}")
    for _ in range(4):
        await die(bot, "turn_packet_built:6")
    model.gate.open()

    await bot.start()
    for person in people:
        await answered(api, person, f"hello from {person}")
        assert len(answers_to(api, person, f"hello from {person}")) == 1


async def test_a_message_that_kills_the_process_alone_is_set_aside(api, bot_process):
    """Negative control: alone at work at three deaths it is given up, its sender is told, and the next is answered."""
    bot = await bot_process(start=False)
    api.people.says(PERSON, "poison")
    for _ in range(3):
        await die(bot, "turn_packet_built")

    await bot.start(ready=lambda: replies.say("quarantined") in screen(api))
    api.people.says(PERSON, "next")
    await answered(api, PERSON, "next")

    assert answers_to(api, PERSON, "poison") == []


async def test_without_the_probe_a_crash_after_the_send_repeats_the_reply(api, bot_process):
    """Negative control: with no id to probe, the reply that was sent but not recorded comes twice, marked ↻."""
    bot = await bot_process(start=False, CONTINUITY_PROBE_IDS="0")
    api.people.says(PERSON, "only once, please")
    await die(bot, "outbox_sent_unrecorded")

    await bot.start(ready=lambda: len(screen(api)) == 3)

    assert screen(api)[1:] == ["You said: only once, please", "You said: only once, please\n↻"]


async def test_without_resending_an_unproven_reply_is_left_alone(api, bot_process):
    """With re-sending switched off, what cannot be proven to be sent is not sent again."""
    bot = await bot_process(start=False, CONTINUITY_PROBE_IDS="0", CONTINUITY_RESEND_UNPROVEN="false")
    api.people.says(PERSON, "only once, please")
    await die(bot, "outbox_sent_unrecorded")

    await bot.start()
    api.people.says(PERSON, "next")
    await answered(api, PERSON, "next")

    assert len(answers_to(api, PERSON, "only once, please")) == 1
