"""What `doctor` says of who listens and who speaks: there and reachable, or what is missing and what to do."""

from __future__ import annotations

import pytest
from aiohttp import web

from bot.ops.checks import voice
from bot.settings import Settings


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    """Take the machine's own keys and addresses away."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


async def of(**settings):
    """Return level and words of each check, by its name."""
    return {check.id: check for check in await voice.of_voice(Settings(_env_file=None, **settings))}


@pytest.fixture
async def server():
    """Offer a server that answers every question with the status that a test sets."""
    asked = {"status": 200}

    async def answer(request: web.Request) -> web.Response:
        asked["path"], asked["key"] = request.path, request.headers.get("Authorization")
        return web.json_response({}, status=asked["status"])

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    asked["url"] = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield asked
    await runner.cleanup()


async def test_nobody_who_is_set_is_judged():
    """Voice is off: nothing is said of it, and nothing is asked."""
    assert await of() == {}


@pytest.mark.parametrize(
    ("setting", "needs", "files"),
    [
        ("continuity_transcribe", voice.HEARS_HERE, ("model.bin",)),
        ("continuity_speech", voice.SPEAKS_HERE, ("en.onnx", "tokens.txt")),
    ],
)
async def test_a_model_on_this_machine_needs_its_folder_its_files_and_the_extra(tmp_path, setting, needs, files):
    """Each is named when it is missing, with what to do; nothing is imported or fetched."""
    missing = (await of(**{setting: f"local:{tmp_path / 'none'}"}))[needs.check]
    empty = voice.local(needs, tmp_path, lambda _: object())
    for name in files:
        (tmp_path / name).touch()
    without, whole = voice.local(needs, tmp_path, lambda _: None), voice.local(needs, tmp_path, lambda _: object())

    assert (missing.level, "there is no folder" in missing.says) == ("fail", True)
    assert (empty.level, f"holds no {needs.files[0]}" in empty.says) == ("fail", True)
    assert (without.level, "continuity-bot[voice]" in without.do) == ("fail", True)
    assert whole.level == "ok"


@pytest.mark.parametrize(
    ("status", "level", "says"),
    [(200, "ok", "listens"), (404, "ok", "listens"), (401, "fail", "refuses the key"), (503, "warn", "answered 503")],
)
async def test_a_server_that_listens_is_asked(server, status, level, says):
    """It gets its own key; that it has no list of models says nothing against it."""
    server["status"] = status
    found = await of(
        continuity_transcribe="openai:whisper-1",
        continuity_transcribe_url=server["url"],
        continuity_transcribe_key="a key of its own",
    )

    assert (found["voice.listens"].level, says in found["voice.listens"].says) == (level, True)
    assert (server["path"], server["key"]) == ("/v1/models", "Bearer a key of its own")


async def test_a_server_that_is_away_or_has_no_key_is_named():
    """An address where nobody answers, and OpenAI's own without a key: failed, with the setting that mends it."""
    found = await of(
        continuity_transcribe="openai:whisper-1",
        continuity_transcribe_url="http://127.0.0.1:9/v1",
        continuity_speech="openai:tts-1",
    )

    assert "127.0.0.1:9/v1 could not be reached" in found["voice.listens"].says
    assert "OPENAI_API_KEY or CONTINUITY_SPEECH_URL" in found["voice.speaks"].says
    assert {check.level for check in found.values()} == {"fail"}
