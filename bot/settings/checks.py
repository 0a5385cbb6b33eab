"""Checks of one setting alone, beyond its type; each fault is a sentence with the form that the setting takes."""

from __future__ import annotations

import re

from pydantic import SecretStr, field_validator

from bot.settings.fields import SettingsFields
from bot.settings.model_names import SOUND_FORMS, read_sound_model, wrong_models
from bot.settings.shapes import HOST_SHAPE, HOURS_SHAPE, PRICE_SHAPE, TOKEN_SHAPE, is_http, is_network, parts, shown
from memory.storage.place import is_server
from memory.zones import known_zone


class CheckedFields(SettingsFields):
    """The settings, each checked by itself."""

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
        wrong = [part for part in parts(value) if part != "*" and not re.fullmatch(r"[0-9]{1,16}", part)]
        if wrong:
            msg = f"takes numeric Telegram ids separated by commas, or *; not {', '.join(map(shown, wrong))}"
            raise ValueError(msg)
        return value

    @field_validator("continuity_quiet_hours")
    @classmethod
    def _hours(cls, value: str) -> str:
        if value.strip() and not HOURS_SHAPE.fullmatch(value.strip()):
            msg = f"takes hours such as 22:00-07:00, not {shown(value)}"
            raise ValueError(msg)
        return value

    @field_validator("continuity_prices")
    @classmethod
    def _price_list(cls, value: str) -> str:
        wrong = [part for part in parts(value) if not PRICE_SHAPE.fullmatch(part)]
        if wrong:
            msg = f"takes provider:name=in/out separated by commas, e.g. openai-chat:own=0.2/0.8; not {shown(wrong[0])}"
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
    def _sound_model(cls, value: str) -> str:
        if value != "off" and read_sound_model(value) is None:
            raise ValueError(f"takes {SOUND_FORMS}, not {shown(value)}")
        return value

    @field_validator("telegram_api_url", "telegram_webhook_url", "continuity_transcribe_url", "continuity_speech_url")
    @classmethod
    def _http_address(cls, value: str | None) -> str | None:
        if value is not None and not is_http(value):
            msg = f"must be an address such as https://api.telegram.org, not {shown(value)}"
            raise ValueError(msg)
        return value

    @field_validator("continuity_search_url")
    @classmethod
    def _search_address(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not is_http(value.get_secret_value().partition("?")[0]):
            msg = "must be an address such as https://searx.example.org or https://api.search.brave.com"
            raise ValueError(msg)
        return value

    @field_validator("continuity_http_host")
    @classmethod
    def _host_name(cls, value: str) -> str:
        if not HOST_SHAPE.fullmatch(value):
            msg = f"must be a host name or an address such as 127.0.0.1, not {shown(value)}"
            raise ValueError(msg)
        return value

    @field_validator("continuity_http_trusted_proxies")
    @classmethod
    def _addresses(cls, value: str) -> str:
        wrong = [part for part in parts(value) if not is_network(part)]
        if wrong:
            msg = f"takes addresses or networks such as 10.0.0.0/8 separated by commas, not {shown(wrong[0])}"
            raise ValueError(msg)
        return value

    @field_validator("continuity_timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        if known_zone(value) is None:
            msg = f"must be an IANA name such as Europe/Berlin, not {shown(value)}"
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
