"""What can be done from the console: what is asked before it, and doing it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from bot.http.served import Served
from bot.ops.copies import checkpoints
from bot.ops.records import notes, quarantine
from bot.ops.workspace import OpsError
from bot.replies import plural, shorten
from memory.continuity.types import BootstrapOwner, Mode, Preference
from memory.ledger.types import Ending

Form = Mapping[str, str]

FLUSH_S = 3.0
QUOTED_CHARS = 200
LOCAL_CHARS = len("2026-12-01T09:00")
"""What a browser's field for date and time gives."""

SAID = {
    "forgotten": "Forgotten. The files were looked through, and no trace is left.",
    "traces": "Forgotten. A trace is still in the files; the next start clears it away.",
    "unproven": "Forgotten. The files couldn't be looked through.",
    "corrected": "Corrected.",
    "done": "It's no longer open.",
    "moved": "Moved.",
    "reopened": "It stands again.",
    "merged": "One note stands for both.",
    "retried": "It's being worked on again.",
    "sent": "It's being sent again.",
    "dropped": "Dropped.",
    "rebuilt": "Rebuilt.",
    "refreshed": "It's been made again.",
    "chosen": "Saved.",
}
"""What the page says afterwards, by a word in its address."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What is asked before something is done."""

    title: str
    says: str
    button: str
    back: str
    """Where one goes who would rather not, below /console/."""
    quotes: tuple[str, ...] = ()
    field: Literal["", "text", "time"] = ""
    value: str = ""
    dangerous: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """Which page is shown afterwards, below /console/, and what it says."""

    where: str
    said: str


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be done; with `ask` only after a question."""

    do: Callable[[Form], Awaitable[Done]]
    ask: Callable[[Form], Awaitable[Confirmation]] | None = None


class Actions:
    """Does what the forms ask for. Everything raises OpsError, `UnknownSession` and `StorageError`."""

    def __init__(self, bot: Served) -> None:
        self._bot = bot
        self.by_name: dict[str, Action] = {
            "note-forget": Action(self._forget, self._ask_forget),
            "note-correct": Action(self._correct, self._ask_correct),
            "note-end": Action(self._end, self._ask_end),
            "note-reopen": Action(self._reopen),
            "note-merge": Action(self._merge, self._ask_merge),
            "note-move": Action(self._move, self._ask_move),
            "retry": Action(self._retry),
            "drop": Action(self._drop, self._ask_drop),
            "retry-part": Action(self._retry_part),
            "drop-part": Action(self._drop_part, self._ask_drop_part),
            "rebuild": Action(self._rebuild),
            "refresh": Action(self._refresh),
            "prefer": Action(self._prefer),
        }

    # --- notes ------------------------------------------------------------------------------------------------------

    async def _ask_forget(self, form: Form) -> Confirmation:
        session_id, found = await self._note(form)
        return Confirmation(
            title="Forget this for ever?",
            says=f"“{found.note.text}” goes with {plural(found.turns, 'message')} that it rests on, and their answers. "
            "It can't be brought back.",
            button="Forget it",
            back=_memory(session_id),
            quotes=tuple(shorten(each, QUOTED_CHARS) for each in found.quoted),
            dangerous=True,
        )

    async def _forget(self, form: Form) -> Done:
        session_id, conversation_id = await self._session(form)
        await self._bot.services.delivery.flush(FLUSH_S)
        async with self._bot.alone(conversation_id):
            _, proof = await notes.forget(self._bot.workspace(), conversation_id, form.get("ref", ""))
        self._bot.services.reminders.look()
        left = await self._bot.services.memory.store.session(session_id)
        said = "unproven" if proof.found is None else "traces" if proof.found else "forgotten"
        return Done(_memory(session_id) if left else "sessions", said)

    async def _ask_correct(self, form: Form) -> Confirmation:
        session_id, found = await self._note(form)
        return Confirmation(
            title="Correct this note",
            says="The assistant goes by the new words from now on. What was said stays as it was said:",
            button="Save",
            back=_memory(session_id),
            quotes=tuple(shorten(each, QUOTED_CHARS) for each in found.quoted),
            field="text",
            value=found.note.text,
        )

    async def _correct(self, form: Form) -> Done:
        session_id, conversation_id = await self._session(form)
        await notes.correct(self._bot.workspace(), conversation_id, form.get("ref", ""), form.get("value", ""))
        return Done(_memory(session_id), "corrected")

    async def _ask_end(self, form: Form) -> Confirmation:
        session_id, found = await self._note(form)
        dropped = _ending(form) == "dropped"
        rings = " It won't ring any more, and nobody is told." if found.note.rings_at_ms else ""
        return Confirmation(
            title="Drop it?" if dropped else "Is it done?",
            says=("The assistant won't come back to it." if dropped else "The assistant takes it as settled.") + rings,
            button="Drop it" if dropped else "It's done",
            back=_memory(session_id),
            quotes=(found.note.text,),
        )

    async def _end(self, form: Form) -> Done:
        session_id, conversation_id = await self._session(form)
        await notes.end(self._bot.workspace(), conversation_id, form.get("ref", ""), _ending(form))
        self._bot.services.reminders.look()
        return Done(_memory(session_id), "done")

    async def _reopen(self, form: Form) -> Done:
        session_id, conversation_id = await self._session(form)
        await notes.reopen(self._bot.workspace(), conversation_id, form.get("ref", ""))
        self._bot.services.reminders.look()
        return Done(_memory(session_id), "reopened")

    async def _ask_merge(self, form: Form) -> Confirmation:
        session_id, found = await self._note(form)
        return Confirmation(
            title="Say the same as another note?",
            says="Give the number of the note that stands for both.",
            button="Merge",
            back=_memory(session_id),
            quotes=(found.note.text,),
            field="text",
        )

    async def _merge(self, form: Form) -> Done:
        session_id, conversation_id = await self._session(form)
        await notes.merge(self._bot.workspace(), conversation_id, form.get("ref", ""), form.get("value", ""))
        return Done(_memory(session_id), "merged")

    async def _ask_move(self, form: Form) -> Confirmation:
        session_id, found = await self._note(form)
        return Confirmation(
            title="Move this reminder",
            says=f"By the note's clock ({found.note.time_zone}).",
            button="Move it",
            back=_memory(session_id),
            quotes=(found.note.text,),
            field="time",
            value=found.note.rings_from,
        )

    async def _move(self, form: Form) -> Done:
        session_id, conversation_id = await self._session(form)
        local = form.get("value", "")[:LOCAL_CHARS]
        await notes.move(self._bot.workspace(), conversation_id, form.get("ref", ""), local)
        self._bot.services.reminders.look()
        return Done(_memory(session_id), "moved")

    async def _note(self, form: Form) -> tuple[str, notes.NoteToForget]:
        """Return the session of a form, and the note that it names with what it rests on."""
        session_id, conversation_id = await self._session(form)
        return session_id, await notes.to_forget(self._bot.workspace(), conversation_id, form.get("ref", ""))

    # --- what was set aside -----------------------------------------------------------------------------------------

    async def _retry(self, form: Form) -> Done:
        for each in await quarantine.retry(self._bot.workspace(), _number(form, "update_id")):
            await self._bot.replay(each.update_id)
        return Done("set-aside", "retried")

    async def _ask_drop(self, form: Form) -> Confirmation:
        update_id = _number(form, "update_id")
        return Confirmation(
            title="Drop this message?",
            says=f"Update {update_id} goes for good, and its text with it. Whoever wrote it gets no answer.",
            button="Drop it",
            back="set-aside",
            dangerous=True,
        )

    async def _drop(self, form: Form) -> Done:
        await quarantine.drop(self._bot.workspace(), _number(form, "update_id"))
        return Done("set-aside", "dropped")

    async def _retry_part(self, form: Form) -> Done:
        part = await quarantine.retry_part(self._bot.workspace(), form.get("part_id", ""))
        await self._bot.services.delivery.reachable(part.bot_id, part.chat_id)
        self._bot.services.delivery.deliver([part])
        return Done("set-aside", "sent")

    async def _ask_drop_part(self, form: Form) -> Confirmation:
        found = await quarantine.list_failed_parts(self._bot.workspace())
        one = notes.the_one(found, form.get("part_id", ""), lambda each: each.part.part_id, "unsent part")
        return Confirmation(
            title="Drop this part of an answer?",
            says="It goes for good. The turn it belongs to stays.",
            button="Drop it",
            back="set-aside",
            quotes=(shorten(one.part.text, QUOTED_CHARS),),
            dangerous=True,
        )

    async def _drop_part(self, form: Form) -> Done:
        await quarantine.drop_part(self._bot.workspace(), form.get("part_id", ""))
        return Done("set-aside", "dropped")

    # --- checkpoints and continuity ---------------------------------------------------------------------------------

    async def _rebuild(self, form: Form) -> Done:
        workspace = self._bot.workspace()
        session_id = await workspace.find(form.get("session_id", ""))
        await self._bot.services.memory.recorder.settle()
        await checkpoints.rebuild(workspace, [session_id])
        return Done("checkpoints", "rebuilt")

    async def _refresh(self, form: Form) -> Done:
        session_id, owner = await self._owner(form)
        await self._bot.services.memory.bootstrap.refresh(owner)
        return Done(f"sessions/{session_id}/carried", "refreshed")

    async def _prefer(self, form: Form) -> Done:
        session_id, owner = await self._owner(form)
        mode = form.get("mode", "")
        if mode not in get_args(Mode):
            raise OpsError(f"choose one of {', '.join(get_args(Mode))}")
        chosen = Preference(mode=mode, skip_preview=form.get("skip_preview") == "on")
        await self._bot.services.memory.bootstrap.prefer(owner, chosen)
        return Done(f"sessions/{session_id}/carried", "chosen")

    # --- which ------------------------------------------------------------------------------------------------------

    async def _session(self, form: Form) -> tuple[str, str]:
        """Return the session and the conversation that a form names."""
        workspace = self._bot.workspace()
        session_id = await workspace.find(form.get("session_id", ""))
        row = await workspace.memory.store.session(session_id)
        if row is None:
            raise OpsError(f"session '{session_id}' is in no table, only in a checkpoint; rebuild it first")
        return session_id, row.conversation_id

    async def _owner(self, form: Form) -> tuple[str, BootstrapOwner]:
        session_id, conversation_id = await self._session(form)
        row = await self._bot.services.memory.store.session(session_id)
        if row is None or row.user_id is None:
            raise OpsError("nobody is known to have opened this session")
        return session_id, await self._bot.continuity_gate.owner(conversation_id, row.user_id)


def _memory(session_id: str) -> str:
    return f"sessions/{session_id}/memory"


def _ending(form: Form) -> Ending:
    return "dropped" if form.get("ending") == "dropped" else "done"


def _number(form: Form, name: str) -> int:
    value = form.get(name, "")
    if not (value.isascii() and value.isdecimal()):
        raise OpsError(f"{name} takes a number")
    return int(value)
