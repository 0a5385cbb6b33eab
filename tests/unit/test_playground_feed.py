"""What is new on the screen, and what a typed line means."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from bot.playground.bot_api.world import ShownMessage
from bot.playground.chat.feed import News, news, pressed
from bot.playground.chat.screen import Screen, formatted


def line(message_id, text="x", *, by_bot=True, buttons=(), presses=(), **fields):
    return ShownMessage(message_id, "bot" if by_bot else "you", text, buttons, by_bot=by_bot, presses=presses, **fields)


ASKED = line(2, "on?", buttons=(("Yes", "No"), ("Docs",)), presses=("go", "no", "https://docs"))


def test_new_edited_and_vanished_lines_are_news():
    """Everything that a person would notice is shown, in order."""
    before = [line(1), line(2), line(3), line(4)]
    after = [line(1), line(2, "y"), line(4, buttons=(("Go",),)), line(5)]

    assert [(n.kind, n.line.message_id) for n in news(before, after)] == [
        ("edited", 2),
        ("buttons", 4),
        ("new", 5),
        ("gone", 3),
    ]


def test_buttons_that_vanish_and_old_lines_that_are_dropped_are_no_news():
    """A keyboard that was used up, and a history that was cut at its beginning, disturb nobody."""
    assert news([line(1), line(2, buttons=(("Go",),))], [line(2)]) == []


@pytest.mark.parametrize(
    ("typed", "does"),
    [
        ("1", "go"),
        ("2", "no"),
        ("3", "https://docs"),
        ("/2", "no"),
        ("4", None),
        ("0", None),
        (" 1", None),
        ("²", None),
    ],
)
def test_a_number_presses_a_button_of_the_newest_keyboard(typed, does):
    """Numbers count over all rows; what is no button is a text."""
    press = pressed(typed, [line(1, buttons=(("Old",),), presses=("old",)), ASKED, line(3)])

    assert (press and press.does) == does


def test_a_number_after_an_own_message_is_a_text_but_a_slash_still_presses():
    """`How many?` can be answered with `2` although an old keyboard is around."""
    lines = [ASKED, line(3, "hm", by_bot=False), line(4, "How many?")]

    assert pressed("2", lines) is None
    assert pressed("/2", lines).text == "No"
    assert pressed("1", [line(1)]) is None


def test_entities_become_styles_at_their_characters():
    """Offsets count UTF-16 units, so an emoji before the bold word moves nothing."""
    text = formatted("😀 bold", [{"type": "bold", "offset": 3, "length": 4}, {"type": "new", "offset": 0, "length": 2}])

    assert [(span.start, span.end, span.style) for span in text.spans] == [(2, 6, "bold")]


def test_into_a_pipe_a_message_is_not_wrapped():
    """Continued lines and buttons are indented; colours and columns are left out."""
    out = StringIO()
    Screen(Console(file=out, width=20)).show(News("new", ASKED))
    Screen(Console(file=out, width=20)).show(
        News("edited", line(3, "a line that is longer than twenty\nand [b]one[/b]"))
    )

    assert out.getvalue().splitlines() == [
        "bot on?",
        "    [1] Yes  [2] No",
        "    [3] Docs",
        "bot a line that is longer than twenty",
        "    and [b]one[/b]",
        "    (edited)",
    ]


def test_a_question_that_waits_shows_its_buttons_after_a_restart():
    """Those that a number presses: not where something was written since."""
    out = StringIO()
    screen = Screen(Console(file=out, width=40))
    screen.earlier([line(1, "hello", by_bot=False), ASKED])
    assert "[1] Yes  [2] No" in out.getvalue()

    out.truncate(0)
    screen.earlier([ASKED, line(3, "hm", by_bot=False), line(4, "?")])
    assert "[1]" not in out.getvalue()


def test_a_long_draft_shows_its_end():
    """The part above the input line leaves room for the conversation."""
    shown = Screen(Console(width=40, height=10)).live("\n".join(map(str, range(30))), is_typing=True).splitlines()

    assert (len(shown), "29" in shown[-1]) == (4, True)
    assert Screen(Console()).live("", is_typing=False) == ""
