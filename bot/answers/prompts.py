"""The whole prompt of an answer: kept small beside the turn, and said again later with a proof that it is the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b

import orjson

from bot.answers.responder import Ask
from memory.context.packet_text import prompt
from memory.context.transcript import PromptMessage
from memory.ports import Statement
from memory.types import ConversationContextPacket, ConversationTurn


@dataclass(frozen=True, slots=True)
class WholePrompt:
    """Everything that a model is given for one answer, before it calls a tool."""

    instructions: str
    """What we wrote: persona, rules, date."""
    bootstrap: str
    """What is carried forward, behind the instructions; "" for nothing."""
    tools: str
    """Names, descriptions and arguments of the tools as JSON; "" without tools."""
    messages: tuple[PromptMessage, ...]

    @property
    def digest(self) -> str:
        """A digest of all of it."""
        messages = [asdict(message) | {"tool_calls": [c.model_dump() for c in message.tool_calls]}
                    for message in self.messages]  # fmt: skip
        return digest_of(orjson.dumps([self.instructions, self.bootstrap, self.tools, messages]))


@dataclass(frozen=True, slots=True)
class KeptPacket:
    """A packet as it was written down: turns that stood in it whole are named by their ids."""

    fields: Mapping[str, object]
    history: tuple[str | Mapping[str, object], ...]

    @property
    def turn_ids(self) -> list[str]:
        """The turns that are needed to say it again."""
        return [each for each in self.history if isinstance(each, str)]


def digest_of(data: bytes) -> str:
    """Return the digest by which a text or a prompt is known."""
    return blake2b(data, digest_size=20).hexdigest()


def whole(packet: ConversationContextPacket, said: str, instructions: str, tools: str) -> WholePrompt:
    """Return the prompt that this packet makes for what was said."""
    return WholePrompt(instructions, packet.bootstrap, tools, prompt(packet, said))


def keep(
    ask: Ask, instructions: str, tools: str, originals: Collection[ConversationTurn], now_ms: int
) -> list[Statement]:
    """Return what writes the prompt of an answer down, for the transaction of its turn.

    `originals` are the session's turns as they are stored: one that the packet shows as it is costs only its id.
    """
    texts = [(digest_of(text.encode()), text) for text in (instructions, tools)]
    rows = [Statement("prompt_text_keep", {"digest": digest, "text": text}) for digest, text in texts]
    values = {
        "turn_id": ask.turn_id,
        "conversation_id": ask.conversation_id,
        "packet_json": packed(ask.packet, originals),
        "instructions_digest": texts[0][0],
        "tools_digest": texts[1][0],
        "digest": whole(ask.packet, ask.text, instructions, tools).digest,
        "at_ms": now_ms,
    }
    return [*rows, Statement("prompt_keep", values)]


def packed(packet: ConversationContextPacket, originals: Collection[ConversationTurn]) -> str:
    """Return the packet as JSON, with the ids of the turns that it shows as they are stored."""
    stored = {turn.turn_id: turn for turn in originals}
    history = [
        turn.turn_id if stored.get(turn.turn_id) == turn else turn.model_dump(mode="json") for turn in packet.history
    ]
    fields = packet.model_dump(mode="json", exclude={"history"}, exclude_defaults=True)
    return orjson.dumps({"fields": fields, "history": history}, option=orjson.OPT_NON_STR_KEYS).decode()


def unpacked(text: str) -> KeptPacket:
    """Return what `packed` made. Raises ValueError for anything else."""
    try:
        found = orjson.loads(text)
        return KeptPacket(found["fields"], tuple(found["history"]))
    except (KeyError, TypeError) as exc:
        raise ValueError(f"no packet: {exc!r}") from exc


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
    """Return what lets go of what is too old."""
    return (
        Statement("prompts_purge", {"before_ms": prompts_before_ms}),
        Statement("prompt_texts_purge"),
        Statement("turn_figures_purge", {"before_ms": figures_before_ms}),
        Statement("model_uses_purge", {"before_ms": figures_before_ms}),
    )
