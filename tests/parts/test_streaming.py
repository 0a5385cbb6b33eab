"""An answer that grows on the screen; whatever goes wrong with the preview, the answer comes (P5)."""

from __future__ import annotations

import asyncio

import pytest
from telegram.error import BadRequest, InvalidToken, NetworkError

from bot.delivery import streaming
from bot.delivery.outbox import Target

HERE = Target(99, "tg:99:7:0", 7)
GROUP = Target(99, "tg:99:-5:0", -5)
TURN = "t_0a1b2c"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Show what grows without Telegram's pauses."""
    for name in ("UNSEEN_S", "TYPING_EVERY_S", "DRAFT_EVERY_S", "EDIT_EVERY_S"):
        monkeypatch.setattr(streaming, name, 0.001)


async def test_a_private_answer_grows_as_a_draft(one, screen):
    """Each draft shows the whole text so far, under one number, and no message is sent for it."""
    async with one.services.previews.live(HERE, TURN, "draft", None) as live:
        for text in ("Once", "Once upon a time"):
            live.grow(text)
            await screen.until(lambda text=text: text in [each["text"] for each in screen.of("send_message_draft")])

    assert len({each["draft_id"] for each in screen.of("send_message_draft")}) == 1
    assert (screen.sent, live.message_id) == ([], None)


async def test_what_grows_shows_no_marks_that_are_not_closed_yet(one, screen):
    """The stars of a bold word, a heading and a list are no text; the final answer has their forms."""
    async with one.services.previews.live(HERE, TURN, "draft", None) as live:
        live.grow("## Cream\n- **Lemon curd** keeps, 2**3 times, **and ano")
        await screen.until(lambda: screen.of("send_message_draft"))

    assert screen.of("send_message_draft")[-1]["text"] == "Cream\n• Lemon curd keeps, 2**3 times, and ano"


async def test_an_answer_in_a_group_grows_in_one_message_that_a_restart_finds(one, screen):
    """The first text is a message of its own, on record; what follows edits it."""
    async with one.services.previews.live(GROUP, TURN, "edit", 3) as live:
        live.grow("Once")
        await screen.until(lambda: screen.sent)
        live.grow("Once upon a time")
        await screen.until(lambda: screen.of("edit_message_text"))

    assert screen.sent == ["Once …"]
    assert screen.of("edit_message_text")[0]["message_id"] == live.message_id
    assert await one.rows("outbox", "kind, turn_id, message_id") == [("preview", TURN, live.message_id)]


async def test_a_preview_from_before_the_death_is_taken_up(start, screen):
    """The next start edits the message that shows the beginning of this turn."""
    one = await start()
    async with one.services.previews.live(GROUP, TURN, "edit", 3) as before:
        before.grow("Once")
        await screen.until(lambda: screen.sent)
    one = await start()
    async with one.services.previews.live(GROUP, TURN, "edit", 3) as live:
        assert live.message_id == before.message_id


@pytest.mark.parametrize(
    ("place", "mode", "call"), [(HERE, "draft", "send_message_draft"), (GROUP, "edit", "send_message")]
)
async def test_an_answer_that_begins_with_a_mark_shows_its_first_word_first(one, screen, place, mode, call):
    """Of the two stars of a bold word nothing is to be seen yet, and a message without a text is refused."""
    async with one.services.previews.live(place, TURN, mode, None) as live:
        for beginning in ("*", "**", "**\n", "** "):
            live.grow(beginning)
            await asyncio.sleep(0.01)
        live.grow("**Once** upon")
        await screen.until(lambda: screen.of(call))

    assert screen.of(call)[0]["text"].removesuffix(streaming.GROWING) == "Once upon"


async def test_a_draft_that_is_refused_ends_those_of_its_answer_alone(one, screen):
    """It may be about this chat or this text: the next answer grows again."""
    screen.faults["send_message_draft"] = [BadRequest("chat not found")]
    async with one.services.previews.live(HERE, TURN, "draft", None) as live:
        live.grow("Once")
        await screen.until(lambda: screen.of("send_message_draft"))
        typing = len(screen.of("send_chat_action"))
        live.grow("Once upon")
        await screen.until(lambda: len(screen.of("send_chat_action")) > typing)
    assert len(screen.of("send_message_draft")) == 1

    async with one.services.previews.live(HERE, "t_0a1b2d", "draft", None) as live:
        live.grow("And then")
        await screen.until(lambda: len(screen.of("send_message_draft")) > 1)


async def test_a_server_without_drafts_is_asked_once(one, screen):
    """From then on only "typing…" is shown."""
    screen.faults["send_message_draft"] = [InvalidToken("Not Found")]
    async with one.services.previews.live(HERE, "t_0a1b2b", "draft", None) as live:
        live.grow("A tale")
        await screen.until(lambda: screen.of("send_message_draft"))
    async with one.services.previews.live(HERE, TURN, "draft", None) as live:
        live.grow("Once")
        await screen.until(lambda: screen.of("send_message_draft"))
        for text in ("Once upon", "Once upon a time"):
            live.grow(text)
            typing = len(screen.of("send_chat_action"))
            await screen.until(lambda typing=typing: len(screen.of("send_chat_action")) > typing)

    assert len(screen.of("send_message_draft")) == 1


async def test_after_a_draft_that_did_not_get_through_the_next_is_shown(one, screen):
    """A lost line for a moment is not the end of the preview."""
    screen.faults["send_message_draft"] = [NetworkError("no line")]
    async with one.services.previews.live(HERE, TURN, "draft", None) as live:
        live.grow("Once")
        await screen.until(lambda: screen.of("send_message_draft"))
        live.grow("Once upon a time")
        await screen.until(lambda: len(screen.of("send_message_draft")) > 1)

    assert screen.of("send_message_draft")[-1]["text"] == "Once upon a time"


@pytest.mark.parametrize("fault", [NetworkError("no line"), BadRequest("not now")])
async def test_what_goes_wrong_with_the_preview_is_not_the_answers_fault(start, screen, script, fault):
    """No draft and no "typing…" gets through: the reply comes, whole and once."""
    screen.faults["send_message_draft"] = [fault] * 9
    screen.faults["send_chat_action"] = [fault] * 9

    async def grows(_ask, show):
        show("Once")
        await asyncio.sleep(0)
        return "Once upon a time."

    script.reply = grows
    one = await start(continuity_streaming="draft")
    await one.take(1, "a story, please")
    await one.settled()

    assert screen.sent == ["Once upon a time."]


def test_of_an_answer_that_is_too_long_for_a_message_the_end_is_shown():
    """What was just written is what one wants to see."""
    text = streaming.shown_text("begin " + "x" * 5000 + " end")

    assert len(text) <= streaming.MAX_SHOWN_CHARS + 2
    assert text.startswith("… ")
    assert text.endswith(" end")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("## Add\n```python\n# add one\n- x ** 2 **kw", "Add\n```python\n# add one\n- x ** 2 **kw"),
        ("```\n**kw\n```\n# **So**\n* one", "```\n**kw\n```\nSo\n• one"),
        ("**Call `f(**kw)`** with `*a", "Call `f(**kw)` with `*a"),
    ],
)
def test_code_keeps_its_signs_while_it_grows(text, shown):
    """A comment is no heading, and two stars are a power: what follows the code is without marks again."""
    assert streaming.shown_text(text) == shown
