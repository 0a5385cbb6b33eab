"""/summary and /status: what this conversation was about, what is open, what is remembered and what is to come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot import replies
from bot.answers.open_list import ListedLoop
from bot.delivery.outbox import OutgoingMessage
from bot.features.loops import read_open
from bot.features.memories import Memories
from bot.intake.updates import Envelope
from bot.reminders.rules import Reminder, when_text
from bot.turns.feature import Action, Command
from bot.turns.services import Services
from memory.notes.lines import line_of
from memory.notes.types import RULES, LastingNote, Matter, SessionNotes
from memory.notes.view import NotesView

LINES = 8
"""At most this many lines stand under a heading."""
OPEN_SHOWN = 3
LATE_CHARS = 120

Note = Matter | LastingNote


# --- pure -----------------------------------------------------------------------------------------------------------


def summary_text(notes: SessionNotes | None, view: NotesView, turns: int, now_ms: int, zone: str) -> str:
    """Return what a session was about for the person in it: their matters, what they told, what came to its end.

    Nothing that the bot said about its own working is in the notes, and so none is in here.
    """
    title = notes.title if notes else ""
    head = replies.say("summary_head", title=f": {title}" if title else "", turns=replies.counted(turns, "message"))
    standing = notes.standing if notes and notes.reader != RULES else ""
    settled = [replies.say("quoted", text=replies.shorten(each.text)) for each in notes.settled] if notes else []
    parts = (
        standing,
        _part(replies.say("summary_matters"), _lines(view.matters, now_ms, zone)),
        _part(replies.say("summary_told"), _lines(view.lasting, now_ms, zone)),
        _part(replies.say("summary_settled"), settled),
    )
    told = [part for part in parts if part]
    return "\n\n".join([head, *told]) if told else replies.say("summary_talk", turns=replies.counted(turns, "message"))


def _lines(notes: Sequence[Note], now_ms: int, zone: str) -> list[str]:
    """Return the best of them, in the order in which they were said."""
    best = sorted(notes[:LINES], key=lambda note: note.said_at_ms)
    return [line_of(note, now_ms, zone, replies.spoken()) for note in best]


def _part(head: str, lines: Sequence[str]) -> str:
    return "\n".join([head, *(f"• {line}" for line in lines[:LINES])]) if lines else ""


@dataclass(frozen=True, slots=True)
class ChatStatus:
    """Where things stand between a person and the bot."""

    title: str
    turns: int
    """Of the session that goes on."""
    listed: Sequence[ListedLoop]
    """What is open."""
    known: int
    """How many things are remembered."""
    jobs: Sequence[Reminder]


def status_text(status: ChatStatus, now_ms: int, zone: str) -> str:
    """Return where things stand in a few lines, each with the command that shows more."""
    title, turns, listed = status.title, status.turns, status.listed
    named = replies.say("status_title", title=title, turns=replies.counted(turns, "message"))
    plain = replies.say("status_no_title", turns=replies.counted(turns, "message"))
    lines = [(named if title else plain) if turns else replies.say("status_new"), ""]
    lines.append(replies.say("status_open", count=len(listed)) if listed else replies.say("status_nothing_open"))
    lines += [f"• {each.words}" for each in listed[:OPEN_SHOWN]]
    lines.append(replies.say("status_known", things=replies.counted(status.known, "thing")))
    coming = [job for job in status.jobs if job.due_at_ms is not None and job.due_at_ms > now_ms]
    if coming:
        when = when_text(coming[0].due_at_ms or now_ms, now_ms, zone)
        lines.append(replies.say("status_jobs", count=len(coming), when=when, title=coming[0].title))
    rang = [job.title for job in status.jobs if job not in coming]
    if rang:
        lines.append(replies.say("status_late", titles=replies.shorten(", ".join(rang), LATE_CHARS)))
    elif not coming:
        lines.append(replies.say("status_no_jobs"))
    return "\n".join([*lines, "", replies.say("status_tail")])


# --- feature --------------------------------------------------------------------------------------------------------


class Overview:
    """Sums up a conversation for the person in it."""

    def __init__(self, services: Services, memories: Memories) -> None:
        self._services = services
        self._memories = memories
        self.commands: dict[str, Command] = {"summary": self.summary, "status": self.status}
        self.actions: dict[str, Action] = {}

    async def summary(self, envelope: Envelope) -> None:
        """Say what this session was about, read up to its last message."""
        services = self._services
        state = await services.memory.recorder.current(envelope.conversation_id)
        if state is None or not state.turn_count:
            await services.committer.done([envelope], [OutgoingMessage(replies.say("summary_none"))])
            return
        notes, view = await self._noted(envelope, state.session_id)
        zone = (await services.people.time_zone(envelope.user_id)).name
        text = summary_text(notes, view, state.turn_count, services.clock.now_ms(), zone)
        await services.committer.done([envelope], [OutgoingMessage(text)])

    async def status(self, envelope: Envelope) -> None:
        """Say where things stand: this conversation, what is open, remembered and to come."""
        services = self._services
        state = await services.memory.recorder.current(envelope.conversation_id)
        notes = (await self._noted(envelope, state.session_id))[0] if state else None
        status = ChatStatus(
            notes.title if notes else "",
            state.turn_count if state else 0,
            await read_open(services.memory, envelope.conversation_id),
            len(await self._memories.read(envelope)),
            await services.reminders.upcoming(envelope.conversation_id, envelope.user_id),
        )
        zone = (await services.people.time_zone(envelope.user_id)).name
        text = status_text(status, services.clock.now_ms(), zone)
        await services.committer.done([envelope], [OutgoingMessage(text)])

    async def _noted(self, envelope: Envelope, session_id: str) -> tuple[SessionNotes | None, NotesView]:
        """Return the notes of one session, and what of them is alive; in a group only what this person said."""
        notes, whose = self._services.memory.notes, None if envelope.private else envelope.user_id
        view = await notes.view(envelope.conversation_id, only=session_id, user_id=whose)
        read = await notes.sessions(envelope.conversation_id, only=session_id, catch_up=False)
        return (read[0] if read else None), view
