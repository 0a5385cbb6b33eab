"""Which part of a message goes with what is forgotten, and what of it stays (P13)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.foreign import parts
from memory.ledger.series import at_ms_of
from memory.ledger.types import Note
from memory.privacy.cutting import Cutting, word_keys
from memory.search.same_words import asked_words
from memory.testing import START_MS, make_turn

DIVORCE = "Your sister Nuala is going through a divorce and in bits; Lisbon is kind of a rescue mission for her"
MIXED = (
    "nuala's going through a divorce btw, shes in bits, so lisbon is kinda a rescue mission. paint: no actually ochre. "
    "its warmer. my mam likes gardening, crosswords & daniel o'donnell, budget 120ish"
)
TRIP = (
    "ok oven fella just rang, its FRIDAY 7am now the chancer. and sister nuala + me are off to lisbon 11-14 dec, "
    "flights booked, hotel not. food safety inspection sometime next week, they dont say when, and mams 70th is 2 dec, "
    "need a gift AND a cake for 40 people 😵"
)
STAYING = (
    ("Sage for the café walls, final; ochre was a moment", "t_1"),
    ("Your mam likes gardening, crosswords and Daniel O'Donnell", "t_1"),
    ("Get a gift for your mam's 70th, budget around €120", "t_1"),
    ("You and your sister Nuala are off to Lisbon; flights are booked", "t_2"),
)
BRIAN = (("Your friend Brian says you owe him money", "t_1"), ("You have to pay 500 euros", "t_1"))
SAID = ("Nuala is getting divorced", "Brian owes me money", "I have to pay Brian 500 euros", "see you", " ", "> hi")
ENDS = (". ", ", ", " - ", "!", "\u2028", " […] ", "")
lines = st.tuples(
    st.sampled_from(["", "> ", ">", " > "]),
    st.lists(st.tuples(st.sampled_from(SAID), st.sampled_from(ENDS)).map("".join), max_size=3).map("".join),
)
APART = (("Priya is your granddaughter", "t_1"), ("The boat is blue", "t_1"), ("The house key is with Tom", "t_1"))


def note(number, text, *turn_ids):
    fields = {"note_id": f"n_{number}", "conversation_id": "c", "number": number, "kind": "fact", "text": text}
    return Note.model_validate({**fields, "said_at_ms": START_MS, "turn_ids": turn_ids})


def cut(message, answer="Okay.", *, gone=(), words="", staying=STAYING, **fields):
    """Cut a turn and return what is left of message and answer; None when it goes whole."""
    stay = [note(number, *each) for number, each in enumerate(staying, 1)]
    keys = word_keys("c", asked_words(words).values()) if words else ()
    cutting = Cutting([note(90, each) for each in gone], keys, stay, [message], "c")
    turn = make_turn(seq=1, **{"turn_id": "t_1", "user_text": message, "assistant_text": answer, **fields})
    left = cutting.of(turn)
    return left and (left.turn.user_text, left.turn.assistant_text)


@pytest.mark.parametrize("asked", [{"gone": [DIVORCE]}, {"words": "divorce"}, {"gone": [DIVORCE], "words": "divorce"}])
def test_one_matter_of_a_message_goes_and_its_neighbours_stay(asked):
    """The person's own message, by the note and by a word; the answer loses the same."""
    answer = "Ah, poor Nuala. A divorce, and she in bits! Ochre it is. Gardening, crosswords: noted."

    left = cut(MIXED, answer, **asked)

    assert left == (f"[…] {MIXED[MIXED.index('paint') :]}", "[…] Ochre it is. Gardening, crosswords: noted.")


@pytest.mark.parametrize(
    "message", [TRIP, "booked the lisbon hotel!! little place in alfama, 412 between us. booking under nualas name"]
)
def test_a_message_that_shares_people_and_places_alone_stays_as_it_is(message):
    """Nuala and Lisbon are in notes that stay: her trip is not her divorce."""
    assert cut(message, gone=[DIVORCE], turn_id="t_2") == (message, "Okay.")


@pytest.mark.parametrize(
    ("message", "gone", "staying"),
    [
        ("forget what i said about nuala's divorce, shouldnt have told u that", DIVORCE, STAYING),
        (
            "The door code is 4711 and the dentist is on Friday",
            "The door's code is 4711",
            [("Dentist on Friday", "t_1")],
        ),
        ("The code is 4711.", "The door's code is 4711", []),
        ("We saw Priya today. Gave the boat key away to her.", "The boat key is with Priya", APART),
        ("Its 4711. Thats for the door. He gave it to me himself.", "The door's code is 4711", []),
    ],
)
def test_a_message_of_one_matter_goes_whole(message, gone, staying):
    """Also one long clause, sentences that tell it only together, and such as no note that stays speaks for."""
    assert cut(message, gone=[gone], staying=staying) is None


@pytest.mark.parametrize(
    ("message", "gone", "stays", "left"),
    [
        (
            "boat shed key is with Marek no 8, allotment key is with our Priya at 34. Tom's dentist is on 14 january",
            "The key of the allotment is with Priya, at number 34",
            ("The key of the boat shed is with Marek, at number 8", "Tom has the dentist on 14 January"),
            "boat shed key is with Marek no 8, […] Tom's dentist is on 14 january",
        ),
        (
            "Der Code der Haustür ist 4711. Am Freitag kommt der Klempner wegen der Heizung!",
            "Der Code der Haustür ist 4711",
            ("Der Klempner kommt wegen der Heizung",),
            "[…] Am Freitag kommt der Klempner wegen der Heizung!",
        ),
        (
            "我们家的密码是4711。星期五要给妈妈买蛋糕。",
            "家的密码是4711",
            ("给妈妈买蛋糕",),
            "[…] 星期五要给妈妈买蛋糕。",
        ),
        (
            "Купить маме торт. Наташа разводится, ей очень плохо. Она плачет.",
            "Наташа разводится",
            ("Купить торт маме",),
            "Купить маме торт. […]",
        ),
    ],
)
def test_it_is_cut_in_any_language(message, gone, stays, left):
    """Sentences beside it go too where nothing that stays speaks for them: `she is crying` is of the same matter."""
    assert cut(message, gone=[gone], staying=[(each, "t_1") for each in stays]) == (left, "Okay.")


def test_an_answer_that_repeats_it_alone_loses_it_and_the_question_stays():
    """What is told again in an answer is no reason to take the person's own message away."""
    answer = "Today: the oven man.\nNuala is in bits over her divorce.\nMam: gardening and crosswords."

    left = cut("what's on this week?", answer, gone=[DIVORCE])

    assert left == ("what's on this week?", "[…] Mam: gardening and crosswords.")


@pytest.mark.parametrize(
    ("message", "left"),
    [
        (
            "I have to pay Brian 500 euros.\n> Nuala is getting divorced\n> Brian owes me money",
            "I have to pay Brian 500 euros.\n> […] Brian owes me money",
        ),
        (
            "I have to pay Brian 500 euros.\n> Nuala is getting divorced. Brian owes me money",
            "I have to pay Brian 500 euros.\n> […] Brian owes me money",
        ),
        (
            "I have to pay Brian 500 euros. Nuala is getting divorced:\n> Brian owes me money",
            "I have to pay Brian 500 euros. […]\n> Brian owes me money",
        ),
        (
            "> Brian owes me money\n> Nuala is getting divorced\nI have to pay Brian 500 euros.",
            "> Brian owes me money\n> […]\nI have to pay Brian 500 euros.",
        ),
    ],
)
def test_what_somebody_else_wrote_stays_marked(message, left):
    """Whatever is cut before it or out of it: nothing that was quoted becomes the person's own words."""
    assert cut(message, gone=["Nuala is getting divorced"], staying=BRIAN) == (left, "Okay.")


@given(st.lists(lines.map("".join), min_size=1, max_size=5).map("\n".join))
def test_no_cut_changes_whose_words_they_are(message):
    """Of the person's words and of somebody else's a part is left, each in order, beside the marks."""
    left = cut("paint sage", message, gone=["Nuala is getting divorced"], staying=BRIAN)

    for is_foreign in (False, True):
        rest = iter(_words(message, is_foreign=is_foreign))
        assert all(word in rest for word in _words(left[1], is_foreign=is_foreign))


def _words(text, *, is_foreign):
    own = " ".join(stretch for whose, stretch in parts(text) if whose == is_foreign)
    return own.replace("[…]", " ").replace(">", " ").split()


def test_of_two_twins_in_one_breath_the_one_with_the_day_is_cut():
    """“petra aus dem kollegium am 5.12.” stayed: it shares no word with “Kollegin Petra” but her sister's name."""
    said = "petra aus dem kollegium hat am 5.12. geburtstag und meine schwester, heißt auch petra, am 15.12., gut"
    day = {"due_at_ms": at_ms_of("2026-12-05T00:00", "UTC")}
    colleague = note(90, "Deine Kollegin Petra hat Geburtstag", "t_1").model_copy(update=day)
    sister = note(1, "Deine Schwester Petra hat Geburtstag", "t_1").model_copy(
        update={"due_at_ms": at_ms_of("2026-12-15T00:00", "UTC")}
    )
    left = Cutting([colleague], (), [sister], [said], "c").of(make_turn(seq=1, turn_id="t_1", user_text=said))

    assert left is not None
    assert "5.12" not in left.turn.user_text.replace("15.12", "")
    assert "schwester, heißt auch petra, am 15.12." in left.turn.user_text
