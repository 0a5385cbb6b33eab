"""Rank older messages for a question: relevance, its surroundings, people, dates, open loops and recency, each visible.

Pure: it is given where the question's terms stand and what is known of the messages there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from math import log
from typing import NamedTuple

DAY_MS = 86_400_000
TOLD_WITHIN_DAYS = 3
MONTH_DAYS = 31
PASSAGE_TERMS = 40
"""A long message is scored by its best passage of so many indexed terms."""
Key = tuple[int, int]
"""A message: document and side (0 user or memory, 1 assistant)."""


@dataclass(frozen=True, slots=True)
class DayOf:
    """A date that a question names, as far as it names it."""

    year: int | None
    month: int | None
    day: int | None

    @staticmethod
    def of(at_ms: int) -> DayOf:
        """Return the day (UTC) of a point in time."""
        at = datetime.fromtimestamp(at_ms / 1000, UTC)
        return DayOf(at.year, at.month, at.day)

    def span_ms(self) -> tuple[int, int] | None:
        """Return from when (inclusive) to when (exclusive) it lasts, UTC; None when it names no month of a year.

        A day lasts four: what happened on it may be told a little later.
        """
        if self.year is None or self.month is None:
            return None
        try:
            start = datetime(self.year, self.month, self.day or 1, tzinfo=UTC)
        except ValueError:
            return None
        days = TOLD_WITHIN_DAYS + 1 if self.day else MONTH_DAYS
        return int(start.timestamp() * 1000), int((start + timedelta(days=days)).timestamp() * 1000)

    def match(self, other: DayOf) -> float:
        """Return 0..1: how well a message of the day `other` fits; what is told today may have happened days ago."""
        if self.year is not None and self.year != other.year:
            return 0.0
        if self.month is None:
            return 0.1
        if self.month != other.month:
            return 0.0
        if self.day is None or other.day is None:
            return 0.5
        return 1.0 if self.day == other.day else 0.6 if 0 < other.day - self.day <= TOLD_WITHIN_DAYS else 0.15


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for: terms as the index has them, and the words that they stand for."""

    terms: tuple[str, ...]
    words: tuple[str, ...] = ()
    role: str | None = None
    """Whose words are wanted in a chat with the assistant: "user", "assistant" or None."""
    user_ids: frozenset[int | None] = frozenset()
    """Who is named in a chat of several people; None is the assistant."""
    people: int = 0
    days: tuple[DayOf, ...] = ()
    wants_time: bool = False


class Message(NamedTuple):
    """One side of a stored turn, or a memory."""

    key: Key
    source: str
    ref: str
    session_id: str
    seq: int
    ordinal: int
    user_id: int | None
    words: int
    terms: int
    asks: bool
    time_words: int
    at_ms: int

    @property
    def role(self) -> str:
        """Who said it; a memory is the user's."""
        return "assistant" if self.key[1] else "user"


class Hit(NamedTuple):
    """How often a term of the question stands in one passage of a message."""

    key: Key
    term: int
    passage: int
    times: int


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign is worth; scores are in units of the question's mean term weight. Found by measuring."""

    saturation: float = 0.9
    length: float = 0.45
    usual_terms: float = 12.0
    coverage: float = 0.4
    next_1: float = 0.4
    before_1: float = 0.5
    next_2: float = 0.3
    before_2: float = 0.35
    union: float = 0.6
    long_words: float = 90.0
    answers: float = 0.5
    session: float = 0.3
    session_best: int = 2
    role: float = 0.5
    date: float = 0.7
    when: float = 0.08
    question: float = 0.12
    open_loop: float = 0.2
    recency: float = 0.02
    recency_half_life_days: float = 30.0
    dense: float = 0.4


WEIGHTS = Weights()


class Scored(NamedTuple):
    """A message with its score and the parts that add up to it."""

    message: Message
    score: float
    breakdown: Mapping[str, float]
    passage: int
    """The best passage of the message: where an excerpt belongs."""


@dataclass(frozen=True, slots=True)
class Matches:
    """Hits weighed: per message how much of each term it has, its own score and its best passage."""

    idf: Sequence[float]
    total: float
    shares: Mapping[Key, Mapping[int, float]]
    own: Mapping[Key, float]
    passage: Mapping[Key, int]


def term_weights(counts: Sequence[int], turns: int) -> list[float]:
    """Return what each term is worth by how many of the conversation's `turns` have it: the rarer, the more."""
    return [log(1 + (max(turns, docs) - docs + 0.5) / (docs + 0.5)) for docs in counts]


def shortlist(idf: Sequence[float], hits: Iterable[Hit], limit: int) -> list[int]:
    """Return the documents with the most of the question, at most `limit`, newest first among equals."""
    terms: dict[int, set[int]] = {}
    for hit in hits:
        terms.setdefault(hit.key[0], set()).add(hit.term)
    if len(terms) <= limit:
        return list(terms)
    worth = {doc: sum(idf[term] for term in found) for doc, found in terms.items()}
    return sorted(worth, key=lambda doc: (-worth[doc], -doc))[:limit]


def weigh(idf: Sequence[float], hits: Iterable[Hit], lengths: Mapping[Key, int], weights: Weights) -> Matches:
    """Return how much of the question each message of `lengths` (message → indexed terms) has."""
    total = sum(idf) or 1.0
    shares: dict[Key, dict[int, float]] = {}
    sums: dict[Key, dict[int, list[float]]] = {}
    for hit in hits:
        length = lengths.get(hit.key)
        if length is None:
            continue
        value = _saturated(hit.times, _passage_terms(length, hit.passage), weights)
        share = shares.setdefault(hit.key, {})
        share[hit.term] = max(share.get(hit.term, 0.0), value)
        passage = sums.setdefault(hit.key, {}).setdefault(hit.passage, [0.0, 0.0])
        passage[0] += idf[hit.term] * value
        passage[1] += idf[hit.term]
    own, best_passage = {}, {}
    for key, passages in sums.items():
        own[key], best = max((s * (1 + weights.coverage * c / total), -p) for p, (s, c) in passages.items())
        best_passage[key] = -best
    return Matches(idf, total, shares, own, best_passage)


def _passage_terms(length: int, passage: int) -> int:
    return max(1, min(PASSAGE_TERMS, length - passage * PASSAGE_TERMS)) if length else PASSAGE_TERMS


def _saturated(times: int, length: int, weights: Weights) -> float:
    k = weights.saturation
    return times * (k + 1) / (times + k * (1 - weights.length + weights.length * length / weights.usual_terms))


def rank(
    question: Question,
    messages: Sequence[Message],
    matches: Matches,
    *,
    weights: Weights = WEIGHTS,
    open_refs: Collection[str] = (),
    now_ms: int = 0,
    dense: Mapping[Key, float] | None = None,
) -> list[Scored]:
    """Return the messages that have something of the question, best first; ties: newest first. Deterministic.

    `messages` are the matching ones with their neighbours; `dense` tells how close they are in meaning, if known.
    Scores are divided by the mean weight of a term, so that they mean the same in a short and in a long conversation.
    """
    ordered = sorted(messages, key=lambda m: (m.ordinal, m.key))
    unit = matches.total / max(1, len(matches.idf))
    sessions = _session_scores(ordered, matches.own, weights)
    scored = []
    for message, near in zip(ordered, _surroundings(ordered, matches, weights), strict=True):
        own = matches.own.get(message.key, 0.0)
        parts = {"words": own / unit, "session": weights.session * sessions.get(message.session_id, 0.0) / unit}
        if near:
            parts["neighbours"] = near.worth(matches, own, weights) / unit
            parts["answer"] = near.answer / unit
        if dense:
            parts["dense"] = weights.dense * dense.get(message.key, 0.0)
        _add_signs(parts, question, message, weights)
        if message.ref in open_refs:
            parts["open_loop"] = weights.open_loop
        if now_ms:
            age_days = max(0, now_ms - message.at_ms) / DAY_MS
            parts["recency"] = weights.recency * 0.5 ** (age_days / weights.recency_half_life_days)
        scored.append(Scored(message, sum(parts.values()), parts, matches.passage.get(message.key, 0)))
    scored.sort(key=lambda s: (-s.score, -s.message.at_ms, -s.message.ordinal, s.message.key))
    return scored


def interleaved(ranked: Sequence[Scored], nearest: Sequence[Key]) -> list[Scored]:
    """Return both orders in turn: what a statement only hints at shares its meaning with it, not its words.

    Whoever moves up gets what is missing as the part `hint`, so that scores still fall from first to last.
    """
    by_key = {scored.message.key: scored for scored in ranked}
    near = [by_key[key] for key in nearest if key in by_key]
    order = list({s.message.key: s for pair in zip_longest(near, ranked) for s in pair if s}.values())
    least = 0.0
    raised = []
    for scored in reversed(order):
        missing = max(0.0, least - scored.score)
        least = scored.score + missing
        parts = {**scored.breakdown, "hint": missing} if missing else scored.breakdown
        raised.append(scored._replace(score=least, breakdown=parts))
    return raised[::-1]


def _session_scores(messages: Sequence[Message], own: Mapping[Key, float], weights: Weights) -> dict[str, float]:
    by_session: dict[str, list[float]] = {}
    for message in messages:
        if message.key in own:
            by_session.setdefault(message.session_id, []).append(own[message.key])
    best = weights.session_best
    return {session: sum(sorted(values)[-best:]) / best for session, values in by_session.items()}


class _Near:
    """What the neighbours of a message lend it: shares of their scores, and terms that complete its own.

    Both shrink for long messages, which stand for themselves.
    """

    __slots__ = ("added", "answer", "shares")

    def __init__(self, own: Mapping[int, float]) -> None:
        self.added = 0.0
        self.answer = 0.0
        self.shares = dict(own)

    def lend(self, score: float, shares: Mapping[int, float], part: float) -> None:
        """Take a part of a neighbour's score and terms."""
        self.added += part * score
        mine = self.shares
        for term, share in shares.items():
            if mine.get(term, 0.0) < part * share:
                mine[term] = part * share

    def worth(self, matches: Matches, own: float, weights: Weights) -> float:
        """Return what they add to the message's own score."""
        value = covered = 0.0
        for term, share in self.shares.items():
            value += matches.idf[term] * share
            covered += matches.idf[term] * min(1.0, share)
        union = value * (1 + weights.coverage * covered / matches.total)
        return (1 - weights.union) * self.added + weights.union * (union - own)


def _surroundings(ordered: Sequence[Message], matches: Matches, weights: Weights) -> list[_Near | None]:
    """Return for each message what its neighbours lend it, None where no neighbour has anything of the question."""
    reach = (
        (1, weights.before_1),
        (-1, weights.next_1),
        (2, weights.before_2),
        (-2, weights.next_2),
    )
    room = [min(1.0, weights.long_words / max(message.words, 1)) for message in ordered]
    found: list[_Near | None] = [None] * len(ordered)
    for i, lender in enumerate(ordered):
        theirs = matches.own.get(lender.key)
        if theirs is None:
            continue
        terms = matches.shares[lender.key]
        for distance, share in reach:
            j = i + distance
            if not 0 <= j < len(ordered) or not _adjacent(lender, ordered[j], abs(distance)):
                continue
            near = found[j]
            if near is None:
                near = found[j] = _Near(matches.shares.get(ordered[j].key, {}))
            near.lend(theirs, terms, share * room[j])
            if distance == 1 and lender.asks:
                near.answer = weights.answers * theirs * room[j]
    return found


def _adjacent(message: Message, other: Message, distance: int) -> bool:
    """Two messages are neighbours when they are in one session and at most as many turns apart as messages."""
    return (
        abs(other.ordinal - message.ordinal) <= distance
        and message.session_id == other.session_id
        and message.source == other.source
    )


def _add_signs(parts: dict[str, float], question: Question, message: Message, weights: Weights) -> None:
    """Add what speaks for a message beside its words."""
    if _is_asked(question, message):
        parts["person"] = weights.role
    if question.days:
        day = DayOf.of(message.at_ms)
        parts["date"] = weights.date * max(wanted.match(day) for wanted in question.days)
    if question.wants_time:
        parts["time_words"] = weights.when * message.time_words
    if message.asks:
        parts["asks"] = -weights.question


def _is_asked(question: Question, message: Message) -> bool:
    if question.user_ids and len(question.user_ids) < question.people:
        return (None if message.role == "assistant" else message.user_id) in question.user_ids
    return question.role == message.role
