"""The side of the bot that the HTTP service needs; `bot.app.App` has it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from bot.features.continuity.gate import ContinuityGate
from bot.intake.updates import Envelope
from bot.ops.workspace import Workspace
from bot.settings import Settings
from bot.turns.services import Services


class HealthProblem(Protocol):
    """A reason why messages cannot be taken or answered; `str` gives its kind with its sentence."""

    @property
    def kind(self) -> str:
        """The fault in a word, without a path or a driver's sentence: for those who do not know the token."""
        ...

    @property
    def sentence(self) -> str:
        """The fault for somebody who reads it."""
        ...


class HealthReport(Protocol):
    """The health of the bot: `ok`, its problems, and figures for those who know the token."""

    @property
    def ok(self) -> bool:
        """Whether messages are taken and answered."""
        ...

    @property
    def problems(self) -> Sequence[HealthProblem]:
        """The faults."""
        ...

    @property
    def detail(self) -> dict[str, Any]:
        """Figures by name."""
        ...


class Served(Protocol):
    """One running bot."""

    settings: Settings

    @property
    def services(self) -> Services:
        """The services of the features."""
        ...

    @property
    def continuity_gate(self) -> ContinuityGate:
        """The gate that asks before a conversation is carried forward."""
        ...

    def health(self) -> HealthReport:
        """Return the health of the bot now."""
        ...

    async def take_webhook(self, body: bytes) -> None:
        """Write one update down. Raises `NotTaken` when it cannot be, and `Malformed`."""
        ...

    async def take_local(self, raw: dict[str, Any]) -> Envelope:
        """Write down and hand on a message that came over HTTP; one that is known already changes nothing.

        Raises `StorageUnavailable`: nothing was taken.
        """
        ...

    async def reopen(self, turn_id: str) -> None:
        """Put a parked turn back to work. Raises `StorageUnavailable`."""
        ...

    async def replay(self, update_id: int) -> None:
        """Work on an update that was put back into the inbox. Raises `StorageUnavailable`."""
        ...

    def alone(self, conversation_id: str) -> AbstractAsyncContextManager[None]:
        """Let no turn be under way in a conversation meanwhile."""
        ...

    def workspace(self) -> Workspace:
        """Return the workspace of the operator's commands, over this bot's own connection."""
        ...
