"""A turn that waits for the person's word: it is put back to work, or let go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from bot import replies
from bot.delivery.outbox import Button
from bot.intake.updates import Envelope
from bot.turns.services import Services
from memory.errors import Conflict
from memory.ports import Statement


def try_again(turn_id: str) -> Button:
    """Return the button that puts a parked turn back to work."""
    return Button(replies.say("try_again"), "answer_parked", {"turn_id": turn_id})


async def decided(services: Services, turn_id: str, what: Literal["inbox_reopen", "inbox_skip"]) -> Statement:
    """Return the statement that puts a parked turn back to work, or lets it go.

    Raises `Conflict` when it waits for nobody's word any more; so does the statement when somebody else is first.
    """
    waiting = await services.inbox.parked(turn_id)
    if not waiting:
        raise Conflict(f"turn {turn_id} waits for nobody's word any more")
    return Statement(what, {"turn_id": turn_id, "at_ms": services.clock.now_ms()}, expect=waiting)


async def resume(services: Services, submit: Callable[[Envelope], None], turn_id: str) -> None:
    """Hand a turn that was put back to work to its lane. Raises `StorageUnavailable`."""
    for parked in await services.inbox.received(services.me, turn_id):
        submit(replace(parked, again=True))
