"""A connection to PostgreSQL: how it is opened, the form of queries and values there, the meaning of its errors."""

from __future__ import annotations

import os
import re
import socket
from typing import Any, Final

import psycopg
from psycopg import adapters, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.numeric import Int8Dumper
from psycopg_pool import PoolClosed, PoolTimeout

from memory.errors import Conflict, StorageDamaged, StorageError, StorageUnavailable, UnsafeSettings, Unstorable
from memory.storage.place import shown

CONNECT_TIMEOUT_S: Final = 5
IDLE_IN_TRANSACTION_MS: Final = 2_000
"""The server ends a transaction whose client has vanished or was stopped, so that nobody waits longer for its rows."""
LOCK_TIMEOUT_MS: Final = 2_000
"""A table that others keep locked so long is trouble, which `/health` tells; locks of ours last milliseconds."""
ADVICE = {
    "08": "the server cannot be reached; work goes on by itself when it answers",
    "57": "the server is stopping or starting; work goes on by itself when it answers",
    "53": "the server has no room left (disk, memory or connections); make room, work goes on by itself",
    "58": "the server reports a system error; look at its log",
    "25": "it is read-only (a standby?); name the primary",
    "28": "access is denied; check user and password of CONTINUITY_DATABASE_URL",
    "3D": "there is no such database; create it first",
    "3F": "there is no such schema; create it first",
    "40": "others were in the way too often; try again",
    "42501": "access is denied; the user needs all rights on its own schema",
    "55": "another session holds its lock; try again",
}
"""SQLSTATE, or its class → advice about a server that does not take a call just now."""
ROLLED_BACK: Final = ("40001", "40P01")
GONE: Final = ("08", "57")
UNIQUE: Final = "23505"
NOT_THERE: Final = ("42P01", "42703", "42883")
DAMAGE: Final = "XX"
OF_VALUES: Final = ("22", "23", "54")
"""Classes of SQLSTATE about the thing to be stored: a value, a constraint on it, a limit that it exceeds."""

_PARAMETER = re.compile(r"""'(?:[^']|'')*'|--[^\n]*|::|(?<![:\w]):([a-z_]\w*)|%""")


FOREIGN = (psycopg.Error, PoolTimeout, PoolClosed, OSError, ValueError, OverflowError)
"""Errors that the driver may throw for a statement, e.g. UnicodeEncodeError for a lone surrogate."""


def placeholders(text: str) -> str:
    """Return a query with `:name` parameters as psycopg wants it; strings, comments and casts stay as they are."""

    def replaced(match: re.Match[str]) -> str:
        if match[1]:
            return f"%({match[1]})s"
        return match[0].replace("%", "%%")

    return _PARAMETER.sub(replaced, text)


def translate(exc: BaseException, place: str, name: str) -> StorageError:
    """Return our error for a driver's: event, place, advice. Never raises, never tells a password."""
    state = getattr(exc, "sqlstate", None) or ""
    said = str(exc).partition("\n")[0]
    if state == UNIQUE:
        return Conflict(f"'{name}' met a row that exists already ({said}); nothing of this transaction was stored")
    if state.startswith(DAMAGE):
        return StorageDamaged(f"database {place}: it is damaged; stop and restore a backup ({said}, in '{name}')")
    if _is_about_a_value(exc, state):
        return Unstorable(f"database {place}: '{name}' was given a value that it does not take ({said})")
    lost = not state and isinstance(exc, (psycopg.OperationalError, psycopg.InterfaceError, OSError))
    advice = ADVICE["08"] if lost else ADVICE.get(state) or ADVICE.get(state[:2])
    if advice:
        return StorageUnavailable(f"database {place}: {advice} ({said}, in '{name}')")
    hint = "; its schema may be older than the program: migrate it" if state in NOT_THERE else ""
    return StorageError(f"database {place}: query '{name}' failed: {said}{hint}")


def _is_about_a_value(exc: BaseException, state: str) -> bool:
    if state:
        return state.startswith(OF_VALUES)
    return isinstance(exc, (psycopg.DataError, UnicodeError, OverflowError))


def is_gone(exc: BaseException) -> bool:
    """Return whether the connection is to blame, not the query."""
    if isinstance(exc, (PoolTimeout, OSError)):
        return True
    state = getattr(exc, "sqlstate", None)
    return isinstance(exc, (psycopg.OperationalError, psycopg.InterfaceError)) and (
        state is None or state.startswith(GONE)
    )


class _WholeNumbers(psycopg.adapt.Loader):
    """SUM of BIGINT comes as NUMERIC; it is a whole number."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text else int(text)


def adapted() -> psycopg.adapt.AdaptersMap:
    """Return how values are passed: every int as BIGINT, so that a statement is prepared once; sums as int."""
    own = psycopg.adapt.AdaptersMap(adapters)
    own.register_dumper(int, Int8Dumper)
    own.register_loader("numeric", _WholeNumbers)
    return own


def place() -> str:
    """Host and process id of this process."""
    return f"{socket.gethostname()} {os.getpid()}"


def connect_string(address: str, *, name: str = "continuity") -> str:
    """Return the address with the options of all our connections; the server's operators read `name`."""
    try:
        return make_conninfo(address, connect_timeout=CONNECT_TIMEOUT_S, application_name=name, keepalives_idle=5)
    except psycopg.ProgrammingError as exc:
        raise StorageUnavailable(f"{shown(address)} is no address of a database ({exc}); correct it") from None


def options(address: str, *, read_only: bool, waits_ms: int = 0) -> str:
    """Return the options of a connection: those of the address, then ours; `waits_ms` for a lock, 0 = as it lasts."""
    asked = str(conninfo_to_dict(address).get("options") or "")
    ours = f"-c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION_MS} -c timezone=UTC -c lock_timeout={waits_ms}"
    return f"{asked} {ours}{' -c default_transaction_read_only=on' if read_only else ''}".strip()


def look_at(address: str) -> dict[str, Any]:
    """Return the server's version and the settings that a commit's promise needs.

    Raises `UnsafeSettings` when one of them lets the server forget a confirmed commit, `StorageUnavailable`.
    """
    names = ("server_version", "fsync", "synchronous_commit", "full_page_writes", "max_connections", "data_checksums")
    try:
        with psycopg.connect(connect_string(address), autocommit=True) as connection:
            found: dict[str, Any] = {}
            for name in names:
                row = connection.execute(sql.SQL("SHOW {}").format(sql.Identifier(name))).fetchone()
                found[name] = row[0] if row else ""
    except psycopg.Error as exc:
        raise translate(exc, shown(address), "open") from exc
    for name in ("fsync", "synchronous_commit", "full_page_writes"):
        if found[name] == "off":
            raise UnsafeSettings(
                f"database {shown(address)} runs with {name}=off: a power cut would take what was confirmed; "
                "switch it on"
            )
    return found
