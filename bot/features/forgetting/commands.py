"""/forget: a fact, the last message, this conversation, or everything; asked once more, done, and proven (P13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import structlog

from bot import replies
from bot.delivery.outbox import OutgoingMessage, Part, Target
from bot.features.forgetting.texts import (
    FOUND_MOST,
    OF_ALL,
    OF_GROUP,
    STOPPING,
    found_in,
    found_list,
    menu,
    payload_of,
    question,
    report_text,
    request_of,
    with_echoes,
)
from bot.features.memories import holding
from bot.intake.updates import Envelope, earlier_key
from bot.turns.feature import Action, Command, Tap
from bot.turns.lanes import Lanes
from bot.turns.listing import listed_last
from bot.turns.services import Services
from bot.turns.turn import Turns
from memory.errors import Conflict, StorageUnavailable
from memory.ledger.types import Note
from memory.ledger.views import best_first, standing
from memory.ports import Row, Statement
from memory.privacy.cutting import word_keys
from memory.privacy.forget import Forgetter
from memory.privacy.plan import ForgetCounts
from memory.search.query import Query
from memory.search.same_words import asked_words, held, telling_forms
from memory.state.listed import picked, places_in
from memory.text import shorten
from memory.types import ListedItem

log = structlog.get_logger(__name__)

FLUSH_S = 3.0
AS_OF = "as_of"
"""In a button's payload: the version of the notes that the question showed."""
SCOPES = {"last": "last", "turn": "last", "session": "session", "everything": "everything", "all": "everything"}


class Forgetting:
    """Asks, forgets in the conversation's own lane (no turn is under way there), looks into the files, and says so."""

    def __init__(self, services: Services, forgetter: Forgetter, turns: Turns, lanes: Lanes) -> None:
        self._services = services
        self._forgetter = forgetter
        self._turns = turns
        self._lanes = lanes
        self.commands: dict[str, Command] = {"forget": self.forget}
        self.actions: dict[str, Action] = {
            "forget_ask": self._ask,
            "forget_yes": self._yes,
            "forget_no": self._no,
        }

    async def forget(self, envelope: Envelope) -> None:
        """Show the things that can be forgotten: the menu, the question about one thing, or the finds for some words.

        A number alone is a line of the list that was shown last.
        """
        words = envelope.arguments
        what = SCOPES.get(words.lower())
        of_group = words.lower() == OF_GROUP and not envelope.private
        places = places_in(words)
        items = await listed_last(self._services, envelope.conversation_id) if places else ()
        if not words:
            message = menu()
        elif of_group and not await self._leads(envelope):
            message = OutgoingMessage(replies.say("group_admins_only"))
        elif of_group:
            message = await self._asked(envelope, OF_GROUP, {"what": "everything", OF_ALL: True})
        elif what:
            message = await self._question(envelope, {"what": what})
        elif items:
            message = await self._listed(envelope, items, places)
        else:
            message = await self._found(envelope, words)
        await self._services.committer.done([envelope], [message])

    async def _listed(self, envelope: Envelope, items: Sequence[ListedItem], places: Sequence[int]) -> OutgoingMessage:
        """Return the question about lines of the list that was shown last, or why they cannot be forgotten."""
        off = next((place for place in places if not 0 < place <= len(items)), None)
        if off is not None:
            return OutgoingMessage(replies.say("forget_not_on_list", number=off))
        chosen = picked(items, places)
        for place, item in zip(places, chosen, strict=True):
            if not item.ref:
                return OutgoingMessage(replies.say("forget_not_on_list", number=place))
        of_all = {OF_ALL: True} if await self._leads(envelope) else {}
        return await self._question(envelope, {**payload_of(chosen), **of_all})

    async def _found(self, envelope: Envelope, words: str) -> OutgoingMessage:
        services, leads = self._services, await self._leads(envelope)
        by = None if envelope.private or leads else envelope.user_id
        whose = {
            "conversation_id": envelope.conversation_id,
            "user_id": by,
            "words": words.lower(),
            "written": words,
            "titled": words[:1].upper() + words[1:],
            "limit": FOUND_MOST,
        }
        ledger = await services.memory.ledgers.read(envelope.conversation_id)
        mine = [note for note in standing(ledger) if by in (None, note.user_id)]
        now_ms = services.clock.now_ms()
        zone = (await services.people.clock(envelope.conversation_id, envelope.user_id)).name
        notes = best_first(mine, now_ms)
        turns = await self._turns_for(holding(notes, words, now_ms, zone), words, whose, by)
        found = found_in(notes, turns, words, now_ms, zone)[:FOUND_MOST]
        quoted = shorten(words, 60)
        if not found:
            return OutgoingMessage(replies.say("forget_not_found", words=quoted))
        keys = word_keys(envelope.conversation_id, asked_words(words).values())
        return found_list(quoted, found, keys, of_all=leads)

    async def _turns_for(
        self, notes: Sequence[Note], words: str, whose: Mapping[str, Any], by: int | None
    ) -> list[Row]:
        """Return the messages that may hold the words, newest first: literally, or found by a search, or by a note."""
        services = self._services
        query = Query(whose["conversation_id"], words, limit=FOUND_MOST, now_ms=services.clock.now_ms())
        found = [item.ref for item in await services.memory.searcher.search(query) if item.source == "turn"]
        rest_on = [turn_id for note in notes for turn_id in note.turn_ids]
        rows = [*await services.db.read("turns_with", **whose), *await self._said_by([*rest_on, *found], by)]
        return list({row["turn_id"]: row for row in rows}.values())

    async def _said_by(self, turn_ids: Iterable[str], by: int | None) -> list[Row]:
        """Return these turns, of one person alone unless `by` is None."""
        reads = (Statement("get_turn", {"turn_id": each}) for each in dict.fromkeys(turn_ids))
        found = await self._services.db.read_all(*reads)
        return [row for rows in found for row in rows if by in (None, row["user_id"])]

    async def _question(
        self, envelope: Envelope, payload: Mapping[str, Any], *, is_rest: bool = False
    ) -> OutgoingMessage:
        """Return the question, with the ids of its turns and notes fixed at this moment."""
        alone = bool(payload.get("note_ids")) and not (payload.get("messages_too") or payload.get("turn_ids"))
        what = payload.get("what", "notes" if alone and not is_rest else "found")
        if what in {"everything", "found", "notes"}:
            return await self._asked(envelope, what, payload, is_rest=is_rest)
        current = await self._services.memory.recorder.current(envelope.conversation_id)
        if current is None or not current.turn_count:
            return OutgoingMessage(replies.say("forget_nothing_here"))
        if what == "session":
            return await self._asked(envelope, what, {"what": what, "session_ids": [current.session_id]})
        turns = await self._services.memory.recorder.recent_turns(current.session_id)
        mine = [turn for turn in turns if envelope.private or turn.user_id == envelope.user_id]
        if not mine:
            return OutgoingMessage(replies.say("forget_nothing_here"))
        return await self._asked(envelope, what, {"what": what, "turn_ids": [mine[-1].turn_id]})

    async def _asked(
        self, envelope: Envelope, what: str, payload: Mapping[str, Any], *, is_rest: bool = False
    ) -> OutgoingMessage:
        """Return the question with the counts of things to go; the word that nothing is left where all are 0."""
        whose = await self._whose(envelope, payload)
        foreseen = await self._forgetter.foresee(request_of(payload, envelope.conversation_id, whose))
        counts = foreseen.counts
        if not any((counts.turns, counts.parts, counts.notes, counts.jobs)):
            return OutgoingMessage(replies.say("forget_nothing_here" if what == "everything" else "forget_gone"))
        if payload.get("note_ids"):
            ledger = await self._services.memory.ledgers.read(envelope.conversation_id)
            payload = {**payload, AS_OF: ledger.version}
        return question(what, payload, foreseen, private=envelope.private, is_rest=is_rest)

    async def _asked_anew(self, tap: Tap) -> OutgoingMessage | None:
        """Return the question once more where a note of it says something else by now: nothing goes unseen."""
        note_ids, here = tap.payload.get("note_ids", ()), tap.envelope.conversation_id
        if not note_ids or AS_OF not in tap.payload:
            return None
        changes = await self._services.memory.ledgers.since(here, tap.payload[AS_OF])
        if not any(each.note_id in note_ids and each.verb == "change" and "text" in each.after for each in changes):
            return None
        asked = await self._question(tap.envelope, tap.payload)
        text = f"{replies.say('forget_changed')}\n{asked.text}" if asked.buttons else asked.text
        return replace(asked, text=text, edits_message_id=tap.envelope.message_id)

    async def _leads(self, envelope: Envelope) -> bool:
        """Return whether somebody is an admin of the group they write in; Telegram is asked."""
        return await self._services.groups.members.leads(envelope.conversation_id, envelope.user_id)

    async def _whose(self, envelope: Envelope, payload: Mapping[str, Any]) -> int | None:
        """Return whose words may go: in a group one's own; everybody's (None) where one of its admins meant that."""
        if envelope.private or (payload.get(OF_ALL) and await self._leads(envelope)):
            return None
        return envelope.user_id

    async def _ask(self, tap: Tap) -> bool:
        """Ask in the place of the list or question that was tapped; under an answer, which stays, as a new message."""
        is_rest = "details" in tap.payload
        payload = await self._with_details(tap.envelope, tap.payload)
        message = await self._question(tap.envelope, payload, is_rest=is_rest)
        if not is_rest:
            message = replace(message, edits_message_id=tap.envelope.message_id)
        await self._services.committer.done([tap.envelope], [message], tap.use)
        return bool(message.buttons) and not is_rest

    async def _with_details(self, envelope: Envelope, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with those messages behind a detail that name it; the button carries no words."""
        ledger = await self._services.memory.ledgers.read(envelope.conversation_id)
        turn_ids = list(payload.get("turn_ids", ()))
        for old_id, new_id in payload.get("details", {}).items():
            old, new = ledger.by_id(old_id), ledger.by_id(new_id)
            words = telling_forms(old.text if old else "")
            for word in held(words, new.text if new else ""):
                del words[word]
            for turn_id in old.turn_ids if old else ():
                row = await self._services.db.read_one("get_turn", turn_id=turn_id)
                if row and held(words, f"{row['user_text']}\n{row['assistant_text']}"):
                    turn_ids.append(turn_id)
        kept = {name: value for name, value in payload.items() if name != "details"}
        standing_for = list(payload.get("details", {}).values())
        kept |= {"kept_ids": standing_for} if standing_for else {}
        return kept | ({"turn_ids": turn_ids} if "turn_ids" in payload else {})

    async def _no(self, tap: Tap) -> None:
        text = replies.say("forget_kept_messages" if tap.payload.get("is_rest") else "forget_kept")
        message = OutgoingMessage(text, edits_message_id=tap.envelope.message_id)
        await self._services.committer.done([tap.envelope], [message], tap.use)

    async def _yes(self, tap: Tap) -> None:
        """Let the tap take its turn in the lane. A crash before that: the tap is replayed like any other update."""
        if tap.payload.get("what") in STOPPING:
            self._turns.answers.stop(tap.envelope.conversation_id)
        self._lanes.submit(tap.envelope, partial(self._forget_now, tap))

    async def _forget_now(self, tap: Tap, envelope: Envelope) -> None:
        """Forget as confirmed: one transaction with the button's use, then the look into the files, then the report.

        After a crash the tap is replayed and all of it is done again, which does no harm; once the transaction is
        stored only the second half of the report is missing. A file or a disk that refuses is said, and nothing is
        forgotten then. Raises StorageUnavailable when that cannot be written down either.
        """
        try:
            if anew := await self._asked_anew(tap):
                await self._services.committer.done([envelope], [anew], tap.use)
                return
            await self._do(tap)
        except Conflict:
            await self._services.committer.done([envelope], [])
        except StorageUnavailable as exc:
            log.error("nothing was forgotten", error=str(exc))  # noqa: TRY400 - expected, it says what to do
            message = OutgoingMessage(replies.say("forget_refused"), edits_message_id=envelope.message_id)
            await self._services.committer.done([envelope], [message], tap.use)

    async def _do(self, tap: Tap) -> None:
        services, envelope = self._services, tap.envelope
        target, shown = Target.of(envelope), envelope.message_id
        await services.delivery.flush(FLUSH_S)
        parts: list[Part] = []

        def report(counts: ForgetCounts) -> list[Statement]:
            message = OutgoingMessage(report_text(counts), edits_message_id=shown)
            parts[:], rows = services.committer.compose(target, [message])
            return rows

        whose = await self._whose(envelope, tap.payload)
        request = request_of(tap.payload, envelope.conversation_id, whose)
        before = earlier_key(services.me, envelope.chat_id)
        if before and request.everything:  # first: a crash behind it lets the tap do the rest
            at_first = replace(request, conversation_id=before)
            await services.committer.until_stored(lambda: self._forgetter.forget(at_first))
        first = [tap.use, services.inbox.done(envelope)]
        done = await services.committer.until_stored(lambda: self._forgetter.forget(request, first=first, last=report))
        services.delivery.deliver(parts)
        services.reminders.look()
        await services.files.shelf.sweep_or_later()
        proof = await self._forgetter.prove(done)
        echoes = await self._forgetter.echoes(done)
        stay, is_echoed = bool(done.resting), bool(echoes)
        text = report_text(done.counts, proof, log_emptied=done.log_emptied, messages_stay=stay, is_echoed=is_echoed)
        message = with_echoes(OutgoingMessage(text, edits_message_id=shown), echoes)
        await services.committer.write(target, [message])
