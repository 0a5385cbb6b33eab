"""/tools: what a person reads about each tool."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bot import replies
from bot.answers.tools import scheduling, sending
from bot.features.tools.listing import page_of
from bot.files.tools import FileTools
from bot.groups.tools import GroupTools
from bot.sentences import DEFAULT, LANGUAGES
from bot.tools.choices import Choices
from bot.tools.tool import Place, Tool
from bot.tools.web.pages import WebPages
from bot.tools.web.searching import Searching

PLACE = Place("telegram:bot:7", 7)


async def yes(*_: object) -> bool:
    return True


async def own_tools() -> list[Tool]:
    """The tools that the bot brings itself, as they are offered in a chat that has everything."""
    files = FileTools(SimpleNamespace(has_files=yes), SimpleNamespace(sees=True), 1000)
    groups = GroupTools(SimpleNamespace(is_any_open=yes), 1000)
    return [
        scheduling.TOOL,
        sending.TOOL,
        *await files.offered(PLACE),
        *await groups.offered(PLACE),
        *WebPages(None, None, None).tools(),
        *Searching("https://search.example", {}).tools(),
    ]


@pytest.mark.parametrize("code", LANGUAGES)
async def test_our_own_tools_tell_what_they_do_in_the_persons_language(code):
    """Neither the model's English description nor the name by which it calls a tool stands in the list."""
    tools = await own_tools()
    with replies.speaking(code):
        message = page_of("", tools, Choices({}), 0)
    read = message.text + str([button.label for row in message.buttons for button in row])

    assert len(message.text.splitlines()) == len(tools) + 1
    assert not [tool.name for tool in tools if f"{tool.name}:" in read or tool.description[:20] in read]
    assert code == DEFAULT or "I " not in read


async def test_a_tool_of_the_operators_own_keeps_its_words():
    """Also one that is named like ours, and so does one of a server, on one line."""
    words = "Look up\nin the library."
    [ours] = [tool for tool in await own_tools() if tool.name == "web_search"]
    theirs = Tool("web_search", words, {}, ours.run, origin="a digest")
    served = Tool("web_search", words, {}, ours.run, server="library")
    with replies.speaking("de"):
        lists = [page_of(tool.server, [tool], Choices({}), 0).text for tool in (theirs, served)]

    assert all(text.splitlines()[1] == "• web_search: Look up in the library. (fragt vorher)" for text in lists)


async def test_what_sends_or_schedules_does_not_only_read():
    """It's done without asking, in front of the person's eyes."""
    assert "(only reads)" not in page_of("", [scheduling.TOOL, sending.TOOL], Choices({}), 0).text
