"""Acts of the console: the question before each, and the act itself."""

from __future__ import annotations

from typing import Final, get_args

from bot.http.console.action import QUOTED_CHARS, Action, Confirmation, Done, Form, session_row
from bot.http.console.note_actions import NoteActions
from bot.http.served import Served
from bot.ops.copies import checkpoints
from bot.ops.records import quarantine
from bot.ops.runs.failures import FailedMessage, list_failed
from bot.ops.workspace import OpsError
from bot.tools.choices import EVERYBODY
from bot.turns.parked import decided
from memory.continuity.types import BootstrapOwner, Mode, Preference
from memory.text import shorten

NAME_CHARS: Final = 100
SAID: Final = {
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
    "switched_off": "It's off for everybody from the next message on.",
    "switched_on": "It's there again for whoever didn't switch it off.",
}
"""The sentence of the page afterwards, by a word in its address."""


class Actions:
    """Does the acts of the forms. Everything raises OpsError, `UnknownSession` and `StorageError`."""

    def __init__(self, bot: Served) -> None:
        self._bot = bot
        self.by_name: dict[str, Action] = {
            **NoteActions(bot).by_name,
            "turn-retry": Action(self._retry_turn),
            "turn-drop": Action(self._drop_turn, self._ask_drop_turn),
            "retry-all": Action(self._retry_all),
            "retry": Action(self._retry),
            "drop": Action(self._drop, self._ask_drop),
            "retry-part": Action(self._retry_part),
            "drop-part": Action(self._drop_part, self._ask_drop_part),
            "rebuild": Action(self._rebuild),
            "refresh": Action(self._refresh),
            "prefer": Action(self._prefer),
            "tool-off": Action(self._tool_off),
            "tool-on": Action(self._tool_on),
        }

    # --- failures ---------------------------------------------------------------------------------------------------

    async def _retry_turn(self, form: Form) -> Done:
        message = await self._failed(form)
        await self._bot.reopen(message.turn_id)
        return Done(await self._back(form), "retried")

    async def _retry_all(self, form: Form) -> Done:
        for message in await list_failed(self._bot.services.db):
            if message.error == form.get("error", ""):
                await self._bot.reopen(message.turn_id)
        return Done(await self._back(form), "retried")

    async def _ask_drop_turn(self, form: Form) -> Confirmation:
        message = await self._failed(form)
        return Confirmation(
            title="Drop this message?",
            says="It goes for good. Whoever wrote it gets no answer, and isn't told.",
            button="Drop it",
            back=await self._back(form),
            quotes=(shorten(message.text, QUOTED_CHARS),) if message.text else (),
            dangerous=True,
        )

    async def _drop_turn(self, form: Form) -> Done:
        message = await self._failed(form)
        await self._bot.services.db.write(await decided(self._bot.services, message.turn_id, "inbox_skip"))
        return Done(await self._back(form), "dropped")

    async def _failed(self, form: Form) -> FailedMessage:
        """Return the message that a form names. Raises OpsError when it does not wait any more."""
        turn_id = form.get("turn_id", "")
        found = next((each for each in await list_failed(self._bot.services.db) if each.turn_id == turn_id), None)
        if found is None:
            raise OpsError("this message doesn't wait any more; somebody was first")
        return found

    async def _back(self, form: Form) -> str:
        """Return the page that a form came from: of a session that is there, else that of failures."""
        session_id = form.get("back", "")
        there = session_id and await self._bot.services.memory.store.session(session_id)
        return f"sessions/{session_id}" if there else "set-aside"

    async def _retry(self, form: Form) -> Done:
        for each in await quarantine.retry(self._bot.workspace(), _number(form, "update_id")):
            await self._bot.replay(each.update_id)
        return Done(await self._back(form), "retried")

    async def _ask_drop(self, form: Form) -> Confirmation:
        update_id = _number(form, "update_id")
        return Confirmation(
            title="Drop this message?",
            says=f"Update {update_id} goes for good, and its text with it. Whoever wrote it gets no answer.",
            button="Drop it",
            back=await self._back(form),
            dangerous=True,
        )

    async def _drop(self, form: Form) -> Done:
        await quarantine.drop(self._bot.workspace(), _number(form, "update_id"))
        return Done(await self._back(form), "dropped")

    async def _retry_part(self, form: Form) -> Done:
        part = await quarantine.retry_part(self._bot.workspace(), form.get("part_id", ""))
        await self._bot.services.delivery.reachable(part.bot_id, part.chat_id)
        self._bot.services.delivery.deliver([part])
        return Done(await self._back(form), "sent")

    async def _ask_drop_part(self, form: Form) -> Confirmation:
        ref, parts = form.get("part_id", ""), await quarantine.list_failed_parts(self._bot.workspace())
        one = next((each for each in parts if each.part.part_id == ref), None)
        if one is None:
            raise OpsError(
                f"there is no unsent part '{ref}' in this conversation; look again, it may have ended meanwhile"
            )
        return Confirmation(
            title="Drop this part of an answer?",
            says="It goes for good. The turn it belongs to stays.",
            button="Drop it",
            back=await self._back(form),
            quotes=(shorten(one.part.text, QUOTED_CHARS),),
            dangerous=True,
        )

    async def _drop_part(self, form: Form) -> Done:
        await quarantine.drop_part(self._bot.workspace(), form.get("part_id", ""))
        return Done(await self._back(form), "dropped")

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

    # --- tools ------------------------------------------------------------------------------------------------------

    async def _tool_off(self, form: Form) -> Done:
        services = self._bot.services
        await services.db.write(services.shelf.choices.choose(EVERYBODY, "off", name=_name(form)))
        return Done("tools", "switched_off")

    async def _tool_on(self, form: Form) -> Done:
        services = self._bot.services
        await services.db.write(services.shelf.choices.forget(EVERYBODY, _name(form)))
        return Done("tools", "switched_on")

    # --- owner and names --------------------------------------------------------------------------------------------

    async def _owner(self, form: Form) -> tuple[str, BootstrapOwner]:
        row = await session_row(self._bot, form.get("session_id", ""))
        if row.user_id is None:
            raise OpsError("nobody is known to have opened this session")
        return row.session_id, await self._bot.continuity_gate.carried.owner(row.conversation_id, row.user_id)


def _name(form: Form) -> str:
    """Return the name of a tool, or of a server behind `server:`. Raises OpsError."""
    name = form.get("name", "")
    if not name or len(name) > NAME_CHARS:
        raise OpsError("no tool is named")
    return name


def _number(form: Form, name: str) -> int:
    value = form.get(name, "")
    if not (value.isascii() and value.isdecimal()):
        raise OpsError(f"{name} takes a number")
    return int(value)
