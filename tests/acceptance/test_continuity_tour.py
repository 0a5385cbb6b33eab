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
        ("says", "We decided to paint the boat green.", "decided"),
        ("says", "I still have to send the harbour report to Anna.", "list"),
    ),
    (
        ("says", "Good morning!", "carry forward this context"),
        ("taps", "Continue", "Carrying this forward"),
        ("says", "What is still open?", "harbour"),
        ("says", "/fresh", "Fresh start"),
        ("says", "What did we decide about the boat?", ""),
        ("says", "/continue", "I can carry this forward"),
        ("taps", "Carry this forward", "Carrying this forward"),
        ("says", "What did we decide about the boat?", "green"),
        ("says", "/settings", "When a new conversation begins"),
        ("taps", "Off", "carry anything forward"),
    ),
    (("says", "Hello again!", ""),),
)


def seen(api):
    return {line.message_id: (line.text, line.buttons) for line in api.view(PERSON).lines if line.by_bot}


def told(text, buttons):
    """Return one message of the bot as the page shows it."""
    rows = ["  ".join(f"[{button}]" for button in row) for row in buttons]
    first, *rest = [*text.splitlines(), *rows]
    return "\n".join([f"bot {first}", *(f"    {line}".rstrip() for line in rest)])


async def step(api, kind, words, expected):
    """Do one thing and return what appeared or changed on the screen once the answer is there."""
    before = {message_id: text for message_id, (text, _) in seen(api).items()}
    if kind == "says":
        api.people.says(PERSON, words)
    else:
        api.people.presses(PERSON, words)

    def changed():
        return {key: one for key, one in seen(api).items() if before.get(key) != one[0]}

    greeted = 2 if words == "Continue" else 1
    await api.until(lambda: len(changed()) >= greeted and any(expected in text for text, _ in changed().values()))
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
    """Preview, continue, fresh, /continue and settings, word for word as docs/tutorial/two-days.md shows them."""
    api.people.world.user(PERSON, first_name="Mia")
    bot = await bot_here(CONTINUITY_MODEL="offline")
    days = await played(api, bot)
    if write_pages:
        write(PAGE, days)

    assert [day.rstrip("\n") for day in blocks(text_of(PAGE), "text")] == days
