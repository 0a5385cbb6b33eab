"""The judgement of an answer: operations that the ledger takes, and refusals with their reasons. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memory.keeper.check import ChangeCheck
from memory.keeper.contract import (
    STANDING_MAX_CHARS,
    TITLE_MAX_CHARS,
    KeeperAnswer,
    KeeperRequest,
    Kept,
    ProposedChange,
    RefusedProposal,
)
from memory.keeper.operations import in_words, leaving_work, operation_of
from memory.keeper.request import cut
from memory.keeper.session_lines import SessionLine
from memory.ledger.apply import apply
from memory.ledger.types import Actor, Applied, Ledger, NoteChange, Operation, Refusal
from memory.ledger.undo import rebased

NOTHING_NEW = frozenset({"same", "known"})
"""Refusals of the ledger that need no word: the wanted state is there already."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The changes of an answer that may be done, upon the ledger as it was when the keeper was asked."""

    ledger: Ledger
    wanted: tuple[tuple[ProposedChange, Operation], ...] = ()
    refused: tuple[RefusedProposal, ...] = ()

    @property
    def operations(self) -> list[Operation]:
        """The operations alone."""
        return [operation for _, operation in self.wanted]

    @property
    def counted(self) -> Mapping[str, int]:
        """Reason of a refusal → number of changes."""
        return Counter(each.code for each in self.refused)


def judged(answer: KeeperAnswer, request: KeeperRequest, by: Actor, before: Judged | None = None) -> Judged:
    """The changes of an answer that may be done; `before` is the judgement of the answer that this one mends."""
    check = ChangeCheck(request, answer.worked_on)
    ledger = before.ledger if before else request.ledger
    wanted = list(before.wanted) if before else []
    refused = [each for each in before.refused if not _is_mended(each.change, answer)] if before else []
    over = {note.number for note in request.notes if not note.is_open}
    for change in answer.changes:
        if change.op in {"end", "delete"} and change.number in over:
            continue
        found = check(leaving_work(change, request))
        outcome = found if isinstance(found, RefusedProposal) else _tried(ledger, found, request, len(wanted), by)
        if isinstance(outcome, RefusedProposal):
            refused.append(outcome)
        elif outcome is not None:
            ledger, operation = outcome
            wanted.append((change, operation))
    return Judged(ledger, tuple(wanted), tuple(refused))


def _is_mended(refused: ProposedChange, answer: KeeperAnswer) -> bool:
    """Whether an answer asks once more for a refused change: for a new note, by the turns that it cites."""
    return any(
        (change.op, change.number) == (refused.op, refused.number)
        and (change.number is not None or not set(refused.turns).isdisjoint(change.turns))
        for change in answer.changes
    )


def _tried(
    ledger: Ledger, kept: Kept, request: KeeperRequest, place: int, by: Actor
) -> tuple[Ledger, Operation] | RefusedProposal | None:
    """The ledger after a change and its operation, why it has no place, or None when it changes nothing."""
    operation = operation_of(kept, request, place)
    outcome = operation if isinstance(operation, Refusal) else apply(ledger, operation, by)
    if isinstance(outcome, Applied) and not isinstance(operation, Refusal):
        return outcome.ledger, operation
    if isinstance(outcome, Refusal) and outcome.code not in NOTHING_NEW:
        return RefusedProposal(kept.change, "ledger", in_words(outcome), kept.turn_ids)
    return None


def upon(
    judgement: Judged, since: Sequence[NoteChange]
) -> tuple[list[tuple[ProposedChange, Operation]], list[RefusedProposal]]:
    """Changes still to do after news since the keeper was asked, and those that have no place any more."""
    left: list[tuple[ProposedChange, Operation]] = []
    lost: list[RefusedProposal] = []
    for change, operation in judgement.wanted:
        kept, refusals = rebased([operation], since)
        left += [(change, each) for each in kept]
        lost += [no_place(change, operation, refusal) for refusal in refusals]
    return left, lost


def no_place(change: ProposedChange, operation: Operation, refusal: Refusal) -> RefusedProposal:
    """A change that the ledger does not take."""
    fields = getattr(operation, "fields", {})
    turn_ids = fields.get("turn_ids", ()) or getattr(operation, "turn_ids", ())
    return RefusedProposal(change, "ledger", in_words(refusal), tuple(turn_ids))


def spoken_reasons(judgement: Judged, answer: KeeperAnswer, request: KeeperRequest) -> tuple[str, ...]:
    """The reasons that a keeper hears for changes not taken, one line each; () when all are."""
    reasons = [f"{_named(each.change)}: {each.reason}" for each in judgement.refused]
    check, cited = ChangeCheck(request, answer.worked_on), answer.standing_turns or _new(request)
    standing = "" if answer.ends_standing else answer.standing
    for name, text in (("title", answer.title), ("standing", standing)):
        if isinstance(reason := check.line(text, cited), str):
            reasons.append(f"{name}: {reason}")
    return tuple(reasons)


def _new(request: KeeperRequest) -> tuple[int, ...]:
    """The numbers of the new turns."""
    return tuple(n for n in request.numbered if n > len(request.before))


def line_of(answer: KeeperAnswer, request: KeeperRequest, before: SessionLine) -> SessionLine:
    """The session's line after this reading: fields that are not believed, or missing, stay as they were.

    What was shown of the line until now lives on in the new one: so it rests on the same turns, too.
    """
    check = ChangeCheck(request, answer.worked_on)
    cited = answer.standing_turns or _new(request)
    line = replace(before, read_through_seq=request.turns[-1].seq)
    title, standing = cut(answer.title, TITLE_MAX_CHARS), cut(answer.standing, STANDING_MAX_CHARS)
    of_title, of_standing = check.line(title, cited), check.line(standing, cited)
    turn_ids: list[str] = []
    if title and not isinstance(of_title, str):
        line = replace(line, title=title)
        turn_ids += of_title
    if answer.ends_standing:
        line = replace(line, standing="", written_at_ms=request.now_ms)
    elif standing and not isinstance(of_standing, str):
        line = replace(line, standing=standing, written_at_ms=request.now_ms)
        turn_ids += of_standing
    if request.standing or line.title == before.title or line.standing == before.standing:
        turn_ids = [*before.turn_ids, *turn_ids]
    line = replace(line, written_at_ms=line.written_at_ms or request.now_ms)
    worked_on = [turn.turn_id for n, turn in request.numbered.items() if n in answer.worked_on]
    return replace(
        line,
        turn_ids=tuple(dict.fromkeys(turn_ids)),
        worked_on=tuple(dict.fromkeys([*before.worked_on, *worked_on])),
    )


def _named(change: ProposedChange) -> str:
    """How a keeper knows its change again."""
    number = f" #{change.number}" if change.number else ""
    return f"{change.op}{number}" + (f" “{cut(change.text, TITLE_MAX_CHARS)}”" if change.text else "")
