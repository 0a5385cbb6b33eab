"""Messages become parts within Telegram's limits; buttons carry opaque ids."""

from __future__ import annotations

import orjson
from hypothesis import given
from hypothesis import strategies as st

from bot.delivery.message_ids import HighestMessageIds
from bot.delivery.outbox import MAX_UTF16, Button, Mention, Outbox, OutgoingMessage, Target, mentioned, render
from memory.testing import ManualClock, SequentialIds

TARGET = Target(9, "tg:9:7:0", 7, None, 7)


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def outbox():
    return Outbox(None, ManualClock(), SequentialIds(), HighestMessageIds())


def test_markdown_becomes_text_and_entities():
    """No Markdown or HTML string ever goes out."""
    ((text, entities),) = render("**bold** and `code`", markdown=True)

    assert text == "bold and code"
    assert [entity["type"] for entity in entities] == ["bold", "code"]


def test_plain_text_is_left_alone():
    """What is not Markdown keeps its asterisks."""
    assert render("2 * 3 * 4 _x_", markdown=False) == [("2 * 3 * 4 _x_", [])]


@given(st.text(min_size=1, max_size=30_000), st.booleans())
def test_every_part_fits(text, markdown):
    """Whatever the text, there is at least one part, and each is within 4096 UTF-16 units and not blank."""
    parts = render(text, markdown=markdown)

    assert parts
    assert all(0 < units(part) <= MAX_UTF16 and part.strip() for part, _ in parts)


@given(st.lists(st.sampled_from(["🐕", "word ", "**b** ", "\n\n", "`c` "]), min_size=1, max_size=40))
def test_entities_stay_inside_their_part(pieces):
    """Splitting cuts entities with the text; none reaches beyond the end of its part."""
    for part, entities in render("".join(pieces) * 100, markdown=True):
        assert all(entity["offset"] + entity["length"] <= units(part) for entity in entities)
        assert len(entities) <= 100


def test_parts_are_numbered_and_buttons_hang_on_the_last():
    """One row per part, in order; the reply quote is on the first, the keyboard on the last."""
    message = OutgoingMessage("word " * 2000, buttons=((Button("Yes", "act", {"n": 1}),),), reply_to_message_id=3)
    parts, statements = outbox().compose(TARGET, message, "t_1")

    assert [part.part_no for part in parts] == [0, 1, 2]
    assert [part.position for part in parts] == [1, 2, 3]
    assert [part.reply_to_message_id for part in parts] == [3, None, None]
    assert [bool(part.markup) for part in parts] == [False, False, True]
    assert [statement.name for statement in statements] == ["button_insert", *["outbox_insert"] * 3]


def test_a_button_carries_only_an_id():
    """Telegram sees neither the action nor its payload; the row names who may tap."""
    parts, statements = outbox().compose(TARGET, OutgoingMessage("?", buttons=((Button("Go", "act", {"secret": 1}),),)))
    data = parts[0].markup["inline_keyboard"][0][0]["callback_data"]

    assert len(data) <= 64
    assert statements[0].params["button_id"] == data
    assert statements[0].params["user_id"] == 7
    assert orjson.loads(statements[0].params["payload_json"]) == {"secret": 1}


def test_a_name_that_a_text_says_is_a_mention():
    """Telegram tells whoever it is; an emoji before it counts two units, and a part of another word is no name."""
    text = "🎂 Marion, Mario: cake"
    [entity] = mentioned(text, [Mention("Mario", 203), Mention("Priya"), Mention("Zoe", 9)])

    assert entity == {
        "type": "text_mention", "offset": 11, "length": 5,
        "user": {"id": 203, "is_bot": False, "first_name": "Mario"},
    }  # fmt: skip
