"""What somebody forgot can be seen nowhere: no page of the console, no answer of the API, no command shows it (P13)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable

import httpx
import pytest
from loopback.served import TOKEN
from story import PERSON, noting, reply, shows, tap
from typer.testing import CliRunner

from bot.app import App
from bot.cli import app as commands
from bot.settings import Settings
from memory.keeper.session_lines import SessionLine, put_session_line

pytestmark = pytest.mark.sweep

MARK = "zebrafish"
LOOKED_AT = (
    "sessions", "history", "starts", "status", "bootstrap list", "checkpoint verify", "hydrate --dry-run",
    "quarantine list", "outbox list", f"export --user {PERSON}",
)  # fmt: skip
OF_A_SESSION = ("show", "show --packet", "prompt", "found", "notes list --ended", "bootstrap run --session")
LINK = re.compile(r'href="(/console/[^"]+)"')


async def pages(browser: httpx.AsyncClient) -> AsyncIterator[tuple[str, str]]:
    """Yield every page that a link of the console leads to."""
    seen, ahead = set(), ["/console/sessions"]
    while ahead:
        path = ahead.pop().replace("&amp;", "&")
        if path in seen or "/static/" in path:
            continue
        seen.add(path)
        text = (await browser.get(path)).text
        ahead += LINK.findall(text)
        yield path, text


async def answers(client: httpx.AsyncClient) -> AsyncIterator[tuple[str, str]]:
    """Yield what the API tells of every session, and its figures."""
    listed = await client.get("/sessions")
    yield "/sessions", listed.text
    for one in listed.json()["sessions"]:
        for path in (
            f"/sessions/{one['session_id']}?packet=true",
            f"/continuity/preview?session_id={one['session_id']}",
        ):
            yield path, (await client.get(path)).text
    yield "/metrics", (await client.get("/metrics")).text
    yield "/health", (await client.get("/health")).text


def printed(settings: Settings, sessions: Iterable[str]) -> list[tuple[str, str]]:
    """Return what each command prints for programs; what people see is taken from it."""
    env = {
        "CONTINUITY_DATABASE_URL": settings.continuity_database_url,
        "CONTINUITY_CHECKPOINT_DIR": str(settings.continuity_checkpoint_dir),
    }
    runner = CliRunner()
    asked = [*LOOKED_AT, *(f"{each} {session}" for each in OF_A_SESSION for session in sessions)]
    return [(each, runner.invoke(commands, [*each.split(), "--json"], env=env).output) for each in asked]


async def where(app: App, client: httpx.AsyncClient, sessions: Iterable[str]) -> set[str]:
    """Return every place at which the mark is shown: a path, or a command as it is typed."""
    async with httpx.AsyncClient(base_url=app.http_url, follow_redirects=True, timeout=60) as browser:
        await browser.post("/console/login", data={"token": TOKEN})
        told = [each async for each in pages(browser)]
    told += [each async for each in answers(client)]
    told += await asyncio.to_thread(printed, app.settings, sessions)
    return {path for path, text in told if MARK in text.casefold()}


async def test_what_was_forgotten_is_shown_nowhere(served, api, model):
    """Before /forget everything the mark stands on pages, in answers and in commands, after it in none of them."""
    model.reply = lambda _: "Noted: Zebrafish."
    app, client = await served(continuity_allowed_users=str(PERSON))
    await reply(api, "My dog is called Zebrafish.")
    await reply(api, "I need to call the vet about Zebrafish by Friday.")
    await reply(api, "/fresh")
    await reply(api, "What is Zebrafish doing?")
    await app.settled()
    sessions = [one["session_id"] for one in (await client.get("/sessions")).json()["sessions"]]
    before = await where(app, client, sessions)
    await reply(api, "/forget everything")
    await tap(api, "Yes, forget it", "forgotten")
    await shows(api, "I've checked")
    await app.settled()
    after = await where(app, client, sessions)

    assert {"/sessions", f"export --user {PERSON}", *(f"{each} {sessions[0]}" for each in ("show", "prompt"))} <= before
    assert any(path.startswith("/console/turns/") for path in before)
    assert after == set()


async def test_the_console_names_no_session_by_what_a_forgotten_note_rested_on(served, api, model):
    """Neither by the keeper's title nor by its first words: the message stays where it was said."""
    said = "The gate's code is Zebrafish."
    model.reply = noting(said, "fact", "The gate has the code Zebrafish")
    app, _ = await served(continuity_allowed_users=str(PERSON))
    await reply(api, said)
    memory, here = app.services.memory, f"tg:{app.services.me.bot_id}:{PERSON}:0"
    session_id = await memory.store.current_session_id(here)
    [turn] = await memory.recorder.recent_turns(session_id)
    line = SessionLine(session_id, here, "The Zebrafish gate", "Zebrafish opens it.", (turn.turn_id,), 1)

    async def titles() -> list[str]:
        async with httpx.AsyncClient(base_url=app.http_url, follow_redirects=True, timeout=60) as browser:
            await browser.post("/console/login", data={"token": TOKEN})
            paths = ("/console/sessions", f"/console/sessions/{session_id}/memory")
            return [path for path in paths if MARK in (await browser.get(path)).text.casefold()]

    assert len(await titles()) == 2
    await memory.db.write(put_session_line(line))
    assert len(await titles()) == 2
    await reply(api, "/forget gate")
    await tap(api, "Forget 1", "Should I forget")
    await tap(api, "Yes, forget it", "I've checked|Only the messages")
    assert await titles() == []
