"""People and groups by their names, for whoever looks at their chats from outside."""

from __future__ import annotations

from bot.people.names import Names, initials


def test_a_chat_is_named_after_who_writes_there_and_its_number_is_at_hand():
    """A person, a group's topic; a chat whose name nobody knows yet, and one over HTTP, are told by their number."""
    names = Names({7: "Sam van Field", -100: "Flat"})

    sam, topic, stranger = names.chat("tg:1:7:0"), names.chat("tg:1:-100:12"), names.chat("tg:1:8:0")
    local = names.chat(f"tg:1:{(1 << 60) + 123456}:0")

    assert (sam.name, sam.initials, sam.place) == ("Sam van Field", "SF", "Telegram chat 7")
    assert (topic.name, topic.initials) == ("Flat, topic 12", "F")
    assert (stranger.name, stranger.initials) == ("Telegram chat 8", "#")
    assert local.name.startswith("HTTP session ")
    assert sam.colour == Names({}).chat("tg:1:7:0").colour


def test_a_key_of_another_shape_is_shown_as_it_is():
    """Nothing is made up for what is no chat of Telegram's."""
    assert Names({}).chat("elsewhere").name == "elsewhere"
    assert initials("!!! ???") == ""
