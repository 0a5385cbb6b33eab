"""What a program brings along that keeps tables of its own in the memory's database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Extension:
    """Tables and queries beside the memory's own, so that one transaction can hold a turn and what belongs to it."""

    queries: tuple[Path, ...] = ()
    """Files of named queries; no name may be one of the memory's."""
