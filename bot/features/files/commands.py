"""/files: what was sent here, what it takes, and a button that deletes each with all that was read, once asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot import replies
from bot.delivery.outbox import SENT_BACK, Button, OutgoingMessage, file_back, text_file
from bot.features.files.deleting import deleted_message
from bot.features.files.names import line_of, name_of, title_of
from bot.files.rows import StoredFile
from bot.intake.updates import Envelope
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services

LISTED: Final = 12
BUTTONS_A_ROW: Final = 2


class FileCommands:
    """Lists and deletes files."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {"files": self.files}
        self.actions: dict[str, Action] = {
            "file_delete": self._ask,
            "file_delete_yes": self._delete,
            "file_keep": self._keep,
            "file_send": self._send,
            "answer_file": self._answer,
        }

    async def files(self, envelope: Envelope) -> None:
        """List the files of the conversation; in a group everybody sees them, and each deletes their own."""
        await self._services.committer.done([envelope], [await self._list(envelope)])

    async def _list(self, envelope: Envelope) -> OutgoingMessage:
        shelf = self._services.files.shelf
        files = await shelf.all(envelope.conversation_id)
        if not files:
            return OutgoingMessage(replies.say("files_none"))
        shown = files[:LISTED]
        lines = [replies.say("files_head"), *[await line_of(self._services, file) for file in shown]]
        if len(files) > LISTED:
            lines.append(replies.say("files_more", count=len(files) - LISTED))
        taken, of = await shelf.kept_bytes(envelope.user_id), shelf.limits.quota_bytes
        lines += ["", replies.say("files_taken", size=replies.size(taken), of=replies.size(of))]
        own = [file for file in shown if envelope.private or file.user_id == envelope.user_id]
        mine = shown if own != shown and await self._leads(envelope) else own
        return OutgoingMessage("\n".join(lines), buttons=_buttons(mine))

    async def _leads(self, envelope: Envelope) -> bool:
        """Return whether somebody is an admin of the group they write in, who may delete everybody's files."""
        return await self._services.groups.members.leads(envelope.conversation_id, envelope.user_id)

    async def _send(self, tap: Tap) -> bool:
        """Send one file back, as Telegram has it; the list stays as it is."""
        services, envelope = self._services, tap.envelope
        file = await services.files.shelf.find(envelope.conversation_id, tap.payload["number"])
        if file is None or file.kind not in SENT_BACK:
            await services.committer.done([envelope], [], tap.use)
            return False
        sent = file_back(file.kind, file.telegram_id, await title_of(services, file) or f"#{file.number}")
        await services.committer.done([envelope], [sent], tap.use)
        return False

    async def _answer(self, tap: Tap) -> bool:
        """Send an answer as a file; its buttons stay, [Undo] among them, and a second tap sends it again."""
        services, envelope = self._services, tap.envelope
        turn = await services.memory.store.turn(tap.payload["turn_id"])
        known = turn is not None and turn.conversation_id == envelope.conversation_id
        sent = [text_file("", turn.assistant_text)] if turn and known else []
        await services.committer.done([envelope], sent, turn_id=tap.payload["turn_id"] if sent else None)
        return True

    async def _deletable(self, tap: Tap) -> StoredFile | None:
        """The file behind a button, while it is there and theirs to delete; else the tap is done."""
        services, envelope = self._services, tap.envelope
        file = await services.files.shelf.find(envelope.conversation_id, tap.payload["number"])
        own = file is not None and (envelope.private or file.user_id == envelope.user_id)
        if file is None or not (own or await self._leads(envelope)):
            await services.committer.done([envelope], [], tap.use)
            return None
        return file

    async def _ask(self, tap: Tap) -> bool:
        """Ask in the place of the list, since nothing brings a file back."""
        file = await self._deletable(tap)
        if file is None:
            return False
        yes = Button(replies.say("file_delete_yes"), "file_delete_yes", tap.payload)
        no = Button(replies.say("never_mind"), "file_keep", {})
        asks = replies.say("file_delete_ask", file=await name_of(self._services, file))
        text = f"{asks} {replies.say('forget_final_notes')}"
        message = OutgoingMessage(text, buttons=((yes, no),), edits_message_id=tap.envelope.message_id)
        await self._services.committer.done([tap.envelope], [message], tap.use)
        return True

    async def _keep(self, tap: Tap) -> bool:
        """Show the list again."""
        message = replace(await self._list(tap.envelope), edits_message_id=tap.envelope.message_id)
        await self._services.committer.done([tap.envelope], [message], tap.use)
        return bool(message.buttons)

    async def _delete(self, tap: Tap) -> bool:
        """Delete one file, with its bytes when nobody else has sent the same; say what stays of it."""
        file = await self._deletable(tap)
        if file is None:
            return False
        services, envelope = self._services, tap.envelope
        message = replace(await deleted_message(services, file), edits_message_id=envelope.message_id)
        gone = services.files.shelf.gone(file)
        await services.committer.done([envelope], [message], tap.use, *gone)
        await services.files.shelf.sweep_or_later()
        return False


def _buttons(files: Sequence[StoredFile]) -> tuple[tuple[Button, ...], ...]:
    """For each file a button that sends it back, and one that deletes it."""
    found: list[Button] = []
    for file in files:
        number = {"number": file.number}
        if file.kind in SENT_BACK and file.state != "expired":
            found.append(Button(replies.say("file_send", **number), "file_send", number))
        found.append(Button(replies.say("file_delete", **number), "file_delete", number))
    rows = range(0, len(found), 2 * BUTTONS_A_ROW)
    return tuple(tuple(found[at : at + 2 * BUTTONS_A_ROW]) for at in rows)
