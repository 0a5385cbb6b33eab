"""The whole prompt of an answer: kept small beside the turn, and said again later with a proof that it is the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import orjson

from bot.answers.responder import Ask
from memory.context.packet_text import prompt
from memory.context.transcript import PromptMessage
from memory.packets import ConversationContextPacket
from memory.ports import Statement
from memory.types import ConversationTurn, ToolCall


@dataclass(frozen=True, slots=True)
class WholePrompt:
    """Everything that a model is given for one answer."""

    instructions: str
    """Our own text: persona, rules, date."""
    bootstrap: str
    """The context carried forward, behind the instructions; "" for none."""
    tools: str
    """Names, descriptions and arguments of the tools as JSON; "" without tools."""
    messages: tuple[PromptMessage, ...]
    steps: tuple[PromptMessage, ...] = ()
    """The messages that followed: calls of tools and their returns. The request of the answer held all of them."""

    @property
    def digest(self) -> str:
        """A digest of all of it."""
        parts = [self.instructions, self.bootstrap, self.tools, list(map(as_json, self.messages))]
        return digest_of(orjson.dumps([*parts, list(map(as_json, self.steps))] if self.steps else parts))


@dataclass(frozen=True, slots=True)
class KeptPacket:
    """A packet as it was written down: turns that stood in it whole are named by their ids."""

    fields: Mapping[str, object]
    history: tuple[str | Mapping[str, object], ...]
    steps: tuple[PromptMessage, ...] = ()

    @property
    def turn_ids(self) -> list[str]:
        """The turns that are needed to say it again."""
        return [each for each in self.history if isinstance(each, str)]


def digest_of(data: bytes) -> str:
    """Return the digest by which a text or a prompt is known."""
    return blake2b(data, digest_size=20).hexdigest()


def as_json(message: PromptMessage) -> dict[str, Any]:
    """Return a message as JSON values."""
    calls = [call.model_dump(mode="json") for call in message.tool_calls]
    return {"role": message.role, "text": message.text, "tool_calls": calls}


def whole(
    packet: ConversationContextPacket, said: str, instructions: str, tools: str, steps: Sequence[PromptMessage] = ()
) -> WholePrompt:
    """Return the prompt of this packet for a message, with the steps that the model's tools added."""
    return WholePrompt(instructions, packet.bootstrap, tools, prompt(packet, said), tuple(steps))


def keep(
    ask: Ask,
    steps: Sequence[PromptMessage],
    texts: tuple[str, str],
    originals: Collection[ConversationTurn],
    now_ms: int,
) -> list[Statement]:
    """Return the statements that store the prompt of an answer, for the transaction of its turn.

    `texts` are instructions and descriptions of tools, `steps` the messages behind calls of tools. `originals` are the
    session's turns as they are stored: one that the packet shows as it is costs only its id.
    """
    (instructions, tools), (instructions_digest, tools_digest) = texts, (digest_of(text.encode()) for text in texts)
    digests = {"instructions_digest": instructions_digest, "tools_digest": tools_digest}
    values = digests | {
        "turn_id": ask.turn_id,
        "conversation_id": ask.conversation_id,
        "packet_json": packed(ask.packet, originals, steps),
        "digest": whole(ask.packet, ask.text, *texts, steps).digest,
        "at_ms": now_ms,
    }
    kept = digests | {"instructions": instructions, "tools": tools}
    return [Statement("prompt_texts_keep", kept), Statement("prompt_keep", values)]


def packed(
    packet: ConversationContextPacket, originals: Collection[ConversationTurn], steps: Sequence[PromptMessage] = ()
) -> str:
    """Return the packet as JSON, with the ids of turns that it shows as they are stored, and the steps behind it."""
    stored = {turn.turn_id: turn for turn in originals}
    history = [
        turn.turn_id if stored.get(turn.turn_id) == turn else turn.model_dump(mode="json") for turn in packet.history
    ]
    fields = packet.model_dump(mode="json", exclude={"history"}, exclude_defaults=True)
    kept = {"fields": fields, "history": history, "steps": list(map(as_json, steps))}
    return orjson.dumps(kept, option=orjson.OPT_NON_STR_KEYS).decode()


def unpacked(text: str) -> KeptPacket:
    """Return the prompt that `packed` packed. Raises ValueError for anything else."""
    try:
        found = orjson.loads(text)
        return KeptPacket(found["fields"], tuple(found["history"]), tuple(map(_step, found.get("steps", ()))))
    except (KeyError, TypeError) as exc:
        raise ValueError(f"no packet: {exc!r}") from exc


def _step(fields: Mapping[str, Any]) -> PromptMessage:
    calls = tuple(ToolCall.model_validate(call, strict=False) for call in fields["tool_calls"])
    return PromptMessage(fields["role"], fields["text"], calls)


def rebuilt(kept: KeptPacket, turns: Mapping[str, ConversationTurn]) -> tuple[ConversationContextPacket, int]:
    """Return the packet with its turns, and how many of them are not there any more. Raises ValueError."""
    history: list[ConversationTurn] = []
    for each in kept.history:
        if isinstance(each, str):
            history += [turns[each]] if each in turns else []
        else:
            history.append(ConversationTurn.model_validate(each, strict=False))
    packet = ConversationContextPacket.model_validate({**kept.fields, "history": history}, strict=False)
    return packet, len(kept.history) - len(history)


def purge(prompts_before_ms: int, figures_before_ms: int) -> Sequence[Statement]:
    """Return the statements that delete old prompts and figures."""
    return (
        Statement("prompts_purge", {"before_ms": prompts_before_ms}),
        Statement("prompt_texts_purge"),
        Statement("turn_figures_purge", {"before_ms": figures_before_ms}),
        Statement("model_uses_purge", {"before_ms": figures_before_ms}),
    )
