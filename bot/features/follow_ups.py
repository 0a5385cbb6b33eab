"""Follow-ups, for people who want them: a note that had its day without a word is asked about once, next morning."""

from __future__ import annotations

from functools import partial
from typing import Final

import structlog

from bot import replies
from bot.dates import days_from, local
from bot.delivery.outbox import Button, OutgoingMessage
from bot.features.loops import ending, putting_off
from bot.features.shown import change, find_note
from bot.intake.updates import conversation_key
from bot.lines import name_of
from bot.people.choices import FOLLOW_UPS
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services
from memory.errors import StorageError
from memory.ledger.types import Actor, Change, Ending, Ledger, Note
from memory.ledger.views import best_first, ends_at, is_past, standing

DAY_MS: Final = 86_400_000
ASK_FROM_HOUR, ASK_UNTIL_HOUR = 9, 20
"""Nobody is asked at night."""
ASK_WITHIN_MS: Final = 3 * DAY_MS
"""Notes whose day was longer ago are not asked about any more."""
PAUSE_MS: Final = 20 * 3_600_000
"""At most one question in so long a time."""
LOOK_EVERY_MS: Final = 600_000
ASKED: Final = "asked"
"""The cause of the change that says that somebody was asked."""

log = structlog.get_logger(__name__)


# --- pure -----------------------------------------------------------------------------------------------------------


def to_ask_about(ledger: Ledger, now_ms: int, zone: str) -> Note | None:
    """The task worth most whose day is over, by the person's calendar, and that was not asked about yet."""
    if not ASK_FROM_HOUR <= local(now_ms, zone).hour < ASK_UNTIL_HOUR:
        return None
    return next((note for note in best_first(standing(ledger), now_ms) if _is_over(note, now_ms, zone)), None)


def _is_over(note: Note, now_ms: int, zone: str) -> bool:
    if note.kind != "task" or note.owner != "user" or not note.is_real or note.rings:
        return False
    if note.due_at_ms is None or note.snoozed_until_ms is not None or note.offered:
        return False
    last_ms = ends_at(note) or 0
    return is_past(note, now_ms) and days_from(last_ms, now_ms, zone) < 0 and now_ms - last_ms < ASK_WITHIN_MS


def question_about(note: Note) -> OutgoingMessage:
    """The question, with its three answers as buttons."""
    payload = {"note_id": note.note_id}
    row = (
        Button(replies.say("asked_yes"), "asked_yes", payload),
        Button(replies.say("asked_not_yet"), "asked_not_yet", payload),
        Button(replies.say("loop_drop"), "asked_drop", payload),
    )
    return OutgoingMessage(replies.say("asked_about", title=name_of(note)), buttons=(row,))


# --- feature --------------------------------------------------------------------------------------------------------


class FollowUps:
    """Asks once about each such task, one a day at most, in private chats of people who chose it; off by default."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._looked_at_ms = 0
        self.commands: dict[str, Command] = {}
        self.actions: dict[str, Action] = {
            "asked_yes": partial(self._end, "done"),
            "asked_drop": partial(self._end, "dropped"),
            "asked_not_yet": self._later,
        }

    async def ask(self) -> None:
        """Ask people about their notes of yesterday; called every minute, it looks every ten.

        The question and the change that says so are one transaction: nobody is asked the same twice, after any crash.
        """
        now_ms = self._services.clock.now_ms()
        if 0 <= now_ms - self._looked_at_ms < LOOK_EVERY_MS:
            return
        self._looked_at_ms = now_ms
        for row in await self._services.db.read("people_followed_up"):
            try:
                await self._ask(row["user_id"], now_ms)
            except StorageError as exc:
                log.warning("a follow-up waits for storage", error=str(exc))

    async def _ask(self, user_id: int, now_ms: int) -> None:
        services = self._services
        if not (await services.people.choices(user_id)).get(FOLLOW_UPS):
            return
        conversation_id = conversation_key(services.me.bot_id, user_id, None)
        zone = (await services.people.time_zone(user_id)).name
        found = to_ask_about(await services.memory.ledgers.read(conversation_id), now_ms, zone)
        if found is None:
            return
        asked = await services.memory.ledgers.caused_by(conversation_id, ASKED)
        if any(now_ms - each.at_ms < PAUSE_MS for each in asked):
            return
        with replies.speaking(await services.people.language(conversation_id, user_id)):
            message = question_about(found)
        operation = Change(number=found.number, fields={"offered": True})
        by = Actor("operator", now_ms, ASKED)
        await services.reminders.say_with(conversation_id, user_id, message, [operation], by)

    async def _end(self, how: Ending, tap: Tap) -> bool:
        """End the task by the person's answer."""
        services = self._services
        note = await find_note(services, tap)
        if note is not None:
            said = replies.say("asked_ended" if how == "done" else "asked_dropped")
            message = OutgoingMessage(said, edits_message_id=tap.envelope.message_id)
            await change(services, tap, [ending(note, how, services.clock.now_ms())], message)
        return False

    async def _later(self, tap: Tap) -> bool:
        """Leave it open until tomorrow at least; it is not asked about again."""
        services = self._services
        note = await find_note(services, tap)
        if note is not None:
            zone = (await services.people.clock(tap.envelope.conversation_id, tap.envelope.user_id)).name
            message = OutgoingMessage(replies.say("asked_stays"), edits_message_id=tap.envelope.message_id)
            await change(services, tap, [putting_off(note, services.clock.now_ms(), zone)], message)
        return False
