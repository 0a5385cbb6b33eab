"""/remind, /reminders, /timezone, and the buttons of a reminder: done, in an hour, tomorrow, not this time, cancel."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from bot import replies
from bot.answers.answer_buttons import UNDO_NOTE
from bot.care.care import care
from bot.dates import clock_text, every_text, local, when_text
from bot.delivery.outbox import Button, OutgoingMessage, Target
from bot.features.lists import Group, Listing, by_day, day_of, told_day
from bot.features.shown import Made, View, change_listed, find_note, open_line, say_unchanged, show, turn_page
from bot.intake.updates import Envelope
from bot.lines import name_of, note_line, say_in
from bot.offline.times import SaidTime, moment_in
from bot.people.choices import TIME_ZONE, TimeZone, find_time_zone, group_of
from bot.reminders.ringing import (
    cancelling,
    is_seen_alone,
    list_row,
    occurrence_of,
    operation_for,
    told,
    told_off,
    told_seen,
    told_unchanged,
)
from bot.sentences import base_of
from bot.turns.feature import Action, Command, Tap
from bot.turns.listing import listed_last
from bot.turns.services import Services
from memory.ledger import series
from memory.ledger.apply import apply, folded
from memory.ledger.spans import as_meant
from memory.ledger.types import Actor, Add, Applied, Change, Ledger, Move, Note, Operation, Outcome, Refusal
from memory.ledger.views import ringing, standing, to_ring, waits_for_word
from memory.ports import Statement
from memory.text import shorten

MAX_AHEAD_MS = 10 * 366 * 24 * 3_600_000
MINUTE_MS = 60_000
SHOWN_RINGS = 5
_NUMBER = re.compile(r"\s*(?:#|no\.?|nr\.?)?\s*(\d{1,3})\b[\s.,:)]*")


# --- pure -----------------------------------------------------------------------------------------------------------


"""The moment by whose day a reminder is listed."""


def reminder_list(ledger: Ledger, now_ms: int, zone: str) -> Listing | OutgoingMessage:
    """Notes that ring, by day, behind those that rang and wait for a word; or the sentence that none does."""
    found = ringing(ledger, now_ms)
    if not found:
        return OutgoingMessage(replies.say("reminders_none"))
    waiting = [note for note in found if note.rings_at_ms is None and not note.is_paused]
    when = partial(_day_of, now_ms=now_ms)
    days = by_day(found[len(waiting) :], now_ms, zone, when)
    return Listing(
        head=say_in(ledger.conversation_id, "reminders_head"),
        groups=[Group(replies.say("reminders_rang"), waiting), *days],
        line=lambda note: note_line(
            note,
            now_ms,
            zone,
            under_ms=told_day(note, now_ms, zone, when),
            heading="rang" if note in waiting else "",
            brief=True,
        ),
        button=lambda number, note: Button(str(number), "reminder_open", {"note_id": note.note_id}),
        turns_page="reminders_page",
        foot=replies.say("reminders_foot"),
        row=lambda note: list_row(note, now_ms),
    )


def _day_of(note: Note, now_ms: int) -> int | None:
    """When a note rings; of a series that rang and waits for a word the day for which it did, as on /loops."""
    return day_of(note, now_ms) if note.repeats and waits_for_word(note) else note.rings_at_ms


def set_text(note: Note, now_ms: int, zone: TimeZone) -> str:
    """The sentence about a reminder that was set; with the clock that was taken when nobody chose it."""
    language, title = replies.spoken(), name_of(note)
    when = when_text(note.rings_at_ms or now_ms, now_ms, note.time_zone, language)
    if note.repeats:
        every = every_text(note.repeats, language, now_ms)
        text = say_in(note.conversation_id, "remind_series", every=every, when=when, title=title)
    else:
        text = say_in(note.conversation_id, "remind_set", when=when, title=title)
    return text if zone.chosen else f"{text}\n{replies.say('zone_hint', zone=zone.name)}"


def in_time(moment: SaidTime, now_ms: int, zone: str) -> SaidTime:
    """The time itself; one within this minute ("in 20 seconds") becomes the next minute: notes have no seconds."""
    at_ms = series.at_ms_of(moment.minute(), zone)
    return (
        replace(moment, local=series.local_of(at_ms + MINUTE_MS, zone))
        if at_ms <= now_ms < at_ms + MINUTE_MS
        else moment
    )


def moved_by(note: Note, moment: SaidTime) -> Operation:
    """The operation that gives a reminder another time: of a series the next date alone, unless a new rule was said."""
    if moment.repeats or not note.repeats:
        fields = {"rings_from": moment.minute(), "repeats": moment.repeats, "rings_again_min": ()}
        return Change(number=note.number, fields=fields)
    coming = series.next_ring(note)
    at_ms = series.at_ms_of(moment.minute(), note.time_zone)
    return Move(number=note.number, occurrence=coming[0] if coming else note.rings_from, to_ms=at_ms)


def meant(notes: Sequence[Note], words: str) -> list[Note]:
    """The notes that some words name: the exact text wins, else those that hold the words."""
    plain = folded(words)
    exact = [note for note in notes if folded(note.text) == plain]
    return exact or [note for note in notes if plain and plain in folded(note.text)]


# --- feature --------------------------------------------------------------------------------------------------------


class Reminders:
    """Sets, shows and ends reminders; each change in one transaction with its message."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._view = View("job", self._made)
        self.commands: dict[str, Command] = {
            "remind": self.remind,
            "jobs": self.overview,
            "reminders": self.overview,
            "cancel": partial(self._change, "cancel"),
            "move": partial(self._change, "move"),
            "repeat": partial(self._change, "repeat"),
            "timezone": self.time_zone,
        }
        self.actions: dict[str, Action] = {
            "ring": self._tapped,
            "reminders_page": self._page,
            "reminder_open": self._open,
        }

    async def remind(self, envelope: Envelope) -> None:
        """Set a reminder and say when it comes; ask back when the time or the matter is missing."""
        services, said = self._services, envelope.arguments
        zone, now_ms = await services.people.clock(envelope.conversation_id, envelope.user_id), services.clock.now_ms()
        if not said:
            when = clock_text(local(now_ms, zone.name), replies.spoken())
            await self._say(envelope, replies.say("remind_how", zone=zone.name, when=when))
            return
        if caring := care(said):
            await self._say(envelope, caring.text)
            return
        moment = await self._moment(said, now_ms, zone.name)
        at_ms = series.at_ms_of(moment.minute(), zone.name) if moment else 0
        if moment is None or not now_ms < at_ms <= now_ms + MAX_AHEAD_MS:
            await self._say(envelope, replies.say("remind_unclear", said=shorten(said, 60)))
            return
        text = moment.rest_of(said)
        if not text:
            when = when_text(at_ms, now_ms, zone.name, replies.spoken())
            await self._say(envelope, replies.say("remind_no_what", when=when))
            return
        await self._set(envelope, await self._add(envelope, text, moment, zone.name), zone)

    async def _moment(self, said: str, now_ms: int, zone: str) -> SaidTime | None:
        """The time that is said, in the language in which it is said."""
        language = self._services.memory.languages.detect(said, base_of(replies.spoken()))
        found = await asyncio.to_thread(moment_in, said, now_ms, zone, language.code)
        return in_time(found, now_ms, zone) if found else None

    async def _add(self, envelope: Envelope, text: str, moment: SaidTime, zone: str) -> Add:
        session_id = await self._services.memory.store.current_session_id(envelope.conversation_id)
        fields = {
            "owner": "user",
            "rings_from": moment.minute(),
            "repeats": moment.repeats,
            "time_zone": zone,
            "session_id": session_id,
            "user_id": envelope.user_id,
        }
        return Add(kind="task", text=text, note_id=f"n_{_cause(envelope)}", fields=fields)

    async def _set(self, envelope: Envelope, add: Add, zone: TimeZone) -> None:
        services, now_ms = self._services, self._services.clock.now_ms()
        by = Actor("person", now_ms, _cause(envelope))
        outcome = apply(await services.memory.ledgers.read(envelope.conversation_id), add, by)
        if not isinstance(outcome, Applied):
            said = shorten(envelope.arguments, 60)
            known = outcome.number is not None and outcome.code == "known"
            text = replies.say("remind_known") if known else replies.say("remind_unclear", said=said)
            await self._say(envelope, text)
            return
        undo = Button(replies.say("never_mind"), UNDO_NOTE, {"cause": by.cause})
        message = OutgoingMessage(set_text(outcome.note, now_ms, zone), buttons=((undo,),))
        await self._store(envelope, [add], by, message)

    async def _store(
        self, envelope: Envelope, operations: Sequence[Operation], by: Actor, message: OutgoingMessage, *also: Statement
    ) -> None:
        services = self._services

        async def store(*rows: Statement) -> list[Outcome]:
            ends = (services.inbox.done(envelope), *also, *rows)
            return await services.memory.change(envelope.conversation_id, operations, by, *ends)

        await services.committer.say(Target.of(envelope), [message], store)
        services.reminders.look()

    async def overview(self, envelope: Envelope) -> None:
        """List the reminders, with buttons."""
        await show(self._services, envelope, self._view)

    async def _change(self, command: str, envelope: Envelope) -> None:
        """Cancel, move or repeat the reminder that is numbered or named; show the list to choose from when unclear."""
        services, now_ms = self._services, self._services.clock.now_ms()
        ledger = await services.memory.ledgers.read(envelope.conversation_id)
        notes, zone = ringing(ledger, now_ms), await services.people.clock(envelope.conversation_id, envelope.user_id)
        if not notes or not envelope.arguments:
            how = replies.say(f"change_how.{command}") if notes else replies.say("reminders_none")
            await self._say(envelope, how)
            return
        rest, found = await self._named(envelope, notes)
        moment = None
        if command != "cancel":
            moment = await self._moment(rest, now_ms, zone.name)
            if moment and not found:
                found = meant(notes, moment.rest_of(rest))
            if moment is None or (command == "repeat" and not moment.repeats):
                await self._say(envelope, replies.say(f"change_how.{command}"))
                return
        if len(found) != 1:
            message, _ = self._view.message(replace(ledger, notes={n.number: n for n in found or notes}), zone.name)
            which = f"{replies.say('remind_which')}\n{message.text}"
            await services.committer.done([envelope], [replace(message, text=which)])
            return
        operation = moved_by(found[0], moment) if moment else cancelling(found[0])
        await self._do(envelope, ledger, operation, zone)

    async def _named(self, envelope: Envelope, notes: Sequence[Note]) -> tuple[str, list[Note]]:
        """The words without the number they begin with, and the reminders that are meant by it, or by the words.

        A number is a line of the list that was shown last; before any was shown, of the present /reminders.
        """
        said = envelope.arguments
        number = _NUMBER.match(said)
        if number is None:
            return said, meant(notes, said)
        items = await listed_last(self._services, envelope.conversation_id)
        refs = [item.ref for item in items] or [note.note_id for note in notes]
        place = int(number[1])
        ref = refs[place - 1] if 0 < place <= len(refs) else ""
        return said[number.end() :], [note for note in notes if note.note_id == ref]

    async def _do(self, envelope: Envelope, ledger: Ledger, operation: Operation, zone: TimeZone) -> None:
        now_ms = self._services.clock.now_ms()
        by = Actor("person", now_ms, _cause(envelope))
        outcome = apply(ledger, operation, by)
        if not isinstance(outcome, Applied):
            await self._say(envelope, replies.say("remind_unclear", said=shorten(envelope.arguments, 60)))
            return
        if outcome.note.rings_at_ms is None:
            text = told_off(outcome.note, now_ms, zone.name)
        else:
            text = set_text(outcome.note, now_ms, TimeZone(zone.name, chosen=True))
        undo = Button(replies.say("undo"), UNDO_NOTE, {"cause": by.cause})
        await self._store(envelope, [operation], by, OutgoingMessage(text, buttons=((undo,),)))

    async def time_zone(self, envelope: Envelope) -> None:
        """Say by which clock times are read, or set it; with it when the reminders that are set ring by this clock.

        What was noted before anybody chose one means the same hours by it.
        """
        services, now_ms, language = self._services, self._services.clock.now_ms(), replies.spoken()
        before = await services.people.clock(envelope.conversation_id, envelope.user_id)
        if not envelope.arguments or envelope.user_id is None:
            now = clock_text(local(now_ms, before.name), language)
            await self._say(envelope, replies.say("zone_is", zone=before.name, now=now))
            return
        found = find_time_zone(envelope.arguments)
        if found is None:
            await self._say(envelope, replies.say("zone_unknown", said=shorten(envelope.arguments, 40)))
            return
        text = replies.say("zone_set", zone=found, now=clock_text(local(now_ms, found), language))
        ledger = await services.memory.ledgers.read(envelope.conversation_id)
        theirs = [note for note in to_ring(ledger) if note.time_zone != found]
        if theirs:
            lines = [f"• {note_line(note, now_ms, found, by_reader=True)}" for note in theirs[:SHOWN_RINGS]]
            text = "\n".join([text, "", replies.say("zone_rings"), *lines])
        whose = group_of(envelope.conversation_id) or envelope.user_id
        chosen = await services.people.choose(whose, **{TIME_ZONE: found})
        means = [] if before.chosen else as_meant(standing(ledger), before.name, found)
        await self._store(envelope, means, Actor("person", now_ms, _cause(envelope)), OutgoingMessage(text), chosen)

    # --- buttons ----------------------------------------------------------------------------------------------------

    async def _page(self, tap: Tap) -> bool:
        return await turn_page(self._services, tap, self._view)

    async def _open(self, tap: Tap) -> bool:
        return await open_line(self._services, tap, self._view)

    async def _tapped(self, tap: Tap) -> bool:
        """Carry out a button on one date of a reminder, and show the list as it is then."""
        services, envelope, choice = self._services, tap.envelope, tap.payload["choice"]
        listed = bool(tap.payload.get("listed"))
        note = await find_note(services, tap, self._view if listed else None)
        if note is None:
            return listed
        now_ms = services.clock.now_ms()
        zone = (await services.people.clock(envelope.conversation_id, envelope.user_id)).name
        occurrence = occurrence_of(tap.payload["date"])
        if is_seen_alone(note, occurrence, choice, now_ms):
            return await say_unchanged(services, tap, told_seen(note, now_ms, zone), self._view if listed else None)
        operation = operation_for(note, occurrence, choice, now_ms)
        ledger = await services.memory.ledgers.read(envelope.conversation_id)
        outcome = apply(ledger, operation, Actor("person", now_ms, envelope.button_id))
        if choice == "done" and isinstance(outcome, Refusal) and outcome.code == "same":
            return await say_unchanged(services, tap, told_unchanged(note, occurrence), self._view if listed else None)
        said = (
            told(note, outcome.note, occurrence, choice, now_ms=now_ms, zone=zone)
            if isinstance(outcome, Applied)
            else ""
        )
        view = self._view if listed else View("job", _alone(said))
        return await change_listed(services, tap, operation, view, said if listed else "")

    def _made(self, ledger: Ledger, zone: str) -> Listing | OutgoingMessage:
        return reminder_list(ledger, self._services.clock.now_ms(), zone)

    async def _say(self, envelope: Envelope, text: str) -> None:
        await self._services.committer.done([envelope], [OutgoingMessage(text)])


def _alone(said: str) -> Made:
    """A view that is the one sentence."""
    return lambda _ledger, _zone: OutgoingMessage(said)


def _cause(envelope: Envelope) -> str:
    """The key of a change by a command: the same command again is the same change."""
    return f"c_{envelope.bot_id}_{envelope.update_id}"
