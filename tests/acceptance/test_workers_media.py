"""Everything that people send, over two workers on one database: one is killed, the other reads what it had begun."""

from __future__ import annotations

import asyncio
import os
import random

import pytest
from sent_media import KINDS, Sent, repeats
from story import rows, swept

pytestmark = [pytest.mark.acceptance, pytest.mark.crash, pytest.mark.postgres, pytest.mark.sweep]

STEPS = ["file_linked", "file_downloaded", "file_fetched", "file_read", "file_indexed", "file_heard", "file_known"]


@pytest.fixture
def workers(api, model, postgres, bot_process, sounds):
    """Offer a factory of workers that share one database and nothing else; the first may begin before the others."""

    async def make(*envs, begin=None):
        model.reply = repeats
        hears = {"CONTINUITY_TRANSCRIBE": "openai:whisper-1", "CONTINUITY_TRANSCRIBE_URL": sounds.url}
        made = []
        for number, env in enumerate(envs):
            folder = f"worker{number}"
            bot = await bot_process(start=False, folder=folder, CONTINUITY_DATABASE_URL=postgres, **hears)
            bot.database = postgres
            await (bot.launch(**env) if made else bot.start(**env))
            made.append(bot)
            if begin and len(made) == 1:
                await begin(bot)
        if not begin:
            await api.until(lambda: len(rows(made[0], "SELECT worker FROM workers")) == len(made))
        return made

    return make


def assert_bytes_are_in_rows(bot) -> None:
    """No file's bytes are missing, and none lie there that no file names."""
    kept = rows(bot, "SELECT DISTINCT digest FROM file_chunks")
    named = rows(bot, "SELECT DISTINCT digest FROM files")
    assert set(kept) == set(named)


@pytest.mark.parametrize("step", swept(STEPS, "file_fetched", "file_heard"))
async def test_what_a_killed_worker_had_begun_to_read_the_other_one_reads(api, workers, step):
    """It dies over the second file that comes to this step, whosever that is: each is read and answered once."""
    sent, saying = Sent([7101, 7108], 7), []

    async def begin(first):
        saying.extend(asyncio.create_task(sent.say(api, person, 60)) for person in sent.people)
        held = "SELECT COUNT(*) FROM leases WHERE name LIKE '%:710_'"
        await api.until(lambda: rows(first, held)[0][0] == len(sent.people))

    dying, other = await workers({"CONTINUITY_FAULT": f"{step}:2"}, {}, begin=begin)
    await asyncio.gather(*saying)

    assert await dying.wait() == -9
    sent.check(api, other)
    assert_bytes_are_in_rows(other)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(int(os.environ.get("CONTINUITY_SOAK_SEEDS", "3"))))
async def test_storms_of_media_over_two_workers(api, workers, seed):
    """Four chats send all kinds, and one worker or the other is killed and started again at random all the while."""
    bots = await workers({}, {})
    chance, done, kills = random.Random(seed), asyncio.Event(), 0
    sent = Sent([7200 + number for number in range(4)], len(KINDS))

    async def kill() -> int:
        count = 0
        while not done.is_set():
            try:
                await asyncio.wait_for(done.wait(), chance.uniform(0.5, 7.0))
            except TimeoutError:
                bot = chance.choice(bots)
                await bot.kill()
                await bot.launch()
                count += 1
        return count

    killer = asyncio.create_task(kill())
    await asyncio.gather(*(sent.say(api, person) for person in sent.people))
    done.set()
    kills = await killer
    for bot in bots:
        await bot.terminate()

    assert kills > 0
    sent.check(api, bots[0], f"seed {seed}")
    assert_bytes_are_in_rows(bots[0])
