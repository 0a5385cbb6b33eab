"""The example of docs/how-to/tools.md is loaded and called as the bot does it."""

from __future__ import annotations

import re

import pytest
from pages import ROOT

from bot.tools.own import ToolsError, load
from bot.tools.tool import CallContext, NotDone, Place

PAGE = ROOT / "docs" / "how-to" / "tools.md"
AT = CallContext("c_1234567", "t_1", Place("tg:1:2:0", 2), "UTC", 0)


@pytest.fixture
def path(tmp_path):
    """Write the page's example into a file."""
    (code,) = re.findall(r"```python\n(.+?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    file = tmp_path / "house.py"
    file.write_text(code, encoding="utf-8")
    return file


async def test_the_example_is_three_tools_that_work(path):
    """Names, descriptions, schemas, what is asked about, what comes back."""
    bins, buy, book = load(path)

    assert bins.description == "Tell which bin is collected next in a street."
    assert (bins.runs_unasked, buy.runs_unasked, book.idempotent) == (True, False, True)
    assert set(buy.parameters["properties"]) == {"item", "count"}
    assert buy.parameters["required"] == ["item"]
    assert set(book.parameters["properties"]) == {"room"}
    assert (await bins.run({"street": "Harbour Road"}, AT)).text == "paper, on Tuesday"
    assert (await buy.run({"item": "milk"}, AT)).text == "1 × milk is on the list"
    assert (await book.run({"room": 12}, AT)).text == "room 12 is booked under c_12"
    with pytest.raises(NotDone, match="room"):
        await book.run({"room": "the big one"}, AT)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import nothing_of_that_name", "cannot be imported"),
        ("from bot.tools import tool\n@tool()\ndef x(a: int): ...", "no docstring"),
        ("from bot.tools import tool\n@tool()\ndef x(a):\n    'Do.'", "has no type"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path, code, says):
    """So that the operator mends it before anybody talks to the bot."""
    file = tmp_path / "broken.py"
    file.write_text(code, encoding="utf-8")

    with pytest.raises(ToolsError, match=says):
        load(file)
