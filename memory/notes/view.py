"""What is alive in a conversation now: the notes of its sessions merged, the newest wins, best first. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain
from math import log, sqrt

from pydantic import Field

from memory.language.language import Language
from memory.language.languages import Languages
from memory.language.names import WHO
from memory.notes.noted import stems_of_text
from memory.notes.quoting import JOINT
from memory.notes.types import DAY_MS, LastingNote, Matter, SessionNotes, key_of
from memory.notes.worth import is_waiting, missed, signs_of_worth, waited_for
from memory.types import Contract

PREVIEW_MAX = 7
LOOPS_MAX = 5
ASKED_AFTER_MS = 7 * DAY_MS
"""How long after its day an event that nobody spoke of since is still asked after."""
OVERDUE_MS = 30 * DAY_MS
"""The same for what somebody had to do: nobody has heard yet whether it is done."""
_REPEATS = -1.0
"""For a line whose words stand in the lines before it already."""
_SAME = 0.8
"""A line with this share of its words in them is left out, whatever it is worth."""
_OFFERED_FROM, _OPEN_FROM = 0.8, -0.65
"""From which log-odds a line is offered, and a matter is listed as open."""
_NEW_FROM = -0.2
"""What is left of a line at least when what stands in others is taken from it."""
_FEW_OFFERED = ((6, -0.2), (3, -1.2))
_FEW_OPEN, _FEW_OPEN_FROM = 3, -3.5
"""Up to how many lines are shown although they have less, and how much these have at least: who told little is not told
that nothing is known. Of matters only what waits is listed so.
"""
_COMING_FROM, _WITH_COMING = 0.4, 4
"""From which log-odds an event ahead is listed, and up to how many lines."""
_AT_HAND_DAYS = 3
"""So many days before and behind its day something stands first."""
_DAY_LEFT_MS = 15 * 3_600_000
"""What is left of a day when the hour comes that stands for it."""
_AGAIN_STEMS = 2
_AKIN_AT_LEAST = 0.5
"""Added to each: of a few notes it tells little that two share a word."""
_OPEN_KINDS = frozenset({"task", "promise", "question"})
ViewedNote = Matter | LastingNote


class Standing(Contract):
    """A note with what it is worth now."""

    note: Matter | LastingNote
    session_id: str
    """The session that said it last."""
    value: float
    """Log-odds that the person would miss it."""
    waits: float
    """Log-odds that somebody has to do or answer something in it."""
    signs: dict[str, float] = Field(default_factory=dict, repr=False)
    """What both depend on."""
    stems: frozenset[str]
    own: frozenset[str] = frozenset()
    """Those of what it says itself, behind the words that it leans on: that tells whether another line says it."""


class NotesView(Contract):
    """What is alive in a conversation, best first."""

    standings: tuple[Standing, ...] = ()
    now_ms: int = 0
    """When that was."""
    session_ids: frozenset[str] = frozenset()
    """The sessions that were read for it: they speak through their notes."""

    @property
    def matters(self) -> tuple[Matter, ...]:
        """What goes on."""
        return tuple(each.note for each in self.standings if isinstance(each.note, Matter))

    @property
    def lasting(self) -> tuple[LastingNote, ...]:
        """What stays true."""
        return tuple(each.note for each in self.standings if isinstance(each.note, LastingNote))


def merge(
    sessions: Sequence[SessionNotes], now_ms: int, languages: Languages, *, ended: Collection[str] = ()
) -> NotesView:
    """Return what is alive of the notes of a conversation's sessions, given oldest first.

    Of two notes with one id, or one subject, the newer holds; what was replaced, settled or is over is left out, and
    so are the matters in `ended`.
    """
    settled = {*ended, *(each.matter_id for notes in sessions for each in notes.settled)}
    found: dict[str, tuple[int, ViewedNote]] = {}
    replaced: set[str] = set()
    subjects: dict[str, str] = {}
    for number, notes in enumerate(sessions):
        said: list[ViewedNote] = [*notes.matters, *notes.lasting]
        for note in said:
            replaced.update(note.replaces)
            if isinstance(note, LastingNote) and note.subject:
                older = subjects.get(note.subject)
                replaced.update({older} if older else ())
                subjects[note.subject] = note.note_id
            found[key_of(note)] = (number, note)
    last_said_ms = max((note.said_at_ms for _, note in found.values()), default=0)
    alive = [
        (number, note, *_stems_of(note.text, languages.get(sessions[number].language)))
        for key, (number, note) in found.items()
        if key not in replaced and key not in settled and is_alive(note, now_ms, last_said_ms)
    ]
    standings = _standings(alive, [notes.session_id for notes in sessions], now_ms)
    ranked = sorted(standings, key=lambda s: (-s.value, -s.note.said_at_ms, key_of(s.note)))
    return NotesView(
        standings=tuple(ranked),
        now_ms=now_ms,
        session_ids=frozenset(notes.session_id for notes in sessions),
    )


def _standings(
    alive: Sequence[tuple[int, ViewedNote, frozenset[str], frozenset[str]]], session_ids: Sequence[str], now_ms: int
) -> list[Standing]:
    """Return each note, given with the number of its session and its stems, with what it is worth beside the others."""
    where: dict[str, set[int]] = {}
    holders: dict[str, list[int]] = {}
    for place, (number, _, stems, _) in enumerate(alive):
        for stem in stems:
            where.setdefault(stem, set()).add(number)
            holders.setdefault(stem, []).append(place)
    newest = max((number for number, *_ in alive), default=0)
    akin = _akin([stems for _, _, stems, _ in alive])
    said_at_ms = [note.said_at_ms for _, note, *_ in alive]
    standings = []
    for place, (number, note, stems, own) in enumerate(alive):
        shared = Counter(chain.from_iterable(holders[stem] for stem in stems))
        signs = signs_of_worth(
            note,
            now_ms,
            elsewhere=max((len(where[stem]) for stem in stems), default=1) - 1,
            again=sum(n >= _AGAIN_STEMS and said_at_ms[at] > note.said_at_ms for at, n in shared.items()),
            akin=akin[place],
            newest=number == newest,
        )
        standings.append(
            Standing(
                note=note,
                session_id=session_ids[number],
                value=missed(signs),
                waits=waited_for(signs),
                signs=signs,
                stems=stems,
                own=own,
            )
        )
    return standings


def _stems_of(text: str, language: Language) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of a note and those of what it says itself."""
    stems = stems_of_text(text, language)
    return stems, stems_of_text(text.rpartition(JOINT)[2], language) or stems


def is_alive(note: ViewedNote, now_ms: int, last_said_ms: int) -> bool:
    """Return whether a note still holds: open, and if its day is over, nobody spoke here since without naming it.

    What a reminder was set for is told by the reminder once its time has come.
    """
    if isinstance(note, LastingNote):
        return True
    if note.status != "open":
        return False
    if note.snoozed_until_ms is not None and now_ms < note.snoozed_until_ms + DAY_MS:
        return True
    if note.due_at_ms is None or note.due_at_ms > now_ms:
        return True
    if "reminds" in note.signs:
        return False
    spoken_since = last_said_ms > note.due_at_ms + DAY_MS
    asked_after_ms = OVERDUE_MS if note.kind in _OPEN_KINDS else ASKED_AFTER_MS
    return now_ms - note.due_at_ms < asked_after_ms and not spoken_since


def _akin(notes: Sequence[frozenset[str]]) -> list[float]:
    """Return how much the other notes speak of each, given by its stems: its cosines with them, 1.0 being the mean.

    A rare stem weighs more.
    """
    holders = Counter(chain.from_iterable(notes))
    weights = {stem: log(1 + len(notes) / n) ** 2 for stem, n in holders.items()}
    lengths = [sqrt(sum(weights[stem] for stem in stems)) for stems in notes]
    total: dict[str, float] = {}
    for stems, length in zip(notes, lengths, strict=True):
        for stem in stems:
            total[stem] = total.get(stem, 0.0) + weights[stem] / length
    akin = [
        sum(total[stem] for stem in stems) / length - 1 if stems else 0.0
        for stems, length in zip(notes, lengths, strict=True)
    ]
    mean = sum(akin) / max(1, len(akin))
    return [(one + _AKIN_AT_LEAST) / (mean + _AKIN_AT_LEAST) for one in akin]


def preview(view: NotesView) -> list[Standing]:
    """Return what is offered to be carried forward, each line about something that the others leave out.

    Nobody has to be told their own name: `/memory` shows it. First comes what has just been or is at hand, as a friend
    asks after it; then what waits for somebody, before what is only good to know.
    """
    shown = [(s, s.value) for s in view.standings if not s.note.faint and getattr(s.note, "subject", "") != WHO]
    likely = [
        (s, value) for s, value in shown if value >= _OFFERED_FROM or (is_waiting(s.note) and s.waits >= _OPEN_FROM)
    ]
    chosen = _diverse(likely, PREVIEW_MAX, _NEW_FROM)
    for few, least in _FEW_OFFERED:
        rest = [each for each in shown if each[0] not in chosen]
        chosen += _diverse(rest, few - len(chosen), least, chosen)
    return sorted(chosen, key=lambda s: (_days_away(s.note, view.now_ms), -(s.value + s.waits)))


def _days_away(note: ViewedNote, now_ms: int) -> int:
    """Return how many days (of UTC) a note's day is before or behind now; the same for all that are not at hand."""
    if not isinstance(note, Matter) or note.due_at_ms is None:
        return _AT_HAND_DAYS + 1
    return min(abs(note.due_at_ms // DAY_MS - now_ms // DAY_MS), _AT_HAND_DAYS + 1)


def loops(view: NotesView) -> list[Standing]:
    """Return the matters in which somebody has to do or answer something, best first, then what is coming."""
    matters = [(s, s.waits) for s in view.standings if isinstance(s.note, Matter) and not s.note.faint]
    likely = _diverse(matters, LOOPS_MAX, _OPEN_FROM)
    rest = [(s, waits) for s, waits in matters if s not in likely and is_waiting(s.note)]
    likely += _diverse(rest, _FEW_OPEN - len(likely), _FEW_OPEN_FROM, likely)
    return likely + _coming(view, likely)


def _coming(view: NotesView, before: Sequence[Standing]) -> list[Standing]:
    """Return the events that are not over, the next first, but for those that the lines before tell."""
    ahead = [(due_at_ms, s) for s in view.standings if s.value >= _COMING_FROM and (due_at_ms := _ahead_at(s, view))]
    seen = Counter(stem for each in before for stem in each.stems)
    chosen: list[Standing] = []
    for _, standing in sorted(ahead, key=lambda each: each[0]):
        if standing not in before and not _is_told(standing, seen) and len(before) + len(chosen) < _WITH_COMING:
            chosen.append(standing)
            seen.update(standing.stems)
    return chosen


def _ahead_at(standing: Standing, view: NotesView) -> int | None:
    """Return when an event takes place, None for one that is over and for what is none."""
    note = standing.note
    if not isinstance(note, Matter) or note.faint or note.kind != "event" or note.due_at_ms is None:
        return None
    over_at_ms = note.due_at_ms + (0 if note.due_exact else _DAY_LEFT_MS)
    return note.due_at_ms if over_at_ms > view.now_ms else None


def _diverse(
    standings: Sequence[tuple[Standing, float]], most: int, least: float, before: Sequence[Standing] = ()
) -> list[Standing]:
    """Return the best, each lowered by the share of its words that stand in those chosen before."""
    left, seen = list(standings), Counter(stem for each in before for stem in each.stems)
    chosen: list[Standing] = []

    def worth(each: tuple[Standing, float]) -> float:
        return each[1] + _REPEATS * _share(each[0].stems, seen)

    while len(chosen) < most and (left := [each for each in left if not _is_told(each[0], seen)]):
        best = max(left, key=worth)
        if worth(best) < least:
            break
        left.remove(best)
        chosen.append(best[0])
        seen.update(best[0].stems)
    return chosen


def _is_told(standing: Standing, seen: Counter[str]) -> bool:
    """Return whether other lines say it; of what waits for somebody all that it says itself."""
    said = standing.own if is_waiting(standing.note) else frozenset()
    return _share(said or standing.stems, seen) >= _SAME


def _share(stems: frozenset[str], seen: Counter[str]) -> float:
    return sum(stem in seen for stem in stems) / len(stems) if stems else 0.0
