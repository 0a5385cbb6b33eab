"""What was forgotten may stand elsewhere: what a restore set aside, answers that repeat it. It is said (P13)."""

from __future__ import annotations

import shutil

import pytest
from story import FRIEND, bot_texts, reply, rows, shows, stored_turns, tap

pytestmark = pytest.mark.acceptance

MARK = "before-restore-20261121T222340123Z"


@pytest.mark.file
async def test_what_a_restore_set_aside_is_deleted_or_named(api, bot_here):
    """/forget everything deletes the person's checkpoints there and names the copy of everybody's database."""
    bot = await bot_here()
    await reply(api, "My dog is called Zebrafish.")
    await reply(api, "My cat is called Mia.", FRIEND, FRIEND)
    await bot.app.joined.memory.recorder.settle()
    aside = bot.checkpoints / MARK
    aside.mkdir()
    for checkpoint in bot.checkpoints.glob("*.json"):
        shutil.copy(checkpoint, aside / checkpoint.name)
        shutil.copy(checkpoint, aside / f"of-another-life-{checkpoint.name}")
    (bot.folder / f"continuity.db.{MARK}").write_bytes(b"a copy")

    await reply(api, "/forget everything")
    await tap(api, "Yes, forget it", "Forgotten")
    await shows(api, f"continuity.db.{MARK}")

    left = [checkpoint.read_text() for checkpoint in aside.iterdir()]
    assert len(left) == 2
    assert not [text for text in left if "Zebrafish" in text]


async def test_without_leftovers_nothing_is_said_of_them(api, bot_here):
    """The usual report is short."""
    await bot_here()
    await reply(api, "My dog is called Zebrafish.")
    await reply(api, "/forget everything")
    await tap(api, "Yes, forget it", "Checked")

    assert "restored" not in bot_texts(api)[-1]
    assert "of mine" not in bot_texts(api)[-1]


async def test_answers_that_repeat_what_was_forgotten_are_shown_and_go_too(api, model, bot_here):
    """An answer that says the name again is quoted in the report; [Forget those too] lets its turn go, others stay."""
    bot = await bot_here()
    await reply(api, "The dog is called Zebrafish.")
    model.reply = lambda _: "Fine! And how is Zebrafish?"
    await reply(api, "How are you?")
    model.reply = lambda _: "It is four o'clock."
    await reply(api, "What time is it?")
    await reply(api, "/forget dog")
    await tap(api, "Forget 1", "Should I forget")
    await tap(api, "Yes, forget it", "Forgotten")
    report = await shows(api, "still comes up in 1 answer of mine")
    assert "how is Zebrafish?" in report.text

    await tap(api, "Forget those too", "Should I forget")
    await tap(api, "Yes, forget it", "Checked")

    assert [user for user, _ in stored_turns(bot)] == ["What time is it?"]
    assert rows(bot, "SELECT COUNT(*) FROM outbox WHERE text LIKE '%Zebrafish%'") == [(0,)]
