"""The tool `schedule`: a note that rings and whose text is work for the model, told with its cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import time
from typing import Any, Final

from bot import replies
from bot.answers.answer_buttons import Rows
from bot.answers.tools.desk import Desk, Refused, Wish
from bot.answers.tools.ringing import ring_time
from bot.dates import clock_text, every_text, when_text
from bot.delivery.outbox import Button
from bot.lines import clock_name, name_of, shows_same_hour
from bot.people.choices import PersonalChoices, TimeZone
from bot.people.spending import money
from bot.tasks.task import ONCE, SKIP, QuietHours, Task, read_missed
from bot.tools.call import written
from bot.tools.presence import can_be_asked
from bot.tools.tool import CallContext, NotDone, Place, Tool, ToolResult
from memory.ledger.lines import entitled
from memory.ledger.types import ASSISTANT, Add, Note
from memory.ports import Database, Statement

SCHEDULE: Final = "schedule"
TRY_TASK: Final = "task_try"
MOST_TASKS: Final = 20
"""Of one conversation: to want more is to want something else."""
LATELY_MS: Final = 30 * 86_400_000
"""The cost of a run is estimated from answers of so long."""
_TEXT: Final = {"type": "string"}
_PARAMETERS: Final = {
    "type": "object",
    "properties": {
        "title": _TEXT | {"description": "For their lists: Bread history."},
        "text": _TEXT | {"description": "Your work, as they'd ask."},
        "at": _TEXT | {"description": "As in remind."},
        "repeats": _TEXT | {"description": "As in remind."},
        "missed": _TEXT | {"description": "If I was off: once (late, the default), skip, or the last hour, 10:00."},
        "first": {
            "type": "object",
            "description": "A reading tool called first; the same result as last time ends it at no cost.",
            "properties": {"tool": _TEXT, "arguments": {"type": "object"}},
            "required": ["tool", "arguments"],
        },
    },
    "required": ["title", "text", "at"],
}
_WORDS: Final = (
    "Work for you at a time: text is put to you then, your answer sent (remind sends its text as it is). "
    "By number remind moves, change rests, end ends it."
)
TOLD: Final = "A line under your answer tells when and what it costs: don't repeat that."


async def _with_the_turn(_: Mapping[str, Any], __: CallContext) -> ToolResult:
    raise NotDone("it is done with the turn")


TOOL: Final = Tool(
    SCHEDULE, _WORDS, _PARAMETERS, _with_the_turn, reads_only=True, trusted=True, with_turn=True, keeps=True
)


async def offered(place: Place) -> Sequence[Tool]:
    """The tool, in chats where somebody can stop its tasks."""
    return (TOOL,) if can_be_asked(place) else ()


class ScheduleTool:
    """Tasks scheduled in one turn."""

    def __init__(self, desk: Desk, db: Database, people: PersonalChoices, quiet: QuietHours | None) -> None:
        self._desk = desk
        self._db = db
        self._people = people
        self._quiet = quiet
        self.effects: tuple[Statement, ...] = ()
        """To be committed with the turn; none of it can fail the turn."""
        self.footnotes: tuple[str, ...] = ()
        self.buttons: Rows = ()

    async def schedule(self, given: Mapping[str, Any]) -> str:
        """Make a task, and return its note's line. Raises `Refused`, `StorageUnavailable`."""
        desk, ask = self._desk, self._desk.ask
        title, work, at, repeats = (str(given.get(name) or "") for name in ("title", "text", "at", "repeats"))
        text = entitled(title, work) if work.strip() else ""
        missed, first = read_missed(str(given.get("missed") or "")), await self._first(given.get("first"))
        if missed is None:
            raise Refused(f"Not done: missed is {ONCE}, {SKIP}, or an hour such as 10:00.")
        standing = {note.note_id for note in desk.notes.open()}
        rows = await self._db.read("tasks_of", conversation_id=ask.conversation_id)
        if sum(row["note_id"] in standing for row in rows) >= MOST_TASKS:
            raise Refused(f"Not done: there are {MOST_TASKS} tasks here already; /tasks shows them.")
        ring = await ring_time(desk, Wish(at=at, repeats=repeats))
        if ring.also or ring.again:
            raise Refused("Not done: a task has one time, or repeats.")
        note_id = desk.note_id(SCHEDULE, text, at, repeats)
        fields = desk.origin() | {"rings_from": ring.local, "repeats": ring.rule, "owner": ASSISTANT}
        said = desk.done("Scheduled", Add(kind="task", text=text, note_id=note_id, fields=fields))
        note = desk.notes.ledger.by_id(note_id)
        if note is None:
            return said
        task = Task(note_id, ask.conversation_id, ask.user_id, ask.turn_id, missed, first, created_at_ms=ask.now_ms)
        self.effects += (task.put(),)
        own = await self._own_clock()
        told = confirmation(note, task, ask.now_ms, own, cost=await self._cost(), quiet=self._quiet)
        self.footnotes += (told,)
        self.buttons += ((Button(replies.say("task_try"), TRY_TASK, {"note_id": note_id}),),)
        return f"{said}{ring.remark} {TOLD}"

    async def _first(self, given: Any) -> str:
        """A call that is made before the model is asked, as JSON; "" for none. Raises `Refused`."""
        if not given:
            return ""
        ask, call = self._desk.ask, given if isinstance(given, dict) else {}
        name, arguments = call.get("tool"), call.get("arguments") or {}
        tool = next((each for each in ask.tools if each.name == name), None)
        if tool is None or tool.with_turn or not tool.runs_unasked or not isinstance(arguments, dict):
            raise Refused("Not done: first names one of your tools that only reads and is used without asking.")
        if missing := [each for each in tool.parameters.get("required", ()) if each not in arguments]:
            raise Refused(f"Not done: first lacks {', '.join(missing)}.")
        context = CallContext("", ask.turn_id, ask.place, self._desk.zone, ask.now_ms, ask.own_words)
        try:
            asks = tool.asks is not None and await tool.asks(arguments, context)
        except NotDone as exc:
            raise Refused(f"Not done: {exc}.") from None
        if asks:
            raise Refused("Not done: nobody gave the address in first. Ask the person for it, word for word.")
        return written({"tool": name, "arguments": arguments})

    async def _own_clock(self) -> TimeZone:
        """The person's own clock, in a group not the group's."""
        desk, ask = self._desk, self._desk.ask
        if ask.private:
            return TimeZone(desk.zone, desk.zone_known)
        return await self._people.reader(ask.conversation_id, ask.user_id)

    async def _cost(self) -> str:
        """The cost of each run, as far as answers of late tell; "" where their price is not known."""
        ask = self._desk.ask
        where = {"conversation_id": ask.conversation_id, "since_ms": ask.now_ms - LATELY_MS}
        row = await self._db.read_one("task_figures", **where)
        if row is None or row["cost_nanodollars"] is None:
            return ""
        return replies.say("task_cost", amount=money(round(row["cost_nanodollars"])))


def confirmation(note: Note, task: Task, now_ms: int, own: TimeZone, *, cost: str, quiet: QuietHours | None) -> str:
    """The confirmation of a task for the person: when, the fate of a missed date, the cost.

    Its clock is named where the person's `own` shows another hour, or nobody chose one.
    """
    language, at_ms = replies.spoken(), note.rings_at_ms or now_ms
    when = when_text(at_ms, now_ms, note.time_zone, language)
    if not shows_same_hour(at_ms, note.time_zone, own.name):
        when = f"{when} ({clock_name(note.time_zone)})"
    every, title = every_text(note.repeats, language, now_ms) if note.repeats else "", name_of(note)
    said = [replies.say("task_set_series" if every else "task_set", every=every, when=when, title=title)]
    if quiet is not None and quiet.until_ms(at_ms, note.time_zone) is not None:
        said.append(replies.say("task_set_quiet"))
    if task.first_json:
        said.append(replies.say("task_first"))
    told = " ".join(filter(None, [*said, missed_text(task), cost]))
    return told if own.chosen else f"{told}\n{replies.say('zone_hint', zone=own.name)}"


def missed_text(task: Task) -> str:
    """The fate of a missed date; "" where it is made up for once, as by default."""
    if task.missed == ONCE:
        return ""
    if task.missed == SKIP:
        return replies.say("task_set_skip")
    return replies.say("task_set_until", hour=clock_text(time.fromisoformat(task.missed), replies.spoken()))
