"""The past cut for a model with a smaller context: in the order of the budget, history last. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from bot.answers.responder import Ask
from memory.packets import ConversationContextPacket, TierReceipt

ANSWER_TOKENS: Final = 1_000
"""So much of a context is left for the answer; of a small one a quarter."""
_ORDER: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("last_conversation", {"last_conversation": ""}),
    ("today", {"today": ""}),
    ("retrieved", {"retrieved": ()}),
    ("threads", {"threads": ""}),
    ("memories", {"notes_lasting": "", "notes_changed": ""}),
    ("summary", {"rolling_session_summary": "", "standing": ""}),
)
"""The order of cuts, by tier."""


def fitted(ask: Ask, context_tokens: int | None) -> Ask:
    """Return the ask with as much of the past as a context of this size takes; the same one when all of it fits."""
    if context_tokens is None:
        return ask
    room = context_tokens - min(ANSWER_TOKENS, context_tokens // 4)
    packet = ask.packet
    for tier, nothing in _ORDER:
        if packet.prompt_tokens > room and _used(packet, tier):
            packet = packet.model_copy(update={**nothing, "receipts": _without(packet.receipts, tier)})
    history = list(packet.history)
    while history and packet.prompt_tokens > room:
        gone = history.pop(0)
        receipts = _without(packet.receipts, "history", gone.tokens)
        packet = packet.model_copy(update={"history": tuple(history), "history_truncated": True, "receipts": receipts})
    return ask if packet is ask.packet else replace(ask, packet=packet)


def _used(packet: ConversationContextPacket, tier: str) -> int:
    return sum(receipt.used_tokens for receipt in packet.receipts if receipt.tier == tier)


def _without(receipts: tuple[TierReceipt, ...], tier: str, tokens: int | None = None) -> tuple[TierReceipt, ...]:
    """Return the receipts with so much less of a tier, all of it without a number."""
    return tuple(_less(each, tokens) if each.tier == tier else each for each in receipts)


def _less(receipt: TierReceipt, tokens: int | None) -> TierReceipt:
    gone = receipt.used_tokens if tokens is None else min(tokens, receipt.used_tokens)
    items = receipt.items if tokens is None else min(1, receipt.items)
    return receipt.model_copy(
        update={
            "used_tokens": receipt.used_tokens - gone,
            "items": receipt.items - items,
            "cut_items": receipt.cut_items + items,
            "cut_tokens": receipt.cut_tokens + gone,
        }
    )
