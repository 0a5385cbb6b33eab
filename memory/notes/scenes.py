"""Where a story that is told together stands: the last words of the assistant's scene. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.language.sentences import clean
from memory.notes.clauses import TurnClauses
from memory.notes.types import TEXT_MAX_CHARS, Matter
from memory.types import ConversationTurn

SCENE_KIND = "story"
_SCENE_WEIGHT = 0.75
_SCENE_REF = "s"
_SCENE_CHARS = 160
"""The last words matter most, and a list shows only the beginning of a line."""
_SCENE_WORDS = 8
"""Fewer are a greeting or a word in passing: the story stands where it stood before."""
_STEPS_OUT = re.compile(r"(?:^|\s)\(\([^\W\d_]|\(\s*(?:ooc|o\.o\.c)\b|^\s*//\s*[^\W\d_]", re.IGNORECASE | re.MULTILINE)
"""Whoever plays steps out of the story in double brackets or behind two slashes, or says so."""
_ACTS = re.compile(r"(?:^|\s)\*[^*\n]{3,}[^*\s]\*(?=\s|$)", re.MULTILINE)
"""What somebody does in a story stands between asterisks; emphasis in a chat is seldom so long or so frequent."""
_ACTING_TURNS = 2
_BRACKETS = re.compile(r"\(\(.*?(?:\)\)|\Z)|^\s*\([^()\n]*\)\s*$|^\s*//[^\n]*$", re.DOTALL | re.MULTILINE)
_SENTENCE_ENDS = re.compile(r"(?<=[.!?\u2026\"'\u201d\u2019\u00bb])\s+(?=[\"'\u201c\u2018\u00ab]?[^\W\d_])")


def tells_a_story(turns: Sequence[ConversationTurn]) -> bool:
    """Return whether the person plays a part in a story: they step out of it, or act in it again and again."""
    own = [turn.user_text for turn in turns if not (turn.third_party or turn.unfiled)]
    return any(map(_STEPS_OUT.search, own)) or sum(bool(_ACTS.search(text)) for text in own) >= _ACTING_TURNS


def scene_of(said: Sequence[TurnClauses]) -> Matter | None:
    """Return how the newest scene ended, in the assistant's words; None when nothing was told in these turns."""
    for each in reversed(said):
        turn = each.turn
        text = "" if turn.third_party or turn.authored is not None else _last_words(turn.assistant_text)
        if len(text.split()) >= _SCENE_WORDS:
            return Matter(
                matter_id=f"{turn.turn_id}.{_SCENE_REF}", kind=SCENE_KIND, text=text, quoted="assistant",
                turn_ids=(turn.turn_id,), said_at_ms=turn.created_at_ms, weight=_SCENE_WEIGHT,
            )  # fmt: skip
    return None


def is_scene(matter: Matter) -> bool:
    """Return whether the matter is where a story stood, of which the newest holds."""
    return matter.kind == SCENE_KIND and matter.matter_id.endswith(f".{_SCENE_REF}")


def _last_words(text: str) -> str:
    """Return the last sentences of what is told, as many as fit; "" for what is said out of the story."""
    told = " ".join(_BRACKETS.sub(" ", clean(text)).split())
    kept = ""
    for sentence in reversed(_SENTENCE_ENDS.split(told)):
        longer = f"{sentence} {kept}".strip()
        if len(longer) > _SCENE_CHARS and kept:
            break
        kept = longer[:TEXT_MAX_CHARS]
    return kept
