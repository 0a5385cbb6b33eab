"""What becomes of a noted matter when the reminder that it set is moved, cancelled or called done. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from memory.language.due_dates import find_due
from memory.language.language import Language
from memory.language.sentences import lowered, words_of
from memory.notes.telling import telling_stems
from memory.notes.types import Ending, Matter
from memory.types import CANCELS, FINISHES, MOVES, ConversationTurn

ENDINGS: Final[dict[str, Ending]] = {CANCELS: "dropped", FINISHES: "settled"}
"""How a matter ends by the `action_name` of the turn."""
CHANGES: Final = frozenset({*ENDINGS, MOVES})
_LEFT_OUT: Final = "\u2026"
"""Stands in what the assistant says in its own name for what the person said."""
_BEFORE_TITLE: Final = ": \u00a0\u202f"


def title_in(turn: ConversationTurn) -> str:
    """Return what the reminder is about that the answer names, "" when it names none or several."""
    before, left_out, behind = (turn.authored or "").partition(_LEFT_OUT)
    text = turn.assistant_text
    if not left_out or "\n" in text or not (text.startswith(before) and text.endswith(behind)):
        return ""
    return text[len(before) : len(text) - len(behind)]


def reminded_of(title: str, matters: Iterable[Matter], language: Language) -> list[Matter]:
    """Return the open matters that set the reminder: they say "remind me", and all that it is about."""
    open_ones = (matter for matter in matters if "reminds" in matter.signs and matter.status == "open")
    return [matter for matter in open_ones if says_all_of(title, matter.text, language)]


def says_all_of(title: str, text: str, language: Language) -> bool:
    """Return whether a text says all that a reminder is about."""
    about = _stems(title, language)
    return bool(about) and about <= _stems(text, language)


def moved(matter: Matter, turn: ConversationTurn, zone: str, language: Language) -> Matter | None:
    """Return the matter with the time to which its reminder was moved; None where the answer names none."""
    said = lowered(turn.authored or "").partition(_LEFT_OUT)[0].rstrip(_BEFORE_TITLE)
    due = find_due(said, turn.created_at_ms, zone, language)
    if due is None:
        return None
    changed = {
        "kind": "promise", "owner": "assistant", "text": title_in(turn), "quoted": None, "due_at_ms": due.due_at_ms,
        "due_exact": due.exact, "said_at_ms": turn.created_at_ms,
        "turn_ids": tuple(dict.fromkeys((*matter.turn_ids, turn.turn_id))),
    }  # fmt: skip
    return matter.model_copy(update=changed)


def _stems(text: str, language: Language) -> frozenset[str]:
    return telling_stems(words_of(language.mended(lowered(text))), language)
