"""What was forgotten may stand elsewhere: what a restore set aside, answers that repeat it. It is said (P13)."""

from __future__ import annotations

import shutil

import pytest
from story import FRIEND, PERSON, bot_texts, noting, reply, rows, shows, stored_turns, tap

from memory.keeper.session_lines import SessionLine, put_session_line

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
    await tap(api, "Yes, forget it", "forgotten")
    await shows(api, f"continuity.db.{MARK}")

    left = [checkpoint.read_text() for checkpoint in aside.iterdir()]
    assert len(left) == 2
    assert not [text for text in left if "Zebrafish" in text]


async def test_without_leftovers_nothing_is_said_of_them(api, bot_here):
    """The usual report is short."""
    await bot_here()
    await reply(api, "My dog is called Zebrafish.")
    await reply(api, "/forget everything")
    await tap(api, "Yes, forget it", "I've checked|Only the messages")

    assert "restored" not in bot_texts(api)[-1]
    assert "comes up" not in bot_texts(api)[-1]


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
    await tap(api, "Yes, forget it", "forgotten")
    report = await shows(api, "still read it here")
    assert "how is Zebrafish?" in report.text

    await tap(api, "Forget those too", "Should I forget")
    await tap(api, "Yes, forget it", "I've checked|Only the messages")

    assert [user for user, _ in stored_turns(bot)] == ["What time is it?"]
    assert rows(bot, "SELECT COUNT(*) FROM outbox WHERE text LIKE '%Zebrafish%'") == [(0,)]


@pytest.mark.parametrize("is_titled", [True, False])
@pytest.mark.parametrize("forgets", [False, True])
async def test_no_screen_names_a_session_by_what_was_forgotten(api, model, bot_here, forgets, is_titled):
    """The message of a forgotten note stays; neither the keeper's title nor the session's first words repeat it."""
    bot = await bot_here()
    said = "The door's code is quagga 77."
    model.reply = noting(said, "fact", "The door has the code quagga 77")
    await reply(api, said)
    memory, here = bot.app.services.memory, f"tg:{bot.app.services.me.bot_id}:{PERSON}:0"
    session_id = await memory.store.current_session_id(here)
    [turn] = await memory.recorder.recent_turns(session_id)
    line = SessionLine(session_id, here, "The quagga door", "The code is quagga 77.", (turn.turn_id,), 1)
    await memory.db.write(*([put_session_line(line)] if is_titled else []))
    model.reply = lambda _: "Hello!"
    if forgets:
        await reply(api, "/forget door")
        await tap(api, "Forget 1", "Should I forget")
        await tap(api, "Yes, forget it", "I've checked|Only the messages")

    told = {command: (await reply(api, command)).text for command in ("/status", "/summary", "/sessions")}
    await bot.passes(hours=100)
    await reply(api, "good morning")
    await bot.settled()
    told["first answer"] = bot_texts(api)[-1]
    told["/summary later"] = (await reply(api, "/summary")).text
    listed = await reply(api, "/continue")
    labels = [label for row in listed.buttons for label in row]
    told |= {"/continue": listed.text, "its buttons": str(labels)}
    told["taken up"] = (await tap(api, labels[-1], "back in")).text

    named = {name for name, text in told.items() if "quagga" in text}
    assert forgets or {"/summary", "/sessions", "/continue", "its buttons", "taken up"} <= named
    assert not forgets or not named
