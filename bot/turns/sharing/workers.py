"""The chats of a process where several share a server: those that it holds and nobody else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

import orjson
import structlog

from bot.delivery.chats import PEOPLE, REMINDERS
from bot.delivery.outbox import Outbox, Part
from bot.delivery.rate_limit import RateLimiter
from bot.intake.inbox import GOES_ON
from bot.intake.updates import Envelope
from bot.turns.lanes import Lanes
from bot.turns.recovery import Recovery, StartReport
from bot.turns.services import Services
from bot.turns.sharing import holding
from bot.turns.sharing.holding import KEEPER, lease_of
from bot.turns.sharing.leases import Leases, now_s
from bot.turns.sharing.one_process import Duties
from memory.errors import Conflict, Fenced, StorageUnavailable
from memory.ports import Row, Statement

log = structlog.get_logger(__name__)

LOOK_EVERY_S = 0.5
"""A worker looks for others and for work so often, also when nobody told it."""
GAP_S = 0.02
"""At least so long between two looks: news that come in between are looked at together."""
WANT_S = 0.2
News = asyncio.Queue[str]
"""News of other processes, as they come in."""
_Work = TypeVar("_Work", Part, Envelope)


class Workers:
    """Holds chats by leases on a server, as long as there is something to do in them.

    A fault here costs time only: a chat that nobody holds is found by the next look of any worker.
    """

    def __init__(
        self,
        services: Services,
        outbox: Outbox,
        lanes: Lanes,
        recovery: Recovery,
        leases: Leases,
        *,
        pace: RateLimiter,
        duties: Duties,
        news: News,
    ) -> None:
        """`news` brings the signals of others."""
        self._services = services
        self._db = leases.db
        self._outbox = outbox
        self._lanes = lanes
        self._recovery = recovery
        self._leases = leases
        self._pace = pace
        self._duties = duties
        self._news = news
        self._limit = services.settings.continuity_max_concurrent_turns
        self._sending: set[str] = set()
        """Parts that the last look found marked and not at hand: their committer is about to deliver them."""
        self._keeps = False
        self._keeper = False
        self._looked_around_s = float("-inf")
        self._at_it = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._report = StartReport()

    # --- what others of this process ask ----------------------------------------------------------------------------

    async def begin(self, report: StartReport) -> None:
        """See who is there and take up chats that nobody holds."""
        self._report = report
        self._tasks.append(asyncio.create_task(self._listen(), name="news"))
        await self._recovery.blame()
        await self._look()
        self._report = StartReport()

    @property
    def idle(self) -> bool:
        """True when nothing is wanted or told of, and nothing is being taken or loaded."""
        return not self._leases.wanted and not self._leases.told and self._news.empty() and not self._at_it.locked()

    async def keep(self) -> None:
        """Go on looking; work that has to be done once is begun when nobody else does it."""
        self._keeps = True
        self._looked_around_s = float("-inf")
        await self._look()
        self._tasks.append(asyncio.create_task(self._look_for_ever(), name="workers"))

    async def close(self) -> None:
        """Take nothing more; held chats are free when the process leaves."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def submit(self, envelope: Envelope) -> None:
        """Work on an update when its chat is held; else take the chat, or let its holder know.

        Updates behind one that is not at hand yet are loaded with it, in the order of arrival.
        """
        name = lease_of(envelope.conversation_id)
        if name in self._leases.held and (name in self._busy() or self._room()):
            self._leases.held[name] = now_s()
            if self._is_behind(envelope):
                self._leases.told.add(name)
                self._leases.stirred.set()
            else:
                self._lanes.submit(envelope)
            return
        if name in self._leases.held:
            self._leases.spared(name)
        self._leases.left(envelope.conversation_id)

    def _is_behind(self, envelope: Envelope) -> bool:
        """Return whether an update has to wait for one before it that is not at hand."""
        before, here = envelope.behind, envelope.conversation_id
        return before is not None and not envelope.urgent and not self._lanes.has_update(here, before)

    @asynccontextmanager
    async def alone(self, conversation_id: str) -> AsyncIterator[None]:
        """Wait until the chat is held, and then for its lane."""
        name = lease_of(conversation_id)
        while name not in self._leases.held:
            if await self._take_lease(name):
                self._hold([name])
            if name not in self._leases.held:
                await self._leases.say({"want": name})
                await asyncio.sleep(WANT_S)
        async with self._lanes.alone(conversation_id):
            self._leases.held[name] = now_s()
            yield

    # --- what others tell -------------------------------------------------------------------------------------------

    async def _listen(self) -> None:
        """Take in signals of other processes, until cancelled."""
        while True:
            self._heard(await self._news.get())

    def _heard(self, text: str) -> None:
        try:
            told = json.loads(text) if text else {}
        except json.JSONDecodeError:
            return
        if not isinstance(told, dict):
            return
        if told.get("what") == REMINDERS:
            self._services.reminders.look_here()
            return
        if changed := told.get("changed"):
            self._services.memory.ledgers.evict(lambda each: each == changed)
            return
        if told.get("what") == PEOPLE:
            self._services.behind(self._duties.met(), "meets")
            return
        leases = self._leases
        leases.told |= {name for name in told.get("new", ()) if name in leases.held}
        if told.get("want") in leases.held and told["want"] not in self._busy():
            leases.spared(told["want"])
        if not told or leases.told or leases.spare or (told.get("free") and self._room()):
            leases.stirred.set()

    # --- looking ----------------------------------------------------------------------------------------------------

    async def _look_for_ever(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):  # wait_for loses a cancel that comes with the event
                    await self._leases.stirred.wait()
            try:
                await self._look()
            except Fenced:
                return
            except StorageUnavailable as exc:
                log.warning("looks for work later", error=str(exc))
                await asyncio.sleep(LOOK_EVERY_S)
            except Exception:
                log.exception("could not look for work")
                await asyncio.sleep(LOOK_EVERY_S)
            await asyncio.sleep(GAP_S)

    async def _look(self) -> None:
        """Bury the dead, give back chats at rest, take those that nobody holds, and load their work."""
        async with self._at_it:
            self._leases.stirred.clear()
            around = now_s() - self._looked_around_s >= LOOK_EVERY_S
            if around:
                self._looked_around_s = now_s()
                await self._look_around()
            await self._give_back()
            taken = await self._take()
            told, self._leases.told = self._leases.told, set()
            if taken:
                await self._load(taken, begun=True)
            if others := ({*self._leases.held} if around else told) - {*taken}:
                await self._load(others, begun=False)

    async def _look_around(self) -> None:
        """See who is there; bury who died, and do the work that is done once when nobody else does."""
        seen = await self._db.workers()
        for row in seen:
            if row["is_dead"]:
                await self._bury(row)
        self._pace.workers = max(1, sum(not row["is_dead"] for row in seen))
        if self._keeps and not self._keeper and not await self._db.read_one("lease_holder", name=KEEPER):
            self._keeper = await self._take_lease(KEEPER)
            if self._keeper:
                await self._duties.met()
                await self._duties.recover()
                await self._duties.keep()

    async def _bury(self, row: Row) -> None:
        """Declare a worker dead: its leases are free, and updates not to blame for its death are excused."""
        begun = {each["turn_id"] for each in await self._db.read("claims_of_boot", boot_id=row["boot_id"])}
        hung = None if row["is_connected"] else self._services.waiting.hung
        turns = holding.excused(begun, orjson.loads(row["excused_json"]), hung)
        dead = {"worker": row["worker"], "alive_at": row["alive_at"]}
        try:
            await self._db.write(
                Statement("worker_cut_off", dead),
                Statement("sessions_interrupted", {"worker": row["worker"]}),
                Statement("worker_bury", dead, expect=1),
                *(Statement("inbox_excuse", {"turn_id": turn_id}) for turn_id in turns),
            )
        except Conflict:  # somebody else was first, or it lives
            return
        log.warning(
            "a worker is dead, its work is taken up", worker=row["worker"], place=row["place"], begun=len(begun)
        )
        await self._duties.recover()

    async def _give_back(self) -> None:
        busy = self._busy()
        names = {*holding.idle(self._leases.held, busy, now_s()), *self._leases.spare}
        self._leases.spare.clear()
        for name in names:
            self._leases.held.pop(name, None)
        if names:
            self._services.memory.evict(lambda conversation_id: lease_of(conversation_id) in names)
            params = {"worker": self._db.worker, "names": json.dumps(sorted(names))}
            await self._db.write(Statement("leases_give_back", params))

    async def _take(self) -> set[str]:
        """Take chats that nobody holds, as far as there is room; others are told of those wanted and not got."""
        here = {"bot_id": self._services.me.bot_id}
        if not self._leases.wanted:
            row = await self._db.read_one("work_waits", **here)
            if not (row and row["found"]):
                return set()
        taken: set[str] = set()
        if place := self._room():
            params = {**here, "worker": self._db.worker, "room": place, "at_ms": self._services.clock.now_ms()}
            (result,) = await self._db.write(Statement("leases_take", params))
            taken = {row["name"] for row in result.rows}
            self._hold(taken)
        missed = sorted(self._leases.wanted - taken)
        self._leases.wanted.clear()
        if missed:
            await self._leases.say({"new": missed, "free": True})
        return taken

    async def _load(self, names: Iterable[str], *, begun: bool) -> None:
        """Hand on unfinished updates and unsent parts of held chats, as far as they are not at hand already."""
        services, worker, text = self._services, self._db.worker or 0, json.dumps(sorted(names))
        parts = await self._outbox.of_leases(services.me.bot_id, worker, text)
        envelopes = await services.inbox.of_leases(services.me, worker, text, GOES_ON, begun=begun)
        parts, envelopes = self._held(parts), self._held(envelopes)
        parts = self._left([part for part in parts if not services.delivery.has(part)], begun=begun)
        envelopes = [envelope for envelope in envelopes if not self._lanes.has(envelope)]
        if parts or envelopes:
            await self._recovery.take_up(parts, envelopes, self._report)

    def _held(self, found: Sequence[_Work]) -> list[_Work]:
        """Return the work of chats that are held still: one may have been spared while the server was asked."""
        return [each for each in found if lease_of(each.conversation_id) in self._leases.held]

    def _left(self, parts: list[Part], *, begun: bool) -> list[Part]:
        """Return the parts that nobody is about to deliver: a marked one of a chat that was held is, for a moment."""
        if begun:
            return parts
        before, self._sending = self._sending, {part.part_id for part in parts if part.state == "sending"}
        return [part for part in parts if part.part_id not in self._sending - before]

    # --- leases -----------------------------------------------------------------------------------------------------

    async def _take_lease(self, name: str) -> bool:
        params = {"name": name, "worker": self._db.worker, "at_ms": self._services.clock.now_ms()}
        (result,) = await self._db.write(Statement("lease_take", params))
        return bool(result.rows)

    def _hold(self, names: Iterable[str]) -> None:
        """Note chats that are held from now on; their sessions in memory may be old."""
        names = set(names)
        if names:
            self._services.memory.evict(lambda conversation_id: lease_of(conversation_id) in names)
            self._leases.hold(names)

    def _busy(self) -> set[str]:
        return {lease_of(each) for each in (*self._lanes.busy, *self._services.delivery.busy)}

    def _room(self) -> int:
        return holding.room(self._limit, {lease_of(each) for each in self._lanes.in_place})
