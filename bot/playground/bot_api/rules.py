"""Telegram's refusals and their words: pure checks of texts, entities and keyboards."""

from __future__ import annotations

import re
from typing import Any

Json = dict[str, Any]

TEXT_MAX_UTF16 = 4096
CALLBACK_DATA_MAX_BYTES = 64
BUTTONS_MAX = 100
_BLANK = " \n\t\r\v\f"
_FOUND_IN_TEXT = (
    ("bot_command", re.compile(r"(?<![\w/])/[A-Za-z0-9_]{1,32}(?:@\w{3,32})?(?![\w/])")),
    ("mention", re.compile(r"(?<!\w)@\w{3,32}")),
    ("url", re.compile(r"https?://[^\s<>]+")),
)


class ApiError(Exception):
    """The Bot API refuses a call; becomes `{"ok": false, …}`."""

    def __init__(self, code: int, description: str, **parameters: int | None) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = {name: value for name, value in parameters.items() if value is not None}

    def answer(self) -> Json:
        """Return the body that Telegram would send."""
        body: Json = {"ok": False, "error_code": self.code, "description": self.description}
        if self.parameters:
            body["parameters"] = self.parameters
        return body


def refuse(why: str) -> ApiError:
    """Return the error of a malformed request: code 400, `Bad Request: <why>`."""
    return ApiError(400, f"Bad Request: {why}")


def utf16_units(text: str) -> int:
    """Return the length of a text in UTF-16 units, as Telegram counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def checked_text(params: Json, *, empty_is_fine: bool = False) -> tuple[str, list[Json]]:
    """Return text and entities as Telegram keeps them: trimmed at both ends, entities moved along.

    Raises `ApiError` 400 for a text that is empty, too long or no text, and for entities outside of it.
    """
    if params.get("parse_mode"):
        raise refuse("the loopback server renders no parse_mode; send entities")
    text = params.get("text", "")
    if not isinstance(text, str):
        raise refuse('field "text" must be of type String')
    entities = params.get("entities") or []
    _check_bounds(text, entities)
    text, entities = _trimmed(text, entities)
    if not text and not empty_is_fine:
        raise refuse("message text is empty")
    if utf16_units(text) > TEXT_MAX_UTF16:
        raise refuse("message is too long")
    return text, entities


def _check_bounds(text: str, entities: Any) -> None:
    if not isinstance(entities, list):
        raise refuse("can't parse entities: expected an Array of MessageEntity")
    units = utf16_units(text)
    for entity in entities:
        if not isinstance(entity, dict) or not {"type", "offset", "length"} <= entity.keys():
            raise refuse("can't parse MessageEntity: type, offset and length are needed")
        offset, length = entity["offset"], entity["length"]
        if not (isinstance(offset, int) and isinstance(length, int)):
            raise refuse("can't parse MessageEntity: offset and length must be numbers")
        if offset < 0 or length <= 0 or offset + length > units:
            raise refuse(f"entity {entity['type']} at {offset}+{length} ends outside of the text of {units} units")
        if _splits_a_character(text, offset) or _splits_a_character(text, offset + length):
            raise refuse(f"entity {entity['type']} at {offset}+{length} splits a character")


def _splits_a_character(text: str, unit: int) -> bool:
    head = text.encode("utf-16-le", "surrogatepass")[: unit * 2][-2:]
    return len(head) == 2 and 0xD8 <= head[1] <= 0xDB  # noqa: PLR2004 - a high surrogate stands alone


def _trimmed(text: str, entities: list[Json]) -> tuple[str, list[Json]]:
    first = min((e["offset"] for e in entities), default=len(text))
    lead = 0
    while lead < min(first, len(text)) and text[lead] in " \n":
        lead += 1
    text = text[lead:].rstrip(_BLANK)
    units = utf16_units(text)
    kept = []
    for entity in entities:
        offset = entity["offset"] - lead
        length = min(entity["length"], units - offset)
        if length > 0:
            kept.append({**entity, "offset": offset, "length": length})
    return text, sorted(kept, key=lambda e: (e["offset"], -e["length"]))


def checked_keyboard(markup: Any) -> Json | None:
    """Return the inline keyboard, or None when there is none (another kind of markup leaves nothing on a message).

    Raises `ApiError` 400 for a button that Telegram would refuse.
    """
    if not markup:
        return None
    if not isinstance(markup, dict):
        raise refuse("object expected as reply markup")
    rows = markup.get("inline_keyboard")
    if rows is None:
        return None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise refuse('field "inline_keyboard" must be an Array of Arrays')
    buttons = [button for row in rows for button in row]
    if len(buttons) > BUTTONS_MAX:
        raise refuse("reply markup is too long")
    for button in buttons:
        _check_button(button)
    rows = [row for row in rows if row]
    return {"inline_keyboard": rows} if rows else None


def _check_button(button: Any) -> None:
    if not isinstance(button, dict) or not str(button.get("text") or "").strip():
        raise refuse('can\'t parse inline keyboard button: Field "text" must be of type String')
    kinds = button.keys() - {"text", "style", "icon_custom_emoji_id"}
    if len(kinds) != 1:
        raise refuse("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
    if "callback_data" in kinds:
        size = len(str(button["callback_data"]).encode())
        if not 1 <= size <= CALLBACK_DATA_MAX_BYTES:
            raise refuse("BUTTON_DATA_INVALID")


def found_entities(text: str) -> list[Json]:
    """Return the entities that Telegram finds by itself in a person's text: commands, mentions, links."""
    spans = sorted((m.start(), -m.end(), kind) for kind, pattern in _FOUND_IN_TEXT for m in pattern.finditer(text))
    found: list[Json] = []
    taken_until = 0
    for start, minus_end, kind in spans:
        if start >= taken_until:
            taken_until = -minus_end
            units = utf16_units(text[:start]), utf16_units(text[start:taken_until])
            found.append({"type": kind, "offset": units[0], "length": units[1]})
    return found


def pieces(text: str) -> list[str]:
    """Return a long paste as Telegram's apps send it: pieces of at most 4096 UTF-16 units, in order."""
    parts, part, units = [], "", 0
    for character in text:
        size = utf16_units(character)
        if units + size > TEXT_MAX_UTF16:
            parts.append(part)
            part, units = "", 0
        part += character
        units += size
    return [*parts, part] if part else parts
