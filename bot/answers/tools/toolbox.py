"""The model's tools: notes by their numbers, reminders, a search. Each answers with the note's line after the call.

Later calls of the turn see their changes, which are committed with the turn: one that dies before its commit
leaves nothing behind, and one that is answered again makes its changes once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot import replies
from bot.answers.answer_buttons import Rows, join_buttons, undo_buttons
from bot.answers.responder import Ask, Picture
from bot.answers.tools import calls, ending, noting, past, ringing
from bot.answers.tools.desk import Desk, Refused, Wish
from bot.answers.tools.forgetting import ForgetTool
from bot.answers.tools.past import Places, Wanted
from bot.answers.tools.scheduling import ScheduleTool
from bot.answers.tools.sending import SEND_FILE, SendTool
from bot.answers.tools.settings import SettingsTool
from bot.answers.tools.working_copy import WorkingCopy
from bot.delivery.outbox import OutgoingMessage
from bot.lines import name_of
from bot.people.choices import PersonalChoices
from bot.tasks.task import QuietHours
from bot.tools.calls import Calls
from bot.tools.many import USE
from bot.tools.results import heard
from bot.tools.tool import CallContext, Tool
from bot.tools.turn_calls import CallingTurn, TurnCalls
from bot.tools.web.searching import WebResult, elsewhere
from memory.context.fence import FENCE_CHARS, fence_once
from memory.context.transcript import RESULT_TITLE, clip_tool_output, repeats_nobody
from memory.errors import ContinuityError
from memory.ledger.ledgers import Ledgers
from memory.ledger.types import Actor, Operation
from memory.ledger.views import is_story
from memory.ports import Statement
from memory.types import ToolCall

MAX_CALLS: Final = 24
"""Calls of one turn that do something; a model that goes on is told to answer."""
ENOUGH: Final = "No more tool calls in this turn. Answer the person now."
MOST_KEPT: Final = 4
"""So many settings and notes are named under an answer that was stopped."""
FOREIGN: Final = "Not done: {whence} somebody else's text. Ask the person whether they want it."
Work = Callable[[], Awaitable[str]]
KEPT_PRIVATE: Final = (
    "Not done: this conversation is private, nothing of it is noted, set or kept. Where the person wants it kept, tell "
    "them to say it again after /fresh or /continue, which end it."
)


@dataclass(frozen=True, slots=True)
class Tools:
    """The memory and clock that tools read from; `begin` opens the toolbox of one answer."""

    ledgers: Ledgers
    places: Places
    people: PersonalChoices
    output_max_chars: int
    calls: Calls
    """Makes calls of tools beyond the notes."""
    quiet: QuietHours | None = None
    """The hours in which no task runs."""

    def begin(self, ask: Ask) -> Toolbox:
        """An empty toolbox: each attempt at an answer starts with its own."""
        by = Actor("model", ask.now_ms, ask.turn_id)
        notes = WorkingCopy(ask.ledger, ask.scope, by, self.ledgers.reserve)
        asked = CallingTurn(
            ask.turn_id,
            ask.place,
            ask.time_zone,
            ask.now_ms,
            third_party=ask.third_party or ask.unsure,  # what may have been misheard sets nothing off unasked
            repeats=ask.repeats,
            earlier=ask.earlier,
            said=ask.own_words,
            heard=heard(ask.packet.history, ask.tools),
        )
        turn_calls = TurnCalls(self.calls, asked, self.output_max_chars)
        return Toolbox(self, Desk(ask, notes, ask.time_zone, zone_known=ask.time_zone_chosen), turn_calls)


class Toolbox:
    """The tools of one attempt at one answer. No tool raises: one that cannot do it says so to the model."""

    def __init__(self, tools: Tools, desk: Desk, turn_calls: TurnCalls) -> None:
        self._tools = tools
        self._max_chars = tools.output_max_chars
        self._desk = desk
        self._calls = 0
        self.pictures: list[Picture] = []
        """Pictures that calls have shown so far."""
        self._settings = SettingsTool(desk, tools.people)
        self._forgetting = ForgetTool(desk)
        self._sending = SendTool(desk, tools.calls.db)
        self._scheduling = ScheduleTool(desk, tools.calls.db, tools.people, tools.quiet)
        self._further = {tool.name: tool for tool in desk.ask.tools}
        self._turn_calls = turn_calls

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The changes of the notes, applied at the commit, to the ledger of that moment."""
        return self._desk.notes.operations

    @property
    def effects(self) -> tuple[Statement, ...]:
        """Further statements to be committed with the turn; none can fail it."""
        return (*self._settings.effects, *self._scheduling.effects, *self._desk.goes_on, *self._turn_calls.effects)

    @property
    def footnotes(self) -> tuple[str, ...]:
        """Lines for the person under the answer."""
        return self._scheduling.footnotes

    def stop(self) -> tuple[str, ...]:
        """The line for a person who stops the answer: the settings, and the real notes added, changed or ended for it.

        Questions that nobody was asked yet are dropped.
        """
        self._turn_calls.drop_questions()
        notes = (note for note in self._desk.notes.changed if not (is_story(note) or note.is_forgotten))
        changed = [*self._settings.chosen, *map(name_of, notes)]
        more = [f"+{len(changed) - MOST_KEPT}"] if len(changed) > MOST_KEPT else []
        return (replies.say("stopped_kept", what="; ".join([*changed[:MOST_KEPT], *more])),) if changed else ()

    @property
    def earlier(self) -> tuple[ToolCall, ...]:
        """Calls that were made for this turn before; the model is told of them as if it had just made them."""
        return self._turn_calls.earlier

    @property
    def messages(self) -> tuple[OutgoingMessage, ...]:
        """The files that the person is sent, and the questions about further tools."""
        return (*self._sending.messages, *self._turn_calls.messages)

    @property
    def buttons(self) -> Rows:
        """[Undo] where notes were changed, and the buttons that delete the messages behind forgotten ones.

        First the one that brings back what a call missed.

        Where only notes of a story changed no button breaks the scene.
        """
        undo = undo_buttons(self._desk.ask.turn_id) if self._desk.notes.changes_the_world else ()
        join = join_buttons(self._desk.ask.turn_id) if self._desk.missed else ()
        return (*join, *self._scheduling.buttons, *undo, *self._forgetting.buttons)

    # --- for the model ----------------------------------------------------------------------------------------------

    def offered(self) -> tuple[dict[str, Any], ...]:
        """The tools as a request offers them: the notes' first and unchanged, so that a provider's cache holds."""
        notes = calls.offered(only_reads=self._desk.ask.state.private)
        return (*notes, *(calls.offer(tool) for tool in self._further.values() if not tool.hidden))

    async def call(self, call_id: str, name: str, arguments: str) -> str:  # noqa: ARG002 - no provider's id is relied on
        """Make one call and return the tool's answer; `call_id` is the provider's.

        Raises `WrongCall`, and `StorageUnavailable` where a further tool's call cannot be written down.
        """
        if name == USE and USE in self._further:
            name, arguments = calls.inner(arguments)
        tool = self._further.get(name)
        if tool is None:
            given = calls.given(name, arguments, list(self._further))
            return str(await getattr(self, name)(**given))
        given = calls.further(tool, arguments)
        if tool.name == SEND_FILE:
            return await self._once(lambda: self._sending.send(given), changes=False)
        if tool.with_turn:
            return await self._once(lambda: self._scheduling.schedule(given))
        self._calls += 1
        if self._calls > MAX_CALLS:
            return ENOUGH
        said = clip_tool_output(await self._turn_calls.make(tool, given), self._max_chars)
        await self._show(tool, given)
        return said

    async def searched(self, query: str, found: Sequence[tuple[str, str]]) -> str:
        """Keep a provider's own search as a call that was made; return its text."""
        pages = [WebResult(title, url, "") for title, url in found]
        return await self._turn_calls.make(elsewhere(pages), {"query": query})

    async def look_again(self) -> None:
        """Show again the lines of calls of an attempt that was broken off."""
        for call in self.earlier:
            tool = self._further.get(call.name)
            if tool is not None:
                await self._show(tool, calls.further(tool, call.arguments))

    async def _show(self, tool: Tool, given: dict[str, Any]) -> None:
        if tool.shows is not None:
            ask = self._desk.ask
            context = CallContext("", ask.turn_id, ask.place, ask.time_zone, ask.now_ms)
            self.pictures += (Picture("image/jpeg", data) for data in await tool.shows(given, context))

    # --- tools ------------------------------------------------------------------------------------------------------

    async def note(self, text: str, kind: str, **fields: str) -> str:
        """Add a note: its text and kind, and its due, owner, about and repeats."""
        return await self._once(lambda: noting.note(self._desk, text, kind, fields))

    async def change(self, numbers: Any, **fields: str) -> str:
        """Give notes another text, day, rhythm, kind or owner, or put them off; of a series one date another day."""
        return await self._once(lambda: noting.change(self._desk, numbers, fields), restores=True)

    async def end(self, numbers: Any, how: str, date: str = "") -> str:
        """End notes, or let them stand again; of a series one date."""
        return await self._once(lambda: ending.end(self._desk, numbers, how, date), restores=True)

    async def remind(self, **wish: Any) -> str:
        """Set, move or silence a reminder."""
        return await self._once(lambda: ringing.remind(self._desk, Wish(**wish)), restores=True)

    async def search(self, query: str = "", since: str = "", until: str = "") -> str:
        """Notes and messages that bear on this."""
        return await self._once(
            lambda: past.search(
                self._desk,
                self._tools.places,
                Wanted(query, since, until),
                self._max_chars,
                self._tools.ledgers,
            ),
            changes=False,
        )

    async def forget(self, numbers: Any, text: str = "") -> str:
        """Use notes no more, or with `text` a detail of one, and offer to delete the messages behind it."""
        return await self._once(lambda: self._forgetting.forget(numbers, text))

    async def settings(self, time_zone: str = "", language: str = "", name: str = "") -> str:
        """Keep the person's clock, language and name."""
        return await self._once(lambda: self._settings.choose(time_zone, language, name))

    # --- how --------------------------------------------------------------------------------------------------------

    async def _once(self, work: Work, *, changes: bool = True, restores: bool = False) -> str:
        """Do one call; its result is capped, and fenced in a group where it may repeat somebody's words."""
        said = await self._done(work, changes=changes, restores=restores)
        if self._desk.ask.private or repeats_nobody(said):
            return clip_tool_output(said, self._max_chars)
        return fence_once(clip_tool_output(said, self._max_chars - FENCE_CHARS), RESULT_TITLE)

    async def _done(self, work: Work, *, changes: bool, restores: bool) -> str:
        """Do the work of a call, if it may be done; behind somebody else's words what `restores` notes, if asked for.

        In a run by the clock nobody asks for it.
        """
        self._calls += 1
        if self._calls > MAX_CALLS:
            return ENOUGH
        ask = self._desk.ask
        if changes and ask.state.private:
            return KEPT_PRIVATE
        if changes and (ask.third_party or (self._turn_calls.is_foreign and (ask.by_clock or not restores))):
            return FOREIGN.format(whence="the message holds" if ask.third_party else "a tool brought")
        try:
            return await (self._restored(work) if changes and self._turn_calls.is_foreign else self._missing(work))
        except Refused as exc:
            return str(exc)
        except ContinuityError:
            return "Not done: the memory is out of reach just now."

    async def _restored(self, work: Work) -> str:
        """Do the work where it only takes back what the model did since the person's last message but one.

        “Undo that, and look up when it opens”: a page that asks for it gains nothing, and a tap brings it back.
        """
        desk, begun, rest = self._desk, self._desk.notes.now(), self._desk.goes_on
        said = await self._missing(work)
        last = desk.ask.packet.history[-1:]
        earlier = [await self._tools.ledgers.after(desk.ask.conversation_id, each.created_at_ms - 1) for each in last]
        if desk.notes.restores(begun[0], [change for changes in earlier for change in changes]):
            return said
        desk.notes.back_to(*begun)
        desk.goes_on = rest
        return FOREIGN.format(whence="a tool brought")

    async def _missing(self, work: Work) -> str:
        """Do the work; what an earlier call missed is found where this one changes a note and misses nothing."""
        desk, changes = self._desk, self._desk.notes.changes
        missed, desk.missed = desk.missed, False
        try:
            return await work()
        finally:
            desk.missed |= missed and desk.notes.changes == changes
