"""An answer that grows on the screen: drafts in private chats, an edited message elsewhere, and "typing…" before it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable
from typing import Literal, Self

import structlog
from telegram import Bot, Message
from telegram.constants import ChatAction
from telegram.error import BadRequest, InvalidToken, RetryAfter, TelegramError

from bot.delivery.local import LocalAnswer
from bot.delivery.markup import unmarked
from bot.delivery.outbox import Outbox, Part, Target
from bot.delivery.sender import Delivery
from bot.delivery.telegram_calls import NO_PREVIEW
from bot.intake.local import is_local
from memory.ports import Database

log = structlog.get_logger(__name__)

Mode = Literal["draft", "edit", "off"]

UNSEEN_S = 0.15
"""An answer that is there so soon is not announced: nobody sees a sign that lasts so short, and its calls delay it."""
TYPING_EVERY_S = 4.5
DRAFT_EVERY_S = 0.7
EDIT_EVERY_S = 3.5
"""Telegram allows 20 calls a minute in a group; the final text needs one of them."""
MAX_SHOWN_CHARS = 3500
GROWING = " …"


def mode_for(setting: Mode, *, private: bool) -> Mode:
    """Return how an answer is shown in this chat: drafts exist in private chats only."""
    return "edit" if setting == "draft" and not private else setting


def shown_text(text: str) -> str:
    """Return a growing answer as it is shown: without marks, and its end when it is too long for one message."""
    text = unmarked(text.strip()).strip()
    return text if len(text) <= MAX_SHOWN_CHARS else "… " + text[-MAX_SHOWN_CHARS:]


class LivePreviews:
    """Knows how this bot may show growing answers; drafts are given up when the server has none."""

    def __init__(self, bot: Bot, db: Database, outbox: Outbox, delivery: Delivery) -> None:
        self.bot = bot
        self.db = db
        self.outbox = outbox
        self.delivery = delivery
        self.drafts_work = True
        self.untold: set[str] = set()
        """Turns that this process began and that have shown nothing yet: no message of theirs has to be looked for."""

    def live(
        self, target: Target, turn_id: str, mode: Mode, reply_to_message_id: int | None
    ) -> LiveAnswer | LocalAnswer:
        """Return the live answer of one turn; use it as an async context manager."""
        if is_local(target.chat_id):
            return LocalAnswer(self.delivery.screens, target.chat_id, turn_id)
        return LiveAnswer(self, target, turn_id, mode, reply_to_message_id)


class LiveAnswer:
    """Shows the newest text at a pace that Telegram allows. A fault here never fails the turn."""

    def __init__(
        self, previews: LivePreviews, target: Target, turn_id: str, mode: Mode, reply_to_message_id: int | None
    ) -> None:
        self._previews = previews
        self._target = target
        self._turn_id = turn_id
        self._mode = mode
        self._reply_to_message_id = reply_to_message_id
        self._text = ""
        self._grown = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._first_message: asyncio.Task[None] | None = None
        self._editing: asyncio.Task[Message | bool] | None = None
        self._draft_id = int(turn_id.rsplit("_", 1)[-1][:12], 16) % (2**31 - 1) + 1
        self.message_id: int | None = None
        """The message that shows the preview; the final text edits it."""

    def grow(self, text: str) -> None:
        """Take the whole text so far."""
        self._text = text
        self._grown.set()

    async def __aenter__(self) -> Self:
        """Begin: "typing…" after a moment."""
        if self._turn_id in self._previews.untold:
            self._previews.untold.discard(self._turn_id)
        else:
            self.message_id = await self._previews.delivery.preview(self._turn_id)
        self._task = asyncio.create_task(self._run(), name=f"live:{self._turn_id}")
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop showing. A message that is sent or edited right now is waited for: the final text is edited into it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for last in filter(None, (self._first_message, self._editing)):
            await asyncio.gather(last, return_exceptions=True)

    async def _run(self) -> None:
        await asyncio.sleep(UNSEEN_S)
        while not self._text:
            await self._quietly(self._typing())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TYPING_EVERY_S):  # wait_for loses a cancel that comes with the event
                    await self._grown.wait()
        while True:
            await self._grown.wait()
            self._grown.clear()
            text = shown_text(self._text)  # "" for "**": Telegram refuses a message without a text
            pause_s = await self._quietly(self._show_once(text)) if text else DRAFT_EVERY_S
            await asyncio.sleep(pause_s or DRAFT_EVERY_S)

    async def _quietly(self, showing: Awaitable[float]) -> float:
        try:
            return await showing
        except RetryAfter as exc:
            wait = exc.retry_after
            return wait if isinstance(wait, (int, float)) else wait.total_seconds()
        except TelegramError as exc:
            log.debug("preview not shown", error=str(exc))
            return EDIT_EVERY_S

    async def _typing(self) -> float:
        await self._previews.bot.send_chat_action(
            self._target.chat_id, ChatAction.TYPING, message_thread_id=self._target.thread_id
        )
        return TYPING_EVERY_S

    async def _show_once(self, text: str) -> float:
        if self._mode == "edit":
            await self._edit(text)
            return EDIT_EVERY_S
        if self._mode == "draft" and self._previews.drafts_work:
            await self._draft(text)
            return DRAFT_EVERY_S
        return await self._typing()

    async def _draft(self, text: str) -> None:
        try:
            await self._previews.bot.send_message_draft(
                self._target.chat_id, self._draft_id, text, message_thread_id=self._target.thread_id
            )
        except InvalidToken as exc:  # 404 is how a server lacks a method
            self._previews.drafts_work = False
            log.info("drafts are unavailable here; showing only 'typing…'", error=str(exc))
        except BadRequest as exc:  # this chat, or this text: others have their drafts
            self._mode = "off"
            log.info("a draft was refused; this answer shows only 'typing…'", chat=self._target.chat_id, error=str(exc))

    async def _edit(self, text: str) -> None:
        if self.message_id is not None:
            editing = self._previews.bot.edit_message_text(
                text + GROWING,
                chat_id=self._target.chat_id,
                message_id=self.message_id,
                link_preview_options=NO_PREVIEW,
            )
            self._editing = asyncio.create_task(editing, name=f"edit:{self._turn_id}")
            await asyncio.shield(self._editing)
            return
        part = self._previews.outbox.preview(self._target, self._turn_id, text + GROWING, self._reply_to_message_id)
        self._first_message = asyncio.create_task(self._send_first(part), name=f"preview:{self._turn_id}")
        await asyncio.shield(self._first_message)

    async def _send_first(self, part: Part) -> None:
        await self._previews.db.write(self._previews.outbox.insert(part))
        self._previews.delivery.deliver([part])
        self.message_id = await self._previews.delivery.preview(self._turn_id)
