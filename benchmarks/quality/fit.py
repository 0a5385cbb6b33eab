"""Fit the weights of `memory/notes/worth.py` to labelled people who come back.

    .venv/bin/python -m pip install scikit-learn
    .venv/bin/python -m benchmarks.quality.fit FOLDER...

A folder holds cases as `plugin_returning` plays them. Each is read by rules, without the bot; every note that is alive
at the return is a row: what its worth depends on, and whether a matter that the case expects stands in it. Prints the
weights by logistic regression, and how well they order the notes of people left out of the fit (area under the curve)
beside the weights in force.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from memory.notes.lines import line_of
from memory.notes.requests import BEFORE_TURNS, CHUNK_TURNS, request_of
from memory.notes.rules import read_by_rules
from memory.notes.types import Matter, SessionNotes
from memory.notes.view import merge
from memory.notes.worth import missed, waited_for

from memory.search.languages import Languages
from memory.types import ConversationTurn

FOLDS = 8
SKLEARN = ("sklearn.linear_model", "sklearn.model_selection", "sklearn.metrics")
"""Needed here alone, so it is in no lock file."""
Case = Mapping[str, Any]


class Row(NamedTuple):
    """One note at the return."""

    case: str
    signs: dict[str, float]
    expected: bool
    """Whether a matter that the case expects stands in it."""
    open: bool
    """Whether that matter is an open loop."""
    is_matter: bool


def read_case(case: Case, languages: Languages) -> Iterator[Row]:
    """Read the sessions of a case by rules, and return a row for each note that is alive at the return."""
    notes: list[SessionNotes] = []
    for place, session in enumerate(case["sessions"]):
        turns = list(_turns(case, place, session))
        so_far, before = None, turns[:0]
        for first in range(0, len(turns), CHUNK_TURNS):
            new = turns[first : first + CHUNK_TURNS]
            request = request_of(new, before, so_far, notes, languages, zone="UTC", now_ms=new[-1].created_at_ms)
            so_far, before = read_by_rules(request, languages), new[-BEFORE_TURNS:]
        notes += [so_far] if so_far else []
    now_ms, expect = _ms(case["return_at"]), case["expect"]
    for standing in merge(notes, now_ms, languages).standings:
        line = line_of(standing.note, now_ms, "UTC").lower().replace("\u2019", "'")
        found = [each["id"] for each in expect["matters"] if any(word in line for word in each["any_of"])]
        is_open = any(each in expect.get("loops", []) for each in found)
        yield Row(case["id"], standing.signs, bool(found), is_open, isinstance(standing.note, Matter))


def _turns(case: Case, place: int, session: Case) -> Iterator[ConversationTurn]:
    at_ms = _ms(session["start"])
    for number, turn in enumerate(session["turns"], 1):
        at_ms += int(turn["after_s"] * 1000)
        yield ConversationTurn(
            turn_id=f"t_{place}_{number}", session_id=f"s_{place}", conversation_id="c", seq=number,
            user_text=turn["user"], assistant_text=turn["assistant"], language=case["language"], created_at_ms=at_ms,
        )  # fmt: skip


def _ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def fit(name: str, rows: Sequence[Row], answers: Sequence[bool], in_force: Sequence[float]) -> str:
    """Return the weights that the answers ask for, and how well they order the notes of people left out."""
    linear, selection, metrics = (
        import_module(f"sklearn.{part}") for part in ("linear_model", "model_selection", "metrics")
    )
    names = [key for key in rows[0].signs if key not in {"any", "said", "lasts"}]
    largest = [max(row.signs[key] for row in rows) or 1.0 for key in names]
    table = [[row.signs[key] / most for key, most in zip(names, largest, strict=True)] for row in rows]
    model = linear.LogisticRegression(max_iter=2000)
    folds = selection.GroupKFold(FOLDS)
    unseen = selection.cross_val_predict(
        model, table, answers, groups=[row.case for row in rows], cv=folds, method="decision_function"
    )
    model.fit(table, answers)
    weights = {key: round(float(w) / most, 3) for key, w, most in zip(names, model.coef_[0], largest, strict=True)}
    areas = [round(float(metrics.roc_auc_score(answers, values)), 3) for values in (unseen, in_force)]
    any_note = {"any": round(float(model.intercept_[0]), 2)}
    return f"{name}: {len(rows)} notes, area left out {areas[0]}, in force {areas[1]}\n  {any_note | weights}"


def main(folders: Sequence[str]) -> None:
    """Print the fit of both kinds of worth."""
    cases = [json.loads(file.read_text("utf-8")) for each in folders for file in sorted(Path(each).glob("*.json"))]
    rows = [row for case in cases for row in read_case(case, Languages.load())]
    matters = [row for row in rows if row.is_matter]
    print(fit("missed", rows, [row.expected for row in rows], [missed(row.signs) for row in rows]))
    print(fit("waited for", matters, [row.open for row in matters], [waited_for(row.signs) for row in matters]))


if __name__ == "__main__":
    main(sys.argv[1:])
