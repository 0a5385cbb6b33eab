"""`status`: whether the bot runs, the finds of its last start, unfinished work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from bot.meters.spent import NANODOLLARS
from bot.ops.runs.failures import FailedMessages, in_words, read_failures
from bot.ops.runs.workers import in_words as worker_in_words
from bot.ops.runs.workers import read_workers
from bot.ops.workspace import Workspace, running
from bot.replies import ago, plural
from memory.storage.place import shown

REPORT_WORDS = {
    "updates_recovered": ("update", "recovered"),
    "turns_resumed": ("turn", "resumed"),
    "turns_asked_about": ("old turn", "asked about"),
    "replies_to_send": ("reply part", "re-sent"),
    "replies_to_probe": ("reply part", "probed"),
    "sessions_resuming": ("session", "taken up again"),
    "sessions_rebuilt": ("session", "rebuilt"),
}


@dataclass(frozen=True, slots=True)
class Backlog:
    """Rows in one state, and since when the oldest of them is there."""

    count: int
    oldest_at_ms: int


@dataclass(frozen=True, slots=True)
class Boot:
    """One start of the bot; `stopped_at_ms` is None while it runs or when it died."""

    boot_id: str
    started_at_ms: int
    stopped_at_ms: int | None
    report: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Status:
    """Everything that `status` says."""

    database: str
    database_bytes: int
    running: bool
    pid: int | None
    boot: Boot | None
    start_report: tuple[str, ...]
    sessions: dict[str, int]
    turns: int
    inbox: dict[str, int]
    outbox: dict[str, int]
    unfinished: tuple[str, ...]
    failures: tuple[FailedMessages, ...]
    quarantined: int
    unreachable_chats: int
    reading: str
    """Cost and gain of reading by a model, "" when no model has read."""
    workers: tuple[str, ...]
    """On a server, the processes that share the work, in words."""
    reactions: dict[str, int]
    """Reactions under answers, and how often."""
    checkpoints: int
    checkpoints_set_aside: tuple[str, ...]
    now_ms: int


def report_in_words(report: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the finds of a start as short sentences; () when there was nothing to recover."""
    counted = [(report.get(name, 0), noun, done) for name, (noun, done) in REPORT_WORDS.items()]
    found = [f"{plural(count, noun)} {done}" for count, noun, done in counted if count]
    return (*found, *map(str, report.get("warnings", ())))


def unfinished_in_words(
    inbox: Mapping[str, Backlog], outbox: Mapping[str, Backlog], now_ms: int, *, runs: bool
) -> tuple[str, ...]:
    """Return the work still to be done, most urgent first; () when there is none."""
    when = "" if runs else " at the next start"
    lines = (
        (inbox.get("claimed"), "message", "being answered" if runs else "half answered: finished" + when),
        (inbox.get("received"), "message", "waiting to be answered" + when),
        (outbox.get("sending"), "message part", "on the way" if runs else "perhaps sent: probed" + when),
        (outbox.get("queued"), "message part", "waiting to be sent" + when),
        (inbox.get("parked"), "message", "waiting for the person's choice of what to carry on"),
        (outbox.get("failed"), "message part", "refused by Telegram for good"),
        (inbox.get("quarantined"), "update", "given up on, see `quarantine list`"),
    )
    return tuple(_line(waiting, noun, rest, now_ms) for waiting, noun, rest in lines if waiting and waiting.count)


def _line(waiting: Backlog, noun: str, rest: str, now_ms: int) -> str:
    age = ago(now_ms - waiting.oldest_at_ms)
    came = f"came {age}" if waiting.count == 1 else f"the first came {age}"
    return f"{plural(waiting.count, noun)} {rest} ({came})"


def reading_in_words(totals: Mapping[str, Any] | None, uses: Iterable[Mapping[str, Any]] = ()) -> str:
    """Return the cost of readings and summaries by a model, and the notes kept of them; "" when there were none."""
    of = {use["purpose"]: use for use in uses}
    words = []
    if totals and totals["n"]:
        tokens = totals["input_tokens"] + totals["output_tokens"]
        failed = f", {totals['failed']} failed" if totals["failed"] else ""
        kept = f"{plural(totals['kept'], 'note')} kept{failed}{_price(of.get('reading'))}"
        words.append(f"{plural(totals['n'], 'reading')} by a model, {tokens:,} tokens, {kept}")
    if summaries := of.get("summary"):
        n = summaries["n"]
        written = f"{n} {'summary' if n == 1 else 'summaries'} by a model"
        words.append(f"{written}, {summaries['tokens']:,} tokens{_price(summaries)}")
    return "; ".join(words)


def _price(use: Mapping[str, Any] | None) -> str:
    """Return the cost of a model's uses, as far as prices are known."""
    if use is None or use["unpriced"] == use["n"]:
        return ""
    least = "at least " if use["unpriced"] else ""
    return f", {least}${use['cost_nanodollars'] / NANODOLLARS:,.4f}"


def read_boot(row: Mapping[str, Any]) -> Boot:
    """Return the boot in a row; a report that cannot be read is empty."""
    try:
        report = orjson.loads(row["report_json"])
    except orjson.JSONDecodeError:
        report = {}
    return Boot(row["boot_id"], row["started_at_ms"], row["stopped_at_ms"], report if isinstance(report, dict) else {})


async def read_status(workspace: Workspace) -> Status:
    """Return the present state of the bot. Raises `StorageError`."""
    holder, now_ms = running(workspace.settings), workspace.memory.clock.now_ms()
    boots = [read_boot(row) for row in await workspace.memory.db.read("boots_latest", limit=1)]
    inbox, outbox = await _waiting(workspace, "ops_inbox"), await _waiting(workspace, "ops_outbox")
    failures = await read_failures(workspace.memory.db)
    counts = await workspace.memory.store.session_counts()
    unreachable = await workspace.memory.db.read_one("ops_unreachable")
    return Status(
        database=shown(workspace.settings.database),
        database_bytes=await workspace.memory.db.size_bytes(),
        running=holder is not None,
        pid=holder.pid if holder else None,
        boot=boots[0] if boots else None,
        start_report=report_in_words(boots[0].report) if boots else (),
        sessions={status: sessions for status, (sessions, _) in counts.items()},
        turns=sum(turns for _, turns in counts.values()),
        inbox={state: waiting.count for state, waiting in inbox.items()},
        outbox={state: waiting.count for state, waiting in outbox.items()},
        unfinished=(
            *in_words(failures, now_ms),
            *unfinished_in_words(_choices(inbox, failures), outbox, now_ms, runs=holder is not None),
        ),
        failures=failures,
        quarantined=inbox["quarantined"].count if "quarantined" in inbox else 0,
        unreachable_chats=unreachable["n"] if unreachable else 0,
        reading=reading_in_words(
            await workspace.memory.db.read_one("reading_totals"), await workspace.memory.db.read("model_use_totals")
        ),
        workers=tuple(worker_in_words(worker) for worker in await read_workers(workspace.memory.db)),
        reactions={row["emoji"]: row["n"] for row in await workspace.memory.db.read("reaction_counts")},
        checkpoints=len(workspace.memory.checkpoints.session_ids()),
        checkpoints_set_aside=tuple(workspace.memory.checkpoints.quarantined()),
        now_ms=now_ms,
    )


def _choices(inbox: Mapping[str, Backlog], failures: Sequence[FailedMessages]) -> dict[str, Backlog]:
    """The updates by state, parked ones without those that failed: the rest waits for a choice."""
    parked = inbox.get("parked")
    if parked is None:
        return dict(inbox)
    return {**inbox, "parked": Backlog(parked.count - sum(each.count for each in failures), parked.oldest_at_ms)}


async def _waiting(workspace: Workspace, query: str) -> dict[str, Backlog]:
    return {row["state"]: Backlog(row["n"], row["oldest_at_ms"]) for row in await workspace.memory.db.read(query)}
