"""What somebody says instead of tapping a button of the preview: "yes please", "continue", "start fresh". Pure."""

from __future__ import annotations

from typing import Final, Literal

from bot import replies
from memory.language.intents import is_short, read_sentences, reply_sign
from memory.language.languages import Languages

Choice = Literal["use", "fresh"]

_LABELS: Final[tuple[tuple[Choice, tuple[str, ...]], ...]] = (
    ("use", ("carry_on", "go_on", "carry_forward")),
    ("fresh", ("start_fresh", "fresh_start")),
)
_ENDS: Final = " .!,…"
LONGEST: Final = 3
"""Words of an answer that says nothing else."""


def choice_in(text: str, languages: Languages) -> Choice | None:
    """Return what a message chooses: a button by its words, "go on" in any language, a yes or no; None for all else."""
    bare = text.strip(_ENDS).casefold()
    for choice, labels in _LABELS:
        if any(bare == label.casefold() for key in labels for label in replies.every(key)):
            return choice
    if any(language.has("carries_on", bare) for language in languages):
        return "use"
    language = languages.detect(text, default=replies.spoken())
    sentences = read_sentences(text, language)
    content = sum(len(sentence.content) for sentence in sentences)
    if not is_short(sentences) or content > 1 or sum(len(sentence.words) for sentence in sentences) > LONGEST:
        return None
    sign = reply_sign(sentences, language)
    return {"yes": "use", "no": "fresh"}.get(sign or "")  # type: ignore[return-value]  # the values are choices
