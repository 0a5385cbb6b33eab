"""Planted faults of calls, so that a test can show how the bot takes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """Kinds of faults. `LOST_ANSWER`, `HANG_AFTER` and `MALFORMED` come after the effect, the others instead of it."""

    LOST_ANSWER = "lost_answer"
    DROPPED = "dropped"
    TOO_MANY = "too_many"
    SERVER_ERROR = "server_error"
    BAD_GATEWAY = "bad_gateway"
    HANG = "hang"
    HANG_AFTER = "hang_after"
    FORBIDDEN = "forbidden"
    MALFORMED = "malformed"
    REFUSED = "refused"
    CONFLICT = "conflict"
    UNAUTHORIZED = "unauthorized"

    @property
    def has_effect(self) -> bool:
        """Whether the call still has its effect."""
        return self in (Kind.LOST_ANSWER, Kind.HANG_AFTER, Kind.MALFORMED)


@dataclass(slots=True)
class Fault:
    """One plan: from the `nth` matching call on, `times` calls (None = all) go wrong."""

    method: str
    kind: Kind
    nth: int = 1
    times: int | None = 1
    chat_id: int | None = None
    retry_after_s: int = 1
    with_params: tuple[str, ...] = ()
    """Only calls that carry one of these parameters."""
    words: str = "unsupported parameter"
    """The text of a refusal."""
    seen: int = 0
    hits: int = 0

    def strikes(self, method: str, params: dict[str, Any]) -> bool:
        """Count the call and say whether it goes wrong. `*` matches every method."""
        if self.method not in ("*", method):
            return False
        if self.chat_id is not None and self.chat_id != params.get("chat_id"):
            return False
        if self.with_params and not any(params.get(name) for name in self.with_params):
            return False
        self.seen += 1
        if self.seen < self.nth or (self.times is not None and self.hits >= self.times):
            return False
        self.hits += 1
        return True


@dataclass(slots=True)
class Faults:
    """All plans of a server."""

    planted: list[Fault] = field(default_factory=list)

    def plant(
        self,
        method: str,
        kind: Kind | str,
        *,
        nth: int = 1,
        times: int | None = 1,
        chat_id: int | None = None,
        retry_after_s: int = 1,
        with_params: tuple[str, ...] = (),
        words: str = "unsupported parameter",
    ) -> Fault:
        """Plan a fault, counted from now; its `hits` say how often it struck."""
        fault = Fault(method, Kind(kind), nth, times, chat_id, retry_after_s, tuple(with_params), words)
        self.planted.append(fault)
        return fault

    def strike(self, method: str, params: dict[str, Any]) -> Fault | None:
        """Return the fault that this call meets; every plan counts the call."""
        struck = [fault for fault in self.planted if fault.strikes(method, params)]
        return struck[0] if struck else None

    def clear(self) -> None:
        """Forget all plans."""
        self.planted.clear()
