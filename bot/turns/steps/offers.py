"""The offers under edited messages: what they say of the notes, while a keeper reads the edit and after it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
import structlog

from bot import replies
from bot.delivery.outbox import OutgoingMessage, Target
from bot.intake.updates import Envelope
from bot.lines import name_of, note_line
from bot.turns.services import Services
from memory.errors import StorageError
from memory.ledger.types import Applied, Ledger, Note, NoteChange, Outcome
from memory.ports import Row, Statement

TAKEN_UP: Final = "taken_up"
"""Marks an offer that a later answer took from the screen."""
LOOKS_SINCE: Final = "looks_since"
"""Marks an offer that says that the bot is looking, with the version of the notes before it looked."""
EDITED_SINCE: Final = "edited_since"
"""The version of the notes before the first edit that an offer is about."""
BARE: Final = frozenset({"turn_ids", "version"})
"""Fields of a note that say nothing of its matter."""
SILENT: Final = BARE | {"doubtful"}
"""Fields of a note whose change nobody is told of."""
ENDED: Final = {"done": "reminder_done_text", "dropped": "loop_dropped", "replaced": "loop_dropped"}
"""The sentence on a note that is over, by its status."""
SHOWN_NOTES: Final = 5
FLUSH_S: Final = 10.0
AGAIN_S: Final = 10.0
"""So long until an offer that could not be put right is looked at again."""

log = structlog.get_logger(__name__)


def settled_notes(
    after: Ledger, turn_id: str, changes: Sequence[NoteChange], outcomes: Sequence[Outcome]
) -> list[Note]:
    """The notes on an edited message that came into doubt or changed since, as an answer with these outcomes has them.

    Where it ended one, those that it noted instead are named, too.
    """
    own = {note.number for note in after if turn_id in note.turn_ids}
    made = [change for each in outcomes if isinstance(each, Applied) for change in each.changes]
    touched = dict.fromkeys(each.number for each in (*changes, *made) if each.after.keys() - BARE)
    notes = [note for number in touched if number in own and (note := after.find(number))]
    if all(note.is_open for note in notes):
        return notes
    new = dict.fromkeys(each.number for each in made if each.number not in own)
    named = (*(note for note in notes if note.status != "replaced"), *map(after.find, new))
    return [note for note in named if note and (note.is_open or note.number in own)]


class Offers:
    """Tells in offers how the notes stand. One that is looking says so durably: whoever dies, it is put right."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def begun(self, target: Target, notes: Sequence[Note]) -> tuple[str, dict[str, Any]]:
        """The words of an offer after an edit, and its button's marks; one while a keeper reads behind these notes."""
        services = self._services
        version = (await services.memory.ledgers.read(target.conversation_id)).version
        if not notes or not services.memory.keeper.is_on:
            return await self._in_doubt(target, notes), {EDITED_SINCE: version}
        said = replies.say("edited_looking", notes=await self._lines(target, _as_said(notes)))
        return said, {EDITED_SINCE: version, LOOKS_SINCE: version}

    async def taken_up(
        self, target: Target, meant: Mapping[str, Any], after: Ledger, outcomes: Sequence[Outcome]
    ) -> str:
        """The last words of an offer, once an answer with these outcomes has read the edit: the notes as they stand."""
        version, notes = meant.get(EDITED_SINCE), list[Note]()
        if version is not None:
            changes = await self._services.memory.ledgers.since(target.conversation_id, version)
            notes = settled_notes(after, meant["replaces"], changes, outcomes)
        if not notes:
            return replies.say("edited_taken_up")
        return replies.say("edited_now", notes=await self._lines(target, notes))

    async def put_right(self, edit: Envelope, turn_id: str, offered: str) -> None:
        """Let the keeper read an edit at once where notes rest on it, and tell in the offer how they stand then.

        Where nothing came of the reading, that they are as before. An offer that was tapped stays unchanged, also while
        its tap is worked on, and one that a later answer took from the screen. Never raises.
        """
        services, here, target = self._services, edit.conversation_id, Target.of(edit)
        about = {"message_id": edit.message_id, "user_id": edit.user_id}
        try:
            before = await services.memory.ledgers.read(here)
            if any(note.is_open and turn_id in note.turn_ids for note in before):
                await services.memory.keeper.read_now(here)
            await services.delivery.flush(FLUSH_S)
            said = await self._became(target, turn_id, before.version)
            if said != offered:
                for row in await services.db.read("offers_on_screen", conversation_id=here):
                    if about.items() <= orjson.loads(row["payload_json"]).items():
                        await self._rewrite(target, row, said)
        except StorageError as exc:
            log.warning("an offer stays as it was before the keeper read", error=str(exc))
        await self._until_told(here, about)

    async def recover(self) -> None:
        """Put right, behind the start, what an offer still says of a reading that died with its process."""
        for row in await self._services.db.read("conversations_looking"):
            self._services.behind(self._until_told(row["conversation_id"], {}), "offers")

    async def _until_told(self, here: str, about: Mapping[str, Any]) -> None:
        """Put right the offers that still look, those that are on their way once they are there. Never raises."""
        while await self._is_left(here, about):
            await self._services.pauses.rest(AGAIN_S)

    async def _is_left(self, here: str, about: Mapping[str, Any]) -> bool:
        """Put right the offers that still look and are on the screen; whether others may follow."""
        left = False
        try:
            for row in await self._services.db.read("offers_looking", conversation_id=here):
                meant = orjson.loads(row["payload_json"])
                if not about.items() <= meant.items() or meant.get(TAKEN_UP):
                    continue
                if row["message_id"] is None:
                    left = True
                    continue
                target = Target(row["bot_id"], here, row["chat_id"], row["thread_id"], row["user_id"])
                with replies.speaking(await self._services.people.language(here, row["user_id"])):
                    said = await self._became(target, meant["replaces"], meant[LOOKS_SINCE])
                    await self._rewrite(target, row, said)
        except StorageError as exc:
            log.warning("an offer says for longer that the bot is looking", error=str(exc))
            return True
        return left

    async def _rewrite(self, target: Target, row: Row, said: str) -> None:
        """Let an offer on the screen say this, and its mark go in the same transaction, unless its tap waits."""
        services, meant = self._services, orjson.loads(row["payload_json"])
        tap = {"bot_id": target.bot_id, "conversation_id": target.conversation_id, "button_id": row["button_id"]}
        if meant.get(TAKEN_UP) or await services.db.read("inbox_open_taps", **tap):
            return
        keyboard = orjson.loads(row["markup_json"])
        message = OutgoingMessage(said, edits_message_id=row["message_id"], keyboard=keyboard)
        without = orjson.dumps({name: value for name, value in meant.items() if name != LOOKS_SINCE}).decode()
        values = {"button_id": row["button_id"], "payload_json": without, "before_json": row["payload_json"]}
        await services.committer.write(target, [message], Statement("button_looked", values, expect=1))

    async def _became(self, target: Target, turn_id: str, version: int) -> str:
        """The offer's words once a turn's notes were read: with those that the keeper changed, and those in doubt.

        Another note is named when its ring moved along.
        """
        services, here = self._services, target.conversation_id
        ledger, changes = await services.memory.ledgers.read(here), await services.memory.ledgers.since(here, version)
        own = {note.number for note in ledger if turn_id in note.turn_ids}
        kept = [each for each in changes if each.hand == "keeper" and each.after.keys() - SILENT]
        changed = dict.fromkeys(each.number for each in kept if each.number in own or "rings_from" in each.after)
        doubtful = (note.number for note in ledger if note.number in own and note.doubtful and note.is_open)
        notes = [note for number in (changed | dict.fromkeys(doubtful)) if (note := ledger.find(number))]
        if changed:
            return replies.say("edited_noted", notes=await self._lines(target, notes))
        if not notes and (confirmed := [note for note in settled_notes(ledger, turn_id, changes, ()) if note.is_open]):
            return replies.say("edited_now", notes=await self._lines(target, confirmed))
        return await self._in_doubt(target, notes)

    async def _in_doubt(self, target: Target, notes: Sequence[Note]) -> str:
        """The offer's words while these notes are as they were, with what to tap; the bare offer for none."""
        if not notes:
            return replies.say("edited")
        told = await self._lines(target, _as_said(notes))
        return replies.say("edited_doubt", notes=told, button=replies.say("answer_again"))

    async def _lines(self, target: Target, notes: Sequence[Note]) -> str:
        now_ms = self._services.clock.now_ms()
        zone = (await self._services.people.clock(target.conversation_id, target.user_id)).name
        lines = (
            note_line(note, now_ms, zone) if note.is_open else replies.say(ENDED[note.status], title=name_of(note))
            for note in notes[:SHOWN_NOTES]
        )
        return "\n".join(f"• {line}" for line in lines)


def _as_said(notes: Sequence[Note]) -> list[Note]:
    """Notes in doubt without the remark on it, in a sentence that says it itself."""
    return [note.model_copy(update={"doubtful": False}) for note in notes]
