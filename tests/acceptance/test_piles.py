"""One person sends far too much at once: it is one bounded turn, they are told, and nobody else waits."""

from __future__ import annotations

import random

import pytest
from loopback.model import Gate
from story import FRIEND, PERSON, answered, bot_texts, rows, shows, stored_turns

from memory.context.tokens import TiktokenCounter

pytestmark = [pytest.mark.acceptance, pytest.mark.sweep]

PILE, PIECE_CHARS = 300, 4096


def words(chance: random.Random) -> str:
    return " ".join(chance.choice(("river", "table", "Monday", "seven")) for _ in range(900))[:PIECE_CHARS]


def hexadecimal(chance: random.Random) -> str:
    return f"{chance.getrandbits(4 * PIECE_CHARS):0{PIECE_CHARS}x}"[:PIECE_CHARS]


@pytest.mark.parametrize("kind", [words, hexadecimal, lambda _: "我" * PIECE_CHARS, lambda _: "> x\n" * 1024])
async def test_a_pile_from_one_person_is_one_bounded_turn_and_nobody_waits(api, model, bot_here, kind):
    """300 messages of 4,096 characters, then a word from somebody else, who is answered first."""
    bot = await bot_here()
    chance, counter = random.Random(1), TiktokenCounter()
    for _ in range(PILE):
        api.people.says(PERSON, kind(chance))
    api.people.says(FRIEND, "hello?")

    await answered(api, FRIEND, "hello?", 60)
    assert not [text for text in bot_texts(api, PERSON) if text.startswith("You said")]
    await shows(api, "That was a lot at once")
    await bot.settled()

    asked = [request for request in model.requests if "hello?" not in request.said]
    assert len(asked) == len(stored_turns(bot)) - 1 <= 4
    for request in asked:
        assert counter.count(request.said) <= 4_100
        assert "…" in request.said
    assert rows(bot, "SELECT state FROM inbox WHERE state <> 'done'") == []


FEW, MANY = 1_000, 10_000


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.soak)])
async def test_a_flood_of_tiny_messages_from_a_stranger_is_one_line_and_nothing_stored(api, model, bot_here, count):
    """They hear one line, nothing of theirs is stored or kept in memory, and who is let in is answered meanwhile."""
    bot = await bot_here(CONTINUITY_ALLOWED_USERS=str(FRIEND))
    for _ in range(count // 2):
        api.people.says(PERSON, "a")
    api.people.says(FRIEND, "hello?")
    last = [api.people.says(PERSON, "a").update_id for _ in range(count // 2)][-1]

    await answered(api, FRIEND, "hello?")
    await api.until(lambda: api.is_confirmed(last), 600)
    await bot.settled()

    assert len(bot_texts(api, PERSON)) == 1
    assert len(model.requests) == 1
    assert [len(stored) for stored in (rows(bot, "SELECT 1 FROM inbox"), stored_turns(bot))] == [1, 1]
    assert bot.app.joined.lanes.waiting(f"tg:{api.world.bot['id']}:{PERSON}:0") == 0


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.soak)])
async def test_a_flood_of_tiny_messages_from_one_person_is_few_turns_and_nobody_waits(api, model, bot_here, count):
    """While the first is answered the rest becomes one pile after the other; somebody else is answered meanwhile."""
    bot = await bot_here()
    model.gate = Gate()
    for number in range(count):
        api.people.says(PERSON, f"{number}")
    await api.until(lambda: not api.updates.waiting, 600)
    api.people.says(FRIEND, "hello?")
    await model.until(lambda: any("hello?" in request.said for request in model.requests))
    assert len(model.requests) <= 2 + count // FEW
    model.gate.open()
    await answered(api, FRIEND, "hello?")
    await api.until(lambda: not rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done' LIMIT 1"), 600)
    await bot.settled()

    heard = "\n".join(text for text, _ in stored_turns(bot) if text != "hello?").splitlines()
    assert heard == [f"{number}" for number in range(count)]
    assert len(bot_texts(api, PERSON)) <= 2 + count // 100


async def test_a_message_that_fits_is_read_as_a_whole(api, model, bot_here):
    """One message of Telegram's full length is neither cut nor remarked upon."""
    bot = await bot_here()
    text = words(random.Random(2))
    api.people.says(PERSON, text.strip())
    await api.until(lambda: stored_turns(bot))
    await bot.settled()

    assert model.requests[-1].said == text.strip()
    assert not [each for each in bot_texts(api) if "a lot at once" in each]


async def test_a_flood_of_taps_on_nothing_leaves_no_row_and_few_words(api, model, bot_here):
    """2,000 taps on buttons that nobody knows; somebody else is answered in the middle of them."""
    bot = await bot_here()
    first = api.people.says(PERSON, "hello")
    await answered(api, PERSON, "hello")
    message = api.world.chats[PERSON].messages[first.message_id].message
    who = api.world.users[PERSON]

    def taps(begin: int, end: int) -> int:
        queries = (
            {"id": f"q{n}", "from": who, "message": message, "chat_instance": "1", "data": f"b_{n}"}
            for n in range(begin, end)
        )
        return [api.updates.add({"callback_query": query}) for query in queries][-1]

    taps(0, 1_000)
    api.people.says(FRIEND, "hello?")
    last = taps(1_000, 2_000)
    api.world.changed()
    await answered(api, FRIEND, "hello?")
    await api.until(lambda: api.is_confirmed(last))
    await bot.settled()

    assert len(rows(bot, "SELECT 1 FROM inbox")) == 2
    assert 1 <= len(api.calls_of("answerCallbackQuery")) <= 60
