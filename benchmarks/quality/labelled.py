"""Own labelled mini-conversations: what is open, done, answered or dropped at their end, and what a reference means."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory.state.references import resolve

from memory.search.languages import Languages
from memory.state.state_manager import apply_turn, new_state, read_turn
from memory.types import ConversationTurn, OpenLoop, SessionState

CASES = Path(__file__).parent / "cases"
START_MS = int(datetime(2026, 11, 21, 14, tzinfo=UTC).timestamp() * 1000)
MINUTE_MS = 60_000


@dataclass
class Score:
    """Counts of one label."""

    right: int = 0
    extra: int = 0
    missed: int = 0

    def figures(self) -> dict[str, float | int]:
        """Return precision, recall and F1."""
        precision = self.right / max(1, self.right + self.extra)
        recall = self.right / max(1, self.right + self.missed)
        f1 = 2 * precision * recall / max(1e-9, precision + recall)
        return {"n": self.right + self.missed, "P": round(precision, 4), "R": round(recall, 4), "F1": round(f1, 4)}


@dataclass
class ForgetCounts:
    """Scores per label and per language, and what was taken for what."""

    scores: dict[str, Score] = field(default_factory=dict)
    confusions: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    rejected: int = 0
    """Cases in which nothing was to be found and nothing was; they do not count towards precision and recall."""

    def count(self, expected: str | None, actual: str | None, language: str, what: str) -> None:
        """Note one expectation and what came of it; None stands for nothing."""
        for label in {expected, actual, "all", language} - {None}:
            score = self.scores.setdefault(str(label), Score())
            whole = label in {"all", language}
            hit = expected == actual
            score.right += hit
            score.missed += not hit and expected is not None and (whole or label == expected)
            score.extra += not hit and actual is not None and (whole or label == actual)
        if expected != actual:
            self.confusions[f"{expected or 'nothing'} -> {actual or 'nothing'}"] += 1
            self.wrong.append(f"{language}: {expected} -> {actual}: {what}")

    def report(self, n: int) -> dict[str, Any]:
        """Return all figures as JSON can hold them."""
        labels = {label: score.figures() for label, score in sorted(self.scores.items())}
        return {
            "cases": n,
            "rightly_nothing": self.rejected,
            **labels,
            "confusions": dict(self.confusions.most_common()),
        }


def fold(case: Mapping[str, Any], languages: Languages) -> SessionState:
    """Return the state after the case's conversation, one turn a minute, as the bot would fold it."""
    say: Sequence[str] = case["say"]
    state = new_state("s_case", "case")
    for seq, (user, assistant) in enumerate(zip(say[::2], say[1::2], strict=True), 1):
        signs = read_turn(state, user, assistant, languages)
        last = seq * 2 == len(say)
        turn = ConversationTurn(
            turn_id=f"t{seq}",
            session_id="s_case",
            conversation_id="case",
            seq=seq,
            user_text=user,
            assistant_text=assistant,
            intent=signs.intent,
            action_name=signs.action_name,
            response_type=signs.response_type,
            language=case.get("language", signs.language),
            job_refs=(case["job"],) if last and "job" in case else (),
            third_party=case.get("third_party", False),
            created_at_ms=START_MS + seq * MINUTE_MS,
        )
        state = apply_turn(state, turn, languages)
    return state


def _label(owner: str, status: str, due: str | None) -> str:
    return f"{owner} {status}" + (" due" if due else "")


def _due(loop: OpenLoop) -> str | None:
    at_ms = loop.due_at_ms
    return None if at_ms is None else datetime.fromtimestamp(at_ms / 1000, tz=UTC).strftime("%Y-%m-%d")


def loop_tally(cases: Iterable[Mapping[str, Any]], languages: Languages) -> ForgetCounts:
    """Compare the loops of each case with those expected; a loop counts only with owner, status and due day right."""
    tally = ForgetCounts()
    for case in cases:
        left = list(fold(case, languages).open_loops)
        said = " / ".join(case["say"])
        for line in case["loops"]:
            words, owner, status, *due = (part.strip() for part in line.split("|"))
            day = due[0] if due else None
            found = next((loop for loop in left if words.lower() in loop.text.lower()), None)
            actual = None
            if found is not None:
                left.remove(found)
                actual = _label(found.owner, found.status, _due(found)) + ("" if _due(found) == day else " wrong day")
            tally.count(_label(owner, status, day), actual, case["language"], said)
        for extra in left:
            tally.count(
                None, _label(extra.owner, extra.status, _due(extra)), case["language"], f"{extra.text} in {said}"
            )
        if not case["loops"] and not left:
            tally.rejected += 1
    return tally


def _meaning(value: str, state: SessionState) -> str:
    loop = next((loop for loop in state.open_loops if loop.loop_id == value), None)
    pending = state.pending_clarifications
    if loop:
        return f"loop: {loop.text}"
    if value in state.active_job_refs:
        return f"job: {value}"
    if value == state.last_turn_id:
        return f"turn: {value[1:]}"
    return f"question: {value}" if any(p.question == value for p in pending) else f"option: {value}"


def reference_tally(cases: Iterable[Mapping[str, Any]], languages: Languages) -> ForgetCounts:
    """Compare what a message is taken to refer to with what it means."""
    tally = ForgetCounts()
    for case in cases:
        state = fold(case, languages)
        found = resolve(state, case["then"], languages.get(case["language"]))
        meanings = [_meaning(value, state) for value in found.values()]
        kind, _, words = case["means"].partition(":")
        exact = kind in {"option", "turn", "job"}
        hits = [
            m
            for m in meanings
            if (m.startswith(case["means"]) if exact else m.startswith(kind) and words.strip().lower() in m.lower())
        ]
        what = f"{case['say']} + {case['then']} = {meanings}"
        first = meanings[0].partition(":")[0] if meanings else None
        if kind != "nothing":
            tally.count(kind, kind if hits else (f"wrong {first}" if first else None), case["language"], what)
        elif first:
            tally.count(None, first, case["language"], what)
        else:
            tally.rejected += 1
    return tally


def load(pattern: str) -> list[dict[str, Any]]:
    """Return the cases of all files that match, each with its language."""
    cases = []
    for file in sorted(CASES.glob(pattern)):
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        cases += [{"language": data.get("language"), **case} for case in data["case"]]
    return cases


def run(*, verbose: bool = False) -> dict[str, Any]:
    """Score all labelled cases; `verbose` prints each that went wrong."""
    languages = Languages.load()
    loops, references = load("loops_*.toml"), load("references*.toml")
    results = {"open_loops": loop_tally(loops, languages), "references": reference_tally(references, languages)}
    if verbose:
        for tally in results.values():
            print(*tally.wrong, sep="\n")
    return {
        "open_loops": results["open_loops"].report(len(loops)),
        "references": results["references"].report(len(references)),
    }
