"""Which chats this process works on: all of them on a file; on a server those that it holds and nobody else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Protocol

import orjson
import structlog

from bot.delivery.outbox import Outbox, Part
from bot.delivery.rate_limit import RateLimiter
from bot.intake.updates import Envelope
from bot.turns.lanes import Lanes
from bot.turns.recovery import Recovery, StartReport
from bot.turns.services import Services
from bot.turns.sharing import holding
from bot.turns.sharing.holding import KEEPER, lease_of
from memory.errors import Conflict, Fenced, StorageUnavailable
from memory.ports import Row, Statement
from memory.storage.engine import SharedDatabase

log = structlog.get_logger(__name__)

LOOK_EVERY_S = 0.5
"""How often a worker looks who is there and what is left to do, also when nobody told it."""
GAP_S = 0.02
"""At least so long between two looks: news that come in between are looked at together."""
WANT_S = 0.2
REMINDERS = "reminders"
PEOPLE = "people"


class Sharing(Protocol):
    """What hands updates to the lanes of the process that works on their chat."""

    async def begin(self, report: StartReport) -> None:
        """Take up what an earlier process left, and begin to share. Raises `StorageUnavailable`."""
        ...

    def submit(self, envelope: Envelope) -> None:
        """Let an update that is written down be worked on."""
        ...

    def alone(self, conversation_id: str) -> AbstractAsyncContextManager[None]:
        """Let no turn be under way in a conversation meanwhile, in any process."""
        ...

    @property
    def idle(self) -> bool:
        """True when nothing waits to be handed to a lane."""
        ...

    async def keep(self) -> None:
        """Begin what has to be done once over all processes, now or when it falls to this one."""
        ...

    def tell(self, what: str) -> None:
        """Let other processes know."""
        ...

    async def close(self) -> None:
        """Take nothing more."""
        ...


class OneProcess:
    """Every chat is this process's."""

    def __init__(
        self,
        lanes: Lanes,
        recovery: Recovery,
        *,
        keep: Callable[[], Awaitable[None]],
        recover: Callable[[], Awaitable[None]],
    ) -> None:
        """`keep` and `recover` as for `Workers`."""
        self._recover = recover
        self._recovery = recovery
        self._keep = keep
        self.submit = lanes.submit
        self.alone = lanes.alone

    async def begin(self, report: StartReport) -> None:
        """Take up what the process before left."""
        await self._recover()
        await self._recovery.run(report)

    @property
    def idle(self) -> bool:
        """Return True: what is submitted is in its lane."""
        return True

    async def keep(self) -> None:
        """Begin what has to be done once: here nobody else does it."""
        await self._keep()

    def tell(self, what: str) -> None:
        """Do nothing: there is nobody else."""

    async def close(self) -> None:
        """Do nothing: the lanes are closed by themselves."""


class Workers:
    """Holds chats by leases on a server, as long as there is something to do in them.

    Whatever goes wrong here costs time only: what nobody holds is found by the next look of anybody.
    """

    def __init__(
        self,
        db: SharedDatabase,
        services: Services,
        outbox: Outbox,
        lanes: Lanes,
        recovery: Recovery,
        *,
        pace: RateLimiter,
        behind: Callable[..., object],
        keep: Callable[[], Awaitable[None]],
        evict: Callable[[Callable[[str], bool]], None],
        recover: Callable[[], Awaitable[None]],
        met: Callable[[], Awaitable[None]],
        goes_on: str,
    ) -> None:
        """`keep` begins what is done once; `evict` drops what is in memory of a conversation; `recover` takes up what
        a dead worker's timers were for; `met` learns of people and chats that others have met; `goes_on` marks a
        parked update that goes on.
        """  # noqa: D205
        self._services = services
        self._db = db
        self._outbox = outbox
        self._lanes = lanes
        self._recovery = recovery
        self._pace = pace
        self._behind = behind
        self._keep = keep
        self._evict = evict
        self._recover = recover
        self._met = met
        self._goes_on = goes_on
        self._limit = services.settings.continuity_max_concurrent_turns
        self._held: dict[str, float] = {}
        """Each chat that is held, and when something was last to do there."""
        self._wanted: set[str] = set()
        """Chats that are not held, for which something came in."""
        self._told: set[str] = set()
        """Chats that are held, for which another process has written something down."""
        self._spare: set[str] = set()
        self._sending: set[str] = set()
        """Parts that the last look found marked and not at hand: whoever committed them is about to deliver them."""
        self._keeps = False
        self._keeper = False
        self._looked_around_s = float("-inf")
        self._at_it = asyncio.Lock()
        self._news = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._report = StartReport()

    # --- what others of this process ask ----------------------------------------------------------------------------

    async def begin(self, report: StartReport) -> None:
        """See who is there and take up what nobody holds."""
        self._report = report
        await self._recovery.blame()
        await self._look()
        self._report = StartReport()

    @property
    def idle(self) -> bool:
        """True when nothing is wanted or told of, and nothing is being taken or loaded."""
        return not self._wanted and not self._told and not self._at_it.locked()

    async def keep(self) -> None:
        """Go on looking; what has to be done once is begun when nobody else does it."""
        self._keeps = True
        self._looked_around_s = float("-inf")
        await self._look()
        self._looking = asyncio.create_task(self._look_for_ever(), name="workers")

    async def close(self) -> None:
        """Take nothing more; what is held is free when the process leaves."""
        looking, self._looking = self._looking, None
        if looking is not None:
            looking.cancel()
            await asyncio.wait([looking])

    def submit(self, envelope: Envelope) -> None:
        """Work on an update when its chat is held; else take the chat, or let its holder know.

        What comes behind one that is not at hand yet is loaded with it, in the order of arrival.
        """
        name = lease_of(envelope.conversation_id)
        if name in self._held and (self._is_busy(name) or self._room()):
            self._held[name] = _now_s()
            if self._is_behind(envelope):
                self._told.add(name)
                self._news.set()
            else:
                self._lanes.submit(envelope)
            return
        if self._held.pop(name, None) is not None:  # somebody with room may take it
            self._spare.add(name)
        self._want(envelope.conversation_id)

    def _is_behind(self, envelope: Envelope) -> bool:
        """Return whether an update has to wait for one before it that is not at hand."""
        before = envelope.behind
        if before is None or envelope.urgent:
            return False
        return not self._lanes.has_update(envelope.conversation_id, before)

    def holds(self, conversation_id: str) -> bool:
        """Return whether this process works on the chat of a conversation."""
        return lease_of(conversation_id) in self._held

    def left(self, conversation_id: str) -> None:
        """Take note that something was written down for a chat that is not held."""
        self._want(conversation_id)

    def rested(self, conversation_id: str) -> None:
        """Take note that a conversation has come to rest: there is room for another one."""
        name = lease_of(conversation_id)
        if name in self._held:
            self._held[name] = _now_s()
        self._news.set()

    @asynccontextmanager
    async def alone(self, conversation_id: str) -> AsyncIterator[None]:
        """Wait until the chat is held, and then for its lane."""
        name = lease_of(conversation_id)
        while name not in self._held:
            taken = await self._take_one(name)
            if not taken:
                await self._tell({"want": name})
                await asyncio.sleep(WANT_S)
        async with self._lanes.alone(conversation_id):
            self._held[name] = _now_s()
            yield

    # --- what others tell -------------------------------------------------------------------------------------------

    def heard(self, text: str) -> None:
        """Take note of what another process tells."""
        try:
            told = json.loads(text) if text else {}
        except json.JSONDecodeError:
            return
        if told.get("what") == REMINDERS:
            self._services.reminders.look_here()
            return
        if changed := told.get("changed"):
            self._services.memory.ledgers.evict(lambda each: each == changed)
            return
        if told.get("what") == PEOPLE:
            self._behind(self._met(), "meets")
            return
        self._told |= {name for name in told.get("new", ()) if name in self._held}
        if told.get("want") in self._held and not self._is_busy(told["want"]):
            self._held.pop(told["want"])
            self._spare.add(told["want"])
        if not told or self._told or self._spare or (told.get("free") and self._room()):
            self._news.set()

    def tell(self, what: str) -> None:
        """Let the others know, behind whatever is being done."""
        self._behind(self._tell({"what": what}), "tells")

    def tell_changed(self, conversation_id: str) -> None:
        """Let the one that holds a chat know that its notes were changed here."""
        self._behind(self._tell({"changed": conversation_id}), "tells")

    async def _tell(self, told: object) -> None:
        with suppress(StorageUnavailable):  # everybody looks by themselves now and then
            await self._db.tell(json.dumps(told))

    # --- looking ----------------------------------------------------------------------------------------------------

    async def _look_for_ever(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):  # wait_for loses a cancel that comes with the event
                    await self._news.wait()
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
        """Bury the dead, give back what rests, take what nobody holds, and load what there is to do."""
        async with self._at_it:
            await self._look_once()

    async def _look_once(self) -> None:
        self._news.clear()
        around = _now_s() - self._looked_around_s >= LOOK_EVERY_S
        if around:
            self._looked_around_s = _now_s()
            await self._look_around()
        await self._give_back()
        taken = await self._take()
        told, self._told = self._told, set()
        if taken:
            await self._load(taken, begun=True)
        if others := ({*self._held} if around else told) - {*taken}:
            await self._load(others, begun=False)

    async def _look_around(self) -> None:
        """See who is there; bury who died, and do what has to be done once when nobody else does."""
        seen = await self._db.workers()
        for row in seen:
            if row["is_dead"]:
                await self._bury(row)
        self._pace.workers = max(1, sum(not row["is_dead"] for row in seen))
        if self._keeps and not self._keeper and not await self._db.read_one("lease_holder", name=KEEPER):
            self._keeper = await self._take_lease(KEEPER)
            if self._keeper:
                await self._met()
                await self._recover()
                await self._keep()

    async def _bury(self, row: Row) -> None:
        """Declare a worker dead: its leases are free, and what was not to blame for its death is excused."""
        begun = {each["turn_id"] for each in await self._db.read("claims_of_boot", boot_id=row["boot_id"])}
        hung = None if row["is_connected"] else self._services.waiting.hung
        turns = holding.excused(begun, orjson.loads(row["excused_json"]), hung)
        dead = {"worker": row["worker"], "alive_at": row["alive_at"]}
        try:
            await self._db.write(
                Statement("sessions_interrupted", {"worker": row["worker"]}),
                Statement("worker_bury", dead, expect=1),
                *(Statement("inbox_excuse", {"turn_id": turn_id}) for turn_id in turns),
            )
        except Conflict:  # somebody else was first, or it lives
            return
        log.warning(
            "a worker is dead, its work is taken up", worker=row["worker"], place=row["place"], begun=len(begun)
        )
        await self._recover()

    async def _give_back(self) -> None:
        busy = self._busy()
        now_s = _now_s()
        names = {*holding.idle(self._held, busy, now_s), *self._spare}
        self._spare.clear()
        for name in names:
            self._held.pop(name, None)
        if names:
            self._evict(lambda conversation_id: lease_of(conversation_id) in names)
            params = {"worker": self._db.worker, "names": json.dumps(sorted(names))}
            await self._db.write(Statement("leases_give_back", params))

    async def _take(self) -> set[str]:
        """Take chats that nobody holds, as far as there is room; of what is wanted and not got, others are told."""
        here = {"bot_id": self._services.me.bot_id}
        found = bool(self._wanted)
        if not found:
            row = await self._db.read_one("work_waits", **here)
            found = bool(row and row["found"])
        if not found:
            return set()
        taken: set[str] = set()
        if place := self._room():
            params = {**here, "worker": self._db.worker, "room": place, "at_ms": self._services.clock.now_ms()}
            (result,) = await self._db.write(Statement("leases_take", params))
            taken = {row["name"] for row in result.rows}
            self._hold(taken)
        missed = sorted(self._wanted - taken)
        self._wanted.clear()
        if missed:
            await self._tell({"new": missed, "free": True})
        return taken

    async def _load(self, names: Iterable[str], *, begun: bool) -> None:
        """Hand on what is unfinished and unsent in chats that are held, as far as it is not at hand already."""
        services, worker, text = self._services, self._db.worker or 0, json.dumps(sorted(names))
        parts = await self._outbox.of_leases(services.me.bot_id, worker, text)
        envelopes = await services.inbox.of_leases(services.me, worker, text, self._goes_on, begun=begun)
        parts = self._left([part for part in parts if not services.delivery.has(part)], begun=begun)
        envelopes = [envelope for envelope in envelopes if not self._lanes.has(envelope)]
        if parts or envelopes:
            await self._recovery.take_up(parts, envelopes, self._report)

    def _left(self, parts: list[Part], *, begun: bool) -> list[Part]:
        """Return the parts that nobody is about to deliver: a marked one of a chat that was held is, for a moment."""
        if begun:
            return parts
        before, self._sending = self._sending, {part.part_id for part in parts if part.state == "sending"}
        return [part for part in parts if part.part_id not in self._sending - before]

    # --- leases -----------------------------------------------------------------------------------------------------

    async def _take_one(self, name: str) -> bool:
        if await self._take_lease(name):
            self._hold([name])
        return name in self._held

    async def _take_lease(self, name: str) -> bool:
        params = {"name": name, "worker": self._db.worker, "at_ms": self._services.clock.now_ms()}
        (result,) = await self._db.write(Statement("lease_take", params))
        return bool(result.rows)

    def _hold(self, names: Iterable[str]) -> None:
        """Take note of what is held from now on; what is in memory of it may be old."""
        names = set(names)
        if names:
            self._evict(lambda conversation_id: lease_of(conversation_id) in names)
            self._held |= dict.fromkeys(names, _now_s())

    def _want(self, conversation_id: str) -> None:
        self._wanted.add(lease_of(conversation_id))
        self._news.set()

    def _busy(self) -> set[str]:
        return {lease_of(each) for each in (*self._lanes.busy, *self._services.delivery.busy)}

    def _is_busy(self, name: str) -> bool:
        return name in self._busy()

    def _room(self) -> int:
        return holding.room(self._limit, {lease_of(each) for each in self._lanes.in_place})


def _now_s() -> float:
    return asyncio.get_running_loop().time()
