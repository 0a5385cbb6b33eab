"""What the pages of the console show: read from the running bot, shaped for the templates."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, get_args

import orjson

from bot.http.console import charts
from bot.http.served import Served
from bot.intake.local import is_local
from bot.meters.spent import NANODOLLARS
from bot.ops.copies.checkpoints import verify
from bot.ops.format import moment
from bot.ops.records.notes import find_note, history, read_notes
from bot.ops.records.prompts import read_prompt
from bot.ops.records.quarantine import list_failed_parts, list_quarantined
from bot.ops.records.sessions import ListedSession, chat_of, list_sessions, show_session
from bot.ops.runs.history import recovered_by_day
from bot.ops.runs.status import Boot, read_boot, read_status, report_in_words
from bot.ops.runs.workers import read_workers
from bot.ops.workspace import OpsError
from bot.replies import ago
from memory.continuity.types import Mode, ScoredArc
from memory.keeper.session_lines import session_lines
from memory.ports import Row
from memory.search.query import Query
from memory.types import ConversationTurn
from memory.zones import zone_of

LISTED = 60
TURNS = 60
CHECKED = 100
BEHIND = "notes and summaries"
"""What models take behind the replies."""
DAYS = 30
DAY_MS = 86_400_000
FOUND = 8


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """One turn as it is shown, with what the model was given for it."""

    turn: ConversationTurn
    said_at: str
    tiers: list[charts.Segment]
    total_tokens: int
    cut: list[str]
    took: str
    """Model, seconds and money, as far as they are known."""


@dataclass(frozen=True, slots=True)
class CarriedForward:
    """What may be carried forward from a session, as the person sees it and why."""

    preview: str
    packet: str
    arcs: tuple[ScoredArc, ...]
    core: frozenset[str]
    mode: str
    skip_preview: bool


class Pages:
    """Reads what each page needs. Everything raises `StorageUnavailable`; an unknown session is `UnknownSession`."""

    def __init__(self, bot: Served) -> None:
        self._bot = bot
        self._zone = zone_of(bot.settings.continuity_timezone)

    def time(self, at_ms: int | None) -> str:
        """Return a point in time in the operator's zone."""
        return moment(at_ms, self._zone) if at_ms else "never"

    def age(self, at_ms: int) -> str:
        """Return how long ago something was."""
        return ago(max(0, self._bot.services.clock.now_ms() - at_ms))

    async def overview(self) -> dict[str, Any]:
        """Return the sessions at a glance, and how the bot is."""
        workspace = self._bot.workspace()
        listed = await list_sessions(workspace, conversation=None, limit=LISTED)
        status = await read_status(workspace)
        titles = {key: title for place in {one.row.conversation_id for one in listed} for key, title in
                  (await self._titles(place)).items()}  # fmt: skip
        return {"sessions": [self._line(one, titles) for one in listed], "status": status, "health": self._bot.health()}

    async def _titles(self, conversation_id: str) -> dict[str, str]:
        """Return the titles that the keeper gave a conversation's sessions, by session."""
        lines = await session_lines(self._bot.services.db, conversation_id)
        return {key: line.title for key, line in lines.items() if line.title}

    def _line(self, one: ListedSession, titles: Mapping[str, str]) -> dict[str, Any]:
        row = one.row
        return {
            "id": row.session_id,
            "short": one.short,
            "title": titles.get(row.session_id, row.title),
            "chat": _place(row.conversation_id),
            "turns": row.turn_count,
            "status": row.status,
            "current": one.current,
            "age": self.age(row.last_turn_at_ms),
        }

    async def conversation(self, session: str) -> dict[str, Any]:
        """Return one session as a conversation, the oldest shown turn first."""
        workspace = self._bot.workspace()
        session_id = await workspace.find(session)
        shown = await show_session(workspace, session_id, turns=TURNS, packet=False, message="")
        snapshots = await self._bot.services.memory.store.context_snapshots(session_id, limit=TURNS)
        line = (await session_lines(self._bot.services.db, shown.state.conversation_id)).get(session_id)
        given = {row["turn_id"]: row for row in snapshots}
        took = {
            row["turn_id"]: row for row in await self._bot.services.db.read("console_figures", session_id=session_id)
        }
        return {
            "id": session_id,
            "shown": shown,
            "title": line.title if line and line.title else shown.row.title if shown.row else "",
            "standing": line.standing if line else "",
            "chat": _place(shown.state.conversation_id),
            "answers": [self._answer(turn, given.get(turn.turn_id), took.get(turn.turn_id)) for turn in shown.turns],
            "cap": self._bot.settings.continuity_context_tokens,
            "earlier": max(0, shown.state.turn_count - len(shown.turns)),
        }

    def _answer(self, turn: ConversationTurn, snapshot: Row | None, figures: Row | None) -> ShownTurn:
        receipts = orjson.loads(snapshot["receipts_json"]) if snapshot else []
        tiers = charts.segments(prompt_pieces(snapshot, receipts)) if snapshot else []
        cut = [f"{one['tier']}: {one['cut_items']} left out" for one in receipts if one["cut_items"]]
        total = sum(segment.tokens for segment in tiers)
        return ShownTurn(turn, self.time(turn.created_at_ms), tiers, total, cut, took_in_words(figures))

    async def found_for(self, turn_id: str) -> dict[str, Any]:
        """Return what a search for this turn's words finds in its conversation now, with the parts of each score."""
        turn = await self._bot.services.memory.store.turn(turn_id)
        if turn is None:
            raise OpsError(f"there is no turn '{turn_id}'; it may have been forgotten")
        found = await self._bot.services.memory.searcher.search(
            Query(turn.conversation_id, turn.user_text, now_ms=self._bot.services.clock.now_ms(), limit=FOUND + 1)
        )
        return {"items": [item for item in found if item.ref != turn_id][:FOUND], "id": turn.session_id}

    async def prompt(self, turn_id: str) -> dict[str, Any]:
        """Return what the model was given for an answer, with a proof or the reason why there is none."""
        seen = await read_prompt(self._bot.workspace(), turn_id)
        return {"seen": seen, "id": seen.turn.session_id}

    async def next_packet(self, session: str) -> dict[str, str]:
        """Return the packet that the session's next message would be answered with."""
        workspace = self._bot.workspace()
        session_id = await workspace.find(session)
        shown = await show_session(workspace, session_id, turns=0, packet=True, message="")
        return {"packet": shown.packet.model_dump_json(indent=2) if shown.packet else "", "id": session_id}

    async def memory(self, session: str) -> dict[str, Any]:
        """Return what a session's conversation remembers, with what can be done about it."""
        workspace = self._bot.workspace()
        session_id = await workspace.find(session)
        row = await self._bot.services.memory.store.session(session_id)
        conversation_id = row.conversation_id if row else ""
        found = await read_notes(workspace, conversation_id)
        return {"id": session_id, "chat": _place(conversation_id), "found": found}

    async def note(self, session: str, ref: str) -> dict[str, Any]:
        """Return one note with everything that was done to it."""
        workspace = self._bot.workspace()
        session_id = await workspace.find(session)
        row = await self._bot.services.memory.store.session(session_id)
        conversation_id = row.conversation_id if row else ""
        note = await find_note(workspace, conversation_id, ref)
        return {"id": session_id, "note": note, "changes": await history(workspace, conversation_id, ref)}

    async def carried(self, session: str) -> dict[str, Any]:
        """Return what may be carried forward from a session's conversation."""
        workspace = self._bot.workspace()
        row = await self._bot.services.memory.store.session(await workspace.find(session))
        if row is None or row.user_id is None:
            return {"id": session, "modes": get_args(Mode), "carried": None}
        owner = await self._bot.continuity_gate.owner(row.conversation_id, row.user_id)
        stages = await self._bot.services.memory.bootstrap.stages(owner)
        chosen = await self._bot.services.memory.bootstrap.preference(owner)
        core = frozenset(one.arc.arc_id for one in stages.selection.core)
        found = CarriedForward(
            stages.preview, stages.internal_packet, stages.scored, core, chosen.mode, skip_preview=chosen.skip_preview
        )
        return {"id": row.session_id, "modes": get_args(Mode), "carried": found}

    async def continuity(self) -> dict[str, Any]:
        """Return who is asked before a conversation is carried forward, one line for each conversation."""
        listed = await list_sessions(self._bot.workspace(), conversation=None, limit=LISTED)
        lines = []
        for one in listed:
            if one.current and one.row.user_id is not None:
                owner = await self._bot.continuity_gate.owner(one.row.conversation_id, one.row.user_id)
                chosen = await self._bot.services.memory.bootstrap.preference(owner)
                place = _place(one.row.conversation_id)
                lines.append({"id": one.row.session_id, "chat": place, "persona": owner.persona.name, "chosen": chosen})
        return {"lines": lines}

    async def checkpoints(self) -> dict[str, Any]:
        """Return a verdict on each of the latest sessions' checkpoints against the turn log, and what was set aside."""
        workspace, files = self._bot.workspace(), self._bot.services.memory.checkpoints
        listed = await list_sessions(workspace, conversation=None, limit=CHECKED)
        verdicts = await verify(workspace, [one.row.session_id for one in listed])
        return {"verdicts": verdicts, "set_aside": await asyncio.to_thread(files.quarantined)}

    async def starts(self) -> dict[str, list[tuple[Boot, tuple[str, ...], bool]]]:
        """Return the last starts, each with what it found and whether it runs."""
        boots = [read_boot(row) for row in await self._bot.services.db.read("boots_latest", limit=20)]
        workers = await read_workers(self._bot.workspace().memory.db)
        running = {worker.boot_id for worker in workers} or {boot.boot_id for boot in boots[:1]}
        return {"starts": [(boot, report_in_words(boot.report), boot.boot_id in running) for boot in boots]}

    async def set_aside(self) -> dict[str, Any]:
        """Return what was given up on: updates and parts of messages."""
        workspace = self._bot.workspace()
        return {"updates": await list_quarantined(workspace), "parts": await list_failed_parts(workspace)}

    async def history(self) -> dict[str, Any]:
        """Return charts of the last days."""
        db, now_ms = self._bot.services.db, self._bot.services.clock.now_ms()
        days = charts.last_days(datetime.fromtimestamp(now_ms / 1000, UTC).date(), DAYS)
        since = {"since_ms": now_ms - DAYS * DAY_MS}
        turns, spending = await db.read("console_days", **since), await db.read("console_spending", **since)
        waits, starts = await db.read("console_waits", **since), await db.read("console_boot_days", **since)
        boots = [read_boot(row) for row in await db.read("console_boots", **since)]
        recovered = {_day(day): float(count) for day, count in recovered_by_day(boots).items()}
        uses = await db.read("console_uses", **since)
        behind, answers = _by_day(uses, "tokens"), _by_day(spending, "input_tokens", "output_tokens")
        tokens = (charts.Series("all, in and out", _together(answers, behind)), charts.Series(BEHIND, behind),
                  charts.Series("out, answers alone", _by_day(spending, "output_tokens")))  # fmt: skip
        slow = (charts.Series("slowest twentieth from", _by_day(waits, "most_ms", per=1000)),
                charts.Series("middle", _by_day(waits, "half_ms", per=1000)))  # fmt: skip
        unpriced = sum(row["unpriced"] or 0 for row in (*spending, *uses))
        number = charts.whole_number
        read, said = (_by_day(rows, "cost_nanodollars", per=NANODOLLARS) for rows in (uses, spending))
        spent = (charts.Series("all", _together(said, read)), charts.Series(BEHIND, read))
        drawn = [
            charts.chart("Turns", [charts.Series("turns", _by_day(turns, "turns"))], days, number),
            charts.chart("Seconds to an answer", slow, days, charts.seconds),
            charts.chart("Tokens", tokens, days, number),
            charts.chart("US dollars", spent, days, charts.dollars),
            charts.chart("Recovered after a crash", [charts.Series("taken up", recovered)], days, number),
            charts.chart("Starts", [charts.Series("starts", _by_day(starts, "starts"))], days, number),
        ]
        return {"charts": drawn, "unpriced": unpriced}


def prompt_pieces(snapshot: Row, receipts: Sequence[Row]) -> dict[str, int]:
    """Return what a prompt was made of, in tokens: the tiers, and what stood beside them."""
    tiers = {one["tier"]: int(one["used_tokens"]) for one in receipts}
    beside = {name: int(snapshot[f"{name}_tokens"]) for name in ("instructions", "tools", "bootstrap", "message")}
    frame = max(0, int(snapshot["total_tokens"]) - sum(tiers.values()) - sum(beside.values()))
    return {**tiers, **beside, "frame": frame}


def took_in_words(figures: Row | None) -> str:
    """Return what an answer took, e.g. `openai:gpt-5-mini · 3.2 s · $0.0012`; "" when that was not written down."""
    if figures is None:
        return ""
    took_ms = figures["queue_ms"] + figures["packet_ms"] + figures["model_ms"]
    words = [figures["model"] or "no model", charts.seconds(took_ms / 1000)]
    if figures["model"]:
        words.append(f"{figures['input_tokens']:,} tokens in ({figures['cached_tokens']:,} cached)")
        words.append(f"{figures['output_tokens']:,} out")
        cost = figures["cost_nanodollars"]
        words.append("price unknown" if cost is None else charts.dollars(cost / NANODOLLARS))
    return " · ".join(words)


def _place(conversation_id: str) -> str:
    """Return where a conversation takes place, in a word or two."""
    chat = chat_of(conversation_id)
    return f"HTTP {chat[-6:]}" if chat.isdecimal() and is_local(int(chat)) else chat


def _by_day(rows: Sequence[Row], *names: str, per: float = 1) -> dict[str, float]:
    return {_day(row["day"]): sum(float(row[name] or 0) for name in names) / per for row in rows}


def _together(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    return {day: one.get(day, 0) + other.get(day, 0) for day in one | other}


def _day(number: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=int(number))).isoformat()
