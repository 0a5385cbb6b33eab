"""Where a session stands, by what the notes say since."""

from __future__ import annotations

from dataclasses import replace

from memory.context.earlier import since_then, standing_now
from memory.keeper.session_lines import SessionLine
from memory.ledger.apply import apply_all
from memory.ledger.series import local_of
from memory.ledger.types import Actor, Add, Change, End, Ledger, Move, Operation
from memory.ledger.views import forgotten_words
from memory.testing import START_MS

MOVED = "L'orthodontiste de Noé est mercredi 2 décembre."
LEANING = "Elle penche pour réparer le four plutôt que le louer."
STAYS = "M. Bouvet a envoyé un devis de 1 840 €."
GATE = "Le code du portail chez sa mère est 4421."
LINE = SessionLine("s", "c", "Four", f"{MOVED} {LEANING} {STAYS} {GATE}", written_at_ms=START_MS)
NOTES = (
    Add(kind="event", text="Rendez-vous de Noé chez l'orthodontiste", note_id="n_1", fields={"due_at_ms": START_MS}),
    Add(kind="question", text="Four : réparer ou louer ?", note_id="n_2"),
    Add(kind="fact", text="Code du portail chez sa mère : 4421", note_id="n_3"),
)


def told(*operations: Operation, at_ms: int = START_MS + 1) -> str:
    """The standing after operations that came later than it."""
    ledger, _ = apply_all(Ledger("c"), NOTES, Actor("model", START_MS))
    after, outcomes = apply_all(ledger, operations, Actor("person", at_ms))
    changes = [change for outcome in outcomes for change in outcome.changes]
    return standing_now(LINE, after, changes, forgotten_words(after))


def test_a_standing_that_nothing_contradicts_is_told_whole():
    """Also when a note of it rings since: that says nothing else."""
    assert told() == LINE.standing
    assert told(Change(number=2, fields={"weight": 0.9})) == LINE.standing


def test_a_date_ends_no_sentence_of_a_standing():
    """What speaks of something that is over goes whole, and leaves no half behind."""
    asked = "Reste à savoir si je te rappelle le 11.12. le code du portail chez ta mère."
    line = replace(LINE, standing=f"{LEANING} {asked}")
    ledger, _ = apply_all(Ledger("c"), NOTES, Actor("model", START_MS))

    assert standing_now(line, ledger, ()) == f"{LEANING} {asked}"
    assert standing_now(line, ledger, (), ["le code du portail chez ta mère"]) == LEANING


def test_a_sentence_about_what_was_moved_or_ended_is_left_out():
    """The notes tell how it stands now; the rest of the standing holds."""
    assert told(Change(number=1, fields={"due_at_ms": START_MS + 86_400_000})) == f"{LEANING} {STAYS} {GATE}"
    assert told(End(number=2)) == f"{MOVED} {STAYS} {GATE}"


def test_a_sentence_about_a_date_of_a_series_that_was_moved_is_left_out():
    """“Gareth has Arlo from 11 to 13 December” stood beside the 4th to the 6th for a day; a ring changes nothing."""
    said = "Gareth has Arlo from 11 to 13 December."
    line = replace(LINE, standing=f"{said} {LEANING}")
    weekends = {"due_at_ms": START_MS + 86_400_000, "due_exact": True, "repeats": "FREQ=WEEKLY;INTERVAL=2"}
    ledger, _ = apply_all(
        Ledger("c"),
        [Add(kind="event", text="Gareth has Arlo", note_id="n_1", fields=weekends)],
        Actor("model", START_MS),
    )
    date = local_of(START_MS + 86_400_000, "UTC")
    move = Move(number=1, occurrence=date, to_ms=START_MS + 3 * 86_400_000)
    after, outcomes = apply_all(ledger, [move], Actor("model", START_MS + 1))
    changes = [change for outcome in outcomes for change in outcome.changes]

    assert standing_now(line, ledger, ()) == line.standing
    assert standing_now(line, after, changes) == LEANING


def test_what_was_done_before_it_was_worded_contradicts_nothing():
    """Whoever worded it knew."""
    assert told(End(number=2), at_ms=START_MS) == LINE.standing


def test_what_was_forgotten_is_told_by_no_standing():
    """The messages may stay: the fact is used no more."""
    forgotten = [Change(number=3, fields={"confidence": 0.0}), End(number=3, how="dropped")]

    assert GATE not in told(*forgotten)
    assert GATE not in told(*forgotten, at_ms=START_MS)


def test_a_note_that_ended_later_says_so_behind_a_standing_in_words_of_its_own():
    """`Callum … still open` was told for days after Callum was called done; other sessions' notes are none of it."""
    line = replace(LINE, standing="Everything is priced, only Callum is still open.", turn_ids=("t_1",))
    on = {"turn_ids": ("t_1",)}
    notes = [
        Add(kind="task", text="Ask Callum for his figures by Thursday", note_id="n_1", fields=on),
        Add(kind="task", text="Send Callum a birthday card", note_id="n_2"),
        Add(kind="task", text="Everything for the oven, by Friday", note_id="n_3", fields=on),
        Add(kind="task", text="Water the ferns", note_id="n_4", fields=on),
    ]
    ledger, _ = apply_all(Ledger("c"), notes, Actor("model", START_MS))
    ends = [End(number=number) for number in (1, 2, 4)]
    after, outcomes = apply_all(ledger, ends, Actor("model", START_MS + 86_400_000))
    changes = [change for outcome in outcomes for change in outcome.changes]

    assert standing_now(line, after, changes) == line.standing
    assert since_then(line, line.standing, after, changes) == [after.notes[1]]
    assert since_then(line, line.standing, ledger, ()) == []

    forgotten = [Change(number=1, fields={"confidence": 0.0}), End(number=1, how="dropped")]
    gone, outcomes = apply_all(ledger, forgotten, Actor("person", START_MS + 1))
    assert since_then(line, line.standing, gone, [change for each in outcomes for change in each.changes]) == []


def test_a_sentence_about_a_date_that_was_moved_back_is_left_out():
    """“Choir of the 15th is on the 17th” stood beside the choir that was back on the 15th."""
    fields = {"due_at_ms": START_MS + 86_400_000, "due_exact": True, "repeats": "FREQ=WEEKLY", "time_zone": "UTC"}
    ledger, _ = apply_all(
        Ledger("c"), [Add(kind="event", text="Choir", note_id="n_1", fields=fields)], Actor("model", START_MS)
    )
    usual = local_of(START_MS + 86_400_000, "UTC")
    moved, _ = apply_all(
        ledger, [Move(number=1, occurrence=usual, to_ms=START_MS + 3 * 86_400_000)], Actor("model", START_MS)
    )
    back = Move(number=1, occurrence=usual, to_ms=START_MS + 86_400_000)
    after, outcomes = apply_all(moved, [back], Actor("model", START_MS + 2))
    line = replace(LINE, standing="Choir is moved to Friday. The room is blue.", written_at_ms=START_MS + 1)

    changes = [change for outcome in outcomes for change in outcome.changes]
    assert standing_now(line, after, changes) == "The room is blue."
    assert standing_now(line, moved, []) == line.standing
