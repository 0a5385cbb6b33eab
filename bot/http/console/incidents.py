"""Troubles of the moment: messages without an answer, parts that Telegram refused, waiting work; the headline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.http.console.headline import Breakdown, Facts, Headline, Waiting, headline
from bot.http.served import Served
from bot.ops.records.quarantine import list_failed_parts, list_quarantined
from bot.ops.runs.failures import NOT_BROKEN, cause_of, list_failed, list_waiting
from bot.ops.runs.workers import in_words, read_workers
from bot.people.names import ChatName, Names, read_names
from bot.replies import plural
from memory.text import shorten

QUOTED_CHARS = 300
NOBODY = "no chat"


@dataclass(frozen=True, slots=True)
class Item:
    """One turn, update or part that can be tried again or dropped."""

    kind: Literal["turn", "update", "part"]
    ref: str
    """The id of the turn, update or part, for the form."""
    chat: ChatName
    conversation_id: str
    session_id: str
    """The current session of the conversation, "" for none."""
    text: str
    since_ms: int
    detail: str = ""
    again: bool = True
    """False for an update that this program cannot read."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Everything that failed for one reason."""

    title: str
    why: str
    remedy: str
    error: str
    """The stored error, for [Retry all] of messages; "" for updates and parts."""
    breaks: bool
    items: tuple[Item, ...]

    @property
    def since_ms(self) -> int:
        """Time of the first of them."""
        return min(each.since_ms for each in self.items)

    @property
    def as_failure(self) -> Breakdown:
        """The same for the headline."""
        chats = tuple(dict.fromkeys(each.chat.name for each in self.items))
        latest = max(each.since_ms for each in self.items)
        return Breakdown(f"{self.title}: {self.why}", self.remedy, chats, latest, self.breaks)


class Incidents:
    """Reads the troubles. Everything raises `StorageUnavailable`."""

    def __init__(self, bot: Served) -> None:
        self._bot = bot

    async def headline(self, found: Sequence[Trouble] | None = None) -> dict[str, Any]:
        """Return the headline, the troubles (read now unless `found` has them), and the number of their items."""
        names = await read_names(self._bot.services.db)
        troubles = await self._troubles(names) if found is None else found
        return {
            "headline": await self._headline(troubles, names),
            "failed": sum(len(each.items) for each in troubles),
            "troubles": troubles,
        }

    async def overview(self) -> dict[str, Any]:
        """Return the failures, with their causes."""
        return {"troubles": await self.troubles()}

    async def troubles(self, conversation_id: str | None = None) -> list[Trouble]:
        """Return the failures of one conversation or of all; each reason once, the latest first."""
        return await self._troubles(await read_names(self._bot.services.db), conversation_id)

    async def _troubles(self, names: Names, conversation_id: str | None = None) -> list[Trouble]:
        current = _Current(self._bot)
        found = [
            *await self._messages(names, current),
            *await self._updates(names, current),
            *await self._parts(names, current),
        ]
        by_reason: dict[tuple[str, str], list[Item]] = {}
        for error, item in found:
            if conversation_id is None or item.conversation_id == conversation_id:
                by_reason.setdefault((item.kind, error), []).append(item)
        return [_trouble(kind, error, tuple(items)) for (kind, error), items in by_reason.items()]

    async def _messages(self, names: Names, current: _Current) -> list[tuple[str, Item]]:
        return [
            (each.error, Item("turn", each.turn_id, names.chat(each.conversation_id), each.conversation_id,
                              await current.of(each.conversation_id), shorten(each.text, QUOTED_CHARS), each.since_ms))
            for each in await list_failed(self._bot.services.db)
        ]  # fmt: skip

    async def _updates(self, names: Names, current: _Current) -> list[tuple[str, Item]]:
        found = []
        for each in await list_quarantined(self._bot.workspace()):
            place = each.conversation_id or ""
            text, detail = shorten(each.text, QUOTED_CHARS), f"update {each.update_id}"
            item = Item("update", str(each.update_id), names.chat(place), place, await current.of(place), text,
                        each.received_at_ms, detail, again=each.readable)  # fmt: skip
            found.append((each.error, item))
        return found

    async def _parts(self, names: Names, current: _Current) -> list[tuple[str, Item]]:
        return [
            (each.error, Item("part", each.part.part_id, names.chat(each.part.conversation_id),
                              each.part.conversation_id, await current.of(each.part.conversation_id),
                              shorten(each.part.text, QUOTED_CHARS), each.created_at_ms))
            for each in await list_failed_parts(self._bot.workspace())
        ]  # fmt: skip

    async def _headline(self, found: Sequence[Trouble], names: Names) -> Headline:
        services, now_ms = self._bot.services, self._bot.services.clock.now_ms()
        last, read = (
            await services.db.read_one("console_last_answer"),
            await services.db.read_one("console_last_reading"),
        )
        facts = Facts(
            now_ms=now_ms,
            problems=[each.sentence for each in self._bot.health().problems],
            failures=[each.as_failure for each in found],
            waiting=[
                Waiting(names.chat(row["conversation_id"] or "").name, row["state"], row["n"], row["since_ms"])
                for row in await list_waiting(services.db)
            ],
            answered_at_ms=last["at_ms"] if last else None,
            took_ms=last["took_ms"] if last else 0,
            unread=cause_of(read["error"])[0] if read and read["error"] else "",
            timeout_ms=round(self._bot.settings.continuity_model_timeout_s * 1000),
        )
        line = headline(facts)
        workers = tuple(in_words(each) for each in await read_workers(self._bot.workspace().memory.db))
        return Headline(line.level, line.text, (*line.more, *workers))


class _Current:
    """The current sessions of conversations, each looked up once."""

    def __init__(self, bot: Served) -> None:
        self._bot = bot
        self._found: dict[str, str] = {}

    async def of(self, conversation_id: str) -> str:
        if conversation_id not in self._found:
            store = self._bot.services.memory.store
            self._found[conversation_id] = await store.current_session_id(conversation_id) or ""
        return self._found[conversation_id]


def _trouble(kind: str, error: str, items: tuple[Item, ...]) -> Trouble:
    count = len(items)
    if kind == "turn":
        why, remedy = cause_of(error)
        verb = "waits" if count == 1 else "wait"
        title = (
            f"{plural(count, 'message')} failed" if error not in NOT_BROKEN else f"{plural(count, 'message')} {verb}"
        )
        return Trouble(title, why, remedy, error, error not in NOT_BROKEN, items)
    if kind == "update":
        title, remedy = f"{plural(count, 'message')} given up on", "look at the log for its update, then retry or drop"
        return Trouble(title, error or "no reason known", remedy, "", breaks=True, items=items)
    title = f"{plural(count, 'message')} not delivered"
    remedy = "retry; if it repeats, the chat may have blocked the bot or be gone"
    return Trouble(title, f"Telegram refused: {error or 'no reason known'}", remedy, "", breaks=True, items=items)
