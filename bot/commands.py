"""What the slash commands do. Each runs in its conversation's lane and ends in one transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from bot import replies, sessions
from bot.closing import until_stored
from bot.lanes import Lanes
from bot.outbox import Button, Message, Target
from bot.turns import Tools, Turns
from bot.updates import Envelope
from memory.ports import Statement
from memory.store import SessionRow, Store

Command = Callable[..., Awaitable[None]]

SESSIONS_SHOWN = 8
QUOTED_CHARS = 160


class Commands:
    """The table of commands, and what each of them says."""

    def __init__(self, tools: Tools, turns: Turns, store: Store, lanes: Lanes) -> None:
        self._tools = tools
        self._turns = turns
        self._store = store
        self._lanes = lanes
        self.table: dict[str, Command] = {
            "start": self.start,
            "help": self.help,
            "fresh": self.fresh,
            "continue": self.continue_,
            "sessions": self.sessions,
            "stop": self.stop,
            "retry": self.retry,
            "privacy": self.privacy,
        }

    async def run(self, envelope: Envelope) -> None:
        """Run the command of this update. Raises `Conflict` when it was done already."""
        command = self.table.get(envelope.command)
        if command is not None:
            await command(envelope)
        elif envelope.private:
            await self._say(envelope, replies.UNKNOWN_COMMAND.format(command=envelope.command[:32]))
        else:
            await self._tools.closing.done([envelope], [])

    async def start(self, envelope: Envelope) -> None:
        """Say hello; say what answers here."""
        name = f", {envelope.user_name}" if envelope.user_name else ""
        offline = replies.START_OFFLINE if self._offline else ""
        await self._say(envelope, replies.START.format(name=name) + offline)

    async def help(self, envelope: Envelope) -> None:
        """List the commands."""
        await self._say(envelope, replies.help_text(replies.COMMANDS))

    async def privacy(self, envelope: Envelope) -> None:
        """Say what is stored and what leaves the machine."""
        name = self._tools.settings.continuity_model
        model = replies.PRIVACY_OFFLINE if self._offline else replies.PRIVACY_MODEL.format(model=name)
        await self._say(envelope, replies.PRIVACY.format(model=model))

    async def fresh(self, envelope: Envelope, *effects: Statement) -> None:
        """Open a session with nothing carried over, and say how to come back."""
        recorder = self._tools.recorder
        current = await recorder.current(envelope.conversation_id)
        if current is None or (current.turn_count == 0 and current.isolated):
            text = replies.FRESH_FIRST if current is None else replies.FRESH
            await self._tools.closing.done([envelope], [Message(text)], *effects)
            return
        await self._with_effects(
            envelope,
            Message(replies.FRESH),
            lambda ends: recorder.open_session(envelope.conversation_id, envelope.user_id, "fresh", *ends, *effects),
        )

    async def continue_(self, envelope: Envelope) -> None:
        """Offer the latest sessions as buttons."""
        rows, current_id = await self._sessions(envelope)
        others = [row for row in rows if row.session_id != current_id]
        if not others:
            await self._say(envelope, replies.CONTINUE_ONLY if rows else replies.NO_SESSIONS)
            return
        now_ms = self._tools.clock.now_ms()
        buttons = tuple(
            (Button(_label(row, now_ms, current_id), "continue", {"session_id": row.session_id}),) for row in others
        )
        await self._tools.closing.done([envelope], [Message(replies.CONTINUE_HEAD, buttons=buttons)])

    async def sessions(self, envelope: Envelope) -> None:
        """List the sessions of this conversation."""
        rows, current_id = await self._sessions(envelope)
        if not rows:
            await self._say(envelope, replies.NO_SESSIONS)
            return
        now_ms = self._tools.clock.now_ms()
        lines = [f"• {_label(row, now_ms, current_id)}" for row in rows]
        await self._say(envelope, "\n".join([replies.SESSIONS_HEAD, *lines, "", "/continue takes one up again."]))

    async def stop(self, envelope: Envelope) -> None:
        """Stop the answer that is being made; it says so itself."""
        stopped = self._turns.stop(envelope.conversation_id)
        await self._tools.closing.done([envelope], [] if stopped else [Message(replies.NOTHING_TO_STOP)])

    async def retry(self, envelope: Envelope) -> None:
        """Answer a parked turn, or else the last message, again."""
        turn_id = await self._tools.inbox.latest_parked(envelope.conversation_id)
        if turn_id is not None:
            await self._tools.closing.done([envelope], [], self.reopened(turn_id))
            await self.resume(turn_id)
            return
        current = await self._tools.recorder.current(envelope.conversation_id)
        last = await self._store.last_turns(current.session_id, 1) if current else []
        if not last:
            await self._say(envelope, replies.NOTHING_TO_RETRY)
            return
        await self._turns.answer([envelope], envelope.turn_id or self._tools.ids.new("t"), text=last[0].user_text)

    def reopened(self, turn_id: str) -> Statement:
        """Return the statement that puts a parked turn back to work."""
        return Statement("inbox_reopen", {"turn_id": turn_id, "at_ms": self._tools.clock.now_ms()})

    async def resume(self, turn_id: str) -> None:
        """Put the updates of a reopened turn in their lane."""
        for parked in await self._tools.inbox.received(self._tools.me, turn_id):
            self._lanes.submit(replace(parked, again=True))

    async def take_up(self, envelope: Envelope, session_id: str, *effects: Statement) -> None:
        """Make an earlier session current again and say where we were."""
        row = await self._store.session(session_id)
        if row is None or row.conversation_id != envelope.conversation_id:
            await self._tools.closing.done([envelope], [Message(replies.TAP_TOO_OLD)], *effects)
            return
        last = await self._store.last_turns(session_id, 1)
        text = replies.CONTINUED.format(
            title=row.title or replies.UNTITLED,
            turns=replies.plural(row.turn_count, "turn"),
            ago=replies.ago(self._tools.clock.now_ms() - row.last_turn_at_ms),
        )
        if last:
            text += replies.CONTINUED_LAST.format(user=replies.shorten(last[0].user_text, QUOTED_CHARS))
        await self._with_effects(
            envelope,
            Message(text),
            lambda ends: self._tools.recorder.switch(envelope.conversation_id, session_id, *ends, *effects),
        )

    @property
    def _offline(self) -> bool:
        return self._tools.settings.continuity_model == "offline"

    async def _sessions(self, envelope: Envelope) -> tuple[list[SessionRow], str | None]:
        rows = await self._store.sessions(envelope.conversation_id, limit=SESSIONS_SHOWN)
        current_id = await self._store.current_session_id(envelope.conversation_id)
        return [row for row in rows if row.turn_count or row.session_id == current_id], current_id

    async def _say(self, envelope: Envelope, text: str) -> None:
        await self._tools.closing.done([envelope], [Message(text)])

    async def _with_effects(
        self, envelope: Envelope, message: Message, change: Callable[[list[Statement]], Awaitable[object]]
    ) -> None:
        """Let the recorder change sessions in the same transaction as the message and the end of the update."""
        parts, rows = self._tools.closing.compose(Target.of(envelope), [message])
        effects = [self._tools.inbox.done(envelope), *rows]
        await until_stored(lambda: change(effects))
        self._tools.delivery.deliver(parts)


def _label(row: SessionRow, now_ms: int, current_id: str | None) -> str:
    return sessions.label(
        row.title,
        row.turn_count,
        now_ms - row.last_turn_at_ms,
        current=row.session_id == current_id,
    )
