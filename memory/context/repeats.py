"""Lines of a summary, and finds, that notes tell already: each fact stands in a prompt once. Pure."""

from __future__ import annotations

import re
from calendar import month_abbr
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memory.keeper.wording import numbers
from memory.ledger.types import NoteChange
from memory.search.terms import calendar_words, little_words, split_words
from memory.text import folded, has_question_mark

TOLD_SHARE: Final = 0.6
"""The share of a line's words, without the little ones, in notes that tell the same."""
LEAST_WORDS: Final = 3
KEYS_HELD: Final = 2_000
"""Texts whose keys are kept: a prompt tells mostly the notes and sentences of the one before."""
SHARED: Final = 0.4
"""The share of the shorter text's words in another that speaks of the same."""
SHARED_LEAST: Final = 2
ANSWER: Final = "\nAssistant: "
REPLY: Final = "\nUser, to that: "
ANSWER_WORDS: Final = 75
"""A longer answer is shown for what it says itself (`memory.search.passages`)."""
WORDING: Final = frozenset({"text", "subject", "weight", "confidence", "turn_ids", "said_at_ms", "version"})
"""The fields of a note that say nothing of its day, its ring or its end."""
_CLAUSE: Final = re.compile(r"[,;:.!?…\u2013\u2014]+(?=\s|$)")
_DIGITS = re.compile(r"\d+")
_OWN_NUMBER = re.compile(r"#\d+")
_MONTHS: Final = tuple(month_abbr)
_MONTH = re.compile(rf"\b\d{{1,2}} ({'|'.join(_MONTHS[1:])})\b")
"""As `memory.ledger.lines` writes a day that is near."""
_DATED = re.compile(r"\(\d{4}-\d\d-\d\d\)\s*$")


@dataclass(frozen=True, slots=True)
class NoteWords:
    """The words of each of a prompt's notes, by how they begin, and its numbers."""

    notes: tuple[tuple[frozenset[str], frozenset[float]], ...]
    """Numbers by their values, 1850 is 1.850 and 1,850; of days and hours the parts, too."""

    @classmethod
    def of(cls, notes: Iterable[str]) -> NoteWords:
        """Read the lines of notes, once for all that is compared with them."""
        return cls(tuple((word_keys(note), _told_numbers(note)) for note in notes))

    def untold(self, lines: Sequence[str]) -> list[str]:
        """The lines that the notes do not tell.

        Told is one whose numbers all stand in one note, and most of its words, or so each of its clauses. Words are
        compared by their beginning, so that their ending and accents do not matter.
        """
        return [line for line in lines if not self.tell(_DATED.sub("", line))]

    def tell(self, line: str) -> bool:
        """Whether the notes tell a line, given without the day on which it was said."""
        words = line.split(":", 1)[-1]
        whole = word_keys(words)
        if len(whole) < LEAST_WORDS:
            return False
        clauses = (clause for clause in _CLAUSE.split(words) if clause.strip())
        return self._has(whole, line) or all(self._has(word_keys(each), each) for each in clauses)

    def unsaid(self, sentences: Sequence[str]) -> list[str]:
        """The sentences of which no note has each word, those of the calendar aside, and each number."""
        return [each for each in sentences if not self._say(each)]

    def _say(self, sentence: str) -> bool:
        words = word_keys(" ".join(word for word in split_words(sentence) if word not in calendar_words()))
        return len(word_keys(sentence)) >= LEAST_WORDS and self._has(words, sentence, 1.0)

    def _has(self, words: frozenset[str], text: str, share: float = TOLD_SHARE) -> bool:
        """Whether one note has this share of a text's words, and its numbers."""
        least = share * len(words)
        return any(len(words & told) >= least and _has_numbers(values, text) for told, values in self.notes)


def _values(text: str) -> frozenset[float]:
    return frozenset(value for _, value in numbers(text))


def says_more(passage: str, notes: Iterable[str], message: str) -> bool:
    r"""Whether a turn, as it is found, holds more for a message than the notes that rest on it.

    So it does where the person asked, or named a number that the notes lack; where the answer is long, or has words of
    the message that the person's lack; and where the notes lack over half of the message's words that the turn has.

    >>> says_more("User: 480 is paid\nAssistant: Lovely.", ["#6 fact: Two Blokes have their 480"], "480 paid?")
    False
    """
    said, answer, reply = _sides(passage)
    own, told = f"{said}\n{reply}", "\n".join(notes)
    if (
        not said
        or has_question_mark(own)
        or len(answer.split()) > ANSWER_WORDS
        or not _has_numbers(_told_numbers(told), own)
    ):
        return True
    wanted = keys(message)
    in_own, in_answer = wanted & keys(own), wanted & keys(answer)
    held = in_own | in_answer
    return bool(in_answer - in_own) or 2 * len(held - keys(told)) > len(held)


def answer_in(passage: str) -> str:
    """The assistant's words of a find."""
    return _sides(passage)[1].removeprefix(ANSWER.lstrip())


def _sides(passage: str) -> tuple[str, str, str]:
    """What the person said in a find, what was answered, and what they said to that."""
    if passage.startswith(ANSWER.lstrip()):
        return "", passage, ""
    said, _, rest = passage.partition(ANSWER)
    answer, _, reply = rest.partition(REPLY)
    return said, answer, reply


def _has_numbers(told: frozenset[float], text: str) -> bool:
    """Whether each number of a text is told but a one; of a day or an hour (`2.12.`, `18:30`) its parts."""
    return all(value in told or told.issuperset(_parts(written)) for written, value in numbers(text))


def _told_numbers(notes: str) -> frozenset[float]:
    """The numbers that lines of notes tell, their own aside; of a day (`2 Dec`) the month's, too."""
    text = _OWN_NUMBER.sub("", notes)
    months = (float(_MONTHS.index(name)) for name in _MONTH.findall(text))
    return frozenset((1.0, *_values(text), *_parts(text), *months))


def _parts(text: str) -> Iterable[float]:
    return map(float, _DIGITS.findall(text))


def keys(text: str) -> frozenset[str]:
    """The keys of the words of a text, and its numbers."""
    return word_keys(text) | {str(value) for value in _values(text)}


def speak_of(notes: Iterable[str], message: str) -> bool:
    """Whether one of these notes holds half of a message's words or more, the little ones aside."""
    asked = word_keys(message)
    return bool(asked) and any(2 * len(asked & word_keys(note)) >= len(asked) for note in notes)


def speaks_of(text: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts, by the keys of their words, speak of the same."""
    least = min(len(text), len(other))
    return least > 0 and len(text & other) >= max(min(SHARED_LEAST, least), SHARED * least)


@lru_cache(maxsize=KEYS_HELD)
def word_keys(text: str) -> frozenset[str]:
    """How the words of a text begin, the little ones and numbers aside: two texts are compared by them."""
    words = (folded(word).replace("œ", "oe") for word in split_words(text) if word not in little_words())
    return frozenset(word[: max(4, len(word) - 2)] for word in words if not _DIGITS.search(word))


def stands_in_calls(done: Sequence[NoteChange], told: Collection[str]) -> bool:
    """Whether a tool's result in the messages tells how a note stands now; a keeper may have put it in other words."""
    last = max((n for n, each in enumerate(done, 1) if each.hand == "model" and each.cause in told), default=0)
    return last > 0 and all(map(_rewords, done[last:]))


def _rewords(change: NoteChange) -> bool:
    """Whether a keeper changed nothing but the words of a note, its numbers aside."""
    texts = [str(fields.get("text", "")) for fields in (change.before, change.after)]
    before, after = ({value for _, value in numbers(text)} for text in texts)
    return change.hand == "keeper" and WORDING.issuperset(change.after) and before == after
