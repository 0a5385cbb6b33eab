"""`mcp.json` in the form that people have: which servers there are and how each is reached."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import orjson

MEMORY_MB: Final = 1024
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9-]+")
_REACHED: Final = ("command", "args", "cwd", "url")
_LOGIN: Final = frozenset({"clientId", "clientSecret", "scope", "issuer", "redirectUri"})
_KNOWN: Final = frozenset(
    {"command", "args", "env", "cwd", "url", "headers", "type", "transport", "disabled", "memoryMb", "people", "oauth"}
)


class ConfigError(Exception):
    """An `mcp.json` that cannot be used."""


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One server: a command that is started here, or an address."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    memory_mb: int = MEMORY_MB
    oauth: Mapping[str, str] = field(default_factory=dict)
    """The operator's knowledge of its login: clientId, clientSecret, scope, issuer, redirectUri."""
    people: frozenset[int] = frozenset()
    """People who are offered its tools; empty for everybody who may write to the bot."""
    origin: str = ""
    """A digest of the server's entry in the file, and of the addresses its variables give. When it changes, consents
    are asked for again and logins are void. Secrets in `env` and `headers` may change."""

    def is_for(self, user_id: int | None) -> bool:
        """Return whether this person is offered its tools."""
        return not self.people or user_id in self.people

    @property
    def takes_logins(self) -> bool:
        """Whether people may log in there: it's reached by an address, and the file holds no login for all."""
        return bool(self.url) and "authorization" not in {name.lower() for name in self.headers}


def read(path: Path, environ: Mapping[str, str] = os.environ) -> list[ServerConfig]:
    """Return the servers of a file that are not disabled. Raises `ConfigError`, which names the place and the fault.

    `${NAME}` and `${NAME:-else}` stand for variables of the bot's environment.
    """
    try:
        found = orjson.loads(path.read_bytes())
    except OSError as exc:
        raise ConfigError(f"{path} cannot be read ({exc.strerror})") from exc
    except orjson.JSONDecodeError as exc:
        raise ConfigError(f"{path} is no JSON: {exc}") from exc
    servers = found.get("mcpServers") if isinstance(found, dict) else None
    if not isinstance(servers, dict):
        raise ConfigError(f'{path} has no "mcpServers"; write {{"mcpServers": {{"name": {{"command": "…"}}}}}}')
    configs = [
        _server(str(name), each, environ, str(path))
        for name, each in servers.items()
        if not (isinstance(each, dict) and each.get("disabled"))
    ]
    names = [config.name for config in configs]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"{path}: two servers have one name: {', '.join(twice)}")
    return configs


def _server(name: str, given: Any, environ: Mapping[str, str], where: str) -> ServerConfig:
    at = f"{where}: {name}"
    if not isinstance(given, dict):
        raise ConfigError(f"{at} is no object")
    if unknown := sorted(given.keys() - _KNOWN):
        raise ConfigError(f"{at}: unknown {', '.join(unknown)}; known are {', '.join(sorted(_KNOWN))}")
    if bool(given.get("command")) == bool(given.get("url")):
        raise ConfigError(f"{at} needs either a command or a url")
    if unknown := sorted(given.get("oauth", {}).keys() - _LOGIN):
        raise ConfigError(f"{at}: unknown {', '.join(unknown)} in oauth; known are {', '.join(sorted(_LOGIN))}")
    if given.get("type", given.get("transport", "")) == "sse":
        raise ConfigError(f"{at}: the transport sse is out of date; use the server's streamable HTTP address")
    try:
        reached = {part: _reached(given[part], environ, at) for part in _REACHED if part in given}
        return ServerConfig(
            name=_NOT_IN_NAMES.sub("-", name).strip("-")[:24] or "server",
            command=_filled(given.get("command", ""), environ, at),
            args=tuple(_filled(each, environ, at) for each in given.get("args", ())),
            env={key: _filled(value, environ, at) for key, value in given.get("env", {}).items()},
            cwd=_filled(given.get("cwd", ""), environ, at),
            url=_filled(given.get("url", ""), environ, at),
            headers={key: _filled(value, environ, at) for key, value in given.get("headers", {}).items()},
            oauth={key: _filled(value, environ, at) for key, value in given.get("oauth", {}).items()},
            memory_mb=int(given.get("memoryMb", MEMORY_MB)),
            people=frozenset(map(int, given.get("people", ()))),
            origin=blake2b(orjson.dumps({**given, **reached}, option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest(),
        )
    except (TypeError, ValueError, AttributeError) as exc:
        raise ConfigError(f"{at}: {exc}") from exc


def _reached(given: Any, environ: Mapping[str, str], at: str) -> Any:
    """Return a server's address or command with its variables filled in: another value leads to another server."""
    return [_filled(each, environ, at) for each in given] if isinstance(given, list) else _filled(given, environ, at)


def _filled(text: Any, environ: Mapping[str, str], at: str) -> str:
    """Return a text with its variables filled in. Raises `ConfigError` for one that is not set."""

    def value(found: re.Match[str]) -> str:
        name, instead = found.group(1), found.group(2)
        if (known := environ.get(name, instead)) is None:
            raise ConfigError(f"{at}: the variable {name} is not set")
        return known

    return _VARIABLE.sub(value, str(text))
