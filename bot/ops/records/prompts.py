"""The prompt of one answer: said again from kept pieces, with a proof or the reason why not."""

from __future__ import annotations

from dataclasses import dataclass

from bot.answers.prompts import WholePrompt, rebuilt, unpacked, whole
from bot.ops.workspace import OpsError, Workspace
from bot.replies import plural
from memory.packets import RetrievedItem
from memory.types import ConversationTurn

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class SeenPrompt:
    """The prompt of an answer; `prompt` is None when it is not kept (any more), and `why` says why."""

    turn: ConversationTurn
    prompt: WholePrompt | None
    is_exact: bool
    why: str = ""
    """Why there is no prompt, or no proof that it is the same; "" with a proof."""
    retrieved: tuple[RetrievedItem, ...] = ()
    """Finds for it, with the parts of each score."""


async def read_prompt(workspace: Workspace, turn_id: str) -> SeenPrompt:
    """Return the prompt of this turn. Raises OpsError for an unknown turn, `StorageError`."""
    memory = workspace.memory
    turn = await memory.store.turn(turn_id)
    if turn is None:
        raise OpsError(f"there is no turn '{turn_id}'; it may have been forgotten")
    row = await memory.db.read_one("prompt_of_turn", turn_id=turn_id)
    if row is None:
        return SeenPrompt(turn, None, is_exact=False, why=_why_gone(workspace, turn))
    if row["instructions"] is None or row["tools"] is None:
        return SeenPrompt(turn, None, is_exact=False, why="its instructions are not in the database any more")
    try:
        kept = unpacked(row["packet_json"])
        shown = await memory.store.turns(kept.turn_ids)
        packet, gone = rebuilt(kept, {each.turn_id: each for each in shown})
    except ValueError:
        return SeenPrompt(turn, None, is_exact=False, why="it was written by another version of this program")
    prompt = whole(packet, turn.user_text, row["instructions"], row["tools"], kept.steps)
    if prompt.digest == row["digest"]:
        return SeenPrompt(turn, prompt, is_exact=True, retrieved=packet.retrieved)
    if gone:
        why = f"{plural(gone, 'earlier turn')} of it can't be found in the log any more"
    else:
        why = "this version of the program words prompts differently, or the log was altered"
    return SeenPrompt(turn, prompt, is_exact=False, why=why, retrieved=packet.retrieved)


def _why_gone(workspace: Workspace, turn: ConversationTurn) -> str:
    days = workspace.settings.continuity_prompts_days
    if not days:
        return "prompts are not kept (CONTINUITY_PROMPTS_DAYS is 0)"
    if workspace.memory.clock.now_ms() - turn.created_at_ms > days * DAY_MS:
        return f"it is older than {plural(days, 'day')} (CONTINUITY_PROMPTS_DAYS)"
    return "something in this conversation was forgotten since, or the answer is from before prompts were kept"
