"""A question with its days and words, the messages, and the weight of each sign. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

DAY_MS = 86_400_000
TOLD_WITHIN_DAYS = 3
MONTH_DAYS = 31
Key = int
"""A message: twice the number of its document, and one more where it is the assistant's side of a turn."""
PASSAGE_BITS, TERM_BITS = 7, 5
"""The room that a passage and a term of the question have in the number of a place."""


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
        """Return its beginning (inclusive) and end (exclusive), UTC; None when it names no month of a year.

        A day gets four: an event may be told a little later.
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
        """Return 0..1: the fit of a message of the day `other`; an event may be told days later."""
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
    """Terms to look for, as the index has them, and the words that they stand for."""

    terms: tuple[str, ...]
    words: tuple[str, ...] = ()
    framing: frozenset[int] = frozenset()
    """The terms about the way of asking ("list", "mentioned"), not about the thing asked for."""
    role: str | None = None
    """The side whose words are wanted in a chat with the assistant: "user", "assistant" or None."""
    user_ids: frozenset[int | None] = frozenset()
    """The people named in a chat of several; None is the assistant."""
    people: int = 0
    days: tuple[DayOf, ...] = ()
    wants_time: bool = False


class SearchedMessage(NamedTuple):
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
        """The side that said it; a memory is the user's."""
        return "assistant" if self.key & 1 else "user"


class TermHits(NamedTuple):
    """The places of the question's terms, and the number of terms of each message there."""

    places: Sequence[int]
    """Message, passage and term as one number (`place`); equal numbers are one term said several times."""
    lengths: Mapping[Key, int]
    """Of this conversation's messages: those of another one under the same hash are in `places` alone."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each sign; scores are in units of the question's mean term weight. Found by measuring."""

    saturation: float = 0.6
    length: float = 0.6
    usual_terms: float = 8.0
    coverage: float = 0.4
    framing: float = 0.1
    """The weight of a term that only frames the question, against one of its subject."""
    next_1: float = 0.4
    before_1: float = 0.6
    next_2: float = 0.2
    before_2: float = 0.5
    answer_lends: float = 0.3
    """An assistant's long answers repeat the question: they lend the messages beside them less."""
    near_words: float = 60.0
    """A longer message needs less from its neighbours."""
    answers: float = 0.35
    session: float = 0.3
    session_best: int = 3
    role: float = 0.5
    assistant: float = 2.5
    """The malus of an assistant's message when the question is about the person."""
    open_question_assistant: float = 0.8
    """The same when the question leaves open who said it."""
    doubled: float = 0.6
    """Taken off each time a message's words double beyond `plain_words`: it says less for the room that it takes."""
    plain_words: float = 60.0
    date: float = 0.7
    when: float = 0.08
    question: float = 0.25
    open_loop: float = 0.2
    recency: float = 0.02
    recency_half_life_days: float = 30.0
    dense: float = 0.4

    def without_sides(self) -> Weights:
        """The same, with no side of a talk before the other: for words that are looked for, not asked about."""
        return replace(self, role=0.0, assistant=0.0, open_question_assistant=0.0, question=0.0)


WEIGHTS = Weights()
