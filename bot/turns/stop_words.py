"""The bare word that stops an answer while it is being written, as /stop does; exact words, in seven languages."""

from __future__ import annotations

from typing import Final

STOP_WORDS: Final = (
    "stop", "stop it", "stopp", "halt", "hör auf", "aufhören", "arrête", "arrêtez", "arrete", "para", "parar", "basta",
    "alto", "detente", "ferma", "fermati", "pare", "chega", "стоп", "стой", "хватит", "остановись",
)  # fmt: skip


def is_stop(text: str) -> bool:
    """Whether a message is one of these words and nothing else."""
    return " ".join(text.casefold().split()).strip(" .!") in STOP_WORDS
