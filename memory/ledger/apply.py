"""Operations on a ledger: the one place where notes change. Pure; a refusal is a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from memory.ledger import series, spans
from memory.ledger.own_dates import own_ms, set_again
from memory.ledger.rules import is_by_days, is_rare, what_is_wrong
from memory.ledger.types import (
    ASSISTANT,
    LASTING,
    TEXT_MAX_CHARS,
    WORK_MAX_CHARS,
    Actor,
    Add,
    Applied,
    Change,
    End,
    Ledger,
    Merge,
    Move,
    Note,
    NoteChange,
    Occurrence,
    Operation,
    Outcome,
    Refusal,
    Reopen,
    Ring,
)
from memory.ledger.undo import dates_after, reopened, written
from memory.ledger.views import is_over
from memory.text import on_one_line

CHANGEABLE: Final = frozenset({
    "kind", "text", "subject", "owner", "due_at_ms", "due_exact", "ends_at_ms", "lasts_ms", "time_zone", "rings_from",
    "repeats", "rings_again_min", "occurrences", "about", "weight", "confidence", "said_at_ms", "snoozed_until_ms",
    "offered", "turn_ids", "doubtful",
})  # fmt: skip
"""Fields that `Change` may give; the rest follows from the operation."""
_RING: Final = ("rings_from", "repeats", "rings_again_min", "time_zone", "occurrences")
"""Fields that say when a note rings."""
_DAY: Final = ("due_at_ms", "due_exact", "ends_at_ms", "lasts_ms")
_RINGS: Final = frozenset({"rings_from", "repeats", "time_zone"})
"""Fields whose change makes other dates of a note; of a series that doesn't ring its due time is one, too."""


def apply(ledger: Ledger, operation: Operation, by: Actor) -> Outcome:
    """The ledger after the operation with the changes to write down, or why it has no place."""
    if isinstance(operation, Add):
        return _add(ledger, operation, by)
    note = ledger.find(operation.number)
    if note is None:
        return Refusal("unknown", operation.number)
    if isinstance(operation, Reopen):
        return reopened(ledger, note, operation, by)
    if not note.is_open:
        return Refusal("ended", note.number, note.status)
    work: Callable[[Ledger, Note, Any, Actor], Outcome] = _WORK[type(operation)]
    return work(ledger, note, operation, by)


def apply_all(ledger: Ledger, operations: Sequence[Operation], by: Actor) -> tuple[Ledger, list[Outcome]]:
    """The ledger after all of them, each upon the one before, and the outcome of each."""
    outcomes: list[Outcome] = []
    for operation in operations:
        outcome = apply(ledger, operation, by)
        ledger = outcome.ledger if isinstance(outcome, Applied) else ledger
        outcomes.append(outcome)
    return ledger, outcomes


def folded(text: str) -> str:
    """A text without case, spacing and final stop: by it two notes are seen to say the same."""
    return " ".join(text.casefold().split()).rstrip(" .!。")


def most_chars(kind: str, fields: Mapping[str, Any]) -> int:
    """The length of text that a note with these fields may have: work by the clock may be told at length."""
    is_work = kind == "task" and fields.get("owner") == ASSISTANT and fields.get("rings_from")
    return WORK_MAX_CHARS if is_work else TEXT_MAX_CHARS


def _add(ledger: Ledger, operation: Add, by: Actor) -> Outcome:
    known = ledger.by_id(operation.note_id) or _same_as(ledger, operation, by)
    if known is not None:
        return Refusal("known", known.number)
    text = on_one_line(operation.text, most_chars(operation.kind, operation.fields))
    if not text:
        return Refusal("empty")
    if unknown := set(operation.fields) - CHANGEABLE - {"session_id", "user_id", "persona"}:
        return Refusal("field", detail=", ".join(sorted(unknown)))
    fields = {"said_at_ms": by.at_ms, **spans.fitted(operation.fields)}
    told = operation.number
    number = told if told and told not in ledger.notes else ledger.next_number
    new = Note(
        note_id=operation.note_id,
        conversation_id=ledger.conversation_id,
        number=number,
        kind=operation.kind,
        text=text,
        source=by.hand,
        **fields,
    )
    if (refusal := _faulty(new)) is not None:
        return refusal
    old = _of_subject(ledger, new)
    if old is not None and not new.rings and (ring := _ring_to_take(old)):
        day = {"due_at_ms": new.due_at_ms, "due_exact": new.due_exact} if new.due_at_ms is not None else {}
        new = new.model_copy(update=ring | _ring_of(old, day, by))
    new = new.model_copy(update={"occurrences": spans.sleeping(new, by.at_ms)})
    ledger = replace(ledger, next_number=max(ledger.next_number, number + 1))
    changes: tuple[NoteChange, ...] = ()
    if old is not None:
        done = written(ledger, old, {"status": "replaced", "replaced_by": new.note_id}, "end", by)
        ledger, changes = done.ledger, done.changes
    done = written(ledger, new, {}, "add", by, said=operation.said)
    return replace(done, changes=(*changes, *done.changes))


def _same_as(ledger: Ledger, new: Add, by: Actor) -> Note | None:
    """The note that says the same in the same world; not one that rings, nor to a model in the talk of another day."""
    plain, about, rings = folded(new.text), new.fields.get("about", ""), bool(new.fields.get("rings_from"))
    rule, owner = str(new.fields.get("repeats") or ""), str(new.fields.get("owner") or "")
    has_day = by.hand == "model" and (rings or new.kind == "event" or is_rare(rule))  # the rent of each quarter
    day = new.fields.get("due_at_ms") if has_day else None
    near = (n for n in ledger if n.is_open and n.about == about and n.rings == rings)
    near = (n for n in near if not (owner and n.owner) or folded(owner) == folded(n.owner))
    first = str(new.fields.get("rings_from") or "")
    near = (n for n in near if not spans.is_another_series(n, rule, first))
    if by.hand == "person" and rings:  # who says another time means another reminder
        near = (n for n in near if n.rings_from == new.fields["rings_from"])
    same = (n for n in near if (day is None or n.due_at_ms in {None, day}) and folded(n.text) == plain)
    return next((n for n in same if not is_over(n, by.at_ms)), None)


def _of_subject(ledger: Ledger, new: Note) -> Note | None:
    """The lasting note on the same subject of the same person, whose place and ring the new one can take."""
    if not new.subject or new.kind not in LASTING:
        return None
    key = (folded(new.subject), new.about, new.user_id)
    same = (n for n in ledger if n.is_open and n.lasts and (folded(n.subject), n.about, n.user_id) == key)
    return next((n for n in same if new.rings or not _ring_to_take(n) or _has_room(new, n.time_zone)), None)


def _change(ledger: Ledger, note: Note, operation: Change, by: Actor) -> Outcome:
    new = _values(note, operation.fields, by)
    if isinstance(new, Refusal):
        return new
    if not new or set(new) == {"turn_ids"}:
        return Refusal("same", note.number)
    return written(ledger, note, new, "change", by, said=operation.said)


def _values(note: Note, given: Mapping[str, Any], by: Actor) -> dict[str, Any] | Refusal:
    """The fields that these make other ones, with those that follow from them; or why they cannot be given."""
    fields = spans.with_further_rings(note, spans.fitted({**_end_of(note, given), **given}, note))
    if unknown := set(fields) - CHANGEABLE:
        return Refusal("field", note.number, ", ".join(sorted(unknown)))
    if "turn_ids" in fields:
        fields["turn_ids"] = joined(note.turn_ids, fields["turn_ids"])
    if by.hand in {"person", "model"}:  # it was just said again, or put right
        fields.setdefault("doubtful", False)
    if "rings_from" not in fields and "occurrences" not in fields:
        fields |= _ring_of(note, fields, by)
    if not fields.keys().isdisjoint(("text", "kind", "owner", "rings_from")):
        after = {name: fields.get(name, getattr(note, name)) for name in ("text", "kind", "owner", "rings_from")}
        fields["text"] = on_one_line(after["text"], most_chars(after["kind"], after))
        if not fields["text"]:
            return Refusal("empty", note.number)
    rings = _RINGS if note.rings or not note.repeats else _RINGS | {"due_at_ms"}
    if rings & {name for name in fields if getattr(note, name) != fields[name]}:
        fields = _set_again(note, fields, by.at_ms)
    if "snoozed_until_ms" in fields and "occurrences" not in fields:
        fields["occurrences"] = dates_after(note, note.model_copy(update=fields), by.at_ms)
    if "rings_again_min" in fields:
        fields["occurrences"] = spans.sleeping(note.model_copy(update=fields), by.at_ms)
    new = {name: value for name, value in fields.items() if getattr(note, name) != value}
    return (_faulty(note.model_copy(update=new)) if new else None) or new


def _set_again(note: Note, fields: Mapping[str, Any], now_ms: int) -> dict[str, Any]:
    """The fields with the dates that a new ring leaves; a series that rings then rests no more."""
    is_new = note.repeats and "rings_from" in fields
    fields = {**({"snoozed_until_ms": None} if is_new else {}), **fields}
    return {**set_again(note, note.model_copy(update=fields), now_ms), **fields}


def _end_of(note: Note, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Another time takes away the end of the one before; no day at all a rhythm that counts from it."""
    if fields.get("due_at_ms", note.due_at_ms) == note.due_at_ms:
        return {}
    counts = note.repeats and not note.rings and fields["due_at_ms"] is None
    return {"ends_at_ms": None, "lasts_ms": 0} | ({"repeats": ""} if counts else {})


def _ring_of(note: Note, fields: Mapping[str, Any], by: Actor) -> dict[str, Any]:
    """The fields of a ring when the day of its note moves: one that hangs on the day moves along, or ends with it.

    One with a time of its own stays, and so does one whose new time would be over: nobody's ring is lost. A series has
    days of its own. A ring for the day before is over with that day.
    """
    if not note.rings_from or note.repeats or "repeats" in fields or "due_at_ms" not in fields:
        return {}
    if note.due_at_ms is None or not series.hangs_on_its_day(note):
        return {}
    if fields["due_at_ms"] is None:
        return {"rings_from": ""}
    moved = note.model_copy(update=dict(fields))
    if (moved.due_at_ms, moved.due_exact) == (note.due_at_ms, note.due_exact):
        return {}
    rings = spans.rings_moved_along(note, moved)
    to_come = [each for each in rings if series.at_ms_of(each, moved.time_zone) > by.at_ms]
    if to_come == series.singles(note) or (not to_come and note.rings_at_ms is not None):
        return {}
    return series.ringing_at(to_come, moved.time_zone)


def _ring_to_take(note: Note) -> dict[str, Any]:
    """The fields by which another note rings in place of this one, which goes; {} where nothing rings any more."""
    return {name: getattr(note, name) for name in _RING} if note.rings_at_ms is not None else {}


def _end(ledger: Ledger, note: Note, operation: End, by: Actor) -> Outcome:
    turn_ids = {"turn_ids": joined(note.turn_ids, operation.turn_ids)}
    is_all = operation.how == "done" and spans.is_one_matter(note)
    if operation.occurrence and not is_all and (note.repeats or series.rings_again(note, operation.occurrence)):
        if not _is_date(note, operation.occurrence):
            return Refusal("date", note.number, operation.occurrence)
        date = series.in_state(note, operation.occurrence, "done")
        date = date if operation.how == "done" else series.left_out(note, operation.occurrence, by.lets_pass)
        ended = turn_ids | _dated(note, date)
        if ended["occurrences"] == note.occurrences:  # it is so already, or a later date has rung since
            return Refusal("same", note.number)
        goes_on = note.is_paused or series.goes_on(note.model_copy(update=ended), by.at_ms)
        ended |= {} if goes_on or date.state not in series.OVER else {"status": operation.how}
        return written(ledger, note, ended, "end", by, said=operation.said)
    return written(ledger, note, turn_ids | {"status": operation.how}, "end", by, said=operation.said)


def _merge(ledger: Ledger, note: Note, operation: Merge, by: Actor) -> Outcome:
    into = ledger.find(operation.into)
    if into is None or into is note:
        return Refusal("unknown", operation.into)
    if not into.is_open:
        return Refusal("ended", into.number, into.status)
    ring = _ring_to_take(note)
    if ring and any(getattr(into, name) != ring[name] for name in _RING) and not _has_room(into, note.time_zone):
        return Refusal("rings", note.number)
    turn_ids = joined(joined(into.turn_ids, note.turn_ids), operation.turn_ids)
    update: dict[str, Any] = {"turn_ids": turn_ids} | _day_to_take(note, into) | ring
    values = _values(into.model_copy(update=update), operation.fields, by)
    if isinstance(values, Refusal):
        return values
    update |= values
    gone = written(ledger, note, {"status": "replaced", "replaced_by": into.note_id}, "merge", by, said=operation.said)
    if all(getattr(into, name) == value for name, value in update.items()):
        return replace(gone, note=into)
    kept = written(gone.ledger, into, update, "merge", by)
    return replace(kept, changes=(*gone.changes, *kept.changes))


def _day_to_take(note: Note, into: Note) -> dict[str, Any]:
    """The fields of a note's day for one that has none, with its clock and rhythm where that one rings by no other."""
    if note.due_at_ms is None or into.due_at_ms is not None or into.repeats:
        return {}
    names = (*_DAY, "time_zone") if note.rings else (*_DAY, "time_zone", "repeats", "occurrences")
    if not into.rings:
        return {name: getattr(note, name) for name in names}
    days = {name: getattr(note, name) for name in ("due_at_ms", "ends_at_ms") if getattr(note, name) is not None}
    day = {
        name: series.at_ms_of(series.local_of(at_ms, note.time_zone), into.time_zone) for name, at_ms in days.items()
    }
    return day | ({"due_at_ms": note.due_at_ms, "due_exact": True, "lasts_ms": note.lasts_ms} if note.due_exact else {})


def _has_room(note: Note, time_zone: str) -> bool:
    """Whether a note can take another's ring, with its clock and rhythm."""
    return not note.rings and not note.repeats and (note.due_at_ms is None or note.time_zone == time_zone)


def _move(ledger: Ledger, note: Note, operation: Move, by: Actor) -> Outcome:
    local, to_ms = operation.occurrence, operation.to_ms
    if not _is_date(note, local):
        return Refusal("date", note.number, local)
    known = series.record_of(note, local)
    usual_ms = series.at_ms_of(local, note.time_zone)
    is_other = operation.lasts_ms is not None or operation.due_at_ms is not None
    stays = is_other and to_ms == (series.moment_of(note, known) if known else usual_ms)
    if to_ms is not None and to_ms <= by.at_ms and not stays:
        return Refusal("past", note.number)
    date = series.left_out(note, local, by.lets_pass)
    own = spans.as_moved(note, operation)
    due_ms = own.get("due_at_ms")
    is_usual = own["lasts_ms"] is None and (due_ms is None or due_ms == own_ms(note, usual_ms))
    if note.repeats and date.state == "left_out" and to_ms == usual_ms and is_usual:  # as it would be
        return written(ledger, note, {"occurrences": note.without(local)}, "change", by)
    if to_ms is not None:
        is_rung = to_ms <= by.at_ms and known is not None and known.state in series.OVER
        state = known.state if known and is_rung else "snoozed" if date.state in series.OVER else "moved"
        date = date.model_copy(update={"moved_to_ms": to_ms, "state": state, **own})
    return written(ledger, note, _dated(note, date), "change", by)


def _ring(ledger: Ledger, note: Note, operation: Ring, by: Actor) -> Outcome:
    if series.next_ring(note) != (operation.occurrence, operation.rings_at_ms):
        return Refusal("changed", note.number)
    dates, rung = (operation.occurrence, series.skip_missed(note, operation.occurrence, by.at_ms)), note
    for local in dates:
        rung = rung.model_copy(update=_dated(rung, series.rang(note, local, by.at_ms)))
    return written(ledger, note, {"occurrences": spans.sleeping(rung, by.at_ms)}, "ring", by)


_WORK: Final[dict[type, Callable[[Ledger, Note, Any, Actor], Outcome]]] = {
    Change: _change,
    End: _end,
    Merge: _merge,
    Move: _move,
    Ring: _ring,
}


def _is_date(note: Note, local: str) -> bool:
    return series.has_date(note, local) or series.record_of(note, local) is not None


def _dated(note: Note, occurrence: Occurrence) -> dict[str, Any]:
    return {"occurrences": series.put(note.occurrences, occurrence)}


def _faulty(note: Note) -> Refusal | None:
    """Why a note cannot be as it would be: a rule that is none or has no date, a time that is none."""
    first = series.begins(note) if note.rings_from or is_by_days(note.repeats) else ""
    if not first:
        return Refusal("rule", note.number, f"{note.repeats!r} has no day to count from") if note.repeats else None
    try:
        series.at_ms_of(first, note.time_zone)
    except ValueError:
        return Refusal("date", note.number, first)
    wrong = what_is_wrong(note.repeats, first) if note.repeats else ""
    return Refusal("rule", note.number, wrong) if wrong else None


def joined(old: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    """Both without repetition, the old first."""
    return tuple(dict.fromkeys((*old, *new)))
