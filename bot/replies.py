"""Sentences for people, in the language of the person spoken to; the sentences are `languages/*.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from bot.sentences import DEFAULT, LANGUAGES, SPEAKABLE, commands, forms, sentences

_TWO_STOPS: Final = re.compile(r"(?<!\.)\.\.(?!\.)")
_LEAST_MB, _WHOLE_MB = 0.1, 10
_SPOKEN: ContextVar[str] = ContextVar("spoken", default=DEFAULT)

MEANT_COMMANDS: Final = {
    "reset": "fresh",
    "clear": "fresh",
    "restart": "fresh",
    "resume": "continue",
    "back": "continue",
    "delete": "forget",
    "erase": "forget",
    "undo": "forget",
    "notes": "memory",
    "memories": "memory",
    "remember": "memory",
    "todo": "loops",
    "todos": "loops",
    "schedule": "tasks",
    "cron": "tasks",
    "open": "loops",
    "reminder": "reminders",
    "alarm": "remind",
    "tz": "timezone",
    "time": "timezone",
    "history": "sessions",
    "chats": "sessions",
    "model": "context",
    "tokens": "context",
    "usage": "context",
    "mode": "settings",
    "language": "settings",
    "about": "privacy",
    "download": "export",
    "again": "retry",
    "regenerate": "retry",
    "halt": "stop",
    "hilfe": "help",
    "ayuda": "help",
    "aide": "help",
    "ajuda": "help",
}
"""People's words for a command that has another name."""


@contextmanager
def speaking(code: str | None) -> Iterator[None]:
    """Say everything inside in this language; in English for one that the bot does not speak.

    The language holds for this task and those begun in it; people answered at the same time keep theirs.
    """
    before = _SPOKEN.set(code if code in SPEAKABLE else DEFAULT)
    try:
        yield
    finally:
        _SPOKEN.reset(before)


def spoken() -> str:
    """Return the code of the language that is spoken here."""
    return _SPOKEN.get()


def say(key: str, **values: object) -> str:
    """Return a sentence with its values filled in; one full stop where a value ends with its own ("12. Dez.").

    Raises `KeyError` for a sentence that English lacks; one that another language lacks is said in English.
    """
    sentence = sentences(spoken())[key]
    said = sentence.format(**values)
    return _TWO_STOPS.sub(".", said) if "}." in sentence else said


def every(key: str) -> frozenset[str]:
    """Return a sentence without values in all languages."""
    return frozenset(sentences(code)[key] for code in LANGUAGES)


def known(key: str) -> bool:
    """Return whether there is such a sentence."""
    return key in sentences(spoken())


def counted(count: int, word: str) -> str:
    """Return `1 turn`, `2 turns`, in the form that the number asks for."""
    written = forms(spoken())[word]
    return written[min(_form(spoken(), count), len(written) - 1)].format(n=number(count))


def number(count: int) -> str:
    """Return `12,000` as people write it."""
    return f"{count:,}".replace(",", say("thousands"))


def size(size_bytes: int) -> str:
    """Return `2 KB`, `0.4 MB` or `16 MB` as people write it."""
    megabytes = size_bytes / 1_000_000
    if megabytes < _LEAST_MB:
        return f"{max(1, round(size_bytes / 1000))} KB"
    if megabytes >= _WHOLE_MB:
        return f"{megabytes:.0f} MB"
    return f"{megabytes:.1f} MB".replace(".", "." if say("thousands") == "," else ",")


def ago(elapsed_ms: int) -> str:
    """Return how long ago something was, in the largest sensible unit."""
    seconds = max(0, elapsed_ms) // 1000
    for length, word in ((86_400, "days_ago"), (3_600, "hours_ago"), (60, "minutes_ago")):
        if seconds >= length:
            return counted(seconds // length, word)
    return say("just_now")


def plural(count: int, word: str) -> str:
    """Return `1 turn`, `2 turns`, in English: for operators."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def command_menu(code: str) -> dict[str, str]:
    """Return the description of each command, in a language."""
    table = sentences(code)
    return {name: table[f"commands.{name}"] for name in commands()}


def tongue(code: str) -> str:
    """Return the name of a language among those who speak it; "" is the one that a person writes."""
    return sentences(code)["language_name"] if code else say("language_as_written")


def help_text(tail: str, most: int | None = None) -> str:
    """Return the list of commands for /help, of the first so many, and how the rest that one writes is taken."""
    lines = [f"/{name} - {what}" for name, what in list(command_menu(spoken()).items())[:most]]
    return "\n".join([say("help_head"), *lines, *filter(None, ("", tail))])


def _form(code: str, count: int) -> int:
    """Return which form of a word a number asks for: 1 день, 2 дня, 5 дней."""
    last, teen = count % 10, count % 100 in range(11, 15)
    if code == "ru":
        return 0 if last == 1 and not teen else 1 if last in {2, 3, 4} and not teen else 2
    return 0 if count == 1 or (code == "fr" and count == 0) else 1
