"""Plug-in of the summary benchmark: the gist of a dialogue by the code that the bot's rolling summary uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory.search.languages import Languages
from memory.sessions.summarizer import Spoken, gist_of, sentences_of

SENTENCES = 3


def summarizer(turns: Sequence[Mapping[str, str]], max_words: int | None = None) -> str:
    """Return the sentences that say most as reported speech; with `max_words` as many as fit, at least one."""
    languages = Languages.load()
    language = languages.detect(" ".join(turn["text"] for turn in turns))
    said = []
    for place, turn in enumerate(turns):
        said += sentences_of(turn["text"], place, turn["speaker"], language)
    count = SENTENCES
    if max_words is not None:
        count = max((n for n in range(1, len(said) + 1) if _words(_told(said, n)) <= max_words), default=1)
    return " ".join(_told(said, count))


def _told(said: Sequence[Spoken], count: int) -> list[str]:
    return [f"{each.speaker}: {each.text}" for each in gist_of(said, count)]


def _words(sentences: Sequence[str]) -> int:
    return sum(len(sentence.split()) for sentence in sentences)
