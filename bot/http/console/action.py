"""Acts of the console: the question before one, the page after it, and the session of its form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from bot.http.served import Served
from bot.ops.workspace import OpsError
from memory.storage.store import SessionRow

Form = Mapping[str, str]

QUOTED_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The question before an act."""

    title: str
    says: str
    button: str
    back: str
    """The page for somebody who would rather not, below /console/."""
    quotes: tuple[str, ...] = ()
    field: Literal["", "text", "time", "note"] = ""
    options: tuple[tuple[str, str], ...] = ()
    """Numbers and texts of the notes to choose from."""
    value: str = ""
    dangerous: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The page after an act, below /console/, and the key of its sentence in `SAID`."""

    where: str
    said: str


@dataclass(frozen=True, slots=True)
class Action:
    """One act; with `ask` only after a question."""

    do: Callable[[Form], Awaitable[Done]]
    ask: Callable[[Form], Awaitable[Confirmation]] | None = None


async def session_of(bot: Served, form: Form) -> tuple[str, str]:
    """Return the session and the conversation that a form names. Raises OpsError, `UnknownSession`, `StorageError`."""
    row = await session_row(bot, form.get("session_id", ""))
    return row.session_id, row.conversation_id


async def session_row(bot: Served, asked: str) -> SessionRow:
    """Return the row of the session that was meant. Raises OpsError, `UnknownSession`, `StorageError`."""
    workspace = bot.workspace()
    session_id = await workspace.find(asked)
    row = await workspace.memory.store.session(session_id)
    if row is None:
        raise OpsError(f"session '{session_id}' is in no table, only in a checkpoint; rebuild it first")
    return row
