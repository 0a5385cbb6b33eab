"""The title of a session and where it stands, out of its notes and what both sides speak of. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from memory.language.language import Language
from memory.language.sentences import lowered, stem_of, without_elision, without_possessive
from memory.notes.clauses import TurnClauses
from memory.notes.noted import stems_of_text
from memory.notes.telling import is_time_word
from memory.notes.types import STANDING_MAX_CHARS, TITLE_MAX_CHARS, LastingNote, Matter

TOPICS_MAX = 4
PHRASE_WORDS = 4
"""The most words in which one thing is named."""
STANDING_LINES = 4
_TOKEN = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_BEGINS = re.compile(r"(?:^|[.!?\u2026:\n])[\s\"'(\u201c\u201e\u00ab*]*$")
"""Where a sentence begins, every word is written large."""
_SHOUTED = 5
"""A word of so many letters is written large for its own sake."""
_SHORTEST = 3
"""Letters of the shortest word that can name a topic."""
_SAME_CHARS = 5
"""Two words that begin with so many letters in common name one topic."""
_OFTEN = 4
"""Beyond this many turns of a side, a topic is not worth more."""
_BOTH, _NAMED_ONCE, _NAMED_MAX = 1.5, 1.0, 2
_THING_SHARE = 0.2
"""Share of its places in which a word has to stand as the name of a thing: "the left", but mostly "left"."""
_NOTED, _LASTING_SHARE = 6.0, 0.5
"""A topic of the weightiest matter is worth so much more; of what stays true, half of it."""

Note = Matter | LastingNote


@dataclass(slots=True)
class _Topic:
    """A word that may name what a session is about."""

    forms: Counter[str] = field(default_factory=Counter)
    """How it was written."""
    of_user: dict[str, None] = field(default_factory=dict)
    """The turns in which the person says it, in order."""
    of_assistant: dict[str, None] = field(default_factory=dict)
    named: int = 0
    """How often it stands behind an article, or is written large: it names a thing."""

    @property
    def is_thing(self) -> bool:
        """Return whether it stands often enough as the name of a thing."""
        return self.named >= _THING_SHARE * self.forms.total()

    def value(self, noted: float) -> float:
        """Return how well it names the session; `noted` is the weight of the notes that speak of it."""
        often = min(len(self.of_user), _OFTEN) + min(len(self.of_assistant), _OFTEN)
        both = _BOTH * bool(self.of_user and self.of_assistant)
        return often + both + _NAMED_ONCE * min(self.named, _NAMED_MAX) + _NOTED * noted


def title_of(
    matters: Sequence[Matter], lasting: Sequence[LastingNote], language: Language, said: Sequence[TurnClauses]
) -> tuple[str, tuple[str, ...]]:
    """Return a few words that name what the session was about, and the turns they come from; "" without any note.

    They are the things that the notes name and that most of the turns speak of, of both sides if possible.
    """
    noted = _noted(matters, lasting, language)
    topics = {stem: topic for stem, topic in _topics(said, language).items() if stem in noted and topic.of_user}
    named = {stem: topic for stem, topic in topics.items() if topic.is_thing} or topics
    best = sorted(named, key=lambda stem: (-named[stem].value(noted[stem]), stem))
    phrases = _phrases(said, frozenset(topics), frozenset(named), language)
    names: list[str] = []
    turn_ids: list[str] = []
    told: set[str] = set()
    for stem in best:
        stems, name = phrases.get(stem) or ((stem,), named[stem].forms.most_common(1)[0][0])
        if stem not in told and len(names) < TOPICS_MAX and _fits(name, names):
            names.append(name)
            told.update(stems)
            turn_ids += (turn_id for each in stems for turn_id in (*topics[each].of_user, *topics[each].of_assistant))
    title = ", ".join(names)
    return (title[:1].upper() + title[1:], tuple(dict.fromkeys(turn_ids)))


def _phrases(
    said: Sequence[TurnClauses], topics: frozenset[str], things: frozenset[str], language: Language
) -> dict[str, tuple[tuple[str, ...], str]]:
    """Return for each topic the words in which the person names it together with others ("golden wedding").

    They end in the name of a thing, or both sides or both of two turns use them.
    """
    forms: dict[tuple[str, ...], Counter[str]] = {}
    often: Counter[str] = Counter()
    for each in said:
        for clause in (*each.user, *each.assistant):
            for stems, phrase in _together(clause.text, topics, things, language):
                often[lowered(phrase)] += 1
                if clause.speaker == "user":
                    forms.setdefault(stems, Counter())[phrase] += 1
    named = [(often[lowered(phrase)], stems, phrase) for stems, found in forms.items() for phrase in found]
    best: dict[str, tuple[tuple[str, ...], str]] = {}
    for times, stems, phrase in sorted(named, key=lambda each: (-each[0], -len(each[1]), each[1:])):
        acts = bool(language.weak_endings) and lowered(phrase).endswith(language.weak_endings)
        if stems[-1] in things or (times > 1 and not acts):
            for stem in stems:
                best.setdefault(stem, (stems, phrase))
    return best


def _together(
    text: str, topics: frozenset[str], things: frozenset[str], language: Language
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield stretches of the text that name one thing: topics behind an article or a thing, and what joins them."""
    text = lowered(text) if text.isupper() else text
    tokens = list(_TOKEN.finditer(text))
    plain = [without_elision(without_possessive(lowered(found.group())), language) for found in tokens]
    stems = [stem_of(word, language) for word in plain]
    joined = [text[one.end() : other.start()] == " " for one, other in pairwise(tokens)]
    for first, stem in enumerate(stems):
        behind_article = bool(first) and joined[first - 1] and plain[first - 1] in language.determiners
        if stem not in topics or not (stem in things or behind_article):
            continue
        for last in range(first + 1, min(first + PHRASE_WORDS, len(tokens))):
            if not joined[last - 1] or (stems[last] not in topics and plain[last] not in language.title_joints):
                break
            if stems[last] in topics:
                inside = tuple(each for each in stems[first : last + 1] if each in topics)
                yield inside, text[tokens[first].start() : tokens[last].end()]


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


def _noted(matters: Sequence[Matter], lasting: Sequence[LastingNote], language: Language) -> dict[str, float]:
    """Return the stems of the notes with the weight of the weightiest; of ended matters only if nothing else is."""
    alive = [matter for matter in matters if matter.status == "open"]
    weighed: list[tuple[Note, float]] = [(matter, 1.0) for matter in alive]
    weighed += [(note, _LASTING_SHARE) for note in lasting]
    found: dict[str, float] = {}
    for note, share in weighed or [(matter, 1.0) for matter in matters]:
        for stem in stems_of_text(note.text, language):
            found[stem] = max(found.get(stem, 0.0), note.weight * share)
    return found


def _topics(said: Sequence[TurnClauses], language: Language) -> dict[str, _Topic]:
    """Return the words of both sides by their stem."""
    topics: dict[str, _Topic] = {}
    for each in said:
        for clause in (*each.user, *each.assistant):
            for written, plain, named in _words(clause.text, language):
                topic = topics.setdefault(stem_of(plain, language), _Topic())
                topic.forms[written] += 1
                topic.named += named
                (topic.of_user if clause.speaker == "user" else topic.of_assistant)[clause.turn_id] = None
    return topics


def _words(text: str, language: Language) -> Iterator[tuple[str, str, bool]]:
    """Yield the telling words: as written, lower-cased and bare, and whether it stands there as the name of a thing."""
    before = ""
    text = lowered(text) if text.isupper() else text
    for found in _TOKEN.finditer(text):
        written = found.group()
        written = written.lower() if written.isupper() and len(written) >= _SHOUTED else written
        whole = without_possessive(lowered(written))
        plain = without_elision(whole, language)
        large = written[0].isupper() and not written.isupper() and not _BEGINS.search(text[: found.start()])
        named = before in language.determiners or plain != whole or large
        if _can_name(plain, language):
            yield (plain if plain != lowered(written) else written), plain, named
        before = whole


def _can_name(plain: str, language: Language) -> bool:
    """Return whether a word can name what is spoken of: no stop word, no "mr", no day, no number."""
    if len(plain) < _SHORTEST or plain in language.stop_words or language.honorifics.fullmatch(plain):
        return False
    counts = plain in language.time.get("numbers", {}) or plain in language.ordinals
    return not counts and not is_time_word(plain, language)


def _fits(word: str, words: Sequence[str]) -> bool:
    same = any(lowered(word)[:_SAME_CHARS] == lowered(other)[:_SAME_CHARS] for other in words)
    return not same and len(", ".join([*words, word])) <= TITLE_MAX_CHARS
