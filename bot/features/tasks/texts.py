"""Sentences about tasks and their runs, with the buttons. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot import replies
from bot.answers.tools.scheduling import TRY_TASK, missed_text
from bot.dates import when_text
from bot.delivery.outbox import Button, OutgoingMessage
from bot.features.lists import Group, Listing
from bot.lines import bare, name_of, note_line, with_remarks
from bot.tasks.starts import let_go
from bot.tasks.task import FAILED, Task, TaskRun
from memory.ledger import lines, series
from memory.ledger.lines import TITLE_END
from memory.ledger.types import End, Ledger, Note, Operation
from memory.ledger.views import standing
from memory.text import shorten

OPEN, PAGE, SKIP_NEXT, PAUSE, GO_ON, STOP = (
    "task_open", "task_page", "task_skip", "task_pause", "task_go_on", "task_stop"
)  # fmt: skip
RESULT_CHARS = 1_500
"""Of the last result so much is handed over to the next run."""
RESULT_TITLE = "What you answered at the run before:"


@dataclass(frozen=True, slots=True)
class Board:
    """The tasks of a conversation with how each went last."""

    tasks: Mapping[str, Task] = field(default_factory=dict)
    latest: Mapping[str, TaskRun] = field(default_factory=dict)

    def notes(self, ledger: Ledger) -> list[Note]:
        """The notes that are tasks still, the next to run first."""
        found = [note for note in standing(ledger) if note.note_id in self.tasks and note.rings]
        return sorted(found, key=lambda note: (note.rings_at_ms is None, note.rings_at_ms or 0, note.number))


# --- /tasks ---------------------------------------------------------------------------------------------------------


def task_list(board: Board, ledger: Ledger, now_ms: int, zone: str) -> Listing | OutgoingMessage:
    """The list of tasks here, or the sentence that there is none."""
    found = board.notes(ledger)
    if not found:
        return OutgoingMessage(replies.say("tasks_none"))
    return Listing(
        head=replies.say("tasks_head"),
        groups=[Group("", found)],
        line=lambda note: _line(board, note, now_ms, zone),
        button=lambda number, note: Button(str(number), OPEN, {"note_id": note.note_id}),
        turns_page=PAGE,
        foot=replies.say("tasks_foot"),
    )


def _line(board: Board, note: Note, now_ms: int, zone: str) -> str:
    task, run = board.tasks[note.note_id], board.latest.get(note.note_id)
    if task.paused_why or note.is_paused:
        return with_remarks(name_of(note), [_paused(task)])
    told = [run] if run and run.state != "done" else []
    line = note_line(_without(note, told), now_ms, zone, brief=True, heading="tasks")
    return " · ".join([line, *(_became(each, now_ms, zone) for each in told)])


def _without(note: Note, runs: Sequence[TaskRun]) -> Note:
    """The note without the dates of runs that are told beside it: these say why nothing came of them."""
    told = {run.occurrence for run in runs}
    kept = tuple(each for each in note.occurrences if each.state != "passed" or each.original_local not in told)
    return note.model_copy(update={"occurrences": kept})


def task_page(note: Note, task: Task, runs: Sequence[TaskRun], now_ms: int, zone: str) -> OutgoingMessage:
    """One task: its dates, the whole of the work, the last runs, and its buttons."""
    text = [note_line(_without(note, runs), now_ms, zone, heading="tasks")]
    if (work := bare(note.text)) != name_of(note):
        text.append(work.removeprefix(f"{name_of(note)}{TITLE_END}"))
    if missed := missed_text(task):
        text.append(missed)
    if task.first_json:
        text.append(replies.say("task_first"))
    rests = bool(task.paused_why or note.is_paused)
    if task.paused_why:
        text.append(_paused(task))
    if runs:
        text += ["", replies.say("task_runs"), *(f"• {_became(run, now_ms, zone)}" for run in runs)]
    payload = {"note_id": note.note_id}
    rest = ("task_go_on", GO_ON) if rests else ("task_pause", PAUSE)
    first, second = [("task_try", TRY_TASK)], [rest] if note.repeats else []
    if note.repeats and note.rings_at_ms is not None and not rests:
        first.append(("task_skip", SKIP_NEXT))
    second += [("task_stop", STOP), ("back", PAGE)]
    rows = tuple(tuple(Button(replies.say(key), action, payload) for key, action in row) for row in (first, second))
    return OutgoingMessage("\n".join(text), buttons=rows)


def _paused(task: Task) -> str:
    return replies.say("task_is_paused_failed" if task.paused_why == FAILED else "task_is_paused")


def _became(run: TaskRun, now_ms: int, zone: str) -> str:
    """`today at 07:30: done`."""
    when = when_text(run.due_at_ms, now_ms, zone, replies.spoken())
    why = f"task_why.{run.why}"
    more = f" ({replies.say(why)})" if run.why and replies.known(why) else ""
    return f"{when}: {replies.say(f'task_state.{run.state}')}{more}"


# --- a run ----------------------------------------------------------------------------------------------------------


def stop_row(note: Note, *, again: bool = False) -> tuple[tuple[Button, ...], ...]:
    """[Stop these] under a run of a series, with [Try again] where it failed."""
    payload = {"note_id": note.note_id}
    row = [Button(replies.say("try_again"), TRY_TASK, payload)] if again else []
    row += [Button(replies.say("task_stop_these"), STOP, payload)] if note.repeats else []
    return (tuple(row),) if row else ()


def failed_text(note: Note, why: str, *, pauses: bool) -> OutgoingMessage:
    """The sentence about a run that came to nothing; after the third in a row, that the task rests now."""
    title = name_of(note)
    if not pauses:
        return OutgoingMessage(replies.say("task_failed", title=title, why=why), buttons=stop_row(note, again=True))
    payload = {"note_id": note.note_id}
    labels = (("task_go_on", GO_ON), ("task_stop_these", STOP))
    row = tuple(Button(replies.say(key), action, payload) for key, action in labels)
    return OutgoingMessage(replies.say("task_paused", title=title, why=why), buttons=(row,))


def order(note: Note, run: TaskRun, zone: str) -> str:
    """What a run asks of the model: who sent it, since when it is due, and what to answer."""
    due = f"The clock sent this message, not the person: it is their task #{note.number}, due"
    tried = f"This message is their task #{note.number}: the person tapped [Try now] to see"
    begun = f"{tried} what comes of it." if run.is_asked_for else f"{due} {lines.moment(run.due_at_ms, zone)}."
    return f"{begun} Do it now and answer with its result alone. Nobody is there to answer a question."


def result_before(text: str) -> tuple[str, ...]:
    """The result of the run before, for the model; nothing where there was none."""
    result = shorten(text, RESULT_CHARS)  # the block in which all of it stands is a fence: none inside it
    return (f"{RESULT_TITLE}\n{result}",) if result else ()


def over(note: Note, run: TaskRun, *, done: bool = True, again: bool = False) -> tuple[Operation, ...]:
    """Operations at the end of a run: its date is done, and a note that comes once with it, or let go.

    The date of a run is the latest that had come when it began: for [Try again] also one of which nothing came.
    """
    states = {"rang", "passed"} if done else {"rang"}
    came = [each for each in note.occurrences if series.moment_of(note, each) <= run.created_at_ms]
    date = next((each.original_local for each in reversed(came) if each.state in states), None)
    if date is None:
        return ()
    if not done:
        return (let_go(note, date, again=again),)
    return (End(number=note.number, occurrence=date if note.repeats else ""),)
