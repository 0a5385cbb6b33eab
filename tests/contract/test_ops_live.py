"""The commands beside the real bot: a process that polls, answers, is killed, and starts again."""

from __future__ import annotations

import json
from dataclasses import dataclass

from loopback.fixtures import bot_process
from loopback.forked import Forked, cli

PERSON = 4711

__all__ = ["bot_process"]


@dataclass(frozen=True, slots=True)
class Done:
    """What a command said and how it ended."""

    returncode: int
    stdout: str
    stderr: str


async def command(bot, *words):
    """Run a command as an operator does, in the bot's folder and beside its process."""
    out, errors = bot.folder / "out", bot.folder / "errors"
    out.unlink(missing_ok=True)
    errors.unlink(missing_ok=True)
    env = bot.env | {"COLUMNS": "120"}
    code = await Forked(cli, *words, folder=bot.folder, env=env, log_path=out, error_path=errors).wait()
    return Done(code, out.read_text(encoding="utf-8"), errors.read_text(encoding="utf-8"))


async def talk(api, text):
    """Say something and wait for the echo."""
    api.people.says(PERSON, text)
    await api.until(lambda: any(line.text == f"You said: {text}" for line in api.view(PERSON).lines))


async def test_an_operator_looks_at_a_bot_that_runs_and_at_one_that_was_killed(api, bot_process):
    """Everything that only looks works beside the bot; after kill -9 the death is told; the next start carries on."""
    bot = await bot_process()
    await talk(api, "the first thing")

    running = json.loads((await command(bot, "status", "--json")).stdout)
    assert running["pid"] == bot.pid
    session = json.loads((await command(bot, "sessions", "--json")).stdout)[0]["session_id"]
    for words in (("doctor",), ("checkpoint", "verify"), ("show", session, "--packet"), ("backup", "copy")):
        done = await command(bot, *words)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    refused = await command(bot, "hydrate", "--all")
    assert refused.returncode == 1
    assert f"(process {bot.pid})" in refused.stderr
    await talk(api, "the second thing")

    await bot.kill()
    assert "did not stop in order" in (await command(bot, "status")).stdout
    assert (await command(bot, "hydrate", "--all")).returncode == 0
    await bot.start()
    await talk(api, "the third thing")
    await bot.terminate()
    assert "stopped in order" in (await command(bot, "status")).stdout
    shown = json.loads((await command(bot, "show", session, "--json")).stdout)
    assert [turn["user_text"] for turn in shown["turns"]] == ["the first thing", "the second thing", "the third thing"]
