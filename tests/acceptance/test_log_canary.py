"""A canary in what people write, and every key: a day of conversation with errors, and neither is found in the log."""

from __future__ import annotations

import pytest
from loopback.model import ModelFault
from story import PERSON, answered, bot_texts

pytestmark = pytest.mark.acceptance
WORD = "xylophonist"
KEY = "sk-canary-0123456789"
HTTP_TOKEN = "http-token-canary-0123456789"


@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
@pytest.mark.sweep
async def test_neither_words_nor_keys_reach_the_log(api, model, bot_process, level):
    """At INFO no word of a message, not even one that a provider repeats; at any level no key and no token."""
    bot = await bot_process(
        CONTINUITY_LOG_LEVEL=level,
        OPENAI_API_KEY=KEY,
        CONTINUITY_HTTP_PORT="0",
        CONTINUITY_HTTP_TOKEN=HTTP_TOKEN,
        TELEGRAM_WEBHOOK_SECRET="webhook-secret-canary",
    )
    api.people.says(PERSON, f"My friend is a {WORD}")
    await answered(api, PERSON, f"My friend is a {WORD}")
    for fault in (ModelFault.SERVER_ERROR, ModelFault.TOO_MANY, ModelFault.GARBAGE, ModelFault.BREAK):
        shown = len(bot_texts(api))
        model.plant(fault, times=None)
        api.people.says(PERSON, f"Is the {WORD} there, {fault}?")
        await api.until(lambda shown=shown: len(bot_texts(api)) > shown, 60)
        model.heal()
    for data in (f"They are a {WORD}.".encode(), b"%PDF-1.4 broken"):
        shown = len(bot_texts(api))
        api.people.sends_file(PERSON, data, name=f"{WORD}.pdf", caption=f"a {WORD}")
        await api.until(lambda shown=shown: len(bot_texts(api)) > shown, 60)
    for command in (f"/forget {WORD}", f"/memory {WORD}", f"/remind tomorrow at 9 {WORD}", f"/{WORD}", "/summary"):
        shown = len(bot_texts(api))
        api.people.says(PERSON, command)
        await api.until(lambda shown=shown: len(bot_texts(api)) > shown)
    await bot.restart()
    assert await bot.terminate() == 0

    assert "trying again" in bot.log
    if level == "INFO":
        assert WORD not in bot.log
    for secret in (KEY, HTTP_TOKEN, "webhook-secret-canary", api.token, api.token.split(":")[1]):
        assert secret not in bot.log
