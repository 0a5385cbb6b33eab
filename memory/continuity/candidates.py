"""Arc candidates from notes, and from loops and memories of sessions not read yet: in their own words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from memory.continuity.text import one_line, words
from memory.continuity.types import (
    SUMMARY_MAX_CHARS,
    TITLE_MAX_CHARS,
    AlsoKnown,
    Arc,
    ArcCandidate,
    ArcKind,
    BootstrapInputs,
    Level,
    PastSession,
    Persona,
)
from memory.notes.lines import line_of
from memory.notes.types import LastingNote, Matter, key_of
from memory.notes.view import preview
from memory.types import Memory, OpenLoop

CANDIDATES_MAX = 40
"""Of each source, so that many loops do not keep out the memories."""
ALSO_MAX = 60
"""Notes that are told beside those on the preview."""
WORTH_MAX = 100.0
WORTH_STEP = 0.01
"""A note is worth so much less than the one before: their order is that of the view."""
_LOOP_STATUSES = frozenset({"open", "snoozed"})
_RECENT_SESSIONS = 6
_SURE_MEMORY = 0.75
_LIKELY_MEMORY = 0.45
_TITLE_WORDS = 7
_UNCLEAR_WORDS = 7


def candidates(inputs: BootstrapInputs, persona: Persona) -> tuple[ArcCandidate, ...]:
    """Return notes, loops and memories, at most `CANDIDATES_MAX` of each, best or newest first; deterministic.

    Loops and memories are those of sessions that nobody has read: the others speak through their notes.
    """
    sources = (_from_notes(inputs, persona), _from_loops(inputs), _from_memories(inputs, persona))
    return tuple(one for found in sources for one in islice(filter(_says_something, found), CANDIDATES_MAX))


def _says_something(candidate: ArcCandidate) -> bool:
    """Tell whether anything is left of the words once they are cleaned."""
    return bool(candidate.title and candidate.text)


def _from_notes(inputs: BootstrapInputs, persona: Persona) -> Iterator[ArcCandidate]:
    """Turn the notes that are to be shown into candidates; worth falls from one to the next, so their order stays."""
    ago_of = {session.session_id: ago for ago, session in enumerate(inputs.sessions)}
    for number, standing in enumerate(preview(inputs.known)):
        note = standing.note
        yield ArcCandidate(
            kind=_note_kind(note, persona),
            title=_title(note.text),
            text=_line(note, inputs),
            confidence="high",
            stickiness="normal",
            evidence="note",
            by_assistant=isinstance(note, Matter) and note.owner == "assistant",
            worth=WORTH_MAX - number * WORTH_STEP,
            sources=(key_of(note),),
            last_touched_at_ms=note.said_at_ms,
            conversations_ago=ago_of.get(standing.session_id, 0),
        )


def also_known(inputs: BootstrapInputs, shown: Sequence[Arc]) -> tuple[AlsoKnown, ...]:
    """Return the notes that are alive but not shown, best first; none that the user dropped."""
    taken = {source for arc in shown for source in arc.sources}
    taken |= {source for arc in inputs.dropped for source in arc.sources}
    notes = [standing.note for standing in inputs.known.standings if key_of(standing.note) not in taken]
    lines = ((_line(note, inputs), note) for note in notes)
    return tuple(AlsoKnown(text=line, source=key_of(note)) for line, note in islice(lines, ALSO_MAX))


def _line(note: Matter | LastingNote, inputs: BootstrapInputs) -> str:
    """Return a note on one line, its day in the language that the person spoke last."""
    spoken = next((each.state.language for each in inputs.sessions if each.state.language), "en")
    return one_line(line_of(note, inputs.now_ms, inputs.zone, spoken), SUMMARY_MAX_CHARS)


def _note_kind(note: Matter | LastingNote, persona: Persona) -> ArcKind:
    """Say which kind of arc a note is."""
    if isinstance(note, LastingNote):
        constrains = note.kind in {"preference", "constraint"} and persona.role == "assistant"
        return "constraint" if constrains else "relationship"
    if note.kind == "question":
        return "question"
    return _theme_kind(persona) if note.kind in {"theme", "story"} else "project"


def _from_loops(inputs: BootstrapInputs) -> Iterator[ArcCandidate]:
    """Open and snoozed loops: explicit, so trusted; the longer ago, the less."""
    for ago, session in enumerate(inputs.sessions):
        unread = session.session_id not in inputs.known.session_ids
        for loop in session.state.open_loops if unread else ():
            if loop.status in _LOOP_STATUSES and loop.turn_id not in inputs.foreign_turn_ids:
                yield _loop(loop, ago, _about(loop, session))


def _loop(loop: OpenLoop, ago: int, about: str) -> ArcCandidate:
    """Turn one loop into a candidate: questions stay questions, everything else is work in progress."""
    explicit = loop.kind in {"commitment", "task"} or loop.due_at_ms is not None
    text = one_line(loop.text, SUMMARY_MAX_CHARS)
    return ArcCandidate(
        kind="question" if loop.kind == "question" else "project",
        title=_title(text),
        text=f"{text} ({about})" if about else text,
        confidence="high" if explicit and ago < _RECENT_SESSIONS else "medium",
        stickiness="high" if loop.due_at_ms is not None else "normal" if explicit else "low",
        evidence="loop",
        by_assistant=loop.owner == "assistant" and loop.kind != "question",
        sources=(loop.loop_id,),
        last_touched_at_ms=loop.touched_at_ms,
        conversations_ago=ago,
    )


def _about(loop: OpenLoop, session: PastSession) -> str:
    """Return the topic that a few words like "I'll send it tomorrow" were about; "" when they say it themselves."""
    topics = [topic for topic in session.state.active_topics if len(topic.name.split()) > 1]
    said = words(loop.text)
    if len(loop.text.split()) > _UNCLEAR_WORDS or any(words(topic.name) <= said for topic in topics):
        return ""
    alive = [topic for topic in topics if topic.first_seq <= loop.opened_seq]
    return one_line(max(alive, key=lambda topic: (topic.weight, topic.name)).name, TITLE_MAX_CHARS) if alive else ""


def _from_memories(inputs: BootstrapInputs, persona: Persona) -> Iterator[ArcCandidate]:
    """Promoted memories: they passed a gate, so their score is their confidence."""
    ago_of = {session.session_id: ago for ago, session in enumerate(inputs.sessions)}
    for memory in inputs.memories:
        if memory.status == "active" and memory.session_id not in inputs.known.session_ids:
            yield _memory(memory, ago_of.get(memory.session_id, len(inputs.sessions)), persona)


def _memory(memory: Memory, ago: int, persona: Persona) -> ArcCandidate:
    """Turn one memory into a candidate; decisions and preferences stick longer than facts."""
    text = one_line(memory.text, SUMMARY_MAX_CHARS)
    return ArcCandidate(
        kind=_memory_kind(memory, persona),
        title=_title(text),
        text=text,
        confidence=_confidence(memory.score),
        stickiness="normal" if memory.kind == "fact" else "high",
        evidence=memory.kind,
        sources=(memory.memory_id,),
        last_touched_at_ms=memory.at_ms,
        conversations_ago=ago,
    )


def _memory_kind(memory: Memory, persona: Persona) -> ArcKind:
    """Say which kind of arc a memory is: a preference constrains an assistant and shapes a companion's relationship."""
    if memory.kind == "decision":
        return "project"
    return "constraint" if memory.kind == "preference" and persona.role == "assistant" else "relationship"


def _confidence(score: float) -> Level:
    """Read the score of the promotion gate as a level."""
    return "high" if score >= _SURE_MEMORY else "medium" if score >= _LIKELY_MEMORY else "low"


def _theme_kind(persona: Persona) -> ArcKind:
    """Call what recurs a story thread in roleplay and a theme elsewhere."""
    return "story" if persona.role == "roleplay" else "theme"


def _title(text: str) -> str:
    """Return the first few words of a text."""
    return one_line(" ".join(text.split()[:_TITLE_WORDS]).rstrip(" ,;:.!?"), TITLE_MAX_CHARS)
