"""Files in a message: Telegram's facts about each, and the line that stands for it in the message's text. Pure.

A line begins like somebody else's words (`memory/foreign.py`): a file's name was chosen by its maker.
`> document “lease.pdf” [77001]` names the message that brought it; once the file has a number of its own it reads
`> document #2 “lease.pdf” (PDF, 12 pages)`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, Final, Literal

from memory.text import clean

FileKind = Literal["document", "picture", "voice message", "audio", "video message", "video", "GIF"]
MAX_NAME_CHARS: Final = 80
MAX_ID_CHARS: Final = 400
MAX_FILE_BYTES: Final = 2**40
MAX_SECONDS: Final = 10**7
_FIELDS: Final[Mapping[str, FileKind]] = {
    "animation": "GIF",  # a document stands beside it that says the same
    "document": "document",
    "photo": "picture",
    "voice": "voice message",
    "audio": "audio",
    "video_note": "video message",
    "video": "video",
}
OWN_VOICE: Final = frozenset({"voice message", "video message"})
"""Kinds that people speak themselves, unless they bear a name: then they are forwarded from somebody of that name."""
HEARD: Final = frozenset({"audio", *OWN_VOICE})
"""Kinds in which somebody speaks."""
PREVIEWED: Final = frozenset({"video", "GIF"})
"""Kinds of which the still picture that stands for them is looked at."""
_KINDS: Final = "|".join(sorted(set(_FIELDS.values()), key=len, reverse=True))
_LINE: Final = re.compile(
    rf"^> (?P<kind>{_KINDS})(?: #(?P<number>\d+))?(?P<name> “[^”\n]*”)?(?P<rest> [\[(].*)?$", re.MULTILINE
)
FORWARDED: Final = "(forwarded"
"""Beginning of the line that names the sender of a file which was forwarded without a word."""
_ORIGIN: Final = re.compile(rf"^> {re.escape(FORWARDED)} .*\)$", re.MULTILINE)
_NUMBERED: Final = re.compile(rf"> (?:{_KINDS}) #(\d{{1,9}})")
_WAITS: Final = re.compile(r"\A \[(\d+)\]\Z")


ALIKE: Final = 0.4
"""Lines that are less like an edited message than this are none of its old ones."""


@dataclass(frozen=True, slots=True)
class SentFile:
    """One file as an update tells of it. None of it is believed: size and type are found out once it is here."""

    telegram_id: str
    """The id by which the file is asked for; it may be good for this bot alone, and for a while."""
    unique_id: str
    kind: FileKind
    message_id: int
    name: str = ""
    media_type: str = ""
    size_bytes: int = 0
    seconds: int = 0


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A line of a text that stands for a file: by its number, or by the message that brought it."""

    line: str
    kind: str
    number: int | None
    message_id: int | None


def sent_file(message: Mapping[str, Any], whose: str = "") -> SentFile | None:
    """The file of a message, None where there is none that could be fetched. Never raises.

    `whose` is who spoke or wrote it when it was not the sender: a voice message is called after them.
    """
    message_id = message.get("message_id")
    for field, kind in _FIELDS.items():
        given = message.get(field)
        if field == "photo":
            given = _largest(given)
        if kind in PREVIEWED and isinstance(given, dict):
            given = _still(given)
        if isinstance(given, dict) and type(message_id) is int:
            file = _read(given, kind, message_id)
            return replace(file, name=safe_name(f"from {whose}")) if file and whose and kind in OWN_VOICE else file
    return None


def _largest(sizes: object) -> object:
    """The largest size of a photo: the last one that is one."""
    found = [each for each in sizes if isinstance(each, dict)] if isinstance(sizes, list) else []
    return max(found, key=lambda each: _number(each.get("width"), MAX_SECONDS), default=None)


def _still(moving: Mapping[str, Any]) -> object:
    """The still picture of a video, under the video's own name."""
    still = moving.get("thumbnail")
    if not isinstance(still, dict):
        return None
    return {
        **still,
        "file_name": moving.get("file_name"),
        "duration": moving.get("duration"),
        "mime_type": "image/jpeg",
    }


def _read(given: Mapping[str, Any], kind: FileKind, message_id: int) -> SentFile | None:
    telegram_id, unique_id = given.get("file_id"), given.get("file_unique_id")
    if not isinstance(telegram_id, str) or not 0 < len(telegram_id) <= MAX_ID_CHARS:
        return None
    return SentFile(
        telegram_id=clean(telegram_id),
        unique_id=clean(unique_id[:MAX_ID_CHARS]) if isinstance(unique_id, str) else "",
        kind=kind,
        message_id=message_id,
        name=safe_name(given.get("file_name")),
        media_type=_plain(given.get("mime_type"))[:MAX_NAME_CHARS],
        size_bytes=_number(given.get("file_size"), MAX_FILE_BYTES),
        seconds=_number(given.get("duration"), MAX_SECONDS),
    )


def _number(value: object, most: int) -> int:
    return value if type(value) is int and 0 <= value <= most else 0


def safe_name(name: object) -> str:
    """A file's name for people to read: no folder, no sign that is not seen or turns the writing round, not too long.

    `../../etc/passwd` → `passwd`; the ending stays where the middle of a long one goes.
    """
    last = re.split(r"[/\\]", _plain(name))[-1].strip(" .") if isinstance(name, str) else ""
    if len(last) <= MAX_NAME_CHARS:
        return last
    stem, dot, ending = last.rpartition(".")
    if not dot or len(ending) > MAX_NAME_CHARS // 4:
        return last[: MAX_NAME_CHARS - 1] + "…"
    return f"{stem[: MAX_NAME_CHARS - len(ending) - 2]}….{ending}"


def _plain(text: object) -> str:
    """A text on one line, without control signs, quotation marks and brackets that a line of ours could end with."""
    if not isinstance(text, str):
        return ""
    seen = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in text[:4096])
    return " ".join(re.sub('[“”"]', "'", seen).split())


def waiting_line(file: SentFile) -> str:
    """The line of a file that has no number yet."""
    return f"> {file.kind}{_quoted(file.name)} [{file.message_id}]"


def numbered_line(kind: str, number: int, name: str, said: str) -> str:
    """The line of a file, with its facts: `PDF, 12 pages`, or why it was not read."""
    return f"> {kind} #{number}{_quoted(name)}{f' ({said})' if said else ''}"


def _quoted(name: str) -> str:
    return f" “{name}”" if name else ""


def named_files(text: str) -> list[NamedFile]:
    """The lines of a text that stand for files, in order."""
    found: list[NamedFile] = []
    for line in _LINE.finditer(text):
        waits = _WAITS.match(line["rest"] or "")
        number = int(line["number"][:9]) if line["number"] else None
        if number is not None or waits:
            found.append(
                NamedFile(line.group(), line["kind"], number, int(waits[1][:18]) if waits and not number else None)
            )
    return found


def file_numbers(text: str) -> list[int]:
    """The numbers of files whose lines stand in a text, also behind other words; each once, in order."""
    return list(dict.fromkeys(map(int, _NUMBERED.findall(text))))


def own_words(text: str) -> str:
    """A text without the lines of its files and the names of their senders."""
    return _ORIGIN.sub("", _LINE.sub("", text)).strip()


def without(text: str, lines: Sequence[str]) -> str:
    """The text without these lines."""
    return "\n".join(line for line in text.split("\n") if line not in lines)


def reworded(said: str, edited: str, *, is_one: bool) -> str:
    """The words of a turn with the edited message in the place of the old one; files stay where they are.

    Where the turn answered several messages at once, the lines that are most like the new ones are its old ones.
    """
    files, new = {file.line for file in named_files(said)}, _own_lines(edited)
    lines = said.split("\n")
    if is_one:
        return "\n".join([*(line for line in lines if line in files), *new]) or said
    starts = [at for at in range(len(lines) - len(new) + 1) if files.isdisjoint(lines[at : at + len(new)])]
    best = max(starts, key=lambda at: _likeness(lines[at : at + len(new)], new), default=-1)
    if best < 0 or _likeness(lines[best : best + len(new)], new) < ALIKE:
        return "\n".join([*lines, *new])
    return "\n".join([*lines[:best], *new, *lines[best + len(new) :]])


def _own_lines(text: str) -> list[str]:
    """The lines of a message but for those that stand for its files."""
    files = {file.line for file in named_files(text)}
    return [line for line in text.split("\n") if line not in files]


def _likeness(old: list[str], new: list[str]) -> float:
    return SequenceMatcher(None, "\n".join(old), "\n".join(new), autojunk=False).ratio()
