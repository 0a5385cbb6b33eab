"""A message typed under the preview that /continue showed: it is taken for a tap on [Carry this forward]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import orjson
import structlog

from bot.delivery.outbox import BUTTON_LIFE_MS
from bot.features.continuity.carry_on import CarryOn
from bot.intake.updates import Envelope
from bot.turns.services import Services
from memory.errors import Conflict
from memory.ports import Row, Statement
from memory.process import faults
from memory.types import SessionState

COUNTS_FOR_MS: Final = 6 * 3_600_000
"""So long after /continue a message still answers its preview; a tap does as long as its button lives."""

TAKEN_FOR_TAP: Final = "carried"
"""`kind` of the message that says in a turn what is carried: the turn's message was taken for a tap."""

log = structlog.get_logger(__name__)


class TypedUnderPreview:
    """Takes the first message under an open preview for the tap, once and for good."""

    def __init__(self, services: Services, carry_on: CarryOn) -> None:
        self._services = services
        self._carry_on = carry_on

    async def takes(self, batch: Sequence[Envelope], turn_id: str, state: SessionState) -> bool:
        """Return whether these messages carry on what is before them, in the session that they are answered in.

        The choice, the used buttons and the words in their place are one transaction, which names the turn: begun again
        after a crash it finds them. Raises `StorageUnavailable`: the caller tries again.
        """
        services, last = self._services, batch[-1]
        if await services.db.read_one("turn_taken_for_tap", turn_id=turn_id, kind=TAKEN_FOR_TAP):
            return True
        preview = await self._newest(last) if not any(each.again for each in batch) else None
        if preview is None or not await self._is_of(preview, state):
            return False
        dropped = _payload(preview)["dropped"]
        size = await services.db.read_one("button_group_size", group_id=preview["group_id"])
        values = {"group_id": preview["group_id"], "at_ms": services.clock.now_ms()}
        use = Statement("button_use", values, expect=size["n"] if size else 0)
        shown = replace(await self._carry_on.shown(last, await self._place(preview), dropped), kind=TAKEN_FOR_TAP)
        ready = await self._carry_on.ready(last)
        faults.point("session_joined")
        try:
            await self._carry_on.into(ready.session_id, last, [use], shown, dropped=dropped, turn_id=turn_id)
        except Conflict:  # a tap was first
            return False
        faults.point("preview_answered")
        log.info("a message was taken for a tap", session_id=ready.session_id)
        return True

    async def withdrawn(self, conversation_id: str) -> list[Statement]:
        """Return the statements after which no message answers an open preview any more; its buttons stay."""
        shown = [row for row in await self._shown(conversation_id) if row["used_at_ms"] is None]
        means = [(row["button_id"], {**_payload(row), "session_id": ""}) for row in shown]
        return [
            Statement("button_means", {"button_id": button_id, "payload_json": orjson.dumps(payload).decode()})
            for button_id, payload in means
        ]

    async def _newest(self, last: Envelope) -> Row | None:
        """The newest preview of this person here, if /continue showed it and nobody answered it."""
        shown = await self._shown(last.conversation_id)
        newest = next((row for row in shown if row["user_id"] == last.user_id), None)
        is_open = newest is not None and newest["used_at_ms"] is None and _payload(newest).get("session_id")
        return newest if is_open else None

    async def _shown(self, conversation_id: str) -> Sequence[Row]:
        after_ms = self._services.clock.now_ms() - COUNTS_FOR_MS + BUTTON_LIFE_MS
        return await self._services.db.read("previews_shown", conversation_id=conversation_id, after_ms=after_ms)

    async def _is_of(self, preview: Row, state: SessionState) -> bool:
        """Whether it was shown in this session, or in the one that a pause has ended since.

        Not where what was before is carried already; a session that a crash left `joined` has no choice yet.
        """
        memory, shown_in = self._services.memory, _payload(preview)["session_id"]
        row = await memory.store.session(state.session_id)
        if shown_in == state.session_id:
            is_joined = row is not None and row.origin == "fresh" and await memory.bootstrap.choice(shown_in) is None
            return state.isolated or not state.turn_count or is_joined
        before = await memory.store.session(shown_in)
        is_begun_now = row is not None and row.origin == "gap" and not state.turn_count
        return is_begun_now and before is not None and before.last_turn_at_ms <= preview["created_at_ms"]

    async def _place(self, preview: Row) -> int | None:
        here = {"conversation_id": preview["conversation_id"], "button_id": preview["button_id"]}
        row = await self._services.db.read_one("message_of_button", **here)
        return row["message_id"] if row else None


def _payload(row: Row) -> dict[str, Any]:
    payload: dict[str, Any] = orjson.loads(row["payload_json"])
    return payload
