"""The fields of the settings: name, type, bounds, default, and the sentence that describes each."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

TELEGRAM_URL = "https://api.telegram.org"
OFFLINE = "offline"
HOUR_S = 3600
YEAR_MINUTES = 366 * 24 * 60
MAX_TOKENS = 1_000_000


class SettingsFields(BaseSettings):
    """Every setting; a field's name is the environment variable's, in lower case."""

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
        60,
        gt=0,
        le=HOUR_S,
        allow_inf_nan=False,
        description="A model that is silent this long has failed; one that keeps notes has a minute at least.",
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
        "off", description="Who says answers aloud for /voice on: off, openai:<model>[@<voice>], or local:<folder>."
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
    continuity_web: Literal["on", "off"] = Field(
        "on", description="Whether the model may read web pages; an address it made up asks first."
    )
    continuity_search_url: SecretStr | None = Field(
        None, description="SearXNG, Brave or Tavily; empty = the search of openai: and anthropic: models."
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
    continuity_threads_tokens: int = Field(400, ge=0, le=MAX_TOKENS, description="What was open as a session began.")
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
    continuity_quiet_hours: str = Field(
        "", description="Tasks wait until these hours are over, by each task's clock: 22:00-07:00; empty = none."
    )
    continuity_task_tokens: int = Field(
        30_000, ge=500, le=MAX_TOKENS, description="What one run of a task may take; it then ends without an answer."
    )
    continuity_daily_tokens_per_user: int | None = Field(None, ge=1, le=10**12, description="Empty = no limit.")
    continuity_daily_cost_per_user: float | None = Field(
        None, gt=0, le=10**6, description="US dollars, of models with a known price. Empty = no limit."
    )
    continuity_turns_per_minute_per_user: int | None = Field(
        None, ge=1, le=10_000, description="What comes faster waits for [Try again]. Empty = no limit."
    )
