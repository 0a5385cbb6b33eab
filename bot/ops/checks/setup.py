"""Checks of the settings: token, models and their keys, who may use the bot, the HTTP door. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping

from bot.ops.checks.check import Check
from bot.replies import plural
from bot.settings import HTTP_TOKEN_CHARS, is_loopback

PROVIDER_KEYS: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openai-chat": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openai-responses": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "ollama": ("OLLAMA_BASE_URL",),
    "together": ("TOGETHER_API_KEY",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "moonshotai": ("MOONSHOTAI_API_KEY", "MOONSHOTAI_BASE_URL"),
}
"""Provider → the variables of which one must be set (a compatible server needs no key); others are not judged."""


PROVIDER_PACKAGES: Mapping[str, tuple[str, str]] = {
    "google": ("google.genai", "pydantic-ai-slim[google]"),
    "groq": ("groq", "pydantic-ai-slim[groq]"),
    "mistral": ("mistralai", "pydantic-ai-slim[mistral]"),
}
"""Provider → the module it needs beyond the default installation, and the package that brings it."""


WITHOUT_KEY = ("offline", "ollama")


def settings(faults: Mapping[str, str], present: Collection[str], known: Collection[str]) -> list[Check]:
    """Judge the settings: their faults, and variables that look like settings but are none."""
    checks = [
        Check("settings", "fail", f"{name}: {fault}", "correct it, see .env.example; most other checks wait for that")
        for name, fault in faults.items()
    ]
    for name in sorted(present):
        if name.upper().startswith(("CONTINUITY_", "TELEGRAM_")) and name.upper() not in known:
            near = difflib.get_close_matches(name.upper(), known, n=1)
            do = f"did you mean {near[0]}?" if near else "remove it, or see .env.example"
            checks.append(Check("settings", "warn", f"{name} is set, but there is no such setting", do))
    return checks or [Check("settings", "ok", "all settings are valid")]


def token(*, present: bool, well_formed: bool) -> Check:
    """Judge the shape of the bot token; only Telegram knows whether it is valid."""
    get = "get a token from @BotFather and set TELEGRAM_BOT_TOKEN"
    if not present:
        return Check("token.shape", "warn", "TELEGRAM_BOT_TOKEN is not set: `chat` and `play` work without", get)
    if not well_formed:
        return Check("token.shape", "fail", "TELEGRAM_BOT_TOKEN does not look like 123456789:AA…", get)
    return Check("token.shape", "ok", "the token looks like one")


def model_key(
    model: str, environment: Collection[str], others: Collection[str] = (), setting: str = "CONTINUITY_MODEL"
) -> Check:
    """Judge whether the chosen provider is known, here or to the library (`others`), and its key is there.

    The key's value is never looked at.
    """
    provider, _, name = model.partition(":")
    if provider in WITHOUT_KEY:
        return Check("model.key", "ok", f"'{model}' needs no key")
    if not name:
        do = "write provider:name, e.g. openai:gpt-5-mini"
        return Check("model.key", "fail", f"{setting} '{model}' names no provider", do)
    names = PROVIDER_KEYS.get(provider)
    if names is None and provider in others:
        return Check("model.key", "ok", f"which key '{provider}' needs is not known here; the first message will tell")
    if names is None:
        do = f"use one of {', '.join(sorted(PROVIDER_KEYS))}; openai-chat with OPENAI_BASE_URL fits compatible servers"
        return Check("model.key", "fail", f"{setting} '{model}' names an unknown provider", do)
    found = [name for name in names if name in environment]
    if found:
        return Check("model.key", "ok", f"{found[0]} is set for {model}")
    return Check(
        "model.key", "fail", f"{model} needs {' or '.join(names)}", f"set {names[0]} in the environment or in .env"
    )


def model_package(model: str, installed: Collection[str]) -> Check:
    """Judge whether the provider's library is installed."""
    needed = PROVIDER_PACKAGES.get(model.partition(":")[0])
    if needed and needed[0] not in installed:
        do = f".venv/bin/pip install '{needed[1]}'"
        return Check("model.package", "fail", f"{model} needs the package {needed[0]}", do)
    return Check(
        "model.package", "ok", "the model's library is installed" if needed else "no further library is needed"
    )


def access(*, everyone: bool, named: int, paired: int) -> Check:
    """Judge who may use the bot (P14)."""
    if everyone:
        do = "name people in CONTINUITY_ALLOWED_USERS if your tokens are dear to you"
        return Check("access", "warn", "everybody on Telegram may use the bot", do)
    if named + paired == 0:
        return Check("access", "warn", "nobody may use the bot yet", "send it the code that `run` prints")
    return Check("access", "ok", f"{plural(named, 'user')} named in the settings, {paired} paired")


def http(*, port: int | None, host: str, token_set: bool, token_long: bool = True) -> Check:
    """Judge the HTTP server's door."""
    if port is None:
        return Check("http", "ok", "the HTTP server is off")
    if token_set and not token_long:
        do = f"set one of {HTTP_TOKEN_CHARS} characters or more, such as `openssl rand -hex 32` prints"
        says = f"HTTP listens on {host}:{port} with a token that can be guessed"
        return Check("http", "warn" if is_loopback(host) else "fail", says, do)
    if not token_set and not is_loopback(host):
        do = "set CONTINUITY_HTTP_TOKEN, or listen on 127.0.0.1"
        return Check("http", "fail", f"HTTP listens on {host}:{port} without a token", do)
    if not token_set:
        return Check("http", "warn", f"HTTP listens on {host}:{port} without a token", "set CONTINUITY_HTTP_TOKEN")
    return Check("http", "ok", f"HTTP listens on {host}:{port} with a token")


def timezone(name: str, local_time: str) -> Check:
    """Say the time zone and its local time, so that a wrong one is seen."""
    return Check("timezone", "ok", f"{name}, where it is {local_time}")
