"""Messages without text that can be put into words: a place, a contact, a poll, dice, a sticker. Pure.

Words that somebody else may have written (a poll's question, a contact's name) are marked as theirs.
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
    listed = _dicts(given.get("options"))[:MAX_OPTIONS]
    lines = [f"- {_text(each.get('text'))} ({_number(each.get('voter_count')) or 0} votes)" for each in listed]
    return [_text(given.get("question")), *lines]


def poll_outcome(given: Mapping[str, Any]) -> str:
    """The result of a poll, option by option, marked as somebody else's words. Never raises."""
    title, *votes = _poll_lines(given)
    return foreign("\n".join(votes or ["(nobody knows how)"]), f"The poll “{title}” has ended")


def ticked(message: Mapping[str, Any]) -> tuple[object, str]:
    """The id of the message whose checklist was changed, and how, in words; "" for any other. Never raises."""
    for name in ("checklist_tasks_done", "checklist_tasks_added"):
        change = message.get(name)
        original = change.get("checklist_message") if isinstance(change, dict) else None
        given = original.get("checklist") if isinstance(original, dict) else None
        if not isinstance(change, dict) or not isinstance(original, dict) or not isinstance(given, dict):
            continue
        named = {
            each["id"]: _text(each.get("text"))
            for each in _dicts(given.get("tasks"))
            if isinstance(each.get("id"), int)
        }
        title = f"“{_text(given.get('title'))}”"
        lists = [
            (f"Ticked off in the checklist {title}", _named(change.get("marked_as_done_task_ids"), named)),
            (f"Open again in the checklist {title}", _named(change.get("marked_as_not_done_task_ids"), named)),
            (f"Added to the checklist {title}", [_text(each.get("text")) for each in _dicts(change.get("tasks"))]),
        ]
        parts = [foreign("\n".join(f"- {line}" for line in lines if line), head) for head, lines in lists]
        return original.get("message_id"), "\n".join(filter(None, parts))
    return None, ""


def _named(ids: object, named: Mapping[int, str]) -> list[str]:
    return [named.get(each, "") for each in ids if isinstance(each, int)] if isinstance(ids, list) else []


def _dicts(given: object) -> list[Mapping[str, Any]]:
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []


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
    listed = _dicts(given.get("tasks"))[:MAX_OPTIONS]
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
