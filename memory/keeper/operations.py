"""Believed changes as operations on the ledger, and the ledger's refusals in plain words. Pure."""

from __future__ import annotations

from datetime import datetime
from hashlib import blake2b
from typing import Any, Final

from memory.keeper.contract import KeeperRequest, Kept, ProposedChange
from memory.ledger import series
from memory.ledger.apply import folded
from memory.ledger.rules import DAY_CHARS, LOCAL, first_from
from memory.ledger.series import at_ms_of
from memory.ledger.spans import end_fields
from memory.ledger.types import (
    ANYBODYS,
    LASTING,
    SUBJECT_MAX_CHARS,
    TO_DO,
    USER,
    Add,
    Change,
    End,
    Merge,
    Note,
    Operation,
    Refusal,
)
from memory.ledger.views import is_work

CONFIDENCE: Final = 0.8
"""The confidence of a keeper's note: below that of a person's or a tool's."""
ABOUT_MAX_CHARS: Final = 80


def operation_of(kept: Kept, request: KeeperRequest, place: int) -> Operation | Refusal:
    """The operation that a change asks for; `place` tells it from the others of its reading."""
    change = kept.change
    said, number = " ".join(change.said.split()), change.number or 0
    note = request.ledger.find(number)
    if change.op == "add":
        return _add(kept, request, place)
    if change.op == "merge":
        return _merge(kept, request, said)
    if change.op == "delete" or change.how == "dropped":
        return End(number=number, how="dropped", turn_ids=kept.turn_ids, said=said)
    if change.op == "end":
        rang = [each.original_local for each in note.occurrences if each.state == "rang"] if note else []
        if note and note.repeats and not rang:
            return Refusal("date", number)
        return End(
            number=number, occurrence=rang[-1] if note and note.repeats else "", turn_ids=kept.turn_ids, said=said
        )
    return _change(kept, request, note, said)


def _change(kept: Kept, request: KeeperRequest, note: Note | None, said: str) -> Change | Refusal:
    when = _when(kept, request, note)
    if isinstance(when, Refusal):
        return when
    certain = {} if note is not None and rings_in_doubt(note) and not _tells_ring(kept, note) else {"doubtful": False}
    fields = _given(kept.change) | when | {"turn_ids": kept.turn_ids} | certain
    return Change(number=kept.change.number or 0, fields=fields, said=said)


def leaving_work(change: ProposedChange, request: KeeperRequest) -> ProposedChange:
    """The change without a text where that would replace work, of which a keeper is shown the title alone."""
    note = request.ledger.find((change.into if change.op == "merge" else change.number) or 0)
    return change.model_copy(update={"text": ""}) if note is not None and is_work(note) else change


def _merge(kept: Kept, request: KeeperRequest, said: str) -> Merge | Refusal:
    """One note for two, but where work would go whose words the keeper was not shown."""
    number, other = kept.change.number or 0, kept.change.into or 0
    note, into = request.ledger.find(number), request.ledger.find(other)
    if note and is_work(note) and into and into.text != note.text:
        return Refusal("rule", number, f"#{number} is work of which only the title is shown: leave both")
    return Merge(number=number, into=other, fields=_of_both(kept, request), turn_ids=kept.turn_ids, said=said)


def _of_both(kept: Kept, request: KeeperRequest) -> dict[str, Any]:
    """The text and the day of the note that stays for both, where a merge names them."""
    both = [note for number in (kept.change.into, kept.change.number) if (note := request.ledger.find(number or 0))]
    text = kept.change.text.strip()
    return ({"text": text} if text else {}) | _due(kept, request, next((each for each in both if each.rings), None))


def _when(kept: Kept, request: KeeperRequest, note: Note | None) -> dict[str, Any] | Refusal:
    """The day of a changed note, and of one in doubt its ring.

    A series that rings has its own time: a day beside it would be told with it.
    """
    if note is None or not note.rings:
        return _due(kept, request, note)
    ring = _ring(kept, request, note) if rings_in_doubt(note) else {}
    if isinstance(ring, Refusal) or (note.due_at_ms is None and (note.repeats or _tells_ring_by_day(kept, note))):
        return ring
    return _due(kept, request, note) | ring


def rings_in_doubt(note: Note) -> bool:
    """Whether a note is still to ring at a time that an edited message may have changed."""
    return note.doubtful and note.rings_at_ms is not None


def _tells_ring_by_day(kept: Kept, note: Note) -> bool:
    """Whether the day that a change gives to a note in doubt is that of its ring: it has no other."""
    return rings_in_doubt(note) and note.due_at_ms is None and kept.rings in {None, kept.due}


def _tells_ring(kept: Kept, note: Note) -> bool:
    """Whether a change says when a note rings: by itself, or by the day on which the ring hangs."""
    hangs = note.due_at_ms is None or (not note.repeats and series.hangs_on_its_day(note))
    return kept.rings is not None or (kept.due is not None and hangs)


def _ring(kept: Kept, request: KeeperRequest, note: Note) -> dict[str, Any] | Refusal:
    """When a note in doubt rings next, at the hour of its ring where only a day was said.

    A time at which it rings already leaves its rings as they are; of several another time is that of the next.
    """
    by_day = _tells_ring_by_day(kept, note)
    at, said = (kept.due, kept.change.due) if by_day else (kept.rings, kept.change.rings)
    if at is None:
        return {}
    local, times = f"{at:%Y-%m-%d}{note.rings_from[DAY_CHARS:]}", series.singles(note)
    if _has_hour(said):
        local = series.local_of(at_ms_of(f"{at:{LOCAL}}", request.zone), note.time_zone)
    rule = _rule(kept) or note.repeats
    if local in times and rule == note.repeats:
        return {"rings_from": note.rings_from, "occurrences": note.occurrences}
    return _series(request, note, rule, local) if rule else series.ringing_at([local, *times[1:]], note.time_zone)


def _series(request: KeeperRequest, note: Note, rule: str, local: str) -> dict[str, Any] | Refusal:
    """The ring of a note that repeats by this rule from this date on."""
    if first_from(rule, local) != local:
        return Refusal("rule", note.number, f"{local} is no date of {rule}: give its repeats, too")
    if rule == note.repeats and series.has_date(note, local):
        return {}
    first = series.first_local(rule, local, request.now_ms, note.time_zone)
    return {"rings_from": first, "repeats": rule} if first else Refusal("past", note.number)


def _add(kept: Kept, request: KeeperRequest, place: int) -> Operation | Refusal:
    change = kept.change
    if change.kind is None:
        return Refusal("empty")
    if ended := _ended(change.text, kept, request):
        return Refusal("ended", ended.number, ended.status)
    speaker = kept.speaker
    owner = change.owner
    if owner is None:
        owner = request.names.get(speaker.user_id or 0, USER) if change.kind in TO_DO else ""
    owned = change.kind == "story" or change.kind in ANYBODYS or not (change.kind in LASTING or change.about)
    fields: dict[str, Any] = {
        "owner": owner if owned else "",
        "time_zone": request.zone,
        "confidence": CONFIDENCE,
        "said_at_ms": speaker.created_at_ms,
        "session_id": request.session_id,
        "user_id": speaker.user_id,
        "persona": (request.played if change.kind == "story" else "") or request.persona,
        "turn_ids": kept.turn_ids,
    }
    given = {name: value for name, value in _given(change).items() if name not in {"kind", "text", "owner"}}
    return Add(
        kind=change.kind,
        text=change.text,
        note_id=f"n_{blake2b(f'{request.reading_id}:{place}'.encode(), digest_size=16).hexdigest()}",
        fields=fields | given | _due(kept, request),
        said=" ".join(change.said.split()),
    )


def _ended(text: str, kept: Kept, request: KeeperRequest) -> Note | None:
    """The note that said this of the same day and ended since: the same turns are not noted once more."""
    ended = (each for each in request.ledger if not each.is_open and folded(each.text) == folded(text))
    day = _due(kept, request).get("due_at_ms")
    same = (each for each in ended if None in {day, each.due_at_ms} or day == each.due_at_ms)
    return next((each for each in same if set(kept.turn_ids) <= set(each.turn_ids)), None)


def _given(change: ProposedChange) -> dict[str, Any]:
    """The fields that a change names; others stay."""
    fields: dict[str, Any] = {
        "kind": change.kind,
        "text": change.text.strip(),
        "subject": " ".join(change.subject.split())[:SUBJECT_MAX_CHARS],
        "owner": change.owner,
        "about": " ".join(change.about.split())[:ABOUT_MAX_CHARS],
        "weight": None if change.weight is None else min(1.0, max(0.0, change.weight)),
    }
    return {name: value for name, value in fields.items() if value not in ("", None)}


def _due(kept: Kept, request: KeeperRequest, note: Note | None = None) -> dict[str, Any]:
    """The fields of the day; a note that rings keeps its clock, by which its ring and its series are reckoned."""
    if kept.due is None:
        return {}
    at: datetime = kept.due
    rule = "" if note is not None and note.rings else _rule(kept)
    zone = note.time_zone if note is not None and note.rings else request.zone
    exact = _has_hour(kept.change.due)
    due_at_ms = at_ms_of(f"{at:{LOCAL}}", request.zone) if exact else at_ms_of(f"{at:%Y-%m-%d}T00:00", zone)
    by_hours = _has_hours(kept.change.due)
    end = end_fields(f"{at:{LOCAL}}", f"{kept.last:{LOCAL}}" if kept.last else "", zone, by_hours=by_hours)
    repeats = {"repeats": rule} if rule else {}
    return {"due_at_ms": due_at_ms, "due_exact": exact, "time_zone": zone} | end | repeats


def _rule(kept: Kept) -> str:
    return kept.change.repeats.strip().upper().removeprefix("RRULE:")


def _has_hour(due: str) -> bool:
    """Whether an hour was said."""
    return len(due.partition("/")[0].strip()) > DAY_CHARS


def _has_hours(due: str) -> bool:
    """Whether both its beginning and its end were said as hours."""
    return _has_hour(due) and ":" in due.partition("/")[2]


def in_words(refusal: Refusal) -> str:
    """Why the ledger does not take an operation, as a keeper can act on it."""
    number = f"#{refusal.number}"
    return {
        "unknown": f"{number} is not one of the notes",
        "ended": f"{number} says it and has ended; what ended stays so",
        "empty": "a note needs its text",
        "same": f"{number} says exactly this already",
        "known": f"{number} says exactly this already",
        "past": f"the time of {number} is over",
        "rings": f"{number} and the other ring each at a time of their own: leave both",
        "rule": refusal.detail,
        "date": f"{number} repeats: what is done once goes on; how is dropped when the person wants it no more",
        "field": f"{number} cannot be changed so",
        "changed": f"{number} was changed meanwhile by the person or the assistant; theirs stands",
    }[refusal.code]
