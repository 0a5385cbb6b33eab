"""The tour of two days is what the bot says: it is played anew and compared with the page."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from story import PERSON

pytestmark = pytest.mark.acceptance
PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "two-days.md"
NIGHT_S = 5.0
GAP_MINUTES = 0.05
"""Three seconds of silence are a night here; nothing else is different from the real clock."""

DAYS = (
    (
        ("says", "We decided to paint the boat green.", "Noted"),
        ("says", "I still have to send the harbour report to Anna.", "list"),
    ),
    (
        ("says", "Good morning!", "carry forward this context"),
        ("taps", "Continue", "Carrying this forward"),
        ("says", "What is still open?", "harbour"),
        ("says", "/fresh", "Started fresh"),
        ("says", "What did we decide about the boat?", ""),
        ("says", "/continue", "I can carry forward"),
        ("taps", "Carry this forward", "Carrying this forward"),
        ("says", "What did we decide about the boat?", "green"),
        ("says", "/settings", "When a new conversation begins"),
        ("taps", "Off", "carry nothing forward"),
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


def timeless(text):
    """Leave out times of day."""
    return re.sub(r"\d\d:\d\d", "hh:mm", text)


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


async def played(api):
    """Play all days; return one text for each."""
    days = []
    for number, steps in enumerate(DAYS):
        if number:
            await asyncio.sleep(NIGHT_S)  # it is the silence that opens a session
        days.append("\n".join([await step(api, *one) for one in steps]))
    return days


async def test_the_tour_of_two_days_is_what_the_bot_says(api, bot_process):
    """Preview, continue, fresh, /continue and settings, word for word as docs/tutorial/two-days.md shows them."""
    api.people.world.user(PERSON, first_name="Mia")
    await bot_process(CONTINUITY_MODEL="offline", CONTINUITY_SESSION_GAP_MINUTES=str(GAP_MINUTES))
    days = await played(api)
    print("\n\n".join(days))  # noqa: T201 - what the page has to say when it differs

    page = timeless(PAGE.read_text(encoding="utf-8"))
    assert [timeless(day) in page for day in days] == [True] * len(DAYS)
