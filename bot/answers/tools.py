"""What the model's tools do in one turn: they read at once; what they change is collected and committed with the turn.

So a turn that dies before its commit leaves nothing behind, and one that is answered again makes its changes once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from typing import Final

import orjson

from bot import replies
from bot.answers.rearrange import line
from bot.answers.responder import Ask
from bot.answers.take_back import restored, taken_back
from bot.reminders.repeats import coming, first_at, read_repeat, rule_of
from bot.reminders.rules import (
    MAX_AHEAD_MS,
    MAX_TITLE_CHARS,
    MORNING_HOUR,
    Reminder,
    advance_reminder,
    insert_reminder,
    job_id_of,
    move_to,
    read_reminder,
    when_text,
)
from bot.reminders.wished import ChangeRequest, Scene, meant_by, moved_to
from bot.reminders.words import words_for
from memory.context.assembler import SearchPort
from memory.context.fence import fence
from memory.context.packet_text import retrieved_line
from memory.context.transcript import MEMBER_TITLE, clip_tool_output
from memory.errors import ContinuityError
from memory.language.due_dates import parse_when
from memory.language.language import Language
from memory.language.languages import Languages
from memory.language.sentences import clean, content_words, lowered, plain_sentence, shorten, stems_of, words_of
from memory.longterm.promoter import memory_of, read_memory_row, writes
from memory.longterm.promotion import MAX_TEXT_CHARS, candidates, write_if_worthy
from memory.ports import Database, Statement
from memory.search.query import Query
from memory.state import loops, state_manager
from memory.types import ConversationTurn, LoopStatus, Memory, MemoryCandidate, MemoryKind, Owner, SessionState
from memory.zones import zone_of

MAX_CALLS: Final = 12
"""Calls of one turn that do something; a model that goes on is told to answer."""
MAX_FOUND: Final = 8
MAX_FORGOTTEN: Final = 3
KNOWN_MAX: Final = 500
SUBJECT_WORDS: Final = 4
MENTIONED: Final = 0.5
"""Share of the words of a request that a note must have to be meant by it."""
NOTING: Final = frozenset({"remember", "open_loop"})
NOTED: Final = ("Noted: ", "On the list: ")
"""How the tools begin that say so when they did it."""
PAST_TITLE: Final = "What was said earlier, found by a search."

Change = Callable[[SessionState], SessionState]


@dataclass(frozen=True, slots=True)
class Tools:
    """What tools read from; `begin` opens the toolbox of one answer."""

    db: Database
    searcher: SearchPort | None
    languages: Languages
    output_max_chars: int

    def begin(self, ask: Ask) -> Toolbox:
        """Return an empty toolbox: each attempt at an answer starts with its own."""
        return Toolbox(self, ask)


class Toolbox:
    """The tools of one attempt at one answer. No method raises: a tool that cannot do it says so to the model."""

    def __init__(self, tools: Tools, ask: Ask) -> None:
        self.ask = ask
        self.job_refs: tuple[str, ...] = ()
        self.noted = False
        """True when something was noted or put on the list, so that the person can undo it."""
        self._tools = tools
        self._effects: list[Statement] = []
        self._changes: list[Change] = []
        self._known: list[Memory] | None = None
        self._returns: dict[str, str] = {}

    @property
    def effects(self) -> tuple[Statement, ...]:
        """What is to be committed with the turn. None of it can fail the turn: a rival that was first wins."""
        return tuple(replace(statement, expect=None) for statement in self._effects)

    @property
    def change(self) -> Change | None:
        """What becomes of the session after the turn was folded, None for nothing."""
        changes = tuple(self._changes)
        return (lambda state: _all(changes, state)) if changes else None

    # --- tools ------------------------------------------------------------------------------------------------------

    async def remember(self, text: str, kind: MemoryKind) -> str:
        """Note one sentence beyond the session, in place of an older value of the same subject."""
        return await self._once("remember", (text, kind), lambda: self._remember(text, kind))

    async def forget(self, what: str) -> str:
        """Stop using the notes that are about this."""
        return await self._once("forget", (what,), lambda: self._forget(what))

    async def take_back(self) -> str:
        """Stop using what was noted last, and let it stand on no list."""
        return await self._once("take_back", (), self._take_back)

    async def open_loop(self, text: str, owner: Owner, due: str | None) -> str:
        """Put a matter on the list of what is open."""
        return await self._once("open_loop", (text, owner, due), lambda: self._open_loop(text, owner, due))

    async def close_loop(self, what: str, outcome: LoopStatus) -> str:
        """Take a matter off the list."""
        return await self._once("close_loop", (what, outcome), lambda: self._close_loop(what, outcome))

    async def remind(self, what: str, when: str) -> str:
        """Set a reminder."""
        return await self._once("remind", (what, when), lambda: self._remind(what, when))

    async def list_reminders(self) -> str:
        """Return the reminders that are to come."""
        return await self._once("list_reminders", (), self._list_reminders, changes=False)

    async def advance_reminder(self, what: str, when: str) -> str:
        """Give a reminder another time."""
        return await self._once("advance_reminder", (what, when), lambda: self._move_reminder(what, when))

    async def cancel_reminder(self, what: str) -> str:
        """Take a reminder back."""
        return await self._once("cancel_reminder", (what,), lambda: self._cancel_reminder(what))

    async def search_past(self, query: str) -> str:
        """Return what was said about this before, as data."""
        return await self._once("search_past", (query,), lambda: self._search_past(query), changes=False)

    # --- how --------------------------------------------------------------------------------------------------------

    async def _once(
        self, name: str, arguments: Sequence[str | None], work: Callable[[], Awaitable[str]], *, changes: bool = True
    ) -> str:
        """Do the same call once however often it is made; cap what it returns."""
        key = self._key(name, arguments)
        if key in self._returns:
            return self._returns[key]
        if len(self._returns) >= MAX_CALLS:
            return "No more tool calls in this turn. Answer the person now."
        if changes and self.ask.third_party:
            return "Not done: the message holds somebody else's text. Ask the person whether they want it."
        try:
            said = await work()
        except ContinuityError:
            return "Not done: the memory is out of reach just now."
        self._returns[key] = clip_tool_output(said, self._tools.output_max_chars)
        return self._returns[key]

    def _key(self, name: str, arguments: Sequence[str | None]) -> str:
        digest = blake2b(orjson.dumps([name, *arguments]), digest_size=8).hexdigest()
        return f"{self.ask.turn_id}:{name}:{digest}"

    def _language(self, text: str) -> Language:
        return self._tools.languages.detect(text)

    async def _memories(self) -> list[Memory]:
        if self._known is None:
            rows = await self._tools.db.read(
                "memories_of_person",
                conversation_id=self.ask.conversation_id,
                user_id=self.ask.user_id,
                limit=KNOWN_MAX,
            )
            self._known = [read_memory_row(row) for row in rows]
        return self._known

    async def _remember(self, text: str, kind: MemoryKind) -> str:
        note = shorten(" ".join(clean(text).split()), MAX_TEXT_CHARS)
        if not note:
            return "Not noted: there is nothing in it."
        known = await self._memories()
        candidate = candidate_of(self.ask, note, kind, self._tools.languages)
        decision = write_if_worthy(candidate, known)
        memory = memory_of(candidate, self.ask.user_id)
        if decision.action == "skip":
            return f"Not noted again: {decision.reason}."
        if any(each.memory_id == memory.memory_id for each in known):
            return "Not noted: one turn notes one thing about one subject, and it was noted already."
        self._effects += writes(memory, decision, self.ask.conversation_id, self._tools.languages)
        gone = [each for each in known if each.memory_id in decision.superseded]
        self._known = [memory, *(each for each in known if each not in gone)]
        instead = f" It replaces: {'; '.join(each.text for each in gone)}" if gone else ""
        self.noted = True
        return f"Noted: {note}{instead}"

    async def _forget(self, what: str) -> str:
        language = self._language(what)
        known = [each for each in await self._memories() if each.status == "active"]
        meant = about(known, what, language)
        if not meant:
            return "No note is about that. Messages themselves are deleted with the command /forget only."
        if len(meant) > MAX_FORGOTTEN:
            listed = "; ".join(each.text for each in meant[:MAX_FOUND])
            return f"Nothing was forgotten: {len(meant)} notes match. Ask which is meant: {listed}"
        self._effects += taken_back(each.memory_id for each in meant)
        self._known = [each for each in known if each not in meant]
        listed = "; ".join(each.text for each in meant)
        return f"Not used any more: {listed}. The messages in which it was said stay until the person sends /forget."

    async def _take_back(self) -> str:
        own = (turn for turn in reversed(self.ask.packet.history) if turn.user_id == self.ask.user_id)
        turn_id = next((turn.turn_id for turn in own if has_noted(turn)), None)
        if turn_id is None:
            return "Nothing was noted lately. The person can look at /memory and delete with /forget."
        known = await self._memories()
        gone = [each for each in known if each.turn_id == turn_id and each.status == "active"]
        ids = [each.memory_id for each in gone]
        self._effects += taken_back(ids)
        self._effects += restored(known, ids, self.ask.conversation_id, self._tools.languages)
        self._changes.append(lambda state: state_manager.undo(state, [turn_id]))
        self._known = [each for each in known if each not in gone]
        listed = "; ".join(each.text for each in gone) or "what was put on the list with it"
        return f"Taken back and not used any more: {listed}. Note again what is right, if the person says it."

    async def _open_loop(self, text: str, owner: Owner, due: str | None) -> str:
        ask, matter = self.ask, " ".join(clean(text).split())
        if not matter:
            return "Not put on the list: there is nothing in it."
        language = self._language(matter)
        due_at_ms = await asyncio.to_thread(moment_of, due, ask, self._language(due)) if due else None
        self._changes.append(
            lambda state: state_manager.open_loop(
                state,
                matter,
                turn_id=ask.turn_id,
                at_ms=ask.now_ms,
                owner=owner,
                kind="commitment" if owner == "assistant" else "task",
                due_at_ms=due_at_ms,
                language=language,
            )
        )
        self.noted = True
        by = f", due {when_text(due_at_ms, ask.now_ms, ask.time_zone)}" if due_at_ms else ""
        return f"On the list: {matter}{by}. Nothing rings for it; that takes a reminder."

    async def _close_loop(self, what: str, outcome: LoopStatus) -> str:
        ask, language = self.ask, self._language(what)
        stems = plain_sentence(lowered(clean(what)), language).stems
        loop = loops.find(ask.state.open_loops, stems, language)
        if loop is None:
            others = loops.find(ask.packet.open_loops, stems, language)
            if others is not None:
                there = self._in_company(others.text)
                return f"Not closed: it was opened in an earlier conversation; /continue leads there: {there}"
            listed = "; ".join(each.text for each in loops.alive(ask.state.open_loops))
            return f"Not closed: nothing on the list is about that. On it: {self._in_company(listed) or 'nothing'}"
        loop_id = loop.loop_id
        self._changes.append(lambda state: _closed(state, loop_id, outcome, ask.now_ms))
        return f"Off the list ({outcome}): {self._in_company(loop.text)}"

    def _in_company(self, words: str) -> str:
        """Return what stands on the list of all; in a group another member may have said it, so it is fenced."""
        return words if self.ask.private else fence(words, MEMBER_TITLE)

    async def _list_reminders(self) -> str:
        reminders = await self._reminders()
        lines = [line(reminder, self.ask, words_for("en")) for reminder in reminders]
        return "\n".join(lines) or "No reminder is set."

    async def _move_reminder(self, what: str, when: str) -> str:
        language = self._language(f"{what} {when}")
        found, said = await self._meant(ChangeRequest("move", what, when), language)
        if found is None:
            return said
        due_at_ms = await asyncio.to_thread(moved_to, when, found, self.ask.now_ms, self.ask.time_zone, language)
        due_at_ms = due_at_ms or await asyncio.to_thread(moment_of, when, self.ask, language)
        if due_at_ms is None:
            return f"Not moved: {when!r} is no time to come that I understand. Say it like: tomorrow at 9"
        self._effects.append(move_to(found, due_at_ms, self.ask.now_ms))
        self.job_refs += (found.job_id,)
        return f"Moved {when_text(due_at_ms, self.ask.now_ms, self.ask.time_zone)}: {found.title}"

    async def _cancel_reminder(self, what: str) -> str:
        found, said = await self._meant(ChangeRequest("cancel", what), self._language(what))
        if found is None:
            return said
        job_id = found.job_id
        self._effects.append(advance_reminder(found, "cancel", self.ask.now_ms))
        self._changes.append(lambda state: state_manager.end_job(state, job_id))
        return f"Cancelled: {found.title}"

    async def _meant(self, wish: ChangeRequest, language: Language) -> tuple[Reminder | None, str]:
        """Return the one reminder that is meant, or None and what to tell the model instead."""
        reminders = await self._reminders()
        meant = meant_by(wish, reminders, Scene(self.ask.state, self.ask.now_ms, of_reminders=True), language)
        if (
            meant
            and meant.reminders
            and not meant.unclear
            and len({reminder.title for reminder in meant.reminders}) == 1
        ):
            return next(
                (reminder for reminder in meant.reminders if reminder.status == "scheduled"), meant.reminders[0]
            ), ""
        listed = "; ".join(line(reminder, self.ask, words_for("en")) for reminder in reminders) or "none"
        return None, f"Nothing was changed: it is not clear which reminder is meant. Ask the person. To come: {listed}"

    async def _reminders(self) -> list[Reminder]:
        ask = self.ask
        rows = await self._tools.db.read("jobs_upcoming", conversation_id=ask.conversation_id, user_id=ask.user_id)
        return [read_reminder(row) for row in rows]

    async def _remind(self, what: str, when: str) -> str:
        ask, title = self.ask, " ".join(clean(what).split())[:MAX_TITLE_CHARS]
        language = self._language(f"{what} {when}")
        often = read_repeat(when, words_for(language.code))
        kind = often.kind if often else ""
        due_at_ms = await asyncio.to_thread(moment_of, often.plain if often else when, ask, language)
        if often:
            due_at_ms = due_at_ms or first_at(kind, ask.now_ms, ask.time_zone, MORNING_HOUR)
            due_at_ms = coming(kind, due_at_ms, ask.now_ms, ask.time_zone)
        if not title:
            return "No reminder was set: ask what it is about."
        if due_at_ms is None:
            return f"No reminder was set: {when!r} is no time to come that I understand. Say it like: tomorrow at 9"
        call_key = self._key("remind", (what, when))
        self.job_refs += (job_id_of(call_key),)
        self._effects.append(
            insert_reminder(
                call_key,
                conversation_id=ask.conversation_id,
                session_id=ask.state.session_id,
                user_id=ask.user_id,
                turn_id=ask.turn_id,
                title=title,
                due_at_ms=due_at_ms,
                time_zone=ask.time_zone,
                now_ms=ask.now_ms,
                repeats=rule_of(kind, due_at_ms, ask.time_zone) if kind else "",
            )
        )
        every = f"{words_for('en').every(kind)}, first " if kind else ""
        when_said = every + when_text(due_at_ms, ask.now_ms, ask.time_zone)
        return replies.say("remind_tool", title=title, when=when_said, zone=ask.time_zone)

    async def _search_past(self, query: str) -> str:
        """In a session that was started fresh only that session is searched."""
        ask, searcher = self.ask, self._tools.searcher
        if searcher is None:
            return "Nothing was found."
        alone = [ask.state.session_id] if ask.state.isolated else None
        found = await searcher.search(
            Query(
                ask.conversation_id,
                query[:MAX_TEXT_CHARS],
                session_ids=alone,
                exclude_turn_ids=[turn.turn_id for turn in ask.packet.history],
                limit=MAX_FOUND,
                now_ms=ask.now_ms,
            )
        )
        lines = [retrieved_line(item) for item in found if alone is None or item.session_id in alone]
        return fence("\n".join(lines), PAST_TITLE) or "Nothing was found beyond the messages that you see."


# --- pure -----------------------------------------------------------------------------------------------------------


def _all(changes: Sequence[Change], state: SessionState) -> SessionState:
    for change in changes:
        state = change(state)
    return state


def _closed(state: SessionState, loop_id: str, outcome: LoopStatus, at_ms: int) -> SessionState:
    with suppress(KeyError):  # the turn itself may have pushed it out of the state
        return state_manager.close_loop(state, loop_id, outcome, at_ms)
    return state


def has_noted(turn: ConversationTurn) -> bool:
    """Return whether the assistant noted something in this turn, or put it on the list."""
    return any(call.name in NOTING and call.result.startswith(NOTED) for call in turn.tool_calls)


def moment_of(when: str, ask: Ask, language: Language) -> int | None:
    """Return the time to come that is meant: an ISO date and time by the person's clock, or words; None for neither."""
    try:
        at = datetime.fromisoformat(when.strip())
    except ValueError:
        timed = parse_when(when, ask.now_ms, ask.time_zone, language)
        at_ms = timed[0] if timed else 0
    else:
        has_hour = len(when.strip()) > len("2026-11-21")
        at = at if has_hour else at.replace(hour=9)
        at_ms = int((at if at.tzinfo else at.replace(tzinfo=zone_of(ask.time_zone))).timestamp() * 1000)
    return at_ms if ask.now_ms < at_ms <= ask.now_ms + MAX_AHEAD_MS else None


def candidate_of(ask: Ask, note: str, kind: MemoryKind, languages: Languages) -> MemoryCandidate:
    """Return the candidate for a note that was asked for; its subject is the sentence's own, else its first words."""
    turn = ConversationTurn(
        turn_id=ask.turn_id,
        session_id=ask.state.session_id,
        conversation_id=ask.conversation_id,
        seq=1,
        user_text=note,
        assistant_text="",
        created_at_ms=ask.now_ms,
    )
    own = next(iter(candidates(turn, languages)), None)
    language = languages.detect(note)
    words = content_words(words_of(lowered(note)), language)[:SUBJECT_WORDS]
    return MemoryCandidate(
        kind=kind,
        subject=own.subject if own else "note:" + "_".join(sorted(stems_of(words, language))),
        text=note,
        score=1.0,
        turn_id=ask.turn_id,
        session_id=ask.state.session_id,
        at_ms=ask.now_ms,
    )


def about(memories: Sequence[Memory], what: str, language: Language) -> list[Memory]:
    """Return the notes that have most of the words of the request, those with the largest share only."""
    wanted = frozenset(stems_of(content_words(words_of(lowered(clean(what))), language), language))
    if not wanted:
        return []
    shares = [len(wanted & stems_of(words_of(lowered(each.text)), language)) / len(wanted) for each in memories]
    best = max(shares, default=0.0)
    return [each for each, share in zip(memories, shares, strict=True) if share == best >= MENTIONED]
