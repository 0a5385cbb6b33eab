"""Everything a person may send, each with words of its own that the answer repeats: for storms in which a bot dies."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from loopback.formats import text_of
from loopback.sounds import voice
from PIL import Image
from story import answered, bot_texts, rows

from benchmarks.papers import pdf, word


def _square() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (64, 64), "green").save(out, "JPEG")
    return out.getvalue()


SQUARE: Final = _square()
Send = Callable[[Any, int, str], object]
"""Sends something as a person over a Bot API server: `chat 7 message 1` stands in it, whatever it is."""


def repeats(messages: list[dict[str, Any]]) -> str:
    """Reply of a model that repeats `chat 7 message 1` of what came last, wherever it stands in it."""
    said = next((text_of(each.get("content")) for each in reversed(messages) if each["role"] == "user"), "")
    return f"You said: {(re.findall(r'chat [0-9]+ message [0-9]+', said) or ['a picture'])[-1]}"


def _text(api: Any, person: int, text: str) -> None:
    api.people.says(person, text)


def _file(api: Any, person: int, text: str, *, kind: str, make: Callable[[str], bytes], name: str = "") -> None:
    api.people.sends_file(person, make(text), kind=kind, name=name, caption=text)


def _spoken(api: Any, person: int, text: str, *, kind: str) -> None:
    api.people.sends_file(person, voice(text, seconds=1), kind=kind, claims={"duration": 1})


def _moving(api: Any, person: int, text: str, *, kind: str) -> None:
    """Send a video or a GIF; Telegram gives a still picture with it, and calls a GIF a document as well."""
    api.world.files[text] = SQUARE
    still = {"file_id": text, "file_unique_id": text, "width": 64, "height": 64}
    about = {"file_id": f"moving {text}", "file_unique_id": f"moving {text}", "duration": 2, "thumbnail": still}
    beside = {"document": about} if kind == "animation" else {}
    api.people.sends(person, {kind: about, **beside, "caption": text})


def _album(api: Any, person: int, text: str) -> None:
    for number in range(3):
        caption = text if number == 2 else ""
        api.people.sends_file(person, SQUARE, kind="photo", caption=caption, album=text)


def _sticker(api: Any, person: int, text: str) -> None:
    api.people.sends(person, {"sticker": {"file_id": "s", "file_unique_id": "s", "type": "regular", "emoji": text}})


def _poll(api: Any, person: int, text: str) -> None:
    options = [{"text": each, "voter_count": 0} for each in ("yes", "no", text)]
    api.people.sends(person, {"poll": {"id": text, "question": "Tea?", "options": options, "is_closed": False}})


def _place(api: Any, person: int, text: str) -> None:
    where = {"latitude": 54.3, "longitude": 10.1}
    api.people.sends(person, {"venue": {"location": where, "title": text, "address": "Kiel"}, "location": where})


KINDS: Final[dict[str, tuple[Send, int]]] = {
    "text": (_text, 0),
    "photo": (partial(_file, kind="photo", make=lambda _: SQUARE), 1),
    "txt": (partial(_file, kind="document", make=str.encode, name="note.txt"), 1),
    "voice": (partial(_spoken, kind="voice"), 1),
    "audio": (partial(_file, kind="audio", make=voice, name="song.ogg"), 1),
    "video": (partial(_moving, kind="video"), 1),
    "video note": (partial(_spoken, kind="video_note"), 1),
    "GIF": (partial(_moving, kind="animation"), 1),
    "sticker": (_sticker, 0),
    "album": (_album, 3),
    "poll": (_poll, 0),
    "place": (_place, 0),
    "PDF": (partial(_file, kind="document", make=lambda text: pdf([text]), name="lease.pdf"), 1),
    "docx": (partial(_file, kind="document", make=lambda text: word([text]), name="lease.docx"), 1),
}
"""What can be sent, and how many files each brings."""
SPOKEN: Final = frozenset({"voice", "video note"})
"""Kinds whose words are shown to who spoke them."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What people have sent, each another kind first, one after another, so many each."""

    people: Sequence[int]
    messages: int

    def kind(self, person: int, number: int) -> str:
        """The kind of a person's message."""
        return list(KINDS)[(person + number) % len(KINDS)]

    async def say(self, api: Any, person: int, timeout_s: float = 240) -> None:
        """Send all of a person, each after the answer to the one before."""
        for number in range(1, self.messages + 1):
            text = f"chat {person} message {number}"
            KINDS[self.kind(person, number)][0](api, person, text)
            await answered(api, person, text, timeout_s)

    def check(self, api: Any, bot: Any, note: str = "") -> None:
        """Assert that each was answered once, in order, its words shown once if it was spoken, each file read once."""
        everything = [self.kind(person, number) for person in self.people for number in range(1, self.messages + 1)]
        for person in self.people:
            said = [f"You said: chat {person} message {number}" for number in range(1, self.messages + 1)]
            spoken = sum(self.kind(person, number) in SPOKEN for number in range(1, self.messages + 1))
            shown = bot_texts(api, person)
            assert [text for text in shown if "I heard" not in text] == said, note
            assert len(shown) == len(said) + spoken, note
        files = sum(KINDS[kind][1] for kind in everything)
        numbers = rows(bot, "SELECT conversation_id, number FROM files WHERE state = 'read'")
        assert len(set(numbers)) == files, note
        assert rows(bot, "SELECT COUNT(*) FROM files") == [(files,)], note
        assert rows(bot, "SELECT COUNT(*) FROM conversation_turns") == [(len(everything),)], note
