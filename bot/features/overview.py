"""/summary and /status: the subject of this conversation, open and lasting notes, and those to come."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from bot import replies
from bot.dates import when_text
from bot.delivery.outbox import OutgoingMessage
from bot.features.lists import by_day
from bot.features.loops import coming_up, soonest
from bot.features.shown import Looked, read_listed, show_read
from bot.headings import by_heading
from bot.intake.updates import Envelope
from bot.lines import name_of, note_line, with_owner
from bot.turns.feature import Action, Command
from bot.turns.services import Services
from memory.context.earlier import standing_now
from memory.context.repeats import NoteWords
from memory.keeper.queue import COMPANY_TURNS
from memory.keeper.session_lines import SessionLine, session_lines
from memory.ledger.ledgers import REWORDED
from memory.ledger.types import Ledger, Note, NoteChange
from memory.ledger.views import (
    agenda,
    best_first,
    dates_to_come,
    forgotten_words,
    is_story,
    is_work,
    rang_last,
    standing,
    to_ring,
)
from memory.storage.store import SessionRow
from memory.text import shorten
from memory.types import SessionState

LINES = 8
"""At most this many lines stand under a heading."""
OPEN_SHOWN = 3
BEFORE_MS = 3 * 3_600_000
"""After so long without a message its subject is the last one, not what is being talked about."""
NEAR_MS = 2 * 24 * 3_600_000
"""What comes up by itself within so long is named in /status."""
LATE_CHARS = 120
SHORT_TURNS = 10
"""A session of fewer turns is summed up with the one before it."""
TALKS_READ = 4
"""Sessions in which the latest standing is looked for."""
NO_LINE = SessionLine("", "")
TOLD = REWORDED | {"status", "owner", "snoozed_until_ms"}
"""The fields of a note that people read."""


# --- pure -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Summed:
    """A session that is summed up."""

    session_id: str
    turns: int
    """The person's."""
    title: str
    """The keeper's; "" for none."""
    standing: str
    """The state of its matter, in the keeper's words."""
    changed: frozenset[int] = frozenset()
    """The numbers of notes that changed since those words; where these are not there, or not whole, in the session."""
    is_whole: bool = False
    """Whether the words stand as they were written: then they tell all that did not change since."""
    before: SessionLine = NO_LINE
    """The session before it, which is told as long as this one is short, or has nothing to tell."""


def changed_in(
    session_id: str, turns: Collection[str], changes: Sequence[NoteChange], ledger: Ledger
) -> frozenset[int]:
    """The numbers of notes that read otherwise by turns of a session, or that were noted in it."""
    own = {note.number for note in ledger if note.session_id == session_id}
    return frozenset(
        each.number
        for each in changes
        if not TOLD.isdisjoint(each.after)
        and (each.number in own or not {each.cause, *each.after.get("turn_ids", ())}.isdisjoint(turns))
    )


def summary_text(session: Summed, ledger: Ledger, now_ms: int, zone: str) -> str:
    """A session for the person in it: its title, how things stand, and the notes that this does not tell."""
    prose = NoteWords.of([session.standing])
    own = set() if session.is_whole else {note.number for note in ledger if note.session_id == session.session_id}
    here = [note for note in ledger if note.number in session.changed | own and not prose.tell(note.text)]
    stories = [note for note in standing(here) if is_story(note)]
    lasting = [note for note in standing(here) if note.lasts and note not in stories]
    going = [note for note in standing(here) if not note.lasts and note not in stories]
    stand = {name_of(note) for note in standing(ledger)}  # what comes again was noted anew
    done = [note for note in here if note.status == "done" and name_of(note) not in stand]
    ended = [with_owner(note, name_of(note)) for note in done]
    parts = (
        session.standing,
        _part(replies.say("summary_matters"), _lines(going, now_ms, zone), len(going)),
        _part(replies.say("summary_told"), _lines(lasting, now_ms, zone), len(lasting)),
        _part(replies.say("summary_stories"), _lines(stories, now_ms, zone), len(stories)),
        _part(replies.say("summary_settled"), ended[-LINES:], len(ended)),
    )
    told = [part for part in parts if part]
    if told:
        told.insert(0, _titled("summary_head", session.title))
    if session.before.standing and (session.turns < SHORT_TURNS or not told):
        told += [_titled("summary_before", session.before.title), session.before.standing]
    return "\n\n".join(told) or replies.say("summary_talk")


def _titled(key: str, title: str) -> str:
    """A head of the summary, with the title where there is one."""
    return replies.say(f"{key}_titled", title=title) if title else replies.say(key)


def _lines(notes: Sequence[Note], now_ms: int, zone: str) -> list[str]:
    """The notes that matter most, in the order in which they were said."""
    best = best_first(notes, now_ms)[:LINES]
    best.sort(key=lambda note: (note.said_at_ms, note.number))
    return [note_line(note, now_ms, zone, heading="story" if is_story(note) else "", brief=True) for note in best]


def _part(head: str, lines: Sequence[str], total: int = 0) -> str:
    """The lines under a head, and how many more there are of them."""
    more = [replies.say("list_more", count=total - len(lines))] if total > len(lines) else []
    return "\n".join([head, *(f"• {line}" for line in lines), *more]) if lines else ""


@dataclass(frozen=True, slots=True)
class ChatStatus:
    """The state of things between a person and the bot."""

    title: str
    """Of the session that goes on, before its first message of the one before it."""
    ledger: Ledger
    is_new: bool = False
    """Whether nobody has written here yet."""
    private: bool = False
    silent_ms: int = 0
    """The time since its last message."""


def topic_of(line: SessionLine, last_seq: int) -> str:
    """The title that a keeper gave a conversation; "" where so much came since that it may be about another thing."""
    return line.title if last_seq - line.read_through_seq < COMPANY_TURNS else ""


def status_text(status: ChatStatus, now_ms: int, zone: str) -> str:
    """The status in a few lines, each with the command that shows more; what is open is real."""
    ledger = status.ledger
    title = "status_title" if status.silent_ms < BEFORE_MS else "status_title_before"
    topic = replies.say(title, title=status.title) if status.title else ""
    talk = replies.say("status_new") if status.is_new else topic
    above = [each for each in (talk, replies.say("status_private") if status.private else "") if each]
    lines = [*above, ""] if above else []
    open_now = [note for note in agenda(ledger, now_ms) if not is_story(note)]
    listed = [note for group in by_day(open_now, now_ms, zone) for note in group.notes]  # as on /loops
    lines.append(replies.say("status_open", count=len(listed)) if listed else replies.say("status_nothing_open"))
    shown = {note.number for note in listed[:OPEN_SHOWN]}
    lines += [f"• {note_line(note, now_ms, zone, brief=True)}" for note in listed[:OPEN_SHOWN]]
    lines += [replies.say("list_more", count=len(listed) - OPEN_SHOWN)] if len(listed) > OPEN_SHOWN else []
    knows = any(name != "faded" for name, _ in by_heading(ledger, now_ms))
    near = [note for note in dates_to_come(ledger, now_ms) if (note.due_at_ms or 0) - now_ms <= NEAR_MS]
    lines += ["", coming_up(near, now_ms, zone, says_more=not knows, within_ms=NEAR_MS), ""] if near else []
    shown |= {note.number for note in soonest(near, now_ms)}
    lines += [replies.say("status_known")] if knows else []
    coming = [note for note in to_ring(ledger) if (note.rings_at_ms or 0) > now_ms]
    if coming and coming[0].number not in shown:
        when = when_text(coming[0].rings_at_ms or now_ms, now_ms, zone, replies.spoken())
        key = "status_work" if is_work(coming[0]) else "status_jobs"
        lines.append(replies.say(key, when=when, title=name_of(coming[0])))
    rang = rang_last(ledger, now_ms)
    if others := ", ".join(name_of(note) for note in rang if note.number not in shown):
        lines.append(replies.say("status_late", titles=shorten(others, LATE_CHARS)))
    elif not coming and not rang:
        lines.append(replies.say("status_no_jobs"))
    return "\n".join(lines)


# --- feature --------------------------------------------------------------------------------------------------------


class Overview:
    """Sums up a conversation for the person in it."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {"summary": self.summary, "status": self.status}
        self.actions: dict[str, Action] = {}

    async def summary(self, envelope: Envelope) -> None:
        """Tell the subject of this session."""
        services = self._services
        state = await services.memory.recorder.current(envelope.conversation_id)
        if state is None:
            await services.committer.done([envelope], [OutgoingMessage(replies.say("summary_none"))])
            return

        async def look() -> Looked:
            return OutgoingMessage(await self._summed_up(state, envelope)), None

        await show_read(services, envelope, look)

    async def _summed_up(self, state: SessionState, envelope: Envelope) -> str:
        services = self._services
        ledger = await read_listed(services, envelope.conversation_id)
        lines = await session_lines(services.db, ledger)
        line = lines.get(state.session_id, NO_LINE)
        before = NO_LINE if state.isolated else await self._before(state, lines)
        if not state.turn_count and not before.standing:
            return replies.say("summary_none")
        row = await services.memory.store.session(state.session_id)
        begun_ms = line.written_at_ms if row is None else row.created_at_ms
        written_ms = [each.written_at_ms for each in (line, before) if each.standing]
        changes = await services.memory.ledgers.after(ledger.conversation_id, min([begun_ms, *written_ms]))
        forgotten = forgotten_words(ledger)
        told, told_before = (
            standing_now(each, ledger, changes, forgotten) if each.standing else "" for each in (line, before)
        )
        before, is_whole = replace(before, standing=told_before), bool(told) and told == line.standing
        since_ms = line.written_at_ms if is_whole else begun_ms
        changes = [each for each in changes if each.at_ms > since_ms]
        turns = {row["turn_id"] for row in await services.db.read("turn_ids_of_session", session_id=state.session_id)}
        changed = changed_in(state.session_id, turns, changes, ledger)
        said = await services.memory.store.said_in(state.session_id)
        summed = Summed(state.session_id, said, line.title, told, changed, is_whole, before)
        zone = (await services.people.clock(envelope.conversation_id, envelope.user_id)).name
        text = summary_text(summed, ledger, services.clock.now_ms(), zone)
        return f"{text}\n\n{replies.say('status_private')}" if state.private else text

    async def status(self, envelope: Envelope) -> None:
        """Say where things stand: this conversation, its open and lasting notes, and those to come."""

        async def look() -> Looked:
            return OutgoingMessage(await self._standing(envelope)), None

        await show_read(self._services, envelope, look)

    async def _standing(self, envelope: Envelope) -> str:
        services = self._services
        state = await services.memory.recorder.current(envelope.conversation_id)
        ledger = await read_listed(services, envelope.conversation_id)
        lines = await session_lines(services.db, ledger)
        talk: SessionState | SessionRow | None = state
        if state is None or not (state.turn_count or state.isolated):  # a reminder may have begun it
            talk = next(iter(await services.memory.store.talks(envelope.conversation_id, limit=1)), None)
        status = ChatStatus(
            topic_of(lines.get(talk.session_id, NO_LINE), talk.last_seq) if talk else "",
            ledger,
            is_new=talk is None or not talk.turn_count,
            private=state is not None and state.private,
            silent_ms=services.clock.now_ms() - talk.last_turn_at_ms if talk else 0,
        )
        zone = (await services.people.clock(envelope.conversation_id, envelope.user_id)).name
        return status_text(status, services.clock.now_ms(), zone)

    async def _before(self, state: SessionState, lines: Mapping[str, SessionLine]) -> SessionLine:
        """The line of the latest other session in which a person spoke, and that has a standing; else none."""
        talks = await self._services.memory.store.talks(state.conversation_id, limit=TALKS_READ)
        others = (lines.get(row.session_id, NO_LINE) for row in talks if row.session_id != state.session_id)
        return next((line for line in others if line.standing), NO_LINE)
