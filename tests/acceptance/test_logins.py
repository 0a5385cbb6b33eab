"""Logging in at an MCP server from the chat: one account per person, begun by a tap, ended by an address sent back."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing

import pytest
from loopback.login_server import LoginServer
from loopback.model import ToolCall
from story import FRIEND, reply, rows, shows, tap

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(300)]

ASK, LOOK = ToolCall("mail__log_in", {}, "call_1"), ToolCall("mail__mailbox", {}, "call_2")


@pytest.fixture
async def mail():
    """Start a server that wants logins."""
    async with LoginServer() as server:
        yield server


@pytest.fixture
async def bot(bot_here, mail, tmp_path):
    """Start a bot that knows it."""
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"mail": {"url": f"{mail.url}/mcp"}}}), encoding="utf-8")
    return await bot_here(CONTINUITY_MCP_CONFIG=str(path), CONTINUITY_TRUSTED_SERVERS="mail")


def calling(model):
    """Make a model that looks into the mailbox when it can, else asks for a login, at a message that says please."""

    def reply_to(messages):
        offered = [tool["function"]["name"] for tool in model.requests[-1].body["tools"]]
        last = messages[-1]
        if last["role"] == "tool":
            return str(last["content"])
        return [LOOK if LOOK.name in offered else ASK] if "please" in str(last["content"]) else "All done."

    model.reply = reply_to


async def invited(api, **who) -> str:
    """Ask for the mailbox, tap [Log in], and return the address to go to."""
    await reply(api, "please look", **who)
    await tap(api, "Log in to mail", on=await shows(api, "To use mail for you"), **who)
    found = re.search(r"http://127\.0\.0\.1:\d+/authorize\S+", (await shows(api, "Open this address")).text)
    assert found
    return found[0].replace("\\", "")


@pytest.mark.file
async def test_a_login_outlives_a_restart_works_once_and_is_nobody_elses(api, model, bot, mail):
    """Begun, the bot restarted, ended by the address; renewed when it runs out; over by /tools. No secret is seen."""
    calling(model)
    address = await invited(api)
    assert "needs this person's own login" in model.requests[-1].body["messages"][-1]["content"]
    back = mail.log_in(address, "Lena")

    await bot.restart()
    assert (await reply(api, f"Here it is: {back}")).text.startswith("You're logged in to mail")
    assert (await reply(api, back)).text.startswith("That address has been used")

    mail.expires_in = 30
    assert "The mailbox of Lena" in (await reply(api, "please look")).text
    mail.access.clear()
    assert "The mailbox of Lena" in (await reply(api, "please look again")).text
    assert mail.calls == ["Lena", "Lena"]

    await reply(api, "please look", FRIEND, FRIEND)
    await shows(api, "To use mail for you", FRIEND)
    assert mail.calls == ["Lena", "Lena"]

    await bot.settled()
    with closing(sqlite3.connect(f"file:{bot.database}?mode=ro", uri=True)) as connection:
        kept = "\n".join(connection.iterdump())
    seen = kept + str([each.body for each in model.requests])
    assert [secret for secret in mail.given if secret in seen] == []

    await reply(api, "/tools")
    await tap(api, "mail", "You're logged in.")
    await tap(api, "Log out", "You're logged out of mail.")
    assert mail.access == {}
    assert rows(bot, "SELECT count(*) FROM tool_logins") == [(0,)]
    await reply(api, "please look once more")
    assert mail.calls == ["Lena", "Lena"]
