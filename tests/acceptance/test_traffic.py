"""Traffic from several chats while the bot is killed at random: nothing is lost, repeated, reordered or forgotten."""

from __future__ import annotations

import asyncio
import os
import random

import pytest
from sent_media import KINDS, Sent, repeats
from story import answered, rows

pytestmark = [pytest.mark.acceptance, pytest.mark.crash, pytest.mark.sweep]


async def talk(api, chat_id: int, count: int) -> None:
    """Say `count` things, each after the answer to the one before."""
    for number in range(1, count + 1):
        text = f"chat {chat_id} message {number}"
        api.people.says(chat_id, text)
        await answered(api, chat_id, text, 120)


async def kill_at_random(bot, chance: random.Random, done: asyncio.Event, kills: list[float]) -> None:
    """Kill and start the bot again and again until all is said."""
    while not done.is_set():
        pause_s = chance.uniform(0.3, 7.0)
        try:
            await asyncio.wait_for(done.wait(), pause_s)
        except TimeoutError:
            kills.append(pause_s)
            await bot.kill()
            await bot.launch()


async def storm(api, model, bot, *, seed: int, chats: int, messages: int) -> int:
    """Let several people talk while the bot dies at random; check the promises; return the number of kills."""
    chance, done, kills = random.Random(seed), asyncio.Event(), []
    killer = asyncio.create_task(kill_at_random(bot, chance, done, kills))
    people = [5000 + number for number in range(chats)]
    await asyncio.gather(*(talk(api, person, messages) for person in people))
    done.set()
    await killer
    await bot.terminate()

    for person in people:
        said = [f"chat {person} message {number}" for number in range(1, messages + 1)]
        expected = [line for text in said for line in (text, f"You said: {text}")]
        assert [line.text for line in api.view(person).lines] == expected, f"seed {seed}"
        stored = rows(
            bot,
            "SELECT user_text FROM conversation_turns WHERE conversation_id LIKE :c ORDER BY seq",
            c=f"%:{person}:0",
        )
        assert [text for (text,) in stored] == said, f"seed {seed}"
    assert_remembered(model)
    return len(kills)


def assert_remembered(model) -> None:
    """Every request but a chat's first was given the turn before, as it was said."""
    for request in model.requests:
        chat, number = request.said.split(" message ")
        before = f"{chat} message {int(number) - 1}"
        if int(number) > 1:
            assert any(role == "user" and text.endswith(before) for role, text in request.messages)


async def test_random_kills_lose_repeat_and_forget_nothing(api, model, bot_process):
    """Five chats, twelve messages each, the process killed at random all the while."""
    bot = await bot_process()

    kills = await storm(api, model, bot, seed=1, chats=5, messages=12)

    assert kills > 0


async def chatter(api, chat_id: int, count: int, chance: random.Random) -> None:
    """Say things without waiting for answers."""
    for number in range(1, count + 1):
        api.people.says(chat_id, f"chat {chat_id} message {number}")
        await asyncio.sleep(chance.uniform(0.0, 1.5))


@pytest.mark.parametrize("seed", [7, *(pytest.param(each, marks=pytest.mark.soak) for each in range(8, 14))])
async def test_people_who_do_not_wait_are_heard_once_and_in_order(api, bot_process, seed):
    """Messages pour in while the process is killed: each is in exactly one turn, in order, answered once."""
    bot = await bot_process()
    chance, done, kills = random.Random(seed), asyncio.Event(), []
    killer = asyncio.create_task(kill_at_random(bot, chance, done, kills))
    people = [6000 + number for number in range(4)]
    said = {person: [f"chat {person} message {number}" for number in range(1, 7)] for person in people}
    await asyncio.gather(*(chatter(api, person, 6, chance) for person in people))

    def heard(person: int) -> list[str]:
        query = "SELECT user_text FROM conversation_turns WHERE conversation_id LIKE :c ORDER BY seq"
        return [text for (text,) in rows(bot, query, c=f"%:{person}:0")]

    def settled() -> bool:
        everything = all("\n".join(heard(person)).count("message") == 6 for person in people)
        return everything and not rows(bot, "SELECT 1 FROM outbox WHERE state IN ('queued', 'sending')")

    await api.until(settled, 120)
    done.set()
    await killer
    await api.until(settled, 60)

    for person in people:
        turns = heard(person)
        shown = [line.text for line in api.view(person).lines if line.by_bot]
        assert "\n".join(turns).split("\n") == said[person]
        assert shown == [f"You said: {turn.splitlines()[-1]}" for turn in turns]


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(int(os.environ.get("CONTINUITY_SOAK_SEEDS", "5"))))
async def test_long_storms(api, model, bot_process, seed):
    """The same for longer, with other chances."""
    bot = await bot_process()

    await storm(api, model, bot, seed=100 + seed, chats=8, messages=15)


async def storm_of_media(api, model, bot, *, seed: int, chats: int, messages: int) -> int:
    """People send everything that can be sent while the bot dies at random; return the number of kills."""
    model.reply = repeats
    chance, done, kills = random.Random(seed), asyncio.Event(), []
    killer = asyncio.create_task(kill_at_random(bot, chance, done, kills))
    sent = Sent([7000 + number for number in range(chats)], messages)
    await asyncio.gather(*(sent.say(api, person) for person in sent.people))
    done.set()
    await killer
    await bot.terminate()
    sent.check(api, bot, f"seed {seed}")
    return len(kills)


@pytest.mark.soak
@pytest.mark.file
@pytest.mark.parametrize("seed", range(int(os.environ.get("CONTINUITY_SOAK_SEEDS", "3"))))
async def test_storms_with_everything_that_people_send(api, model, bot_process, sounds, seed):
    """Four chats send each of fourteen kinds, from a text to an album, the process killed at random all the while."""
    bot = await bot_process(CONTINUITY_TRANSCRIBE="openai:whisper-1", CONTINUITY_TRANSCRIBE_URL=sounds.url)

    assert await storm_of_media(api, model, bot, seed=200 + seed, chats=4, messages=len(KINDS)) > 0
