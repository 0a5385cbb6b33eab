"""Texts, entities and keyboards as Telegram counts and refuses them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.playground.bot_api.rules import (
    ApiError,
    checked_keyboard,
    checked_text,
    found_entities,
    pieces,
    utf16_units,
)


@given(st.text(max_size=40).map(lambda text: text * 300))
def test_pieces_of_a_paste_make_the_whole_and_fit(text):
    """Nothing is lost, each piece fits into a message, none is empty."""
    parts = pieces(text)

    assert "".join(parts) == text
    assert all(1 <= utf16_units(part) <= 4096 for part in parts)


def test_text_is_trimmed_and_its_entities_move_along():
    """Blank ends go away; an entity keeps its words and loses what was trimmed."""
    text, entities = checked_text({"text": "\n  hello 😀 \n", "entities": [{"type": "bold", "offset": 9, "length": 4}]})

    assert (text, entities) == ("hello 😀", [{"type": "bold", "offset": 6, "length": 2}])


def test_a_blank_that_is_formatted_stays_at_the_beginning():
    """Telegram trims only up to the first entity."""
    text, entities = checked_text({"text": "  x", "entities": [{"type": "code", "offset": 1, "length": 2}]})

    assert (text, entities[0]["offset"]) == (" x", 0)


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"text": "x", "parse_mode": "HTML"}, "parse_mode"),
        ({"text": 5}, "of type String"),
        ({"text": "x", "entities": "x"}, "Array"),
        ({"text": "x", "entities": [{"type": "bold"}]}, "offset and length"),
        ({"text": "x", "entities": [{"type": "bold", "offset": "0", "length": 1}]}, "numbers"),
    ],
)
def test_a_malformed_text_is_refused(params, why):
    """The description says what is wrong."""
    with pytest.raises(ApiError, match=why):
        checked_text(params)


def test_commands_mentions_and_links_are_found_in_utf16_units():
    """What a link contains is no command or mention of its own."""
    text = "😀 /help@my_bot ask @ann: https://x.org/start/@b, a/b"

    found = [(e["type"], text.encode("utf-16-le")[e["offset"] * 2 :][: e["length"] * 2]) for e in found_entities(text)]

    assert [(kind, raw.decode("utf-16-le")) for kind, raw in found] == [
        ("bot_command", "/help@my_bot"),
        ("mention", "@ann"),
        ("url", "https://x.org/start/@b,"),
    ]


@pytest.mark.parametrize(
    "markup",
    [
        [],
        {},
        None,
        {"inline_keyboard": []},
        {"inline_keyboard": [[]]},
        {"keyboard": [["x"]]},
        {"remove_keyboard": True},
    ],
)
def test_no_inline_buttons_are_no_keyboard(markup):
    """Empty keyboards and other markups leave nothing on a message."""
    assert checked_keyboard(markup) is None


@pytest.mark.parametrize(
    "button",
    [
        {"text": "x"},
        {"text": " ", "callback_data": "x"},
        {"text": "x", "callback_data": ""},
        {"text": "x", "callback_data": "y", "url": "https://z"},
        "x",
    ],
)
def test_a_button_does_one_thing_and_says_what(button):
    """A button without text, without an action or with two is refused."""
    with pytest.raises(ApiError):
        checked_keyboard({"inline_keyboard": [[button]]})
