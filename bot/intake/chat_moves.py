"""Groups that became supergroups: a new number on Telegram, the same conversation here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from telegram import Bot
from telegram.error import BadRequest, ChatMigrated, NetworkError, RetryAfter, TelegramError

from bot.intake.updates import conversation_key
from bot.people.choices import NAME, choices_in, plain_name
from memory.ports import Database, Statement, unobserved

SUPERGROUPS_BELOW: Final = -1_000_000_000_000
TRIES: Final = 5
"""So often Telegram is asked about one supergroup: all chats' updates wait behind it, about 8 s beside the calls."""
log = structlog.get_logger(__name__)


class Unanswered(Exception):
    """Telegram did not say whether a group has moved; ask again."""


class ChatMoves:
    """Earlier numbers of chats. A conversation keeps its key, so nothing that belongs to it has to be rewritten."""

    def __init__(self, db: Database, on_new: Callable[[], None] = unobserved) -> None:
        """`on_new` is told when a move was noted."""
        self._db = db
        self._bot_id = 0
        self.origins: dict[int, int] = {}
        """The number in the conversation's key, by the number of today."""
        self.earlier: dict[int, int] = {}
        """The number of before, of supergroups that had a conversation of their own when their move was noted."""
        self._now: dict[int, int] = {}
        self._names: dict[int, str] = {}
        """The names of groups that may have become supergroups, by their numbers, as they were at the start."""
        self._asked: set[int] = set()
        """Supergroups whose number before is known, or is known to be told by nobody."""
        self._unanswered: Counter[int] = Counter()
        """Count of questions about a supergroup's number before that Telegram did not answer."""
        self._on_new = on_new

    async def open(self, bot_id: int) -> None:
        """Learn the earlier moves. Raises `StorageUnavailable`."""
        self._bot_id = bot_id
        for row in await self._db.read("chat_moves", bot_id=bot_id):
            self._know(row["from_chat_id"], row["to_chat_id"], is_apart=bool(row["apart"]))
        rows = await self._db.read("groups_of_old", bot_id=bot_id)
        self._names = {row["user_id"]: str(choices_in(row["settings_json"]).get(NAME) or "") for row in rows}

    def namesakes(self, chat_id: int, title: str) -> list[int]:
        """Return the groups that a supergroup may have been: they are called like it, and it is not known to be one."""
        is_known = chat_id in self._asked or chat_id in self.origins or chat_id in self.earlier
        if not self._names or chat_id >= SUPERGROUPS_BELOW or is_known:
            return []
        return [number for number, name in self._names.items() if name and name == plain_name(title)]

    async def find(self, bot: Bot, chat_id: int, groups: Sequence[int]) -> None:
        """Note which of these groups has become a supergroup, unless that was talked in already.

        Telegram tells a move for a day; who was off for longer asks, once. Raises `Unanswered`, `StorageUnavailable`.
        """
        there = await self._db.read("conversations_of_group", prefix=f"tg:{self._bot_id}:{chat_id}:%")
        for number in groups:
            if not there and await self.is_so(bot, number, chat_id):
                await self.record(number, chat_id)
        self._asked.add(chat_id)

    def today(self, chat_id: int) -> int:
        """Return the number that a chat has on Telegram now."""
        return self._now.get(chat_id, chat_id)

    async def is_so(self, bot: Bot, before: int, after: int) -> bool:
        """Return whether Telegram itself says that a group that we know has moved there: nobody else is believed.

        Raises `Unanswered` when it says nothing, a few times; then it counts as no.
        """
        conversation_id = conversation_key(self._bot_id, before, None)
        if await self._db.read_one("current_session", conversation_id=conversation_id) is None:
            return False
        try:
            await bot.send_chat_action(before, "typing")
        except ChatMigrated as exc:
            return exc.new_chat_id == after
        except TelegramError as exc:
            is_silent = isinstance(exc, (NetworkError, RetryAfter)) and not isinstance(exc, BadRequest)
            self._unanswered[after] += is_silent
            if is_silent and self._unanswered[after] < TRIES:
                raise Unanswered(f"Telegram does not say what became of chat {before}: {exc}") from exc
        return False

    async def record(self, before: int, after: int) -> None:
        """Note a move of a group that we know, once; of others nothing is stored (P14). Raises `StorageUnavailable`.

        A supergroup in which we talked already under its own number goes on with that conversation; the one of before
        is kept beside it: its reminders ring here, and it is searched from here (`bot.groups.past`).
        """
        if before == after or self._now.get(before) == after:
            return
        params = {
            "bot_id": self._bot_id,
            "from_chat_id": before,
            "to_chat_id": after,
            "before_id": conversation_key(self._bot_id, before, None),
        }
        (result,) = await self._db.write(Statement("chat_move_insert", params))
        if result.changed:
            moves = await self._db.read("chat_moves", bot_id=self._bot_id)
            is_apart = any(row["apart"] for row in moves if row["to_chat_id"] == after)
            self._know(before, after, is_apart=is_apart)
            self._on_new()
            log.info("a group became a supergroup; its conversation is kept", chat_id=before, now=after, apart=is_apart)

    def _know(self, before: int, after: int, *, is_apart: bool) -> None:
        (self.earlier if is_apart else self.origins)[after] = before
        self._now[before] = after


@dataclass(frozen=True, slots=True)
class ReportedMoves:
    """Moves of groups that updates speak of, or should have: where they are kept, and who asks Telegram about them."""

    kept: ChatMoves
    is_so: Callable[[int, int], Awaitable[bool]]
    """Says whether a stranger's report is true."""
    find: Callable[[int, Sequence[int]], Awaitable[None]]
    """Notes which of these groups has become this supergroup."""
