"""What a message does to what was noted, and what a turn that is taken back had done. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bot.answers.offline.material import TakenBack
from bot.answers.offline.notes import alive
from memory.notes.lines import loop_of
from memory.notes.types import Matter, SessionNotes, Settled
from memory.types import ConversationTurn, LoopStatus, OpenLoop


@dataclass(frozen=True, slots=True)
class ChangedNotes:
    """What a message does to what was noted, as `Material` has it."""

    corrected: tuple[Matter, ...] = ()
    settled: tuple[OpenLoop, ...] = ()
    in_part: bool = False
    were: Mapping[str, Matter] = field(default_factory=dict)


def were_of(corrected: Iterable[Matter], sessions: Iterable[SessionNotes]) -> dict[str, Matter]:
    """Return, by the id of what was put right, how it read before, where it had a day then."""
    known = {matter.matter_id: matter for each in sessions for matter in each.matters if matter.due_at_ms}
    return {m.matter_id: known[old] for m in corrected for old in m.replaces if old in known}


def settled_by_turn(
    notes: SessionNotes, sessions: Iterable[SessionNotes], turn: ConversationTurn, undone: Collection[str]
) -> Iterator[OpenLoop]:
    """Yield the matters that a turn ends, as the loops that they were."""
    open_ones = {m.matter_id: m for each in sessions for m in each.matters if m.status == "open" and not m.faint}
    for end in notes.settled:
        matter = open_ones.get(end.matter_id or "")
        if matter is not None and end.turn_ids == (turn.turn_id,) and not set(undone) & set(matter.turn_ids):
            status: LoopStatus = "dropped" if end.ending == "dropped" else "done"
            yield loop_of(matter).model_copy(update={"status": status})


def taken_back(
    turn: ConversationTurn,
    loops: Sequence[OpenLoop],
    *,
    before: Sequence[Matter],
    now: Sequence[Matter],
    settled: Sequence[Settled],
) -> TakenBack:
    """Return what a turn changed in what is open, by the matters as they are without it and with it.

    Of many matters only so many are noted: one that gave its place to another was not changed.
    """
    new = [matter for matter in now if turn.turn_id in matter.turn_ids and matter not in before and not matter.faint]
    old = [matter for matter in before if matter.matter_id not in {each.matter_id for each in now}]
    replaced = {ref for matter in new for ref in matter.replaces}
    over = {each.matter_id for each in settled if turn.turn_id in each.turn_ids} - replaced
    opened = [loop for loop in alive(loops) if loop.turn_id == turn.turn_id]
    ended = [loop_of(matter) for matter in old if matter.matter_id in over and not matter.faint]
    return TakenBack(
        turn=turn,
        opened=tuple(opened or [loop_of(matter) for matter in new if not matter.replaces]),
        ended=tuple(ended or [loop for loop in loops if loop.closed_turn_id == turn.turn_id]),
        corrected=tuple(loop_of(matter) for matter in old if matter.matter_id in replaced),
    )
