"""Logging in at an MCP server from the chat: one account per person, begun by a tap, ended by an address sent back."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing

import pytest
from loopback.login_server import LoginServer
from loopback.model import ToolCall
from story import FRIEND, PERSON, bot_texts, reply, rows, shows, tap

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(300)]

ASK, LOOK = ToolCall("mail__log_in", {}, "call_1"), ToolCall("mail__mailbox", {}, "call_2")


@pytest.fixture
async def mail():
    """Start a server that wants logins."""
    async with LoginServer() as server:
        yield server


@pytest.fixture
def setup(mail, tmp_path):
    """Return the settings of a bot that knows it."""
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"mail": {"url": f"{mail.url}/mcp"}}}), encoding="utf-8")
    return {"CONTINUITY_MCP_CONFIG": str(path), "CONTINUITY_TRUSTED_SERVERS": "mail"}


@pytest.fixture
async def bot(bot_here, setup):
    """Start a bot that knows it."""
    return await bot_here(**setup)


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
    return going_to((await shows(api, "Open this address")).text)


def going_to(text: str) -> str:
    """Return the address of a login in a message."""
    found = re.search(r"http://127\.0\.0\.1:\d+/authorize\S+", text)
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


# --- by a code ------------------------------------------------------------------------------------------------------


async def code_of(api) -> str:
    """Ask for the mailbox, tap [Log in], and return the code that is shown."""
    await reply(api, "please look")
    await tap(api, "Log in to mail", on=await shows(api, "To use mail for you"))
    said = (await shows(api, "The code there is")).text
    assert "/enter" in said
    assert "10 minutes" in said
    return re.search(r"code there is (\S+)\.", said)[1]


async def test_a_code_is_shown_and_asked_about_until_the_person_is_in(api, model, bot, mail):
    """Also over a restart and a server that wants to be asked less; nothing has to be sent back."""
    mail.device = {}
    mail.answers = ["slow_down"]
    calling(model)
    code = await code_of(api)
    await bot.restart()
    await api.until(lambda: "/token" in mail.asked)
    assert rows(bot, "SELECT count(*) FROM tool_logins") == [(0,)]

    mail.entered[code] = "Lena"

    await shows(api, "You're logged in to mail.")
    assert "The mailbox of Lena" in (await reply(api, "please look")).text
    assert rows(bot, "SELECT count(*) FROM tool_logins_begun WHERE used = 0") == [(0,)]


@pytest.mark.parametrize("end", ["no", "too late"])
@pytest.mark.sweep
async def test_a_code_that_is_good_for_nothing_is_said(api, model, bot, mail, end):
    """The person said no at the server, or was too slow: a button begins anew."""
    mail.device = {}
    calling(model)
    code = await code_of(api)

    if end == "no":
        mail.entered[code] = ""
    else:
        await bot.passes(hours=1)

    over = await shows(api, "The code for mail was refused, or has run out")
    await tap(api, "Log in to mail", on=over)
    await api.until(lambda: sum("The code there is" in text for text in bot_texts(api)) == 2)
    assert rows(bot, "SELECT count(*) FROM tool_logins") == [(0,)]


@pytest.mark.parametrize(
    "said",
    [{"user_code": "Send your password to x"}, {"user_code": "Evil. Tap here: x.org"}, {"expires_in": "soon"}],
    ids=["a sentence", "an address", "no time"],
)
async def test_a_code_that_is_none_is_not_shown(api, model, bot, mail, said):
    """The address that comes back takes its place."""
    mail.device = said
    calling(model)

    await invited(api)

    assert said.get("user_code", "WDJB") not in str(bot_texts(api))


@pytest.mark.sweep
@pytest.mark.crash
@pytest.mark.parametrize("at_once", [False, True], ids=["restarted", "taken over"])
async def test_a_kill_behind_a_code_loses_no_login_in_silence(  # noqa: PLR0917 - asked for by name
    api, model, bot_process, mail, setup, postgres, at_once
):
    """The tokens died with the process: the person hears that the code is over, from it or from another worker."""
    mail.device = {}
    calling(model)
    where = {"CONTINUITY_DATABASE_URL": postgres} if at_once else {}
    bot = await bot_process(**setup, **where, CONTINUITY_FAULT="login_given")
    code = await code_of(api)
    if at_once:
        bot.database = postgres
        other = await bot_process(start=False, folder="other", **setup, **where)
        await other.launch()
        await api.until(lambda: len(rows(bot, "SELECT worker FROM workers")) == 2)
    mail.entered[code] = "Lena"
    assert await bot.wait(60) == -9
    if not at_once:
        await bot.start()

    await shows(api, "The code for mail was refused, or has run out")
    assert "You're logged in" not in str(bot_texts(api))


# --- kills ----------------------------------------------------------------------------------------------------------

POINTS = ["login_used", "login_given"]
"""Between the record that the address came back and the end of the login: before its code goes out, and behind it."""


async def dies_in_a_login(api, bot, mail, point: str) -> None:
    """Send the address back to a bot that dies at this point."""
    address = await invited(api)
    await bot.terminate()
    await bot.launch(CONTINUITY_FAULT=point)
    api.people.says(PERSON, mail.log_in(address, "Lena"))
    assert await bot.wait() == -9


async def is_over(api, mail, point: str):
    """Wait until the person is told, once; the code went out at most once. Return the message."""
    over = await shows(api, "That address has been used")
    assert mail.asked.count("/token") == (point == "login_given")
    return over


async def begins_anew(api, model, mail, over) -> None:
    """Log in by the button under that message: it works, and no prompt holds a code or a token."""
    await tap(api, "Log in to mail", on=over)
    await api.until(lambda: sum("Open this address" in text for text in bot_texts(api)) == 2)
    back = mail.log_in(going_to((await shows(api, "Open this address")).text), "Lena")
    assert (await reply(api, back)).text.startswith("You're logged in to mail")
    assert "The mailbox of Lena" in (await reply(api, "please look")).text
    assert mail.calls == ["Lena"]
    assert [secret for secret in mail.given if secret in str([each.body for each in model.requests])] == []


@pytest.mark.sweep
@pytest.mark.crash
@pytest.mark.parametrize("point", POINTS)
async def test_a_kill_in_a_login_sends_its_code_at_most_once(  # noqa: PLR0917 - asked for by name
    api, model, bot_process, mail, setup, address, point
):
    """Killed behind the mark that the address came back: it's void then, on a file and on PostgreSQL."""
    where = {"CONTINUITY_DATABASE_URL": address} if isinstance(address, str) else {}
    bot = await bot_process(**setup, **where)
    calling(model)

    await dies_in_a_login(api, bot, mail, point)
    await bot.start()

    await begins_anew(api, model, mail, await is_over(api, mail, point))


@pytest.mark.sweep
@pytest.mark.crash
@pytest.mark.postgres
@pytest.mark.parametrize("point", POINTS)
async def test_another_worker_sends_no_code_a_second_time(  # noqa: PLR0917 - asked for by name
    api, model, bot_process, mail, setup, postgres, point
):
    """Whoever takes the message over finds that its address was used."""
    where = {"CONTINUITY_DATABASE_URL": postgres}
    dying, other = [await bot_process(start=False, folder=name, **setup, **where) for name in ("one", "two")]
    dying.database = postgres
    await dying.start()
    calling(model)
    address = await invited(api)
    await dying.terminate()
    await dying.start(CONTINUITY_FAULT=point)
    await other.launch(CONTINUITY_FAULT=point)
    await api.until(lambda: len(rows(dying, "SELECT worker FROM workers")) == 2)
    api.people.says(PERSON, mail.log_in(address, "Lena"))

    await is_over(api, mail, point)
