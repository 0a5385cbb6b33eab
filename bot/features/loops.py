"""/loops: what is unfinished in this conversation, with Done, Snooze and Drop for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from bot import replies
from bot.delivery.outbox import Button, Message, Target
from bot.intake.updates import Envelope
from bot.reminders.rules import tomorrow_ms, when_text
from bot.turns.feature import Action, Command, Tap
from bot.turns.listing import say_list
from bot.turns.services import Services
from memory.errors import UnknownSession
from memory.sessions.evidence import state_of_row
from memory.state.state_manager import close_loop, live_loops, snooze_loop
from memory.storage.store import SessionRow
from memory.types import ListedItem, OpenLoop, SessionState

SESSIONS_READ = 12
LISTED = 8
TEXT_CHARS = 120

Change = Callable[[SessionState], SessionState]
Ending = Literal["done", "dropped"]


# --- pure -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Listed:
    """One open loop and the session that knows it."""

    session_id: str
    loop: OpenLoop


def open_matters(states: Sequence[SessionState], current_id: str | None) -> list[Listed]:
    """Return the live loops, those of the current session first, then those of others, the last touched first.

    A session that was started fresh shows only its own.
    """
    current = next((state for state in states if state.session_id == current_id), None)
    others = [state for state in states if state is not current]
    mine = [Listed(current.session_id, loop) for loop in live_loops(current)] if current else []
    if current and current.isolated:
        return mine
    theirs = [Listed(state.session_id, loop) for state in others for loop in live_loops(state)]
    return mine + sorted(theirs, key=lambda each: (-each.loop.touched_at_ms, each.loop.loop_id))


def loop_line(number: int, loop: OpenLoop, now_ms: int, zone: str) -> str:
    """Return one line: the matter, whose turn it is, and when it is due or sleeps until."""
    whose = replies.LOOP_YOURS if loop.owner == "user" else replies.LOOP_MINE
    line = f"{number}. {replies.shorten(loop.text, TEXT_CHARS)} ({whose}"
    if loop.due_at_ms is not None:
        word = replies.LOOP_SLEEPS if loop.status == "snoozed" else replies.LOOP_DUE
        late = loop.status != "snoozed" and loop.due_at_ms <= now_ms
        when = replies.LOOP_OVERDUE if late else word.format(when=when_text(loop.due_at_ms, now_ms, zone))
        line += f", {when}"
    return line + ")"


def loop_list(listed: Sequence[Listed], now_ms: int, zone: str) -> Message:
    """Return the numbered list with its buttons, or that nothing is open."""
    if not listed:
        return Message(replies.LOOPS_NONE)
    lines, buttons = [replies.LOOPS_HEAD], []
    for number, each in enumerate(listed[:LISTED], 1):
        lines.append(loop_line(number, each.loop, now_ms, zone))
        payload = {"session_id": each.session_id, "loop_id": each.loop.loop_id}
        buttons.append(
            (
                Button(f"{number} {replies.LOOP_DONE}", "loop_done", payload),
                Button(f"{number} {replies.LOOP_SNOOZE}", "loop_snooze", payload),
                Button(f"{number} {replies.LOOP_DROP}", "loop_drop", payload),
            )
        )
    if len(listed) > LISTED:
        lines.append(replies.LOOPS_MORE.format(count=len(listed) - LISTED))
    return Message("\n".join(lines), buttons=tuple(buttons))


def changed(states: Sequence[SessionState], session_id: str, change: Change) -> list[SessionState]:
    """Return the states with one of them changed. Raises what `change` raises, KeyError for an unknown session."""
    if all(state.session_id != session_id for state in states):
        raise KeyError(session_id)
    return [change(state) if state.session_id == session_id else state for state in states]


def readable(rows: Sequence[SessionRow]) -> list[SessionState]:
    """Return the states of these sessions; one that cannot be read is left out."""
    return [state for row in rows if (state := state_of_row(row)[0]) is not None]


# --- feature --------------------------------------------------------------------------------------------------------


class Loops:
    """Lists open loops and ends them; the list, the change and the button's use are one transaction."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {"loops": self.overview}
        self.actions: dict[str, Action] = {
            "loop_done": self._done,
            "loop_drop": self._drop,
            "loop_snooze": self._snooze,
        }

    async def overview(self, envelope: Envelope) -> None:
        """List what is open."""
        listed = await self._listed(envelope, await self._states(envelope))
        message = await self._shown(envelope, listed)
        items = [ListedItem(kind="loop", ref=each.loop.loop_id, text=each.loop.text) for each in listed[:LISTED]]
        await say_list(self._services, envelope, message, items)

    async def _done(self, tap: Tap) -> bool:
        return await self._end(tap, "done")

    async def _drop(self, tap: Tap) -> bool:
        return await self._end(tap, "dropped")

    async def _end(self, tap: Tap, status: Ending) -> bool:
        now_ms = self._services.clock.now_ms()
        return await self._change(tap, lambda state: close_loop(state, tap.payload["loop_id"], status, now_ms))

    async def _snooze(self, tap: Tap) -> bool:
        """Let a matter sleep until tomorrow morning."""
        services = self._services
        now_ms = services.clock.now_ms()
        until_ms = tomorrow_ms(now_ms, (await services.people.time_zone(tap.envelope.user_id)).name)
        return await self._change(tap, lambda state: snooze_loop(state, tap.payload["loop_id"], until_ms, now_ms))

    async def _change(self, tap: Tap, change: Change) -> bool:
        """Store the change and show the list as it is then, in place of the old one."""
        services, session_id = self._services, tap.payload["session_id"]
        try:
            after = changed(await self._states(tap.envelope), session_id, change)
            message = await self._shown(tap.envelope, await self._listed(tap.envelope, after))
            message = replace(message, edits_message_id=tap.envelope.message_id)
            ends = (tap.use, services.inbox.done(tap.envelope))
            await services.committer.say(
                Target.of(tap.envelope), [message], partial(services.recorder.edit, session_id, change, *ends)
            )
        except (KeyError, UnknownSession):
            gone = Message(replies.LOOP_GONE, edits_message_id=tap.envelope.message_id)
            await services.committer.done([tap.envelope], [gone], tap.use)
            return False
        return bool(message.buttons)

    async def _states(self, envelope: Envelope) -> list[SessionState]:
        return readable(await self._services.store.sessions(envelope.conversation_id, limit=SESSIONS_READ))

    async def _listed(self, envelope: Envelope, states: Sequence[SessionState]) -> list[Listed]:
        services = self._services
        current_id = await services.store.current_session_id(envelope.conversation_id)
        if current_id is not None and all(state.session_id != current_id for state in states):
            states = [await services.recorder.session(current_id), *states]  # opened, nothing said yet
        return open_matters(states, current_id)

    async def _shown(self, envelope: Envelope, listed: Sequence[Listed]) -> Message:
        zone = (await self._services.people.time_zone(envelope.user_id)).name
        return loop_list(listed, self._services.clock.now_ms(), zone)
