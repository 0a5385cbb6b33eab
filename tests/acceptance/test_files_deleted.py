"""[Delete] of a file: which one it is, what goes with it, what stays and is named, and what the model hears of it."""

from __future__ import annotations

import io

import pytest
from loopback.model import ToolCall, echo
from PIL import Image
from story import PERSON, asked, bot_lines, reply, rows, shows, tap

from bot import replies

pytestmark = pytest.mark.acceptance

SLIP = "Slip of the school for the class trip: leaving at 8:30, bring wellies, at most 20 euros pocket money."
TILES = "Grey hexagonal tiles beside an oak floor."
PACK = "Pack for the class trip: wellies, pocket money at most 20 euros"
SHOP = "The tile shop is in Harbour Street"


def photo(colour):
    out = io.BytesIO()
    Image.new("RGB", (64, 48), colour).save(out, "JPEG")
    return out.getvalue()


def model_of(messages):
    """Describe the red picture as a slip, the others as tiles; note what the story needs."""
    said = str(messages[-1].get("content"))
    if "Describe the picture" in str(messages[0]):
        return SLIP if "slip" in _seen else TILES
    if messages[-1]["role"] == "tool":
        return "Noted."
    if "please note it" in said:
        return [ToolCall("note", {"text": PACK, "kind": "task"})]
    if "call Ana" in said:
        return [ToolCall("note", {"text": "Call Ana about Friday", "kind": "task"}, "call_2")]
    if "picture #2" in said and "remarks" not in said:
        return [ToolCall("note", {"text": SHOP, "kind": "fact"}, "call_3")]
    return "It says: leaving at 8:30." if "picture #1" in said else echo(messages)


_seen: list[str] = []


async def sends(api, bot, data, what):
    """Send a picture without a word; return once it was answered and described."""
    before = len(bot_lines(api))
    _seen[:] = [what]
    known = rows(bot, "SELECT COUNT(*) FROM files WHERE described <> ''")[0][0]
    api.people.sends_file(PERSON, data, kind="photo")
    await api.until(lambda: len(bot_lines(api)) > before)
    await api.until(lambda: rows(bot, "SELECT COUNT(*) FROM files WHERE described <> ''")[0][0] > known)


@pytest.fixture
async def bot(api, model, bot_here):
    """A week with two pictures: of one the person had something noted, of the other nobody asked for anything."""
    bot = await bot_here()
    model.reply = model_of
    await sends(api, bot, photo("red"), "slip")
    await reply(api, "yes, he goes, please note it")
    await reply(api, "and I have to call Ana about Friday")
    await sends(api, bot, photo("grey"), "tiles")
    return bot


def notes(bot) -> list[str]:
    return [text for (text,) in rows(bot, "SELECT text FROM notes WHERE text <> '…' ORDER BY number")]


async def test_pictures_are_told_apart_by_what_they_show(api, bot):
    """In the list, and above the picture that is sent back."""
    listed = await reply(api, "/files")
    await tap(api, replies.say("file_send", number=1), on=listed)
    await bot.settled()

    assert "2. Grey hexagonal tiles beside an oak floor (picture, 1 KB)" in listed.text
    assert "1. Slip of the school for the class trip: leaving at 8:30… (picture, 1 KB)" in listed.text
    assert api.calls_of("sendPhoto")[-1].params["caption"].startswith("Slip of the school for the class trip")


async def deleted(api, listed, number):
    """Delete a file of the list and return what is said of it."""
    question = await tap(api, replies.say("file_delete", number=number), "Should I delete", on=listed)
    return await tap(api, replies.say("file_delete_yes"), "Deleted", on=question)


async def test_a_file_is_deleted_only_when_it_is_asked_for_twice(api, bot):
    """Nothing brings it back: the first tap names it, and [Never mind] shows the list again."""
    listed = await reply(api, "/files")
    question = await tap(api, replies.say("file_delete", number=1), "Should I delete", on=listed)
    again = await tap(api, replies.say("never_mind"), "newest first", on=question)

    assert question.text.startswith("Should I delete your picture “Slip of the school")
    assert again.text == listed.text
    assert rows(bot, "SELECT number FROM files ORDER BY number") == [(1,), (2,)]


async def test_notes_that_were_asked_for_stay_and_are_named(api, model, bot):
    """The button under it forgets them, with the message that read the picture out; what is beside it stays."""
    listed = await reply(api, "/files")
    said = await deleted(api, listed, 1)

    assert said.text.startswith("Deleted: your picture “Slip of the school")
    assert said.text.endswith(f"and so do your notes from it:\n• {PACK}")
    assert notes(bot) == [PACK, "Call Ana about Friday"]

    question = await tap(api, replies.say("forget_those_too"), "That would be gone|would go", on=said)
    assert PACK in question.text
    assert "Call Ana" not in question.text
    await tap(api, replies.say("forget_yes"), "forgotten", on=question)
    await bot.settled()
    assert notes(bot) == ["Call Ana about Friday"]
    assert rows(bot, "SELECT 1 FROM conversation_turns WHERE assistant_text LIKE '%leaving at 8:30%'") == []


async def test_no_note_is_made_of_a_file_alone(api, model, bot):
    """The model wanted one from a picture without a word, and was told to ask: nothing rests on that file."""
    listed = await reply(api, "/files")
    said = await deleted(api, listed, 2)

    assert said.text.endswith("\nWhat we wrote about it stays in our conversation.")
    assert notes(bot) == [PACK, "Call Ana about Friday"]
    assert rows(bot, "SELECT number FROM files") == [(1,)]


async def test_the_model_hears_that_a_file_is_gone(api, model, bot):
    """As long as its messages still name it, and only then."""
    await reply(api, "any remarks on that?")
    assert "Deleted by the person" not in asked(model)[-1].text
    await deleted(api, await reply(api, "/files"), 1)
    await reply(api, "any remarks on the slip?")

    assert "Deleted by the person: file #1." in asked(model)[-1].text
    await shows(api, "any remarks on the slip?")
