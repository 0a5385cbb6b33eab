"""Reasons why a recording was not listened to."""

from __future__ import annotations


class NotHeard(Exception):
    """Nobody listened; `why` is a word for a sentence: away, slow, garbage, refused, missing, damaged.

    The message waits for [Try again]; `detail` is for the log.
    """

    def __init__(self, why: str, detail: str = "") -> None:
        super().__init__(f"{why}: {detail}" if detail else why)
        self.why = why


class NoSpeech(Exception):
    """Listening again would bring nothing either; `why` is a word for a sentence: damaged, too_long, too_big."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
