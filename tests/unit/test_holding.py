"""What a worker takes up, and whom its death is held against, on databases on a server."""

import asyncio
from types import SimpleNamespace
from unittest.mock import AsyncMock, Mock

import pytest

from bot.turns.sharing.holding import excused
from bot.turns.sharing.leases import Leases
from bot.turns.sharing.workers import Workers


@pytest.mark.parametrize(
    ("begun", "noted", "hung", "expected"),
    [
        ({"t_1"}, [], (), []),
        ({"t_1"}, ["t_1"], (), ["t_1"]),
        ({"t_1", "t_2"}, [], (), ["t_1", "t_2"]),
        ({"t_1", "t_2"}, ["t_1"], {"t_1"}, ["t_2"]),
        ({"t_1"}, ["t_1"], {"t_1"}, []),
        ({"t_1", "t_2"}, ["t_1", "t_2"], None, []),
    ],
    ids=["alone", "waits", "not alone", "it hung in one", "it hung while it waited", "it still held its connection"],
)
def test_who_is_excused(begun, noted, hung, expected):
    """Who waited or was not alone is; the turn that it hung in is not, nor anybody where it is not known which."""
    assert excused(begun, noted, hung) == expected


async def test_what_is_found_of_a_chat_that_was_spared_meanwhile_is_left_to_who_takes_it():
    """Else two processes ask the model: the one that gives the chat away, and the one that takes it."""
    work = {name: SimpleNamespace(conversation_id=f"{name}:0") for name in ("tg:1:7", "tg:1:8")}
    found = [*work.values()]
    taken_up = AsyncMock()
    services = SimpleNamespace(me=SimpleNamespace(bot_id=1), delivery=Mock(has=lambda _: False), inbox=Mock())
    services.settings = SimpleNamespace(continuity_max_concurrent_turns=1)
    workers = Workers(
        services,
        Mock(of_leases=AsyncMock(return_value=[])),
        Mock(has=lambda _: False),
        Mock(take_up=taken_up),
        leases := Leases(Mock(worker=1), Mock()),
        pace=Mock(),
        duties=Mock(),
        news=asyncio.Queue(),
    )
    leases.hold(work)

    async def of_leases(*_, **__):
        leases.spared("tg:1:7")  # a message came in while this process had no room
        return found

    services.inbox.of_leases = of_leases
    await workers._load(work, begun=False)

    (_, envelopes, _), _ = taken_up.await_args
    assert envelopes == [work["tg:1:8"]]
