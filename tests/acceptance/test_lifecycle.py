"""Start, stop, rivals, strangers, webhook, poison, a full disk: what an operator relies on."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess

import httpx
import pytest
from story import PERSON, answered, bot_texts, rows, stored_turns

from bot.intake.polling import MAX_CONFLICTS
from bot.playground.keeper import free_port

pytestmark = pytest.mark.acceptance
STRANGER = 6_660_942_817  # so many digits stand in no file by chance


async def test_a_stranger_gets_one_line_and_leaves_no_trace(api, model, bot_process):
    """Deny by default: one polite line, no model call, not a byte in the database (P14)."""
    bot = await bot_process(CONTINUITY_ALLOWED_USERS=str(PERSON))
    api.people.says(STRANGER, "let me in, pineapple")
    await api.until(lambda: bot_texts(api, STRANGER))
    said = api.people.says(STRANGER, "hello? pineapple?")
    await api.until(lambda: api.is_confirmed(said.update_id))
    api.people.says(PERSON, "hi")
    await answered(api, PERSON, "hi")
    await bot.kill()

    assert len(bot_texts(api, STRANGER)) == 1
    assert all("pineapple" not in request.text for request in model.requests)
    for file in bot.folder.glob("continuity.db*"):
        assert b"pineapple" not in file.read_bytes()
        assert str(STRANGER).encode() not in file.read_bytes()
    assert "pineapple" not in bot.log


async def test_pairing_with_the_code_of_the_console(api, bot_process):
    """With nobody allowed, the console shows a code; who sends it is let in for good, and nobody else is."""
    bot = await bot_process(CONTINUITY_ALLOWED_USERS="")
    await api.until(lambda: "To pair" in bot.log)
    code = bot.log.split("To pair, send this code to @continuity_bot: ")[1].split()[0]
    api.people.says(PERSON, f"/start {code}")
    await api.until(lambda: any("paired" in text for text in bot_texts(api)))
    await bot.restart()
    api.people.says(PERSON, "it is me")
    await answered(api, PERSON, "it is me")
    api.people.says(STRANGER, code)
    await api.until(lambda: bot_texts(api, STRANGER))

    assert "private assistant" in bot_texts(api, STRANGER)[0]


@pytest.mark.file
async def test_a_second_process_on_the_same_data_says_so_and_ends(api, bot_process):
    """The lock lets one process work on a database; the second names the reason (P9)."""
    bot = await bot_process()
    rival = await bot_process(start=False)
    await rival.launch()

    assert await rival.wait() == 1
    assert "its lock is held" in rival.log
    api.people.says(PERSON, "still there?")
    await answered(api, PERSON, "still there?")
    assert bot.is_running


async def test_without_a_token_run_says_what_is_missing_and_names_chat(api, bot_process):
    """`run` without a token starts nothing else; it exits with 2 and one sentence."""
    bot = await bot_process(start=False)
    await bot.launch(TELEGRAM_BOT_TOKEN="")

    assert await bot.wait() == 2
    assert "TELEGRAM_BOT_TOKEN is missing" in bot.log
    assert "continuity-bot chat" in bot.log


async def test_a_refused_token_ends_the_process_with_a_sentence(api, bot_process):
    """A token that Telegram does not know is not retried for ever."""
    bot = await bot_process(start=False)
    await bot.launch(TELEGRAM_BOT_TOKEN="123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")

    assert await bot.wait() == 1
    assert "refuses the token" in bot.log


async def test_a_poison_update_does_not_hold_up_the_rest(api, bot_here):
    """An update that cannot be parsed is quarantined once, and what comes behind it is answered."""
    bot = await bot_here()
    poison = api.people.injects({"message": {"message_id": "not a number", "chat": 5, "date": "yesterday"}})
    api.people.says(PERSON, "behind the poison")
    await answered(api, PERSON, "behind the poison")

    assert rows(bot, "SELECT state FROM inbox WHERE update_id = :u", u=poison) == [("quarantined",)]


async def test_webhook_updates_are_as_durable_as_polled_ones(api, model, bot_process):
    """By webhook: 200 only after the write, the wrong secret is refused, a kill in the turn loses nothing."""
    port = free_port()
    bot = await bot_process(start=False)
    env = {
        "TELEGRAM_WEBHOOK_URL": f"http://127.0.0.1:{port}/telegram/webhook",
        "TELEGRAM_WEBHOOK_SECRET": "a-secret-of-16-characters",
        "CONTINUITY_HTTP_PORT": str(port),
    }
    api.people.says(PERSON, "by webhook")
    await bot.launch(**env, CONTINUITY_FAULT="turn_answered")
    assert await bot.wait() == -9
    await bot.start(ready=lambda: bot_texts(api), **env)

    assert bot_texts(api) == ["You said: by webhook"]
    async with httpx.AsyncClient() as client:
        wrong = await client.post(env["TELEGRAM_WEBHOOK_URL"], json={"update_id": 1})
        health = await client.get(f"http://127.0.0.1:{port}/health")
    assert wrong.status_code == 403
    assert health.json()["status"] == "ok"
    assert len(stored_turns(bot)) == 1


@pytest.mark.sweep
async def test_a_rival_poller_is_named_and_the_process_stops(api, bot_process):
    """On 409 Conflict it says so and gives up after a bounded number of tries (P9)."""
    bot = await bot_process()
    async with httpx.AsyncClient(timeout=60) as rival:
        while bot.is_running and "(409 Conflict); stop it" not in bot.log:
            await rival.get(f"{api.url}/bot{api.token}/getUpdates", params={"timeout": 2})
    code = await bot.wait(30)

    assert code == 1
    assert bot.log.count("409 Conflict") >= MAX_CONFLICTS


@pytest.mark.file
@pytest.mark.skipif(shutil.which("mount") is None, reason="needs mount for a tiny file system")
async def test_a_full_disk_acknowledges_nothing_and_recovers_by_itself(api, bot_process, tmp_path):
    """No space: the update stays with Telegram, /health says 503; when space returns it is answered (P10)."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(small)], check=False)  # noqa: ASYNC221
    if mounted.returncode:
        pytest.skip("this machine does not let us mount a tmpfs")
    port = free_port()
    try:
        bot = await bot_process(
            CONTINUITY_DATABASE_URL=f"sqlite:///{small}/continuity.db", CONTINUITY_HTTP_PORT=str(port)
        )
        ballast = small / "ballast"
        subprocess.run(["dd", "if=/dev/zero", f"of={ballast}", "bs=4096"], check=False, capture_output=True)  # noqa: ASYNC221
        said = api.people.says(PERSON, "is there room?")
        async with httpx.AsyncClient() as client, asyncio.timeout(30):
            while (await client.get(f"http://127.0.0.1:{port}/health")).status_code != 503:  # noqa: ASYNC110 - only to be asked
                await asyncio.sleep(0.1)
        assert not api.is_confirmed(said.update_id)

        ballast.unlink()
        await answered(api, PERSON, "is there room?", 60)
        assert bot.is_running
        await bot.kill()
    finally:
        subprocess.run(["umount", "-l", str(small)], check=False)  # noqa: ASYNC221


async def test_a_path_that_cannot_be_used_is_named(api, bot_process, tmp_path):
    """A data folder that is a file, and an HTTP port that is taken, end the process with one sentence."""
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    bot = await bot_process(start=False)
    await bot.launch(CONTINUITY_CHECKPOINT_DIR=str(tmp_path / "file" / "checkpoints"))
    assert await bot.wait() == 1
    with socket.create_server(("127.0.0.1", 0)) as taken:
        await bot.launch(CONTINUITY_HTTP_PORT=str(taken.getsockname()[1]))
        assert await bot.wait() == 1

    assert "choose another path" in bot.log
    assert "set another CONTINUITY_HTTP_PORT" in bot.log
    assert "Traceback" not in bot.log
