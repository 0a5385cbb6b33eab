"""What became of the bot is told in every chat, and told again to a page that is loaded anew."""

from __future__ import annotations

from bot.playground.events import BotEvents


def test_a_kill_and_the_way_back_stand_behind_the_message_of_that_moment():
    """The first start is no event, nor that it starts once more; a chat in which nothing was said is told nothing."""
    events = BotEvents()
    for state, note in (("starting", ""), ("running", ""), ("killed", "killed -9"), ("starting", "killed -9")):
        events.heard(state, note, 1000, {7: 3, 8: 0})
    events.heard("running", "1 turn resumed", 2000, {7: 4, 8: 0})

    told = events.of_chat(7)

    assert [(each["text"], each["after"]) for each in told] == [
        ("the bot was killed -9", 3),
        ("it's back: 1 turn resumed", 4),
    ]
    assert events.of_chat(8) == []
    assert len(events.of_chat(8, whole=True)) == 2


def test_what_keeps_the_bot_from_starting_is_told_once():
    """Until a reset, after which all begins anew."""
    events = BotEvents()
    for _ in range(2):
        events.heard("failed", "another bot (process 7) works in this folder", 1000, {7: 1})

    assert [each["text"] for each in events.of_chat(7)] == ["another bot (process 7) works in this folder"]
    events.forget()
    assert events.of_chat(7) == []
