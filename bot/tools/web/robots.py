"""The rules of a site for programs that read it (RFC 9309), for one user agent. Pure.

Patterns are matched from part to part and never go back: a hostile file cannot make a match take long, as it could with
libraries that turn it into regular expressions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

MAX_BYTES: Final = 500 * 1024
"""Bytes behind it are not read."""
Rule = tuple[str, bool]
"""A pattern, and whether it allows."""


def allows(text: str, agent: str, path: str) -> bool:
    """Return whether `robots.txt` lets this agent read a path (with its query): of the rules that fit, the longest."""
    if path == "/robots.txt":
        return True
    groups = list(_groups(text))
    agent = agent.lower()
    own = [rule for agents, rules in groups for rule in rules if agent in agents]
    named = any(agent in agents for agents, _ in groups)
    rules = own if named else [rule for agents, rules in groups for rule in rules if "*" in agents]
    fitting = [(len(pattern), allowed) for pattern, allowed in rules if fits(pattern, path)]
    return max(fitting, default=(0, True))[1]


def fits(pattern: str, path: str) -> bool:
    """Return whether a pattern with `*` and a last `$` fits the beginning of a path."""
    to_end = pattern.endswith("$")
    first, *parts = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    if not parts:
        return not to_end or path == first
    at, last = len(first), parts.pop() if to_end else None
    for part in parts:
        found = path.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return last is None or (path.endswith(last) and len(path) - len(last) >= at)


def _groups(text: str) -> Iterator[tuple[set[str], list[Rule]]]:
    agents: set[str] = set()
    rules: list[Rule] = []
    closed = False
    for line in text.lstrip("\ufeff").splitlines():
        name, colon, value = line.partition("#")[0].partition(":")
        name, value = name.strip().lower(), value.strip()
        if not colon:
            continue
        if name == "user-agent":
            if closed:
                yield agents, rules
                agents, rules, closed = set(), [], False
            agents.add(value.partition("/")[0].strip().lower())
        elif name in {"allow", "disallow"}:
            closed = True
            rules += [(value, name == "allow")] if value else []
    yield agents, rules
