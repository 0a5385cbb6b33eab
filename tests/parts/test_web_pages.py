"""Pages are read from servers on this machine, which the tests alone may reach; hostile ones among them."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc

import pytest
from aiohttp import web
from loopback.sites import HERE, site
from yarl import URL

from benchmarks.papers import pdf
from bot.files.reader import read_pdf
from bot.tools.tool import NotDone
from bot.tools.web.addresses import is_public
from bot.tools.web.extract import extract
from bot.tools.web.fetch import MAX_BYTES, MAX_PDF_BYTES, MAX_REDIRECTS, PDF, WebFetcher
from bot.tools.web.pages import page_of


def here_alone(address, port) -> bool:
    """Let one address be reached."""
    return str(address) == HERE


def status(code: int, **headers: str):
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=code, headers=headers)

    return answer


async def read(url: URL, fetcher: WebFetcher | None = None) -> str:
    return (await page_of(await (fetcher or WebFetcher(here_alone)).fetch(url), read_pdf)).text


ARTICLE = (
    "<html><head><title>A day</title><meta property='article:published_time' content='2026-03-01'></head><body><nav>"
    "menu</nav><article><h1>A day</h1>"
    + "".join(
        f"<p>On day {day} it was warm in the harbour, and boat {day} <a href='/more'>came home</a> late, as ever.</p>"
        for day in range(8)
    )
    + "</article></body></html>"
)


async def test_a_page_is_read_with_title_date_and_links():
    """What a person would read of it; links lead to whole addresses."""
    async with site(_=ARTICLE) as (url, _):
        fetched = await WebFetcher(here_alone).fetch(url / "")
        page = await page_of(fetched, read_pdf)

    assert page.title == "A day"
    assert page.date == "2026-03-01"
    assert "came home" in page.text
    assert f"({url}/more)" in page.text
    assert "menu" not in page.text


async def test_a_page_of_few_words_is_told_as_a_whole():
    """`Sold out` stands in no article."""
    async with site(_="<html><body><div>Concert</div><div>Sold out</div></body></html>") as (url, _):
        assert "Sold out" in await read(url / "")


async def test_a_page_inside_the_house_is_not_read():
    """By default nothing on this machine is reached, by number, name or odd spelling; nothing is asked of it."""
    async with site(_="secret") as (url, asked):
        for host in (HERE, "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0.0.0.0"):  # noqa: S104
            with pytest.raises(NotDone):
                await WebFetcher().fetch(URL(f"http://{host}:{url.port}/"))

    assert asked == []


async def test_a_page_that_is_moved_into_the_house_is_not_followed():
    """A redirect is checked like the first address, by number and by name."""

    async def at_home(host, port):
        return [HERE] if host == "open.test" else ["127.0.0.2"]

    fetcher = WebFetcher(here_alone, at_home)
    for inside in ("http://127.0.0.2/", "http://inside.test/", "file:///etc/passwd", "http://me:word@open.test/"):
        async with site(_=status(302, Location=inside)) as (url, _):
            with pytest.raises(NotDone) as refused:
                await fetcher.fetch(URL(f"http://open.test:{url.port}/"))
        assert "not one of the open web" in str(refused.value) or "address" in str(refused.value)


async def test_a_name_that_leads_elsewhere_the_second_time_leads_nowhere():
    """Each connection goes to the very address that was checked; the next look-up is checked again."""
    given = iter([HERE, "127.0.0.2", "127.0.0.2"])
    looked: list[str] = []

    async def rebinding(host, port):
        looked.append(next(given))
        return [looked[-1]]

    async with site(_=ARTICLE, robots_txt="") as (url, asked):
        with pytest.raises(NotDone, match="open web"):
            await WebFetcher(here_alone, rebinding).fetch(URL(f"http://rebind.test:{url.port}/"))

    assert looked == [HERE, "127.0.0.2"]
    assert asked == ["/robots.txt"]


async def test_a_name_with_one_address_inside_is_refused_as_a_whole():
    """The system could choose any of them."""

    async def both(host, port):
        return ["93.184.215.14", "10.0.0.1"]

    with pytest.raises(NotDone, match="open web"):
        await WebFetcher(is_public, both).fetch(URL("http://both.test/"))


async def test_a_page_that_is_moved_for_ever_is_given_up():
    """After five times."""
    async with site(_=status(301, Location="/")) as (url, asked):
        with pytest.raises(NotDone, match="moved more than 5 times"):
            await WebFetcher(here_alone).fetch(url / "")

    assert asked.count("/") == MAX_REDIRECTS + 1


async def endless(request: web.Request) -> web.StreamResponse:
    answer = web.StreamResponse(headers={"Content-Type": "text/plain"})
    await answer.prepare(request)
    try:
        while True:
            await answer.write(b"more " * 13_000)
    except ConnectionError:
        return answer


async def test_an_endless_page_is_cut():
    """Two megabytes are read."""
    async with site(_=endless) as (url, _):
        fetched = await WebFetcher(here_alone).fetch(url / "")

    assert fetched.is_cut
    assert len(fetched.body) == MAX_BYTES


BOMB = gzip.compress(b"0" * 16 * MAX_BYTES, 1)


async def bomb(_: web.Request) -> web.Response:
    return web.Response(body=BOMB, headers={"Content-Encoding": "gzip", "Content-Type": "text/plain"})


async def test_a_page_that_unpacks_to_too_much_is_cut():
    """150 KB that unpack to 32 MB are unpacked to two, and no more than that is ever held."""
    async with site(_=bomb) as (url, _):
        tracemalloc.start()
        fetched = await WebFetcher(here_alone).fetch(url / "")
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert fetched.is_cut
    assert len(fetched.body) == MAX_BYTES
    assert most < 5 * MAX_BYTES


async def test_a_page_that_drips_is_given_up():
    """One byte now and then holds nobody up for longer than a page may take."""
    ended = asyncio.Event()

    async def drips(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(b"a")
        await ended.wait()
        return answer

    async with site(_=drips) as (url, _):
        with pytest.raises(NotDone, match="did not come within"):
            await WebFetcher(here_alone, longest_s=0.5).fetch(url / "")
        ended.set()


async def test_a_wrong_charset_does_no_harm():
    """UTF-8 that is claimed to be something else, something else that is claimed, and a claim of nonsense."""
    words = "<p>Größe und Schönheit</p>" * 20

    def claims(charset: str, body: bytes):
        async def answer(_: web.Request) -> web.Response:
            return web.Response(body=body, headers={"Content-Type": f"text/html; charset={charset}"})

        return answer

    pages = {
        "a": claims("iso-8859-1", words.encode()),
        "b": claims("iso-8859-1", words.encode("latin-1")),
        "c": claims("rot13", words.encode("latin-1")),
        "d": claims("utf-8", words.encode("latin-1")),
    }
    async with site(**pages) as (url, _):
        for name in "abc":
            assert "Größe und Schönheit" in await read(url / name)
        assert "e und Sch" in await read(url / "d")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (404, "no such page"),
        (410, "no such page"),
        (403, "does not let us"),
        (401, "does not let us"),
        (429, "too many"),
        (503, "fault just now"),
    ],
)
async def test_why_there_is_no_page_is_said(code, why):
    """In a sentence for each."""
    async with site(x=status(code)) as (url, _):
        with pytest.raises(NotDone, match=why):
            await read(url / "x")


async def test_what_a_site_does_not_want_read_is_not_asked_for():
    """robots.txt is read first; a fault there counts as a no."""
    rules = "User-agent: ContinuityBot\nDisallow: /x"
    async with site(x=ARTICLE, y=ARTICLE, robots_txt=rules) as (url, asked):
        with pytest.raises(NotDone, match="does not want programs"):
            await read(url / "x")
        assert asked == ["/robots.txt"]
        assert "harbour" in await read(url / "y")
    async with site(x=ARTICLE, robots_txt=status(500)) as (url, _):
        with pytest.raises(NotDone, match="fault just now"):
            await read(url / "x")


async def test_other_files_are_told_apart():
    """A PDF, a picture."""

    def of_kind(kind: str):
        async def answer(_: web.Request) -> web.Response:
            return web.Response(body=b"%PDF", content_type=kind)

        return answer

    async with site(a=of_kind("application/pdf"), b=of_kind("image/png")) as (url, _):
        with pytest.raises(NotDone, match="PDF"):
            await read(url / "a")
        with pytest.raises(NotDone, match="another kind"):
            await read(url / "b")


async def test_a_pdf_is_read_by_its_address_page_by_page():
    """By the child that reads files; one that is too long is no PDF any more."""

    async def paper(_: web.Request) -> web.Response:
        return web.Response(
            body=pdf([["The pump is covered for five years."], ["Limescale is not."]]), content_type=PDF
        )

    async def endless(_: web.Request) -> web.Response:
        return web.Response(body=b"%PDF" + bytes(MAX_PDF_BYTES), content_type=PDF)

    async with site(paper=paper, endless=endless) as (url, _):
        text = await read(url / "paper")
        with pytest.raises(NotDone, match="20 MB"):
            await read(url / "endless")

    assert "[page 1 of 2]\nThe pump is covered for five years." in text
    assert "[page 2 of 2]\nLimescale is not." in text


async def test_no_cookie_comes_back():
    """What a site sets is not told to it again."""
    seen: list[str | None] = []

    async def sets(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Cookie"))
        return web.Response(status=302, headers={"Location": "/b", "Set-Cookie": "who=me"})

    async def looks(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Cookie"))
        return web.Response(text="fine", content_type="text/plain")

    async with site(a=sets, b=looks) as (url, _):
        assert await read(url / "a") == "fine"

    assert seen == [None, None]


async def test_a_page_of_nests_costs_its_child_alone():
    """Whatever the parser makes of it, an answer comes."""
    page = await extract(b"<div>" * 200_000 + b"deep", "https://example.org", "")

    assert isinstance(page.text, str)
