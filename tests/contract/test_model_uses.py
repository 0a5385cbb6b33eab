"""What models take behind the replies is written down, for the charts and for `status`."""

from __future__ import annotations

from unittest.mock import AsyncMock

import pytest

from bot.answers.errors import ModelError
from bot.joining.choose import summary_writer
from bot.meters.spent import Spent, nobody_asks
from bot.ops.runs.status import reading_in_words
from bot.people.spending import UseLog
from bot.settings import Settings
from bot.tables import BOT_TABLES
from memory.clock import RandomIds
from memory.errors import StorageUnavailable
from memory.ports import Statement
from memory.testing import ManualClock, open_memory
from memory.types import ConversationTurn

READING = Spent("openai:small", "reading", 1_000, 200, 100, 1_500_000)
SUMMARY = Spent("openai:small", "summary", 400, 50, 0, None)

TURN = ConversationTurn(
    turn_id="t",
    session_id="s",
    conversation_id="c",
    seq=1,
    user_id=7,
    user_text="a",
    assistant_text="b",
    created_at_ms=1,
)


async def test_every_use_is_counted_and_stored(tmp_path):
    """Also two at once; the price of one is not known, which is said."""
    async with open_memory(tmp_path, extensions=[BOT_TABLES]) as memory:
        counted: list[Spent] = []
        log = UseLog(memory.db, counted.append, ManualClock(), RandomIds())

        log(READING)
        log(READING)
        log(SUMMARY)
        await log.settle()

        assert counted == [READING, READING, SUMMARY]
        (day,) = await memory.db.read("console_uses", since_ms=0)
        assert (day["tokens"], day["cost_nanodollars"], day["unpriced"]) == (2_850, 3_000_000, 1)
        totals = {row["purpose"]: row for row in await memory.db.read("model_use_totals")}
        assert (totals["reading"]["n"], totals["reading"]["tokens"]) == (2, 2_400)
        assert totals["reading"]["cost_nanodollars"] == 3_000_000
        assert totals["summary"]["unpriced"] == 1


async def test_a_disk_that_refuses_costs_the_figure_alone():
    """Nothing is raised where the model was used, and it is counted all the same."""

    class Full:
        async def write(self, *_: Statement) -> None:
            raise StorageUnavailable("no room")

    counted: list[Spent] = []
    log = UseLog(Full(), counted.append, ManualClock(), RandomIds())

    log(READING)
    await log.settle()

    assert counted == [READING]


def test_status_says_what_reading_and_summing_up_took():
    """Tokens, what was kept, and money as far as prices are known; nothing where nothing was used."""
    totals = {"n": 3, "input_tokens": 3_000, "output_tokens": 600, "kept": 9, "failed": 1}
    uses = [
        {"purpose": "reading", "n": 2, "tokens": 2_400, "cost_nanodollars": 3_000_000, "unpriced": 1},
        {"purpose": "summary", "n": 1, "tokens": 450, "cost_nanodollars": 0, "unpriced": 1},
    ]

    assert reading_in_words(totals, uses) == (
        "3 readings by a model, 3,600 tokens, 9 notes kept, 1 failed, at least $0.0030; "
        "1 summary by a model, 450 tokens"
    )
    assert reading_in_words(None) == ""


async def test_no_summary_is_asked_for_when_nothing_is_left():
    """The summarizer of the program writes it then."""
    settings = Settings(_env_file=None, continuity_model="openai-chat:m", continuity_summary_model="openai-chat:m")
    purse = AsyncMock(may_spend=AsyncMock(return_value=False))
    write = summary_writer(settings, nobody_asks, lambda: (purse, None))

    with pytest.raises(ModelError, match="budget"):
        await write([TURN], "")

    purse.may_spend.assert_awaited_once_with(7)
