"""How well a keeper's mistakes are told from what is true: errors put into what a keeper without mistakes would note.

    python benchmarks/keeper_check.py --cases FOLDER --reader FILE.py [--half 0|1] [--show]

The cases are labelled conversations, the reader a file with `PerfectKeeper(case)`. Each change that it asks for is
judged as it is, and once more with each mistake that it can hold. `--half` takes every other person: one half to tune
on, the other to report. Prints a table by language, then JSON; the seed is fixed.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

from memory.keeper.check import ChangeCheck
from memory.keeper.contract import KeeperAnswer, KeeperRequest, ProposedChange, RefusedProposal
from memory.keeper.judge import judged
from memory.keeper.request import before_them, chunk, shown_notes
from memory.keeper.wording import capitalised, numbers
from memory.ledger.types import Actor, Ledger
from memory.ledger.views import Scope
from memory.types import ConversationTurn

SEED: Final = 20_261_125
QUIET_S: Final = 120
STRANGERS: Final = ("Gustavsen", "Quixley", "Xaverine", "Wolkensteyn", "Zubaida", "Hrothgar", "Ottoline", "Vexley")
"""Names that nobody in the cases bears."""
TRUE: Final = "true"
NOT_TOLD: Final = ("day",)
"""Mistakes that the check does not tell: a due day is bounded, not derived. They are shown, and in no total."""

Mutation = Callable[["Proposal", random.Random], "Proposal | None"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change of one answer, with the request that it answers."""

    request: KeeperRequest
    change: ProposedChange
    worked_on: tuple[int, ...] = ()

    def refusal(self) -> RefusedProposal | None:
        """Why it is not believed; None when it is."""
        found = ChangeCheck(self.request, self.worked_on)(self.change)
        return found if isinstance(found, RefusedProposal) else None

    def giving(self, **fields: Any) -> Proposal:
        """The same with other fields."""
        return replace(self, change=self.change.model_copy(update=fields))


# --- what a keeper without mistakes asks for --------------------------------------------------------------------------


def proposals(case: Mapping[str, Any], keeper: Any) -> Iterator[Proposal]:
    """Each change that the keeper asks for, case by case, over a ledger that takes what is believed."""
    ledger, told = Ledger("tg:1:1:0"), list[ConversationTurn]()
    for n, session in enumerate(case["sessions"]):
        turns = list(_turns(session, f"s_{n}"))
        while turns:
            new = _stretch(turns)
            turns = turns[len(new) :]
            request = _request(ledger, told, new, len(told))
            said = {place: turn.user_text for place, turn in request.numbered.items()}
            answer = KeeperAnswer.model_validate(
                keeper(said, {note.number: f"{note.kind}: {note.text}" for note in request.notes})
            )
            over = {note.number for note in request.notes if not note.is_open}  # ended again: it changes nothing
            yield from (
                Proposal(request, each) for each in answer.changes if each.op == "add" or each.number not in over
            )
            ledger = judged(answer, request, Actor("keeper", request.now_ms, request.reading_id)).ledger
            told += new


def _turns(session: Mapping[str, Any], session_id: str) -> Iterator[ConversationTurn]:
    at = datetime.fromisoformat(session["start"]).replace(tzinfo=UTC)
    for seq, turn in enumerate(session["turns"], 1):
        at += timedelta(seconds=turn["after_s"])
        yield ConversationTurn(
            turn_id=f"{session_id}_{seq}",
            session_id=session_id,
            conversation_id="tg:1:1:0",
            seq=seq,
            created_at_ms=round(at.timestamp() * 1000),
            user_id=1,
            user_text=turn["user"],
            assistant_text=turn["assistant"],
        )


def _stretch(turns: Sequence[ConversationTurn]) -> list[ConversationTurn]:
    """What is read at once: until nobody wrote for two minutes, or as many turns as a request takes."""
    quiet = (
        n for n, turn in enumerate(turns[1:], 1) if turn.created_at_ms - turns[n - 1].created_at_ms > QUIET_S * 1000
    )
    return chunk(turns[: next(quiet, len(turns))])


def _request(
    ledger: Ledger, told: Sequence[ConversationTurn], new: Sequence[ConversationTurn], place: int
) -> KeeperRequest:
    before, now_ms = before_them(told), new[-1].created_at_ms + QUIET_S * 1000
    held = {turn.turn_id for turn in before}
    return KeeperRequest(
        reading_id=f"r_{place}",
        session_id=new[-1].session_id,
        conversation_id=ledger.conversation_id,
        ledger=ledger,
        notes=shown_notes(ledger, Scope(), (*before, *new), new, now_ms),
        before=tuple(before),
        turns=tuple(new),
        beside=tuple(turn for turn in reversed(told) if turn.turn_id not in held),
        zone="UTC",
        now_ms=now_ms,
    )


# --- mistakes ---------------------------------------------------------------------------------------------------------


def other_name(proposal: Proposal, dice: random.Random) -> Proposal | None:
    """Another name where one stands."""
    found = capitalised(proposal.change.text)
    return _with_word(proposal, dice.choice(found), dice.choice(STRANGERS)) if found else None


def other_number(proposal: Proposal, dice: random.Random) -> Proposal | None:
    """Another number where one stands, of as many digits."""
    found = [written for written, value in numbers(proposal.change.text) if value > 12]
    if not found:
        return None
    written = dice.choice(found)
    held = {value for text in _all_said(proposal.request) for _, value in numbers(text)}
    for _ in range(100):
        digits = (str(dice.randint(1, 9)) if at == 0 else str(dice.randint(0, 9)) for at in range(len(written)))
        new = "".join(digit if sign.isdigit() else sign for sign, digit in zip(written, digits, strict=True))
        values = {value for _, value in numbers(new)}
        if not values & held and all(value > 12 for value in values):
            return _with_word(proposal, written, new)
    return None


def added_number(proposal: Proposal, dice: random.Random) -> Proposal | None:
    """A sum of money that nobody named."""
    if not proposal.change.text:
        return None
    return proposal.giving(text=f"{proposal.change.text.rstrip('.')}, {dice.randint(2_013, 8_999)}")


def other_day(proposal: Proposal, dice: random.Random) -> Proposal | None:
    """A day that nobody named, weeks away from the one that is meant."""
    if not proposal.change.due:
        return None
    at = date.fromisoformat(proposal.change.due[:10]) + timedelta(days=dice.choice((-1, 1)) * dice.randint(30, 300))
    return proposal.giving(due=at.isoformat())


def no_day(proposal: Proposal, dice: random.Random) -> Proposal | None:
    """A day out of all bounds, or none at all."""
    return (
        proposal.giving(due=dice.choice(("1999-03-01", "2071-05-05", "2026-02-30", "soon")))
        if proposal.change.due
        else None
    )


def other_person(proposal: Proposal, dice: random.Random) -> Proposal | None:
    """Somebody has to act of whom nobody spoke."""
    if proposal.change.op != "add" or proposal.change.kind not in {"task", "promise", "question", "event", "project"}:
        return None
    return proposal.giving(owner=dice.choice(STRANGERS))


def fiction(proposal: Proposal, _: random.Random) -> Proposal | None:
    """Something of a story, or of text that is only worked on, as a fact."""
    if proposal.change.op != "add" or proposal.change.kind in {"project", "story"}:
        return None
    return replace(proposal, worked_on=proposal.change.turns)


def errand_of_a_story(proposal: Proposal, _: random.Random) -> Proposal | None:
    """Something to do that is made up."""
    if proposal.change.op != "add" or proposal.change.kind not in {"task", "promise", "question"}:
        return None
    return proposal.giving(about="The Lighthouse")


def words_of_another(proposal: Proposal, dice: random.Random) -> Proposal | None:
    """The assistant's words for the person's."""
    change = proposal.change
    if (change.owner == "assistant" and change.kind in {"task", "promise", "question"}) or change.kind == "story":
        return None
    turns = [proposal.request.numbered[n] for n in change.turns if n in proposal.request.numbered]
    own = " ".join(turn.user_text.casefold() for turn in turns)
    spans = [
        " ".join(words[n : n + 6])
        for turn in turns
        if len(words := turn.assistant_text.split()) >= 6
        for n in range(len(words) - 5)
    ]
    spans = [span for span in spans if span.casefold() not in own]
    return proposal.giving(said=dice.choice(spans)) if spans else None


def made_up_words(proposal: Proposal, dice: random.Random) -> Proposal | None:
    """Words that nobody said, nearly theirs."""
    words = proposal.change.said.split()
    if len(words) < 3:
        return None
    words[dice.randrange(len(words))] = "xylograph"
    return proposal.giving(said=" ".join(words))


def no_turn(proposal: Proposal, _: random.Random) -> Proposal | None:
    """Turns that it was not given."""
    return proposal.giving(turns=(len(proposal.request.numbered) + 3,))


def no_such_note(proposal: Proposal, _: random.Random) -> Proposal | None:
    """A number that no note has, or one that it was not given."""
    if proposal.change.op == "add":
        return None
    return proposal.giving(number=max((note.number for note in proposal.request.ledger), default=0) + 7)


MISTAKES: Final[Mapping[str, Mutation]] = {
    "name": other_name,
    "number": other_number,
    "sum": added_number,
    "day": other_day,
    "no day": no_day,
    "person": other_person,
    "fiction": fiction,
    "errand": errand_of_a_story,
    "foreign": words_of_another,
    "words": made_up_words,
    "turn": no_turn,
    "note": no_such_note,
}


def _with_word(proposal: Proposal, old: str, new: str) -> Proposal:
    text = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, proposal.change.text, count=1)
    return (
        proposal.giving(text=text)
        if text != proposal.change.text
        else proposal.giving(text=proposal.change.text.replace(old, new, 1))
    )


def _all_said(request: KeeperRequest) -> Iterator[str]:
    for turn in (*request.numbered.values(), *request.beside):
        yield turn.user_text
        yield turn.assistant_text
    yield from (note.text for note in request.ledger)


# --- counting ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Tally:
    """How many of each were tried, and how many judged wrongly: true ones refused, false ones believed."""

    tried: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    wrong: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def take(self, name: str, *, is_wrong: bool) -> None:
        """Count one."""
        self.tried[name] += 1
        self.wrong[name] += is_wrong

    def share(self, *names: str) -> float | None:
        """The share that was judged wrongly; None where none was tried."""
        tried = sum(self.tried[name] for name in names)
        return round(sum(self.wrong[name] for name in names) / tried, 4) if tried else None


def measure(cases: Sequence[Mapping[str, Any]], reader: Any, *, show: bool) -> dict[str, Tally]:
    """Judge everything, by language and in all."""
    found: dict[str, Tally] = defaultdict(Tally)
    for case in cases:
        dice = random.Random(f"{SEED}{case['id']}")
        asked = {(each.change.op, each.change.number, each.change.text): each for each in proposals(case, reader(case))}
        for proposal in asked.values():
            for name, each, is_wrong in judgements(proposal, dice):
                for tally in (found[case["language"]], found["all"]):
                    tally.take(name, is_wrong=is_wrong)
                if show and is_wrong:
                    print(case["id"], name, each.refusal(), each.change.model_dump_json(exclude_defaults=True))
    return found


def judgements(proposal: Proposal, dice: random.Random) -> Iterator[tuple[str, Proposal, bool]]:
    """The change as it is, and with each mistake that it can hold; and whether it is judged wrongly."""
    is_refused = proposal.refusal() is not None
    yield TRUE, proposal, is_refused
    if is_refused:
        return
    for name, mistake in MISTAKES.items():
        if (false := mistake(proposal, dice)) is not None:
            yield name, false, false.refusal() is None


def reader_of(path: str) -> Any:
    """The keeper's class in a file."""
    spec = spec_from_file_location("reader", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PerfectKeeper


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cases", required=True)
    arguments.add_argument("--reader", required=True)
    arguments.add_argument("--half", type=int, choices=(0, 1))
    arguments.add_argument("--show", action="store_true")
    given = arguments.parse_args()
    paths = sorted(Path(given.cases).glob("*.json"))
    paths = paths if given.half is None else paths[given.half :: 2]
    cases = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    found = measure(cases, reader_of(given.reader), show=given.show)
    told = [name for name in MISTAKES if name not in NOT_TOLD]
    names = [TRUE, *told, *NOT_TOLD]
    print("language", "false", *names, sep="\t")
    for language, tally in sorted(found.items(), key=lambda item: (item[0] == "all", item[0])):
        row = [tally.share(*told), *(tally.share(name) for name in names)]
        print(language, *("-" if each is None else each for each in row), sep="\t")
    total = found["all"]
    counts = {"true": total.tried[TRUE], "false": sum(total.tried[name] for name in told)}
    shares = {"true_refused": total.share(TRUE), "false_kept": total.share(*told)}
    print(json.dumps({"bench": "keeper_check", "cases": len(cases), **counts, **shares}))


if __name__ == "__main__":
    main()
