"""`GET /metrics`: the counters, and figures of the database at the moment of asking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from bot.http.problems import responses
from bot.http.served import Served
from bot.meters.meters import CONTENT_TYPE
from bot.ops.runs.workers import read_workers
from memory.ports import Row

_BOXES = {"inbox": "Updates", "outbox": "Message parts"}


def metrics_route(bot: Served) -> APIRouter:
    """Return the route over one bot."""
    routes = APIRouter(tags=["operation"], responses=responses(401, 503))

    @routes.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Return all meters in the text format of Prometheus."""
        await _read(bot)
        return Response(bot.services.meters.text(), media_type=CONTENT_TYPE)

    return routes


async def _read(bot: Served) -> None:
    """Set the figures of the database. Raises `StorageUnavailable`."""
    db, gauge, now_ms = bot.services.db, bot.services.meters.gauge, bot.services.clock.now_ms()
    for box, what in _BOXES.items():
        rows = await db.read(f"ops_{box}")
        gauge(f"continuity_{box}_rows", f"{what} by state.", _by(rows, "state", "n"), "state")
        ages = {row["state"]: max(0, now_ms - row["oldest_at_ms"]) / 1000 for row in rows if row["state"] != "done"}
        gauge(f"continuity_{box}_oldest_seconds", f"Age of the oldest of them, by state; {box}.", ages, "state")
    rows = await db.read("metrics_turns")
    gauge("continuity_stored_turns", "Turns in the database.", _by(rows, "model", "turns"), "model")
    rows = await db.read("metrics_compactions")
    gauge("continuity_compactions", "Compactions in the database.", _by(rows, "method", "n"), "method")
    rows = await db.read("metrics_starts")
    gauge("continuity_starts", "Starts by how they ended.", _by(rows, "ended", "n"), "ended")
    there = await read_workers(bot.workspace().memory.db)
    chats = {worker.place: float(worker.chats) for worker in there}
    gauge("continuity_worker_chats", "Chats that each worker holds; none on a file.", chats, "worker")
    silent = {worker.place: worker.silent_ms / 1000 for worker in there}
    gauge("continuity_worker_silent_seconds", "Since when a worker has not said that it is alive.", silent, "worker")
    report = bot.health().detail.get("start", {})
    found = {name: float(n) for name, n in report.items() if isinstance(n, int)}
    gauge("continuity_recovered", "What the last start found and took up.", found, "what")
    gauge("continuity_healthy", "1 when messages are taken and answered.", {"": float(bot.health().ok)})


def _by(rows: Iterable[Row], label: str, value: str) -> Mapping[str, float]:
    return {str(row[label]): float(row[value]) for row in rows}
