"""Kill -9 at each step of a file: fetched again or gone on with, answered once, nothing left behind."""

from __future__ import annotations

import pytest
from story import PERSON, answered, asked, bot_lines, rows, stored_turns, swept

from benchmarks.papers import pdf

pytestmark = [pytest.mark.acceptance, pytest.mark.crash, pytest.mark.file]

STEPS = [
    "inbox_after_write",
    "turn_claimed",
    "file_linked",
    "file_downloaded",
    "file_placed",
    "file_fetched",
    "file_read",
    "file_indexed",
    "file_known",
    "turn_packet_built",
    "after_commit",
]
LEASE = pdf(["The rent is 1,240 euros.", "Notice is ninety days."])


@pytest.mark.sweep
@pytest.mark.parametrize(
    "step", swept(STEPS, "inbox_after_write", "file_downloaded", "file_fetched", "file_indexed", "after_commit")
)
async def test_a_file_that_dies_at_any_step_is_read_once_and_answered_once(api, model, bot_process, step):
    """Dead at this step, started again: one answer with the page, one copy, two passages, no half-fetched rest."""
    bot = await bot_process(start=False)
    api.people.sends_file(PERSON, LEASE, name="lease.pdf", caption="What about notice?")
    await bot.launch(CONTINUITY_FAULT=step)
    assert await bot.wait() == -9
    await bot.start()
    await answered(api, PERSON, "What about notice?")
    await bot.terminate()

    assert len(bot_lines(api)) == 1
    assert "[page 2]\nNotice is ninety days." in asked(model)[-1].messages[-1][1]
    assert rows(bot, "SELECT state, number FROM files") == [("read", 1)]
    assert rows(bot, "SELECT COUNT(*) FROM file_passages") == [(2,)]
    assert rows(bot, "SELECT COUNT(*) FROM search_docs WHERE conversation_id LIKE 'files of %'") == [(2,)]
    assert len(stored_turns(bot)) == 1
    assert len(list((bot.folder / "continuity.db.files").iterdir())) == 1


async def test_bytes_that_were_altered_on_the_disk_are_fetched_again(api, model, bot_process):
    """Between fetch and reading a byte flips: the digest says so, and Telegram is asked once more."""
    bot = await bot_process(start=False)
    api.people.sends_file(PERSON, LEASE, name="lease.pdf", caption="What about notice?")
    await bot.launch(CONTINUITY_FAULT="file_fetched")
    assert await bot.wait() == -9
    (kept,) = (bot.folder / "continuity.db.files").iterdir()
    kept.write_bytes(b"x" + kept.read_bytes()[1:])
    await bot.start()
    await answered(api, PERSON, "What about notice?")

    assert "[page 2]\nNotice is ninety days." in asked(model)[-1].messages[-1][1]
    assert len(api.downloads.served) == 2
