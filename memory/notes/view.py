"""What is alive in a conversation now: the notes of its sessions merged, the newest wins, best first. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from memory.language.languages import Languages
from memory.notes.settle import stems_of_text
from memory.notes.types import LastingNote, Matter, SessionNotes, key_of
from memory.notes.weigh import FULL
from memory.types import Contract

PREVIEW_MAX = 7
LOOPS_MAX = 6
DAY_MS = 86_400_000
ASKED_AFTER_MS = 3 * DAY_MS
"""How long after its day an event that nobody spoke of since is still asked after."""
OVERDUE_MS = 30 * DAY_MS
"""The same for what somebody had to do: nobody has heard yet whether it is done."""
_NEWEST = 0.5
_ELSEWHERE, _ELSEWHERE_MAX = 0.35, 2
_SOON, _SOON_MS = 0.6, 7 * DAY_MS
"""For what happens within days, and for what happened since the last word: people are asked how it went."""
_REPEATS = -1.0
"""For a line whose words stand in the lines before it already."""
_SHOWN_FROM = 2.0
_SHOWN_FROM_OF = dict.fromkeys(("preference", "fact", "relationship"), 2.6) | {
    "project": 2.4,
    "theme": 2.4,
}
"""What nobody waits for has to be worth more: it is what turns out to be over or said in passing."""
_OLDER = 0.3
"""So much more, for what has no day and was not spoken of in the newest session."""
_LOOP_FROM = 1.0
_FEW, _FEW_FROM = 2, 0.9
"""Up to how many lines are shown although they are worth less, and how much they are worth at least."""
_FEW_LOOPS, _WEIGHTY_EVENT = 3, 2.8
"""With fewer open matters than this, events of at least this worth stand with them: they are prepared for."""
_OPEN_KINDS = frozenset({"task", "promise", "question"})
_WAITING_KINDS = _OPEN_KINDS | {"story"}
"""A story waits for what the person does next."""
_WHO = "user.name"
"""Whoever comes back knows their own name: `/memory` shows it, no preview."""
_LEFT_BEHIND = -0.7
"""For a matter without a day that the newest session said nothing of: mostly it was done and nobody told."""

ViewedNote = Matter | LastingNote


class Standing(Contract):
    """A note with what it is worth now."""

    note: Matter | LastingNote
    session_id: str
    """The session that said it last."""
    value: float
    stems: frozenset[str]


class NotesView(Contract):
    """What is alive in a conversation, best first."""

    standings: tuple[Standing, ...] = ()
    now_ms: int = 0
    """When that was."""
    session_ids: frozenset[str] = frozenset()
    """The sessions that were read for it: they speak through their notes."""
    newest_session_id: str = ""
    """The last of them in which something was told."""

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
        (number, note, stems_of_text(note.text, languages.get(sessions[number].language)))
        for key, (number, note) in found.items()
        if key not in replaced and key not in settled and is_alive(note, now_ms, last_said_ms)
    ]
    where: dict[str, set[int]] = {}
    for number, _, stems in alive:
        for stem in stems:
            where.setdefault(stem, set()).add(number)
    newest = _newest_told(sessions)
    standings = [
        Standing(
            note=note,
            session_id=sessions[number].session_id,
            value=_value(note, stems, where, now_ms, is_newest=number == newest),
            stems=stems,
        )
        for number, note, stems in alive
    ]
    ranked = sorted(standings, key=lambda s: (-s.value, -s.note.said_at_ms, key_of(s.note)))
    return NotesView(
        standings=tuple(ranked),
        now_ms=now_ms,
        session_ids=frozenset(notes.session_id for notes in sessions),
        newest_session_id=sessions[newest].session_id if sessions else "",
    )


def _newest_told(sessions: Sequence[SessionNotes]) -> int:
    """Return which session is the last that told something; a greeting leaves nothing behind."""
    told = (
        number for number, notes in reversed([*enumerate(sessions)]) if notes.matters or notes.lasting or notes.settled
    )
    return next(told, len(sessions) - 1)


def is_alive(note: ViewedNote, now_ms: int, last_said_ms: int) -> bool:
    """Return whether a note still holds: open, and if its day is over, nobody spoke here since without naming it."""
    if isinstance(note, LastingNote):
        return True
    if note.status != "open":
        return False
    if note.snoozed_until_ms is not None and now_ms < note.snoozed_until_ms + DAY_MS:
        return True
    if note.due_at_ms is None or note.due_at_ms > now_ms:
        return True
    spoken_since = last_said_ms > note.due_at_ms + DAY_MS
    asked_after_ms = OVERDUE_MS if note.kind in _OPEN_KINDS else ASKED_AFTER_MS
    return now_ms - note.due_at_ms < asked_after_ms and not spoken_since


def _value(
    note: ViewedNote, stems: frozenset[str], where: dict[str, set[int]], now_ms: int, *, is_newest: bool
) -> float:
    elsewhere = max((len(where[stem]) for stem in stems), default=1) - 1
    value = note.weight * FULL + _ELSEWHERE * min(elsewhere, _ELSEWHERE_MAX) + _NEWEST * is_newest
    soon = isinstance(note, Matter) and note.due_at_ms is not None and note.due_at_ms - now_ms < _SOON_MS
    return round(value + _SOON * soon, 3)


def preview(view: NotesView) -> list[Standing]:
    """Return what is offered to be carried forward, best first: each line about something that the others leave out."""
    shown = [s for s in view.standings if not s.note.faint and getattr(s.note, "subject", "") != _WHO]
    clear = [_as_open(s, view) if _is_todo(s.note) else s for s in shown]
    sure = [s for s in clear if s.value >= _shown_from(s, view)]
    return _diverse(sure if len(sure) >= _FEW else clear, PREVIEW_MAX, _SHOWN_FROM)


def _shown_from(standing: Standing, view: NotesView) -> float:
    """Return what a line has to be worth to be offered beside others: rather none than one that is over."""
    older = _OLDER if _is_left_behind(standing, view) else 0.0
    return _SHOWN_FROM_OF.get(standing.note.kind, _SHOWN_FROM) + older


def loops(view: NotesView) -> list[Standing]:
    """Return the matters in which somebody has to do or answer something, best first.

    Where there is hardly any, what happens soon is prepared for.
    """
    todo = [s for s in view.standings if isinstance(s.note, Matter) and s.note.kind in _WAITING_KINDS]
    open_ones = _diverse([_as_open(s, view) for s in todo], LOOPS_MAX, _LOOP_FROM)
    if len(open_ones) >= _FEW_LOOPS:
        return open_ones
    ahead = [s for s in view.standings if s.value >= _WEIGHTY_EVENT and _is_ahead(s.note, view.now_ms)]
    return [*open_ones, *_diverse(ahead, _FEW_LOOPS - len(open_ones), _WEIGHTY_EVENT)]


def _is_todo(note: ViewedNote) -> bool:
    return isinstance(note, Matter) and note.kind in _OPEN_KINDS


def _as_open(standing: Standing, view: NotesView) -> Standing:
    """Return it with what it is worth among open matters."""
    left = _is_left_behind(standing, view)
    return standing.model_copy(update={"value": round(standing.value + _LEFT_BEHIND, 3)}) if left else standing


def _is_left_behind(standing: Standing, view: NotesView) -> bool:
    """Return whether it has no day, and the newest session said nothing of it."""
    return standing.session_id != view.newest_session_id and getattr(standing.note, "due_at_ms", None) is None


def _is_ahead(note: ViewedNote, now_ms: int) -> bool:
    return isinstance(note, Matter) and note.kind == "event" and note.due_at_ms is not None and note.due_at_ms > now_ms


def _diverse(standings: Sequence[Standing], most: int, least: float) -> list[Standing]:
    """Return the best, each lowered by the share of its words that stand in those chosen before."""
    left, seen = list(standings), Counter[str]()
    chosen: list[Standing] = []
    while left and len(chosen) < most:
        best = max(left, key=lambda s: s.value + _REPEATS * _share(s.stems, seen))
        enough = _FEW_FROM if len(chosen) < _FEW else least
        if best.value + _REPEATS * _share(best.stems, seen) < enough:
            break
        left.remove(best)
        chosen.append(best)
        seen.update(best.stems)
    return chosen


def _share(stems: frozenset[str], seen: Counter[str]) -> float:
    return sum(stem in seen for stem in stems) / len(stems) if stems else 0.0
