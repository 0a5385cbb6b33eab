"""Follow-ups, for who wants them: what had its day without a word since is asked about once, the morning after."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any, Final

import structlog

from bot import replies
from bot.answers.open_list import ListedLoop, listed_matter
from bot.delivery.outbox import Button, OutgoingMessage, Target
from bot.features.loops import change_open, endings
from bot.intake.updates import conversation_key
from bot.people.choices import FOLLOW_UPS
from bot.reminders.rules import job_id_of, tomorrow_ms
from bot.reminders.words import local
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services
from memory.errors import Conflict, StorageError, UnknownSession
from memory.notes.types import Matter
from memory.notes.view import NotesView, Standing
from memory.ports import Row, Statement
from memory.state.state_manager import snooze_loop

DAY_MS: Final = 86_400_000
ASK_FROM_HOUR, ASK_UNTIL_HOUR = 9, 20
"""Nobody is asked at night."""
ASK_WITHIN_MS: Final = 3 * DAY_MS
"""What had its day longer ago is not asked about any more."""
PAUSE_MS: Final = 20 * 3_600_000
"""At most one question in so long a time."""
LOOK_EVERY_MS: Final = 600_000
ASKED: Final = "asked"
"""The kind of the row that says that something was asked about; it holds no words of people."""

log = structlog.get_logger(__name__)


# --- pure -----------------------------------------------------------------------------------------------------------


def to_ask_about(view: NotesView, asked: Collection[str], now_ms: int, zone: str) -> Standing | None:
    """Return the task worth most whose day is over, by the person's calendar, and that was not asked about yet."""
    if not ASK_FROM_HOUR <= local(now_ms, zone).hour < ASK_UNTIL_HOUR:
        return None
    return next((each for each in view.standings if _is_over(each, asked, now_ms, zone)), None)


def _is_over(standing: Standing, asked: Collection[str], now_ms: int, zone: str) -> bool:
    note = standing.note
    if not isinstance(note, Matter) or note.kind != "task" or note.owner != "user" or note.faint:
        return False
    due_at_ms = note.due_at_ms
    if due_at_ms is None or note.snoozed_until_ms is not None or call_key_of(note.matter_id) in asked:
        return False
    return now_ms - due_at_ms < ASK_WITHIN_MS and local(due_at_ms, zone).date() < local(now_ms, zone).date()


def call_key_of(matter_id: str) -> str:
    """Return the key under which it is written down that a matter was asked about."""
    return f"{matter_id}:{ASKED}"


def question_about(standing: Standing) -> OutgoingMessage:
    """Return the question, with its three answers as buttons."""
    note = standing.note
    words = replies.shorten(note.text)
    title = replies.say("quoted", text=words) if note.quoted else words
    payload = {"session_id": standing.session_id, "loop_id": note.matter_id if isinstance(note, Matter) else ""}
    row = (
        Button(replies.say("asked_yes"), "asked_yes", payload),
        Button(replies.say("asked_not_yet"), "asked_not_yet", payload),
        Button(replies.say("loop_drop"), "asked_drop", payload),
    )
    return OutgoingMessage(replies.say("asked_about", title=title), buttons=(row,))


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
        """Ask whoever has something to be asked about; called every minute, it looks every ten.

        The question and the row that says so are one transaction: nobody is asked the same twice, whatever dies.
        """
        now_ms = self._services.clock.now_ms()
        if 0 <= now_ms - self._looked_at_ms < LOOK_EVERY_MS:
            return
        self._looked_at_ms = now_ms
        for row in await self._services.db.read("people_followed_up"):
            try:
                await self._ask(row["user_id"], now_ms)
            except Conflict:
                log.debug("another process asked", user_id=row["user_id"])
            except StorageError as exc:
                log.warning("a follow-up waits for storage", error=str(exc))

    async def _ask(self, user_id: int, now_ms: int) -> None:
        services = self._services
        if not (await services.people.choices(user_id)).get(FOLLOW_UPS):
            return
        conversation_id = conversation_key(services.me.bot_id, user_id, None)
        zone = (await services.people.time_zone(user_id)).name
        asked = await services.db.read("asked_about", conversation_id=conversation_id, kind=ASKED)
        if any(now_ms - row["created_at_ms"] < PAUSE_MS for row in asked):
            return
        view = await services.memory.notes.view(conversation_id, user_id=user_id)
        found = to_ask_about(view, {str(row["call_key"]) for row in asked}, now_ms, zone)
        if found is None:
            return
        with replies.speaking(await services.people.language(conversation_id, user_id)):
            message = question_about(found)
        target = Target(services.me.bot_id, conversation_id, user_id, None, user_id)
        await services.committer.write(target, [message], _asked(found, conversation_id, user_id, now_ms))

    async def _end(self, status: Any, tap: Tap) -> bool:
        """End the task by the person's answer."""
        said = "asked_ended" if status == "done" else "asked_dropped"
        change, update = endings(status, self._services.clock.now_ms())
        return await self._change(tap, change, update, said)

    async def _later(self, tap: Tap) -> bool:
        """Leave it open until tomorrow at least; it is not asked about again."""
        now_ms = self._services.clock.now_ms()
        until_ms = tomorrow_ms(now_ms, (await self._services.people.time_zone(tap.envelope.user_id)).name)
        return await self._change(
            tap,
            lambda state, loop_id: snooze_loop(state, loop_id, until_ms, now_ms),
            {"snoozed_until_ms": until_ms},
            "asked_stays",
        )

    async def _change(self, tap: Tap, change: Any, update: Any, said: str) -> bool:
        """Store what becomes of the task with the end of the tap, and show it in place of the question."""
        services, envelope = self._services, tap.envelope
        try:
            listed = await self._listed(envelope.conversation_id, tap.payload["loop_id"])
            message = OutgoingMessage(replies.say(said), edits_message_id=envelope.message_id)
            ends = (tap.use, services.inbox.done(envelope))
            store = partial(change_open, services.memory, listed, change, update, *ends)
            await services.committer.say(Target.of(envelope), [message], store)
        except (KeyError, UnknownSession):
            gone = OutgoingMessage(replies.say("loop_gone"), edits_message_id=envelope.message_id)
            await services.committer.done([envelope], [gone], tap.use)
        return False

    async def _listed(self, conversation_id: str, matter_id: str) -> ListedLoop:
        """Return the task as it is noted now. Raises KeyError when it is not open any more."""
        view = await self._services.memory.notes.view(conversation_id)
        for each in view.standings:
            if isinstance(each.note, Matter) and each.note.matter_id == matter_id:
                return listed_matter(each.session_id, each.note)
        raise KeyError(matter_id)


def _asked(standing: Standing, conversation_id: str, user_id: int, now_ms: int) -> Statement:
    """Return the row that says that it was asked about; a second one loses (`Conflict`)."""
    matter_id = standing.note.matter_id if isinstance(standing.note, Matter) else ""
    values: Row = {
        "job_id": job_id_of(f"{conversation_id}:{call_key_of(matter_id)}"),
        "conversation_id": conversation_id,
        "session_id": standing.session_id,
        "user_id": user_id,
        "turn_id": standing.note.turn_ids[0],
        "call_key": call_key_of(matter_id),
        "kind": ASKED,
        "now_ms": now_ms,
    }
    return Statement("asked_insert", values, expect=1)
