"""Somebody who speaks of ending their life gets a fixed, caring answer, whoever else would have answered. Pure."""

from __future__ import annotations

from bot.answers.responder import Answer, own_words
from memory.language.distress import caring_answer, distress_in
from memory.types import CARE


def care(text: str, language: str | None = None) -> Answer | None:
    """Return the answer to words of distress, with where help is to be had; None for any other message.

    The turn is stored as said and filed nowhere (`ConversationTurn.unfiled`). Never raises.
    """
    code = distress_in(text, language or "en")
    return own_words(caring_answer(code), CARE) if code else None
