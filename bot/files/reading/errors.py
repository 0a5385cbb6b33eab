"""Why a file cannot be read, in one word that the parent has a sentence for."""

from __future__ import annotations


class Unreadable(Exception):
    """The file is none that can be read: locked, damaged, bomb, empty."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
