"""What the conversation is about, in its own words: topics that rise, decay, and shift. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory.language.intents import is_request
from memory.language.language import Language
from memory.language.sentences import Sentence, lowered, stems_of, words_of
from memory.types import Topic

MAX_TOPICS = 8
MAX_PHRASE_WORDS = 3
DECAY = 0.8
"""Weight that a topic keeps over a turn that does not touch it."""
SHIFT_DECAY = 0.55
"""The same when the turn starts another topic."""
FAINT = 0.08
"""Below this weight a topic is forgotten."""
MOST_NEW_WORDS = 5
"""More new content words of a message say no more."""
WEAK = 0.4
"""What a phrase that ends like a verb weighs against one that does not."""
_MIN_LETTERS = 3


@dataclass(frozen=True, slots=True)
class ShiftSigns:
    """What speaks for another topic and against it. Found by measuring on talk between strangers."""

    new_word: float = 0.16
    latest: float = 0.8
    """A word of the message before comes back."""
    answering: float = 0.7
    """The message before asked something."""
    answer: float = 1.1
    """It did, and this message does not ask back."""
    opens: float = 0.85
    """A question in full."""
    to_you: float = 1.25
    """It is about the other one."""
    leaning: float = 0.75
    """It says "it", "that", "too": it goes on with what was said."""
    returned: float = 0.9
    """It hands a question back: "and you?"."""
    asked_latest: float = 1.1
    """It takes up a word of the message before."""
    empty: float = 0.9
    """It has no word with a meaning of its own."""
    enough: float = 0.5


SHIFT_SIGNS = ShiftSigns()
_ASSISTANT_SHARE = 0.4


def _is_term(word: str) -> bool:
    return len(word) >= _MIN_LETTERS and not any(ch.isdigit() for ch in word)


def _runs(sentence: Sentence) -> Iterable[tuple[str, ...]]:
    """Yield stretches of neighbouring content words, at most three words each."""
    content = {word for word in sentence.content if _is_term(word)}
    run: list[str] = []
    for word, joined in zip(sentence.words, sentence.joined, strict=True):
        if run and (not joined or word not in content):
            yield tuple(run[-MAX_PHRASE_WORDS:])
            run = []
        if word in content:
            run.append(word)
    if run:
        yield tuple(run[-MAX_PHRASE_WORDS:])


def key_phrases(sentences: Sequence[Sentence], language: Language, limit: int = 5) -> tuple[tuple[str, float], ...]:
    """Return the phrases that carry a text, best first, with a weight of 0..1; none for a language without stop words.

    Words that come back, stand together or are written like a name weigh more.
    """
    frequency: dict[str, int] = {}
    for sentence in sentences:
        for word in sentence.content:
            frequency[word] = frequency.get(word, 0) + 1
    scores: dict[str, float] = {}
    for sentence in sentences:
        for run in _runs(sentence):
            phrase = " ".join(run)
            named = any(f" {word.capitalize()}" in f" {sentence.text}"[2:] for word in run)
            weight = sum(frequency[word] for word in run) ** 0.5 + 0.5 * named
            weak = bool(language.weak_endings) and run[-1].endswith(language.weak_endings)
            scores[phrase] = scores.get(phrase, 0.0) + (WEAK if weak else 1.0) * weight
    best = max(scores.values(), default=1.0)
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return tuple((phrase, round(score / best, 4)) for phrase, score in ranked[:limit])


@lru_cache(maxsize=4_096)
def _stems(name: str, language: Language) -> frozenset[str]:
    return stems_of(words_of(lowered(name)), language)


def _match(topics: Sequence[Topic], stems: frozenset[str], language: Language) -> int | None:
    for index, topic in enumerate(topics):
        own = _stems(topic.name, language)
        if own and len(own & stems) * 2 >= min(len(own), len(stems)):
            return index
    return None


def is_shift(topics: Sequence[Topic], sentences: Sequence[Sentence], language: Language, *, answering: bool) -> bool:
    """Return whether the message starts another topic than the active ones; it looks only at the past.

    What speaks for it and against it adds up (`ShiftSigns`). A phrase like "by the way" makes one new word enough.
    """
    if not topics:
        return False
    said = _all_stems(sentences)
    known = frozenset[str]().union(*(_stems(topic.name, language) for topic in topics))
    if any(language.has("shift", sentence.lower) for sentence in sentences):
        return bool(said - known)
    last_seq = max(topic.last_seq for topic in topics)
    latest = frozenset[str]().union(*(_stems(topic.name, language) for topic in topics if topic.last_seq == last_seq))
    asking = [sentence for sentence in sentences if sentence.asks or is_request(sentence, language)]
    signs = SHIFT_SIGNS
    score = signs.new_word * min(MOST_NEW_WORDS, len(said - known)) - signs.latest * bool(said & latest)
    score -= signs.answering * answering
    if asking:
        score += _asked_again(asking, latest, language)
    elif answering:
        score -= signs.answer
    return score >= signs.enough


def _asked_again(asking: Sequence[Sentence], latest: frozenset[str], language: Language) -> float:
    """Return how much the questions of a message speak for another topic."""
    signs = SHIFT_SIGNS
    about = _all_stems(asking)
    score = signs.opens * any(language.has("question", sentence.lower) for sentence in asking)
    score += signs.to_you * any(language.has("to_you", sentence.lower) for sentence in asking)
    score -= signs.leaning * any(language.has("leaning", sentence.lower) for sentence in asking)
    score -= signs.returned * any(language.has("returned", sentence.lower) for sentence in asking)
    score -= signs.asked_latest * bool(about & latest)
    return score - (0.0 if about else signs.empty)


def _all_stems(sentences: Sequence[Sentence]) -> frozenset[str]:
    return frozenset[str]().union(*(sentence.stems for sentence in sentences))


def touch(
    topics: Sequence[Topic],
    user: Sequence[Sentence],
    assistant: Sequence[Sentence],
    seq: int,
    language: Language,
    *,
    shifted: bool,
) -> tuple[Topic, ...]:
    """Return the topics after a turn: touched ones rise, the others decay, faint ones are forgotten; at most eight."""
    decay = SHIFT_DECAY if shifted else DECAY
    weights: dict[str, float] = dict(key_phrases(user, language))
    for phrase, weight in key_phrases(assistant, language, limit=3):
        weights[phrase] = max(weights.get(phrase, 0.0), round(weight * _ASSISTANT_SHARE, 4))
    result = [topic.model_copy(update={"weight": round(topic.weight * decay, 4)}) for topic in topics]
    for phrase, weight in weights.items():
        index = _match(result, _stems(phrase, language), language)
        if index is None:
            result.append(Topic(name=phrase, weight=round(0.6 * weight, 4), first_seq=seq, last_seq=seq))
        else:
            raised = min(1.0, round(result[index].weight + 0.5 * weight, 4))
            result[index] = result[index].model_copy(update={"weight": raised, "last_seq": seq})
    kept = sorted((topic for topic in result if topic.weight >= FAINT), key=lambda t: (-t.weight, -t.last_seq, t.name))
    return tuple(kept[:MAX_TOPICS])


def title(topics: Sequence[Topic], count: int = 3) -> str:
    """Return the names of the heaviest topics, e.g. `trip to Rome, budget`; empty when there are none."""
    best = sorted(topics, key=lambda topic: (-topic.weight, topic.first_seq))[:count]
    return ", ".join(topic.name for topic in best)
