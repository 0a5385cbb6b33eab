"""Checks of a bot at work: its lock, its workers, its backlog, the keeper, the clock. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.ops.checks.check import Check
from bot.ops.format import joined
from bot.ops.runs.failures import cause_of
from bot.replies import ago, plural

STUCK_MS = 10 * 60_000


FUTURE_MS = 5 * 60_000


def clock(latest_ms: int, now_ms: int) -> Check:
    """Judge the machine's clock by the time of the latest turn."""
    if latest_ms > now_ms + FUTURE_MS:
        ahead = ago(latest_ms - now_ms).removesuffix(" ago")
        return Check("clock", "warn", f"the last turn was stored {ahead} in the future", "set the machine's clock")
    return Check("clock", "ok", "no turn lies in the future")


def keeper(model: str, last: Sequence[str]) -> Check:
    """Judge the answers of the model that keeps the notes; `last` has the errors of its last readings, "" for none."""
    name = "keeper"
    if last and all(error == "ContractBroken" for error in last):
        says = f"{model} kept no notes {len(last)} times in a row, so rules keep them until the next start"
        return Check(name, "warn", says, "name a stronger model in CONTINUITY_MEMORY_MODEL and start again")
    if last and all(last):
        why, remedy = cause_of(last[0])
        return Check(name, "warn", f"{model} failed {len(last)} times in a row: {why}", remedy)
    return Check(name, "ok", f"{model} keeps the notes")


def workers(lines: Sequence[str], silent: Sequence[str], kept: int) -> Check:
    """Judge the processes that share the work: the `silent` ones, and the number that polls and keeps time."""
    if silent:
        return Check("workers", "warn", f"silent: {joined(silent)}", "the others take its work up within seconds")
    if lines and kept != 1:
        do = "look again in a few seconds; if it stays so, look at their logs"
        return Check("workers", "warn", "nobody polls or keeps time just now", do)
    return Check("workers", "ok", joined(lines) if lines else "nobody is at work")


def lock(*, runs: bool, pid: int | None, boots: int, stopped_cleanly: bool) -> Check:
    """Judge the lock and how the last run ended."""
    if runs:
        return Check("lock", "ok", f"held by the running bot{f' (process {pid})' if pid else ''}")
    if boots and not stopped_cleanly:
        return Check("lock", "warn", "free, but the last run did not stop in order", "start it: it carries on")
    return Check("lock", "ok", "free: the bot is not running")


def traffic(inbox: Mapping[str, int], outbox: Mapping[str, int], oldest_ms: int | None, *, runs: bool) -> list[Check]:
    """Judge waiting updates and parts: `oldest_ms` is the age of the oldest unfinished update."""
    quarantined, failed = inbox.get("quarantined", 0), outbox.get("failed", 0)
    checks = []
    if quarantined:
        do = "`continuity-bot quarantine list`"
        checks.append(Check("inbox", "warn", f"{plural(quarantined, 'update')} given up on", do))
    if runs and oldest_ms is not None and oldest_ms > STUCK_MS:
        do = "look at the log; a restart takes it up again"
        checks.append(Check("inbox", "warn", f"a message came {ago(oldest_ms)} and still waits", do))
    if failed:
        says = f"{plural(failed, 'message part')} refused by Telegram for good"
        checks.append(Check("outbox", "warn", says, "see the log for the reason"))
    return checks or [Check("inbox", "ok", "nothing was given up on and nothing is stuck")]


def tasks(number: int, paused: int, *, by_model: bool) -> list[Check]:
    """Judge the tasks by the clock; no check where there are none."""
    if not number:
        return []
    if not by_model:
        do = "set CONTINUITY_MODEL, or let people stop them with /tasks"
        return [Check("tasks", "warn", f"{plural(number, 'task')} cannot run without a language model", do)]
    if paused:
        do = "look at the log for why; people go on with /tasks"
        return [Check("tasks", "warn", f"{paused} of {plural(number, 'task')} paused after failures", do)]
    return [Check("tasks", "ok", f"{plural(number, 'task')} by the clock")]
