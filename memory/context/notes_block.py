"""The notes in a prompt: the block that its session begins with, changes of the ledger since, and events. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Final

from memory.context.budget import cost_of, fitting
from memory.context.repeats import stands_in_calls
from memory.ledger.events import (
    KNOWN_CHARS,
    by_note,
    events,
    is_by_clock,
    is_by_hand,
    is_event,
    is_rung_alone,
    moved_ring,
    ran_alone,
    rung_by,
    untold_events,
)
from memory.ledger.lines import (
    LEAST_CHARS,
    as_now,
    clipped,
    in_brief,
    model_line,
    named,
    successor,
    with_successor,
)
from memory.ledger.own_dates import at_next_date
from memory.ledger.rules import goes_on_daily, goes_on_often
from memory.ledger.types import ANYBODYS, Ledger, Note, NoteChange
from memory.ledger.views import (
    DAY_MS,
    PLANNED_MS,
    WEIGHS,
    Scope,
    agenda,
    belongs,
    breakdown,
    has_faded,
    is_over,
    is_past,
    is_story,
    is_work,
    moment_of,
    standing,
    waits_for_word,
    within,
    worth,
)
from memory.ports import TokenCounter
from memory.text import shorten
from memory.types import NotesMark

LASTING_TOKENS, LASTING_MORE_TOKENS = 200, 200
"""Most tokens of the block for what lasts and goes on where what is open takes all of its own; and more elsewhere."""
SINCE_TOKENS: Final = 250
"""When the changes since take more, the block is taken anew: it would be told again with every message."""
MAX_OPEN: Final = 20
"""Open matters that are told, the least urgent in brief where not all have room.

003 AC-3.4 says five: with five the wedding cake of a baker's week stood in none of five prompts (trials).
"""
MORE_TOKENS, NAMED_TOKENS = 16, 140
"""Tokens of the line that counts the rest, and of one that also names what is open of it."""
STALE_MS, FAR_MS, BY_TOMORROW_MS, NEXT_MS = 7 * DAY_MS, 180 * DAY_MS, 36 * DAY_MS // 24, 3 * DAY_MS
"""A note that nobody spoke of for longer comes last, unless it is due (003 AC-3.3)."""
LASTS: Final = 0.1
"""The extra weight of decisions and preferences over mere facts."""
DEAR: Final = 0.9
"""From this weight on somebody would be hurt if it were forgotten, as keepers are told."""
MAX_OUTDATED, COLD_MS = 3, 3_600_000
"""With more outdated lines, or one after so long a pause, the block is taken anew: no provider has its bytes then."""
Shortened = Callable[[Note], Note]
BRIEF: Final[Sequence[Shortened]] = (clipped, in_brief)
SHORTER: Final[Sequence[Shortened]] = (*BRIEF, *(partial(in_brief, chars=chars) for chars in LEAST_CHARS))
"""What the lines of open notes lose where room is short: a long text's end, a second moment, more of the text."""


@dataclass(frozen=True, slots=True)
class Block:
    """The notes that a session's prompts begin with."""

    mark: NotesMark | None = None
    lasting: tuple[str, ...] = ()
    """Best first."""
    open: tuple[str, ...] = ()
    """By their time."""
    more: int = 0
    """Notes that are only counted."""
    named: tuple[str, ...] = ()
    """How these begin where they are open or have a day to come, as far as there is room."""
    room: int = 0  # that what lasts leaves to them
    lines: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    """Each line by the number of its note."""
    ledger: Ledger | None = field(default=None, compare=False, repr=False)
    """The notes that it was taken of."""

    @property
    def more_line(self) -> str:
        """The line that counts the rest; "" for none."""
        named, many = ", ".join([*self.named, *(["…"] if self.more > len(self.named) > 0 else [])]), self.more > 1
        line = (
            f"(and {self.more} more note{'s' * many}: {named and f'{named}; '}search finds {'them' if many else 'it'})"
        )
        return line if self.more else ""


@dataclass(frozen=True, slots=True)
class Since:
    """Changes of the ledger since a block was taken, each note once, in its newest form."""

    changed: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    """Events of notes since the last answer, by the clock and by the person's taps; told once."""
    numbers: frozenset[int] = frozenset()
    """Notes that are told here, or whose newest form a tool's result in the messages tells."""
    outdated: int = 0  # lines of the block that hold no longer


NO_BLOCK, NOTHING_SINCE = Block(), Since()


def take(
    ledger: Ledger, scope: Scope, mark: NotesMark, threads_tokens: int, counter: TokenCounter, *, is_scene: bool = False
) -> Block:
    """The block of a ledger as it stood at the mark: the same ledger and mark give the same bytes.

    In a scene what was noted by its persona, likes, limits, and what is due within a day: a search finds the rest.
    """
    known = [note for note in standing(within(ledger, scope), mark.at_ms) if not has_faded(note, mark.at_ms)]
    mine = {note.number for note in known if note.persona == scope.persona or note.kind in ANYBODYS}
    notes = [note for note in known if not is_scene or note.number in mine or _is_now(note, mark.at_ms)]
    waiting = {note.number: note for note in agenda(notes, mark.at_ms, for_model=True)}
    rest = sorted((n for n in notes if n.number not in waiting), key=lambda note: _stickiness(note, mark.at_ms))
    urgent, room, others = sorted(waiting.values(), key=lambda note: _urgency(note, mark.at_ms)), 0, rest
    opened = _opened(urgent[:MAX_OPEN], mark, threads_tokens - MORE_TOKENS, counter)
    if len(opened) < len(waiting):  # what comes later makes room
        others = [note for note in rest if not _is_last(note, mark.at_ms)]
        room = LASTING_TOKENS - cost_of(_lasting(others, mark, LASTING_TOKENS, counter), counter)
        opened = _opened(urgent[:MAX_OPEN], mark, threads_tokens - NAMED_TOKENS + room, counter)
    spare = threads_tokens - cost_of(opened, counter)
    lasting = _lasting(others, mark, most := LASTING_TOKENS + max(-room, min(spare, LASTING_MORE_TOKENS)), counter)
    if len(opened) == len(waiting) and len(lasting) < len(others):  # the line that counts them takes some of it
        lasting = _lasting(others, mark, most - NAMED_TOKENS, counter)
    to_come = (note for note in rest if (moment_of(note) or 0) > mark.at_ms)
    left = (note for note in (*urgent, *to_come) if note.number not in opened and note.number not in lasting)
    names = ((note.number, named(note, mark.at_ms, mark.time_zone)) for note in left)
    of_names = NAMED_TOKENS if len(opened) < len(waiting) else min(NAMED_TOKENS, spare)
    return Block(
        mark,
        tuple(lasting.values()),
        tuple(opened[number] for number in waiting if number in opened),
        len(known) - len(opened) - len(lasting),
        tuple(fitting(names, of_names - MORE_TOKENS, counter).values()),
        max(0, room),
        MappingProxyType({**lasting, **opened}),
        ledger,
    )


def _line(note: Note, mark: NotesMark) -> str:
    return model_line(note, mark.at_ms, mark.time_zone, brief=True)


def _opened(notes: Sequence[Note], mark: NotesMark, most: int, counter: TokenCounter) -> dict[int, str]:
    """The lines of open notes as far as they fit; where not all do, those from the last on say less, step by step.

    What is pressing is told in brief, with all that a short one says, before the others lose their room to it.
    """
    pressing = [note for note in notes if _is_pressing(note, mark.at_ms)]
    others = [note for note in notes if note not in pressing]
    lines = {note.number: _line(note, mark) for note in notes}
    for how in ((notes, SHORTER, others), (notes, BRIEF, pressing), (pressing, SHORTER, pressing)):
        _shorten(lines, how, mark, most, counter)
    return fitting(lines.items(), most, counter, most_misses=0)


def _lasting(notes: Sequence[Note], mark: NotesMark, most: int, counter: TokenCounter) -> dict[int, str]:
    """The lines of notes that last as far as they fit; what limits somebody says less before it is left out."""
    limits, lines = [n for n in notes if n.kind == "constraint"], {n.number: _line(n, mark) for n in notes}
    _shorten(lines, (limits, SHORTER, limits), mark, most, counter)
    return fitting(lines.items(), most, counter)


def _shorten(
    lines: dict[int, str],
    how: tuple[Sequence[Note], Sequence[Shortened], Sequence[Note]],
    mark: NotesMark,
    most: int,
    counter: TokenCounter,
) -> None:
    """Let lines say less, from the last on and step by step, until those of some notes fit together.

    `how` has those notes, the steps, and the notes whose lines may say less.
    """
    of, steps, shortened = how
    over = sum(counter.count(lines[note.number]) + 1 for note in of) - most
    for brief, note in product(steps, reversed(shortened)):
        if over > 0:
            over -= counter.count(lines[note.number]) - counter.count(line := _line(brief(note), mark))
            lines[note.number] = line


def _stickiness(note: Note, now_ms: int) -> tuple[bool, bool, bool, float, int, int]:
    """What limits somebody (an allergy), what they would be hurt to see forgotten, then by worth; last what is far.

    Of equal weight the one said oftener is first. The latest words stand in the messages and are found; the first
    ones of a person ("I run a small bakery") are not.
    """
    parts = breakdown(note, now_ms)
    lasts = LASTS if note.kind in {"decision", "preference"} else 0.0
    value = sum(parts.values()) - parts["lasts"] + lasts - (parts["recency"] if note.lasts else 0.0)
    return (
        _is_last(note, now_ms),
        note.kind != "constraint",
        note.weight < DEAR,
        -round(value, 3),
        -len(note.turn_ids),
        note.number,
    )


def _is_last(note: Note, now_ms: int) -> bool:
    """Whether it is a story, has been (an operation is asked about), or comes behind what has no room yet."""
    ahead_ms = (moment_of(note) or 0) - now_ms - (0 if note.kind == "event" and note.weight < WEIGHS else FAR_MS)
    return is_story(note) or (is_over(note, now_ms) and note.weight < WEIGHS) or ahead_ms > PLANNED_MS


def _urgency(note: Note, now_ms: int) -> tuple[bool, bool, int, bool, bool, float, int]:
    """Notes that rang and wait for a word, or are due within a day, first; then what is pressing, by its day.

    A series is not urgent because it rings each day. Matters with a far day come last, and before them those that
    nobody spoke of for a week: one without a day is the easiest to forget.
    """
    at_ms = moment_of(note)
    is_pressing = _is_pressing(note, now_ms)
    is_due = at_ms is not None and not (is_past(note, now_ms) and now_ms - at_ms > STALE_MS)
    is_stale = now_ms - note.said_at_ms > STALE_MS and not is_due
    is_far = is_due and not is_pressing and not note.repeats
    by_day = at_ms or 0 if is_pressing else 0
    return (not _is_now(note, now_ms), not is_pressing, by_day, is_far, is_stale, -worth(note, now_ms), note.number)


def _is_now(note: Note, now_ms: int) -> bool:
    """Whether it rang and waits for a word, or is due by tomorrow; of a series that does not go on daily, too."""
    at_ms = None if goes_on_daily(note.repeats) else moment_of(at_next_date(note, now_ms))
    is_on = note.kind == "event" and at_ms is not None and at_ms <= now_ms and not is_over(note, now_ms)
    return waits_for_word(note) or is_on or (at_ms is not None and -DAY_MS <= at_ms - now_ms <= BY_TOMORROW_MS)


def _is_pressing(note: Note, now_ms: int) -> bool:
    """Whether it waits for a word, was due this week, or is to be within two weeks; of an endless series, in days."""
    at_ms, ahead_ms = moment_of(note), NEXT_MS if goes_on_often(note.repeats) else PLANNED_MS
    is_near = at_ms is not None and -STALE_MS <= at_ms - now_ms <= ahead_ms and not goes_on_daily(note.repeats)
    return is_near or _is_now(note, now_ms)


def since(
    block: Block,
    ledger: Ledger,
    changes: Sequence[NoteChange],
    scope: Scope,
    *,
    told: Collection[str],
    now_ms: int,
    answered_ms: int,
) -> Since:
    """The effect of these changes, the latest of the ledger, on the lines of the block, and the events among them.

    `told` are turns whose calls of tools stand in the messages, with their results. A line that reads as in the block
    is not said again, but where such a result tells it otherwise, nor one of which an event since `answered_ms` says
    all the news; of words that stand in the block their beginning is enough. A keeper's changes before `answered_ms` of
    a note beside the block rest on the messages; a tap, a command and a ring stand in none. Of a note in the block that
    is over since then its number is enough. A ring that such a line tells is no event.
    """
    if block.mark is None:
        return NOTHING_SINCE
    zone = block.mark.time_zone
    came = events(ledger, changes, scope, answered_ms=answered_ms, now_ms=now_ms, zone=zone)
    of_note = dict[int, list[NoteChange]]((n, []) for n in rung_by(block.ledger or (), now_ms)) | by_note(changes)
    changed, numbers, outdated = dict[int, str](), set(came), 0
    for number, done in sorted(of_note.items(), key=lambda item: max((each.version for each in item[1]), default=0)):
        note = ledger.find(number)
        if note is None or not belongs(note, scope):
            continue
        line = with_successor(note, ledger, now_ms, zone)
        in_block, stood = number in block.lines, _stood(block, number)
        outdated += in_block and line != stood
        if not done or ran_alone(note, done):
            continue
        if stands_in_calls(done, told):
            numbers.add(number)
            continue
        is_told = any(each.hand == "model" and each.cause in told for each in done)  # as it is no more
        if (line == stood and not is_told) or not (note.is_open or in_block or is_told):
            continue
        was_news = done[-1].at_ms < answered_ms
        stands_elsewhere = was_news and not (is_told or any(map(is_by_hand, done)))
        if not in_block and (stands_elsewhere or is_story(note)):
            continue
        numbers.add(number)
        if was_news and not note.is_open:
            is_answered = is_work(note) and is_by_clock(done[-1])  # in the messages
            changed |= {} if is_answered else {number: f"#{number} ({note.status}){successor(note, ledger)}"}
            continue
        if _tells_all(came.get(number, ""), note, done, line, in_block=in_block):
            continue
        short = _short(block, note, ledger, now_ms, is_other=line != stood)
        changed[number] = short + ("" if was_news else moved_ring(note, done, now_ms, zone))
    came = untold_events(came, changed, of_note, ledger)
    return Since(tuple(changed.values()), tuple(came.values()), frozenset(numbers), outdated)


def _tells_all(event: str, note: Note, done: Sequence[NoteChange], line: str, *, in_block: bool) -> bool:
    """Whether an event tells all the news of a note: its end, its line, or of one date each of its changes."""
    is_each = is_rung_alone(done) or (in_block and not note.repeats and all(map(is_event, done)))
    return bool(event) and (not note.is_open or is_each or line in event)


def _stood(block: Block, number: int) -> str:
    """The whole line of a note that the block tells, perhaps in brief; "" for another."""
    note = block.ledger.find(number) if block.ledger and number in block.lines else None
    return _line(note, block.mark) if note and block.mark else block.lines.get(number, "")


def since_taken(
    block: Block, ledger: Ledger, changes: Sequence[NoteChange], scope: Scope, *, answered_ms: int, now_ms: int
) -> Since:
    """The events beside a block that is taken now: rings, which the next message may answer, and the person's taps."""
    zone = block.mark.time_zone if block.mark else "UTC"
    came = events(ledger, changes, scope, answered_ms=answered_ms, now_ms=now_ms, zone=zone, beside=block.lines)
    return Since(events=tuple(came.values()), numbers=frozenset(came))


def _short(block: Block, note: Note, ledger: Ledger, now_ms: int, *, is_other: bool) -> str:
    """A note's line, with the beginning of a text that the block holds whole; where that `is_other`, in its place."""
    then = block.ledger.find(note.number) if note.number in block.lines and block.ledger else None
    if then is not None and then.kind == note.kind and note.text in block.lines[note.number]:
        note = note.model_copy(update={"text": shorten(note.text, KNOWN_CHARS)})
    line = with_successor(note, ledger, now_ms, block.mark.time_zone if block.mark else "UTC")
    return as_now(line) if is_other and then is not None and note.is_open else line
