"""What the conversation is about, in its own words: topics that rise, decay, and shift. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from memory.language.intents import is_request
from memory.language.languages import Language
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
STATEMENT_NEW_WORDS = 5
"""New content words that a statement needs to start a topic."""
WEAK = 0.4
"""What a phrase that ends like a verb weighs against one that does not."""
_MIN_LETTERS = 3
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

    A question or request does when none of its content words are known and one is new; a statement needs five new
    words, and is never a shift when it follows a question (`answering`), whose answer brings new words anyway. A phrase
    like "by the way" makes one new word enough.
    """
    if not topics:
        return False
    asking = [sentence for sentence in sentences if sentence.asks or is_request(sentence, language)]
    announced = any(language.has("shift", sentence.lower) for sentence in sentences)
    said = _all_stems(asking or sentences)
    known = frozenset[str]().union(*(_stems(topic.name, language) for topic in topics))
    if announced:
        return bool(said - known)
    if said & known or (answering and not asking):
        return False
    return len(said - known) >= (1 if asking else STATEMENT_NEW_WORDS)


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
