"""A corrected value in the place of the old one: "the exam is on the 3rd", "sorry, the 4th" make one note. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from memory.language.due_dates import Due, find_due
from memory.language.language import Language
from memory.language.sentences import lowered, words_of
from memory.language.time_rules import blank, first_of, rules_of
from memory.notes.clauses import NUMBER, Clause, within
from memory.notes.corrections import denied_days, denied_values, kind_of
from memory.notes.reports import PARTS
from memory.notes.telling import is_time_word, telling_stems
from memory.notes.types import LastingNote, Matter
from memory.zones import zone_of

_LAST_WORD = re.compile(r"(?P<word>[^\W\d_]+),? $")
_WORD = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+(?:[.,:/]\d+)*")

_DAY = re.compile(r"(?P<day>\d{1,2})(?P<ending>[^\W\d_]{0,2}(?!\w))")
_MOVED = frozenset({"moves"})
"""What moves may move to another month, what is put right is in the month that was said."""

_BESIDE_MAX = 2
"""So many words beside a day may be lost where the old day is denied: then it is clear what is corrected."""

Change = tuple[int, int, str]
"""Where the old value stands, and the new one."""


class PutRight(NamedTuple):
    """A note with its value put right."""

    text: str
    due_at_ms: int | None
    due_exact: bool


Put = Callable[[Matter | LastingNote, Clause, str, Language, frozenset[str]], PutRight | None]


def put_later(
    note: Matter | LastingNote, clause: Clause, zone: str, language: Language, names: frozenset[str]
) -> PutRight | None:
    """Return the note with the later day of a clause that says more than the day; None where its own is not clear."""
    del names
    whole = clause.due is not None and len(lowered(note.text)) == len(note.text)
    return _another_time(note, clause, clause.due, zone, language) if whole and clause.due else None


def put_when(
    note: Matter | LastingNote, clause: Clause, zone: str, language: Language, names: frozenset[str]
) -> PutRight | None:
    """Return the note with the time of a clause that moves it; one that named none keeps its words."""
    clause = replace(clause, due=_behind_the_move(clause, language))
    later = put_later(note, clause, zone, language, names)
    return later or (_time_apart(note, clause.due, zone, language) if clause.due else None)


def _behind_the_move(clause: Clause, language: Language) -> Due | None:
    """Return the time of a clause without the "to" of "moved to the 4th" in its words: what moves is on the 4th."""
    moves = language.cues["reschedules"].search(clause.lower) if "reschedules" in language.cues else None
    if clause.due is None or moves is None:
        return clause.due
    end = moves.end() + 1
    spans = [(end if start < end < stop else start, stop) for start, stop in clause.due.spans]
    return replace(clause.due, spans=tuple(spans))


def _time_apart(note: Matter | LastingNote, due: Due, zone: str, language: Language) -> PutRight | None:
    """Return the note with another time that its words don't tell; None where they do. What isn't said again stays."""
    if not isinstance(note, Matter) or find_due(lowered(note.text), note.said_at_ms, zone, language):
        return None
    new, old = (datetime.fromtimestamp(ms / 1000, zone_of(zone)) for ms in (due.due_at_ms, note.due_at_ms or 0))
    day = old if note.due_at_ms and due.is_hour_alone else new
    hour = new if due.exact or not note.due_exact else old
    at = datetime.combine(day.date(), hour.time(), zone_of(zone))
    return PutRight(note.text, int(at.timestamp() * 1000), due.exact or note.due_exact)


def put_right(
    note: Matter | LastingNote, clause: Clause, zone: str, language: Language, names: frozenset[str]
) -> PutRight | None:
    """Return the note with the value of the clause in the place of its own; None where it is not clear which that is.

    `names` are those that are known, lower-cased. None, too, where the clause says more than the value: that must not
    be lost.
    """
    denied = denied_values(clause.lower, language)
    left = _left(note.text, clause, language, denied)
    if len(lowered(note.text)) != len(note.text):
        return None
    if clause.due is not None:
        beside = _BESIDE_MAX if _day(note, zone) in denied_days(clause.lower, language) else 0
        if len(left) > beside:
            return None
        right = _another_time(note, clause, clause.due, zone, language)
        return right or _time_apart(note, clause.due, zone, language)
    if len(left) > bool(denied):
        return None
    words = denied - _affirmed(clause, language)
    change = _another_number(note.text, clause, denied) or _another_word(note.text, clause, left, words, names)
    if change is None:
        return None
    due_at_ms, exact = (note.due_at_ms, note.due_exact) if isinstance(note, Matter) else (None, False)
    return PutRight(_changed(note.text, [change]), due_at_ms, exact)


def denying_part(clause: Clause, zone: str, language: Language) -> Clause | None:
    """Return the part of a clause that denies a value beside one that holds ("mass is at 12 not 11"); else None."""
    parts = PARTS.split(clause.text)
    said = [within(clause, part, zone, language) for part in parts if any(map(str.isdigit, part))]
    denies = (each for each in said if any(map(str.isdigit, "".join(denied_values(each.lower, language)))))
    return next(denies, None) if len(parts) > 1 else None


def _day(note: Matter | LastingNote, zone: str) -> str:
    """Return the day of the month on which the note is due; "" without one."""
    due_at_ms = note.due_at_ms if isinstance(note, Matter) else None
    return str(datetime.fromtimestamp(due_at_ms / 1000, zone_of(zone)).day) if due_at_ms else ""


def _left(text: str, clause: Clause, language: Language, denied: frozenset[str]) -> set[str]:
    """Return the telling words of the clause that neither the note nor the correction itself accounts for."""
    plain = clause.lower
    for cue in ("correct", "self_corrects", "negates", "no", "moves"):
        plain = language.cues[cue].sub(_blanks, plain) if cue in language.cues else plain
    plain = blank(plain, clause.due.spans) if clause.due else plain
    words = {word for word in words_of(plain) if word not in clause.names | denied and not word[0].isdigit()}
    known = telling_stems(words_of(language.mended(lowered(text))), language) | denied
    return {word for word in words if telling_stems([word], language) - known}


def _blanks(found: re.Match[str]) -> str:
    return " " * len(found.group())


def _another_time(
    note: Matter | LastingNote, clause: Clause, due: Due, zone: str, language: Language
) -> PutRight | None:
    """Return the note with another day, another hour, or both; the part that is not said again stays.

    A part that it had not is put behind the one that it has: "on Thursday", "no, at 7" is "on Thursday at 7".
    """
    lower = lowered(note.text)
    old = find_due(lower, note.said_at_ms, zone, language)
    if old is None:
        return None
    words = clause.text if len(clause.lower) == len(clause.text) else clause.lower
    said = _parts(clause.lower, due, clause.at_ms, zone, language)
    held = _parts(lower, old, note.said_at_ms, zone, language)
    if len(said) != len(due.spans) or len(held) != len(old.spans):
        return None
    spoken = {part: words[slice(*place)] for part, place in said.items()}
    in_month = "" if _MOVED & clause.cues else _in_its_month(note.text, held.get("day"), spoken.get("day"), language)
    spoken |= {"day": in_month} if in_month else {}
    changes = [
        _change(note.text, part, held[part], spoken[part], language)
        if part in held
        else (behind := max(end for _, end in held.values()), behind, f" {spoken[part]}")
        for part in said
    ]
    reads = find_due(in_month, note.said_at_ms, zone, language) or due
    day, hour = (
        datetime.fromtimestamp(each.due_at_ms / 1000, zone_of(zone))
        for each in (reads if "day" in said else old, due if "hour" in said else old)
    )
    at = datetime.combine(day.date(), hour.time(), zone_of(zone))
    if any(each.startswith("w") for each in denied_days(clause.lower, language)):
        at = _of_the_same_week(at, old.due_at_ms, clause.at_ms)
    return PutRight(_changed(note.text, changes), int(at.timestamp() * 1000), due.exact or old.exact)


def _in_its_month(text: str, place: tuple[int, int] | None, new: str | None, language: Language) -> str:
    """Return the date there with the number of a day that is said alone: "20 February", "no, the 21st"; else ""."""
    rules = rules_of(language)
    old = text[slice(*place)] if place else ""
    date, day = first_of(rules.dates, lowered(old)), rules.month_days.fullmatch(lowered(new or ""))
    if (
        date is None
        or day is None
        or not date["day"].isdigit()
        or any(is_time_word(w, language) for w in words_of(day[0]))
    ):
        return ""
    number = _DAY.search(day[0])
    behind = _DAY.match(old, date.start("day"))
    if number is None or behind is None:
        return ""
    return f"{old[: behind.start()]}{number[0] if behind['ending'] else number['day']}{old[behind.end() :]}"


def _of_the_same_week(at: datetime, old_ms: int, now_ms: int) -> datetime:
    """Return the weekday that is nearest to the one it is said instead of: "Wednesday, not Thursday" may be today."""
    before = at - timedelta(days=7)
    after_ms, before_ms = (int(each.timestamp() * 1000) for each in (at, before))
    return before if before_ms > now_ms and abs(before_ms - old_ms) < abs(after_ms - old_ms) else at


def _change(text: str, part: str, place: tuple[int, int], new: str, language: Language) -> Change:
    """Return the change of a day or an hour: the weekday beside an old date goes, the "on" before a day stays."""
    start, end = place
    if part == "day":
        before = _LAST_WORD.search(text[:start])
        if before is not None and is_time_word(lowered(before["word"]), language):
            start = before.start()
        first, *more = text[start:end].split()
        said, articles = lowered(new.split(maxsplit=1)[0]), language.articles
        behind = lowered(more[0]) if more else ""
        on_the = behind in articles and said in articles and lowered(first) not in articles
        bare = on_the or (not is_time_word(lowered(first), language) and more and is_time_word(behind, language))
        bare = bare and not any(day.fullmatch(said) for day, _ in rules_of(language).days)
        if bare and (is_time_word(said, language) or said in language.articles):
            new = f"{first} {new}"
    return start, end, new


def _parts(lower: str, due: Due, at_ms: int, zone: str, language: Language) -> dict[str, tuple[int, int]]:
    """Return where the day and where the hour stand."""
    found = {}
    for start, end in due.spans:
        alone = find_due(lower[start:end], at_ms, zone, language)
        found["hour" if alone is not None and alone.exact else "day"] = (start, end)
    return found


def _another_number(text: str, clause: Clause, denied: frozenset[str]) -> Change | None:
    new = [number for number in clause.numbers if number not in denied]
    if len(new) != 1 or (digits := _DIGITS.search(new[0])) is None:
        return None
    same = [found for found in NUMBER.finditer(lowered(text)) if kind_of(found.group()) == kind_of(new[0])]
    old = _DIGITS.search(same[0].group()) if len(same) == 1 else None
    return (same[0].start() + old.start(), same[0].start() + old.end(), digits.group()) if old else None


def _affirmed(clause: Clause, language: Language) -> frozenset[str]:
    """Return the words that stand before a "not": of "Peters, not Petersen" the first holds, one stem or not."""
    cue = language.cues.get("negates")
    found = cue.search(clause.lower) if cue else None
    return frozenset(words_of(clause.lower[: found.start()])) if found else frozenset()


def _another_word(
    text: str, clause: Clause, left: set[str], denied: frozenset[str], names: frozenset[str]
) -> Change | None:
    """Return the change of one name for another, or of a word that is denied for the one that holds."""
    wanted = left or clause.names - denied
    known = frozenset(words_of(lowered(text)))
    new = [word for word in _WORD.findall(clause.text) if lowered(word) in wanted - known]
    old = [found for found in _WORD.finditer(text) if lowered(found.group()) in (denied or names)]
    return (*old[0].span(), new[0]) if len(new) == len(old) == 1 else None


def _changed(text: str, changes: Sequence[Change]) -> str:
    for start, end, new in sorted(changes, reverse=True):
        text = f"{text[:start]}{new}{text[end:]}"
    return text
