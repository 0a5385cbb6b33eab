"""/forget: a fact, the last message, this conversation, or everything; asked once more, done, and proven (P13)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import structlog

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage, Part, Target
from bot.features.memories import Memories, holding
from bot.intake.updates import Envelope
from bot.turns.feature import Action, Command, Tap
from bot.turns.lanes import Lanes
from bot.turns.listing import listed_last
from bot.turns.services import Services
from bot.turns.turn import Turns
from memory.errors import Conflict, StorageUnavailable
from memory.ledger.types import Note
from memory.ledger.views import best_first, standing
from memory.ports import Row, Statement
from memory.privacy.forget import Echo, Foreseen, Forgetter, Proof
from memory.privacy.plan import ForgetCounts, ForgetRequest
from memory.state.listed import picked, places_in
from memory.types import ListedItem

log = structlog.get_logger(__name__)

LISTED = 8
SHORT_CHARS = 2
FOUND_MOST = 200
QUOTED_CHARS = 140
FLUSH_S = 3.0
BUTTONS_A_ROW = 4
QUOTED_ECHOES = 3
SCOPES = {"last": "last", "turn": "last", "session": "session", "everything": "everything", "all": "everything"}
STOPPING = ("session", "everything")
"""An answer that is being made is stopped before these."""


# --- pure -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ForgetMatch:
    """A note or a turn that holds the words that were asked for."""

    payload: dict[str, list[str]]
    line: str


def menu() -> OutgoingMessage:
    """Return what can be forgotten, as buttons."""
    choices = (
        (replies.say("forget_last"), "last"),
        (replies.say("forget_session"), "session"),
        (replies.say("forget_all"), "everything"),
    )
    rows = [(Button(label, "forget_ask", {"what": what}),) for label, what in choices]
    return OutgoingMessage(
        replies.say("forget_menu"), buttons=(*rows, (Button(replies.say("never_mind"), "forget_no"),))
    )


def question(what: str, payload: Mapping[str, Any], foreseen: Foreseen, *, private: bool) -> OutgoingMessage:
    """Return the question before anything is forgotten, with what would go: nothing is confirmed unseen.

    The answer's button carries ids alone, never words. Of a note alone the messages stay, unless they are asked for.
    """
    table = "forget_ask" if private else "forget_ask_group"
    yes = Button(replies.say("forget_yes"), "forget_yes", payload)
    more = Button(replies.say("forget_messages_too"), "forget_ask", {**payload, "messages_too": True})
    buttons = (*([more] if what == "notes" else ()), yes, Button(replies.say("never_mind"), "forget_no"))
    parts = (replies.say(f"{table}.{what}"), goes_text(foreseen, counted=what in STOPPING))
    final = replies.say("forget_final" if what in STOPPING else "forget_final_notes")
    return OutgoingMessage("\n\n".join((*parts, final)), buttons=(buttons,))


def goes_text(foreseen: Foreseen, *, counted: bool = False) -> str:
    """Return what would go, line by line, or how much of a whole conversation."""
    if counted:
        return replies.say("forget_goes_counted", what=counts_text(foreseen.counts))
    goes = (
        ("forget_goes_said", foreseen.said),
        ("forget_goes_note", foreseen.notes),
        ("forget_goes_reminder", foreseen.reminders),
    )
    lines = [replies.say(line, text=replies.shorten(text, QUOTED_CHARS)) for line, texts in goes for text in texts]
    more = [replies.say("forget_goes_more", count=len(lines) - LISTED)] if len(lines) > LISTED else []
    return "\n".join([replies.say("forget_goes_head"), *lines[:LISTED], *more])


def payload_of(items: Sequence[ListedItem]) -> dict[str, list[str]]:
    """Return what forgets these lines of a list: notes by their ids."""
    return {"note_ids": list(dict.fromkeys(item.ref for item in items))}


def found_list(words: str, found: Sequence[ForgetMatch]) -> OutgoingMessage:
    """Return what holds the words, with a button for each of the first eight and one for all of it."""
    lines = [replies.say("forget_found", words=words)]
    lines += [f"{number}. {each.line}" for number, each in enumerate(found[:LISTED], 1)]
    if len(found) > LISTED:
        lines.append(replies.say("forget_found_more", count=len(found) - LISTED))
    single = [
        Button(replies.say("forget_number", number=number), "forget_ask", each.payload)
        for number, each in enumerate(found[:LISTED], 1)
    ]
    rows = [tuple(single[at : at + BUTTONS_A_ROW]) for at in range(0, len(single), BUTTONS_A_ROW)]
    if len(found) > 1:
        together: dict[str, list[str]] = {}
        for each in found:
            for name, ids in each.payload.items():
                together.setdefault(name, []).extend(ids)
        rows.append((Button(replies.say("forget_all_found", count=len(found)), "forget_ask", together),))
    rows.append((Button(replies.say("never_mind"), "forget_no"),))
    return OutgoingMessage("\n".join(lines), buttons=tuple(rows))


def found_in(notes: Sequence[Note], turns: Sequence[Row], words: str) -> list[ForgetMatch]:
    """Return notes first, then turns, each with one line around the words."""
    noted = [ForgetMatch({"note_ids": [note.note_id]}, replies.shorten(note.text, QUOTED_CHARS)) for note in notes]
    said = [
        ForgetMatch({"turn_ids": [row["turn_id"]]}, replies.say("forget_said", text=_said(row, words))) for row in turns
    ]
    return noted + said


def _said(row: Row, words: str) -> str:
    text = row["user_text"] if words.casefold() in row["user_text"].casefold() else row["assistant_text"]
    return _around(text, words)


def _around(text: str, words: str) -> str:
    """Return the words with what stands around them, on one line."""
    at = text.casefold().find(words.casefold())
    start = max(0, at - QUOTED_CHARS // 3)
    return ("…" if start else "") + replies.shorten(text[start:], QUOTED_CHARS)


def says_all(row: Row, words: str) -> bool:
    """Tell whether a message or its answer holds all of the words."""
    said = f"{row['user_text']}\n{row['assistant_text']}".casefold()
    return all(word in said for word in words.casefold().split())


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[^\W_]+", text.casefold()) if len(word) > SHORT_CHARS or word.isdigit()}


def request_of(payload: Mapping[str, Any], conversation_id: str, user_id: int | None) -> ForgetRequest:
    """Return what a confirmed button asks for; `user_id` restricts it to what one person said (groups)."""
    return ForgetRequest(
        conversation_id,
        turn_ids=tuple(payload.get("turn_ids", ())),
        note_ids=tuple(payload.get("note_ids", ())),
        messages_too=bool(payload.get("messages_too")),
        session_ids=tuple(payload.get("session_ids", ())),
        everything=payload.get("what") == "everything",
        user_id=user_id,
    )


def counts_text(counts: ForgetCounts) -> str:
    """Return `12 messages and their answers, 3 notes, 1 summary`."""
    named = (
        (counts.turns, "forgotten_turn"),
        (counts.notes, "note"),
        (counts.summaries, "summary"),
        (counts.jobs, "reminder"),
    )
    beside = ((count, word) for word, count in counts.beside.items())
    parts = [replies.counted(count, word) for count, word in (*named, *beside) if count]
    return ", ".join(parts) if parts else replies.say("forgotten_nothing")


def report_text(counts: ForgetCounts, proof: Proof | None = None, *, log_emptied: bool = True) -> str:
    """Return the report: how much was forgotten, and what the look into the files found."""
    text = replies.say("forgotten", what=counts_text(counts))
    if proof is None:
        return f"{text}\n{replies.say('forgotten_looking')}"
    files = replies.counted(proof.files, "file")
    if proof.set_aside:
        text += "\n" + replies.say("forgotten_aside", names=", ".join(proof.set_aside))
    if proof.found is None:
        return f"{text}\n{replies.say('forgotten_unknown')}"
    if proof.found or not log_emptied:
        return f"{text}\n{replies.say('forgotten_traces')}"
    return f"{text}\n{replies.say('forgotten_proven', files=files)}"


def with_echoes(report: OutgoingMessage, echoes: Sequence[Echo]) -> OutgoingMessage:
    """Return the report with the answers that still repeat what was forgotten, and the offer to forget those too."""
    if not echoes:
        return report
    quoted = [replies.say("quoted", text=_around(each.text, min(each.words))) for each in echoes[:QUOTED_ECHOES]]
    count = replies.counted(len(echoes), "answer")
    text = "\n".join([report.text, "", replies.say("forgotten_echoes", count=count), *quoted])
    payload = {"turn_ids": [each.turn_id for each in echoes[:FOUND_MOST]]}
    return replace(report, text=text, buttons=((Button(replies.say("forget_those_too"), "forget_ask", payload),),))


# --- feature --------------------------------------------------------------------------------------------------------


class Forgetting:
    """Asks, forgets in the conversation's own lane (no turn is under way there), looks into the files, and says so."""

    def __init__(
        self, services: Services, forgetter: Forgetter, turns: Turns, lanes: Lanes, memories: Memories
    ) -> None:
        self._services = services
        self._memories = memories
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
        """Show what can be forgotten: the menu, the question about one thing, or what holds some words.

        A number alone is a line of the list that was shown last.
        """
        words = envelope.arguments
        what = SCOPES.get(words.lower())
        places = places_in(words)
        items = await listed_last(self._services, envelope.conversation_id) if places else ()
        if not words:
            message = menu()
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
        return await self._question(envelope, payload_of(chosen))

    async def _found(self, envelope: Envelope, words: str) -> OutgoingMessage:
        services = self._services
        whose = {
            "conversation_id": envelope.conversation_id,
            "user_id": None if envelope.private else envelope.user_id,
            "words": words.lower(),
            "written": words,
            "titled": words[:1].upper() + words[1:],
            "limit": FOUND_MOST,
        }
        ledger = await services.memory.ledgers.read(envelope.conversation_id)
        mine = [note for note in standing(ledger) if envelope.private or note.user_id == envelope.user_id]
        notes = holding(best_first(mine, services.clock.now_ms()), words)
        turns = await services.db.read("turns_with", **whose) or await self._saying(envelope, notes, words)
        found = found_in(notes, turns, words) or await self._related(envelope, words)
        quoted = replies.shorten(words, 60)
        return found_list(quoted, found) if found else OutgoingMessage(replies.say("forget_not_found", words=quoted))

    async def _saying(self, envelope: Envelope, notes: Sequence[Note], words: str) -> list[Row]:
        """Return the messages that say all of the words in another order: what these notes rest on, what is found."""
        ids = [turn_id for note in notes for turn_id in note.turn_ids]
        turns: list[Row] = []
        for turn_id in dict.fromkeys([*ids, *await self._memories.related(envelope.conversation_id, words)]):
            row = await self._services.db.read_one("get_turn", turn_id=turn_id)
            if row and (envelope.private or row["user_id"] == envelope.user_id) and says_all(row, words):
                turns.append(row)
        return turns

    async def _related(self, envelope: Envelope, words: str) -> list[ForgetMatch]:
        """Return the messages that the search finds of the same meaning, when nothing holds the words themselves."""
        turns: list[Row] = []
        for turn_id in (await self._memories.related(envelope.conversation_id, words))[:LISTED]:
            row = await self._services.db.read_one("get_turn", turn_id=turn_id)
            if row and (envelope.private or row["user_id"] == envelope.user_id):
                turns.append(row)
        return found_in([], turns, words)

    async def _question(self, envelope: Envelope, payload: Mapping[str, Any]) -> OutgoingMessage:
        """Return the question, with the ids of what was meant fixed at this moment."""
        alone = bool(payload.get("note_ids")) and not (payload.get("messages_too") or payload.get("turn_ids"))
        what = payload.get("what", "notes" if alone else "found")
        if what in {"everything", "found", "notes"}:
            return await self._asked(envelope, what, payload)
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

    async def _asked(self, envelope: Envelope, what: str, payload: Mapping[str, Any]) -> OutgoingMessage:
        """Return the question with what would go; when nothing would any more, that."""
        whose = None if envelope.private else envelope.user_id
        foreseen = await self._forgetter.foresee(request_of(payload, envelope.conversation_id, whose))
        if not any((foreseen.counts.turns, foreseen.counts.notes, foreseen.counts.jobs)):
            return OutgoingMessage(
                replies.say("forget_nothing_here") if what == "everything" else replies.say("forget_gone")
            )
        return question(what, payload, foreseen, private=envelope.private)

    async def _ask(self, tap: Tap) -> bool:
        message = await self._question(tap.envelope, await self._with_details(tap.envelope, tap.payload))
        message = replace(message, edits_message_id=tap.envelope.message_id)
        await self._services.committer.done([tap.envelope], [message], tap.use)
        return bool(message.buttons)

    async def _with_details(self, envelope: Envelope, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with those messages behind a detail that name it; the button carries no words."""
        ledger = await self._services.memory.ledgers.read(envelope.conversation_id)
        turn_ids = list(payload.get("turn_ids", ()))
        for old_id, new_id in payload.get("details", {}).items():
            old, new = ledger.by_id(old_id), ledger.by_id(new_id)
            words = _words(old.text if old else "") - _words(new.text if new else "")
            for turn_id in old.turn_ids if old else ():
                row = await self._services.db.read_one("get_turn", turn_id=turn_id)
                if row and words & (_words(row["user_text"]) | _words(row["assistant_text"])):
                    turn_ids.append(turn_id)
        kept = {name: value for name, value in payload.items() if name != "details"}
        return kept | ({"turn_ids": turn_ids} if "turn_ids" in payload else {})

    async def _no(self, tap: Tap) -> None:
        message = OutgoingMessage(replies.say("forget_kept"), edits_message_id=tap.envelope.message_id)
        await self._services.committer.done([tap.envelope], [message], tap.use)

    async def _yes(self, tap: Tap) -> None:
        """Let the tap take its turn in the lane. A crash before that: the tap is replayed like any other update."""
        if tap.payload.get("what") in STOPPING:
            self._turns.stop(tap.envelope.conversation_id)
        self._lanes.submit(tap.envelope, partial(self._forget_now, tap))

    async def _forget_now(self, tap: Tap, envelope: Envelope) -> None:
        """Do what was confirmed: one transaction with the button's use, then the look into the files, then the report.

        After a crash the tap is replayed and all of it is done again, which does no harm; once the transaction is
        stored only the second half of the report is missing. A file or a disk that refuses is said, and nothing is
        forgotten then. Raises StorageUnavailable when that cannot be written down either.
        """
        try:
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

        request = request_of(tap.payload, envelope.conversation_id, None if envelope.private else envelope.user_id)
        first = [tap.use, services.inbox.done(envelope)]
        done = await services.committer.until_stored(lambda: self._forgetter.forget(request, first=first, last=report))
        services.delivery.deliver(parts)
        services.reminders.look()
        await services.files.shelf.sweep_or_later()
        proof = await self._forgetter.prove(done)
        text = report_text(done.counts, proof, log_emptied=done.log_emptied)
        message = with_echoes(OutgoingMessage(text, edits_message_id=shown), await self._forgetter.echoes(done))
        await services.committer.write(target, [message])
