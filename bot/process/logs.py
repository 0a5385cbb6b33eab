"""Logging: structlog everywhere, with session, turn and update ids; never a token, never a message's text at INFO."""

from __future__ import annotations

import logging
import os
import re
import sys
import traceback
from collections.abc import Iterable, MutableMapping
from typing import Any, Literal

import stamina
import stamina.instrumentation
import structlog
from pydantic import SecretStr
from stamina.instrumentation import RetryDetails

_TOKEN = re.compile(r"\d{3,20}(?::|%3A)[A-Za-z0-9_-]{30,64}", re.IGNORECASE)
_SECRET_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)S?$", re.IGNORECASE)
_SECRET_MIN_CHARS = 8
_NOISY = ("httpx", "httpx2", "httpcore", "httpcore2", "openai", "aiohttp.access", "uvicorn.access")
_OWN = ("bot", "memory", "__main__")
_PLAIN = (
    OSError,
    ImportError,
    AttributeError,
    NameError,
    TypeError,
    RuntimeError,
    ArithmeticError,
    IndexError,
    MemoryError,
)
"""Python's own errors whose messages speak of code and files; values, keys and foreign errors may repeat a message."""
_ROOTS = ("builtins", "asyncio", "socket", "ssl", "sqlite3", "telegram")
LEFT_OUT = "(left out: it may repeat what somebody wrote; DEBUG shows it)"


class _Secrets:
    """Secrets that must stand in no line: masked by value, since a library may log them in any form."""

    def __init__(self) -> None:
        self._values: re.Pattern[str] | None = None

    def learn(self, values: Iterable[str]) -> None:
        """Mask these values from now on."""
        found = sorted({value for value in values if len(value) >= _SECRET_MIN_CHARS}, key=len, reverse=True)
        self._values = re.compile("|".join(map(re.escape, found))) if found else None

    def masked(self, text: str) -> str:
        """Return the text with each of them as `<secret>`."""
        return self._values.sub("<secret>", text) if self._values else text


_secrets = _Secrets()


def redact(text: str) -> str:
    """Return the text with every known secret, and everything that looks like a bot token, masked."""
    return _secrets.masked(_TOKEN.sub("<token>", text))


def _redact_event(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key, value in event.items():
        if isinstance(value, str):
            event[key] = redact(value)
    return event


def error_in_words(error: BaseException, *, whole: bool) -> str:
    """Return traceback and kind of an error and of its causes; messages that may repeat a person's words if `whole`.

    Never raises.
    """
    parts: list[str] = []
    link: BaseException | None = error
    while link is not None and len(parts) < 20:  # noqa: PLR2004 - a chain that long tells nothing more
        trace = "".join(traceback.format_tb(link.__traceback__))
        parts.append(f"{trace}{type(link).__module__}.{type(link).__qualname__}: {_message(link, whole=whole)}")
        inner = getattr(link, "exceptions", ()) if isinstance(link, BaseExceptionGroup) else ()
        parts += [error_in_words(each, whole=whole) for each in inner]
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return "\n\ncaused:\n\n".join(reversed(parts))


def _message(error: BaseException, *, whole: bool) -> str:
    root = type(error).__module__.partition(".")[0]
    plain = root in _ROOTS and (isinstance(error, _PLAIN) or root in ("sqlite3", "telegram"))
    if not (whole or root in _OWN or plain):
        return LEFT_OUT
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an error that cannot say what it is must not hide itself
        return "(it cannot be told)"


def _log_retry(details: RetryDetails) -> None:
    """Log the kind of a failed try: a provider's answer may hold a person's words."""
    error = details.caused_by
    cause = f"{type(error).__name__}: {_message(error, whole=False)}"
    log = structlog.get_logger("retry")
    log.warning("trying again", cause=cause, tries=details.retry_num, wait_s=round(details.wait_for, 1))


def set_up(
    level: str = "INFO", style: Literal["console", "json"] = "console", *, secrets: Iterable[SecretStr | None] = ()
) -> None:
    """Send all logging, ours and the libraries', to standard error in one format.

    `secrets`, and every variable of the environment that is named like one, appear in no line at any level.
    """
    given = [secret.get_secret_value() for secret in secrets if secret is not None]
    _secrets.learn([*given, *(value for name, value in os.environ.items() if _SECRET_NAMES.search(name))])
    stamina.instrumentation.set_on_retry_hooks([_log_retry])
    whole = level == "DEBUG"
    json, console = structlog.processors.JSONRenderer, structlog.dev.ConsoleRenderer
    last: Any = json() if style == "json" else console(colors=sys.stderr.isatty())
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
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder()],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.ExceptionRenderer(lambda found: error_in_words(found[1], whole=whole)),
            _redact_event,
            last,
        ],
    )
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
