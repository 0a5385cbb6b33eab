"""Logins at MCP servers, step by step: what a hostile server, address or person gets is nothing."""

from __future__ import annotations

import asyncio

import pytest
from loopback.login_server import LoginServer

from bot.tables import BOT_TABLES, DIGESTS, QUERY_FILES
from bot.tools.mcp.config import ServerConfig
from bot.tools.mcp.login.logins import LASTS_MS, Logins
from bot.tools.mcp.login.pasted import pasted
from bot.tools.mcp.login.seal import Seal
from bot.tools.tool import NotDone
from bot.tools.web.addresses import is_public
from memory.errors import Conflict
from memory.storage.engine import open_database
from memory.testing import ManualClock, lay_tables

LENA, TOM, CHAT = 1, 2, "tg:9:1:0"


@pytest.fixture
async def mail():
    """Start a server that wants logins."""
    async with LoginServer() as server:
        yield server


@pytest.fixture
async def db(address):
    """Open a database with the bot's tables: a file, then PostgreSQL."""
    lay_tables(address, [BOT_TABLES])
    opened = await open_database(address, QUERY_FILES, DIGESTS)
    yield opened
    await opened.close()


@pytest.fixture
def make(db, mail):
    """Make logins; by default with the operator's server as it stands."""
    clock = ManualClock()

    def made(key="123:abc", origin="one", url="", **oauth: str) -> Logins:
        config = ServerConfig("mail", url=url or f"{mail.url}/mcp", origin=origin, oauth=oauth)
        logins = Logins([config], db, clock, Seal(key), is_public)
        logins.clock = clock  # type: ignore[attr-defined]
        return logins

    return made


async def logged_in(logins: Logins, mail: LoginServer, user_id: int = LENA, who: str = "Lena") -> None:
    chat = f"tg:9:{user_id}:0"
    found = pasted(mail.log_in((await logins.begin("mail", user_id, chat)).address, who))
    back = await logins.came_back(found, user_id, chat)
    await logins.use(found)
    await logins._db.write(await logins.finish(found, back.way, user_id, chat))


async def test_each_person_has_a_token_of_their_own(make, mail):
    """The one who did not log in has none."""
    logins = make()
    await logged_in(logins, mail)
    assert await logins.token("mail", TOM) is None

    await logged_in(logins, mail, TOM, "Tom")

    assert mail.access[await logins.token("mail", LENA)] == "Lena"
    assert mail.access[await logins.token("mail", TOM)] == "Tom"


async def test_a_token_is_void_for_another_setup_and_with_another_key(make, mail):
    """An address that was changed gets no token of the one before; a copy of the database opens nothing."""
    await logged_in(make(), mail)

    assert await make(origin="two").token("mail", LENA) is None
    assert await make(key="123:other").token("mail", LENA) is None
    assert await make().token("mail", LENA)


async def test_a_login_is_no_other_persons_and_of_no_other_address_of_a_renamed_server(make, mail):
    """The name went to another address, and some logged in there: each login stays with its person and its setup."""
    await logged_in(make(), mail)
    await logged_in(make(origin="two"), mail, TOM, "Tom")

    first, second, third = make(), make(origin="two"), make(origin="three")
    tokens = [[await logins.token("mail", who) for who in (LENA, TOM)] for logins in (first, second, third)]
    assert [[token and mail.access[token] for token in each] for each in tokens] == [
        ["Lena", None],
        [None, "Tom"],
        [None, None],
    ]
    assert [await logins.is_asked("mail") for logins in (first, second, third)] == [True, True, False]
    assert [await logins.tools_of("mail", TOM) for logins in (first, second)] == [None, []]


async def test_a_token_goes_to_no_other_address_even_under_the_same_setup(make, mail):
    """What is sealed names its address."""
    await logged_in(make(), mail)

    elsewhere = make(url="https://evil.example.org/mcp")

    assert await elsewhere.token("mail", LENA) is None
    assert await elsewhere.tools_of("mail", LENA) is None


@pytest.mark.parametrize(
    ("said", "resource", "why"),
    [
        pytest.param({"issuer": "https://other.example.org"}, {}, "OAuthFlowError", id="another issuer"),
        pytest.param({"code_challenge_methods_supported": ["plain"]}, {}, "PKCE", id="codes without protection"),
        pytest.param({"code_challenge_methods_supported": None}, {}, "PKCE", id="no word on protection"),
        pytest.param({"token_endpoint": "http://127.0.0.1:1/token"}, {}, "without https", id="tokens inside the house"),
        pytest.param(
            {"token_endpoint": "https://127.0.0.1/token"},
            {},
            "not one of the open web",
            id="tokens inside the house by https",
        ),
        pytest.param(
            {"authorization_endpoint": "http://login.example.org/"}, {}, "without https", id="a page without https"
        ),
        pytest.param(
            {"registration_endpoint": "http://169.254.169.254/register"},
            {},
            "without https",
            id="a register in the cloud",
        ),
        pytest.param(
            {"device_authorization_endpoint": "http://169.254.169.254/device"},
            {},
            "without https",
            id="codes from the cloud",
        ),
        pytest.param({"registration_endpoint": None}, {}, "only bots that it knows", id="no register"),
        pytest.param({}, {"resource": "https://bank.example.org/mcp"}, "another server", id="another resource"),
        pytest.param(
            {}, {"authorization_servers": ["http://localhost:1"]}, "without https", id="a login server inside the house"
        ),
        pytest.param(
            {}, {"authorization_servers": ["https://[::1]"]}, "not one of the open web", id="one at a bare address"
        ),
    ],
)
async def test_a_hostile_description_begins_no_login(make, mail, said, resource, why):
    """Nothing is stored, and nobody is sent anywhere."""
    mail.said, mail.resource = said, resource

    with pytest.raises(NotDone, match=why):
        await make().begin("mail", LENA, CHAT)

    assert "/authorize" not in mail.asked


async def test_nobody_is_sent_into_the_house_to_enter_a_code(make, mail):
    """Where a code is entered is a page of the open web, or of the operator's own server."""
    mail.device = {"verification_uri": "http://192.168.1.1/admin"}
    with pytest.raises(NotDone, match="without https"):
        await make().begin("mail", LENA, CHAT)

    mail.device = {"verification_uri_complete": "https://evil.example.org/enter?code=1"}
    begun = await make().begin("mail", LENA, CHAT)
    assert begun.address == f"{mail.url}/enter"


async def test_an_operator_pins_who_may_log_people_in(make, mail):
    """Another one that the server names is refused."""
    with pytest.raises(NotDone, match="another login"):
        await make(issuer="https://login.example.org").begin("mail", LENA, CHAT)

    await make(issuer=mail.url, clientId="ours").begin("mail", LENA, CHAT)

    assert "/register" not in mail.asked


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param(lambda back: back.replace("/signed-in", "/other"), "refused", id="another page"),
        pytest.param(lambda back: back.partition("&iss=")[0], "refused", id="no issuer where one is promised"),
        pytest.param(lambda back: back.partition("&iss=")[0] + "&iss=https://evil.org", "refused", id="mixed up"),
        pytest.param(lambda back: back.replace("code=", "error=access_denied&x="), "refused", id="said no"),
        pytest.param(lambda back: back.replace("state=", "state=x"), None, id="a state that nobody gave"),
    ],
)
async def test_an_address_that_does_not_fit_is_not_used(make, mail, change, why):
    """No code goes out."""
    logins = make()
    back = mail.log_in((await logins.begin("mail", LENA, CHAT)).address, "Lena")

    found = await logins.came_back(pasted(change(back)), LENA, CHAT)

    assert (found and found.why) == why
    assert "/token" not in mail.asked


async def test_an_address_is_somebodys_works_once_and_not_for_ever(make, mail):
    """Another person or chat gets nothing by it, nor a second time, nor a quarter of an hour later."""
    logins = make()
    found = pasted(mail.log_in((await logins.begin("mail", LENA, CHAT)).address, "Lena"))
    assert (await logins.came_back(found, TOM, CHAT)).why == "else"
    assert (await logins.came_back(found, LENA, "tg:9:-5:0")).why == "else"
    assert (await logins.came_back(found, LENA, CHAT)).why == ""

    await logins.use(found)
    assert (await logins.came_back(found, LENA, CHAT)).why == "over"
    with pytest.raises(Conflict):
        await logins.use(found)

    other = pasted(mail.log_in((await logins.begin("mail", LENA, CHAT)).address, "Lena"))
    logins.clock.advance(ms=LASTS_MS + 1)
    assert (await logins.came_back(other, LENA, CHAT)).why == "over"


async def test_a_token_is_renewed_once_and_ends_when_the_server_says_so(make, mail):
    """Two that need it at once get the same; a renewal that is refused ends the login."""
    mail.expires_in = 30
    logins = make()
    await logged_in(logins, mail)
    first = dict(mail.access)
    mail.expires_in = 3600

    tokens = await asyncio.gather(*(logins.token("mail", LENA) for _ in range(3)))
    assert len(set(tokens)) == 1
    assert tokens[0] not in first
    assert mail.asked.count("/token") == 2

    mail.refresh.clear()
    assert await logins.token("mail", LENA, refused=tokens[0]) is None
    assert await logins.tools_of("mail", LENA) is None


async def test_logging_out_ends_it_at_the_server_too(make, mail):
    """What was given there opens nothing any more."""
    logins = make()
    await logged_in(logins, mail)

    assert await logins.end("mail", LENA)

    assert mail.access == {}
    assert await logins.token("mail", LENA) is None
    assert not await logins.end("mail", LENA)
