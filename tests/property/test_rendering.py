"""No answer loses a character on its way to Telegram, whatever it looks like, and none takes long to render."""

from __future__ import annotations

import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.delivery import markup
from bot.delivery.markup import MARKUP
from bot.delivery.outbox import render

PIECES = [
    "if a<b and c>d then List<String>",
    "<b>bold</b>",
    "<div>\nfoo\n</div>",
    "<!-- note -->",
    "&lt;",
    "&amp;",
    "a & b",
    "- [ ] todo",
    "- [x] done",
    "1. one",
    "1. one again",
    "5) five",
    "7. seven",
    "* star",
    "+ plus",
    "# Head",
    "> quote",
    "$x^2$",
    "$$E=mc^2$$",
    "$5 and $6",
    "$HOME/$PATH",
    r"\(a_1+b_1\)",
    r"\[ \frac{1}{2} \]",
    r"C:\dir\file",
    r"\\server\x",
    r"\d+\.\d+",
    "a || b || c",
    "||secret||",
    "2*3*4",
    "2**3**4",
    "__init__",
    "snake_case",
    "~20",
    "~~gone~~",
    "**b**",
    "_i_",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "| a |\n|---|\n| 1 | 2 |",
    "| [x](http://a.bc) |\n|---|\n| $y$ |",
    "[link](http://example.com)",
    "[f](x)",
    "[t](http://a.bc 'title')",
    "![pic](http://a.bc/p.png)",
    "![]()",
    "[1]: http://a.bc",
    "[^1]",
    "<https://a.bc>",
    "<me@a.bc>",
    "`code <x>`",
    "```py\nx < 1 && y > 2\n```",
    "~~~\nraw $x$\n~~~",
    "    indented",
    "שלום **עולם**",
    "مرحبا 5 < 6",
    "👩‍👩‍👧 family",
    "汉字**粗体**汉字",
    "Ünï *cödé*",
    "---",
    "\\",
    "$",
    "<",
    "&",
    "|",
    "`",
    "\n\n",
    "\n",
    " ",
]


def visible(text):
    return Counter(char for char in text if not char.isspace() and char not in MARKUP)


def shown(parts):
    held = Counter()
    for text, entities in parts:
        held.update(text)
        for entity in entities:
            held.update(entity.get("url", "") + entity.get("language", ""))
    return held


@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["", " ", "\n", "\n\n"])), min_size=1, max_size=12))
def test_every_visible_character_survives_mixtures(pieces):
    """Markdown, HTML-like text, maths, tables, right-to-left text and emoji in any mixture: all of it is shown."""
    text = "".join(piece + gap for piece, gap in pieces)

    assert not visible(text) - shown(render(text, markdown=True))


@given(st.text(alphabet=st.sampled_from("ab1 \n<>$&|*_~`#[]()!\\{}=+-.:;\"'/@^%,?éя中🐕"), max_size=200))
def test_every_visible_character_survives_any_signs(text):
    """So does any string of signs that mean something to Markdown."""
    assert not visible(text) - shown(render(text, markdown=True))


@pytest.mark.parametrize(
    "text",
    [
        "if a<b and c>d then List<String>",
        "a &lt; b &amp;&amp; c",
        "<!-- note --> <b>x</b>",
        "$x^2$ and $$E=mc^2$$",
        "$HOME/$PATH",
        "a || b || c",
        "2*3*4 = 24, 2**3**4",
        "def __init__(self)",
        "5) five\n6) six",
        "1. a\n1. b\n7. c",
        r"\(x\) and \[y\]",
        r"\\server\share C:\dir",
        r"\d+\.\d+",
        "f[i](x) and [a](b)",
        "[1]: http://a.bc",
        "<https://a.bc>",
        "about ~20 or ~30",
    ],
)
def test_what_only_looks_like_markup_is_shown_as_written(text):
    """Generics, prices, paths, operators, numbering of one's own: shown sign for sign."""
    assert [part.rstrip("\n") for part, _ in render(text, markdown=True)] == [text]


def test_a_task_list_keeps_its_boxes():
    """`- [ ] todo` is not shown as done."""
    ((text, _),) = render("- [ ] todo\n- [x] done", markdown=True)

    assert text.split("\n")[:2] == ["• [ ] todo", "• [x] done"]


def test_formatting_that_loses_nothing_is_kept():
    """Bold, italics, code, links, headings and quotes become entities, as before."""
    ((text, entities),) = render("# Head\n**b** _i_ ~~s~~ `c` [l](http://a.bc)\n> q", markdown=True)

    assert text.split() == ["Head", "b", "i", "s", "c", "l", "q"]
    assert {e["type"] for e in entities} >= {"bold", "italic", "strikethrough", "code", "text_link", "blockquote"}


def test_more_links_than_telegram_takes_are_written_out():
    """A part holds a hundred entities; an address beyond them would be lost, so the text goes out as it was written."""
    text = " ".join(f"[a](http://h{n}.example)" for n in range(120))

    assert not visible(text) - shown(render(text, markdown=True))


HOSTILE = [
    "$$",
    "$",
    "<",
    "&",
    "||",
    "[",
    "![",
    "](",
    "*",
    "_a",
    "`",
    "~",
    "\\",
    "\\(",
    "> ",
    "- ",
    "1) ",
    "<a ",
    "|-",
    "[a]:",
]


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("chars", [1_500, pytest.param(6_000, marks=pytest.mark.soak)])
def test_rendering_grows_with_the_length_only(unit, chars):
    """Twice the text, at most 2.5 times the steps; the parser reads it a bounded number of times."""
    short = unit * (chars // len(unit))
    lines_run(short)  # what is compiled at its first use counts for neither

    assert lines_run(short + short) <= 2.5 * lines_run(short) + 1_000


@pytest.mark.parametrize("unit", HOSTILE)
def test_the_parser_reads_a_text_a_bounded_number_of_times(unit, monkeypatch):
    """Escaping one thing may bring another to light, but not without end."""
    readings = []
    read = markup._events
    monkeypatch.setattr(markup, "_events", lambda source: readings.append(1) or read(source))
    render(unit * 500, markdown=True)

    assert len(readings) <= markup.PASSES + 1


def lines_run(text):
    """How many lines of Python rendering takes."""
    count = 0

    def trace(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        return trace

    render("warm", markdown=True)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        render(text, markdown=True)
    finally:
        sys.settrace(before)
    return count


@given(
    st.one_of(
        st.from_regex(markup._PLAIN, fullmatch=True),
        st.text("aB1é -.,:;!?()'\"", max_size=40).filter(markup._PLAIN.fullmatch),
    )
)
def test_a_line_without_markup_is_shown_as_the_parser_shows_it(text):
    """It is not given to the parser, which would return it as it is."""
    assert markup.formatted(text) == markup.parsed(text) == (text.rstrip(), [])
