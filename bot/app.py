"""One bot from start to stop: it opens, joins, recovers, receives, and ends in order; `joining/` builds its parts."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any

import orjson
import structlog

from bot.answers.responder import Responder
from bot.delivery.connection import StartError
from bot.delivery.rate_limit import RateLimits
from bot.features.continuity.gate import ContinuityGate
from bot.intake.updates import Envelope
from bot.joining import by_hand
from bot.joining.health import BotHealth, health_of
from bot.joining.joining import Joined, join
from bot.joining.process import Process, announce_now
from bot.joining.receiving import choose_way, introduce
from bot.joining.storage import open_storage
from bot.joining.telegram import connect
from bot.joining.upkeep import purge_daily, watch_storage
from bot.meters.meters import Meters
from bot.meters.tracing import Tracer, open_tracer
from bot.ops.workspace import Workspace
from bot.pauses import FULL, Pauses
from bot.process import garbage, systemd
from bot.process.watch import LoopWatch
from bot.settings import Settings
from bot.tools.web.addresses import Reach, is_public
from bot.turns.recovery import StartReport
from bot.turns.services import Services
from memory.clock import RandomIds, SystemClock
from memory.ports import Clock, Statement

if TYPE_CHECKING:
    from bot.http.server import HttpServer

log = structlog.get_logger(__name__)

STOP_REFUSED_S = 0.5
"""Wait of a stop for turns while the database refuses: they could not be stored anyway."""
STOP_TURNS_S = 5.0
"""Time for running turns after SIGTERM; the whole stop stays under 10 s."""
STOP_POLLING_S = STOP_DELIVERY_S = STOP_SESSIONS_S = 1.0


class App:
    """One bot from start to stop. `await start()`, then `await stopped()`, then `await stop()`."""

    def __init__(
        self,
        settings: Settings,
        *,
        responder: Responder | None = None,
        limits: RateLimits | None = None,
        clock: Clock | None = None,
        pauses: Pauses = FULL,
        tracer: Tracer | None = None,
        announce: Callable[[str], None] = announce_now,
        may_reach: Reach = is_public,
    ) -> None:
        if settings.telegram_bot_token is None:
            raise StartError("TELEGRAM_BOT_TOKEN is missing")
        self.settings = settings
        self.report = StartReport()
        ids = RandomIds()
        own_tracer, self._end_tracing = open_tracer() if tracer is None else (tracer, lambda: None)
        self._process = Process(
            settings=settings,
            clock=clock or SystemClock(),
            ids=ids,
            boot_id=ids.new("boot"),
            meters=Meters(own_tracer),
            limits=limits or RateLimits(private_gap_s=settings.continuity_send_gap_ms / 1000),
            pauses=pauses,
            responder=responder,
            announce=announce,
            fail=self.fail,
            behind=self._behind,
            keep=self._keep,
            may_reach=may_reach,
        )
        self._joined: Joined | None = None
        self.loaded = asyncio.Event()
        """Set, behind the start, once everything is loaded that a message may need."""
        self._stop = asyncio.Event()
        self._fatal: str | None = None
        self._started = False
        self._ending = False
        self._background: set[asyncio.Task[None]] = set()
        self._opened = AsyncExitStack()
        """Closes every open part, the last first."""
        self._http: HttpServer | None = None
        self._polling: asyncio.Task[None] | None = None

    @property
    def joined(self) -> Joined:
        """The parts of this bot. Raises RuntimeError before the start has joined them."""
        if self._joined is None:
            raise RuntimeError("the bot has not been started")
        return self._joined

    @property
    def services(self) -> Services:
        """The services of the features."""
        return self.joined.services

    @property
    def continuity_gate(self) -> ContinuityGate:
        """The gate that asks before a conversation is carried forward."""
        return self.joined.continuity_gate

    # --- start ------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Lock, open, look for unfinished work, replay, poll; on a failure everything opened is closed again.

        Raises StartError, `Locked` when another process works there, and `StorageError`.
        """
        self._opened.push_async_callback(asyncio.to_thread, self._end_tracing)
        try:
            stored = await open_storage(self._process, self._opened)
            line = await connect(self._process, stored, self._opened)
            self._joined = await join(self._process, stored, line)
            self._opened.push_async_callback(self.services.shelf.close)
            self._opened.push_async_callback(self.services.responder.close)
            self._opened.push_async_callback(self._leave_background)
            self._opened.push_async_callback(self._finish_work)
            await self._recover()
            await self._serve()
            await self.joined.sharing.keep()
        except BaseException:
            await self.stop()
            raise
        self._started = True
        self._behind(watch_storage(self.joined.memory.db, self._process.pauses, self.fail), "storage")
        self._behind(self._after_start(), "after-start")

    async def _recover(self) -> None:
        """Find unfinished work, begin and log it."""
        joined, me = self.joined, self.services.me
        await self.services.files.shelf.open()
        self.report.sessions_resuming = joined.memory.found.resuming
        for found in joined.memory.found.rebuilt:
            self.report.sessions_rebuilt += 1
            self.report.warnings += found.warnings
        await joined.sharing.begin(self.report)
        values = {"boot_id": self._process.boot_id, "report_json": orjson.dumps(self.report.as_dict()).decode()}
        await self.services.db.write(Statement("boot_report", values))
        log.info("started", boot_id=self._process.boot_id, bot=me.username, **self.report.as_dict())

    async def _serve(self) -> None:
        """Open the HTTP port, when one is set."""
        settings = self.settings
        if settings.continuity_http_port is not None:
            from bot.http.server import HttpServer

            try:
                self._http = HttpServer(self)
            except OSError as exc:
                port = f"{settings.continuity_http_host}:{settings.continuity_http_port}"
                raise StartError(f"cannot listen on {port} ({exc.strerror}); set another CONTINUITY_HTTP_PORT") from exc
            await self._http.start()

    async def _keep(self) -> None:
        """Do the work that is done once over all processes: hear Telegram, deliver reminders, read turns."""
        try:
            is_polled = await choose_way(self.settings, self.joined.bot, self._process.pauses)
        except StartError as exc:
            if not self._started:
                raise
            self.fail(str(exc))
            return
        joined = self.joined
        if is_polled:
            self._polling = self._behind(joined.poller.run(), "polling")
        self._behind(joined.memory.run(), "memory")
        self.services.reminders.start()
        self._behind(joined.idle.run(), "heartbeat")
        self._behind(purge_daily(self.services), "purge")
        self._behind(introduce(self.joined.bot), "commands")
        log.info("keeps what is done once", boot_id=self._process.boot_id)

    async def _after_start(self) -> None:
        """Do the work that need not hold up the start."""
        joined = self.joined
        loads = [
            self._behind(asyncio.to_thread(joined.memory.languages.warm), "languages"),
            self._behind(joined.memory.warm(), "memory"),
        ]
        if code := joined.gate.code:
            name = self.services.me.username
            self._process.announce(f"\nNobody is allowed yet. To pair, send this code to @{name}: {code}\n")
        await self.services.responder.warm()
        self._behind(self._process.meters.watch_lag(), "lag")
        await asyncio.wait(loads)
        self.loaded.set()

    # --- work -------------------------------------------------------------------------------------------------------

    async def take_webhook(self, body: bytes) -> None:
        """Take one update from the webhook. Raises `NotTaken` when it could not be written down, and `Malformed`."""
        await self.joined.intake.take_body(body)

    async def take_local(self, raw: dict[str, Any]) -> Envelope:
        """Take a message that came over HTTP, once per identity. Raises `StorageUnavailable`: nothing was taken."""
        return await by_hand.take_local(self.joined, raw)

    async def reopen(self, turn_id: str) -> None:
        """Put a parked turn back to work, as somebody asked; one call is enough. Raises `StorageUnavailable`."""
        await by_hand.reopen(self.joined, turn_id)

    async def replay(self, update_id: int) -> None:
        """Work on an update that was put back into the inbox. Raises `StorageUnavailable`."""
        await by_hand.replay(self.joined, update_id)

    def alone(self, conversation_id: str) -> AbstractAsyncContextManager[None]:
        """Let no turn be under way in a conversation meanwhile."""
        return self.joined.sharing.alone(conversation_id)

    def workspace(self) -> Workspace:
        """Return the workspace of the operator's commands, over this bot's own connection."""
        return Workspace(self.settings, self.joined.memory)

    async def settled(self) -> None:
        """Return when every update taken so far is finished and everything said is sent (or failed)."""
        await by_hand.settle(self.joined)

    def fail(self, reason: str) -> None:
        """Stop for good: going on can never work."""
        if self._fatal is None:
            log.error("stopping", reason=reason)
        self._fatal = self._fatal or reason
        self._stop.set()

    def health(self) -> BotHealth:
        """Return whether messages can be taken and answered just now (P10)."""
        return health_of(self.joined, self._process, self.report)

    @property
    def http_url(self) -> str | None:
        """The address of the HTTP service, None when there is none."""
        return self._http.url if self._http else None

    def time_was_moved(self) -> None:
        """Look for due reminders after a jump of the clock. A start looks by itself."""
        if self._joined is not None:
            self.services.reminders.look()

    async def stopped(self) -> str | None:
        """Wait for the stop that somebody asks for (a signal, `ask_to_stop`), or return the fatal problem."""
        await self._stop.wait()
        return self._fatal

    def ask_to_stop(self) -> None:
        """Ask for an orderly stop."""
        self._stop.set()

    # --- stop -------------------------------------------------------------------------------------------------------

    async def stop(self) -> None:
        """Stop in order (002 section 6); may be called at any point of the start, and twice."""
        self._ending = True  # what ends from here on ends by intention
        await self._opened.aclose()

    async def _finish_work(self) -> None:
        """Take nothing more in, let running turns end or park them, send waiting parts, bring sessions to rest."""
        joined, services = self.joined, self.services
        await services.reminders.stop()
        await self._stop_receiving()
        await joined.continuity_gate.close()
        await joined.sharing.close()
        finished = await joined.lanes.close(STOP_TURNS_S if joined.memory.db.trouble() is None else STOP_REFUSED_S)
        await services.delivery.flush(STOP_DELIVERY_S)
        await services.delivery.close()
        await services.files.readings.close()
        await services.speaker.close()
        rested = await self._rest() if joined.memory.db.trouble() is None else []
        log.info("stopped", turns_parked=not finished, sessions_clean=len(rested))

    async def _leave_background(self) -> None:
        for task in list(self._background):
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    async def _stop_receiving(self) -> None:
        if self._http is not None:
            await self._http.stop()
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.wait({self._polling}, timeout=STOP_POLLING_S)
            await self.joined.poller.confirm()

    async def _rest(self) -> list[str]:
        """Return the sessions brought to rest; a disk that is slow to refuse does not keep the process from ending."""
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * STOP_SESSIONS_S):
                return await self.joined.memory.rest(STOP_SESSIONS_S)
        return []

    def _behind(self, work: Any, name: str) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work, name=name)
        self._background.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._background.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("background task failed", task=task.get_name(), exc_info=task.exception())
        if task is self._polling and not self._ending:
            self.fail("polling has ended and nothing would be heard any more; start the bot again")


async def run(app: App) -> None:
    """Run the bot until SIGTERM or SIGINT. Raises StartError when it cannot start or cannot go on.

    A loop that stands still, or a stop that takes too long, ends the process by itself.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, app.ask_to_stop)
    async with LoopWatch(app.settings.continuity_loop_limit_s) as watch:
        await _until_stopped(app, watch)


async def _until_stopped(app: App, watch: LoopWatch) -> None:
    starting = asyncio.create_task(app.start())
    stopping = asyncio.create_task(app.stopped())
    await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():
        watch.stopping()
        starting.cancel()
        with suppress(asyncio.CancelledError):
            await starting
        return
    await starting
    systemd.tell(systemd.READY)
    looking = asyncio.create_task(garbage.begin(app.loaded.wait()))
    fatal = await stopping
    looking.cancel()
    watch.stopping()
    await app.stop()
    if fatal:
        raise StartError(fatal)
