"""Patterns that cannot hang: each is tried for at most 50 ms, over at most 2,000 characters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from re import Match as _Match
from re import Pattern as _Pattern
from typing import TYPE_CHECKING, Any, Final, TypeVar

import regex  # type: ignore[import-untyped]  # it has no types of its own
import structlog

MAX_CHARS: Final = 2_000
"""Characters that are read of a text, from its beginning."""
TIMEOUT_S: Final = 0.05
if TYPE_CHECKING:  # `regex` has no types of its own; they are those of `re`
    Pattern = _Pattern[str]
    Match = _Match[str]
else:
    Pattern, Match = regex.Pattern, regex.Match
timed_out: Final[list[str]] = []
"""Patterns that took too long in this process; the tests want none."""
_MOST_KEPT: Final = 100
_T = TypeVar("_T")
log = structlog.get_logger(__name__)


def compiled(pattern: str, parts: Mapping[str, str] | None = None) -> Pattern:
    """A pattern that ignores case; `{name}` stands for a line of `parts`, itself filled in. Raises `regex.error`."""
    for _ in range(3):  # parts of parts of parts
        for name, part in (parts or {}).items():
            pattern = pattern.replace(f"{{{name}}}", part)
    found: Pattern = regex.compile(pattern, regex.IGNORECASE | regex.V0)
    return found


def any_of(phrases: Iterable[str], parts: Mapping[str, str] | None = None) -> Pattern:
    """One pattern that finds any of the phrases at the borders of words; without phrases one that finds nothing."""
    longest_first = sorted(phrases, key=len, reverse=True)
    return compiled(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)" if longest_first else r"(?!)", parts)


def find(pattern: Pattern, text: str, start: int = 0) -> Match | None:
    """The first place where a pattern fits; None also when that took too long: the pattern is then in `timed_out`."""
    return _bounded(pattern, lambda timed: timed.search(text[:MAX_CHARS], start, timeout=TIMEOUT_S))


def whole(pattern: Pattern, text: str) -> Match | None:
    """The match of a whole text."""
    return _bounded(pattern, lambda timed: timed.fullmatch(text[:MAX_CHARS], timeout=TIMEOUT_S))


def every(pattern: Pattern, text: str) -> Iterator[Match]:
    """The first 50 places where a pattern fits, in their order, without overlap."""
    at = 0
    for _ in range(50):
        found = find(pattern, text, at)
        if found is None:
            return
        yield found
        at = max(found.end(), found.start() + 1)


def without(pattern: Pattern, text: str, by: str = " ") -> str:
    """The text with each fitting place replaced by these words; as it was when that took too long."""
    return _replaced(pattern, text, lambda _: by)


def rewritten(pattern: Pattern, text: str, template: str) -> str:
    r"""The text with each fitting place rewritten, `\1` in the template for a group; as it was after too long."""
    return _replaced(pattern, text, template)


def _replaced(pattern: Pattern, text: str, by: str | Callable[[Match], str]) -> str:
    replaced: str | None = _bounded(pattern, lambda timed: timed.sub(by, text, timeout=TIMEOUT_S))
    return text if replaced is None else replaced


def _bounded(pattern: Pattern, work: Callable[[Any], _T | None]) -> _T | None:
    try:
        return work(pattern)
    except TimeoutError:
        log.warning("a pattern took too long", pattern=pattern.pattern[:80])
        if len(timed_out) < _MOST_KEPT:
            timed_out.append(pattern.pattern)
        return None
