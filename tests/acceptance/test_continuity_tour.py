"""The tour of two days is what the bot says: it is played again and compared with the page."""

from __future__ import annotations

import pytest
from pages import ROOT, blocks, text_of, write
from story import PERSON

pytestmark = pytest.mark.acceptance
PAGE = ROOT / "docs" / "tutorial" / "two-days.md"
NIGHT_HOURS = 23
"""She comes an hour earlier each morning."""

DAYS = (
    (
        ("says", "We decided to paint the boat green.", "decided", 1),
        ("says", "I still have to send the harbour report to Anna.", "list", 1),
    ),
    (
        ("says", "Good morning!", "Carrying on from", 2),
        ("says", "What is still open?", "harbour", 1),
        ("says", "/fresh", "Fresh start", 1),
        ("says", "What did we decide about the boat?", "", 1),
        ("says", "/continue", "Here's what we could go on with", 1),
        ("taps", "Carry this forward", "Carrying this forward", 1),
        ("says", "What did we decide about the boat?", "green", 1),
    ),
    (
        ("says", "What is still open?", "harbour", 1),
        ("says", "/settings", "When a new conversation begins", 1),
        ("taps", "Ask", "I ask whether", 1),
    ),
    (
        ("says", "Hello again!", "carry forward this context", 1),
        ("taps", "Carry on", "Carrying this forward", 2),
        ("says", "Done: send the harbour report to Anna.", "", 1),
        ("says", "/settings", "When a new conversation begins", 1),
        ("taps", "Off", "carry anything forward", 1),
    ),
    (("says", "Good evening!", "", 1),),
)


def seen(api):
    return {line.message_id: (line.text, line.buttons) for line in api.view(PERSON).lines if line.by_bot}


def told(text, buttons):
    """Return one message of the bot as the page shows it."""
    rows = ["  ".join(f"[{button}]" for button in row) for row in buttons]
    first, *rest = [*text.splitlines(), *rows]
    return "\n".join([f"bot {first}", *(f"    {line}".rstrip() for line in rest)])


async def step(api, kind, words, expected, count):
    """Do one thing and return what appeared or changed on the screen once the answer is there."""
    before = {message_id: text for message_id, (text, _) in seen(api).items()}
    if kind == "says":
        api.people.says(PERSON, words)
    else:
        api.people.presses(PERSON, words)

    def changed():
        return {key: one for key, one in seen(api).items() if before.get(key) != one[0]}

    await api.until(lambda: len(changed()) >= count and any(expected in text for text, _ in changed().values()))
    spoken = f"you {words}" if kind == "says" else f"you tap [{words}]"
    return "\n".join([spoken, *(told(*one) for _, one in sorted(changed().items()))])


async def played(api, bot):
    """Play all days; return one text for each."""
    days = []
    for number, steps in enumerate(DAYS):
        if number:
            await bot.passes(hours=NIGHT_HOURS)
        days.append("\n".join([await step(api, *one) for one in steps]))
    return days


async def test_the_tour_of_two_days_is_what_the_bot_says(api, bot_here, write_pages):
    """The return, /fresh, /continue and /settings, word for word as docs/tutorial/two-days.md shows them."""
    api.people.world.user(PERSON, first_name="Mia")
    bot = await bot_here(CONTINUITY_MODEL="offline")
    days = await played(api, bot)
    if write_pages:
        write(PAGE, days)

    assert [day.rstrip("\n") for day in blocks(text_of(PAGE), "text")] == days
