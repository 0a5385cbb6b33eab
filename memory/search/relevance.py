"""The finds that bear on a message: what a prompt tells though nobody asked to search. Pure, knows no language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, TypeVar

from memory.search.terms import little_words, split_words
from memory.text import asks_at_the_end, has_question_mark, sentences, whole_sentences

MAX_FINDS: Final = 12
FLOOR: Final = 0.15
"""The least share of the message's words, weighted, in the closest find and its neighbours; below it nothing in the
past bears on the message. Fitted: `docs/explanation/search.md` has the curve."""
BEST: Final = 6
"""The finds above the floor that are told, in their order."""
LATER_SHARE: Final = 0.02
"""The least share that a find behind them has to hold itself."""
MORE_FROM: Final = 0.6
"""Behind the BEST finds are told only where the closest holds so much; where it holds less, none of them answered."""
LENT_SHARE: Final = 0.13
"""The least share, of the closest's, in a find without a word of the message: its neighbours lend it theirs."""
LEAST_WORDS: Final = 3
"""Fewer that do not ask ("moin", "haha ok") answer or greet: wherever they were said before is no news."""
ANSWER: Final = 8
"""So many words that do not ask, behind a question, answer it."""
SHORT: Final = 12
"""So many words in one sentence may ask without a mark."""
SURE: Final = 0.3
"""Where the closest holds less, a message of several sentences is told that alone if it asks, else nothing, and a short
one nothing that is lent."""
OF_TELLING: Final = 2
HALF: Final = 0.5
"""The least share, of the closest's, in a find for a message of several sentences."""
MAX_PARTS: Final = 2
"""The last sentences of a longer message that are looked for by themselves: the question may be its end."""
PART_FLOOR: Final = 0.4
"""The least share of a sentence in a find for it alone."""
OF_A_PART: Final = 2


NEAR_SHARE: Final = 0.3
"""Finds of a search that somebody asked for are left out below this share of the closest one's."""


class Find(Protocol):
    """A find, with or without more fields."""

    @property
    def share(self) -> float:
        """The share of the message in it and its neighbours."""
        ...

    @property
    def lent(self) -> bool:
        """Whether it has nothing of the message itself."""
        ...

    @property
    def common(self) -> bool:
        """Whether it shares but common words with it."""
        ...

    @property
    def repeats(self) -> bool:
        """Whether the person's words are the message's, and said often."""
        ...


F = TypeVar("F", bound=Find)


def relevant(found: Sequence[F], message: str, *, answers: bool = False) -> list[F]:
    """The finds that bear on the message, in their order; none of a message that nothing bears on.

    A question for something shares many of its words with the place where it was said; a message that tells something
    shares few with anything. Who ends with a question mark is told also what shares but common words. `answers`: the
    message follows a question, and leans on that.
    """
    asks, words = has_question_mark(message), split_words(message)
    if not asks and len(words) < (ANSWER + 1 if answers else LEAST_WORDS):
        return []
    found = [item for item in found if not item.repeats]
    if not asks_at_the_end(message) and all(item.common for item in found):
        return []
    closest = max((item.share for item in found), default=0.0)
    if closest < FLOOR or little_words().issuperset(words):
        return []
    is_sure = closest >= SURE
    if len(message.split()) > SHORT or len(whole_sentences(message)) > 1:
        most = (BEST if is_sure else 1) if asks else (OF_TELLING if is_sure else 0)
        return [item for item in found if item.share >= HALF * closest][:most]
    most = MAX_FINDS if closest >= MORE_FROM else BEST
    best = [item for n, item in enumerate(found[:most]) if n < BEST or item.share >= LATER_SHARE]
    return [item for item in best if not item.lent or (is_sure and item.share >= LENT_SHARE * closest)]


def of_part(found: Sequence[F]) -> list[F]:
    """The finds that bear on one sentence of a longer message."""
    return [item for item in found[:OF_A_PART] if item.share >= PART_FLOOR and not (item.common or item.repeats)]


def near_enough(found: Sequence[F]) -> list[F]:
    """The finds of a search, without those far behind the closest; one that was found by its day has no share."""
    closest = max((item.share for item in found), default=0.0)
    return [] if 0 < closest < FLOOR else [item for item in found if item.share >= closest * NEAR_SHARE]


def parts_of(message: str) -> list[str]:
    """The sentences of a longer message that are looked for by themselves."""
    found = list(sentences(message)) if len(message.split()) > SHORT else []
    parts = [each for each in found if LEAST_WORDS <= len(split_words(each)) <= SHORT]
    return parts[-MAX_PARTS:] if len(found) > 1 else []
