"""From the outbox to the screen: in order and in pace per chat, exactly once also when the process dies (P5, P6)."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

import structlog
from telegram import Bot
from telegram.error import ChatMigrated, TelegramError

from bot import replies
from bot.delivery import telegram_calls
from bot.delivery.after_failure import Next, after_failure
from bot.delivery.chats import Whereabouts
from bot.delivery.local import LocalScreens
from bot.delivery.outbox import Outbox, OutgoingMessage, Part, Target, is_media
from bot.delivery.probe import Doubt, Probe
from bot.delivery.rate_limit import RateLimiter
from bot.delivery.storing import until_stored
from bot.delivery.telegram_calls import Failure, classify
from bot.intake.local import is_local
from bot.meters.meters import Meters
from memory.errors import Conflict, StorageUnavailable
from memory.ports import Clock, Statement
from memory.process import faults
from memory.storage.engine import OpenDatabase

log = structlog.get_logger(__name__)

UNPROVEN_MARK = "\n↻"
PREVIEW_PATIENCE_S = 15.0


class Delivery:
    """One sender per chat. `deliver` takes parts that are committed; everything else is its own business."""

    def __init__(
        self,
        bot: Bot,
        db: OpenDatabase,
        clock: Clock,
        pace: RateLimiter,
        outbox: Outbox,
        *,
        places: Whereabouts,
        meters: Meters,
        doubt: Doubt,
    ) -> None:
        """Parts for a chat of another process are left in the outbox."""
        self._owned = db.owned
        self._chats, self._moves = places.chats, places.moves
        self._meters = meters
        self._bot = bot
        self._db = db
        self._clock = clock
        self._pace = pace
        self._doubt = doubt
        self._pauses = doubt.pauses
        self._waiting: dict[int, deque[Part]] = {}
        self._previews: dict[str, asyncio.Future[int | None]] = {}
        """Previews on their way to the screen, by turn."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._outbox = outbox
        self.high_water = outbox.high_water
        self._probe = Probe(bot, db, self.high_water, probe_ids=doubt.probe_ids, wait=self._wait, pauses=doubt.pauses)
        self.unreachable: dict[int, str] = {}
        self.probed_sent = 0
        """Parts that the probe found on the screen."""
        self.sent = 0
        self.screens = LocalScreens()
        self._since_s: dict[str, float] = {}

    async def open(self, bot_id: int) -> None:
        """Learn the highest message ids and the chats that cannot be written to."""
        for row in await self._db.read("outbox_high_water", bot_id=bot_id):
            self.high_water.saw(row["chat_id"], row["message_id"])
            self.high_water.saw(row["chat_id"], row["after_message_id"])
        for row in await self._db.read("unreachable_chats", bot_id=bot_id):
            self.unreachable[row["chat_id"]] = row["reason"]

    @property
    def backlog(self) -> int:
        """Number of parts that wait to be sent or are being sent."""
        return sum(map(len, self._waiting.values()))

    @property
    def busy(self) -> set[str]:
        """The conversations for which something waits or is being sent."""
        return {part.conversation_id for line in self._waiting.values() for part in line}

    def has(self, part: Part) -> bool:
        """Return whether a part waits or is being sent."""
        line = self._waiting.get(self._moves.today(part.chat_id), ())
        return any(each.part_id == part.part_id for each in line)

    def deliver(self, parts: Iterable[Part]) -> None:
        """Send these parts after those that the chat is waiting for already."""
        for part in map(self._where_it_is_now, parts):
            if not self._chats.holds(part.conversation_id):
                self._chats.left(part.conversation_id)
                continue
            if part.kind == "reply":
                self._since_s[part.part_id] = time.perf_counter()
            if part.kind == "preview" and part.turn_id is not None:
                self._previews[part.turn_id] = asyncio.get_running_loop().create_future()
            line = self._waiting.get(part.chat_id)
            if line is not None:
                line.append(part)
                continue
            self._waiting[part.chat_id] = deque([part])
            task = asyncio.create_task(self._run(part.chat_id), name=f"delivery:{part.chat_id}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def marked(self, part: Part) -> Part:
        """Return a part that is about to be written down with the mark of P5, if nothing keeps it from going out then.

        So a reply costs one commit before it is sent, not two. Where it would have to wait, or where a probe could not
        prove whether it was sent, it is written down as `queued`, and marked when its turn has come.
        """
        now_s, chat_id = asyncio.get_running_loop().time(), self._moves.today(part.chat_id)
        waits = chat_id in self._waiting or chat_id in self.unreachable or self._pace.wait_s(chat_id, now_s) > 0
        away = chat_id != part.chat_id or is_local(chat_id) or not self._chats.holds(part.conversation_id)
        if waits or away or part.after_message_id is None or not self._doubt.probe_ids:
            return part
        return replace(part, state="sending", attempts=1, marked=True)

    def _where_it_is_now(self, part: Part) -> Part:
        """Return the part for the number that its chat has today; message ids of the old number mean nothing there."""
        chat_id = self._moves.today(part.chat_id)
        if chat_id == part.chat_id:
            return part
        return replace(part, chat_id=chat_id, reply_to_message_id=None, edits_message_id=None, after_message_id=None)

    async def preview(self, turn_id: str) -> int | None:
        """Return the message that shows the unfinished answer of a turn, None when there is none.

        A preview that is on its way, or that an earlier process left unrecorded, is waited for, at most a while.
        """
        future = self._previews.get(turn_id)
        if future is not None:
            await asyncio.wait([future], timeout=PREVIEW_PATIENCE_S)
        row = await self._db.read_one("outbox_preview", turn_id=turn_id)
        return row["message_id"] if row else None

    async def reachable(self, bot_id: int, chat_id: int) -> None:
        """Note that a chat is alive: somebody wrote there."""
        if self.unreachable.pop(chat_id, None) is not None:
            with suppress(StorageUnavailable):  # the next start believes it once more, until they write again
                await self._db.write(Statement("chat_reachable", {"bot_id": bot_id, "chat_id": chat_id}))

    async def say_now(self, chat_id: int, thread_id: int | None, text: str) -> None:
        """Say something that cannot be written down, once; a word that does not get through is not repeated."""
        try:
            message = await self._bot.send_message(chat_id, text, message_thread_id=thread_id)
        except TelegramError as exc:
            log.warning("not said", chat_id=chat_id, error=str(exc))
        else:
            self.high_water.saw(chat_id, message.message_id)

    async def flush(self, patience_s: float) -> bool:
        """Wait until nothing is waiting. Return False when time ran out: the rest is in the outbox."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=patience_s)
        return not self._tasks

    async def close(self) -> None:
        """Stop sending; unsent parts stay in the outbox for the next start."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for future in self._previews.values():
            future.cancel()

    async def _run(self, chat_id: int) -> None:
        line = self._waiting[chat_id]
        try:
            while line:
                message_id = await self._guarded(line[0])
                part = line.popleft()
                self._tell_preview(part, message_id)
                if (since_s := self._since_s.pop(part.part_id, None)) is not None:
                    self._meters.shown(time.perf_counter() - since_s)
        finally:
            del self._waiting[chat_id]

    def _tell_preview(self, part: Part, message_id: int | None) -> None:
        future = self._previews.pop(part.turn_id, None) if part.kind == "preview" and part.turn_id else None
        if future is not None and not future.done():
            future.set_result(message_id)

    async def _guarded(self, part: Part) -> int | None:
        """Settle one part; a surprise fails this part alone, so that the rest of the chat goes on."""
        try:
            return await self._settle(part)
        except Conflict:
            log.info("part is settled already", part_id=part.part_id)
            return None
        except Exception:
            log.exception("part could not be sent", part_id=part.part_id)
            await self._fail(part, "internal error, see the log")
            return None

    async def _settle(self, part: Part) -> int | None:
        """Mark, call, record, again until settled; return the message id, None when it failed.

        A crash before the mark: the part is queued, the next start sends it; `marked` sets it with the commit itself.
        Between the mark and the record: it is `sending`, the next start probes whether it is on the screen. After the
        record: nothing is left to do.
        """
        if is_local(part.chat_id):
            await self._show(part)
            return None
        if part.chat_id in self.unreachable:
            await self._fail(part, self.unreachable[part.chat_id])
            return None
        left = part.state == "sending" and not part.marked
        step = Next("probe" if left else "again")
        while step.action in ("probe", "again"):
            if step.action == "probe" and part.edits_message_id is None:  # an edit may simply be done again
                found, reach = await self._probe.find(part, late=left and part.kind != "preview")
                if found is not None:
                    self.probed_sent += 1
                    return await self._record(part, found)
                proven = await self._probe.proves_unsent(part, reach)
                if part.kind == "preview" or not (proven or self._doubt.resend_unproven):
                    await self._fail(part, "could not be proven to be sent")
                    return None
                if not proven and not is_media(part) and not part.text.endswith(UNPROVEN_MARK):
                    part = replace(part, text=part.text + UNPROVEN_MARK)
            part = await self._mark(part)
            faults.point("outbox_marked_sending")
            try:
                message_id = await self._call(part)
            except TelegramError as error:
                step = await self._after(part, error)
                part = step.part or part
            else:
                faults.point("outbox_sent_unrecorded")
                return await self._record(part, message_id)
        return await self._record(part, part.edits_message_id) if step.action == "done" else None

    async def _show(self, part: Part) -> None:
        """Settle a part of a chat that is not on Telegram: stored is said, and its watchers see it."""
        await self._record(part, None)
        self.screens.show(part.chat_id, part)

    async def _after(self, part: Part, error: TelegramError) -> Next:
        """Return how to go on after a failed call, once its waiting time is over or the part is given up."""
        failure = classify(error)
        step = after_failure(part, failure, error)
        if isinstance(error, ChatMigrated):
            with suppress(StorageUnavailable):  # told again by the next message to the old number
                await self._moves.record(part.chat_id, error.new_chat_id)
        self._meters.failed(failure.value, step.action)
        log.warning("part not sent", part_id=part.part_id, why=failure.value, error=str(error), then=step.action)
        if step.action == "give_up":
            await self._give_up(part, failure, error)
        elif step.action != "done":
            await self._wait(part.chat_id, failure, step.wait_s)
        return step

    async def _mark(self, part: Part) -> Part:
        await self._wait_for_pace(part.chat_id)
        top = self.high_water.top(part.chat_id)
        if part.marked and part.after_message_id == top:
            while not self._owned():
                await self._write()
            return replace(part, marked=False)
        mark = {"part_id": part.part_id, "at_ms": self._clock.now_ms(), "after_message_id": top}
        await self._write(Statement("outbox_sending", mark, expect=1))
        while not self._owned():  # the process was stopped behind the mark: somebody else may be sending it by now
            await self._write()
        return replace(part, state="sending", attempts=part.attempts + 1, after_message_id=top, marked=False)

    async def _call(self, part: Part) -> int:
        if part.edits_message_id is not None:
            return await telegram_calls.edit(self._bot, part, part.edits_message_id)
        return await telegram_calls.send(self._bot, part)

    async def _record(self, part: Part, message_id: int | None) -> int | None:
        self.high_water.saw(part.chat_id, message_id)
        await self._write(
            Statement("outbox_sent", {"part_id": part.part_id, "message_id": message_id, "at_ms": self._clock.now_ms()})
        )
        self.sent += 1
        faults.point("outbox_recorded")
        return message_id

    async def _fail(self, part: Part, reason: str) -> None:
        """Give a part up, and let the person know when there is a way to."""
        log.warning("part given up", part_id=part.part_id, chat_id=part.chat_id, reason=reason)
        told, rows = self._word_about(part)
        await self._write(Statement("outbox_failed", {"part_id": part.part_id, "error": reason[:300]}), *rows)
        self.deliver(told)

    def _word_about(self, part: Part) -> tuple[list[Part], list[Statement]]:
        """Return the word about a part that is given up; none for a preview, itself, or a chat that is out of reach."""
        if part.kind == "preview" or part.text in replies.every("part_lost") or part.chat_id in self.unreachable:
            return [], []
        place = Target(part.bot_id, part.conversation_id, part.chat_id, part.thread_id)
        return self._outbox.compose(place, OutgoingMessage(replies.say("part_lost")))

    async def _give_up(self, part: Part, failure: Failure, error: TelegramError) -> None:
        if failure is Failure.BLOCKED:
            self.unreachable[part.chat_id] = str(error)
            await self._write(
                Statement(
                    "chat_unreachable",
                    {
                        "bot_id": part.bot_id,
                        "chat_id": part.chat_id,
                        "reason": str(error),
                        "since_at_ms": self._clock.now_ms(),
                    },
                )
            )
        await self._fail(part, str(error))

    async def _wait(self, chat_id: int, failure: Failure, wait_s: float) -> None:
        if failure is Failure.WAIT:
            self._pace.stall(chat_id, asyncio.get_running_loop().time() + wait_s)  # as long as Telegram asks
            await asyncio.sleep(wait_s)
        else:
            await self._pauses.rest(wait_s)

    async def _wait_for_pace(self, chat_id: int) -> None:
        loop = asyncio.get_running_loop()
        while (wait_s := self._pace.wait_s(chat_id, loop.time())) > 0:  # noqa: ASYNC110 - it is time that is awaited
            await asyncio.sleep(wait_s)
        self._pace.sent(chat_id, loop.time())

    async def _write(self, *statements: Statement) -> None:
        """Write, and again until the disk takes it (P10): the message is not sent before it is marked."""
        await until_stored(lambda: self._db.write(*statements), self._pauses)
