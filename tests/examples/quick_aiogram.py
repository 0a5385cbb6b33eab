"""Run the aiogram example with only the types ready that it needs (all of them take seconds), and a model to be held.

`loopback.strict` comes first: it keeps aiogram from making them all. What the model is asked is printed, and what holds
the word in HELD is not answered.
"""

import asyncio
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parents[2] / "examples"))

from loopback.strict import TYPES, method_of

# isort: split
import aiogram_bot

for answer in ("Update", "User", "Message"):
    TYPES[answer].model_rebuild(force=True, _types_namespace=TYPES)
for method in ("getMe", "deleteWebhook", "getUpdates", "sendMessage"):
    method_of(method)

answers = aiogram_bot.model


async def model(messages):
    asked, held = messages[-1]["content"].splitlines()[-1], os.environ.get("HELD")
    print(f"asked: {asked}", flush=True)  # noqa: T201 - the test reads it
    if held and held in asked:
        await asyncio.Event().wait()
    return await answers(messages)


def run(*_):
    """Be the example until killed."""
    aiogram_bot.model = model
    asyncio.run(aiogram_bot.main())
