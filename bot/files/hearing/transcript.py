"""Words of a recogniser, and how much of them is speech: silence, repeated phrases and doubt are told apart. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from memory.text import clean

SILENCE: Final = 0.6
UNSURE: Final = -1.0
"""Whisper's own bounds (`no_speech_threshold`, `log_prob_threshold`): above and below, it takes a stretch for silence;
below the second alone, it tries again. 0.37 is then the mean probability of a token."""
AGAIN: Final = 4
"""Nobody says the same words so often in a row: a recogniser that hears nothing does."""
LONGEST_PHRASE: Final = 12
MOST_SEGMENTS: Final = 20_000
_SOUND: Final = re.compile(r"[\s\W]*[\[(*♪][^\])]*[\])*♪][\s\W]*")
_WORD: Final = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of speech."""

    start_s: float
    text: str
    sureness: float | None = None
    """Mean log probability of its tokens, None when nobody says."""
    silence: float = 0.0
    """Probability that nobody speaks."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """Words of a recording, or of a piece of it."""

    segments: tuple[Stretch, ...] = ()
    language: str = ""
    """Code of the language that was heard, "" when nobody says."""
    unsure: bool = False
    """True when the text may well be wrong: the recogniser doubts, or repeated itself."""

    @property
    def text(self) -> str:
        """All of it on one line."""
        return " ".join(segment.text for segment in self.segments)


def judged(segments: Iterable[Stretch], language: str = "") -> Transcript:
    """The speech among these words, and whether it can be relied on.

    >>> judged([Stretch(0.0, "Thank you.", -1.4, 0.9)]).text
    ''
    """
    kept: list[Stretch] = []
    chars = doubtful = dropped = 0
    for segment in segments:
        text = " ".join(clean(segment.text).split())
        if not any(map(str.isalnum, text)) or _SOUND.fullmatch(text) or _is_silence(segment):
            continue
        once = without_repeats(text)
        chars += len(text)
        dropped += len(text) - len(once)
        is_doubtful = segment.sureness is not None and segment.sureness < UNSURE
        doubtful += len(text) if is_doubtful else 0
        kept.append(replace(segment, text=once))
    spoken = _each_once(kept)
    dropped += sum(len(each.text) for each in kept) - sum(len(each.text) for each in spoken)
    unsure = chars > 0 and (doubtful * 2 > chars or dropped * 2 > chars)
    return Transcript(tuple(spoken), language, unsure)


def _is_silence(segment: Stretch) -> bool:
    return segment.silence > SILENCE and segment.sureness is not None and segment.sureness < UNSURE


def _each_once(segments: Sequence[Stretch]) -> list[Stretch]:
    """The segments, of a run that says the same again and again the first alone."""
    found: list[Stretch] = []
    for _, same in groupby(segments, key=lambda segment: _folded(segment.text)):
        run = list(same)
        found += run[:1] if len(run) >= AGAIN else run
    return found


def without_repeats(text: str) -> str:
    """The text with each phrase once that is said four times in a row or more.

    >>> without_repeats("Well. Thank you. Thank you. Thank you. Thank you. Thank you.")
    'Well. Thank you.'
    """
    words = _WORD.findall(text)
    folded = [_folded(word) for word in words]
    for size in range(1, min(LONGEST_PHRASE, len(words) // AGAIN) + 1):
        at = 0
        while at + size * AGAIN <= len(words):
            times = 1
            while folded[at + size * times : at + size * (times + 1)] == folded[at : at + size]:
                times += 1
            if times >= AGAIN:
                del words[at + size : at + size * times], folded[at + size : at + size * times]
            at += 1
    return " ".join(words)


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold())) or text


def by_minute(segments: Iterable[Stretch]) -> list[tuple[int, str]]:
    """Words of each minute, from 1."""
    found: dict[int, list[str]] = {}
    for segment in segments:
        found.setdefault(int(segment.start_s // 60) + 1, []).append(segment.text)
    return [(minute, " ".join(texts)) for minute, texts in sorted(found.items())]


def read_answer(answer: object, start_s: float) -> tuple[list[Stretch], str] | None:
    """Segments and language of a server's answer, None for one of another shape. Never raises.

    `verbose_json` has segments with their probabilities, `json` a text alone.
    """
    if not isinstance(answer, dict) or not isinstance(answer.get("text"), str):
        return None
    language = answer.get("language")
    given = answer.get("segments")
    listed = given[:MOST_SEGMENTS] if isinstance(given, list) else []
    segments = [_segment(each, start_s) for each in listed if isinstance(each, dict)]
    found = [each for each in segments if each is not None]
    if not found and answer["text"].strip():
        found = [Stretch(start_s, answer["text"])]
    return found, code_of(language) if isinstance(language, str) else ""


def _segment(given: Mapping[str, Any], start_s: float) -> Stretch | None:
    text = given.get("text")
    if not isinstance(text, str):
        return None
    return Stretch(
        start_s=start_s + max(0.0, _number(given.get("start")) or 0.0),
        text=text,
        sureness=_number(given.get("avg_logprob")),
        silence=_number(given.get("no_speech_prob")) or 0.0,
    )


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9  # noqa: PLR2004 - no sound lasts longer
    return float(value) if is_number else None  # type: ignore[arg-type]


NAMED: Final = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt",
    "russian": "ru",
}  # fmt: skip
"""OpenAI's server says languages by their English name; of others than ours the code is not needed."""


def code_of(language: str) -> str:
    """The code of a language that a server names in one way or the other; "" for another one's name."""
    name = language.strip().lower()
    return NAMED.get(name, name if len(name) in {2, 3} and name.isalpha() else "")
