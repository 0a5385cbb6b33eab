"""Reasons why a file cannot be read, in one word for which the parent has a sentence."""

from __future__ import annotations


class Unreadable(Exception):
    """The file is none that can be read: locked, damaged, bomb, empty."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
