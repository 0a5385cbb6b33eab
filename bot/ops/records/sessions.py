"""`sessions` and `show`: the sessions there are, and everything about one of them."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from typing import Any

from bot.ops.copies.checkpoints import CheckpointFile, file_of
from bot.ops.format import short_ids
from bot.ops.workspace import OpsError, Workspace
from memory.context.occasion import Occasion
from memory.packets import ConversationContextPacket, JobProgress, RetrievedItem
from memory.ports import Row
from memory.search.query import Query
from memory.sessions.hydrator import HydrationReport
from memory.storage.store import Compaction, SessionRow, read_session_row
from memory.types import ConversationTurn, SessionState

SNAPSHOTS = 5
FOUND = 8


@dataclass(frozen=True, slots=True)
class ListedSession:
    """One line of `sessions`; `short` is enough of the id to name it."""

    short: str
    row: SessionRow
    current: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything about one session, as it would be after a restart now."""

    row: SessionRow | None
    state: SessionState
    report: HydrationReport
    turns: list[ConversationTurn]
    snapshots: list[Row]
    compactions: list[Compaction]
    jobs: list[JobProgress]
    packet: ConversationContextPacket | None
    checkpoint: CheckpointFile | None
    """Its file; None when there is none that can be read."""
    now_ms: int


@dataclass(frozen=True, slots=True)
class Found:
    """Finds for a turn's words in its conversation now, best first, itself left out."""

    turn: ConversationTurn
    items: list[RetrievedItem]


def chat_of(conversation_id: str) -> str:
    """Return the chat and the topic in a conversation's key, the key itself when it has another shape."""
    parts = conversation_id.split(":")
    if len(parts) != 4 or parts[0] != "tg":  # noqa: PLR2004 - tg:<bot>:<chat>:<thread>
        return conversation_id
    return parts[2] if parts[3] == "0" else f"{parts[2]}/{parts[3]}"


async def list_sessions(workspace: Workspace, *, conversation: str | None, limit: int) -> list[ListedSession]:
    """Return the latest sessions, of all conversations or of one (its key or its chat's number)."""
    if conversation:
        rows = await workspace.memory.db.read("ops_sessions_of_chat", conversation_id=conversation, limit=limit)
        found = [read_session_row(row) for row in rows]
    else:
        found = await workspace.memory.store.all_sessions(limit=limit)
    short = short_ids(await workspace.memory.store.session_ids())
    current = workspace.memory.store.current_session_id
    return [
        ListedSession(short[row.session_id], row, await current(row.conversation_id) == row.session_id) for row in found
    ]


async def show_session(workspace: Workspace, session_id: str, *, turns: int, packet: bool, message: str) -> Shown:
    """Return everything about a session; changes nothing. Raises `UnknownSession` and `StorageError`."""
    found = await workspace.memory.hydrator.hydrate(session_id, dry_run=True)
    now_ms = workspace.memory.clock.now_ms()
    built = None
    if packet:
        zone = workspace.settings.continuity_timezone
        built = await workspace.memory.assembler.packet(
            found.state, message, now_ms=now_ms, occasion=Occasion(time_zone=zone)
        )
    return Shown(
        row=await workspace.memory.store.session(session_id),
        state=found.state,
        report=found.report,
        turns=await workspace.memory.store.last_turns(session_id, turns) if turns else [],
        snapshots=await workspace.memory.store.context_snapshots(session_id, limit=SNAPSHOTS),
        compactions=await workspace.memory.store.compactions(session_id),
        jobs=await workspace.memory.store.active_jobs(found.state.conversation_id),
        packet=built,
        checkpoint=await asyncio.to_thread(file_of, workspace.memory.checkpoints, session_id),
        now_ms=now_ms,
    )


async def one_turn(workspace: Workspace, session_id: str, seq: int | None) -> ConversationTurn:
    """Return a turn of a session, the last one for None. Raises OpsError when there is none, `StorageError`."""
    store = workspace.memory.store
    logged = await (store.last_logged(session_id, 1) if seq is None else store.logged_between(session_id, seq, seq))
    if not logged:
        which = "" if seq is None else f" {seq}"
        raise OpsError(f"session {session_id} has no turn{which}; `show` lists the last ones")
    return logged[0].turn


async def found_for(workspace: Workspace, session_id: str, seq: int | None) -> Found:
    """Return the finds of a search for the words of a turn (the last one for None). Raises OpsError, `StorageError`."""
    return await found_of(workspace, await one_turn(workspace, session_id, seq))


async def found_of(workspace: Workspace, turn: ConversationTurn) -> Found:
    """Return the finds of a search for the words of this turn. Raises `StorageError`."""
    memory = workspace.memory
    query = Query(turn.conversation_id, turn.user_text, now_ms=memory.clock.now_ms(), limit=FOUND + 1)
    items = await memory.searcher.search(query)
    return Found(turn, [item for item in items if item.ref != turn.turn_id][:FOUND])


def listed_as_json(listed: ListedSession) -> dict[str, Any]:
    """Return a line of the list without the state, which `show` is for."""
    fields = asdict(listed.row)
    del fields["state_json"], fields["rolling_summary"]
    return fields | {"current": listed.current}


def shown_as_json(shown: Shown) -> dict[str, Any]:
    """Return everything about a session as JSON values."""
    row = {} if shown.row is None else asdict(shown.row)
    row.pop("state_json", None)
    return {
        "session": row or None,
        "state": shown.state.model_dump(mode="json"),
        "hydration": asdict(shown.report),
        "turns": [turn.model_dump(mode="json") for turn in shown.turns],
        "context_snapshots": [dict(snapshot) for snapshot in shown.snapshots],
        "compactions": [_compaction(compaction) for compaction in shown.compactions],
        "jobs": [job.model_dump(mode="json") for job in shown.jobs],
        "packet": None if shown.packet is None else shown.packet.model_dump(mode="json"),
        "checkpoint": None if shown.checkpoint is None else asdict(shown.checkpoint),
    }


def _compaction(compaction: Compaction) -> dict[str, Any]:
    previous = compaction.previous.model_dump(mode="json") if compaction.previous else None
    fields = {name: getattr(compaction, name) for name in compaction.__dataclass_fields__}
    return fields | {"previous": previous, "mark": compaction.mark.model_dump(mode="json")}
