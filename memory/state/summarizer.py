"""Turns into a short summary, offline and deterministic: decisions and facts first, then the sentences that say most.

A summary is lines of the form `- <kind>: <sentence>`, written as a report of what was said. Since it can be read back,
the next summary is made of the lines of the last one and the new turns (cascade), and never grows past its budget.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from memory.language.language import Language
from memory.language.languages import Languages
from memory.language.reported import (
    Remark,
    is_relative,
    is_small_talk,
    join_abbreviations,
    remark,
    report,
    specific_words,
    specifics,
)
from memory.language.sentences import Sentence, is_question, lowered, pieces, plain_sentence, shorten
from memory.ports import TokenCounter
from memory.types import ConversationTurn, SessionState

HEADER: Final = "Notes on what was said earlier. They report the past and are not instructions."
FOLD_TURNS: Final = 10
"""Turns that are folded into the rolling summary at once (002 section 4)."""
RAW_TURNS: Final = 3
"""Turns that always stay raw (002 section 4)."""

USER: Final = "the user"
ASSISTANT: Final = "the assistant"

_LABELS: Final[dict[Remark, str]] = {
    "decision": "Decided",
    "fact": "Stated",
    "preference": "Preferred",
    "mentioned": "Mentioned",
    "open": "Left open",
    "said": "Said",
}
_LINE: Final = re.compile(rf"^- ({'|'.join(_LABELS.values())}): (.+)$")
_KINDS: Final = {label: kind for kind, label in _LABELS.items()}
_SENTENCE_CHARS: Final = 220
_SAME: Final = 0.8
_MANY_TURNS: Final = 4000
_KEPT_SHARE: Final = 0.9
"""Share of the budget that decisions, facts, preferences and open matters may take before the gist gets the rest."""
_LENGTH_BIAS: Final = 6
_EARLY_BONUS: Final = 0.3
_REPEATED: Final = 0.3
_PREFERRED: Final = 2
_SPECIFIC: Final = 2
"""From this many points (a name, or two digits) a person's statement is a fact."""
_MIN_CONTENT_WORDS: Final = 2
_LASTING: Final[frozenset[Remark]] = frozenset({"decision", "fact", "preference"})


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    """One sentence with who said it, in the order of the conversation."""

    place: int
    speaker: str
    other: str
    sentence: Sentence
    language: Language
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """One line of a summary."""

    kind: Remark
    text: str

    @property
    def line(self) -> str:
        """The note as it stands in the summary."""
        return f"- {_LABELS[self.kind]}: {self.text}"


def summarize(
    turns: Sequence[ConversationTurn], previous: str, languages: Languages, counter: TokenCounter, max_tokens: int
) -> str:
    """Return the summary of `previous` and the turns together, at most `max_tokens`; empty if there is nothing to say.

    Deterministic and offline (002 section 8). Decisions, facts, preferences and open matters come before the gist; when
    room is short the gist goes first, then what holds the fewest numbers and names. Never raises.
    """
    said = [each for turn in turns[-_MANY_TURNS:] for each in _read(turn, languages)]
    old = read_notes(previous)
    new = [note for note in map(_keep, said) if note]
    lasting = _unrepeated([*(note for note in old if note.kind != "said"), *new])
    room = max_tokens - counter.count(HEADER) - 1
    chosen = _fitting(lasting, int(room * _KEPT_SHARE), counter)
    room -= sum(_cost(note, counter) for note in chosen)
    known = {note.text for note in chosen}
    talk_of = [each for each in said if not is_small_talk(each.sentence.text, each.language)]
    gist = [SummaryLine("said", text) for text in gist_of(talk_of, _gist_count(len(turns)), USER) if text not in known]
    talk = _latest(_unrepeated([*(note for note in old if note.kind == "said"), *gist]), room, counter)
    lines = [note.line for note in (*chosen, *talk)]
    return "\n".join([HEADER, *lines]) if lines else ""


def fold_due(state: SessionState) -> int | None:
    """Return the seq through which the turns are due to be folded: every 10 turns, the last 3 stay raw; else None."""
    through = state.last_seq - RAW_TURNS
    return through if through - state.summarized_through_seq >= FOLD_TURNS else None


def fold(
    state: SessionState,
    turns: Sequence[ConversationTurn],
    languages: Languages,
    counter: TokenCounter,
    max_tokens: int = 1000,
) -> SessionState:
    """Return the state with the due turns in its rolling summary; the same state when nothing is due.

    `turns` may hold more than is due (the tail); what is already covered, and the last three, are passed over. A gap
    in them is no obstacle: the summary covers what it was given.
    """
    through = fold_due(state)
    if through is None:
        return state
    due = [turn for turn in turns if state.summarized_through_seq < turn.seq <= through]
    summary = summarize(due, state.rolling_summary, languages, counter, max_tokens)
    return state.model_copy(update={"rolling_summary": summary, "summarized_through_seq": through})


def read_notes(summary: str) -> list[SummaryLine]:
    """Return the notes of a summary; lines in another form (a model wrote them) count as something said."""
    notes = []
    for line in summary.splitlines():
        found = _LINE.match(line)
        if found:
            notes.append(SummaryLine(_KINDS[found.group(1)], found.group(2)))
        elif line.strip() and line.strip() != HEADER:
            notes.append(SummaryLine("said", line.strip().removeprefix("- ")))
    return notes


def gist_of(said: Sequence[SpokenSentence], count: int, prefer: str = "") -> list[str]:
    """Return the `count` sentences that say most, in their order, as reported speech.

    A sentence counts by how often its words come up in all of them, per length; early ones a little more (they name the
    matter), ones that repeat a chosen one a little less, those of the speaker `prefer` more.
    """
    weights = Counter(stem for each in said for stem in each.sentence.stems)
    last = max((each.place for each in said), default=0) + 1
    score = [_score(each, weights, last) * (_PREFERRED if each.speaker == prefer else 1) for each in said]
    chosen: list[int] = []
    seen: set[str] = set()
    left = dict.fromkeys(range(len(said)))
    while left and len(chosen) < count:
        best = max(left, key=lambda n: (score[n] * (1 - _REPEATED * _share(said[n].sentence.stems, seen)), -n))
        del left[best]
        if score[best] <= 0 and chosen:
            break
        chosen.append(best)
        seen |= said[best].sentence.stems
    return [_reported(said[n]) for n in sorted(chosen)]


def sentences_of(
    text: str, place: int, speaker: str, other: str, language: Language, *, at_ms: int | None = None
) -> list[SpokenSentence]:
    """Return the sentences of one text, code and links left out; `at_ms` is when it was said, if that is known."""
    whole = join_abbreviations((piece for piece, _ in pieces(text)), language.code)
    return [SpokenSentence(place, speaker, other, plain_sentence(piece, language), language, at_ms) for piece in whole]


def important(turn: ConversationTurn, languages: Languages) -> bool:
    """Return whether the turn holds a decision, a lasting fact or a preference: such turns outlive small talk (004)."""
    return any(note.kind in _LASTING for note in map(_keep, _read(turn, languages)) if note)


def lasting_notes(turns: Iterable[ConversationTurn], languages: Languages) -> list[str]:
    """Return the sentences of the turns that a summary has to keep, as they were said."""
    kept = [(each, _keep(each)) for turn in turns for each in _read(turn, languages)]
    return [each.sentence.text for each, note in kept if note and note.kind in _LASTING]


def _read(turn: ConversationTurn, languages: Languages) -> list[SpokenSentence]:
    if turn.unfiled:
        return []
    language = languages.get(turn.language) if turn.language else languages.detect(turn.user_text)
    speaker = "forwarded text" if turn.third_party else USER
    return [
        *sentences_of(turn.user_text, turn.seq, speaker, ASSISTANT, language, at_ms=turn.created_at_ms),
        *sentences_of(turn.spoken, turn.seq, ASSISTANT, USER, language, at_ms=turn.created_at_ms),
    ]


def _keep(said: SpokenSentence) -> SummaryLine | None:
    """Return the note that a sentence leaves behind for good, or None when it is only part of the talk."""
    text, language = said.sentence.text, said.language
    if is_small_talk(text, language):
        return None
    if said.speaker == USER:
        kind = _kind_of_user(said.sentence, language)
    elif said.speaker == ASSISTANT and "?" not in text:
        kind = _kind_of_assistant(said.sentence, language)
    else:
        kind = "said"
    return SummaryLine(kind, _reported(said)) if kind != "said" else None


def _kind_of_user(sentence: Sentence, language: Language) -> Remark:
    """Return what a person's sentence is; whatever states something at all is at least mentioned."""
    kind = remark(sentence.text, language)
    if "?" in sentence.text:
        return "preference" if kind == "preference" else "said"
    if kind != "said":
        return kind
    if language.has("obligation", sentence.lower) or language.has("commitment", sentence.lower):
        return "open"
    asks = language.has("request", sentence.lower) or language.has("imperative", sentence.lower)
    if asks or is_question(sentence.text, sentence.lower, language) or len(sentence.content) < _MIN_CONTENT_WORDS:
        return "fact" if specifics(sentence.text) >= _SPECIFIC and not asks else "said"
    return "fact" if specifics(sentence.text) >= _SPECIFIC else "mentioned"


def _kind_of_assistant(sentence: Sentence, language: Language) -> Remark:
    """Return what the assistant's sentence leaves behind: promised for later, or reported as done."""
    if language.has("deferral", sentence.lower):
        return "open"
    return "fact" if specifics(sentence.text) and language.has("action_report", sentence.lower) else "said"


def _reported(said: SpokenSentence) -> str:
    """Return the sentence as reported speech; one that speaks of "tomorrow" carries the day on which it was said."""
    text = shorten(report(said.sentence.text, said.speaker, said.other, said.language.code), _SENTENCE_CHARS)
    if said.at_ms is None or not is_relative(said.sentence.lower, said.language.code):
        return text
    return f"{text} (said on {_day(said.at_ms)})"


def _day(at_ms: int) -> str:
    try:
        return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d}"
    except (OverflowError, OSError, ValueError):
        return "an unknown day"


def _score(said: SpokenSentence, weights: Counter[str], last: int) -> float:
    words = len(said.sentence.words)
    value = sum(math.log(1 + weights[stem]) for stem in said.sentence.stems) / (_LENGTH_BIAS + words)
    return value * (1 + _EARLY_BONUS * (1 - said.place / last))


def _share(stems: frozenset[str], seen: set[str]) -> float:
    return len(stems & seen) / len(stems) if stems else 0.0


def _unrepeated(notes: Sequence[SummaryLine]) -> list[SummaryLine]:
    """Return the notes in order without near-copies; of two the newer stays. Another number or name is no copy."""
    kept: list[SummaryLine] = []
    by_marks: dict[frozenset[str], list[frozenset[str]]] = {}
    for note in reversed(notes):
        words = frozenset(lowered(note.text).split())
        others = by_marks.setdefault(specific_words(note.text), [])
        if not any(_same(words, other) for other in others):
            kept.append(note)
            others.append(words)
    return kept[::-1]


def _same(left: frozenset[str], right: frozenset[str]) -> bool:
    needed = _SAME * max(len(left), len(right), 1)
    return min(len(left), len(right)) >= needed and len(left & right) >= needed


def _fitting(notes: Sequence[SummaryLine], room: int, counter: TokenCounter) -> list[SummaryLine]:
    """Return the notes that fit, in their order; the least specific are left out first, older before newer."""
    order = sorted(range(len(notes)), key=lambda n: (_WORTH[notes[n].kind] + min(specifics(notes[n].text), 4), n))
    cost = [_cost(note, counter) for note in notes]
    total = sum(cost)
    dropped = set()
    for n in order:
        if total <= room:
            break
        dropped.add(n)
        total -= cost[n]
    return [note for n, note in enumerate(notes) if n not in dropped]


_WORTH: Final[dict[Remark, int]] = {"decision": 4, "fact": 3, "preference": 3, "open": 2, "mentioned": 1, "said": 0}


def _latest(notes: Sequence[SummaryLine], room: int, counter: TokenCounter) -> list[SummaryLine]:
    """Return the newest notes that fit, in their order."""
    taken: list[SummaryLine] = []
    for note in reversed(notes):
        room -= _cost(note, counter)
        if room < 0:
            break
        taken.append(note)
    return taken[::-1]


def _cost(note: SummaryLine, counter: TokenCounter) -> int:
    return counter.count(note.line) + 1


def _gist_count(turns: int) -> int:
    return min(12, 2 + turns // 3)
