"""The title of a session and where it stands, out of its notes. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from memory.language.languages import Language
from memory.language.sentences import lowered, without_possessive
from memory.notes.settle import stems_of_text
from memory.notes.telling import is_time_word
from memory.notes.types import STANDING_MAX_CHARS, TITLE_MAX_CHARS, LastingNote, Matter

WORDS_MAX = 5
STANDING_LINES = 4
_TOKEN = re.compile(r"\S+")
_EDGE = " .,;:!?\u2026\"'()[]«»„“”-\u2013"
_SECOND_PART = 2
_WORTH_MAX = 5.0
_SPOKEN, _SPOKEN_MAX = 3, 3

Note = Matter | LastingNote


def title_of(
    matters: Sequence[Matter],
    lasting: Sequence[LastingNote],
    language: Language,
    spoken: Mapping[str, int] = MappingProxyType({}),
) -> tuple[str, tuple[str, ...]]:
    """Return a few words that name what the session was about, and the turns they come from; "" without any note.

    They are the stretches of its weightiest notes with the words that most of its notes share, and that both sides
    speak of (`spoken`: in how many turns).
    """
    everything: list[Note] = [*matters, *lasting]
    often = Counter(stem for note in everything for stem in stems_of_text(note.text, language))
    for stem in often:
        often[stem] += _SPOKEN * min(spoken.get(stem, 0), _SPOKEN_MAX)
    alive = [note for note in everything if isinstance(note, Matter) and note.status == "open"]
    notes = sorted(alive or everything, key=_worth, reverse=True)
    parts: list[str] = []
    turn_ids: list[str] = []
    for note in notes:
        part = _stretch(note.text, often, language)
        length = len(", ".join([*parts, part]))
        if part and length <= TITLE_MAX_CHARS and not any(_overlap(part, other) for other in parts):
            parts.append(part)
            turn_ids += note.turn_ids
        if len(parts) == _SECOND_PART:
            break
    title = ", ".join(parts)
    return (title[:1].upper() + title[1:], tuple(turn_ids))


def standing_of(matters: Sequence[Matter], lasting: Sequence[LastingNote]) -> tuple[str, tuple[str, ...]]:
    """Return where the session stands: its weightiest open notes in the order in which they were said."""
    notes: list[Note] = [m for m in matters if m.status == "open"]
    chosen = sorted(
        sorted(notes or list(lasting), key=lambda n: -n.weight)[:STANDING_LINES], key=lambda n: n.said_at_ms
    )
    lines: list[str] = []
    for note in chosen:
        if len("\n".join([*lines, note.text])) <= STANDING_MAX_CHARS:
            lines.append(note.text)
    return "\n".join(lines), tuple(turn_id for note in chosen for turn_id in note.turn_ids)


def _worth(note: Note) -> float:
    return note.weight + (0.1 if isinstance(note, Matter) and note.due_at_ms is not None else 0.0)


def _stretch(text: str, often: Counter[str], language: Language) -> str:
    """Return the few words in a row that hold the most of what the session speaks of."""
    words = _TOKEN.findall(text)
    worth = [_word_worth(word, often, language) for word in words]
    best, span = 0.0, (0, 0)
    for start in range(len(words)):
        for end in range(start + 1, min(start + WORDS_MAX, len(words)) + 1):
            value = sum(worth[start:end]) - 0.15 * (end - start)
            if worth[start] and worth[end - 1] and value > best and not _breaks(words[start : end - 1]):
                best, span = value, (start, end)
    return " ".join(words[span[0] : span[1]]).strip(_EDGE)


def _breaks(words: Sequence[str]) -> bool:
    return any(word[-1] in ".!?:;\u2026" for word in words)


def _word_worth(word: str, often: Counter[str], language: Language) -> float:
    plain = lowered(word.strip(_EDGE))
    if (
        not plain
        or (language.known and plain in language.stop_words)
        or is_time_word(plain, language)
        or plain.isdigit()
    ):
        return 0.0
    count = often[language.stem(without_possessive(plain))]
    return min(1.0 + 0.5 * count, _WORTH_MAX) if count else 0.0


def _overlap(part: str, other: str) -> bool:
    return bool(set(lowered(part).split()) & set(lowered(other).split()))
