"""Work that comes by hand: a message over HTTP, a turn asked for again, an update put back into the inbox."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Any

from bot.intake.inbox import NewRow
from bot.intake.raw.reader import read_update
from bot.intake.raw_json import write_json
from bot.intake.updates import Envelope
from bot.joining.joining import Joined
from bot.turns.parked import decided, resume
from memory.errors import Conflict

SETTLE_S = 60.0
SHARING_LOOK_S = 0.01


async def take_local(joined: Joined, raw: dict[str, Any]) -> Envelope:
    """Take a message that came over HTTP, once per identity. Raises `StorageUnavailable`: nothing was taken."""
    inbox, me = joined.services.inbox, joined.services.me
    envelope = read_update(raw, me)
    if envelope is None:
        raise ValueError("not a local message")
    row = NewRow(envelope.update_id, envelope.conversation_id, write_json(raw), message_id=envelope.digest)
    (arrival,) = await inbox.put_all(me, [row])
    if arrival.is_new:
        joined.deliver(replace(envelope, behind=arrival.behind))
    return envelope


async def reopen(joined: Joined, turn_id: str) -> None:
    """Put a parked turn back to work, as somebody asked; one call is enough. Raises `StorageUnavailable`."""
    with suppress(Conflict):  # somebody else was first
        await joined.services.db.write(await decided(joined.services, turn_id, "inbox_reopen"))
    await resume(joined.services, joined.sharing.submit, turn_id)


async def replay(joined: Joined, update_id: int) -> None:
    """Work on an update that was put back into the inbox. Raises `StorageUnavailable`."""
    for envelope in await joined.services.inbox.unfinished(joined.services.me):
        if envelope.update_id == update_id:
            joined.sharing.submit(replace(envelope, again=True))


async def settle(joined: Joined) -> None:
    """Wait until every update taken so far is finished and everything said is sent (or failed)."""
    while not (joined.sharing.idle and joined.lanes.idle and joined.services.delivery.backlog == 0):
        await joined.lanes.until_idle()
        await joined.services.delivery.flush(SETTLE_S)
        if not joined.sharing.idle:
            await asyncio.sleep(SHARING_LOOK_S)
