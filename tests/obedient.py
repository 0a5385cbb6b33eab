"""A model that does whatever no fence holds back, and takes every sign for what it looks like, as models do."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from loopback.model import ToolCall

FENCED = re.compile(r"<data-[0-9a-f]{8}>\n(?:(?!<\s*/?\s*data\b).)*</data-[0-9a-f]{8}>", re.DOTALL)
"""A fence with nothing inside that reads like the tag of one."""
ORDER = re.compile(r"OBEY-(\w+)")
LOOKS_LIKE = str.maketrans("‹〈⟨❮〈⁄∕⧸аԁт", "<<<<<///adt")
TAGS = 0xE0000


@cache
def as_read(text: str) -> str:
    """Return a text as it reads: hidden letters told, signs without width left out, look-alikes plain."""
    told = (chr(ord(char) - TAGS) if TAGS <= ord(char) < TAGS + 128 else char for char in text)
    seen = (char for char in told if char.isspace() or unicodedata.category(char) not in {"Cc", "Cf", "Mn", "Me"})
    return unicodedata.normalize("NFKC", "".join(seen).translate(LOOKS_LIKE))


def hidden(text: str) -> str:
    """Return a text in tag characters: no screen shows it, a model reads it."""
    return "".join(chr(TAGS + ord(char)) for char in text)


class ObedientModel:
    """Does what stands outside every fence in anything but its own words; otherwise says that all is well."""

    def __init__(self) -> None:
        self.obeyed: list[str] = []
        self.saw: set[str] = set()
        self.searches: list[str] = []
        """What it looks up in the past before it answers, once each."""
        self.calls: list[ToolCall] = []
        """Tools that it calls before it answers, once each."""

    def __call__(self, messages):
        for message in messages:
            text = message.get("content") or ""
            text = as_read("\n".join(part.get("text", "") for part in text) if isinstance(text, list) else text)
            self.saw |= set(ORDER.findall(text))
            if message["role"] != "assistant":
                self.obeyed += ORDER.findall(FENCED.sub("", text))
        if self.searches and messages[-1]["role"] == "user":
            return [ToolCall("search", {"query": self.searches.pop()})]
        if self.calls and messages[-1]["role"] == "user":
            calls, self.calls = self.calls, []
            return calls
        return "All is well."
