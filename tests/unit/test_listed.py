"""What "the first one" means: the line of the list that was shown last, or nothing; never another matter."""

from __future__ import annotations

import pytest

from memory.language.languages import Languages
from memory.state.listed import LISTED_TURNS, show
from memory.state.state_manager import adopt_loop, apply_turn, close_loop, live_loops, new_state
from memory.testing import make_loop, make_state
from memory.types import ConversationTurn, ListedItem

LANGUAGES = Languages.load()
TASKS = {
    "en": (["I need to call the dentist.", "I need to renew my passport.", "I need to buy milk."],
           "1. call the dentist\n2. renew your passport\n3. buy milk"),
    "de": (["Ich muss den Zahnarzt anrufen.", "Ich muss den Pass verlängern.", "Ich muss Milch kaufen."],
           "1. den Zahnarzt anrufen\n2. den Pass verlängern\n3. Milch kaufen"),
    "es": (["Tengo que llamar al dentista.", "Tengo que renovar el pasaporte.", "Tengo que comprar leche."],
           "1. llamar al dentista\n2. renovar el pasaporte\n3. comprar leche"),
    "fr": (["Je dois appeler le dentiste.", "Je dois renouveler mon passeport.", "Je dois acheter du lait."],
           "1. appeler le dentiste\n2. renouveler le passeport\n3. acheter du lait"),
    "pt": (["Tenho que ligar para o dentista.", "Tenho que renovar o passaporte.", "Tenho que comprar leite."],
           "1. ligar para o dentista\n2. renovar o passaporte\n3. comprar leite"),
    "ru": (["Мне нужно позвонить врачу.", "Мне нужно продлить паспорт.", "Мне надо купить молоко."],
           "1. позвонить врачу\n2. продлить паспорт\n3. купить молоко"),
}  # fmt: skip


def said(state, text, reply="", **fields):
    turn = ConversationTurn(
        turn_id=f"t{state.last_seq + 1}", session_id="s", conversation_id="c", seq=state.last_seq + 1, user_text=text,
        assistant_text=reply, created_at_ms=1_790_000_000_000 + 1_000 * state.last_seq, **fields,
    )  # fmt: skip
    return apply_turn(state, turn, LANGUAGES)


def listing(code):
    """Return the state after three tasks and a list of them."""
    tasks, shown = TASKS[code]
    state = new_state("s", "c")
    for task in tasks:
        state = said(state, task, language=code)
    return said(state, "?", shown, language=code)


def ended(state):
    return [number for number, loop in enumerate(state.open_loops, 1) if loop.status in ("done", "dropped")]


@pytest.mark.parametrize(
    ("code", "text", "numbers"),
    [
        ("en", "the first one is done", [1]),
        ("en", "forget about the first one", [1]),
        ("en", "the second one is done", [2]),
        ("en", "number 2 is done", [2]),
        ("en", "1 and 3 are done", [1, 3]),
        ("en", "the last one is done", [3]),
        ("en", "forget the second", [2]),
        ("en", "all done", [1, 2, 3]),
        ("en", "all settled!", [1, 2, 3]),
        ("en", "move it to 6pm", []),
        ("en", "the fifth one is done", []),
        ("en", "number 2", []),
        ("en", "I did the first two", []),
        ("en", "don't forget the dentist", []),
        ("en", "forget about the vet", []),
        ("en", "forget about the dentist", [1]),
        ("de", "das erste ist erledigt", [1]),
        ("de", "Nummer 2 ist erledigt", [2]),
        ("de", "vergiss das zweite", [2]),
        ("de", "alles erledigt", [1, 2, 3]),
        ("de", "vergiss den Tierarzt", []),
        ("de", "vergiss den Zahnarzt", [1]),
        ("es", "el primero está hecho", [1]),
        ("es", "la segunda está lista", [2]),
        ("es", "todo hecho", [1, 2, 3]),
        ("es", "olvida lo primero", [1]),
        ("es", "número 2 está listo", [2]),
        ("fr", "le premier est fait", [1]),
        ("fr", "la deuxième est faite", [2]),
        ("fr", "tout est fait", [1, 2, 3]),
        ("fr", "oublie le premier", [1]),
        ("fr", "oublie le vétérinaire", []),
        ("pt", "o primeiro está feito", [1]),
        ("pt", "a segunda está pronta", [2]),
        ("pt", "tudo feito", [1, 2, 3]),
        ("pt", "esquece o primeiro", [1]),
        ("pt", "esquece o veterinário", []),
        ("ru", "первое сделано", [1]),
        ("ru", "второе готово", [2]),
        ("ru", "всё сделано", [1, 2, 3]),
        ("ru", "забудь первое", [1]),
        ("ru", "забудь про ветеринара", []),
    ],
)
def test_a_report_ends_what_it_points_at_and_nothing_else(code, text, numbers):
    """In six languages: by its place on the list, by its name, all of them; what points nowhere ends nothing."""
    assert ended(said(listing(code), text, language=code)) == numbers


def test_the_order_is_that_of_the_list_and_not_that_of_opening():
    """The assistant may list matters in an order of its own."""
    tasks, _ = TASKS["en"]
    state = new_state("s", "c")
    for task in tasks:
        state = said(state, task)
    state = said(state, "what should I do first?", "Maybe so:\n1. buy milk\n2. call the dentist")

    assert ended(said(state, "the first one is done")) == [3]


def test_a_list_of_other_things_ends_nothing():
    """Said after a recipe, "the first one is done" is no word about a task."""
    state = said(listing("en"), "How do I bake bread?", "1. Mix the flour\n2. Let it rest\n3. Bake")

    assert ended(said(state, "the first one is done")) == []


def test_without_a_list_nobody_guesses():
    """Several matters are open and none was listed: nothing is ended; the only one is."""
    state = said(said(new_state("s", "c"), "I need to call the dentist."), "I need to buy milk.")
    alone = said(new_state("s", "c"), "I need to call the dentist.")

    assert ended(said(state, "the first one is done")) == []
    assert ended(said(state, "all settled")) == []
    assert ended(said(alone, "the first one is done")) == [1]


def test_an_old_list_means_nothing_any_more():
    """After six turns about other things "the first one" points at nothing."""
    state = listing("en")
    for _ in range(LISTED_TURNS):
        state = said(state, "The weather is nice here in Lisbon.")

    assert ended(said(state, "the first one is done")) == []


def test_a_list_of_reminders_ends_no_task():
    """What was shown by /jobs are reminders: their places are no tasks."""
    state = show(listing("en"), [ListedItem(kind="job", ref="j1", text="call Ana")], 5)

    assert ended(said(state, "the first one is done")) == []


def test_the_list_is_kept_with_the_session():
    """It is part of the state, so a checkpoint brings it back after a restart."""
    state = listing("en")
    again = type(state).model_validate_json(state.model_dump_json())

    assert ended(said(again, "the second one is done")) == [2]


def test_a_matter_that_is_adopted_takes_the_place_of_its_loop():
    """What was listed from the notes and is ended then is not open any more under its other name."""
    read = make_loop("Petersen wants the measurements, you still have to send them", turn_id="t_1")
    state = make_state(open_loops=[read])
    noted = make_loop(
        "Petersen wants the measurements by Friday, I still have to send them", loop_id="t_1.m1", turn_id="t_1"
    )
    other = make_loop("call the landlord", loop_id="t_1.m2", turn_id="t_1")

    adopted = adopt_loop(adopt_loop(state, noted), other)
    after = close_loop(adopted, "t_1.m1", "done", 1)

    assert [loop.text for loop in live_loops(after)] == ["call the landlord"]
