"""An answer in the console as the person saw it on Telegram, with nothing in it that could run."""

from __future__ import annotations

import pytest

from bot.http.console.formatted import as_seen, in_html, ticks


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("**Rex** is <four> & 4", "<strong>Rex</strong> is &lt;four&gt; &amp; 4"),
        ("🐕 **dog**", "🐕 <strong>dog</strong>"),
        ("[a](https://example.org/?a=1&b=2)", 'href="https://example.org/?a=1&amp;b=2" rel="noreferrer noopener"'),
        ("```python\nprint(1)\n```\n\nand on", '<pre class="code" tabindex="0">print(1)</pre>and on'),
        ("`<script>`", "<code>&lt;script&gt;</code>"),
        ("no markup", "no markup"),
    ],
)
def test_markdown_is_shown_as_it_was_seen(markdown, html):
    """Bold, links and code are what they were; signs of HTML are themselves."""
    assert html in as_seen(markdown)


def test_a_link_that_could_run_is_plain_text():
    """An address that no browser should follow is left out, its words stay."""
    entities = [{"type": "text_link", "offset": 0, "length": 4, "url": "javascript:alert(1)"}]

    assert in_html("here", entities) == "here"


def test_one_form_stands_within_the_other():
    """Nested entities are nested; one that crosses another is left out, no character is lost."""
    inside = [{"type": "bold", "offset": 0, "length": 6}, {"type": "italic", "offset": 2, "length": 2}]
    across = [{"type": "bold", "offset": 0, "length": 4}, {"type": "italic", "offset": 2, "length": 4}]

    assert in_html("abcdef", inside) == "<strong>ab<em>cd</em>ef</strong>"
    assert in_html("abcdef", across) == "<strong>abcd</strong>ef"


def test_backticks_in_our_own_sentences_are_code():
    """What an operator has to type looks like it, and is escaped."""
    assert ticks("check; `doctor <x>` tries it") == "check; <code>doctor &lt;x&gt;</code> tries it"
