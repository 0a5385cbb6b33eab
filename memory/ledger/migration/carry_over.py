"""Rows of people, tools and models from before the ledger, as its first notes; rows of rules are left. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any, Final

import orjson

from memory.ledger import series
from memory.ledger.apply import apply, folded
from memory.ledger.types import SUBJECT_MAX_CHARS, Actor, Add, Applied, End, Ending, Hand, Kind, Ledger, NoteChange
from memory.ports import Row
from memory.text import on_one_line
from memory.zones import zone_of

TOLD: Final = 0.9
"""The confidence of a tool's note; then of a model's reading, and of a remark in passing."""
READ: Final = 0.7
FAINT: Final = 0.5
_RULE: Final = re.compile(r"(\d*)(hour|day|weekday|week|month|year)([1-7]*)@(\d\d):(\d\d)(?:/(\d+))?")
_DAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_ENDS: Final[Mapping[str, Ending]] = {
    "done": "done", "answered": "done", "settled": "done", "dropped": "dropped",
}  # fmt: skip
_KINDS: Final[Mapping[str, Kind]] = {
    "commitment": "promise", "request": "task", "theme": "project", "relationship": "person",
}  # fmt: skip
_SHORT_MONTH: Final = 28


@dataclass(frozen=True, slots=True)
class OldRows:
    """Everything that the stores before hold of one conversation."""

    sessions: Sequence[Row] = ()
    memories: Sequence[Row] = ()
    session_notes: Sequence[Row] = ()
    jobs: Sequence[Row] = ()
    dropped_arcs: Sequence[Row] = ()
    turns: Sequence[Row] = ()


@dataclass(slots=True)
class _Item:
    """One thing that is carried over."""

    ref: str
    kind: Kind
    text: str
    at_ms: int
    hand: Hand
    fields: dict[str, Any] = field(default_factory=dict)
    ending: Ending | None = None
    cause: str = ""
    replaces: tuple[str, ...] = ()


@dataclass(slots=True)
class _Turns:
    """The speakers, and the arguments of tools."""

    users: dict[str, int | None] = field(default_factory=dict)
    told: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """(turn, tool) → the texts that it was given."""
    hands: dict[str, Hand] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Sequence[Row]) -> _Turns:
        turns = cls()
        for row in rows:
            turns.users[row["turn_id"]] = row["user_id"]
            turns.hands[row["turn_id"]] = "model" if row["model"] else "offline"
            for call in _json(row["tool_calls_json"]) or ():
                text = (_json(call.get("arguments", "")) or {}).get("text", "")
                turns.told.setdefault((row["turn_id"], call.get("name", "")), set()).add(folded(str(text)))
        return turns

    def were_told(self, turn_id: str, tool: str, text: str) -> bool:
        """Whether this turn's tool was given this text, or a longer one that was cut."""
        plain = folded(text).rstrip("…")
        told = self.told.get((turn_id, tool), ())
        return any(each.startswith(plain) or plain.startswith(each) for each in told if each)


def note_id_of(ref: str) -> str:
    """The id of the note that something becomes: the same each time."""
    return f"n_{blake2b(ref.encode(), digest_size=16).hexdigest()}"


def carry_over(conversation_id: str, rows: OldRows) -> tuple[Ledger, list[NoteChange], dict[str, int]]:
    """The first ledger, the changes that made it, and reason → number of the rows left out."""
    left: Counter[str] = Counter()
    turns = _Turns.of(rows.turns)
    undone = {each for row in rows.sessions for each in (_json(row["state_json"]) or {}).get("undone", ())}
    items = [
        *_memories(rows.memories, turns, left),
        *_loops(rows.sessions, turns, left),
        *_noted(rows.session_notes, left),
        *_reminders(rows.jobs, turns, left),
    ]
    dropped = {ref for row in rows.dropped_arcs for ref in _json(row["sources_json"]) or ()}
    asked = {row["call_key"] or "" for row in rows.jobs if row["kind"] == "asked"}
    ledger, changes = Ledger(conversation_id), []
    for item in sorted(items, key=lambda each: (each.at_ms, each.ref)):
        if not undone.isdisjoint(item.fields.get("turn_ids", ())):
            left["taken_back"] += 1
            continue
        item.ending = "dropped" if item.ref in dropped else item.ending
        item.fields["offered"] = f"{item.ref}:asked" in asked
        users = [turns.users[each] for each in item.fields.get("turn_ids", ()) if each in turns.users]
        item.fields.setdefault("user_id", users[0] if users else None)
        ledger, done = _put(ledger, item, left)
        changes += done
    return ledger, changes, dict(left)


def _put(ledger: Ledger, item: _Item, left: Counter[str]) -> tuple[Ledger, list[NoteChange]]:
    by = Actor(item.hand, item.at_ms, item.cause)
    add = Add(kind=item.kind, text=item.text, note_id=note_id_of(item.ref), fields=item.fields)
    outcome = apply(ledger, add, by)
    if not isinstance(outcome, Applied):
        left["same" if outcome.code == "known" else "unreadable"] += 1
        return ledger, []
    changes = list(outcome.changes)
    after = outcome.ledger
    ends = [(outcome.note.number, item.ending)] if item.ending else []
    old = {note_id_of(each) for each in item.replaces}
    ends += [(note.number, "dropped") for note in after if note.note_id in old and note.is_open]
    for number, how in ends:
        ended = apply(after, End(number=number, how=how), by)
        if isinstance(ended, Applied):
            after, changes = ended.ledger, [*changes, *ended.changes]
    return after, changes


# --- each store -----------------------------------------------------------------------------------------------------


def _memories(rows: Sequence[Row], turns: _Turns, left: Counter[str]) -> Iterator[_Item]:
    for row in rows:
        turn_id = row["turn_id"]
        if row["status"] != "active":
            left["older_value"] += 1
        elif not turns.were_told(turn_id, "remember", row["text"]):
            left["rules"] += 1
        else:
            fields = {"turn_ids": (turn_id,), "session_id": row["session_id"], "user_id": row["user_id"]}
            fields |= {"confidence": TOLD, "said_at_ms": row["created_at_ms"]}
            hand = turns.hands.get(turn_id, "model")
            yield _Item(row["memory_id"], row["kind"], row["text"], row["created_at_ms"], hand, fields, cause=turn_id)


def _loops(rows: Sequence[Row], turns: _Turns, left: Counter[str]) -> Iterator[_Item]:
    """Yield loops that tools listed, or that somebody ended or put off by hand; a later session's word counts."""
    latest: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for row in rows:
        state = _json(row["state_json"])
        if state is None:
            left["unreadable"] += 1
            continue
        latest |= {loop["loop_id"]: (row["session_id"], loop) for loop in state.get("open_loops", ())}
    for loop_id, (session_id, loop) in latest.items():
        turn_id, status = loop["turn_id"], loop["status"]
        by_tool = turns.were_told(turn_id, "open_loop", loop["text"])
        by_hand = status == "snoozed" or (status in _ENDS and not loop.get("closed_turn_id"))
        if not by_tool and not by_hand:
            left["rules"] += 1
            continue
        fields = {
            "turn_ids": (turn_id,),
            "session_id": session_id,
            "owner": loop["owner"] if loop["owner"] in {"user", "assistant"} else "",
            "due_at_ms": loop.get("due_at_ms"),
            "due_exact": loop.get("due_exact", True) and loop.get("due_at_ms") is not None,
            "snoozed_until_ms": loop.get("snoozed_until_ms"),
            "confidence": TOLD if by_tool else READ,
            "said_at_ms": loop["opened_at_ms"],
        }
        hand: Hand = turns.hands.get(turn_id, "model") if by_tool else "person"
        kind: Kind = _KINDS.get(loop["kind"], loop["kind"])
        kind = "task" if kind == "promise" and loop["owner"] == "user" else kind
        text, ending = loop["text"], _ENDS.get(status)
        yield _Item(loop_id, kind, text, loop["opened_at_ms"], hand, fields, ending, turn_id if by_tool else "")


def _noted(rows: Sequence[Row], left: Counter[str]) -> Iterator[_Item]:
    """Yield a model's notes of sessions, and an operator's changes; a later reading's word counts."""
    latest: dict[str, _Item] = {}
    for row in rows:
        shown, by_model = _json(row["notes_json"]), _json(row["model_json"]) or {}
        if shown is None:
            left["unreadable"] += 1
            continue
        worded = {ref for ref, _, _ in _items(by_model)}
        reader = shown.get("reader", "rules")
        for ref, kind, note in _items(shown):
            is_model = note.get("quoted") is None and (reader != "rules" or ref in worded)
            if not is_model and not note.get("by_hand"):
                left["rules"] += 1
                continue
            item = _of_note(ref, kind, note, row["session_id"])
            if ref not in latest or latest[ref].at_ms <= item.at_ms:
                latest[ref] = item
    yield from latest.values()


def _items(notes: Mapping[str, Any]) -> Iterator[tuple[str, Kind, Mapping[str, Any]]]:
    for name, key in (("matters", "matter_id"), ("lasting", "note_id")):
        for note in notes.get(name, ()):
            yield note[key], _KINDS.get(note["kind"], note["kind"]), note


def _of_note(ref: str, kind: Kind, note: Mapping[str, Any], session_id: str) -> _Item:
    by_hand = bool(note.get("by_hand"))
    owner = note.get("owner", "")
    fields = {
        "turn_ids": tuple(note["turn_ids"]),
        "session_id": session_id,
        "subject": on_one_line(note.get("subject", ""), SUBJECT_MAX_CHARS),
        "owner": owner if kind in {"task", "promise", "question"} else "",
        "due_at_ms": note.get("due_at_ms"),
        "due_exact": bool(note.get("due_exact")),
        "snoozed_until_ms": note.get("snoozed_until_ms"),
        "weight": note.get("weight", 0.5),
        "confidence": 1.0 if by_hand else FAINT if note.get("faint") else READ,
        "said_at_ms": note["said_at_ms"],
    }
    ending, replaces = _ENDS.get(note.get("status", "open")), tuple(note.get("replaces", ()))
    hand: Hand = "operator" if by_hand else "keeper"
    return _Item(ref, kind, note["text"], note["said_at_ms"], hand, fields, ending, "", replaces)


def _reminders(rows: Sequence[Row], turns: _Turns, left: Counter[str]) -> Iterator[_Item]:
    """Yield coming reminders, with rings of the same series that were not called done; a single one that rang, too."""
    reminders = [row for row in rows if row["kind"] != "asked"]
    coming = [row for row in reminders if row["status"] == "scheduled" and row["due_at_ms"] is not None]
    rang = [row for row in reminders if row["status"] == "delivered" and row["due_at_ms"] is not None]
    left["reminder_ended"] += len(reminders) - len(coming) - len(rang)
    left += Counter()  # what is zero goes
    of_series: dict[tuple[str, str, int | None], list[Row]] = {}
    for row in rang:
        of_series.setdefault(_series_of(row), []).append(row)
    for row in coming:
        yield _reminder(row, turns, of_series.pop(_series_of(row), []) if row["repeats"] else [])
    for each in of_series.values():
        yield _reminder(each[-1], turns, each, is_over=True)


def _series_of(row: Row) -> tuple[str, str, int | None]:
    return (row["title"], row["repeats"] or row["job_id"], row["user_id"])


def _reminder(row: Row, turns: _Turns, rang: Sequence[Row], *, is_over: bool = False) -> _Item:
    zone, due = row["time_zone"], row["due_at_ms"]
    repeats, clock = ("", "") if is_over else rrule_of(row["repeats"], due, zone)
    local = series.local_of(due, zone)
    first = f"{local[:11]}{clock}" if clock else local
    occurrences = [{"original_local": series.local_of(each["due_at_ms"], zone), "state": "rang"} for each in rang]
    if first != local:
        occurrences.append({"original_local": first, "moved_to_ms": due, "state": "moved"})
    turn_id = row["turn_id"] or next((each["turn_id"] for each in rang if each["turn_id"]), None)
    follows_up = row["kind"] == "follow_up"
    fields = {
        "turn_ids": (turn_id,) if turn_id else (),
        "session_id": row["session_id"],
        "user_id": row["user_id"],
        "owner": "assistant" if follows_up else "user",
        "rings_from": first,
        "repeats": repeats,
        "time_zone": zone,
        "occurrences": tuple(sorted(occurrences, key=lambda each: str(each["original_local"]))),
        "said_at_ms": row["created_at_ms"],
    }
    hand: Hand = "model" if turn_id and turns.hands.get(turn_id) == "model" else "person"
    kind: Kind = "question" if follows_up else "task"
    return _Item(row["job_id"], kind, row["title"], row["created_at_ms"], hand, fields, cause=turn_id or "")


def session_lines_of(conversation_id: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Titles and standings of sessions, as far as a model worded them: rows of `session_lines`."""
    lines = []
    for row in rows:
        notes = _json(row["notes_json"]) or {}
        if notes.get("reader", "rules") != "rules" and notes.get("standing"):
            lines.append({
                "session_id": row["session_id"],
                "conversation_id": conversation_id,
                "title": notes.get("title", ""),
                "standing": notes["standing"],
                "turn_ids_json": orjson.dumps(notes.get("standing_turn_ids", [])).decode(),
                "worked_on_json": "[]",
                "read_through_seq": notes.get("read_through_seq", 0),
                "written_at_ms": notes.get("written_at_ms", 0),
            })  # fmt: skip
    return lines


def rrule_of(rule: str, due_at_ms: int, zone: str) -> tuple[str, str]:
    """The RRULE for a rule of before (`week@09:00`, `2week@18:30`, `month@09:00/31`), and its hour; "" for none."""
    found = _RULE.fullmatch(rule)
    if not found:
        return "", ""
    count, unit, days, hour, minute, day = found.groups()
    at = datetime.fromtimestamp(due_at_ms / 1000, zone_of(zone))
    every = f";INTERVAL={count}" if count not in {"", "1"} else ""
    month_day = int(day or at.day)
    on = f";BYMONTHDAY={month_day}"
    if month_day > _SHORT_MONTH:  # the last day that a month has of these
        on = f";BYMONTHDAY={','.join(str(each) for each in range(_SHORT_MONTH, month_day + 1))};BYSETPOS=-1"
    if unit == "hour":
        return "FREQ=HOURLY", ""
    rules = {
        "day": f"FREQ=DAILY{every}",
        "weekday": f"FREQ=WEEKLY;BYDAY={','.join(_DAYS[:5])}",
        "week": f"FREQ=WEEKLY{every};BYDAY={','.join(_DAYS[int(d) - 1] for d in days) or _DAYS[at.weekday()]}",
        "month": f"FREQ=MONTHLY{every}{on}",
        "year": f"FREQ=YEARLY{every};BYMONTH={at.month}{on}",
    }
    return rules[unit], f"{hour}:{minute}"


def _json(text: str) -> Any:
    """The value in a text of JSON, None for other texts."""
    try:
        return orjson.loads(text) if text else None
    except orjson.JSONDecodeError:
        return None
