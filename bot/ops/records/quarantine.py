"""`quarantine …`: updates that were given up on after three failures or that nobody can read, and unsent parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.delivery.outbox import Part, part_from
from bot.intake.raw.reader import read_update
from bot.intake.raw_json import Malformed, TooDeep, read_json
from bot.intake.updates import Me
from bot.ops.runs.failures import words_in
from bot.ops.workspace import OpsError, Workspace
from memory.ports import Row, Statement


@dataclass(frozen=True, slots=True)
class Quarantined:
    """One update out of the traffic; `readable` is False when even a retry could not understand it."""

    bot_id: int
    update_id: int
    conversation_id: str | None
    turn_id: str | None
    attempts: int
    error: str
    readable: bool
    received_at_ms: int
    text: str = ""
    """Its words; "" when they cannot be read."""


def read_row(row: Row) -> Quarantined:
    """Return the update in a row. Never raises."""
    return Quarantined(
        bot_id=row["bot_id"],
        update_id=row["update_id"],
        conversation_id=row["conversation_id"],
        turn_id=row["turn_id"],
        attempts=row["attempts"],
        error=row["error"] or "",
        readable=_readable(row["payload"], row["bot_id"]),
        received_at_ms=row["received_at_ms"],
        text=words_in(row["payload"]),
    )


def _readable(payload: str, bot_id: int) -> bool:
    try:
        found = read_update(read_json(payload), Me(bot_id, ""))
    except (Malformed, TooDeep):
        return False
    return found is not None and found.kind != "unreadable"


def chosen(found: Sequence[Quarantined], update_id: int) -> list[Quarantined]:
    """Return the update and those that belong to its turn. Raises OpsError when there is nothing to try again."""
    named = [each for each in found if each.update_id == update_id]
    if not named:
        known = ", ".join(str(each.update_id) for each in found[:5])
        hint = f"quarantined are: {known}" if known else "the quarantine is empty"
        raise OpsError(f"update {update_id} is not in quarantine; {hint}")
    turns = {each.turn_id for each in named if each.turn_id}
    wanted = [each for each in found if each.update_id == update_id or each.turn_id in turns]
    if not all(each.readable for each in wanted):
        raise OpsError(f"update {update_id} cannot be read by this version either; it stays in quarantine")
    return wanted


async def list_quarantined(workspace: Workspace) -> list[Quarantined]:
    """Return the messages given up, the latest first. Raises `StorageError`."""
    return [read_row(row) for row in await workspace.memory.db.read("ops_quarantined")]


async def retry(workspace: Workspace, update_id: int) -> list[Quarantined]:
    """Put an update, with those of its turn, back for the next start. Raises OpsError, `StorageError`."""
    wanted = chosen(await list_quarantined(workspace), update_id)
    at_ms = workspace.memory.clock.now_ms()
    await workspace.memory.db.write(
        *(
            Statement(
                "ops_quarantine_retry",
                {"bot_id": each.bot_id, "update_id": each.update_id, "at_ms": at_ms},
                expect=1,
            )
            for each in wanted
        )
    )
    return wanted


async def drop(workspace: Workspace, update_id: int) -> None:
    """Let an update go for good, and its text with it. Raises OpsError when it is not there, `StorageError`."""
    found = next((each for each in await list_quarantined(workspace) if each.update_id == update_id), None)
    if found is None:
        raise OpsError(f"update {update_id} is not in quarantine")
    key = {"bot_id": found.bot_id, "update_id": update_id, "at_ms": workspace.memory.clock.now_ms()}
    await workspace.memory.db.write(Statement("ops_quarantine_drop", key, expect=1))


@dataclass(frozen=True, slots=True)
class FailedPart:
    """A part of a message that Telegram refused for good."""

    part: Part
    error: str
    created_at_ms: int


async def list_failed_parts(workspace: Workspace) -> list[FailedPart]:
    """Return the parts that Telegram refused for good, the latest first, at most 100. Raises `StorageError`."""
    rows = await workspace.memory.db.read("ops_failed_parts")
    return [FailedPart(part_from(row), row["error"] or "", row["created_at_ms"]) for row in rows]


async def retry_part(workspace: Workspace, part_id: str) -> Part:
    """Put a part back into the outbox, for the next start or a running delivery to send. Raises as `drop_part`."""
    found = await _failed_part(workspace, part_id)
    await workspace.memory.db.write(Statement("ops_part_retry", {"part_id": part_id}, expect=1))
    return replace(found, state="queued", attempts=0)


async def drop_part(workspace: Workspace, part_id: str) -> None:
    """Let a part go for good, and its text with it. Raises OpsError when it is not there, `StorageError`."""
    await _failed_part(workspace, part_id)
    await workspace.memory.db.write(Statement("ops_part_drop", {"part_id": part_id}, expect=1))


async def _failed_part(workspace: Workspace, part_id: str) -> Part:
    found = next((each for each in await list_failed_parts(workspace) if each.part.part_id == part_id), None)
    if found is None:
        raise OpsError(f"there is no unsent part '{part_id}'")
    return found.part
