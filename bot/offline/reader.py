"""Operations of one turn on the ledger, read by explicit forms alone. Pure; precision before recall."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final, Literal

from bot.matching import find, whole
from bot.offline import dated
from bot.offline.forms import (
    SENTENCE_END,
    FormFound,
    clauses,
    content_of,
    first_match,
    note_in,
    plain,
    said_back,
    says_something,
    shared,
    trimmed,
    without_joints,
)
from bot.offline.times import SaidTime, moment_in
from bot.offline.words import Words, language_of, words_of
from memory.ledger import series
from memory.ledger.apply import folded
from memory.ledger.types import TO_DO, USER, Add, Change, End, Ledger, Note, Operation
from memory.ledger.views import to_do

SURE: Final = 0.5
"""Share of the words of a report that a note must have."""
CONFIDENCE: Final = 0.7
SAID_WORDS: Final = 12
Missing = Literal["", "when", "what", "which", "past"]


@dataclass(frozen=True, slots=True)
class Context:
    """Place, time and speaker of a turn."""

    turn_id: str
    now_ms: int
    zone: str = "UTC"
    language: str | None = None
    """The language spoken here, for messages too short to tell."""
    user_id: int | None = None
    session_id: str | None = None
    persona: str = ""
    third_party: bool = False
    """True for a forwarded message: nothing of it is noted."""
    before: str = ""
    """The same person's words in the turn before."""
    before_turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """Operations of a message, and the fact that is missing for one."""

    operations: tuple[Operation, ...] = ()
    missing: Missing = ""
    candidates: tuple[Note, ...] = ()
    """The notes of which one may be meant."""
    corrects: bool = False
    forgets_all: bool = False


@dataclass(slots=True)
class _Turn:
    """A turn being read."""

    ledger: Ledger
    at: Context
    words: Words
    operations: list[Operation] = field(default_factory=list)
    missing: Missing = ""
    candidates: tuple[Note, ...] = ()


def read(text: str, ledger: Ledger, context: Context) -> tuple[Operation, ...]:
    """Operations of a turn; none for a question, small talk, and a text that no form fits."""
    return understood(text, ledger, context).operations


def understood(text: str, ledger: Ledger, context: Context) -> Read:
    """Operations of a turn, and the question that has to be asked back."""
    if context.third_party:
        return Read()
    text = plain(text)
    words = words_of(language_of(text, context.language))
    turn, whole_text = _Turn(ledger, context, words), trimmed(text)
    if first_match(words.reads["everything"], whole_text) is not None:
        return Read(forgets_all=True)
    if corrected := _corrected(turn, whole_text):
        return corrected
    rest = [each for each in SENTENCE_END.split(text) if not _take(turn, _reminder(turn, trimmed(each)))]
    for clause in clauses("\n".join(rest), words):
        _read_clause(turn, clause)
    for line in dated.dated_in("\n".join(rest), words, context.now_ms, context.zone):
        turn.operations = _beside(turn, line)
    return Read(tuple(turn.operations), turn.missing, turn.candidates)


def _take(turn: _Turn, found: Read | None) -> bool:
    """Join the operations of one sentence to the turn; False for none."""
    if found is None:
        return False
    turn.operations += found.operations
    turn.missing = turn.missing or found.missing
    return True


def _read_clause(turn: _Turn, clause: str) -> None:
    if _take(turn, _reminder(turn, clause)):
        return
    for name, how in (("done", "done"), ("drop", "dropped")):
        note = _ended(turn, name, clause)
        if note:
            turn.operations.append(End(number=note.number, how=how, turn_ids=(turn.at.turn_id,), said=_few(clause)))  # type: ignore[arg-type]
            return
    found = note_in(clause, turn.words, turn.at.now_ms, turn.at.zone)
    if found:
        turn.operations.append(added(found, turn.at))


# --- reminders --------------------------------------------------------------------------------------------------------


def reminder_in(text: str, words: Words, now_ms: int, zone: str) -> tuple[str, SaidTime | None] | None:
    """Text and time of an explicit "remind me …"; None for anything else."""
    groups = first_match(words.reads["remind"], trimmed(text))
    if groups is None or any(find(pattern, trimmed(text)) for pattern in words.reads["recalls"]):
        return None
    what = groups["what"]
    moment = moment_in(what, now_ms, zone, words.code)
    what = without_joints(moment.rest_of(what) if moment else what, words)
    return said_back(what, words), moment


def _reminder(turn: _Turn, text: str) -> Read | None:
    found = reminder_in(text, turn.words, turn.at.now_ms, turn.at.zone)
    if found is None:
        return None
    what, moment = found
    if not says_something(what, turn.words):
        return Read(missing="what")
    operation = added(FormFound("task", what, moment=moment, said=text), turn.at, rings=True)
    return Read((operation,), "" if moment else "when")


def added(found: FormFound, at: Context, *, rings: bool = False) -> Add:
    """The operation that adds a note; with `rings` a message is sent when its time comes."""
    fields: dict[str, Any] = {
        "turn_ids": (at.turn_id,), "session_id": at.session_id, "user_id": at.user_id, "persona": at.persona,
        "time_zone": at.zone, "confidence": CONFIDENCE, "weight": 0.6 if found.kind in TO_DO else 0.5,
    }  # fmt: skip
    if found.kind in {"task", "promise"}:
        fields["owner"] = USER
    if found.subject:
        fields["subject"] = found.subject
    fields |= timed(found.moment, at.zone, rings=rings) if found.moment else {}
    key = f"{at.turn_id}:offline:{found.kind}:{folded(found.text)}"
    note_id = f"n_{blake2b(key.encode(), digest_size=10).hexdigest()}"
    return Add(kind=found.kind, text=found.text, note_id=note_id, fields=fields, said=_few(found.said))


def timed(moment: SaidTime, zone: str, *, rings: bool) -> dict[str, Any]:
    """The fields of a note that is due at a moment, or rings then."""
    if rings or moment.repeats:
        return {"rings_from": moment.minute(), "repeats": moment.repeats, "time_zone": zone}
    return {"due_at_ms": moment.at_ms(zone), "due_exact": moment.exact, "time_zone": zone}


def _beside(turn: _Turn, line: FormFound) -> list[Operation]:
    """The operations with a statement of a day: a form that read the same keeps its own, but for a bare remark."""
    same = [
        each for each in turn.operations if isinstance(each, Add | Change | End) and _overlap(turn, each.said, line)
    ]
    remarks = [n for n in same if isinstance(n, Add) and n.kind == "person" and not n.fields.get("subject")]
    if len(remarks) < len(same):
        return turn.operations
    others = [each for each in turn.operations if each not in remarks]
    return [*others, *_own_line(turn, replace(line, kind="event") if remarks else line)]


def _overlap(turn: _Turn, said: str, line: FormFound) -> bool:
    one, other = dated.telling(said, turn.words.code), dated.telling(line.said, turn.words.code)
    return len(one & other) * 2 >= min(len(one), len(other)) > 0


def _own_line(turn: _Turn, line: FormFound) -> list[Operation]:
    """Operations that note a statement with its day; one about the same matter replaces the earlier day and words."""
    at, moment = turn.at, line.moment
    if moment is None:
        return []
    due = timed(moment, at.zone, rings=False) | {"turn_ids": (at.turn_id,)}
    same = dated.same_matter(line, turn.ledger, turn.words, at.now_ms)
    if same is None:
        new = added(line, at)
        return [replace(new, fields={**new.fields, "owner": "", "confidence": dated.CONFIDENCE})]
    if same.due_at_ms == due["due_at_ms"] or (not moment.exact and _day_of(same) == moment.local):
        return []
    fields = {**due, "text": line.text, "kind": line.kind, "said_at_ms": at.now_ms}
    return [Change(number=same.number, fields=fields, said=_few(line.said))]


def _few(clause: str) -> str:
    return " ".join(clause.split()[:SAID_WORDS])


# --- what ended -------------------------------------------------------------------------------------------------------


def _ended(turn: _Turn, name: str, clause: str) -> Note | None:
    """The one open note that a report, or "forget …", is about."""
    open_notes = _open(turn)
    if name == "drop":
        open_notes += [note for note in turn.ledger if note.is_open and note.lasts]
    for pattern in turn.words.reads[name]:
        groups = first_match((pattern,), clause)
        if groups is None:
            continue
        said = said_back(without_joints(groups["what"], turn.words), turn.words)
        found = meant(said, open_notes, turn.words)
        if len(found) == 1:
            return found[0]
        turn.candidates = turn.candidates or tuple(found)
        turn.missing = turn.missing or ("which" if found else "")
    return None


def _open(turn: _Turn) -> list[Note]:
    """The notes that somebody may report on; in a group everybody's."""
    ended = {operation.number for operation in turn.operations if isinstance(operation, End)}
    notes = to_do(turn.ledger, turn.at.now_ms)
    notes += [note for note in turn.ledger if note.kind == "event" and note.is_open]
    return [note for note in notes if note.number not in ended]


def meant(said: str, notes: Iterable[Note], words: Words) -> list[Note]:
    """The notes that words mean: the exact text wins, else those with most of the words that say something."""
    notes = list(notes)
    exact = [note for note in notes if folded(note.text) == folded(said)]
    if exact:
        return exact[:1]
    named = content_of(said, words)
    if not named:
        return []
    scores = [(shared(named, content_of(note.text, words)), note) for note in notes]
    best = max((score for score, _ in scores), default=0)
    return [note for score, note in scores if score == best] if best / len(named) >= SURE else []


# --- corrections ------------------------------------------------------------------------------------------------------


def _corrected(turn: _Turn, text: str) -> Read | None:
    """Changes by "no, Friday" and "actually it's Max" to notes of the turn before; a time alone sets its time."""
    at, words = turn.at, turn.words
    last = [note for note in turn.ledger if at.before_turn_id in note.turn_ids and note.is_open]
    if not last:
        return None
    if first_match(words.reads["undo"], text) is not None:
        return Read(tuple(End(number=note.number, how="dropped") for note in last), corrects=True)
    groups = first_match(words.reads["correct"], text)
    said = groups["what"] if groups else text
    moment = moment_in(said, at.now_ms, at.zone, words.code)
    if moment and not says_something(moment.rest_of(said), words):
        day = _day_of(last[-1])
        if (
            not moment.repeats and moment.exact and day > series.local_of(at.now_ms, at.zone)
        ):  # by the clock of that day
            moment = moment_in(said, series.at_ms_of(f"{day}T00:00", at.zone), at.zone, words.code) or moment
        return _retimed(last[-1], moment, at, asked=groups is None)
    again = _said_again(turn, trimmed(said)) if groups else None
    return Read((again,), corrects=True) if again else None


def _retimed(note: Note, moment: SaidTime, at: Context, *, asked: bool) -> Read | None:
    """The note with another time; with its first when it was asked for."""
    if note.kind not in TO_DO and note.kind != "event":
        return None
    if asked and (note.due_at_ms is not None or note.rings):
        return None  # a time alone, and nothing is missing
    rings = note.rings or (asked and note.kind == "task")
    if note.rings and not moment.exact:  # another day, the same hour
        moment = SaidTime(f"{moment.local}T{note.rings_from[-5:]}", moment.repeats, moment.spans)
    elif not moment.repeats and moment.exact and (day := _day_of(note)) and len(moment.spans) == 1:
        at_ms = series.at_ms_of(f"{day}T{moment.local[-5:]}", at.zone)
        moment = SaidTime(series.local_of(at_ms, at.zone), "", moment.spans) if at_ms > at.now_ms else moment
    fields = timed(moment, at.zone, rings=rings) | {"turn_ids": (at.turn_id,)}
    return Read((Change(number=note.number, fields=fields),), corrects=True)


def _day_of(note: Note) -> str:
    if note.rings_from:
        return note.rings_from[:10]
    return series.local_of(note.due_at_ms, note.time_zone)[:10] if note.due_at_ms is not None else ""


def _said_again(turn: _Turn, value: str) -> Operation | None:
    """The value that the turn before stated, put right: its form is read again with the new one."""
    for clause in clauses(plain(turn.at.before), turn.words):
        found = note_in(clause, turn.words, turn.at.now_ms, turn.at.zone)
        if not (found and found.subject and "{what}" not in found.subject and value):
            continue
        again = note_in(_with_value(clause, value, turn.words), turn.words, turn.at.now_ms, turn.at.zone)
        if again and again.subject == found.subject:
            return added(again, turn.at)
    return None


def _with_value(clause: str, value: str, words: Words) -> str:
    """The clause with another value in its form."""
    match = next((found for form in words.forms if (found := whole(form.pattern, clause))), None)
    if match is None or "what" not in match.groupdict():
        return clause
    start, end = match.span("what")
    return f"{clause[:start]}{value}{clause[end:]}"


def notes_of(operations: Sequence[Operation]) -> int:
    """The number of operations that add a note."""
    return sum(isinstance(operation, Add) for operation in operations)
