"""/remind, /jobs, /timezone and the buttons of reminders: done, snooze, tomorrow, cancel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from bot import replies
from bot.answers.rearrange import Here, by_command
from bot.answers.remind_first import repeating, set_text, undo_button
from bot.care.care import care
from bot.delivery.outbox import OutgoingMessage, Target
from bot.intake.updates import Envelope
from bot.people.choices import TIME_ZONE, find_time_zone
from bot.reminders.repeats import read_repeat, rule_of
from bot.reminders.rules import (
    MAX_AHEAD_MS,
    Event,
    Reminder,
    advance_reminder,
    insert_reminder,
    job_id_of,
    listed_reminders,
    next_reminder,
    next_status,
    reminder_list,
    snoozed_until,
    when_text,
)
from bot.reminders.words import ReminderWords, words_for
from bot.turns.feature import Action, Command, Tap
from bot.turns.listing import say_list
from bot.turns.services import Services
from memory.language.due_dates import ReminderRequest, parse_when
from memory.state.state_manager import begin_job, new_state


def _confirmation(text: str, words: ReminderWords, job_id: str) -> OutgoingMessage:
    return OutgoingMessage(text, buttons=undo_button(job_id, words))


class Reminders:
    """Sets, shows and ends reminders; each change in one transaction with what is said about it."""

    def __init__(self, services: Services) -> None:
        self._services = services
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
            "job_done": self._done,
            "job_cancel": self._cancel,
            "job_snooze": self._snooze,
        }

    # --- commands ---------------------------------------------------------------------------------------------------

    async def remind(self, envelope: Envelope) -> None:
        """Set a reminder and say when it comes; ask back when the time or the matter is missing."""
        services, said = self._services, envelope.arguments
        time_zone = await services.people.time_zone(envelope.user_id)
        zone = time_zone.name
        now_ms = services.clock.now_ms()
        if not said:
            await self._say(envelope, replies.say("remind_how", zone=zone, when=when_text(now_ms, now_ms, zone)))
            return
        caring = care(said)
        if caring:
            await self._say(envelope, caring.text)
            return
        language = services.memory.languages.detect(said, replies.spoken())
        words = words_for(language.code)
        first, _, rest = said.partition(" ")
        said = rest.lstrip() if rest and first.lower() in words.lead else said
        often = read_repeat(said, words, ordered=True)
        kind = often.kind if often else ""

        def read(text: str, at_ms: int) -> ReminderRequest:
            timed = parse_when(text, at_ms, zone, language)
            return ReminderRequest(*timed) if timed else ReminderRequest(None, text)

        def whole() -> ReminderRequest | None:
            return repeating(often, now_ms, zone, read) if often else read(said, now_ms)

        found = await asyncio.to_thread(whole)  # odd dates load a library
        if found is None or found.due_at_ms is None or not now_ms < found.due_at_ms <= now_ms + MAX_AHEAD_MS:
            await self._say(envelope, replies.say("remind_unclear", said=replies.shorten(said, 60)))
            return
        if not found.what:
            when = when_text(found.due_at_ms, now_ms, zone)
            await self._say(envelope, replies.say("remind_no_what", when=when))
            return
        text = set_text(found, now_ms, zone, kind=kind, zone_chosen=time_zone.chosen, words=words)
        repeats = rule_of(kind, found.due_at_ms, zone) if kind else ""
        await self._set(envelope, found, zone, partial(_confirmation, text, words), repeats)

    async def _set(
        self,
        envelope: Envelope,
        found: ReminderRequest,
        zone: str,
        message: Callable[[str], OutgoingMessage],
        repeats: str,
    ) -> None:
        services = self._services
        call_key = f"{envelope.bot_id}:{envelope.update_id}"
        job_id = job_id_of(call_key)
        session_id = await services.memory.store.current_session_id(envelope.conversation_id)
        reminder = insert_reminder(
            call_key,
            conversation_id=envelope.conversation_id,
            session_id=session_id,
            user_id=envelope.user_id,
            turn_id=None,
            title=found.what,
            due_at_ms=found.due_at_ms or 0,
            time_zone=zone,
            now_ms=services.clock.now_ms(),
            repeats=repeats,
        )
        await services.committer.say(
            Target.of(envelope),
            [message(job_id)],
            partial(
                services.reminders.change,
                session_id,
                lambda state: begin_job(state, job_id),
                services.inbox.done(envelope),
                reminder,
            ),
        )
        services.reminders.look()

    async def overview(self, envelope: Envelope) -> None:
        """List what is to come, with buttons."""
        reminders = await self._services.reminders.upcoming(envelope.conversation_id, envelope.user_id)
        if not reminders:
            await self._say(envelope, replies.say("reminders_none"))
            return
        zone = await self._services.people.time_zone(envelope.user_id)
        message = reminder_list(replies.say("reminders_head"), reminders, self._services.clock.now_ms(), zone.name)
        await say_list(self._services, envelope, message, listed_reminders(reminders))

    async def _change(self, command: str, envelope: Envelope) -> None:
        """Cancel, move or repeat the reminder that is named or numbered behind the command; ask which when unclear."""
        services, said = self._services, envelope.arguments
        reminders = await services.reminders.upcoming(envelope.conversation_id, envelope.user_id)
        zone = (await services.people.time_zone(envelope.user_id)).name
        current = await services.memory.recorder.current(envelope.conversation_id)
        state = current or new_state("", envelope.conversation_id)
        here = Here(state, services.clock.now_ms(), zone)
        language = services.memory.languages.detect(said, replies.spoken())
        answer = await asyncio.to_thread(by_command, command, said, reminders, here, language)
        if answer is None:
            how = replies.say(f"change_how.{command}") if reminders else replies.say("reminders_none")
            await self._say(envelope, how)
            return
        change = answer.change or (lambda state: state)
        store = partial(
            services.reminders.change,
            current.session_id if current else None,
            change,
            services.inbox.done(envelope),
            *answer.effects,
        )
        await services.committer.say(Target.of(envelope), [OutgoingMessage(answer.text)], store)
        services.reminders.look()

    async def time_zone(self, envelope: Envelope) -> None:
        """Say by which clock times are read, or set it."""
        services, now_ms = self._services, self._services.clock.now_ms()
        if not envelope.arguments or envelope.user_id is None:
            zone = (await services.people.time_zone(envelope.user_id)).name
            await self._say(envelope, replies.say("zone_is", zone=zone, now=when_text(now_ms, now_ms, zone)))
            return
        found = find_time_zone(envelope.arguments)
        if found is None:
            await self._say(envelope, replies.say("zone_unknown", said=replies.shorten(envelope.arguments, 40)))
            return
        text = replies.say("zone_set", zone=found, now=when_text(now_ms, now_ms, found))
        chosen = await services.people.choose(envelope.user_id, **{TIME_ZONE: found})
        await services.committer.done([envelope], [OutgoingMessage(text)], chosen)

    # --- buttons ----------------------------------------------------------------------------------------------------

    async def _done(self, tap: Tap) -> bool:
        return await self._end(tap, "finish", lambda title: replies.say("reminder_done_text", title=title))

    async def _cancel(self, tap: Tap) -> bool:
        words = words_for(tap.payload.get("language", replies.spoken()))
        return await self._end(tap, "cancel", lambda title: words.say("cancelled", title=title))

    async def _end(self, tap: Tap, event: Event, told: Callable[[str], str]) -> bool:
        """End a reminder; its session forgets it in the same transaction. Of a series what comes next stays."""
        reminder = await self._reminder(tap, event)
        if reminder is None:
            return False
        message = await self._shown(tap, told(reminder.title), reminder.job_id)
        move = advance_reminder(reminder, event, self._services.clock.now_ms())
        goes_on = next_reminder(reminder, self._services.clock.now_ms()) if event == "finish" else None
        ends = (self._services.inbox.done(tap.envelope), tap.use, move, *filter(None, (goes_on,)))
        await self._services.committer.say(
            Target.of(tap.envelope), [message], partial(self._services.reminders.end, reminder, *ends)
        )
        return bool(message.buttons)

    async def _snooze(self, tap: Tap) -> bool:
        """Put a reminder off: what was delivered from now on, what is still to come from its own time on."""
        reminder = await self._reminder(tap, "snooze")
        if reminder is None:
            return False
        services, now_ms = self._services, self._services.clock.now_ms()
        due_at_ms = snoozed_until(tap.payload["until"], max(now_ms, reminder.due_at_ms or 0), reminder.time_zone)
        text = replies.say(
            "reminder_snoozed_text", title=reminder.title, when=when_text(due_at_ms, now_ms, reminder.time_zone)
        )
        later = replace(reminder, status="scheduled", due_at_ms=due_at_ms)
        message = await self._shown(tap, text, reminder.job_id, later)
        move = advance_reminder(reminder, "snooze", now_ms, due_at_ms=due_at_ms)
        await services.committer.done([tap.envelope], [message], tap.use, move)
        services.reminders.look()
        return bool(message.buttons)

    async def _reminder(self, tap: Tap, event: Event) -> Reminder | None:
        """Return the reminder behind the button; when it has ended meanwhile, say so and return None."""
        reminder = await self._services.reminders.find(tap.payload["job_id"], tap.envelope.conversation_id)
        if reminder is None or next_status(reminder.status, event) is None:
            await self._services.committer.done(
                [tap.envelope], [OutgoingMessage(replies.say("reminder_gone"))], tap.use
            )
            return None
        return reminder

    async def _shown(self, tap: Tap, text: str, job_id: str, *changed: Reminder) -> OutgoingMessage:
        """Return what the tapped message says now; a list keeps its other reminders, with buttons of their own."""
        edits_message_id = tap.envelope.message_id
        if not tap.payload.get("listed"):
            return OutgoingMessage(text, edits_message_id=edits_message_id)
        services, envelope = self._services, tap.envelope
        reminders = await services.reminders.upcoming(envelope.conversation_id, envelope.user_id)
        left = sorted(
            [*changed, *(reminder for reminder in reminders if reminder.job_id != job_id)],
            key=lambda reminder: reminder.due_at_ms or 0,
        )
        if not left:
            return OutgoingMessage(text, edits_message_id=edits_message_id)
        zone = (await services.people.time_zone(envelope.user_id)).name
        listed = reminder_list(f"{text}\n\n{replies.say('reminders_head')}", left, services.clock.now_ms(), zone)
        return replace(listed, edits_message_id=edits_message_id)

    async def _say(self, envelope: Envelope, text: str) -> None:
        await self._services.committer.done([envelope], [OutgoingMessage(text)])
