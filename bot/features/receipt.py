"""/context: the parts of the last answer's prompt, and the cuts."""

from __future__ import annotations

import orjson

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage, Target
from bot.intake.updates import Envelope
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services
from memory.context.budget import NEAR_LIMIT_PERCENT
from memory.packets import TierReceipt
from memory.ports import Row
from memory.storage.store import Compaction

BAR_CELLS = 8


# --- pure -----------------------------------------------------------------------------------------------------------


def bar(used: int, budget: int) -> str:
    """Return how full a budget is as a small bar, to the nearest cell: 98 of 6,150 tokens fill none."""
    filled = min(BAR_CELLS, (2 * used * BAR_CELLS + budget) // (2 * budget)) if budget > 0 else 0
    return "▰" * filled + "▱" * (BAR_CELLS - filled)


def tier_line(receipt: TierReceipt) -> str:
    """Return one line about a tier: bar, tokens of its budget, items, left-out items."""
    notes = []
    if receipt.items:
        notes.append(replies.counted(receipt.items, f"tier_{receipt.tier}"))
    if receipt.cut_items:
        notes.append(replies.say("tier_cut", items=receipt.cut_items, tokens=replies.number(receipt.cut_tokens)))
    if receipt.error:
        notes.append(replies.say("tier_failed"))
    tail = f" · {', '.join(notes)}" if notes else ""
    used, of = replies.number(receipt.used_tokens), replies.number(receipt.budget_tokens)
    line = replies.say("tier_line", name=replies.say(f"tier_names.{receipt.tier}"), used=used, of=of)
    return f"{bar(receipt.used_tokens, receipt.budget_tokens)} {line}{tail}"


def receipt_text(snapshot: Row, cap_tokens: int, now_ms: int) -> str:
    """Return the receipt of one answer: tier by tier, then the text beside them; it adds up."""
    total = snapshot["total_tokens"]
    receipts = [TierReceipt.model_validate(each) for each in orjson.loads(snapshot["receipts_json"])]
    beside = {
        name: snapshot[f"{column}_tokens"]
        for name, column in (
            ("instructions", "instructions"), ("tools", "tools"), ("carried", "bootstrap"), ("message", "message"),
        )
    }  # fmt: skip
    beside["frame"] = max(0, total - sum(beside.values()) - sum(receipt.used_tokens for receipt in receipts))
    lines = [
        replies.say("context_head", ago=replies.ago(now_ms - snapshot["compiled_at_ms"])),
        *map(tier_line, receipts),
        replies.say("context_beside", **{name: replies.number(tokens) for name, tokens in beside.items()}),
        replies.say(
            "context_total", bar=bar(total, cap_tokens), total=replies.number(total), cap=replies.number(cap_tokens)
        ),
    ]
    if total * 100 > cap_tokens * NEAR_LIMIT_PERCENT:
        lines.append(replies.say("context_near"))
    return "\n".join(lines)


def compaction_text(compaction: Compaction, snapshot: Row, now_ms: int) -> str:
    """Return the line about the last compaction, beside the receipt of an answer; figures are the receipt's alone."""
    since = compaction.created_at_ms > snapshot["compiled_at_ms"]
    how = replies.say(f"compaction_methods.{compaction.method}")
    if since:
        return replies.say("compacted_since", how=how)
    text = replies.say("compacted", how=how, ago=replies.ago(now_ms - compaction.created_at_ms))
    is_told = compaction.method != "truncation" and _is_empty(snapshot, "summary")
    return f"{text} {replies.say('compacted_told')}" if is_told else text


def _is_empty(snapshot: Row, tier: str) -> bool:
    """Whether nothing of a tier stood in a prompt although it could be read, and nothing was cut."""
    receipts = [TierReceipt.model_validate(each) for each in orjson.loads(snapshot["receipts_json"])]
    return any(
        each.tier == tier and not (each.used_tokens or each.cut_items or each.cut_tokens or each.error)
        for each in receipts
    )


# --- feature --------------------------------------------------------------------------------------------------------


class Receipt:
    """Shows the parts of a prompt, and takes a compaction back."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {"context": self.context}
        self.actions: dict[str, Action] = {"compaction_undo": self._undo}

    async def context(self, envelope: Envelope) -> None:
        """Show the receipt of the last answer in this session, with the last compaction."""
        services = self._services
        session_id = await services.memory.store.current_session_id(envelope.conversation_id)
        snapshots = await services.memory.store.context_snapshots(session_id, limit=1) if session_id else []
        if not session_id or not snapshots:
            await services.committer.done([envelope], [OutgoingMessage(replies.say("context_none"))])
            return
        now_ms = services.clock.now_ms()
        text = receipt_text(snapshots[0], services.settings.continuity_context_tokens, now_ms)
        costs = await services.db.read_one("reading_costs", session_id=session_id)
        if costs and costs["n"]:
            text += "\n" + replies.say(
                "context_reading",
                times=replies.counted(costs["n"], "time"),
                tokens=replies.number(costs["tokens"]),
                kept=costs["kept"],
            )
        compaction = await services.memory.compactor.last(session_id)
        buttons: tuple[tuple[Button, ...], ...] = ()
        if compaction:
            text += "\n\n" + compaction_text(compaction, snapshots[0], now_ms)
            payload = {"session_id": session_id, "compaction_id": compaction.compaction_id}
            buttons = ((Button(replies.say("compaction_undo"), "compaction_undo", payload),),)
        await services.committer.done([envelope], [OutgoingMessage(text, buttons=buttons)])

    async def _undo(self, tap: Tap) -> None:
        """Take the compaction back with the button's use, unless another one came meanwhile."""
        services, session_id = self._services, tap.payload["session_id"]
        newest = await services.memory.compactor.last(session_id)
        if newest is None or newest.compaction_id != tap.payload["compaction_id"]:
            gone = OutgoingMessage(replies.say("compaction_gone"), edits_message_id=tap.envelope.message_id)
            await services.committer.done([tap.envelope], [gone], tap.use)
            return
        message = OutgoingMessage(replies.say("compaction_undone"), edits_message_id=tap.envelope.message_id)
        ends = (tap.use, services.inbox.done(tap.envelope))
        edit, undo = services.memory.recorder.edit, services.memory.compactor.undo
        await services.committer.say(
            Target.of(tap.envelope),
            [message],
            lambda *rows: undo(session_id, lambda known_id, change, *also: edit(known_id, change, *also, *ends, *rows)),
        )
