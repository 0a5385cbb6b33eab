"""/sessions; starting clean and taking an earlier conversation up again, for /fresh and /continue."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace

from bot import replies
from bot.dates import as_heading, day_text, days_from, when_text
from bot.delivery.outbox import Button, OutgoingMessage, Target
from bot.intake.updates import Envelope
from bot.lines import bare, with_remarks
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services
from memory.context.earlier import beginning, tells_something
from memory.keeper.session_lines import SessionLine, main_matter, session_lines
from memory.ledger.types import Ledger
from memory.ledger.views import forgotten_turns
from memory.ports import Statement
from memory.sessions.evidence import state_of_row
from memory.storage.store import SessionRow
from memory.text import shorten

SESSIONS_SHOWN = 8
FEW_TURNS = 3
"""A session of so few turns that no keeper named is small talk beside those that have a name."""
QUOTED_CHARS = 160
BEGINNING_CHARS = 36
BUTTON_CHARS = 48
"""Of the name of a session on a button."""
NAME_CHARS = 160
"""Of one in a text: a title stands there whole."""


class Sessions:
    """Opens and switches sessions; the session changes in one transaction with the message about it."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {"sessions": self.overview}
        self.actions: dict[str, Action] = {}

    async def fresh(self, envelope: Envelope, *effects: Statement, private: bool = False) -> None:
        """Open a session with nothing carried over, and say how to come back; of a `private` one nothing is kept."""
        recorder = self._services.memory.recorder
        current = await recorder.current(envelope.conversation_id)
        was_private = current is not None and current.private
        untouched = current is None or (current.turn_count == 0 and current.isolated)
        if untouched and private == was_private:
            text = replies.say("fresh_private" if private else "fresh_first" if current is None else "fresh")
            await self._services.committer.done([envelope], [OutgoingMessage(text)], *effects)
            return
        text = replies.say("fresh_private" if private else "fresh")
        over = [replies.say("private_over")] if was_private and not private else []
        origin = "private" if private else "fresh"
        await self._changing(
            envelope,
            OutgoingMessage("\n\n".join([*over, text])),
            lambda ends: recorder.open_session(envelope.conversation_id, envelope.user_id, origin, *ends, *effects),
        )

    async def end_private(self, envelope: Envelope) -> str:
        """Open a session like any other in place of a private one; return the sentence on it, "" where none goes on.

        Who asks to continue, and says something instead of a tap, is not taken for somebody who began fresh.
        """
        recorder = self._services.memory.recorder
        current = await recorder.current(envelope.conversation_id)
        if current is None or not current.private:
            return ""
        await self._services.committer.until_stored(
            lambda: recorder.open_session(envelope.conversation_id, envelope.user_id, "continue")
        )
        return replies.say("private_over")

    async def choices(self, envelope: Envelope) -> tuple[tuple[Button, ...], ...]:
        """Return a button for each of the latest sessions that can be taken up, by topic and age."""
        rows, current_id, titled = await self._rows(envelope)
        now_ms, zone = await self._clock(envelope)
        rows = [row for row in rows if not titled or row.session_id in titled or row.turn_count > FEW_TURNS]
        return tuple(
            (
                Button(
                    session_label(row, now_ms, zone, current_id, BUTTON_CHARS),
                    "continue",
                    {"session_id": row.session_id},
                ),
            )
            for row in to_take_up(rows, current_id)
        )

    async def nothing_to_offer(self, envelope: Envelope, over: str = "") -> None:
        """Say why there is nothing to take up again, behind the sentence on a session that is `over`."""
        rows, *_ = await self._rows(envelope)
        why = replies.say("continue_only") if rows else replies.say("no_sessions")
        await self._services.committer.done([envelope], [OutgoingMessage("\n\n".join(filter(None, [over, why])))])

    async def overview(self, envelope: Envelope) -> None:
        """List the sessions of this conversation."""
        rows, current_id, _ = await self._rows(envelope)
        now_ms, zone = await self._clock(envelope)
        lines = [f"• {session_label(row, now_ms, zone, current_id)}" for row in rows]
        text = (
            "\n".join([replies.say("sessions_head"), *lines, "", replies.say("sessions_tail")])
            if rows
            else replies.say("no_sessions")
        )
        await self._services.committer.done([envelope], [OutgoingMessage(text)])

    async def take_up(self, tap: Tap, *effects: Statement) -> None:
        """Make an earlier session current again and say where we were."""
        services, envelope, session_id = self._services, tap.envelope, tap.payload["session_id"]
        row = await services.memory.store.session(session_id)
        if row is None or row.conversation_id != envelope.conversation_id:
            await services.committer.done([envelope], [OutgoingMessage(replies.say("session_gone"))], tap.use, *effects)
            return
        ledger = await services.memory.ledgers.read(envelope.conversation_id)
        row = (await self._named([row], ledger, await session_lines(services.db, ledger)))[0]
        last = await services.memory.store.last_turns(session_id, 1)
        now_ms, zone = await self._clock(envelope)
        name, when = shorten(_name(row, now_ms, zone), NAME_CHARS), _ago(row, now_ms, zone)
        text = replies.say("continued", title=with_remarks(name, [when] if row.title else []))
        if said := beginning(last, forgotten_turns(ledger), row.last_seq):
            text += "\n\n" + replies.say("continued_last", user=shorten(said.user_text, QUOTED_CHARS))
        await self._changing(
            envelope,
            OutgoingMessage(text),
            lambda ends: services.memory.recorder.switch(
                envelope.conversation_id, session_id, *ends, tap.use, *effects
            ),
        )

    async def _clock(self, envelope: Envelope) -> tuple[int, str]:
        """Return the time in milliseconds, and the clock by which this person counts days."""
        return self._services.clock.now_ms(), (
            await self._services.people.clock(envelope.conversation_id, envelope.user_id)
        ).name

    async def _rows(self, envelope: Envelope) -> tuple[list[SessionRow], str | None, Collection[str]]:
        """Return the latest sessions by their names, the current one's id, and the ids of those a keeper named."""
        store = self._services.memory.store
        rows = await store.talks(envelope.conversation_id, limit=SESSIONS_SHOWN)
        current_id = await store.current_session_id(envelope.conversation_id)
        ledger = await self._services.memory.ledgers.read(envelope.conversation_id)
        lines = await session_lines(self._services.db, ledger)
        titled = {key for key, line in lines.items() if line.title}
        return await self._named(rows, ledger, lines), current_id, titled

    async def _named(
        self, rows: Sequence[SessionRow], ledger: Ledger, lines: Mapping[str, SessionLine]
    ) -> list[SessionRow]:
        """Sessions as the keeper called them, else by a matter that fits a button or how they began; "" for neither.

        What lasts is no subject: a long fact about the person stood on a button.
        """
        silent = forgotten_turns(ledger)
        matters = [note for note in ledger if not note.lasts and len(note.text) <= BUTTON_CHARS]
        named: list[SessionRow] = []
        for row in rows:
            line = lines.get(row.session_id)
            matter = main_matter(matters, row.session_id)
            title = (line.title if line else "") or (matter.text if matter else "")
            named.append(replace(row, title=title or await self._began(row, silent)))
        return named

    async def _began(self, row: SessionRow, silent: Collection[str]) -> str:
        """The begin of a session, its first sentence or words; "" where they name nothing, or were forgotten."""
        state, _ = state_of_row(row)
        seq = state.active_topics[0].first_seq if state and state.active_topics else 1
        first = beginning(await self._services.memory.store.turns_between(row.session_id, seq, seq), silent, seq)
        if first is None or not tells_something(first.user_text):
            return ""
        words = shorten(first.user_text.strip(), BEGINNING_CHARS)
        return row.title if tells_something(row.title) else replies.say("quoted", text=words)

    async def _changing(
        self,
        envelope: Envelope,
        message: OutgoingMessage,
        change: Callable[[tuple[Statement, ...]], Awaitable[object]],
    ) -> None:
        """Let the recorder change sessions in the same transaction as the message and the end of the update."""
        end = self._services.inbox.done(envelope)
        await self._services.committer.say(Target.of(envelope), [message], lambda *rows: change((end, *rows)))


def to_take_up(rows: Sequence[SessionRow], current_id: str | None) -> list[SessionRow]:
    """The sessions but the current one; one turn that has no topic is none, unless there is nothing else."""
    others = [row for row in rows if row.session_id != current_id]
    return [row for row in others if bare(row.title) or row.turn_count > 1] or others


def session_label(row: SessionRow, now_ms: int, zone: str, current_id: str | None, most: int = NAME_CHARS) -> str:
    """One line about a session: its name, else when it was; when its last turn was."""
    when = replies.say("current") if row.session_id == current_id else _ago(row, now_ms, zone)
    if not bare(row.title) and row.session_id != current_id:
        return as_heading(when_text(row.last_turn_at_ms, now_ms, zone, replies.spoken()))
    return f"{shorten(_name(row, now_ms, zone), most)} · {when}"


def _name(row: SessionRow, now_ms: int, zone: str) -> str:
    """The title of a session, else its day."""
    return bare(row.title) or day_text(row.created_at_ms, now_ms, zone, replies.spoken())


def _ago(row: SessionRow, now_ms: int, zone: str) -> str:
    """`5 hours ago`, `yesterday`, `Fri 27 Nov`."""
    at_ms, language, days = row.last_turn_at_ms, replies.spoken(), -days_from(row.last_turn_at_ms, now_ms, zone)
    if days == 0:
        return replies.ago(now_ms - at_ms)
    if days == 1:
        return when_text(at_ms, now_ms, zone, language, exact=False)
    return day_text(at_ms, now_ms, zone, language)
