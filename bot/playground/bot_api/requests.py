"""Read a Bot API request of any of the allowed forms: query, form, multipart, JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import orjson
from aiohttp import web
from aiohttp.web_request import FileField

from bot.playground.bot_api.faults import Kind
from bot.playground.bot_api.rules import Json, refuse

_JSON = {
    "reply_markup", "entities", "caption_entities", "reply_parameters", "link_preview_options", "commands", "scope",
    "allowed_updates", "reaction", "menu_button", "suggested_post_parameters",
}  # fmt: skip
_TEXT = {"text", "caption", "callback_query_id", "url", "secret_token", "file_id", "action", "description"}
_NUMBER = re.compile(r"-?\d{1,20}")


@dataclass(slots=True)
class Call:
    """One request of the bot; `status` 0 means that it never got an answer."""

    at_s: float
    method: str
    params: Json
    status: int = 0
    answer: Json | None = None
    fault: Kind | None = None


async def read_params(request: web.Request) -> Json:
    """Return the parameters with JSON fields, numbers and booleans read; a file is `(name, bytes)`.

    Raises `ApiError` 400 when a JSON field or body cannot be read.
    """
    params: Json = {name: _read(name, value) for name, value in request.query.items()}
    if request.method != "POST" or not request.can_read_body:
        return params
    if request.content_type == "application/json":
        body = _loads(await request.read())
        if not isinstance(body, dict):
            raise refuse("object expected as request body")
        return params | {name: _read(name, value) for name, value in body.items() if value is not None}
    for name, value in (await request.post()).items():
        if isinstance(value, FileField):
            params[name] = (value.filename, value.file.read())
        else:
            params[name] = _read(name, value)
    return params


def _read(name: str, value: Any) -> Any:
    if not isinstance(value, str) or name in _TEXT:
        return value
    if name in _JSON:
        return _loads(value.encode())
    if _NUMBER.fullmatch(value):
        return int(value)
    return {"true": True, "false": False}.get(value.lower(), value)


def _loads(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as exc:
        raise refuse(f"can't parse JSON: {exc}") from exc
