"""One person sends far too much at once: it is one bounded turn, they are told, and nobody else waits."""

from __future__ import annotations

import random

import pytest
from story import FRIEND, PERSON, answered, bot_texts, rows, shows, stored_turns

from memory.context.tokens import TiktokenCounter

pytestmark = pytest.mark.acceptance

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
        assert "left out" in request.said
    assert rows(bot, "SELECT state FROM inbox WHERE state <> 'done'") == []


async def test_a_message_that_fits_is_read_as_a_whole(api, model, bot_here):
    """One message of Telegram's full length is neither cut nor remarked upon."""
    bot = await bot_here()
    text = words(random.Random(2))
    api.people.says(PERSON, text.strip())
    await api.until(lambda: stored_turns(bot))
    await bot.settled()

    assert model.requests[-1].said == text.strip()
    assert not [each for each in bot_texts(api) if "a lot at once" in each]
