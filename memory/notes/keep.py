"""The notes that a model's draft makes: what passes the check joins the notes so far, the rest is counted. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memory.language.languages import Languages
from memory.notes.check import Source, cited, due_of, problem, source_of, speaks_of, touches
from memory.notes.drafts import DraftEnd, DraftMatter, DraftNote, NotesDraft, shown_lasting, shown_matters
from memory.notes.types import (
    STANDING_MAX_CHARS,
    TEXT_MAX_CHARS,
    TITLE_MAX_CHARS,
    LastingNote,
    Matter,
    ReadingRequest,
    SessionNotes,
    Settled,
)
from memory.types import ConversationTurn

ITEMS_MAX = 60
DRAFTED_MAX = 30
"""A draft with more items of a kind is cut."""


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """What became of a draft."""

    notes: SessionNotes
    kept: int
    dropped: Counter[str]


def keep(
    draft: NotesDraft, request: ReadingRequest, by_rules: SessionNotes, languages: Languages, model: str
) -> CheckedDraft:
    """Return the notes with everything of the draft that may be believed.

    Title and standing that may not be are those of `by_rules`, the notes that the rules make of the same request; and
    when the draft is empty, or something of it was dropped, what the rules found in turns that it says nothing of.
    """
    work = _DraftCheck(request, languages)
    for number, matter in enumerate(draft.matters[:DRAFTED_MAX], 1):
        work.add_matter(matter, number)
    for number, note in enumerate(draft.lasting[:DRAFTED_MAX], 1):
        work.add_note(note, number)
    for end in draft.settled[:DRAFTED_MAX]:
        work.settle(end)
    if work.dropped or not (draft.matters or draft.lasting or draft.settled):
        work.fill_in(by_rules)
    title = work.believed(draft.title, draft.standing_turns, TITLE_MAX_CHARS)
    standing = work.believed(draft.standing, draft.standing_turns, STANDING_MAX_CHARS)
    turns = cited(draft.standing_turns, request) if title or standing else None
    ids = tuple(turn.turn_id for turn in turns or ())
    before = request.notes.standing_turn_ids if request.notes else ()
    notes = by_rules.model_copy(
        update={
            "title": title or by_rules.title,
            "standing": standing or by_rules.standing,
            "standing_turn_ids": _once(ids if title and standing else (*before, *by_rules.standing_turn_ids, *ids)),
            "matters": tuple(work.matters.values())[-ITEMS_MAX:],
            "lasting": tuple(work.lasting.values())[-ITEMS_MAX:],
            "settled": tuple(work.settled)[-ITEMS_MAX:],
            "read_through_seq": request.turns[-1].seq,
            "reader": model,
            "written_at_ms": request.now_ms,
        }
    )
    return CheckedDraft(notes, work.kept, work.dropped)


@dataclass(slots=True)
class _DraftCheck:
    request: ReadingRequest
    languages: Languages
    matters: dict[str, Matter] = field(default_factory=dict)
    lasting: dict[str, LastingNote] = field(default_factory=dict)
    settled: list[Settled] = field(default_factory=list)
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Begin with the notes so far."""
        so_far = self.request.notes
        self.matters = {matter.matter_id: matter for matter in so_far.matters} if so_far else {}
        self.lasting = {note.note_id: note for note in so_far.lasting} if so_far else {}
        self.settled = list(so_far.settled) if so_far else []

    def add_matter(self, item: DraftMatter, number: int) -> None:
        """Keep a matter that stands in what it cites; the day that it names only when that was said too."""
        shown = shown_matters(self.request)
        before = shown[item.continues - 1] if item.continues and 0 < item.continues <= len(shown) else None
        turns, source = self._source(item.turns, beside=before.text if before else "")
        if source is None or not self._holds(item.text, item.quote, source):
            return
        if before and not touches(item.text, turns, self.request, self.languages):
            self.dropped["words"] += 1
            return
        owner = item.owner.strip()
        if owner not in {"user", "assistant"} and problem(owner, source, self.languages):
            self.dropped["name"] += 1
            return
        due = due_of(item.due.strip(), source)
        if item.due.strip() and due is None:
            self.dropped["number"] += 1
        key = before.matter_id if before else f"{turns[0].turn_id}.m{number}"
        self.matters.pop(key, None)
        self.matters[key] = Matter(
            matter_id=key,
            kind=item.kind,
            text=_line(item.text, TEXT_MAX_CHARS),
            owner=owner,
            due_at_ms=due.due_at_ms if due else before.due_at_ms if before else None,
            due_exact=due.exact if due else bool(before and before.due_exact),
            turn_ids=_once([*(before.turn_ids if before else ()), *(turn.turn_id for turn in turns)]),
            said_at_ms=turns[-1].created_at_ms,
            weight=min(1.0, max(0.0, item.importance)),
            replaces=before.replaces if before else (),
        )
        self.kept += 1

    def add_note(self, item: DraftNote, number: int) -> None:
        """Keep a lasting note that stands in what the person said; the assistant's words are no evidence for it."""
        turns, source = self._source(item.turns, of_user_alone=True)
        if source is None or not self._holds(item.text, item.quote, source):
            return
        shown = shown_lasting(self.request)
        gone = shown[item.replaces - 1] if item.replaces and 0 < item.replaces <= len(shown) else None
        key = f"{turns[0].turn_id}.l{number}"
        if gone:
            self.lasting.pop(gone.note_id, None)
        self.lasting[key] = LastingNote(
            note_id=key,
            kind=item.kind,
            text=_line(item.text, TEXT_MAX_CHARS),
            subject=gone.subject if gone else "",
            turn_ids=_once(turn.turn_id for turn in turns),
            said_at_ms=turns[-1].created_at_ms,
            weight=min(1.0, max(0.0, item.importance)),
            replaces=(*gone.replaces, gone.note_id) if gone else (),
        )
        self.kept += 1

    def settle(self, item: DraftEnd) -> None:
        """End a matter that was shown to the model, by turns that exist and speak of it."""
        shown = shown_matters(self.request)
        turns = cited(item.turns, self.request)
        if turns is None or not 0 < item.matter <= len(shown):
            self.dropped["cites nothing"] += 1
            return
        source, matter = source_of(turns, self.request, self.languages), shown[item.matter - 1]
        if source is None or not speaks_of(source, matter.text):
            self.dropped["words" if source else "foreign text"] += 1
            return
        if matter.matter_id in self.matters:
            ended = {"status": item.ending}
            self.matters[matter.matter_id] = self.matters[matter.matter_id].model_copy(update=ended)
        self.settled.append(
            Settled(
                matter_id=matter.matter_id,
                text=matter.text,
                ending=item.ending,
                turn_ids=_once([*matter.turn_ids, *(turn.turn_id for turn in turns)]),
                said_at_ms=turns[-1].created_at_ms,
            )
        )
        self.kept += 1

    def fill_in(self, by_rules: SessionNotes) -> None:
        """Take over what the rules noted of turns on which nothing that was kept rests."""
        so_far = self.request.notes
        mine: list[Matter | LastingNote | Settled] = [*self.matters.values(), *self.lasting.values(), *self.settled]
        before = {turn_id for item in mine for turn_id in item.turn_ids}
        known = {matter.matter_id for matter in so_far.matters} if so_far else set()
        known |= {note.note_id for note in so_far.lasting} if so_far else set()
        for matter in by_rules.matters:
            if matter.matter_id not in known and not before & set(matter.turn_ids):
                self.matters[matter.matter_id] = matter
        for note in by_rules.lasting:
            if note.note_id not in known and not before & set(note.turn_ids):
                self.lasting[note.note_id] = note

    def believed(self, text: str, numbers: Sequence[int], max_chars: int) -> str:
        """Return title or standing when it stands in what it cites and in the notes before it, else ""."""
        if not text.strip():
            return ""
        so_far = self.request.notes
        _, source = self._source(numbers, beside=f"{so_far.title}\n{so_far.standing}" if so_far else "")
        if source is None or not self._holds(text, "", source):
            return ""
        return _line(text, max_chars)

    def _source(
        self, numbers: Sequence[int], *, beside: str = "", of_user_alone: bool = False
    ) -> tuple[tuple[ConversationTurn, ...], Source | None]:
        turns = cited(numbers, self.request)
        if turns is None:
            self.dropped["cites nothing"] += 1
            return (), None
        source = source_of(turns, self.request, self.languages, beside=beside, of_user_alone=of_user_alone)
        if source is None:
            self.dropped["foreign text"] += 1
        return turns, source

    def _holds(self, text: str, quote: str, source: Source) -> bool:
        wrong = problem(text, source, self.languages, quote)
        if wrong:
            self.dropped[wrong] += 1
        return wrong is None


def _line(text: str, max_chars: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rsplit(" ", 1)[0] + "…"


def _once(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))
