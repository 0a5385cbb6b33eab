"""An address that is not Telegram's ends the start with a sentence instead of being asked for ever."""

from __future__ import annotations

import asyncio

import pytest
from pydantic import SecretStr

from bot.app import App, StartError
from bot.delivery import connection
from bot.playground.bot_api.world import PLAYGROUND_TOKEN
from bot.settings import Settings


def app_at(address, tmp_path):
    return App(
        Settings(
            _env_file=None,
            telegram_bot_token=SecretStr(PLAYGROUND_TOKEN),
            telegram_api_url=address,
            continuity_database_url=f"sqlite:///{tmp_path / 'bot.db'}",
            continuity_checkpoint_dir=tmp_path / "checkpoints",
            continuity_allowed_users="1",
        ),
        announce=lambda _: None,
    )


@pytest.mark.parametrize("body", [b"<html>welcome</html>", b"{}", b'{"ok": true, "result": []}', b"[]", b""])
async def test_a_server_that_is_no_bot_api_is_named(tmp_path, body):
    """Whatever it answers with 200: one sentence that names the setting."""

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(StartError, match="TELEGRAM_API_URL"):
            await app_at(address, tmp_path).start()


async def test_an_address_where_nobody_answers_is_given_up(tmp_path, monkeypatch):
    """After two minutes, which are over at once here; Telegram's own address is waited for."""
    monkeypatch.setattr(connection, "START_PATIENCE_S", 0.0)

    with pytest.raises(StartError, match="nobody answers at TELEGRAM_API_URL"):
        await app_at("http://127.0.0.1:9", tmp_path).start()
