"""The pages about sessions: the list, a conversation with its prompts, its notes, its calls and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

import orjson
from markupsafe import Markup

from bot.http.console import charts, words
from bot.http.console.action import session_row
from bot.http.console.formatted import as_seen
from bot.http.console.incidents import Incidents
from bot.http.served import Served
from bot.meters.spent import NANODOLLARS
from bot.ops.format import moment
from bot.ops.records.notes import find_note, history, read_notes
from bot.ops.records.prompts import read_prompt
from bot.ops.records.sessions import Shown, found_of, show_session
from bot.ops.workspace import OpsError
from bot.people.names import ChatName, Names, read_names
from bot.replies import ago
from memory.context.earlier import beginning
from memory.continuity.types import Mode, ScoredArc
from memory.keeper.session_lines import session_lines
from memory.ledger.types import Note
from memory.ledger.views import forgotten_turns
from memory.ports import Row
from memory.storage.store import SessionRow
from memory.text import shorten
from memory.types import ConversationTurn
from memory.zones import zone_of

SESSIONS: Final = 60
TURNS: Final = 60
MADE: Final = 100
RUNS: Final = 5
TITLE_CHARS: Final = 60
SNIPPET_CHARS: Final = 160
CHATS_NAMED: Final = 3
"""A search by names finds at most so many chats."""
NO_TITLE: Final = "nothing said yet"


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """One turn as it is shown, with the parts of its prompt."""

    turn: ConversationTurn
    who: str
    said_at: str
    answer: Markup
    did: str
    """The acts besides answering, in words; "" for none."""
    tiers: list[charts.BarPiece]
    total_tokens: int
    cut: list[str]
    took: str
    """Model, seconds and money, as far as they are known."""


@dataclass(frozen=True, slots=True)
class CarriedForward:
    """The context to carry forward from a session: as the person sees it, and its scored arcs."""

    preview: str
    packet: str
    arcs: tuple[ScoredArc, ...]
    core: frozenset[str]
    mode: str
    skip_preview: bool


@dataclass(frozen=True, slots=True)
class Head:
    """The head of each page of a session."""

    id: str
    title: str
    chat: ChatName
    state: str
    turns: int
    standing: str
    """The keeper's sentence about where the session stands, "" for none."""


class Pages:
    """Reads the values of each page. Everything raises `StorageUnavailable`; an unknown session is `UnknownSession`."""

    def __init__(self, bot: Served, incidents: Incidents) -> None:
        self._bot = bot
        self._incidents = incidents
        self.zone_name = bot.settings.continuity_timezone
        self._zone = zone_of(self.zone_name)

    def time(self, at_ms: int | None) -> str:
        """Return a point in time in the operator's zone."""
        return moment(at_ms, self._zone) if at_ms else "never"

    def age(self, at_ms: int) -> str:
        """Return how long ago something was."""
        return ago(max(0, self._bot.services.clock.now_ms() - at_ms))

    # --- the list ---------------------------------------------------------------------------------------------------

    async def overview(self, q: str = "", page: str = "") -> dict[str, Any]:
        """Return a page of the sessions, of all or of those that a search finds."""
        names, number = await read_names(self._bot.services.db), int(page) if page.isascii() and page.isdecimal() else 1
        number = min(max(number, 1), 10_000)
        chats = [f"%:{whose}:%" for whose in names.like(q)[:CHATS_NAMED]] if q else []
        one, two, three = [*chats, "", "", ""][:CHATS_NAMED]
        rows = await self._bot.services.db.read(
            "console_sessions", pattern=_pattern(q), one=one, two=two, three=three,
            limit=SESSIONS + 1, offset=(number - 1) * SESSIONS,
        )  # fmt: skip
        return {
            "sessions": [await self._line(row, names, q) for row in rows[:SESSIONS]],
            "q": q,
            "number": number,
            "more": len(rows) > SESSIONS,
        }

    async def _line(self, row: Row, names: Names, q: str) -> dict[str, Any]:
        current = row["current_session_id"] == row["session_id"]
        silent = forgotten_turns(await self._bot.services.memory.ledgers.read(row["conversation_id"]))
        named = row["line_title"] if silent.isdisjoint(orjson.loads(row["line_turns_json"] or "[]")) else ""
        began = row["began_with"] if row["began_turn_id"] not in silent else ""
        return {
            "id": row["session_id"],
            "title": _title(named or "", began or ""),
            "chat": names.chat(row["conversation_id"]),
            "turns": row["turn_count"],
            "current": current,
            "state": words.session_state(row["status"], current=current),
            "at_ms": row["last_turn_at_ms"],
            "found_seq": row["found_seq"],
            "found": await self._found(row["session_id"], row["found_seq"], q) if row["found_seq"] else "",
        }

    async def _found(self, session_id: str, seq: int, q: str) -> str:
        """Return the words around a hit, in the last turn that has it."""
        logged = await self._bot.services.memory.store.logged_between(session_id, seq, seq)
        texts = [text for each in logged for text in (each.turn.user_text, each.turn.assistant_text)]
        text = next((text for text in texts if q.lower() in text.lower()), " ".join(texts))
        at = max(0, text.lower().find(q.lower()) - SNIPPET_CHARS // 3)
        return ("… " if at else "") + shorten(text[at:], SNIPPET_CHARS)

    # --- one session ------------------------------------------------------------------------------------------------

    async def _head(self, session: str) -> tuple[Head, SessionRow, Names]:
        """Return the head of a session's pages, its row, and all names."""
        services, row = self._bot.services, await session_row(self._bot, session)
        session_id, names = row.session_id, await read_names(services.db)
        ledger = await services.memory.ledgers.read(row.conversation_id)
        first = beginning(await services.memory.store.turns_between(session_id, 1, 1), forgotten_turns(ledger))
        line = (await session_lines(services.db, ledger)).get(session_id)
        current = await services.memory.store.current_session_id(row.conversation_id) == session_id
        title = _title(line.title if line else "", first.user_text if first else "")
        state = words.session_state(row.status, current=current)
        standing = line.standing if line else ""
        head = Head(session_id, title, names.chat(row.conversation_id), state, row.turn_count, standing)
        return head, row, names

    async def conversation(self, session: str, through: str = "") -> dict[str, Any]:
        """Return one session as a conversation, the oldest shown turn first; at most 60 turns, through one of them."""
        services = self._bot.services
        head, row, names = await self._head(session)
        shown: Shown = await show_session(self._bot.workspace(), head.id, turns=0, packet=False, message="")
        last = shown.row.last_seq if shown.row else 0
        end = min(int(through), last) if through.isascii() and through.isdecimal() else last
        begin = max(1, end - TURNS + 1)
        logged = await services.memory.store.logged_between(head.id, begin, end)
        snapshots = await services.memory.store.context_snapshots(head.id, limit=last - begin + 1)
        given = {row["turn_id"]: row for row in snapshots}
        took = {row["turn_id"]: row for row in await services.db.read("console_figures", session_id=head.id)}
        turns = [each.turn for each in logged]
        return {
            "head": head,
            "shown": shown,
            "standing": head.standing,
            "answers": [self._answer(turn, names, given.get(turn.turn_id), took.get(turn.turn_id)) for turn in turns],
            "cap": self._bot.settings.continuity_context_tokens,
            "earlier": turns[0].seq - 1 if turns else 0,
            "later": last - turns[-1].seq if turns else 0,
            "page_turns": TURNS,
            "failed_here": await self._incidents.troubles(row.conversation_id) if head.state != "over" else [],
        }

    def _answer(self, turn: ConversationTurn, names: Names, snapshot: Row | None, figures: Row | None) -> ShownTurn:
        receipts = orjson.loads(snapshot["receipts_json"]) if snapshot else []
        pieces = prompt_pieces(snapshot, receipts) if snapshot else {}
        called = [f"called {call.name}" for call in turn.tool_calls]
        did = [words.in_words(turn.action_name, words.ACTIONS)] if turn.action_name else []
        return ShownTurn(
            turn,
            names.person(turn.user_id) or "Person",
            self.time(turn.created_at_ms),
            as_seen(turn.assistant_text),
            ", ".join([*did, *dict.fromkeys(called)]),
            charts.segments(pieces, self._bot.settings.continuity_context_tokens),
            sum(pieces.values()),
            [
                f"{one['cut_items']} of {words.in_words(one['tier'], words.TIERS)}"
                for one in receipts
                if one["cut_items"]
            ],
            took_in_words(figures),
        )

    async def found_for(self, turn_id: str) -> dict[str, Any]:
        """Return the hits of a search for this turn's words in its conversation now, with the parts of each score."""
        turn = await self._bot.services.memory.store.turn(turn_id)
        if turn is None:
            raise OpsError(f"there is no turn '{turn_id}'; it may have been forgotten")
        found = await found_of(self._bot.workspace(), turn)
        return {"items": found.items, "id": turn.session_id}

    async def prompt(self, turn_id: str) -> dict[str, Any]:
        """Return the prompt of an answer, with a proof or the reason why there is none."""
        seen = await read_prompt(self._bot.workspace(), turn_id)
        return {"seen": seen, "id": seen.turn.session_id}

    async def next_packet(self, session: str) -> dict[str, Any]:
        """Return the packet that the session's next message would be answered with."""
        head, _, _ = await self._head(session)
        shown = await show_session(self._bot.workspace(), head.id, turns=0, packet=True, message="")
        return {"head": head, "packet": shown.packet.model_dump_json(indent=2) if shown.packet else ""}

    async def made(self, session: str) -> dict[str, Any]:
        """Return the calls of tools, the files and the tasks of a session's conversation, the latest first."""
        head, row, _ = await self._head(session)
        here = {"conversation_id": row.conversation_id, "limit": MADE}
        db = self._bot.services.db
        calls, files = await db.read("console_tool_calls", **here), await db.read("console_files", **here)
        return {"head": head, "calls": calls, "files": files, "tasks": await self._tasks(row.conversation_id)}

    async def _tasks(self, conversation_id: str) -> list[dict[str, Any]]:
        """Return the work that is done by the clock in a conversation, each with its note and its last runs."""
        db, ledger = self._bot.services.db, await self._bot.services.memory.ledgers.read(conversation_id)
        return [
            {
                "note": ledger.by_id(row["note_id"]),
                "row": row,
                "runs": await db.read("task_runs_of", note_id=row["note_id"], limit=RUNS),
            }
            for row in await db.read("tasks_of", conversation_id=conversation_id)
        ]

    # --- notes ------------------------------------------------------------------------------------------------------

    async def memory(self, session: str) -> dict[str, Any]:
        """Return the notes of a session's conversation, open and lasting ones apart."""
        head, row, _ = await self._head(session)
        found = await read_notes(self._bot.workspace(), row.conversation_id)
        lasting = [note for note in found.standing if note.lasts]
        groups: list[tuple[str, Sequence[Note]]] = [
            ("Open", [note for note in found.standing if not note.lasts]), ("Stays true", lasting)
        ]  # fmt: skip
        return {"head": head, "found": found, "groups": groups}

    async def note(self, session: str, ref: str) -> dict[str, Any]:
        """Return one note with all its changes."""
        workspace = self._bot.workspace()
        head, row, _ = await self._head(session)
        note = await find_note(workspace, row.conversation_id, ref)
        turns = await workspace.memory.store.turns(note.turn_ids)
        return {
            "head": head,
            "note": note,
            "turns": turns,
            "changes": await history(workspace, row.conversation_id, ref),
        }

    # --- carried forward --------------------------------------------------------------------------------------------

    async def carried(self, session: str) -> dict[str, Any]:
        """Return the context to carry forward from a session's conversation."""
        head, row, _ = await self._head(session)
        if row.user_id is None:
            return {"head": head, "modes": get_args(Mode), "carried": None}
        owner = await self._bot.continuity_gate.carried.owner(row.conversation_id, row.user_id)
        stages = await self._bot.services.memory.bootstrap.stages(owner)
        chosen = await self._bot.services.memory.bootstrap.preference(owner)
        core = frozenset(one.arc.arc_id for one in stages.selection.core)
        found = CarriedForward(
            stages.preview, stages.internal_packet, stages.scored, core, chosen.mode, skip_preview=chosen.skip_preview
        )
        return {"head": head, "modes": get_args(Mode), "carried": found}


def prompt_pieces(snapshot: Row, receipts: Sequence[Row]) -> dict[str, int]:
    """Return the parts of a prompt, in tokens: the tiers, and those beside them."""
    tiers = {one["tier"]: int(one["used_tokens"]) for one in receipts}
    beside = {name: int(snapshot[f"{name}_tokens"]) for name in ("instructions", "tools", "bootstrap", "message")}
    frame = max(0, int(snapshot["total_tokens"]) - sum(tiers.values()) - sum(beside.values()))
    return {**tiers, **beside, "frame": frame}


def took_in_words(figures: Row | None) -> str:
    """Return the cost of an answer, e.g. `openai:gpt-5-mini · 3.2 s · $0.0012`; "" when it is not stored."""
    if figures is None:
        return ""
    took_ms = figures["queue_ms"] + figures["packet_ms"] + figures["model_ms"]
    told = [figures["model"] or "no model", charts.seconds(took_ms / 1000)]
    if figures["model"]:
        told.append(f"{figures['input_tokens']:,} tokens in ({figures['cached_tokens']:,} cached)")
        told.append(f"{figures['output_tokens']:,} out")
        cost = figures["cost_nanodollars"]
        told.append("price unknown" if cost is None else charts.dollars(cost / NANODOLLARS))
    return " · ".join(told)


def _title(line_title: str, began_with: str) -> str:
    """The title of a session: as the keeper named it, else as it began."""
    return line_title or shorten(began_with, TITLE_CHARS) or NO_TITLE


def _pattern(q: str) -> str | None:
    """The pattern by which `LIKE … ESCAPE '!'` finds these words; None for none."""
    if not q:
        return None
    for sign in "!%_":
        q = q.replace(sign, f"!{sign}")
    return f"%{q}%"
