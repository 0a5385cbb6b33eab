"""What a tap on a button means: looked up on our side, authorised again, used once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import orjson
import structlog
from telegram import Bot
from telegram.error import TelegramError

from bot import replies
from bot.commands import Commands
from bot.lanes import Lanes
from bot.outbox import Message
from bot.turns import Tools
from bot.updates import Envelope, Me
from memory.errors import Conflict
from memory.ports import Database, Row, Statement

log = structlog.get_logger(__name__)


def refusal(row: Row | None, envelope: Envelope, now_ms: int) -> str | None:
    """Return why a tap is not obeyed, or None when it is."""
    if row is None or row["conversation_id"] != envelope.conversation_id or row["expires_at_ms"] < now_ms:
        return replies.TAP_TOO_OLD
    if row["user_id"] is not None and row["user_id"] != envelope.user_id:
        return replies.TAP_NOT_YOURS
    if row["used_at_ms"] is not None:
        return replies.TAP_USED
    return None


def as_message(envelope: Envelope, text: str, me: Me) -> dict[str, Any]:
    """Return the raw message update that a tap on "answer this text" stands for."""
    return {
        "update_id": envelope.update_id,
        "message": {
            "message_id": envelope.message_id,
            "date": envelope.sent_at_ms // 1000,
            "chat": {"id": envelope.chat_id, "type": "private" if envelope.private else "supergroup"},
            "from": {"id": envelope.user_id, "is_bot": False, "first_name": envelope.user_name},
            "text": text if envelope.private else f"@{me.username} {text}",
            **({"message_thread_id": envelope.thread_id, "is_topic_message": True} if envelope.thread_id else {}),
        },
    }


@dataclass(frozen=True, slots=True)
class _Tap:
    envelope: Envelope
    use: Statement
    payload: dict[str, Any]


class Taps:
    """Finds the row behind a button and does what it says; each in one transaction with the row's use."""

    def __init__(self, bot: Bot, db: Database, tools: Tools, commands: Commands, lanes: Lanes) -> None:
        self._bot = bot
        self._db = db
        self._tools = tools
        self._commands = commands
        self._lanes = lanes
        self._actions = {
            "continue": self._continue,
            "answer_parked": self._answer_parked,
            "skip_parked": self._skip_parked,
            "fresh_parked": self._fresh_parked,
            "answer_again": self._answer_again,
        }

    async def run(self, envelope: Envelope) -> None:
        """Obey a tap once; a second one, somebody else's or an old one only gets a word."""
        row = await self._db.read_one("button_find", button_id=envelope.button_id)
        now_ms = self._tools.clock.now_ms()
        word = refusal(row, envelope, now_ms)
        if row is None or word is not None:
            await self._tools.closing.done([envelope], [])
            await self._toast(envelope, word or replies.TAP_TOO_OLD)
            return
        use = Statement("button_use", {"group_id": row["group_id"], "at_ms": now_ms})
        use = replace(use, expect=await self._group_size(row))
        tap = _Tap(envelope, use, orjson.loads(row["payload_json"]))
        try:
            await self._actions[row["action"]](tap)
        except Conflict:
            log.info("second tap on one message", button=envelope.button_id)
            await self._tools.closing.done([envelope], [])
            await self._toast(envelope, replies.TAP_USED)
            return
        await self._toast(envelope, replies.TAP_DONE)
        await self._without_buttons(envelope)

    async def _group_size(self, row: Row) -> int:
        found = await self._db.read_one("button_group_size", group_id=row["group_id"])
        return found["n"] if found else 0

    async def _continue(self, tap: _Tap) -> None:
        await self._commands.take_up(tap.envelope, tap.payload["session_id"], tap.use)

    async def _answer_parked(self, tap: _Tap) -> None:
        turn_id = tap.payload["turn_id"]
        await self._tools.closing.done([tap.envelope], [], tap.use, self._commands.reopened(turn_id))
        await self._commands.resume(turn_id)

    async def _skip_parked(self, tap: _Tap) -> None:
        message = Message(replies.SKIPPED, edits_message_id=tap.envelope.message_id)
        await self._tools.closing.done([tap.envelope], [message], tap.use, self._skipped(tap))

    async def _fresh_parked(self, tap: _Tap) -> None:
        await self._commands.fresh(tap.envelope, tap.use, self._skipped(tap))

    async def _answer_again(self, tap: _Tap) -> None:
        """Turn the tap into the message that it stands for, so that it survives a crash like any other."""
        text = tap.payload["text"]
        raw = as_message(tap.envelope, text, self._tools.me)
        key = {"bot_id": tap.envelope.bot_id, "update_id": tap.envelope.update_id}
        rewrite = Statement("inbox_rewrite", {**key, "payload": orjson.dumps(raw).decode()}, expect=1)
        await self._db.write(tap.use, rewrite)
        self._lanes.submit(replace(tap.envelope, kind="text", text=text, again=True))

    def _skipped(self, tap: _Tap) -> Statement:
        return Statement("inbox_skip", {"turn_id": tap.payload["turn_id"], "at_ms": self._tools.clock.now_ms()})

    async def _toast(self, envelope: Envelope, text: str) -> None:
        try:
            await self._bot.answer_callback_query(envelope.callback_id, text=text)
        except TelegramError as exc:  # a query older than a minute cannot be answered any more
            log.debug("tap not acknowledged", error=str(exc))

    async def _without_buttons(self, envelope: Envelope) -> None:
        try:
            await self._bot.edit_message_reply_markup(envelope.chat_id, envelope.message_id)
        except TelegramError as exc:  # the message may show other text already; its buttons are spent anyway
            log.debug("buttons not taken away", error=str(exc))
