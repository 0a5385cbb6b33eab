"""Rank older messages for a question: relevance, its surroundings, people, dates, open loops and recency, each visible.

Pure: it is given the places of the question's terms and the traits of the messages there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from math import inf, log, log2
from operator import attrgetter
from typing import NamedTuple

from memory.search.question import (
    DAY_MS,
    PASSAGE_BITS,
    TERM_BITS,
    WEIGHTS,
    DayOf,
    Key,
    Question,
    SearchedMessage,
    TermHits,
    Weights,
)

PASSAGE_TERMS = 40
"""The indexed terms of a passage; a long message is scored by its best one."""
COMMON, COMMON_SHARE = 5, 0.07
"""A word said in more turns, and in a larger share of them, is common in a conversation."""
HABIT = 2
"""Words said in more turns are a habit, as a greeting is: the turns that hold nothing else tell nothing."""


def place(message: Key, passage: int, term: int) -> int:
    """Return the number of a place: there are hundreds, and a number costs less than a row."""
    return ((message << PASSAGE_BITS) + passage << TERM_BITS) + term


_IN_ORDER = attrgetter("ordinal", "key")
_PASSAGE, _TERM = (1 << PASSAGE_BITS) - 1, (1 << TERM_BITS) - 1
PARTS = (
    "words", "session", "neighbours", "answer", "dense", "person", "length", "date", "time_words", "asks", "open_loop",
    "recency", "hint",
)  # fmt: skip
"""The parts of a score, in the order of `Scored.parts`."""


class Scored(NamedTuple):
    """A message with its score and the parts that add up to it."""

    message: SearchedMessage
    score: float
    parts: tuple[float, ...]
    passage: int
    """The best passage of the message, which is shown."""
    beside: int | None
    """The best passage of the turn's other side, None where nothing of the question stands there."""
    share: float = 0.0
    """The share of the question's words, weighted, that the message and its neighbours hold."""
    lent: bool = False
    """Whether the turn has nothing of the question itself, neither words nor meaning nor day."""
    reply: str = ""
    """The turn in which the person answered it at once; "" where it is the person's own, or nobody did."""
    common: bool = False
    """Whether each word that its turn shares with the question is said in many turns of the conversation."""
    repeats: bool = False
    """Whether the person said nothing in it but words of the question, and said them before."""

    @property
    def breakdown(self) -> dict[str, float]:
        """Return the parts that count, by name: hundreds are scored, a dozen are shown."""
        return {name: part for name, part in zip(PARTS, self.parts, strict=True) if part}


@dataclass(frozen=True, slots=True)
class Matches:
    """Hits weighed: per message its own score, its best passage and that passage's share of each term."""

    idf: Sequence[float]
    total: float
    shares: Mapping[Key, Mapping[int, float]]
    own: Mapping[Key, float]
    passage: Mapping[Key, int]
    counts: Sequence[int] = ()
    """The turns with each term."""
    turns: int = 0
    """All turns of the conversation."""

    def weighed(self, scored: Scored) -> Scored:
        """The message, with what the words that it shares with the question are worth in this conversation."""
        key = scored.message.key
        own = self.shares.get(key, {})
        least = min((self.counts[term] for term in (*own, *self.shares.get(key ^ 1, ()))), default=0)
        return scored._replace(
            common=scored.lent or least > max(COMMON, COMMON_SHARE * self.turns),
            repeats=not key & 1 and len(own) >= scored.message.terms > 0 and least > HABIT,
        )


def term_weights(
    counts: Sequence[int], turns: int, framing: Collection[int] = (), weights: Weights = WEIGHTS
) -> list[float]:
    """Return the weight of each term by the share of the conversation's `turns` with it: the rarer, the more."""
    return [
        log(1 + (max(turns, docs) - docs + 0.5) / (docs + 0.5)) * (weights.framing if term in framing else 1.0)
        for term, docs in enumerate(counts)
    ]


def weigh(idf: Sequence[float], found: TermHits, weights: Weights = WEIGHTS) -> Matches:
    """Return the part of the question that the best passage of each message has."""
    total = sum(idf) or 1.0
    norms = _length_norms(weights)
    most, lengths = weights.saturation + 1, found.lengths
    passages: dict[int, dict[int, float]] = {}
    for number, times in Counter(found.places).items():
        passage, term = number >> TERM_BITS, number & _TERM
        length = lengths.get(passage >> PASSAGE_BITS)
        if length is None:
            continue
        rest = length - (passage & _PASSAGE) * PASSAGE_TERMS
        share = times * most / (times + norms[rest if 0 < rest < PASSAGE_TERMS else PASSAGE_TERMS if rest > 0 else 1])
        terms = passages.get(passage)
        if terms is None:
            passages[passage] = {term: share}
        else:
            terms[term] = share
    own: dict[Key, float] = {}
    shares: dict[Key, dict[int, float]] = {}
    best: dict[Key, int] = {}
    for passage, terms in passages.items():
        worth = _worth(terms, idf, total, weights.coverage)
        message = passage >> PASSAGE_BITS
        if worth > own.get(message, -1.0):
            own[message], shares[message], best[message] = worth, terms, passage & _PASSAGE
    return Matches(idf, total, shares, own, best)


def shortlist(matches: Matches, limit: int) -> list[int]:
    """Return the documents with the most of the question, at most `limit`, newest first among equals."""
    worth: dict[int, float] = {}
    for message, own in matches.own.items():
        doc = message >> 1
        if own >= worth.get(doc, 0.0):
            worth[doc] = own
    return [doc for _, doc in sorted(zip(worth.values(), worth, strict=True), reverse=True)[:limit]]


def _length_norms(weights: Weights) -> list[float]:
    k, b = weights.saturation, weights.length
    return [k * (1 - b + b * length / weights.usual_terms) for length in range(PASSAGE_TERMS + 1)]


def _worth(shares: Mapping[int, float], idf: Sequence[float], total: float, coverage: float) -> float:
    """Return the worth of these shares of the terms: each by its weight, and the more, the more of them there are."""
    value = covered = 0.0
    for term, share in shares.items():
        weight = idf[term]
        value += weight * share
        covered += weight * share if share < 1.0 else weight
    return value * (1 + coverage * covered / total)


def rank(
    question: Question,
    messages: Sequence[SearchedMessage],
    matches: Matches,
    *,
    weights: Weights = WEIGHTS,
    open_refs: Collection[str] = (),
    now_ms: int = 0,
    dense: Mapping[Key, float] | None = None,
) -> Iterator[Scored]:
    """Yield the messages that have something of the question, best first; ties: newest first. Deterministic.

    `messages` are the matching ones with their neighbours; `dense` tells how close they are in meaning, if known.
    Scores are divided by the mean weight of a term, so that they mean the same in a short and in a long conversation.
    """
    ordered = sorted(messages, key=_IN_ORDER)
    unit = matches.total / max(1, len(matches.idf))
    sessions = _session_scores(ordered, matches.own, weights)
    sessions = {session: weights.session * score / unit for session, score in sessions.items()}
    person = _person_signs(question, weights)
    at_time = _time_signs(question, now_ms, weights)
    idf, total, coverage, owns = matches.idf, matches.total, weights.coverage, matches.own
    when = weights.when if question.wants_time else 0.0
    plain_words = weights.plain_words
    order = []
    for n, (message, near, answer) in enumerate(zip(ordered, *_surroundings(ordered, matches, weights), strict=True)):
        key, _, ref, session_id, _, ordinal, user_id, words, _, asking, time_words, at_ms = message
        own = owns.get(key, 0.0)
        date, recency = at_time(at_ms)
        parts = (
            own / unit,
            sessions.get(session_id, 0.0),
            (_worth(near, idf, total, coverage) - own) / unit if near else 0.0,
            answer / unit,
            weights.dense * dense.get(key, 0.0) if dense else 0.0,
            person(key & 1, user_id),
            -weights.doubled * log2(words / plain_words) if words > plain_words else 0.0,
            date,
            when * time_words,
            -weights.question if asking else 0.0,
            weights.open_loop if ref in open_refs else 0.0,
            recency,
            0.0,
        )
        order.append((-sum(parts), -at_ms, -ordinal, key, n, parts))
    order.sort()
    passage, terms = matches.passage, max(1, len(idf))
    for score, _, _, key, n, parts in order:
        share, beside = (parts[0] + parts[2]) / terms, passage.get(key ^ 1)
        lent = beside is None and not parts[0] and parts[4] <= 0 and not parts[7]
        yield Scored(ordered[n], -score, parts, passage.get(key, 0), beside, share, lent)


def interleaved(ranked: Sequence[Scored], nearest: Sequence[Key]) -> list[Scored]:
    """Return both orders in turn: a message that a statement only hints at shares its meaning, not its words.

    A message that moves up gets the difference as the part `hint`, so that scores still fall from first to last.
    """
    by_key = {scored.message.key: scored for scored in ranked}
    near = [by_key[key] for key in nearest if key in by_key]
    order = list({s.message.key: s for pair in zip_longest(near, ranked) for s in pair if s}.values())
    least = -inf
    raised = []
    for scored in reversed(order):
        missing = max(0.0, least - scored.score)
        least = scored.score + missing
        raised.append(scored._replace(score=least, parts=(*scored.parts[:-1], missing)))
    return raised[::-1]


def _session_scores(
    messages: Sequence[SearchedMessage], own: Mapping[Key, float], weights: Weights
) -> dict[str, float]:
    by_session: dict[str, list[float]] = {}
    for message in messages:
        if message.key in own:
            by_session.setdefault(message.session_id, []).append(own[message.key])
    best = weights.session_best
    return {session: sum(sorted(values)[-best:]) / best for session, values in by_session.items()}


def _surroundings(  # noqa: C901 - one loop that hundreds of messages pass
    ordered: Sequence[SearchedMessage], matches: Matches, weights: Weights
) -> tuple[list[dict[int, float] | None], list[float]]:
    """Return for each message its shares of the terms completed by its neighbours', and its worth as an answer.

    A long message, which stands for itself, is lent less. None where no neighbour has anything.
    """
    given = [matches.shares.get(message.key) for message in ordered]
    lends = [weights.answer_lends if message.key & 1 else 1.0 for message in ordered]
    room = [min(1.0, weights.near_words / message.words) if message.words else 1.0 for message in ordered]
    near: list[dict[int, float] | None] = [None] * len(ordered)
    answers = [0.0] * len(ordered)

    def lend(lent: Mapping[int, float], borrower: int, factor: float) -> None:
        mine = near[borrower]
        if mine is None:
            near[borrower] = mine = dict(given[borrower] or ())
        for term, share in lent.items():
            if factor * share > mine.get(term, 0.0):
                mine[term] = factor * share

    for distance, before, after in ((1, weights.before_1, weights.next_1), (2, weights.before_2, weights.next_2)):
        for first, (left, right) in enumerate(zip(given, given[distance:], strict=False)):
            second = first + distance
            if (left is right is None) or not _adjacent(ordered[first], ordered[second], distance):
                continue
            if left is not None:
                lend(left, second, before * lends[first] * room[second])
            if right is not None:
                lend(right, first, after * lends[second] * room[first])
            if distance == 1 and left is not None and ordered[first].asks:
                answers[second] = weights.answers * lends[first] * matches.own[ordered[first].key] * room[second]
    return near, answers


def _adjacent(message: SearchedMessage, other: SearchedMessage, distance: int) -> bool:
    """Two messages are neighbours when they are in one session and at most as many turns apart as messages."""
    return (
        abs(other.ordinal - message.ordinal) <= distance
        and message.session_id == other.session_id
        and message.source == other.source
    )


def _person_signs(question: Question, weights: Weights) -> Callable[[int, int | None], float]:
    """Return the function from a message's side and author to its bonus or malus."""
    behind = -(weights.assistant if question.role else weights.open_question_assistant)
    asked = question.user_ids
    if asked and len(asked) < question.people:
        by_assistant = weights.role if None in asked else behind
        return lambda side, user_id: by_assistant if side else weights.role * (user_id in asked)
    by_side = (weights.role * (question.role == "user"), weights.role if question.role == "assistant" else behind)
    return lambda side, _: by_side[side]


def _time_signs(question: Question, now_ms: int, weights: Weights) -> Callable[[int], tuple[float, float]]:
    """Return the function from a point in time to its fit to the days asked for, and its recency."""

    @lru_cache(maxsize=2)  # both sides of a turn were said at one time
    def signs(at_ms: int) -> tuple[float, float]:
        day = DayOf.of(at_ms) if question.days else None
        date = weights.date * max(wanted.match(day) for wanted in question.days) if day else 0.0
        age_days = max(0, now_ms - at_ms) / DAY_MS
        return date, weights.recency * 0.5 ** (age_days / weights.recency_half_life_days) if now_ms else 0.0

    return signs
