"""The plug-ins that scoring scripts load: thin wrappers over the code that the bot runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

Turn = Mapping[str, Any]


def retriever(turns: Sequence[Turn]) -> Callable[..., list[str]]:
    """Return `query(question, k=200, budget=None) -> turn ids`, best first, over a store that holds the turns."""
    build: Callable[[Sequence[Turn]], Callable[..., list[str]]] = _load("search", "retriever")
    return build(turns)


def semantic_retriever(turns: Sequence[Turn]) -> Callable[..., list[str]]:
    """Return the same as `retriever`, with the optional extra `semantic` on. Raises RuntimeError without it."""
    build: Callable[[Sequence[Turn]], Callable[..., list[str]]] = _load("search", "semantic_retriever")
    return build(turns)


def summarizer(turns: Sequence[Turn], max_words: int | None = None) -> str:
    """Return the rolling summary of the turns."""
    summary: str = _load("summary", "summarizer")(turns, max_words)
    return summary


def returning(case: Mapping[str, Any]) -> dict[str, Any]:
    """Play one person who comes back through the bot; return what they saw and what the model was given."""
    played: dict[str, Any] = _load("returning", "returning")(case)
    return played


def _load(part: str, name: str) -> Callable[..., Any]:
    """Import late, so that each measure runs without the others' parts."""
    function: Callable[..., Any] = getattr(import_module(f"benchmarks.quality.plugin_{part}"), name)
    return function
