"""Every setting of the bot: environment variables or `.env`, checked once at start."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, Self
from zoneinfo import ZoneInfo, available_timezones

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from memory.context.budget import Budget

TOKEN_SHAPE = re.compile(r"\d{3,20}:[A-Za-z0-9_-]{30,64}")


class Settings(BaseSettings):
    """The contract of settings; a field's name is the environment variable's, in lower case."""

    model_config = SettingsConfigDict(env_file=".env", env_file_encoding="utf-8", extra="ignore", env_ignore_empty=True)

    telegram_bot_token: SecretStr | None = Field(None, description="From @BotFather. Without it `make run` chats here.")
    telegram_api_url: str = Field("https://api.telegram.org", description="A self-hosted Bot API server works too.")
    telegram_webhook_url: str | None = Field(None, description="Public https URL; empty = polling.")
    telegram_webhook_secret: SecretStr | None = Field(None, description="Needed with a webhook: 16 characters or more.")

    continuity_model: str = Field("offline", description="offline, or provider:name, e.g. openai:gpt-5-mini.")
    continuity_summary_model: str | None = Field(None, description="A cheap model for summaries; empty = no model.")
    continuity_model_timeout_s: float = Field(60, gt=0, description="A model that is silent this long has failed.")
    continuity_database_url: str = Field("sqlite:///continuity.db", description="sqlite:///relative or sqlite:////abs.")
    continuity_checkpoint_dir: Path = Field(Path("checkpoints"), description="One JSON file per session.")
    continuity_allowed_users: str = Field(
        "", description="Numeric ids, comma-separated; * = everyone; empty = pairing."
    )
    continuity_persona: str = Field("assistant", description="assistant, companion, roleplay, or a TOML file.")
    continuity_session_gap_minutes: float = Field(360, gt=0, description="Silence after which a new session begins.")
    continuity_resume_window_minutes: float = Field(
        15, ge=0, description="Older half-done turns are asked about first."
    )
    continuity_resend_unproven: bool = Field(
        default=True, description="Send again what could not be proven to be sent."
    )
    continuity_probe_ids: int = Field(12, ge=0, le=200, description="Message ids tried to prove that a part was sent.")
    continuity_send_gap_ms: int = Field(
        1000, ge=0, description="Pause between two messages to one private chat; Telegram asks for a second."
    )
    continuity_streaming: Literal["draft", "edit", "off"] = Field("draft", description="How an answer grows on screen.")
    continuity_timezone: str = Field("UTC", description="IANA name; people can set their own.")
    continuity_max_concurrent_turns: int = Field(32, ge=1, description="Conversations worked on side by side.")
    continuity_storage_patience_s: float = Field(
        20.0, ge=0.1, le=3600, description="How long a refusing disk is waited for before the person hears of it."
    )
    continuity_merge_window_ms: int = Field(700, ge=0, description="Pieces of one long paste become one turn.")

    continuity_http_host: str = Field("127.0.0.1", description="Where the HTTP service listens.")
    continuity_http_port: int | None = Field(None, ge=0, le=65535, description="Empty = no HTTP server.")
    continuity_http_token: SecretStr | None = Field(None, description="Bearer token; empty = health and webhook only.")
    continuity_log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="How much to log.")
    continuity_log_format: Literal["console", "json"] = Field("console", description="For people or for machines.")

    continuity_history_tokens: int = Field(3000, ge=1, description="Verbatim turns.")
    continuity_summary_tokens: int = Field(1000, ge=0, description="Rolling summary.")
    continuity_retrieved_tokens: int = Field(900, ge=0, description="Older turns and memories that bear on it.")
    continuity_today_tokens: int = Field(500, ge=0, description="Said earlier today in other sessions.")
    continuity_threads_tokens: int = Field(400, ge=0, description="Open loops.")
    continuity_last_conversation_tokens: int = Field(300, ge=0, description="Summary of the session before.")
    continuity_context_tokens: int = Field(6150, ge=1, description="Hard cap over all tiers.")
    continuity_max_history_messages: int = Field(80, ge=2, description="Messages, two per turn.")
    continuity_recency_window: int = Field(6, ge=2, description="Messages that compaction never touches.")
    continuity_tool_output_max_chars: int = Field(4000, ge=100, description="Longer tool outputs are cut.")
    continuity_daily_tokens_per_user: int | None = Field(None, ge=1, description="Empty = no limit.")

    @field_validator("telegram_bot_token")
    @classmethod
    def _token_shape(cls, token: SecretStr | None) -> SecretStr | None:
        if token is not None and not TOKEN_SHAPE.fullmatch(token.get_secret_value()):
            msg = "must look like 123456789:AA… (digits, a colon, 35 characters), as @BotFather gives it"
            raise ValueError(msg)
        return token

    @field_validator("continuity_allowed_users")
    @classmethod
    def _numeric_ids(cls, value: str) -> str:
        wrong = [part for part in _parts(value) if part != "*" and not re.fullmatch(r"\d+", part)]
        if wrong:
            msg = f"takes numeric Telegram ids separated by commas, or *; not {', '.join(map(repr, wrong))}"
            raise ValueError(msg)
        return value

    @field_validator("continuity_timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        if value not in available_timezones():
            msg = f"must be an IANA name such as Europe/Berlin; {value!r} is unknown"
            raise ValueError(msg)
        return value

    @field_validator("continuity_database_url")
    @classmethod
    def _known_database(cls, value: str) -> str:
        if not value.startswith("sqlite:///") or not value.removeprefix("sqlite:///"):
            scheme = value.partition(":")[0]
            msg = f"must be sqlite:///relative.db or sqlite:////absolute.db, not {scheme}:…"
            raise ValueError(msg)
        return value

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
        self.budget()
        return self

    def budget(self) -> Budget:
        """Return the token budgets. Raises ValueError when they contradict each other (003 FR-005)."""
        return Budget(
            history_tokens=self.continuity_history_tokens,
            summary_tokens=self.continuity_summary_tokens,
            retrieved_tokens=self.continuity_retrieved_tokens,
            today_tokens=self.continuity_today_tokens,
            threads_tokens=self.continuity_threads_tokens,
            last_conversation_tokens=self.continuity_last_conversation_tokens,
            cap_tokens=self.continuity_context_tokens,
            max_history_messages=self.continuity_max_history_messages,
            recency_window=self.continuity_recency_window,
            tool_output_max_chars=self.continuity_tool_output_max_chars,
        )

    @property
    def everyone(self) -> bool:
        """True when anybody may use the bot."""
        return "*" in _parts(self.continuity_allowed_users)

    @property
    def allowed_user_ids(self) -> frozenset[int]:
        """The Telegram user ids that are named in the settings."""
        return frozenset(int(part) for part in _parts(self.continuity_allowed_users) if part != "*")

    @property
    def database_path(self) -> Path:
        """The SQLite file, absolute."""
        return Path(self.continuity_database_url.removeprefix("sqlite:///")).absolute()

    @property
    def checkpoint_dir(self) -> Path:
        """The checkpoint folder, absolute."""
        return self.continuity_checkpoint_dir.absolute()

    @property
    def zone(self) -> ZoneInfo:
        """The default time zone."""
        return ZoneInfo(self.continuity_timezone)

    @property
    def session_gap_ms(self) -> int:
        """Silence after which a new session begins, in milliseconds."""
        return round(self.continuity_session_gap_minutes * 60_000)

    @property
    def resume_window_ms(self) -> int:
        """Age up to which a half-done turn is finished without asking, in milliseconds."""
        return round(self.continuity_resume_window_minutes * 60_000)


def _parts(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]
