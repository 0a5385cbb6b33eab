"""/stop, /retry and the buttons under an answer that could not be made: try again, answer now, skip, fresh start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson

from bot import replies
from bot.delivery.outbox import Message
from bot.features.sessions import Sessions
from bot.intake.updates import Envelope, Me
from bot.turns.feature import Action, Command, Tap
from bot.turns.lanes import Lanes
from bot.turns.services import Services
from bot.turns.turn import Turns
from memory.ports import Statement


def as_message(envelope: Envelope, text: str, me: Me) -> dict[str, Any]:
    """Return the raw message update that a tap on "answer this text" stands for."""
    thread = {"message_thread_id": envelope.thread_id, "is_topic_message": True} if envelope.thread_id else {}
    return {
        "update_id": envelope.update_id,
        "message": {
            "message_id": envelope.message_id,
            "date": envelope.sent_at_ms // 1000,
            "chat": {"id": envelope.chat_id, "type": "private" if envelope.private else "supergroup"},
            "from": {"id": envelope.user_id, "is_bot": False, "first_name": envelope.user_name},
            "text": text if envelope.private else f"@{me.username} {text}",
            **thread,
        },
    }


class Answering:
    """Stops and repeats answers."""

    def __init__(self, services: Services, turns: Turns, lanes: Lanes, sessions: Sessions) -> None:
        self._services = services
        self._turns = turns
        self._lanes = lanes
        self._sessions = sessions
        self.commands: dict[str, Command] = {"stop": self.stop, "retry": self.retry}
        self.actions: dict[str, Action] = {
            "answer_parked": self._answer_parked,
            "skip_parked": self._skip_parked,
            "fresh_parked": self._fresh_parked,
            "answer_again": self._answer_again,
        }

    async def stop(self, envelope: Envelope) -> None:
        """Stop the answer that is being made; it says so itself."""
        stopped = self._turns.stop(envelope.conversation_id)
        await self._services.committer.done([envelope], [] if stopped else [Message(replies.NOTHING_TO_STOP)])

    async def retry(self, envelope: Envelope) -> None:
        """Answer a parked turn, or else the last message, again."""
        services = self._services
        turn_id = await services.inbox.latest_parked(envelope.conversation_id)
        if turn_id is not None:
            await services.committer.done([envelope], [], self._reopened(turn_id))
            await self._resume(turn_id)
            return
        current = await services.recorder.current(envelope.conversation_id)
        last = await services.store.last_turns(current.session_id, 1) if current else []
        if not last:
            await services.committer.done([envelope], [Message(replies.NOTHING_TO_RETRY)])
            return
        await self._turns.answer([envelope], envelope.turn_id or services.ids.new("t"), text=last[0].user_text)

    async def _answer_parked(self, tap: Tap) -> None:
        turn_id = tap.payload["turn_id"]
        await self._services.committer.done([tap.envelope], [], tap.use, self._reopened(turn_id))
        await self._resume(turn_id)

    async def _skip_parked(self, tap: Tap) -> None:
        message = Message(replies.SKIPPED, edits_message_id=tap.envelope.message_id)
        await self._services.committer.done([tap.envelope], [message], tap.use, self._skipped(tap))

    async def _fresh_parked(self, tap: Tap) -> None:
        await self._sessions.fresh(tap.envelope, tap.use, self._skipped(tap))

    async def _answer_again(self, tap: Tap) -> None:
        """Turn the tap into the message that it stands for, so that it survives a crash like any other."""
        text = tap.payload["text"]
        raw = as_message(tap.envelope, text, self._services.me)
        key = {"bot_id": tap.envelope.bot_id, "update_id": tap.envelope.update_id}
        rewrite = Statement("inbox_rewrite", {**key, "payload": orjson.dumps(raw).decode()}, expect=1)
        await self._services.db.write(tap.use, rewrite)
        self._lanes.submit(replace(tap.envelope, kind="text", text=text, again=True))

    def _reopened(self, turn_id: str) -> Statement:
        return Statement("inbox_reopen", {"turn_id": turn_id, "at_ms": self._services.clock.now_ms()})

    async def _resume(self, turn_id: str) -> None:
        for parked in await self._services.inbox.received(self._services.me, turn_id):
            self._lanes.submit(replace(parked, again=True))

    def _skipped(self, tap: Tap) -> Statement:
        return Statement("inbox_skip", {"turn_id": tap.payload["turn_id"], "at_ms": self._services.clock.now_ms()})
