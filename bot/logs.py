"""Logging: structlog everywhere, with session, turn and update ids; never a token, never a message's text at INFO."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any, Literal

import structlog

_TOKEN = re.compile(r"\d{3,20}:[A-Za-z0-9_-]{30,64}")
_NOISY = ("httpx", "httpx2", "httpcore", "httpcore2", "apscheduler", "openai", "aiohttp.access", "uvicorn.access")


def redact(text: str) -> str:
    """Return the text with everything that looks like a bot token masked."""
    return _TOKEN.sub("<token>", text)


def _redact_event(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key, value in event.items():
        if isinstance(value, str):
            event[key] = redact(value)
    return event


def set_up(level: str = "INFO", style: Literal["console", "json"] = "console") -> None:
    """Send all logging, ours and the libraries', to standard error in one format."""
    last: Any
    if style == "json":
        last = structlog.processors.JSONRenderer()
    else:
        last = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso"),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    final: list[Any] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if style == "json":
        final.append(structlog.processors.format_exc_info)
    formatter = structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[*final, _redact_event, last])
    handler = _RedactingHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)


class _RedactingHandler(logging.StreamHandler[Any]):
    """Masks tokens in the finished line too, since a traceback or a library may carry one."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))
