"""A start and unfinished work: send written parts, finish young turns, ask about old ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

import structlog

from bot import replies
from bot.delivery.outbox import Button, Outbox, OutgoingMessage, Part
from bot.intake.inbox import INTERRUPTED
from bot.intake.updates import Envelope, batch_text
from bot.turns.lanes import Lanes
from bot.turns.services import Services, language_of
from memory.text import shorten

QUOTED_CHARS = 120
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class StartReport:
    """Finds and work of the start (log, `/health`, `continuity-bot status`)."""

    updates_recovered: int = 0
    turns_resumed: int = 0
    turns_asked_about: int = 0
    replies_to_send: int = 0
    replies_to_probe: int = 0
    sessions_resuming: int = 0
    sessions_rebuilt: int = 0
    warnings: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return asdict(self)


def too_old(batch: Sequence[Envelope], now_ms: int, window_ms: int) -> bool:
    """Return True when a half-done turn is so old that no tokens are spent on it without asking."""
    asked = any(envelope.again for envelope in batch)
    return batch[0].mergeable and not asked and now_ms - batch[0].received_at_ms > window_ms


def by_turn(envelopes: Sequence[Envelope]) -> list[list[Envelope]]:
    """Return the envelopes in order, those of one begun turn together."""
    groups = groupby(envelopes, key=lambda envelope: envelope.turn_id or f"update {envelope.update_id}")
    return [list(group) for _, group in groups]


class Recovery:
    """Takes up the work that an earlier process left: all of it before polling begins, or this process's share."""

    def __init__(self, services: Services, outbox: Outbox, lanes: Lanes) -> None:
        self._services = services
        self._outbox = outbox
        self._lanes = lanes

    async def run(self, report: StartReport) -> None:
        """Deliver unsent parts, then put unfinished updates in their lanes; both go on behind the start."""
        parts = await self._outbox.unsent(self._services.me.bot_id)
        waiting, inbox = self._services.waiting, self._services.inbox
        await inbox.excuse(waiting.before)
        await self.blame()
        await self.take_up(parts, await inbox.unfinished(self._services.me), report)

    async def blame(self) -> None:
        """Count the death of an event loop that stood still against the turns in whose midst it did."""
        waiting = self._services.waiting
        if waiting.hung:
            log.error("the event loop stood still until the process ended", turn_ids=sorted(waiting.hung))
        await self._services.inbox.blame(waiting.hung_update_ids, self._services.me)
        waiting.blamed()

    async def take_up(self, parts: Sequence[Part], envelopes: Sequence[Envelope], report: StartReport) -> None:
        """Deliver these parts, and put these updates in their lanes or ask about them; `report` counts them."""
        to_probe = sum(part.state == "sending" for part in parts)
        report.replies_to_probe += to_probe
        report.replies_to_send += len(parts) - to_probe
        self._services.delivery.deliver(parts)
        report.updates_recovered += len(envelopes)
        now_ms, window_ms = self._services.clock.now_ms(), self._services.settings.resume_window_ms
        for batch in by_turn(envelopes):
            for envelope in batch:
                self._services.delivery.high_water.saw(envelope.chat_id, envelope.message_id)
            if too_old(batch, now_ms, window_ms):
                report.turns_asked_about += 1
                await self._ask(batch, now_ms)
                continue
            report.turns_resumed += any(envelope.attempts or envelope.waits for envelope in batch)
            for envelope in batch:
                self._lanes.submit(envelope)

    async def _ask(self, batch: Sequence[Envelope], now_ms: int) -> None:
        """Park an old turn and ask the user once whether to answer it."""
        turn_id = batch[0].turn_id or self._services.ids.new("t")
        payload = {"turn_id": turn_id}
        with replies.speaking(await language_of(self._services, batch[-1])):
            message = interrupted(batch, payload, now_ms, await self._services.delivery.preview(turn_id))
        await self._services.committer.parked(batch, [message], INTERRUPTED, turn_id)


def interrupted(
    batch: Sequence[Envelope], payload: Mapping[str, str], now_ms: int, edits_message_id: int | None
) -> OutgoingMessage:
    """Return the question about an old turn; it takes the place of the preview of its answer."""
    ago, text = replies.ago(now_ms - batch[0].received_at_ms), shorten(batch_text(batch), QUOTED_CHARS)
    now = Button(replies.say("answer_now"), "answer_parked", payload)
    skip = Button(replies.say("skip"), "skip_parked", payload)
    fresh = Button(replies.say("fresh_start"), "fresh_parked", payload)
    return OutgoingMessage(
        replies.say("interrupted", ago=ago, text=text),
        buttons=((now,), (skip, fresh)),
        edits_message_id=edits_message_id,
    )
