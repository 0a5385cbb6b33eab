"""The wire to a model, by its id: our own format where we have one, pydantic-ai for every other provider."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from bot.answers.errors import no_key
from bot.answers.wires.anthropic import Messages
from bot.answers.wires.chat_completions import ChatCompletions
from bot.answers.wires.http_wire import HttpWire
from bot.answers.wires.port import Format, Wire
from bot.answers.wires.responses import Responses
from bot.answers.wires.server import ModelServer

OPENAI_URL: Final = "https://api.openai.com/v1"
ANTHROPIC_VERSION: Final = "2023-06-01"


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider that is asked over HTTP: its address and key, as the variables of its own client name them."""

    spoken: Format
    name: str
    """As the price list knows it."""
    key: str
    """The variable that holds the key."""
    url: str
    """The address; a key is needed there, and may be missing anywhere else."""
    url_variable: str = ""
    header: str = "Authorization"
    scheme: str = "Bearer "
    headers: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    """Headers by the variable that holds their value."""
    keyless: bool = False
    """Its own address asks for no key either."""

    def server(self) -> ModelServer:
        """Return the server that the environment names. Raises `ModelError` for a key that is none."""
        url = (os.environ.get(self.url_variable, "").strip() or self.url).rstrip("/")
        key = os.environ.get(self.key, "").strip()
        if not key and url == self.url and not self.keyless:
            raise no_key(self.key)
        if not (key.isascii() and key.isprintable()):
            raise no_key(self.key, "has a character that no key has")
        named = {header: value for name, header in self.variables.items() if (value := os.environ.get(name))}
        return ModelServer(url, {self.header: f"{self.scheme}{key or 'none'}", **self.headers, **named})


_CHAT: Final = ChatCompletions()
_OPENAI: Final = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
PROVIDERS: Final[Mapping[str, Provider]] = {
    "openai": Provider(
        Responses(), "openai", "OPENAI_API_KEY", OPENAI_URL, url_variable="OPENAI_BASE_URL", variables=_OPENAI
    ),
    "openai-chat": Provider(
        _CHAT, "openai", "OPENAI_API_KEY", OPENAI_URL, url_variable="OPENAI_BASE_URL", variables=_OPENAI
    ),
    "openai-responses": Provider(
        Responses(), "openai", "OPENAI_API_KEY", OPENAI_URL, url_variable="OPENAI_BASE_URL", variables=_OPENAI
    ),
    "anthropic": Provider(
        Messages(),
        "anthropic",
        "ANTHROPIC_API_KEY",
        "https://api.anthropic.com",
        url_variable="ANTHROPIC_BASE_URL",
        header="x-api-key",
        scheme="",
        headers={"anthropic-version": ANTHROPIC_VERSION},
    ),
    "ollama": Provider(
        _CHAT, "ollama", "OLLAMA_API_KEY", "http://localhost:11434/v1", url_variable="OLLAMA_BASE_URL", keyless=True
    ),
    "openrouter": Provider(_CHAT, "openrouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"),
    "deepseek": Provider(_CHAT, "deepseek", "DEEPSEEK_API_KEY", "https://api.deepseek.com"),
    "together": Provider(_CHAT, "together", "TOGETHER_API_KEY", "https://api.together.xyz/v1"),
    "fireworks": Provider(_CHAT, "fireworks", "FIREWORKS_API_KEY", "https://api.fireworks.ai/inference/v1"),
    "moonshotai": Provider(
        _CHAT, "moonshotai", "MOONSHOTAI_API_KEY", "https://api.moonshot.ai/v1", url_variable="MOONSHOTAI_BASE_URL"
    ),
}
"""The providers that are asked without a library, by the beginning of a model's id."""


async def wire_to(model: str, *, listed: bool) -> Wire:
    """Return the way to a model; `listed` says whether its price is looked up.

    Raises `ModelError` for a missing key, ImportError for a missing library.
    """
    prefix, _, name = model.partition(":")
    provider = PROVIDERS.get(prefix)
    if provider and name:
        return HttpWire(name, provider.server(), provider.spoken, provider.name, listed=listed)
    return await asyncio.to_thread(_any_provider, model, listed=listed)


def _any_provider(model: str, *, listed: bool) -> Wire:
    from bot.answers.wires.any_provider import AnyProvider

    return AnyProvider.build(model, listed=listed)
