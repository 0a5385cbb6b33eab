"""Compile beforehand what the first message in a language would otherwise wait for."""

from __future__ import annotations

from collections.abc import Iterable

from memory.language.language import Language
from memory.language.momentary import without_momentary
from memory.language.time_rules import rules_of


def compile_rules(languages: Iterable[Language]) -> None:
    """Compile the cues, time words and facts of these languages; half a second for all, so call it in a thread."""
    for language in languages:
        for patterns in (language.cues, language.actions):
            list(patterns.values())
        rules_of(language)
        language.mended("")  # its spelling
        without_momentary("", language)
        for fact in language.facts:
            fact.pattern  # noqa: B018 - compiled when it is looked at
