"""Acts on a note by the operator's hand; one that takes words or cannot be taken back is asked about first."""

from __future__ import annotations

from typing import Final

from bot.http.console.action import QUOTED_CHARS, Action, Confirmation, Done, Form, session_of
from bot.http.served import Served
from bot.ops.records import notes
from bot.ops.workspace import OpsError
from bot.replies import plural
from memory.ledger.types import Ending
from memory.text import shorten

FLUSH_S: Final = 3.0
LOCAL_CHARS: Final = len("2026-12-01T09:00")
"""The value of a browser's field for date and time."""


class NoteActions:
    """Does the acts of the forms of notes. Everything raises OpsError, `UnknownSession` and `StorageError`."""

    def __init__(self, bot: Served) -> None:
        self._bot = bot
        self.by_name: dict[str, Action] = {
            "note-forget": Action(self._forget, self._ask_forget),
            "note-correct": Action(self._correct, self._ask_correct),
            "note-end": Action(self._end, self._ask_end),
            "note-reopen": Action(self._reopen),
            "note-merge": Action(self._merge, self._ask_merge),
            "note-move": Action(self._move, self._ask_move),
        }

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
        session_id, conversation_id = await session_of(self._bot, form)
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
        session_id, conversation_id = await session_of(self._bot, form)
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
        session_id, conversation_id = await session_of(self._bot, form)
        await notes.end(self._bot.workspace(), conversation_id, form.get("ref", ""), _ending(form))
        self._bot.services.reminders.look()
        return Done(_memory(session_id), "done")

    async def _reopen(self, form: Form) -> Done:
        session_id, conversation_id = await session_of(self._bot, form)
        await notes.reopen(self._bot.workspace(), conversation_id, form.get("ref", ""))
        self._bot.services.reminders.look()
        return Done(_memory(session_id), "reopened")

    async def _ask_merge(self, form: Form) -> Confirmation:
        session_id, found = await self._note(form)
        seen = await notes.read_notes(self._bot.workspace(), found.note.conversation_id)
        others = [each for each in seen.standing if each.number != found.note.number]
        if not others:
            raise OpsError("there is no other note that stands")
        return Confirmation(
            title="Say the same as another note?",
            says="Choose the note that stands for both; it rests on the messages of both.",
            button="Merge",
            back=_memory(session_id),
            quotes=(found.note.text,),
            field="note",
            options=tuple((str(each.number), f"#{each.number} {each.text}") for each in others),
        )

    async def _merge(self, form: Form) -> Done:
        session_id, conversation_id = await session_of(self._bot, form)
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
        session_id, conversation_id = await session_of(self._bot, form)
        local = form.get("value", "")[:LOCAL_CHARS]
        await notes.move(self._bot.workspace(), conversation_id, form.get("ref", ""), local)
        self._bot.services.reminders.look()
        return Done(_memory(session_id), "moved")

    async def _note(self, form: Form) -> tuple[str, notes.NoteToForget]:
        """Return the session of a form, and its note with the messages that the note rests on."""
        session_id, conversation_id = await session_of(self._bot, form)
        return session_id, await notes.to_forget(self._bot.workspace(), conversation_id, form.get("ref", ""))


def _memory(session_id: str) -> str:
    return f"sessions/{session_id}/memory"


def _ending(form: Form) -> Ending:
    return "dropped" if form.get("ending") == "dropped" else "done"
