"""Members and admins of a group: Telegram is asked each time, and nothing of it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Literal, Protocol

from telegram.error import TelegramError

from bot.people.choices import group_of

Standing = Literal["admin", "member", ""]
PATIENCE_S: Final = 5.0
ADMINS: Final = frozenset({"creator", "administrator"})


class MemberLookup(Protocol):
    """The side of `telegram.Bot` that is used here."""

    async def get_chat_member(self, chat_id: int, user_id: int) -> object:
        """Return a member of a chat, with a `status`."""
        ...


class Members:
    """Asks Telegram who somebody is in a group."""

    def __init__(self, bot: MemberLookup, today: Callable[[int], int]) -> None:
        """`today` gives the number that a group has on Telegram now, by the one in its conversation's key."""
        self._bot = bot
        self._today = today

    async def standing(self, group: int, user_id: int | None) -> Standing:
        """Return somebody's standing there; "" for a person outside, and when Telegram does not say. Never raises."""
        if user_id is None:
            return ""
        try:
            async with asyncio.timeout(PATIENCE_S):
                member = await self._bot.get_chat_member(self._today(group), user_id)
        except (TelegramError, TimeoutError):
            return ""
        status = getattr(member, "status", "")
        if status in ADMINS:
            return "admin"
        return "member" if status == "member" or getattr(member, "is_member", False) is True else ""

    async def leads(self, conversation_id: str, user_id: int | None) -> bool:
        """Return whether somebody is an admin of the group that a conversation is in; False in private."""
        group = group_of(conversation_id)
        return group is not None and await self.standing(group, user_id) == "admin"
