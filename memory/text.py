"""Text without a language: made storable, cut to a length, parted into sentences and words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from unicodedata import combining, normalize

HEAD_CHARS: Final = 1_600
TAIL_CHARS: Final = 800
MAX_SENTENCES: Final = 40
MAX_SENTENCE_CHARS: Final = 320
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_HIDDEN = re.compile("(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{4,6}\U000e007f)|[\U000e0000-\U000e007f]")
"""Tag characters: a copy of ASCII that no screen shows, for flags such as Scotland's, and that models read."""
_NOISE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|www\.\S+", re.DOTALL)
_ENDS = re.compile(
    "(?<=[.!?\u2026])(?<!\\b\\w\\.)(?<!\\b\\d\\d\\.)(?<!\\b[A-Z]\\w\\.)(?<!\\b[A-Z]\\w\\w\\.)(?<!\\b[A-Z]\\w\\w\\w\\.)[\"')\\]\u00bb\u201d]*\\s+|(?<=[\u3002\uff01\uff1f\uff1b])|\\n+"
)
"""Ends of sentences: no full stop behind one letter, a number of two digits ("z. B.", "am 12. Mai"), or a short word
with a capital, which is mostly a title ("Ms. Lindqvist")."""
_BULLET = re.compile("^\\s*(?:[-*\u2022\u2013\u2014]\\s+|\\d{1,2}[.)]\\s+|[a-dA-D]\\)\\s+|>+\\s*|#+\\s+)+")
_WORD = re.compile(r"[^\W_]+(?:['\u2019\-][^\W_]+)*")
_QUESTION_MARKS: Final = ("?", "\uff1f", "\u061f")
_CLOSING: Final = " \t\n\"')]*_\u00bb\u201d"
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<=[\w,;] )[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω][\w'\u2019-]+")


def clean(text: str) -> str:
    """The text as JSON and databases take it: no NUL, halves of one character joined, a lone half as U+FFFD.

    What is written in tag characters goes too: whoever pasted it could not see it, and a model would read it.
    """
    if text.isascii() and "\x00" not in text:
        return text
    text = _HIDDEN.sub(r"\1", text)
    if not _UNSTORABLE.search(text):
        return text
    return text.replace("\x00", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clip(text: str, head: int = HEAD_CHARS, tail: int = TAIL_CHARS) -> str:
    """The text, or its beginning and its end when it is longer than both together."""
    return text if len(text) <= head + tail else f"{text[:head]}\n{text[-tail:]}"


def shorten(text: str, limit: int) -> str:
    """The text on one line, at most `limit` characters, cut at a word with an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    return (cut.rsplit(" ", 1)[0] or cut).rstrip(" ,;:") + "…"


def lowered(text: str) -> str:
    """The text in lower case with straight apostrophes."""
    return text.lower().replace("\u2019", "'").replace("\u02bc", "'")


def folded(text: str) -> str:
    """The text in small letters without accents: `Alérgico` → `alergico`."""
    return "".join(letter for letter in normalize("NFKD", text.casefold()) if not combining(letter))


def words_of(lower: str) -> tuple[str, ...]:
    """The words of a lower-cased text in order."""
    return tuple(_WORD.findall(lower))


def asks_at_the_end(text: str) -> bool:
    """Whether the last sentence ends in a question mark of any script (002: then a clarification is pending)."""
    return text.rstrip(_CLOSING).endswith(_QUESTION_MARKS)


def has_question_mark(text: str) -> bool:
    """Whether the text holds a question mark of any script."""
    return any(mark in text for mark in _QUESTION_MARKS)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text without code, links and bullets: at most 40, of at most 320 characters each."""
    count = 0
    for piece in _ENDS.split(_NOISE.sub(" ", clip(clean(text)))):
        plain = _BULLET.sub("", piece or "").strip()
        if not plain:
            continue
        yield plain[:MAX_SENTENCE_CHARS]
        count += 1
        if count == MAX_SENTENCES:
            return


def specific_words(sentence: str) -> frozenset[str]:
    """The names and the words with digits: two sentences that differ in one of them say different things."""
    numbers = (word.strip(".,;:!?") for word in sentence.split() if _NUMBER.search(word))
    return frozenset((*_NAME.findall(sentence), *numbers))


def specifics(sentence: str) -> int:
    """How many numbers and names the sentence holds: nobody can reconstruct them from the gist."""
    return len(_NUMBER.findall(sentence)[:4]) + 2 * len(_NAME.findall(sentence)[:4])
