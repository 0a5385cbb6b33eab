"""Every setting of the bot: environment variables or `.env`, checked once at start."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import tzinfo
from ipaddress import ip_address, ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Self, get_args
from urllib.parse import urlsplit

from annotated_types import Ge, Gt, Le
from dotenv import load_dotenv
from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.model_names import (
    SOUND_FORMS,
    SPEECH_FORMS,
    ModelNames,
    model_names,
    read_model,
    read_sound_model,
    wrong_models,
)
from memory.context.budget import Budget
from memory.storage.place import is_server
from memory.zones import known_zone, zone_of

TOKEN_SHAPE = re.compile(r"[0-9]{3,20}:[A-Za-z0-9_-]{30,64}")
TELEGRAM_URL = "https://api.telegram.org"
ENV_FILE = Path(".env")
OFFLINE = "offline"
HOUR_S = 3600
YEAR_MINUTES = 366 * 24 * 60
MAX_TOKENS = 1_000_000
MAX_SHOWN_CHARS = 60
HTTP_TOKEN_CHARS = 16
PRICE_SHAPE = re.compile(r"([^\s,=]+:[^\s,=]+)=(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)")
HOST_SHAPE = re.compile(r"[A-Za-z0-9.:_%-]{1,253}")


Prices = Mapping[str, tuple[float, float]]
"""Model → US dollars per million tokens, in and out."""


NO_PRICES: Prices = MappingProxyType({})


class SettingsError(Exception):
    """Settings that cannot be used; `faults` has a sentence for each wrong one, by its name."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name} {fault}" for name, fault in faults.items()))
        self.faults = dict(faults)


class Settings(BaseSettings):
    """The contract of settings; a field's name is the environment variable's, in lower case."""

    model_config = SettingsConfigDict(env_file=".env", env_file_encoding="utf-8", extra="ignore", env_ignore_empty=True)

    telegram_bot_token: SecretStr | None = Field(None, description="From @BotFather. Without it `make run` chats here.")
    telegram_api_url: str = Field(TELEGRAM_URL, description="A self-hosted Bot API server works too.")
    telegram_webhook_url: str | None = Field(None, description="Public https URL; empty = polling.")
    telegram_webhook_secret: SecretStr | None = Field(None, description="Needed with a webhook: 16 characters or more.")

    continuity_model: str = Field(OFFLINE, description="offline, or provider:name, e.g. openai:gpt-5-mini.")
    continuity_models: str = Field(
        "", description="What people choose from with /model: name=provider:name, …; @8000 behind one is its context."
    )
    continuity_fallback_model: str | None = Field(
        None, description="Answers when a model fails or does not begin: a name of that list, or provider:name."
    )
    continuity_summary_model: str | None = Field(None, description="A cheap model for summaries; empty = no model.")
    continuity_memory_model: str | None = Field(
        None, description="Reads for memory behind the replies; empty = the chat model, off = nobody."
    )
    continuity_model_timeout_s: float = Field(
        60, gt=0, le=HOUR_S, allow_inf_nan=False, description="A model that is silent this long has failed."
    )
    continuity_prices: str = Field(
        "", description="Prices of models that no list knows: provider:name=in/out, dollars per million tokens."
    )
    continuity_database_url: str = Field(
        "sqlite:///continuity.db", description="sqlite:///relative, sqlite:////abs, or postgresql://…"
    )
    continuity_checkpoint_dir: Path = Field(Path("checkpoints"), description="One JSON file per session.")
    continuity_files_dir: Path | None = Field(
        None, description="Files that people send; empty = beside the database file. Each bot needs its own."
    )
    continuity_file_max_bytes: int = Field(
        20_000_000, ge=0, le=2_000_000_000, description="Larger files are not taken; Telegram itself hands on 20 MB."
    )
    continuity_files_quota_bytes: int = Field(
        500_000_000, ge=0, le=10**13, description="What the files of one person may take together."
    )
    continuity_vision: Literal["auto", "on", "off"] = Field(
        "auto", description="auto or on: the model is shown pictures; if it refuses them, people are told. off: never."
    )
    continuity_transcribe: str = Field(
        "off", description="Who listens to voice messages: off, openai:<model>, or local:<folder of a Whisper model>."
    )
    continuity_transcribe_url: str | None = Field(
        None, description="A server of OpenAI's form for openai:<model>; empty = OpenAI's own."
    )
    continuity_transcribe_key: SecretStr | None = Field(
        None, description="Its key; empty = OPENAI_API_KEY, and only without an address of its own."
    )
    continuity_speech: str = Field(
        "off", description="Who says answers aloud for /voice on: off, openai:<model>, or openai:<model>@<voice>."
    )
    continuity_speech_url: str | None = Field(None, description="As CONTINUITY_TRANSCRIBE_URL.")
    continuity_speech_key: SecretStr | None = Field(None, description="As CONTINUITY_TRANSCRIBE_KEY.")
    continuity_allowed_users: str = Field(
        "", description="Numeric ids, comma-separated; * = everyone; empty = pairing."
    )
    continuity_tools: Path | None = Field(
        None, description="A Python file whose functions the model may call; empty = none."
    )
    continuity_mcp_config: Path | None = Field(
        None, description="A file that names MCP servers; empty = mcp.json in the working folder, if it's there."
    )
    continuity_trusted_servers: str = Field(
        "", description="MCP servers whose word that a tool only reads is believed, comma-separated."
    )
    continuity_tools_tokens: int = Field(
        2000, ge=0, le=MAX_TOKENS, description="Tools beyond the notes in each prompt; the rest is found by words."
    )
    continuity_persona: str = Field("assistant", description="assistant, companion, roleplay, or a TOML file.")
    continuity_session_gap_minutes: float = Field(
        360, gt=0, le=YEAR_MINUTES, allow_inf_nan=False, description="Silence after which a new session begins."
    )
    continuity_return_mode: Literal["use", "ask", "off"] = Field(
        "use", description="After a silence, for who has not chosen: use, ask first, or off (carry nothing forward)."
    )
    continuity_resume_window_minutes: float = Field(
        15, ge=0, le=YEAR_MINUTES, allow_inf_nan=False, description="Older half-done turns are asked about first."
    )
    continuity_resend_unproven: bool = Field(
        default=True, description="Send again what could not be proven to be sent."
    )
    continuity_probe_ids: int = Field(12, ge=0, le=200, description="Message ids tried to prove that a part was sent.")
    continuity_send_gap_ms: int = Field(
        1000, ge=0, le=60_000, description="Pause between messages to one private chat, after three that go at once."
    )
    continuity_streaming: Literal["draft", "edit", "off"] = Field("draft", description="How an answer grows on screen.")
    continuity_timezone: str = Field("UTC", description="IANA name; people can set their own.")
    continuity_max_concurrent_turns: int = Field(32, ge=1, le=1000, description="Conversations worked on side by side.")
    continuity_storage_patience_s: float = Field(
        20.0,
        ge=0.1,
        le=HOUR_S,
        allow_inf_nan=False,
        description="How long a refusing disk is waited for before the person hears of it.",
    )
    continuity_loop_limit_s: float = Field(
        30.0,
        ge=1,
        le=HOUR_S,
        allow_inf_nan=False,
        description="An event loop that stands still this long ends the process, to be started again.",
    )
    continuity_merge_window_ms: int = Field(
        700, ge=0, le=60_000, description="Pieces of one long paste become one turn."
    )

    continuity_http_host: str = Field("127.0.0.1", description="Where the HTTP service listens.")
    continuity_http_port: int | None = Field(None, ge=0, le=65535, description="Empty = no HTTP server.")
    continuity_http_token: SecretStr | None = Field(None, description="Bearer token; empty = health and webhook only.")
    continuity_http_trusted_proxies: str = Field(
        "", description="Proxies whose X-Forwarded-For is believed: addresses or networks, comma-separated."
    )
    continuity_log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="How much to log.")
    continuity_log_format: Literal["console", "json"] = Field("console", description="For people or for machines.")

    continuity_history_tokens: int = Field(3000, ge=1, le=MAX_TOKENS, description="The latest turns, word for word.")
    continuity_summary_tokens: int = Field(1000, ge=0, le=MAX_TOKENS, description="Rolling summary.")
    continuity_retrieved_tokens: int = Field(
        600, ge=0, le=MAX_TOKENS, description="Older turns that bear on the message."
    )
    continuity_today_tokens: int = Field(500, ge=0, le=MAX_TOKENS, description="Said earlier today in other sessions.")
    continuity_threads_tokens: int = Field(300, ge=0, le=MAX_TOKENS, description="What was open as a session began.")
    continuity_memories_tokens: int = Field(
        600, ge=0, le=MAX_TOKENS, description="Notes that last, and what changed in the notes since."
    )
    continuity_last_conversation_tokens: int = Field(
        300, ge=0, le=MAX_TOKENS, description="Sessions before the day, in a line each."
    )
    continuity_context_strategy: Literal["summarize", "truncate"] = Field(
        "summarize", description="Turns without room go into a summary, or are left out."
    )
    continuity_context_tokens: int = Field(6150, ge=1, le=MAX_TOKENS, description="Hard cap over all tiers.")
    continuity_message_tokens: int = Field(
        4000, ge=100, le=MAX_TOKENS, description="A longer message loses its middle, and the person is told."
    )
    continuity_max_history_messages: int = Field(
        120, ge=2, le=10_000, description="At most this many messages of the history, two per turn."
    )
    continuity_recency_window: int = Field(6, ge=2, le=10_000, description="Messages that compaction never touches.")
    continuity_tool_output_max_chars: int = Field(
        4000, ge=100, le=1_000_000, description="Longer tool outputs are cut."
    )
    continuity_prompts_days: int = Field(
        30, ge=0, le=3650, description="How long you can look up what the model saw; 0 = not at all."
    )
    continuity_daily_tokens_per_user: int | None = Field(None, ge=1, le=10**12, description="Empty = no limit.")
    continuity_daily_cost_per_user: float | None = Field(
        None, gt=0, le=10**6, description="US dollars, of models with a known price. Empty = no limit."
    )
    continuity_turns_per_minute_per_user: int | None = Field(
        None, ge=1, le=10_000, description="What comes faster waits for [Try again]. Empty = no limit."
    )

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
        wrong = [part for part in _parts(value) if part != "*" and not re.fullmatch(r"[0-9]{1,16}", part)]
        if wrong:
            msg = f"takes numeric Telegram ids separated by commas, or *; not {', '.join(map(_shown, wrong))}"
            raise ValueError(msg)
        return value

    @field_validator("continuity_prices")
    @classmethod
    def _price_list(cls, value: str) -> str:
        wrong = [part for part in _parts(value) if not PRICE_SHAPE.fullmatch(part)]
        if wrong:
            msg = (
                f"takes provider:name=in/out separated by commas, e.g. openai-chat:own=0.2/0.8; not {_shown(wrong[0])}"
            )
            raise ValueError(msg)
        return value

    @field_validator("continuity_models")
    @classmethod
    def _model_list(cls, value: str) -> str:
        if wrong := wrong_models(value):
            raise ValueError(wrong)
        return value

    @field_validator("continuity_transcribe", "continuity_speech")
    @classmethod
    def _sound_model(cls, value: str, info: ValidationInfo) -> str:
        model, speaks = read_sound_model(value), info.field_name == "continuity_speech"
        if value != "off" and (model is None or (model.is_local and speaks)):
            raise ValueError(f"takes {SPEECH_FORMS if speaks else SOUND_FORMS}, not {_shown(value)}")
        return value

    @field_validator("telegram_api_url", "telegram_webhook_url", "continuity_transcribe_url", "continuity_speech_url")
    @classmethod
    def _http_address(cls, value: str | None) -> str | None:
        if value is not None and not _is_http(value):
            msg = f"must be an address such as https://api.telegram.org, not {_shown(value)}"
            raise ValueError(msg)
        return value

    @field_validator("continuity_http_host")
    @classmethod
    def _host_name(cls, value: str) -> str:
        if not HOST_SHAPE.fullmatch(value):
            msg = f"must be a host name or an address such as 127.0.0.1, not {_shown(value)}"
            raise ValueError(msg)
        return value

    @field_validator("continuity_http_trusted_proxies")
    @classmethod
    def _addresses(cls, value: str) -> str:
        wrong = [part for part in _parts(value) if not _is_network(part)]
        if wrong:
            msg = f"takes addresses or networks such as 10.0.0.0/8 separated by commas, not {_shown(wrong[0])}"
            raise ValueError(msg)
        return value

    @field_validator("continuity_timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        if known_zone(value) is None:
            msg = f"must be an IANA name such as Europe/Berlin, not {_shown(value)}"
            raise ValueError(msg)
        return value

    @field_validator("continuity_database_url")
    @classmethod
    def _known_database(cls, value: str) -> str:
        if is_server(value):
            return value
        if not value.startswith("sqlite:///") or not value.removeprefix("sqlite:///"):
            scheme = value.partition(":")[0]
            known = "sqlite:///relative.db, sqlite:////absolute.db or postgresql://host/name"
            msg = f"must be {known}, not {scheme[:20]}:…"
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
        if self.continuity_http_port is not None:
            self._require_token()
        self.budget()
        self._require_fallback()
        return self

    def _require_fallback(self) -> None:
        """Raise ValueError for a fallback that names no model."""
        fallback = self.continuity_fallback_model
        if fallback and fallback.lower() not in self.models.named and read_model(fallback) is None:
            msg = f"CONTINUITY_FALLBACK_MODEL is a name of CONTINUITY_MODELS, or provider:name; not {_shown(fallback)}"
            raise ValueError(msg)

    def _require_token(self) -> None:
        """Raise ValueError for a token that can be guessed by whoever reaches the port."""
        token = self.continuity_http_token
        if token is not None and not token.get_secret_value().strip():
            msg = "CONTINUITY_HTTP_TOKEN is blank: leave it out, or set one such as `openssl rand -hex 32` prints"
            raise ValueError(msg)
        if token is not None and not self.is_http_here and not is_long(token):
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
        return (
            *known,
            self.continuity_transcribe_key,
            self.continuity_speech_key,
            SecretStr(password) if password else None,
        )

    @property
    def is_http_here(self) -> bool:
        """True when the HTTP service listens to this machine alone."""
        return is_loopback(self.continuity_http_host)

    @property
    def trusted_proxies(self) -> list[str]:
        """Whose word on where a request came from is believed."""
        return _parts(self.continuity_http_trusted_proxies)

    @property
    def prices(self) -> Prices:
        """What the operator's own models cost."""
        found = (PRICE_SHAPE.fullmatch(part) for part in _parts(self.continuity_prices))
        return {match[1]: (float(match[2]), float(match[3])) for match in found if match}

    @property
    def models(self) -> ModelNames:
        """Every model that may answer."""
        return model_names(self.continuity_model, self.continuity_models, self.continuity_fallback_model)

    @property
    def message_tokens(self) -> int:
        """What one message may take of a prompt."""
        return min(self.continuity_message_tokens, self.continuity_context_tokens * 2 // 3)

    @property
    def by_model(self) -> bool:
        """True when a language model answers, False for the concierge without one."""
        return self.continuity_model != OFFLINE

    @property
    def everyone(self) -> bool:
        """True when anybody may use the bot."""
        return "*" in _parts(self.continuity_allowed_users)

    @property
    def allowed_user_ids(self) -> frozenset[int]:
        """The Telegram user ids that are named in the settings."""
        return frozenset(int(part) for part in _parts(self.continuity_allowed_users) if part != "*")

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
        """What the files beside the data are named after: the SQLite file, else the checkpoint folder."""
        return self.database_file or self.checkpoint_dir

    @property
    def mcp_config(self) -> Path | None:
        """The file that names MCP servers, None without one."""
        path = self.continuity_mcp_config or Path("mcp.json")
        return path if self.continuity_mcp_config or path.is_file() else None

    @property
    def trusted_servers(self) -> frozenset[str]:
        """The names of servers whose word counts."""
        return frozenset(filter(None, (name.strip() for name in self.continuity_trusted_servers.split(","))))

    @property
    def checkpoint_dir(self) -> Path:
        """The checkpoint folder, absolute."""
        return self.continuity_checkpoint_dir.absolute()

    @property
    def files_dir(self) -> Path:
        """Where the files lie that people send, absolute; on a server they lie in its database."""
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


def is_long(token: SecretStr) -> bool:
    """Return True for an HTTP token that is not found by guessing."""
    return len(token.get_secret_value().strip()) >= HTTP_TOKEN_CHARS


def is_loopback(host: str) -> bool:
    """Return True for a name or an address that only this machine reaches."""
    try:
        return host.lower() == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_network(text: str) -> bool:
    """Return True for an address or a network, but not for the whole world: anybody could say where they come from."""
    try:
        return ip_network(text).prefixlen > 0
    except ValueError:
        return False


def _parts(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


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
        raise SettingsError(faults(exc)) from None
    except UnicodeDecodeError as exc:
        raise SettingsError({".env": f"is not UTF-8 (byte {exc.start}); save it as UTF-8"}) from None
    except OSError as exc:
        raise SettingsError({".env": f"cannot be read ({exc.strerror}); check its owner"}) from None
    except ValueError:
        raise SettingsError({".env": "holds a value that no environment takes; look for strange characters"}) from None


def faults(exc: ValidationError) -> dict[str, str]:
    """Return a sentence for each wrong setting, by the name of its variable. What a secret holds is never repeated."""
    found: dict[str, str] = {}
    for error in exc.errors():
        name = "_".join(map(str, error["loc"]))
        field = Settings.model_fields.get(name)
        found[name.upper() or "settings"] = _fault(field, error["type"], error["msg"], error["input"])
    return found


def _fault(field: FieldInfo | None, kind: str, message: str, value: object) -> str:
    if field is None or kind == "value_error":
        return message.removeprefix("Value error, ")
    if "Secret" in str(field.annotation):
        return "cannot be read as a text"
    if kind == "literal_error":
        return f"must be one of {', '.join(get_args(field.annotation))}, not {_shown(value)}"
    if kind.startswith("bool"):
        return f"must be true or false, not {_shown(value)}"
    if bounds := limits(field):
        what = "number" if "float" in str(field.annotation) else "whole number"
        return f"must be a {what}, {bounds}, not {_shown(value)}"
    return f"cannot be {_shown(value)}"


def limits(field: FieldInfo) -> str:
    """Return between which numbers a setting lies, in words; empty when it is no number."""
    words = []
    for limit in field.metadata:
        if isinstance(limit, Gt):
            words.append(f"more than {limit.gt}")
        if isinstance(limit, Ge):
            words.append(f"at least {limit.ge}")
        if isinstance(limit, Le):
            words.append(f"at most {limit.le}")
    return " and ".join(words)


def _is_http(value: str) -> bool:
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return False
    sound = HOST_SHAPE.fullmatch(parts.hostname or "") and not (parts.query or parts.fragment)
    return parts.scheme in ("http", "https") and bool(sound) and port != 0 and value.isascii() and " " not in value


def _shown(value: object) -> str:
    text = str(value)
    return repr(text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 1] + "…")
