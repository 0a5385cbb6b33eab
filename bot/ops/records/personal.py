"""`forget` and `export`, as a person may ask the operator: of one conversation or of all they spoke in (P13)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.files.export import exported
from bot.files.room import blobs_for
from bot.ops.workspace import OpsError, Told, Workspace, one_by_one, untold
from bot.people.export import about_person, tasks
from memory.continuity import rows as continuity
from memory.errors import reason
from memory.ports import Statement
from memory.privacy.export import as_bytes, conversations_of, gather
from memory.privacy.forget import Proof
from memory.privacy.plan import ForgetCounts, ForgetRequest


@dataclass(frozen=True, slots=True)
class ForgottenHere:
    """The forgotten things of one conversation, and the finds of the look into the files."""

    conversation_id: str
    counts: ForgetCounts
    proof: Proof


def is_private_with(conversation_id: str, user_id: int) -> bool:
    """Return whether this is the person's own chat with the bot: there everything is theirs, the answers too."""
    parts = conversation_id.split(":")
    return len(parts) == 4 and parts[2] == str(user_id)  # noqa: PLR2004 - tg:<bot>:<chat>:<thread>


def requests(conversation_ids: Sequence[str], user_id: int | None) -> list[ForgetRequest]:
    """Return the requests of forgetting: whole conversations, or of others' the person's own words there."""
    return [
        ForgetRequest(
            each,
            everything=True,
            user_id=None if user_id is None or is_private_with(each, user_id) else user_id,
        )
        for each in conversation_ids
    ]


async def meant(workspace: Workspace, conversation: str | None, user_id: int | None) -> list[str]:
    """Return the conversations that are meant. Raises OpsError when there are none."""
    if user_id is not None:
        return await conversations_of(workspace.memory.db, user_id)
    found = await workspace.memory.db.read("ops_conversations", conversation_id=conversation)
    if not found:
        raise OpsError(f"there is no conversation '{conversation}'; `continuity-bot sessions` lists them")
    return [row["conversation_id"] for row in found]


async def forget(workspace: Workspace, conversation: str | None, user_id: int | None) -> list[ForgottenHere]:
    """Forget a conversation, or a person in all conversations, together with their choices and their usage.

    Each conversation is a transaction of its own: after a crash the same command forgets the rest. Whether a person is
    allowed stays: that is the operator's choice. Raises OpsError, `StorageError`.
    """
    forgetter = workspace.memory.forgetter
    done = []
    for request in requests(await meant(workspace, conversation, user_id), user_id):
        forgotten = await forgetter.forget(request)
        done.append(ForgottenHere(request.conversation_id, forgotten.counts, await forgetter.prove(forgotten)))
    if user_id is not None:
        person = {"user_id": user_id}
        settings, usage = Statement("erase_settings", person), Statement("erase_usage", person)
        await workspace.memory.db.write(settings, usage, continuity.forget_preferences(user_id))
        await workspace.memory.db.wal_truncate()
    await blobs_for(workspace.settings, workspace.memory.db).sweep()
    return done


async def export(
    workspace: Workspace, conversation: str | None, user_id: int | None, told: Told = untold
) -> dict[str, Any]:
    """Return all that is kept about a conversation or a person, as JSON values. Raises OpsError, `StorageError`."""
    memory, asked = workspace.memory, requests(await meant(workspace, conversation, user_id), user_id)
    by_place = {request.conversation_id: request.user_id for request in asked}

    async def document(place: str) -> dict[str, Any]:
        whole = await gather(memory.db, memory.ledgers, memory.clock, place, user_id=by_place[place])
        return whole | {
            "tasks": await tasks(memory.db, place),
            "files": await exported(memory.db, place, by_place[place]),
        }

    documents = await one_by_one(list(by_place), document, told)
    person = {} if user_id is None else {"person": await about_person(workspace.memory.db, user_id)}
    return {"conversations": documents, **person}


def write_private(target: Path, document: dict[str, Any]) -> int:
    """Write the document to a new file that its owner alone can read; return its size. Raises OpsError."""
    data = as_bytes(document)
    try:
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
    except FileExistsError:
        raise OpsError(f"{target} exists already; name another file") from None
    except OSError as exc:
        raise OpsError(f"{target} cannot be written ({reason(exc)}); name another folder") from exc
    return len(data)
