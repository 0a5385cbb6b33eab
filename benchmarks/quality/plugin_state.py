"""Topic shifts and open-loop signs, exactly as the fold of a turn sees them."""

from __future__ import annotations

from collections.abc import Sequence

from memory.language.intents import read_sentences

from memory.search.languages import Languages
from memory.state import topics
from memory.types import Topic


def segmenter(utterances: Sequence[str]) -> list[int]:
    """Return 1 for each utterance that starts a new topic; each is judged before it is folded in."""
    languages = Languages.load()
    language = languages.get("en")
    active: tuple[Topic, ...] = ()
    marks = []
    asked = False
    for seq, text in enumerate(utterances, 1):
        sentences = read_sentences(text, language)
        shifted = topics.is_shift(active, sentences, language, answering=asked)
        active = topics.touch(active, sentences, (), seq, language, shifted=shifted)
        asked = any(sentence.asks for sentence in sentences)
        marks.append(int(shifted))
    return marks


def open_loops(sentence: str) -> set[str]:
    """Return the union of the signs of the sentence's parts."""
    language = Languages.load().get("en")
    return set().union(*(part.signs for part in read_sentences(sentence, language)))
