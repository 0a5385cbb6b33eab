"""Arc candidates: the notes that this persona carries into a new session, in their own words. Pure."""

from __future__ import annotations

from typing import Final

from memory.continuity.text import one_line
from memory.continuity.types import (
    SUMMARY_MAX_CHARS,
    TITLE_MAX_CHARS,
    ArcCandidate,
    ArcKind,
    BootstrapInputs,
    Level,
    Persona,
    Stickiness,
)
from memory.ledger.lines import due_days, moment
from memory.ledger.rules import comes_often
from memory.ledger.types import Kind, Note
from memory.ledger.views import DAY_MS, breakdown, ends_at, is_over, is_routine, is_snoozed, is_work, moment_of
from memory.text import shorten

CANDIDATES_MAX: Final = 60
JUST_BEEN_MS: Final = 4 * DAY_MS
"""An event is asked about for so long after its day."""
SILENT_MS: Final = 30 * DAY_MS
"""The same when nobody has talked since: a person who comes back is asked how it went."""
ABOUT: Final = frozenset({"fact", "person"})
MATTERS_ENOUGH: Final = 3
"""Beside so many matters what somebody likes ("short answers") is none to go on with."""
A_WORD: Final = 3
"""A session of so few turns was too short to come to it."""
_SURE, _LIKELY = 0.75, 0.45
_STICKS: Final = 0.7
_KIND: Final[dict[Kind, ArcKind]] = {
    "project": "project",
    "event": "project",
    "task": "project",
    "promise": "project",
    "decision": "project",
    "question": "question",
    "story": "story",
    "person": "relationship",
    "fact": "relationship",
    "preference": "constraint",
    "constraint": "constraint",
}


def candidates(inputs: BootstrapInputs, persona: Persona) -> tuple[ArcCandidate, ...]:
    """Notes that may be carried, best first, at most `CANDIDATES_MAX`: none that is put off or long over."""
    ago_of = {session.session_id: ago for ago, session in enumerate(inputs.sessions)}
    fitting = [note for note in inputs.notes if _fits(note, inputs)]
    if persona.role == "assistant":  # who somebody is is nothing to go on with, where other things are
        fitting = [note for note in fitting if note.kind not in ABOUT or _is_story(note)] or fitting
        matters = [note for note in fitting if note.kind != "preference"]
        fitting = matters if len(matters) >= MATTERS_ENOUGH else fitting
    if persona.role == "roleplay":  # it picks up its scene; the world outside comes behind that
        fitting.sort(key=lambda note: not _is_story(note))
    oldest = len(inputs.sessions)
    return tuple(
        _candidate(note, ago_of.get(note.session_id or "", oldest), inputs) for note in fitting[:CANDIDATES_MAX]
    )


def _fits(note: Note, inputs: BootstrapInputs) -> bool:
    """Whether a note can be taken up: an event just over can ("how did it go?"), one long over, a limit or work not.

    Nor can what comes by itself again and again: a shift, the lesson of each Tuesday, a pill.
    """
    comes_by_itself = note.repeats and (comes_often(note.repeats) if note.rings else note.kind == "event")
    if is_snoozed(note, inputs.now_ms) or is_work(note) or comes_by_itself:
        return False
    if note.kind != "event" or note.due_at_ms is None:
        return not is_over(note, inputs.now_ms)
    if is_over(note, inputs.now_ms) and is_routine(note):
        return False
    last_ms = ends_at(note) or 0
    over_at_ms = last_ms if note.due_exact and note.ends_at_ms is None else last_ms + DAY_MS
    talked = any(each.last_turn_at_ms > over_at_ms and each.turn_count > A_WORD for each in inputs.sessions)
    return inputs.now_ms - over_at_ms < (JUST_BEEN_MS if talked else SILENT_MS)


def _is_story(note: Note) -> bool:
    return not note.is_real or note.kind == "story"


def _candidate(note: Note, ago: int, inputs: BootstrapInputs) -> ArcCandidate:
    when = _when(note, inputs.zone)
    text = one_line(note.text, SUMMARY_MAX_CHARS - len(when))
    return ArcCandidate(
        number=note.number,
        kind=_KIND[note.kind],
        title=shorten(text.rstrip(" ,;:.!?"), TITLE_MAX_CHARS),
        text=text + when,
        confidence=_confidence(note),
        stickiness=_stickiness(note),
        sources=(note.note_id, *note.turn_ids),
        last_touched_at_ms=note.said_at_ms,
        conversations_ago=ago,
        worth=breakdown(note, inputs.now_ms),
    )


def _when(note: Note, zone: str) -> str:
    at_ms = moment_of(note)
    if at_ms is None:
        return ""
    return f" ({due_days(note, zone, moment) if at_ms == note.due_at_ms else moment(at_ms, zone)})"


def _confidence(note: Note) -> Level:
    if note.doubtful:
        return "low"
    return "high" if note.confidence >= _SURE else "medium" if note.confidence >= _LIKELY else "low"


def _stickiness(note: Note) -> Stickiness:
    """The stickiness of a note: one with a day, or that binds, sticks; a mere remark fades."""
    if note.weight >= _STICKS or moment_of(note) is not None or note.kind in {"constraint", "project"}:
        return "high"
    return "normal" if note.lasts else "low"
