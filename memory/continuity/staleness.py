"""The reasons to make a bootstrap again or not: fingerprint, staleness, the gate of the heartbeat."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import NamedTuple

from memory.continuity.types import PROMPT_VERSION, BootstrapInputs, BootstrapOwner, CachedBootstrap
from memory.ledger.views import DAY_MS


class RefreshDecision(NamedTuple):
    """A yes or no, and the reason in a few words for the log."""

    go: bool
    reason: str


class Workload(NamedTuple):
    """The work that keeps the process busy just now."""

    running_turns: int = 0
    waiting_messages: int = 0
    pending_summaries: int = 0
    """Sessions whose fold or compaction is due."""
    pending_readings: int = 0
    """Sessions that fell quiet and are not read yet."""
    idle_ms: int | None = None
    """Time since the last message; None = there was none since the start."""
    load: float | None = None
    """Load of the machine per core, if it is known."""


IDLE_MIN_MS = 20_000
LOAD_MAX = 1.5


def heartbeat_decision(workload: Workload) -> RefreshDecision:
    """Decide whether continuity may be generated now: only when idle, with nothing waiting to be analysed (001)."""
    checks = (
        (workload.running_turns > 0, "a turn is running"),
        (workload.waiting_messages > 0, "a message is waiting"),
        (workload.pending_summaries > 0, "summaries are pending"),
        (workload.pending_readings > 0, "sessions are to be read"),
        (workload.idle_ms is not None and workload.idle_ms < IDLE_MIN_MS, "not idle long enough"),
        (workload.load is not None and workload.load > LOAD_MAX, "the machine is under load"),
    )
    return next(
        (RefreshDecision(go=False, reason=reason) for busy, reason in checks if busy),
        RefreshDecision(go=True, reason="idle"),
    )


def fingerprint(owner: BootstrapOwner, inputs: BootstrapInputs) -> str:
    """Return a digest of the prompt version, the persona and the identity and time of every input.

    A session that went on, a changed note, a new day, a dropped arc or another persona gives another digest.
    """
    stamp = {
        "prompt": PROMPT_VERSION,
        "owner": owner.artifact_key,
        "persona": owner.persona.model_dump(mode="json"),
        "sessions": [[one.session_id, one.last_turn_at_ms, one.turn_count, one.title] for one in inputs.sessions],
        "ledger": [inputs.version, inputs.now_ms // DAY_MS, inputs.zone],
        "dropped": sorted(one.arc_id for one in inputs.dropped),
    }
    text = json.dumps(stamp, sort_keys=True, ensure_ascii=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def staleness(cached: CachedBootstrap | None, now_fingerprint: str, newest_input_at_ms: int) -> RefreshDecision:
    """Decide whether the cache must be made again: missing, older than an input, or made from other inputs (001)."""
    if cached is None:
        return RefreshDecision(go=True, reason="never generated")
    if newest_input_at_ms > cached.generated_at_ms:
        return RefreshDecision(go=True, reason="a summary or memory is newer")
    if cached.fingerprint != now_fingerprint:
        return RefreshDecision(go=True, reason="the inputs changed")
    return RefreshDecision(go=False, reason="fresh")
