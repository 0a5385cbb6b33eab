"""The composition root: builds the adapters, joins them, starts and stops them in order (DESIGN section 5)."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import orjson
import structlog
from telegram import BotCommand
from telegram.error import TelegramError

from bot import replies
from bot.answers.choose import make_responder, reading_model, summary_writer
from bot.answers.remind_first import RemindFirst
from bot.answers.responder import Responder
from bot.delivery.commit import Committer
from bot.delivery.connection import StartError, make_bot, until_reached
from bot.delivery.message_ids import HighestMessageIds
from bot.delivery.outbox import Message, Outbox, Target
from bot.delivery.rate_limit import RateLimiter, RateLimits
from bot.delivery.sender import Delivery
from bot.delivery.streaming import LivePreviews
from bot.features.answering import Answering
from bot.features.basics import Basics
from bot.features.continuity.commands import Continuity
from bot.features.continuity.gate import ContinuityGate
from bot.features.continuity.idle import Idle
from bot.features.continuity.settings import ContinuitySettings
from bot.features.exporting import Exporting
from bot.features.forgetting import Forgetting
from bot.features.loops import Loops
from bot.features.memories import Memories
from bot.features.receipt import Receipt
from bot.features.reminders import Reminders
from bot.features.sessions import Sessions
from bot.intake.access import Gate
from bot.intake.chat_moves import ChatMoves
from bot.intake.inbox import Inbox
from bot.intake.intake import Intake
from bot.intake.polling import POLL_TIMEOUT_S, Poller
from bot.intake.raw_json import write_json
from bot.intake.updates import ALLOWED_UPDATES, Envelope, Me, read_update
from bot.meters import Meters
from bot.ops.workspace import Workspace
from bot.people.choices import People
from bot.people.personas import Personas
from bot.people.spending import ReadingPurse, Spending
from bot.reminders.scheduler import Jobs
from bot.settings import Settings
from bot.tables import BOT_TABLES
from bot.turns.buttons import Buttons
from bot.turns.dispatch import Dispatch
from bot.turns.feature import Feature, actions_of, commands_of
from bot.turns.lanes import Lanes
from bot.turns.model_waits import Waiting
from bot.turns.recovery import Recovery, StartReport
from bot.turns.services import Services
from bot.turns.turn import Turns
from memory.clock import RandomIds, SystemClock
from memory.opening import ConversationMemory
from memory.ports import Clock, Statement

if TYPE_CHECKING:
    from bot.http.server import HttpServer

log = structlog.get_logger(__name__)

STORAGE_LOOK_S = 1.0
"""How often the database file is looked for in its place."""
STORAGE_LAST_S = 5.0
"""How long a bot whose database is gone refuses everything before it ends, so that its watchers see why."""
STOP_REFUSED_S = 0.5
"""How long a stop waits for turns when the database refuses just now: they could not be stored anyway."""
STOP_TURNS_S = 5.0
"""How long running turns may go on after SIGTERM; with the rest of the stop it stays under 10 s."""
STOP_POLLING_S = 1.0
STOP_DELIVERY_S = 1.0
STOP_SESSIONS_S = 1.0
SETTLE_S = 60.0
PURGE_DONE_MS = 14 * 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the bot can take and answer messages, and why not: each problem begins with a word and a colon."""

    problems: tuple[str, ...]
    detail: dict[str, Any]

    @property
    def ok(self) -> bool:
        """True when nothing is wrong."""
        return not self.problems

    @property
    def kinds(self) -> tuple[str, ...]:
        """The first word of each problem: nothing of it tells a path or a driver's sentence."""
        return tuple(problem.partition(":")[0] for problem in self.problems)


def announce_now(text: str) -> None:
    """Print for whoever reads the console, also when it is a pipe that would hold it back."""
    print(text, flush=True)  # noqa: T201 - the pairing code is for the console, not for the log


class App:
    """One bot from start to stop. `await start()`, then `await stopped()`, then `await stop()`."""

    def __init__(
        self,
        settings: Settings,
        *,
        responder: Responder | None = None,
        limits: RateLimits | None = None,
        clock: Clock | None = None,
        announce: Callable[[str], None] = announce_now,
    ) -> None:
        if settings.telegram_bot_token is None:
            raise StartError("TELEGRAM_BOT_TOKEN is missing")
        self.settings = settings
        self.report = StartReport()
        self.clock = clock or SystemClock()
        self.ids = RandomIds()
        self.boot_id = self.ids.new("boot")
        self.meters = Meters()
        self._responder = responder
        self._limits = limits or RateLimits(private_gap_s=settings.continuity_send_gap_ms / 1000)
        self._announce = announce
        self._stop = asyncio.Event()
        self._fatal: str | None = None
        self._ending = False
        self._background: set[asyncio.Task[None]] = set()
        self._opened = AsyncExitStack()
        """How to close what is open, the last first."""
        self._http: HttpServer | None = None
        self._polling: asyncio.Task[None] | None = None

    # --- start ------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Lock, open, look for unfinished work, replay, poll; what was opened is closed again when that fails.

        Raises StartError, `Locked` when another process works there, and `StorageError`.
        """
        try:
            await self._open()
            await self._connect()
            await self._join()
            await self._recover()
            await self._receive()
        except BaseException:
            await self.stop()
            raise
        self._behind(self._watch_storage(), "storage")
        self._behind(self._after_start(), "after-start")

    async def _open(self) -> None:
        """Open the database with its schema, and everything that lives on it."""
        settings = self.settings
        self.memory = await ConversationMemory.open(
            f"sqlite:///{settings.database_path}",
            checkpoints=settings.checkpoint_dir,
            clock=self.clock,
            ids=self.ids,
            budget=settings.budget(),
            session_gap_s=settings.session_gap_ms / 1000,
            write_summary=summary_writer(settings),
            zone_of=self._zone_of,
            notes_model=reading_model(settings),
            extensions=[BOT_TABLES],
            background=False,
        )
        self._opened.push_async_callback(self.memory.close)
        self.db = self.memory.db
        self.people = People(self.db, self.clock, settings.continuity_timezone)
        self.memory.readings.purse = ReadingPurse(
            Spending(self.db, settings.continuity_daily_tokens_per_user), self.clock, self._zone_of
        )
        self.waiting = Waiting(settings.database_path.with_name(settings.database_path.name + ".waiting"))
        self.waiting.open()
        self._opened.callback(self.waiting.close)
        self.inbox = Inbox(self.db, self.clock, self.boot_id)
        self.high_water = HighestMessageIds()
        self.outbox = Outbox(self.db, self.clock, self.ids, self.high_water)
        await self.inbox.open()
        await self.outbox.open()
        await self.db.write(
            Statement(
                "boot_insert",
                {"boot_id": self.boot_id, "report_json": "{}", "started_at_ms": self.clock.now_ms()},
            )
        )
        self._opened.push_async_callback(self._note_the_stop)
        self.gate = Gate(everyone=settings.everyone, named=settings.allowed_user_ids, paired=await self._paired())

    async def _zone_of(self, user_id: int | None) -> str:
        return (await self.people.time_zone(user_id)).name

    async def _paired(self) -> set[int]:
        return {row["user_id"] for row in await self.db.read("people_all") if row["allowed"]}

    async def _connect(self) -> None:
        """Learn who we are. Waits for a network that is down; a refused token is final."""
        token = self.settings.telegram_bot_token
        assert token is not None  # noqa: S101 - the constructor checked it; mypy cannot see that
        self.bot = make_bot(token.get_secret_value(), self.settings.telegram_api_url)
        self._opened.push_async_callback(self._hang_up)
        await self._until_reached(self.bot.initialize)
        self.moves = ChatMoves(self.db)
        await self.moves.open(self.bot.id)
        self.me = Me(self.bot.id, self.bot.username or "", self.moves.origins)

    async def _until_reached(self, call: Callable[[], Awaitable[object]]) -> None:
        await until_reached(self.settings.telegram_api_url, call)

    async def _join(self) -> None:
        """Build what works on updates and join it."""
        settings = self.settings
        self.delivery = Delivery(
            self.bot,
            self.db,
            self.clock,
            RateLimiter(self._limits),
            self.outbox,
            moves=self.moves,
            probe_ids=settings.continuity_probe_ids,
            resend_unproven=settings.continuity_resend_unproven,
        )
        await self.delivery.open(self.me.bot_id)
        self.committer = Committer(
            self.db, self.inbox, self.outbox, self.delivery, patience_s=settings.continuity_storage_patience_s
        )
        self.jobs = Jobs(self.db, self.clock, self.committer, self.memory.recorder, self.me.bot_id)
        personas = Personas(self.people, settings.continuity_persona)
        self.services = Services(
            settings=settings,
            me=self.me,
            clock=self.clock,
            ids=self.ids,
            counter=self.memory.counter,
            languages=self.memory.languages,
            db=self.db,
            store=self.memory.store,
            checkpoints=self.memory.checkpoints,
            recorder=self.memory.recorder,
            searcher=self.memory.searcher,
            notes=self.memory.notes,
            assembler=self.memory.assembler,
            compactor=self.memory.compactor,
            inbox=self.inbox,
            committer=self.committer,
            delivery=self.delivery,
            previews=LivePreviews(self.bot, self.db, self.outbox, self.delivery),
            responder=RemindFirst(
                self._responder
                or make_responder(settings, self.db, self.memory.store, self.memory.searcher, self.memory.languages),
                self.memory.languages,
                next_has_tools=settings.continuity_model != "offline",
                upcoming=self.jobs.upcoming,
            ),
            waiting=self.waiting,
            people=self.people,
            jobs=self.jobs,
            personas=personas,
            bootstrap=self.memory.bootstrap,
            meters=self.meters,
            readings=self.memory.readings,
        )
        self.memory.db.on_commit = self.meters.commit.observe
        self.delivery.on_failure = self.meters.failed
        self.continuity_gate = ContinuityGate(self.services, lambda envelope: self.lanes.submit(envelope))  # noqa: PLW0108 - built later
        self.turns = Turns(self.services, self.continuity_gate)
        self.lanes: Lanes = Lanes(
            lambda batch, do=None: self.dispatch.work(batch, do),
            limit=settings.continuity_max_concurrent_turns,
            merge_window_s=settings.continuity_merge_window_ms / 1000,
        )
        self.idle = Idle(self.services, lambda: self.lanes.idle)
        features = self._features()
        taps = Buttons(self.bot, self.services, actions_of(features))
        self.dispatch: Dispatch = Dispatch(self.services, self.turns, commands_of(features), taps)
        self.intake = Intake(
            self.inbox,
            self.gate,
            self.me,
            deliver=self._deliver,
            stranger=self._stranger,
            trouble=self._trouble,
            moves=self.moves,
        )
        self.poller = Poller(self.bot.base_url, self.intake, fatal=self.fail)
        self._opened.push_async_callback(self.services.responder.close)
        self._opened.push_async_callback(self._leave_background)
        self._opened.push_async_callback(self._finish_work)

    def _features(self) -> list[Feature]:
        """Return everything that a person can do."""
        sessions = Sessions(self.services)
        continuity = Continuity(self.services, self.turns, self.continuity_gate, sessions)
        answering = Answering(self.services, self.turns, self.lanes, sessions)
        return [
            Basics(self.services),
            sessions,
            answering,
            Reminders(self.services),
            continuity,
            ContinuitySettings(self.services, self.continuity_gate),
            Loops(self.services),
            Memories(self.services),
            Forgetting(self.services, self.memory.forgetter, self.turns, self.lanes),
            Exporting(self.services, self.bot),
            Receipt(self.services),
        ]

    async def _recover(self) -> None:
        """Find unfinished work and begin it; say what was found."""
        self.report.sessions_resuming = self.memory.found.resuming
        for found in self.memory.found.rebuilt:
            self.report.sessions_rebuilt += 1
            self.report.warnings += found.warnings
        await self.continuity_gate.recover()
        await Recovery(self.services, self.outbox, self.lanes).run(self.report)
        await self._store_report()
        log.info("started", boot_id=self.boot_id, bot=self.me.username, **self.report.as_dict())

    async def _store_report(self) -> None:
        values = {"boot_id": self.boot_id, "report_json": orjson.dumps(self.report.as_dict()).decode()}
        await self.db.write(Statement("boot_report", values))

    async def _receive(self) -> None:
        """Begin to take updates: by webhook when one is set, by polling otherwise."""
        settings = self.settings
        if settings.continuity_http_port is not None:
            from bot.http.server import HttpServer  # noqa: PLC0415 - FastAPI takes a while to import and is optional

            try:
                self._http = HttpServer(self)
            except OSError as exc:
                port = f"{settings.continuity_http_host}:{settings.continuity_http_port}"
                raise StartError(f"cannot listen on {port} ({exc.strerror}); set another CONTINUITY_HTTP_PORT") from exc
            await self._http.start()
        if settings.telegram_webhook_url:
            secret = settings.telegram_webhook_secret
            await self._until_reached(
                lambda: self.bot.set_webhook(
                    settings.telegram_webhook_url or "",
                    secret_token=secret.get_secret_value() if secret else None,
                    allowed_updates=ALLOWED_UPDATES,
                )
            )
            return
        await self._until_reached(self.bot.delete_webhook)
        self._polling = self._behind(self.poller.run(), "polling")

    async def _after_start(self) -> None:
        """Do what need not hold up the start."""
        self._behind(asyncio.to_thread(self.memory.languages.warm), "languages")
        await self.jobs.start()
        if self.gate.code:
            self._announce(
                f"\nNobody is allowed yet. To pair, send this code to @{self.me.username}: {self.gate.code}\n"
            )
        with suppress(TelegramError):
            await self.bot.set_my_commands([BotCommand(name, what) for name, what in replies.COMMANDS.items()])
        self._behind(self.memory.run(), "memory")
        await self.services.responder.warm()
        self._behind(self.idle.run(), "heartbeat")
        self._behind(self.meters.watch_lag(), "lag")
        before_ms = self.clock.now_ms() - PURGE_DONE_MS
        await self.db.write(
            Statement("inbox_purge_done", {"before_ms": before_ms}),
            Statement("buttons_purge", {"before_ms": before_ms}),
        )

    # --- work -------------------------------------------------------------------------------------------------------

    async def take_webhook(self, body: bytes) -> None:
        """Take one update from the webhook. Raises `NotTaken` when it could not be written down, and `Malformed`."""
        await self.intake.take_body(body)

    async def take_local(self, raw: dict[str, Any]) -> Envelope:
        """Take a message that came over HTTP, once per identity. Raises `StorageUnavailable`: nothing was taken."""
        envelope = read_update(raw, self.me)
        if envelope is None:
            raise ValueError("not a local message")
        if await self.inbox.put(self.me, envelope.update_id, envelope.conversation_id, write_json(raw)):
            self._deliver(envelope)
        return envelope

    async def reopen(self, turn_id: str) -> None:
        """Put a parked turn back to work, since it was asked for again. Raises `StorageUnavailable`."""
        await self.db.write(Statement("inbox_reopen", {"turn_id": turn_id, "at_ms": self.clock.now_ms()}))
        for parked in await self.inbox.received(self.me, turn_id):
            self.lanes.submit(replace(parked, again=True))

    async def replay(self, update_id: int) -> None:
        """Work on an update that was put back into the inbox. Raises `StorageUnavailable`."""
        for envelope in await self.inbox.unfinished(self.me):
            if envelope.update_id == update_id:
                self.lanes.submit(replace(envelope, again=True))

    def workspace(self) -> Workspace:
        """Return what the operator's commands read with, over this bot's own connection."""
        return Workspace(self.settings, self.memory)

    def _deliver(self, envelope: Envelope) -> None:
        self.high_water.saw(envelope.chat_id, envelope.message_id)
        self.idle.message_arrived()
        self.lanes.submit(envelope)

    def _stranger(self, envelope: Envelope) -> None:
        self._behind(self._greet_stranger(envelope), "stranger")

    async def _greet_stranger(self, envelope: Envelope) -> None:
        """Pair whoever knows the code; everybody else gets one polite line at most, and nothing is stored (P14)."""
        user_id = envelope.user_id
        if user_id is None or not envelope.private:
            return
        if self.gate.knows_code(user_id, envelope.text):
            self.gate.pair(user_id)
            pair = Statement("person_pair", {"user_id": user_id, "created_at_ms": self.clock.now_ms()})
            await self.committer.write(Target.of(envelope), [Message(replies.PAIRED)], pair)
            self._announce(f"\nPaired with Telegram user {user_id}.\n")
            return
        if self.gate.should_tell(user_id):
            with suppress(TelegramError):
                text = replies.STRANGER_PAIRING if self.gate.code else replies.STRANGER
                sent = await self.bot.send_message(envelope.chat_id, text)
                self.high_water.saw(envelope.chat_id, sent.message_id)

    async def settled(self) -> None:
        """Return when every update taken so far is finished and everything said is sent (or failed)."""
        while not (self.lanes.idle and self.delivery.backlog == 0):
            await self.lanes.until_idle()
            await self.delivery.flush(SETTLE_S)

    def _trouble(self) -> str | None:
        """Return why no update may be confirmed; whether the inbox itself is refused shows when it is tried."""
        return self.db.trouble(besides=("inbox_insert",))

    async def _watch_storage(self) -> None:
        """End the process when the database is damaged or gone: nothing is confirmed from then on, and no try helps."""
        while True:
            self.db.trouble()
            reason = self.db.condition.beyond_repair
            if reason is not None:
                log.critical("the database cannot be worked with", reason=reason)
                await asyncio.sleep(STORAGE_LAST_S)  # the person hears of it, and /health shows it
                self.fail(reason)
                return
            await asyncio.sleep(STORAGE_LOOK_S)

    def fail(self, reason: str) -> None:
        """Stop for good: going on can never work."""
        if self._fatal is None:
            log.error("stopping", reason=reason)
        self._fatal = self._fatal or reason
        self._stop.set()

    def health(self) -> Health:
        """Return whether messages can be taken and answered just now (P10)."""
        problems = []
        refused = self.inbox.storage_error or self.db.trouble()
        if refused:
            problems.append(f"storage: {refused}")
        stalled_s = self.poller.silent_for_s()
        if not self.settings.telegram_webhook_url and stalled_s > 2 * POLL_TIMEOUT_S:
            problems.append(f"polling: silent for {stalled_s:.0f} s")
        detail = {
            "boot_id": self.boot_id,
            "bot": self.me.username,
            "answered": self.turns.answered,
            "outbox_backlog": self.delivery.backlog,
            "unreachable_chats": len(self.delivery.unreachable),
            "checkpoint_error": self.memory.recorder.checkpoint_error,
            "start": self.report.as_dict(),
        }
        return Health(tuple(problems), detail)

    @property
    def http_url(self) -> str | None:
        """Where the HTTP service listens; None when there is none."""
        return self._http.url if self._http else None

    async def stopped(self) -> None:
        """Wait until somebody asks for the stop: a signal, `ask_to_stop`, or a fatal problem."""
        await self._stop.wait()

    def ask_to_stop(self) -> None:
        """Ask for an orderly stop."""
        self._stop.set()

    # --- stop -------------------------------------------------------------------------------------------------------

    async def stop(self) -> None:
        """Stop in order (002 section 6); may be called at any point of the start, and twice."""
        self._ending = True  # what ends from here on ends by intention
        await self._opened.aclose()

    async def _finish_work(self) -> None:
        """Take nothing more in, let running turns end or park them, send what waits, bring sessions to rest."""
        await self.jobs.stop()
        await self._stop_receiving()
        await self.continuity_gate.close()
        finished = await self.lanes.close(STOP_TURNS_S if self.db.trouble() is None else STOP_REFUSED_S)
        await self.delivery.flush(STOP_DELIVERY_S)
        await self.delivery.close()
        rested = await self._rest() if self.db.trouble() is None else []
        log.info("stopped", turns_parked=not finished, sessions_clean=len(rested))

    async def _leave_background(self) -> None:
        for task in list(self._background):
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    async def _hang_up(self) -> None:
        with suppress(Exception):
            await self.bot.shutdown()

    async def _stop_receiving(self) -> None:
        if self._http is not None:
            await self._http.stop()
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.wait({self._polling}, timeout=STOP_POLLING_S)
            await self.poller.confirm()

    async def _rest(self) -> list[str]:
        """Bring sessions to rest; a disk that is slow to refuse does not keep the process from ending."""
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * STOP_SESSIONS_S):
                return await self.memory.rest(STOP_SESSIONS_S)
        return []

    async def _note_the_stop(self) -> None:
        with suppress(Exception):  # a disk that refuses must not keep the process from ending
            async with asyncio.timeout(STOP_SESSIONS_S):
                await self.db.write(
                    Statement("inbox_release", {"boot_id": self.boot_id}),
                    Statement("boot_stopped", {"boot_id": self.boot_id, "stopped_at_ms": self.clock.now_ms()}),
                )

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

    @property
    def fatal(self) -> str | None:
        """Why the bot stopped by itself; None when it was asked to."""
        return self._fatal


async def run(settings: Settings) -> None:
    """Run the bot until SIGTERM or SIGINT. Raises StartError when it cannot start or cannot go on."""
    app = App(settings)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, app.ask_to_stop)
    starting = asyncio.create_task(app.start())
    stopping = asyncio.create_task(app.stopped())
    await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():
        starting.cancel()
        with suppress(asyncio.CancelledError):
            await starting
        return
    await starting
    await stopping
    await app.stop()
    if app.fatal:
        raise StartError(app.fatal)
