"""Garbage is not looked for while the bot is loaded, and later only among what came since."""

import asyncio
import gc

import pytest

from bot.process import garbage


@pytest.fixture
def as_before():
    yield
    gc.enable()


@pytest.mark.usefixtures("as_before")
async def test_what_is_loaded_is_never_looked_at_again():
    """Until everything is loaded nothing is looked for; then what is there is left alone, and the search begins."""
    loaded = asyncio.Event()
    frozen = gc.get_freeze_count()
    garbage.hold_off()
    beginning = asyncio.create_task(garbage.begin(loaded.wait()))
    await asyncio.sleep(0)

    assert not gc.isenabled()
    assert gc.get_freeze_count() == frozen

    module_like = [[] for _ in range(1_000)]
    loaded.set()
    await beginning

    assert gc.isenabled()
    assert gc.get_freeze_count() >= frozen + len(module_like)
