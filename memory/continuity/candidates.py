"""Arc candidates from sessions, open loops, memories and summaries: what is there, in its own words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from memory.continuity.text import one_line, sentences, words
from memory.continuity.types import (
    SUMMARY_MAX_CHARS,
    TITLE_MAX_CHARS,
    ArcCandidate,
    ArcKind,
    BootstrapInputs,
    Level,
    PastSession,
    Persona,
    Stickiness,
)
from memory.types import Memory, OpenLoop

CANDIDATES_MAX = 40
"""Of each source, so that many loops do not keep out the memories."""
_LOOP_STATUSES = frozenset({"open", "snoozed"})
_TOPICS_PER_SESSION = 3
_ONE_OFF_TOPIC_WEIGHT = 0.4
_TOPIC_WEIGHT_SURE = 0.5
_ONE_OFF_TOPIC_SESSIONS = 3
_SUMMARY_SESSIONS = 3
_RECURRING = 2
_STICKY_RECURRENCE = 3
_SURE_MEMORY = 0.75
_LIKELY_MEMORY = 0.45
_TITLE_WORDS = 7
_UNCLEAR_WORDS = 7


class _Mention(NamedTuple):
    """A topic in one session: how many conversations ago, its place and weight there, its words."""

    ago: int
    place: int
    weight: float
    name: str

    @property
    def stands_alone(self) -> bool:
        """True when it is worth a candidate though it came up only once."""
        recent = self.ago < _ONE_OFF_TOPIC_SESSIONS and self.place < _TOPICS_PER_SESSION
        return recent and self.weight >= _ONE_OFF_TOPIC_WEIGHT


def candidates(inputs: BootstrapInputs, persona: Persona) -> tuple[ArcCandidate, ...]:
    """Return loops, memories, topics and summaries, at most `CANDIDATES_MAX` of each, newest first; deterministic."""
    sources = (
        _from_loops(inputs),
        _from_memories(inputs, persona),
        _from_topics(inputs.sessions, persona),
        _from_summaries(inputs.sessions, persona),
    )
    return tuple(one for found in sources for one in islice(filter(_says_something, found), CANDIDATES_MAX))


def _says_something(candidate: ArcCandidate) -> bool:
    """Tell whether anything is left of the words once they are cleaned."""
    return bool(candidate.title and candidate.text)


def _from_loops(inputs: BootstrapInputs) -> Iterator[ArcCandidate]:
    """Open and snoozed loops: explicit, so trusted; the longer ago, the less."""
    for ago, session in enumerate(inputs.sessions):
        for loop in session.state.open_loops:
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
        confidence="high" if explicit and ago < _ONE_OFF_TOPIC_SESSIONS * 2 else "medium",
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
        if memory.status == "active":
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


def _from_topics(sessions: tuple[PastSession, ...], persona: Persona) -> Iterator[ArcCandidate]:
    """Topics that come back are themes; one that came up once counts only while it is recent."""
    seen: dict[str, list[_Mention]] = {}
    for ago, session in enumerate(sessions):
        ranked = sorted(session.state.active_topics, key=lambda topic: (-topic.weight, topic.name))
        for place, topic in enumerate(ranked):
            name = one_line(topic.name, TITLE_MAX_CHARS)
            seen.setdefault(name.casefold(), []).append(_Mention(ago, place, topic.weight, name))
    for mentions in seen.values():
        if len(mentions) >= _RECURRING or mentions[0].stands_alone:
            yield _theme(mentions, sessions, persona)


def _theme(mentions: list[_Mention], sessions: tuple[PastSession, ...], persona: Persona) -> ArcCandidate:
    """Turn the mentions of one topic, newest first, into a candidate."""
    newest = mentions[0]
    recurring = len(mentions) >= _RECURRING
    stickiness: Stickiness = "high" if len(mentions) >= _STICKY_RECURRENCE else "normal" if recurring else "low"
    return ArcCandidate(
        kind=_theme_kind(persona),
        title=newest.name,
        text=newest.name,
        confidence="high" if recurring else "medium" if newest.weight >= _TOPIC_WEIGHT_SURE else "low",
        stickiness=stickiness,
        evidence="topic",
        sources=tuple(sessions[mention.ago].session_id for mention in mentions),
        last_touched_at_ms=sessions[newest.ago].last_turn_at_ms,
        conversations_ago=newest.ago,
    )


def _from_summaries(sessions: tuple[PastSession, ...], persona: Persona) -> Iterator[ArcCandidate]:
    """Take the last sentence of the last few summaries, since that is where it stopped."""
    for ago, session in enumerate(sessions[:_SUMMARY_SESSIONS]):
        parts = sentences(session.state.rolling_summary)
        if not parts:
            continue
        text = one_line(parts[-1], SUMMARY_MAX_CHARS)
        yield ArcCandidate(
            kind=_theme_kind(persona),
            title=_title(one_line(session.title, TITLE_MAX_CHARS) or text),
            text=text,
            confidence="medium",
            stickiness="low",
            evidence="summary",
            sources=(session.session_id,),
            last_touched_at_ms=session.last_turn_at_ms,
            conversations_ago=ago,
        )


def _theme_kind(persona: Persona) -> ArcKind:
    """Call what recurs a story thread in roleplay and a theme elsewhere."""
    return "story" if persona.role == "roleplay" else "theme"


def _title(text: str) -> str:
    """Return the first few words of a text."""
    return one_line(" ".join(text.split()[:_TITLE_WORDS]).rstrip(" ,;:.!?"), TITLE_MAX_CHARS)
