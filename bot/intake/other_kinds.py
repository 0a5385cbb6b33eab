"""Messages without text that can be put into words: a place, a contact, a poll, dice, a sticker. Pure.

What somebody else may have written (a poll's question, a contact's name) is marked as theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from memory.foreign import foreign
from memory.text import clean

MAX_CHARS: Final = 300
MAX_OPTIONS: Final = 12


def in_words(message: Mapping[str, Any]) -> str:
    """A message in words, "" for one of another kind. Never raises."""
    for name, read in _READ.items():
        given = message.get(name)
        if isinstance(given, dict):
            return read(given)
    return ""


def _text(value: object) -> str:
    return " ".join(clean(value[:MAX_CHARS]).split()) if isinstance(value, str) else ""


def _number(value: object) -> str:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _venue(given: Mapping[str, Any]) -> str:
    place = given.get("location")
    where = _location(place) if isinstance(place, dict) else ""
    named = ", ".join(filter(None, (_text(given.get("title")), _text(given.get("address")))))
    return "\n".join(filter(None, (foreign(named, "Place"), where)))


def _location(given: Mapping[str, Any]) -> str:
    latitude, longitude = _number(given.get("latitude")), _number(given.get("longitude"))
    live = "live location" if given.get("live_period") else "location"
    return f"[{live}: latitude {latitude}, longitude {longitude}]" if latitude and longitude else ""


def _contact(given: Mapping[str, Any]) -> str:
    name = " ".join(filter(None, (_text(given.get("first_name")), _text(given.get("last_name")))))
    return foreign(", ".join(filter(None, (name, _text(given.get("phone_number"))))), "Contact")


def _poll(given: Mapping[str, Any]) -> str:
    return foreign("\n".join(_poll_lines(given)), "Poll, over" if given.get("is_closed") else "Poll")


def _poll_lines(given: Mapping[str, Any]) -> list[str]:
    """The question, and each option with its votes."""
    options = given.get("options")
    listed = [each for each in options if isinstance(each, dict)][:MAX_OPTIONS] if isinstance(options, list) else []
    lines = [f"- {_text(each.get('text'))} ({_number(each.get('voter_count')) or 0} votes)" for each in listed]
    return [_text(given.get("question")), *lines]


def poll_outcome(given: Mapping[str, Any]) -> str:
    """How a poll ended, option by option, marked as somebody else's words. Never raises."""
    title, *votes = _poll_lines(given)
    return foreign("\n".join(votes or ["(nobody knows how)"]), f"The poll “{title}” has ended")


def open_poll(message: Mapping[str, Any]) -> str:
    """Telegram's id of the poll in a message, "" for none, and for one that is over. Never raises."""
    given = message.get("poll")
    known = given.get("id") if isinstance(given, dict) and not given.get("is_closed") else None
    return clean(known) if isinstance(known, str) and len(known) <= MAX_CHARS else ""


def _dice(given: Mapping[str, Any]) -> str:
    value = _number(given.get("value"))
    return f"[{_text(given.get('emoji')) or 'dice'}: {value}]" if value else ""


def _sticker(given: Mapping[str, Any]) -> str:
    emoji = _text(given.get("emoji"))
    return f"[sticker {emoji}]" if emoji else ""


def _checklist(given: Mapping[str, Any]) -> str:
    tasks = given.get("tasks")
    listed = [each for each in tasks if isinstance(each, dict)][:MAX_OPTIONS] if isinstance(tasks, list) else []
    lines = [f"- [{'x' if each.get('completion_date') else ' '}] {_text(each.get('text'))}" for each in listed]
    title = _text(given.get("title"))
    return foreign("\n".join([title, *lines]), "Checklist") if title or lines else ""


def _story(given: Mapping[str, Any]) -> str:
    chat = given.get("chat")
    whose = _text(chat.get("title") or chat.get("first_name")) if isinstance(chat, dict) else ""
    return foreign("(bots can't look at it)", f"Story of {whose}") if whose else ""


_READ: Final = {
    "venue": _venue,  # a location stands beside it
    "location": _location,
    "contact": _contact,
    "poll": _poll,
    "dice": _dice,
    "sticker": _sticker,
    "checklist": _checklist,
    "story": _story,
}
