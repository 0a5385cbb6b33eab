"""A feature: commands by name, button actions by name. `joining/` joins them, dispatch and buttons call them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from bot.intake.updates import Envelope
from memory.ports import Statement

Command = Callable[[Envelope], Awaitable[None]]
"""Ends in one transaction that finishes the envelope (`Committer.done`). Raises `Conflict` if that was done before."""


@dataclass(frozen=True, slots=True)
class Tap:
    """A tap that was looked up and is allowed. The action commits `use` together with its changes."""

    envelope: Envelope
    use: Statement
    """Uses up all buttons of the message; a second tap makes the transaction a `Conflict`."""
    payload: dict[str, Any]


Action = Callable[[Tap], Awaitable[bool | str | None]]
"""True when it shows the tapped message again with buttons of its own; otherwise the buttons are taken away.

A string is the name of the sentence that the tap is told instead of "done".
"""


class Feature(Protocol):
    """One group of things that a person can do."""

    @property
    def commands(self) -> Mapping[str, Command]:
        """Commands by name, without the slash."""
        ...

    @property
    def actions(self) -> Mapping[str, Action]:
        """Button actions by name."""
        ...


def commands_of(features: Iterable[Feature]) -> dict[str, Command]:
    """Return the commands of all features. Raises ValueError when two offer the same one."""
    return _joined(feature.commands for feature in features)


def actions_of(features: Iterable[Feature]) -> dict[str, Action]:
    """Return the button actions of all features. Raises ValueError when two offer the same one."""
    return _joined(feature.actions for feature in features)


def _joined(tables: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    joined: dict[str, Any] = {}
    for table in tables:
        if twice := joined.keys() & table.keys():
            raise ValueError(f"offered by two features: {sorted(twice)}")
        joined.update(table)
    return joined
