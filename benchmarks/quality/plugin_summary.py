"""Plug-in of the summary benchmark: the gist of a dialogue by the code that the bot's rolling summary uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory.search.languages import Languages
from memory.sessions.summarizer import gist_of, sentences_of

SENTENCES = 3


def summarizer(turns: Sequence[Mapping[str, str]], max_words: int | None = None) -> str:
    """Return the sentences that say most as reported speech; with `max_words` as many as fit, at least one."""
    languages = Languages.load()
    speakers = list(dict.fromkeys(turn["speaker"] for turn in turns))
    language = languages.detect(" ".join(turn["text"] for turn in turns))
    said = []
    for place, turn in enumerate(turns):
        other = next((name for name in speakers if name != turn["speaker"]), "the other")
        said += sentences_of(turn["text"], place, turn["speaker"], other, language)
    count = SENTENCES
    if max_words is not None:
        count = max((n for n in range(1, len(said) + 1) if _words(gist_of(said, n)) <= max_words), default=1)
    return " ".join(gist_of(said, count))


def _words(sentences: Sequence[str]) -> int:
    return sum(len(sentence.split()) for sentence in sentences)
