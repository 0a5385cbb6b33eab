"""What the pages of the console show: read from the running bot, shaped for the templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import orjson

from bot.http.console import charts
from bot.http.served import Served
from bot.intake.local import is_local
from bot.ops.checkpoints import Verdict, verify
from bot.ops.format import moment
from bot.ops.quarantine import list_failed_parts, list_quarantined
from bot.ops.sessions import ListedSession, chat_of, list_sessions, show_session
from bot.ops.status import Boot, read_boot, read_status, report_in_words
from bot.replies import ago
from memory.continuity.types import ScoredArc
from memory.search.query import Query
from memory.types import ConversationTurn, RetrievedItem

LISTED = 60
TURNS = 60
CHECKED = 100
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


@dataclass(frozen=True, slots=True)
class Carried:
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
        self._zone = ZoneInfo(bot.settings.continuity_timezone)

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
        """Return the titles that the notes of a conversation's sessions give, by session."""
        notes = await self._bot.services.notes.sessions(conversation_id, catch_up=False)
        return {each.session_id: each.title for each in notes if each.title}

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
        snapshots = await self._bot.services.store.context_snapshots(session_id, limit=TURNS)
        found = await self._bot.services.notes.sessions(shown.state.conversation_id, catch_up=False)
        notes = next((each for each in found if each.session_id == session_id), None)
        given = {row["turn_id"]: row for row in snapshots}
        return {
            "id": session_id,
            "shown": shown,
            "title": notes.title if notes and notes.title else shown.row.title if shown.row else "",
            "notes": notes,
            "chat": _place(shown.state.conversation_id),
            "answers": [self._answer(turn, given.get(turn.turn_id)) for turn in shown.turns],
            "cap": self._bot.settings.continuity_context_tokens,
            "earlier": max(0, shown.state.turn_count - len(shown.turns)),
        }

    def _answer(self, turn: ConversationTurn, snapshot: Mapping[str, Any] | None) -> ShownTurn:
        receipts = orjson.loads(snapshot["receipts_json"]) if snapshot else []
        tiers = charts.segments({one["tier"]: one["used_tokens"] for one in receipts})
        cut = [f"{one['tier']}: {one['cut_items']} left out" for one in receipts if one["cut_items"]]
        total = int(snapshot["total_tokens"]) if snapshot else 0
        return ShownTurn(turn, self.time(turn.created_at_ms), tiers, total, cut)

    async def found_for(self, turn_id: str) -> dict[str, list[RetrievedItem]]:
        """Return what a search for this turn's words finds in its conversation now, with the parts of each score."""
        turn = await self._bot.services.store.turn(turn_id)
        if turn is None:
            return {"items": []}
        found = await self._bot.services.searcher.search(
            Query(turn.conversation_id, turn.user_text, now_ms=self._bot.services.clock.now_ms(), limit=FOUND + 1)
        )
        return {"items": [item for item in found if item.ref != turn_id][:FOUND]}

    async def prompt_now(self, session: str) -> dict[str, str]:
        """Return the packet that the session's next message would be answered with."""
        workspace = self._bot.workspace()
        shown = await show_session(workspace, await workspace.find(session), turns=0, packet=True, message="")
        return {"prompt": shown.packet.model_dump_json(indent=2) if shown.packet else ""}

    async def carried(self, session: str) -> dict[str, Any]:
        """Return what may be carried forward from a session's conversation."""
        workspace = self._bot.workspace()
        row = await self._bot.services.store.session(await workspace.find(session))
        if row is None or row.user_id is None:
            return {"id": session, "carried": Carried("", "", (), frozenset(), "ask", skip_preview=False)}
        owner = await self._bot.continuity_gate.owner(row.conversation_id, row.user_id)
        stages = await self._bot.services.bootstrap.stages(owner)
        chosen = await self._bot.services.bootstrap.preference(owner)
        core = frozenset(one.arc.arc_id for one in stages.selection.core)
        found = Carried(
            stages.preview, stages.internal_packet, stages.scored, core, chosen.mode, skip_preview=chosen.skip_preview
        )
        return {"id": session, "carried": found}

    async def checkpoints(self) -> dict[str, list[Verdict]]:
        """Return a verdict on each of the latest sessions' checkpoints against the turn log."""
        workspace = self._bot.workspace()
        listed = await list_sessions(workspace, conversation=None, limit=CHECKED)
        return {"verdicts": await verify(workspace, [one.row.session_id for one in listed])}

    async def starts(self) -> dict[str, list[tuple[Boot, tuple[str, ...]]]]:
        """Return the last starts, each with what it found."""
        boots = [read_boot(row) for row in await self._bot.services.db.read("boots_latest", limit=20)]
        return {"starts": [(boot, report_in_words(boot.report)) for boot in boots]}

    async def set_aside(self) -> dict[str, Any]:
        """Return what was given up on: updates and parts of messages."""
        workspace = self._bot.workspace()
        return {"updates": await list_quarantined(workspace), "parts": await list_failed_parts(workspace)}

    async def history(self) -> dict[str, dict[str, str]]:
        """Return charts of the last days."""
        now_ms = self._bot.services.clock.now_ms()
        today = datetime.fromtimestamp(now_ms / 1000, UTC).date()
        days = charts.last_days(today, DAYS)
        since = {"since_ms": now_ms - DAYS * DAY_MS}
        turns = await self._bot.services.db.read("console_days", **since)
        starts = await self._bot.services.db.read("console_boot_days", **since)
        drawn = {
            "Turns a day": charts.bars(_by_day(turns, "turns"), days, "Turns a day"),
            "Tokens a day": charts.bars(_by_day(turns, "tokens"), days, "Tokens a day"),
            "Starts a day": charts.bars(_by_day(starts, "starts"), days, "Starts a day"),
        }
        return {"charts": drawn}


def _place(conversation_id: str) -> str:
    """Return where a conversation takes place, in a word or two."""
    chat = chat_of(conversation_id)
    return f"HTTP {chat[-6:]}" if chat.isdecimal() and is_local(int(chat)) else chat


def _by_day(rows: list[Any], value: str) -> dict[str, float]:
    return {(date(1970, 1, 1) + timedelta(days=int(row["day"]))).isoformat(): float(row[value] or 0) for row in rows}
