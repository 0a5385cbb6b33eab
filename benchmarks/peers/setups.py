"""How each assistant is installed, configured and started: as its own documentation says, with our two addresses."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from bot.playground.keeper import free_port

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PLACE = Path(os.environ.get("CONTINUITY_PEERS", ROOT / ".peers"))
"""Where the others are downloaded to, each into an environment of its own."""
NODE = PLACE / "node24" / "node_modules" / ".bin"


@dataclass(frozen=True, slots=True)
class World:
    """What a bot is told: its data folder and where Telegram and the model are."""

    folder: Path
    token: str
    api_url: str
    model_url: str

    @property
    def environment(self) -> dict[str, str]:
        """A clean environment whose home is the folder, with what most of them read from it."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "TELEGRAM_BOT_TOKEN": self.token,
            "TELEGRAM_API_URL": self.api_url,
            "OPENAI_API_KEY": "sk-loopback",
            "OPENAI_BASE_URL": self.model_url,
        }


Command = tuple[list[str], dict[str, str]]
"""What is started, with which environment."""


@dataclass(frozen=True, slots=True)
class Setup:
    """One assistant: `pip` or `npm` names what is downloaded, `command` writes its settings and says how it starts."""

    name: str
    command: Callable[[World], Command]
    pip: tuple[str, ...] = ()
    npm: str = ""
    notes: str = ""
    boot_s: float = 60.0
    """After so long without a poll a start counts as failed."""
    extra: dict[str, str] = field(default_factory=dict)

    def is_there(self) -> bool:
        """Say whether it can be started without a download."""
        python, npm = PLACE / self.name / "bin" / "python", PLACE / self.name / "node_modules" / ".bin"
        return (not self.pip or python.exists()) and (not self.npm or npm.exists())

    def install(self) -> None:
        """Download it. Raises `subprocess.CalledProcessError` when a registry does not give it."""
        folder = PLACE / self.name
        folder.mkdir(parents=True, exist_ok=True)
        if self.pip:
            _run(sys.executable, "-m", "venv", str(folder))
            _run(str(folder / "bin" / "pip"), "install", "--quiet", *self.pip)
        if self.npm:
            NODE.parents[1].mkdir(parents=True, exist_ok=True)
            _run("npm", "install", "--no-fund", "--no-audit", "node@24", cwd=NODE.parents[1])
            path = f"{NODE}:{os.environ['PATH']}"
            _run("npm", "install", "--no-fund", "--no-audit", self.npm, cwd=folder, env=os.environ | {"PATH": path})


def _run(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    subprocess.run(command, cwd=cwd, env=env, check=True)  # noqa: S603 - words of ours


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")  # JSON is YAML too


def ours(world: World) -> Command:
    """Start this checkout with its defaults."""
    own = {
        "CONTINUITY_MODEL": "openai-chat:loopback",
        "CONTINUITY_ALLOWED_USERS": "*",
        "PYTHONPATH": str(ROOT),
        "CONTINUITY_DATABASE_URL": f"sqlite:///{world.folder / 'continuity.db'}",
    }
    return [sys.executable, "-m", "bot", "run"], world.environment | own


def stock(world: World) -> Command:
    """Start the forty lines beside this file."""
    return [str(PLACE / "stock" / "bin" / "python"), str(HERE / "stock_bot.py")], world.environment


def nanobot(world: World) -> Command:
    """Start its gateway with Telegram alone."""
    _write(
        world.folder / ".nanobot" / "config.json",
        {
            "providers": {"custom": {"apiKey": "sk-loopback", "apiBase": world.model_url}},
            "agents": {"defaults": {"model": "loopback", "provider": "custom"}},
            "channels": {"telegram": {"enabled": True, "token": world.token, "allowFrom": ["*"]}},
            "gateway": {"port": free_port()},
        },
    )
    return [str(PLACE / "nanobot" / "bin" / "python"), str(HERE / "nanobot_start.py")], world.environment


def hermes(world: World) -> Command:
    """Start its gateway with Telegram alone; the breaker that holds it back after quick restarts is off."""
    _write(
        world.folder / ".hermes" / "config.yaml",
        {
            "model": {
                "default": "loopback",
                "provider": "custom",
                "base_url": world.model_url,
                "api_key": "sk-loopback",
                "context_length": 200_000,
            },
            "telegram": {"extra": {"base_url": f"{world.api_url}/bot", "base_file_url": f"{world.api_url}/file/bot"}},
            "gateway": {"restart_loop_guard": {"max_restarts": 0}},
        },
    )
    own = {"GATEWAY_ALLOW_ALL_USERS": "true", "HERMES_HOME": str(world.folder / ".hermes")}
    return [str(PLACE / "hermes" / "bin" / "hermes"), "gateway", "run"], world.environment | own


def forget_unclean_boots(state: Path) -> None:
    """Empty OpenClaw's list of starts, so that its breaker does not keep Telegram shut for five minutes."""
    for database in state.rglob("openclaw.sqlite"):
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("DELETE FROM gateway_boot_lifecycle")


def openclaw(world: World) -> Command:
    """Start its gateway with Telegram alone."""
    forget_unclean_boots(world.folder / ".openclaw")
    provider = {
        "baseUrl": world.model_url,
        "apiKey": "sk-loopback",
        "api": "openai-completions",
        "models": [{"id": "loopback", "name": "loopback", "contextWindow": 200_000, "maxTokens": 4096}],
    }
    telegram = {
        "enabled": True,
        "botToken": world.token,
        "dmPolicy": "open",
        "allowFrom": ["*"],
        "apiRoot": world.api_url,
    }
    _write(
        world.folder / ".openclaw" / "openclaw.json",
        {
            "gateway": {"mode": "local", "port": free_port(), "auth": {"mode": "token", "token": "loopback"}},
            "models": {"providers": {"loop": provider}},
            "agents": {"defaults": {"model": {"primary": "loop/loopback"}, "workspace": str(world.folder / "space")}},
            "channels": {"telegram": telegram},
        },
    )
    own = {"PATH": f"{NODE}:{os.environ['PATH']}"}
    return [str(PLACE / "openclaw" / "node_modules" / ".bin" / "openclaw"), "gateway"], world.environment | own


SETUPS = {
    each.name: each
    for each in (
        Setup("ours", ours, notes="this checkout, default settings"),
        Setup("stock", stock, pip=("python-telegram-bot==22.8", "openai==3.54.0"), notes="PicklePersistence, 40 lines"),
        Setup(
            "nanobot",
            nanobot,
            pip=("nanobot-ai==0.3.5", "python-telegram-bot[socks]==22.8"),
            notes="gateway, default settings",
        ),
        Setup("hermes", hermes, pip=("hermes-agent[messaging]==0.19.0",), notes="gateway, restart breaker off"),
        Setup(
            "openclaw",
            openclaw,
            npm="openclaw@2026.9.6",
            notes="gateway, default settings, restart breaker emptied",
            boot_s=240.0,
        ),
    )
}
