"""Changes of a ledger: written down, done again, taken off or back, or carried onto a newer state. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from memory.ledger import series
from memory.ledger.rules import LOCAL, read_local
from memory.ledger.types import (
    Actor,
    Add,
    Applied,
    Change,
    Ledger,
    Merge,
    Note,
    NoteChange,
    Occurrence,
    Operation,
    Outcome,
    Refusal,
    Reopen,
    Verb,
)

DERIVED: Final = frozenset({"version", "rings_at_ms"})
NOT_SHOWN: Final = frozenset({"turn_ids", "said_at_ms"})
"""Fields in which a note that was put back may differ from what it was."""


def dates_after(note: Note, new: Note, now_ms: int) -> tuple[Occurrence, ...]:
    """The dates of a note that becomes `new`: a series that goes on after a rest rings for none that it missed."""
    rested = new.repeats and (note.snoozed_until_ms or 0) > now_ms
    return _without_missed(new, now_ms) if rested else new.occurrences


def _without_missed(note: Note, now_ms: int) -> tuple[Occurrence, ...]:
    """The dates of a series that goes on now, the latest of those in its rest as skipped."""
    coming = series.next_ring(note)
    if coming is None or coming[1] > now_ms:
        return note.occurrences
    latest = series.skip_missed(note, coming[0], now_ms)
    kept = [
        each for each in note.occurrences if each.state not in series.TO_COME or series.moment_of(note, each) > now_ms
    ]
    return series.put(kept, series.in_state(note, latest, "skipped"))


def written(ledger: Ledger, note: Note, update: Mapping[str, Any], verb: Verb, by: Actor, *, said: str = "") -> Applied:
    """The ledger with the changed note, and the record of that change."""
    update = {name: value for name, value in update.items() if getattr(note, name) != value}
    changed = note.model_copy(update=update)
    ring = series.next_ring(changed)
    changed = changed.model_copy(update={"rings_at_ms": ring[1] if ring else None, "version": ledger.version + 1})
    change = NoteChange(
        conversation_id=ledger.conversation_id,
        version=ledger.version + 1,
        note_id=note.note_id,
        number=note.number,
        verb=verb,
        before={} if verb == "add" else _plain(note, update),
        after=changed.model_dump(mode="json", exclude_defaults=True) if verb == "add" else _plain(changed, update),
        hand=by.hand,
        cause=by.cause,
        said=said,
        at_ms=by.at_ms,
    )
    notes = {**ledger.notes, changed.number: changed}
    if verb == "add" and changed.number < ledger.next_number - 1:  # it was told before others were noted
        notes = dict(sorted(notes.items()))
    return Applied(replace(ledger, version=ledger.version + 1, notes=notes), changed, (change,))


def _plain(note: Note, fields: Collection[str]) -> dict[str, Any]:
    """The fields as JSON values."""
    return note.model_dump(mode="json", include=set(fields) - DERIVED)


def rebuilt(conversation_id: str, changes: Sequence[NoteChange], next_number: int = 1) -> Ledger:
    """The ledger that these changes, in their order, have made."""
    ledger = Ledger(conversation_id, next_number=next_number)
    for change in changes:
        if change.verb == "add":
            note = Note.model_validate(change.after, strict=False)
        else:
            before = ledger.by_id(change.note_id)
            if before is None:
                continue  # its beginning was forgotten, and so is the rest
            note = Note.model_validate(before.model_dump(mode="json") | change.after, strict=False)
        ring = series.next_ring(note)
        note = note.model_copy(update={"version": change.version, "rings_at_ms": ring[1] if ring else None})
        notes = {**ledger.notes, note.number: note}
        ledger = Ledger(conversation_id, change.version, max(ledger.next_number, note.number + 1), notes)
    return ledger


def as_of(ledger: Ledger, since: Iterable[NoteChange]) -> Ledger:
    """The ledger before these changes, which are its latest, in their order.

    A note that was forgotten meanwhile is not in it.
    """
    notes = {number: note for number, note in ledger.notes.items() if not note.is_forgotten}
    version = ledger.version
    for change in sorted(since, key=lambda each: -each.version):
        version = min(version, change.version - 1)
        note = notes.get(change.number)
        if note is None or note.note_id != change.note_id:
            continue
        if change.verb == "add":
            del notes[change.number]
            continue
        before = Note.model_validate(note.model_dump(mode="json") | change.before, strict=False)
        ring = series.next_ring(before)
        notes[change.number] = before.model_copy(update={"rings_at_ms": ring[1] if ring else None})
    return Ledger(ledger.conversation_id, version, ledger.next_number, notes, ledger.epoch)


def undo(ledger: Ledger, changes: Sequence[NoteChange], by: Actor) -> tuple[Ledger, list[Outcome]]:
    """Undo these changes, the latest first; a field that somebody touched since stays as it is now.

    A note that they made is dropped if nothing of it was touched since. A change that cannot be undone gives a
    `Refusal` with code `changed`.
    """
    outcomes: list[Outcome] = []
    for change in sorted(changes, key=lambda each: -each.version):
        outcome = _undone(ledger, change, by)
        ledger = outcome.ledger if isinstance(outcome, Applied) else ledger
        outcomes.append(outcome)
    return ledger, outcomes


def reopened(ledger: Ledger, note: Note, operation: Reopen, by: Actor) -> Outcome:
    """Let it stand again; of several dates the one that was done or left out is to come again, or waits for word."""
    date = _date_taken_back(note, operation.occurrence, by.at_ms)
    if date is None and note.is_open:
        named = operation.occurrence and (note.repeats or note.occurrences)
        return Refusal("date", note.number, operation.occurrence) if named else Refusal("same", note.number)
    update: dict[str, Any] = {"status": "open", "replaced_by": None, "doubtful": False}
    if date is not None:
        update["occurrences"] = _with_date_back(note, date, by.at_ms)
    return written(ledger, note, update, "reopen", by)


def _date_taken_back(note: Note, local: str, now_ms: int) -> Occurrence | None:
    """The date that is taken back: the one that was named, else the latest done, else the only one that was left out.

    A note that ended as a whole gives back no date, but for the last of a series, with which it ended.
    """
    ended = [each for each in note.occurrences if each.state in series.ENDED]
    if local:
        return next((each for each in ended if each.original_local == local), None)
    if not note.is_open:
        ended_with_it = note.repeats and not series.goes_on(note.model_copy(update={"status": "open"}), now_ms)
        return ended[-1] if ended and ended_with_it and ended[-1].state in series.OVER else None
    ahead = [each for each in ended if each.state == "left_out" and series.moment_of(note, each) > now_ms]
    return series.last(note, "done") or (ahead[0] if len(ahead) == 1 else None)


def _with_date_back(note: Note, date: Occurrence, now_ms: int) -> tuple[Occurrence, ...]:
    """The dates once one that was ended is no more: it waits for word where its time is over, else it rings then."""
    others, at_ms = note.without(date.original_local), series.moment_of(note, date)
    if not note.rings_from:
        return others if date.moved_to_ms is None else series.put(others, date.model_copy(update={"state": "moved"}))
    if date.state == "left_out":
        return others
    if at_ms <= now_ms:
        return series.put(others, date.model_copy(update={"state": "rang"}))
    if series.at_ms_of(date.original_local, note.time_zone) <= now_ms:
        return series.put(others, date.model_copy(update={"state": "snoozed"}))
    if date.moved_to_ms is not None:
        others = series.put(others, date.model_copy(update={"state": "moved"}))
    if any(each.state in series.OVER for each in others):
        return others
    rule = series.dates_by_rule(note)
    before = rule.before(read_local(date.original_local)) if rule else None
    return (
        others if before is None else series.put(others, Occurrence(original_local=f"{before:{LOCAL}}", state="done"))
    )


def restores(changes: Sequence[NoteChange], earlier: Sequence[NoteChange]) -> bool:
    """Whether changes do nothing but put notes back as they were before one of the model's `earlier` ones.

    A field that another hand changed after the model stays as that hand left it. None is made or lost.
    """
    old: dict[tuple[str, str], list[Any]] = {}
    for each in earlier:
        for name, value in each.before.items():
            key = (each.note_id, name)
            old[key] = [*old.get(key, ()), value] if each.hand == "model" else []
    return bool(changes) and all(
        each.verb != "add"
        and all(
            value in old.get((each.note_id, name), ()) for name, value in each.after.items() if name not in NOT_SHOWN
        )
        for each in changes
    )


def _undone(ledger: Ledger, change: NoteChange, by: Actor) -> Outcome:
    note = ledger.by_id(change.note_id)
    if note is None:
        return Refusal("unknown", change.number)
    now = note.model_dump(mode="json")
    if change.verb == "add":
        touched = any(now[name] != value for name, value in change.after.items() if name not in DERIVED)
        if touched or not note.is_open:
            return Refusal("changed", note.number)
        return written(ledger, note, {"status": "dropped"}, "undo", by)
    back = {name: value for name, value in change.before.items() if now[name] == change.after.get(name)}
    if not back:
        return Refusal("changed", note.number)
    old = Note.model_validate(now | back, strict=False)
    update = {name: getattr(old, name) for name in back}
    if "snoozed_until_ms" in back:
        update["occurrences"] = dates_after(note, old, by.at_ms)
    return written(ledger, note, update, "undo", by)


def rebased(operations: Sequence[Operation], since: Sequence[NoteChange]) -> tuple[list[Operation], list[Refusal]]:
    """The keeper's operations upon the changes since its snapshot, and those that do not fit any more.

    Fields that a person, a model or an operator changed since stay as those wrote them; an ended note stays ended; a
    merge needs both sides unchanged.
    """
    touched: dict[int, set[str]] = {}
    for change in since:
        if change.hand not in {"keeper", "offline"}:
            touched.setdefault(change.number, set()).update(change.after)
    kept: list[Operation] = []
    refused: list[Refusal] = []
    for operation in operations:
        if isinstance(operation, Add) or (operation.number not in touched and _into(operation) not in touched):
            kept.append(operation)
            continue
        fields = touched.get(operation.number, set())
        left = {k: v for k, v in operation.fields.items() if k not in fields} if isinstance(operation, Change) else {}
        if isinstance(operation, Change) and set(left) - {"turn_ids"}:
            kept.append(replace(operation, fields=left))
        else:
            refused.append(Refusal("changed", operation.number))
    return kept, refused


def _into(operation: Operation) -> int:
    return operation.into if isinstance(operation, Merge) else 0
