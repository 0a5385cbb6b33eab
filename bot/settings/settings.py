"""The settings of one bot, checked together, with values derived from them; read from the environment or `.env`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import tzinfo
from pathlib import Path
from types import MappingProxyType
from typing import Self
from urllib.parse import parse_qsl, urlsplit

from dotenv import load_dotenv
from pydantic import SecretStr, ValidationError, model_validator

from bot.settings.checks import CheckedFields
from bot.settings.faults import SettingsError, faults
from bot.settings.fields import OFFLINE
from bot.settings.model_names import ModelNames, model_names, read_model
from bot.settings.shapes import HTTP_TOKEN_CHARS, PRICE_SHAPE, SEARCH_KEYS, is_long, is_loopback, parts, shown
from memory.context.budget import Budget
from memory.storage.place import is_server
from memory.zones import zone_of

ENV_FILE = Path(".env")

Prices = Mapping[str, tuple[float, float]]
"""Model → US dollars per million tokens, in and out."""


NO_PRICES: Prices = MappingProxyType({})


class Settings(CheckedFields):
    """The contract of settings."""

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.telegram_webhook_url:
            if self.continuity_http_port is None:
                msg = "TELEGRAM_WEBHOOK_URL needs CONTINUITY_HTTP_PORT: the port where Telegram's calls arrive"
                raise ValueError(msg)
            secret = self.telegram_webhook_secret
            if secret is None or not re.fullmatch(r"[A-Za-z0-9_-]{16,256}", secret.get_secret_value()):
                msg = "TELEGRAM_WEBHOOK_URL needs TELEGRAM_WEBHOOK_SECRET: 16 to 256 of A-Z a-z 0-9 _ -"
                raise ValueError(msg)
        if self.continuity_http_port is not None:
            self._require_token()
        self.budget()
        self._require_fallback()
        return self

    def _require_fallback(self) -> None:
        """Raise ValueError for a fallback that names no model."""
        fallback = self.continuity_fallback_model
        if fallback and fallback.lower() not in self.models.named and read_model(fallback) is None:
            msg = f"CONTINUITY_FALLBACK_MODEL is a name of CONTINUITY_MODELS, or provider:name; not {shown(fallback)}"
            raise ValueError(msg)

    def _require_token(self) -> None:
        """Raise ValueError for a token that can be guessed by anybody who reaches the port."""
        token = self.continuity_http_token
        if token is not None and not token.get_secret_value().strip():
            msg = "CONTINUITY_HTTP_TOKEN is blank: leave it out, or set one such as `openssl rand -hex 32` prints"
            raise ValueError(msg)
        if token is not None and not is_loopback(self.continuity_http_host) and not is_long(token):
            msg = (
                f"CONTINUITY_HTTP_TOKEN needs {HTTP_TOKEN_CHARS} characters or more where CONTINUITY_HTTP_HOST lets "
                "other machines in, such as `openssl rand -hex 32` prints"
            )
            raise ValueError(msg)

    def budget(self) -> Budget:
        """Return the token budgets. Raises ValueError when they contradict each other (003 FR-005)."""
        return Budget(
            history_tokens=self.continuity_history_tokens,
            summary_tokens=self.continuity_summary_tokens,
            retrieved_tokens=self.continuity_retrieved_tokens,
            today_tokens=self.continuity_today_tokens,
            threads_tokens=self.continuity_threads_tokens,
            memories_tokens=self.continuity_memories_tokens,
            last_conversation_tokens=self.continuity_last_conversation_tokens,
            cap_tokens=self.continuity_context_tokens,
            max_history_messages=self.continuity_max_history_messages,
            recency_window=self.continuity_recency_window,
            tool_output_max_chars=self.continuity_tool_output_max_chars,
            strategy=self.continuity_context_strategy,
        )

    @property
    def secrets(self) -> tuple[SecretStr | None, ...]:
        """Everything that no log may show."""
        password = urlsplit(self.continuity_database_url).password if is_server(self.continuity_database_url) else None
        known = (self.telegram_bot_token, self.telegram_webhook_secret, self.continuity_http_token)
        search = self.continuity_search_url.get_secret_value() if self.continuity_search_url else ""
        keys = [SecretStr(value) for name, value in parse_qsl(urlsplit(search).query) if name in SEARCH_KEYS]
        return (
            *known,
            *keys,
            self.continuity_transcribe_key,
            self.continuity_speech_key,
            SecretStr(password) if password else None,
        )

    @property
    def trusted_proxies(self) -> list[str]:
        """Proxies whose word on the origin of a request is believed."""
        return parts(self.continuity_http_trusted_proxies)

    @property
    def prices(self) -> Prices:
        """Prices of the operator's own models."""
        found = (PRICE_SHAPE.fullmatch(part) for part in parts(self.continuity_prices))
        return {match[1]: (float(match[2]), float(match[3])) for match in found if match}

    @property
    def models(self) -> ModelNames:
        """Every model that may answer."""
        return model_names(self.continuity_model, self.continuity_models, self.continuity_fallback_model)

    @property
    def message_tokens(self) -> int:
        """Tokens that one message may take of a prompt."""
        return min(self.continuity_message_tokens, self.continuity_context_tokens * 2 // 3)

    @property
    def by_model(self) -> bool:
        """True when a language model answers, False for the concierge without one."""
        return self.continuity_model != OFFLINE

    @property
    def everyone(self) -> bool:
        """True when anybody may use the bot."""
        return "*" in parts(self.continuity_allowed_users)

    @property
    def allowed_user_ids(self) -> frozenset[int]:
        """The Telegram user ids that are named in the settings."""
        return frozenset(int(part) for part in parts(self.continuity_allowed_users) if part != "*")

    @property
    def database(self) -> Path | str:
        """The SQLite file, absolute, or the address of a PostgreSQL server."""
        url = self.continuity_database_url
        return url if is_server(url) else Path(url.removeprefix("sqlite:///")).absolute()

    @property
    def database_file(self) -> Path | None:
        """The SQLite file, absolute; None when the database is on a server."""
        return None if isinstance(self.database, str) else self.database

    @property
    def beside(self) -> Path:
        """The path after which the files beside the data are named: the SQLite file, else the checkpoint folder."""
        return self.database_file or self.checkpoint_dir

    @property
    def mcp_config(self) -> Path | None:
        """The file that names MCP servers, None without one."""
        path = self.continuity_mcp_config or Path("mcp.json")
        return path if self.continuity_mcp_config or path.is_file() else None

    @property
    def searches(self) -> bool:
        """True where the model's own provider searches the web: it's on, and no other search is set."""
        return self.continuity_web == "on" and self.continuity_search_url is None

    @property
    def trusted_servers(self) -> frozenset[str]:
        """The names of servers whose word that a tool only reads is believed."""
        return frozenset(parts(self.continuity_trusted_servers))

    @property
    def checkpoint_dir(self) -> Path:
        """The checkpoint folder, absolute."""
        return self.continuity_checkpoint_dir.absolute()

    @property
    def files_dir(self) -> Path:
        """The folder of files that people send, absolute; with a database on a server they are in the database."""
        return (self.continuity_files_dir or self.beside.with_name(f"{self.beside.name}.files")).absolute()

    @property
    def zone(self) -> tzinfo:
        """The default time zone."""
        return zone_of(self.continuity_timezone)

    @property
    def session_gap_ms(self) -> int:
        """Silence after which a new session begins, in milliseconds."""
        return round(self.continuity_session_gap_minutes * 60_000)

    @property
    def resume_window_ms(self) -> int:
        """Age up to which a half-done turn is finished without asking, in milliseconds."""
        return round(self.continuity_resume_window_minutes * 60_000)


def read_settings() -> Settings:
    """Return the settings of the environment and `.env`, whose variables providers find in the environment then.

    Raises `SettingsError` with one sentence for each wrong one.
    """
    if ENV_FILE.is_dir():
        raise SettingsError({".env": "is a folder; the settings are lines of a file of this name"})
    try:
        load_dotenv(ENV_FILE, override=False)
        return Settings()
    except ValidationError as exc:
        raise SettingsError(faults(exc, Settings.model_fields)) from None
    except UnicodeDecodeError as exc:
        raise SettingsError({".env": f"is not UTF-8 (byte {exc.start}); save it as UTF-8"}) from None
    except OSError as exc:
        raise SettingsError({".env": f"cannot be read ({exc.strerror}); check its owner"}) from None
    except ValueError:
        raise SettingsError({".env": "holds a value that no environment takes; look for strange characters"}) from None
