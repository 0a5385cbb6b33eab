"""/forget and /memory as pure texts and requests; what a session is without some turns."""

import orjson
import pytest

from bot import replies
from bot.features.forgetting.texts import found_in, found_list, menu, question, report_text, request_of
from bot.features.lists import page
from bot.features.memories import found_list as found_notes
from bot.features.memories import holding
from bot.sentences import LANGUAGES
from memory.ledger.types import Note
from memory.privacy.cutting import word_keys
from memory.privacy.erasure import carries, moved, renumbered, traces
from memory.privacy.forget import Foreseen, Proof
from memory.privacy.plan import ForgetCounts
from memory.search.same_words import asked_words
from memory.state.listed import places_in
from memory.storage.turn_rows import chain
from memory.testing import START_MS, make_turn

KINDS = ("turn", "part", "reminder", "file")


def note(number=1, **overrides):
    fields = {
        "note_id": f"n_{number}",
        "conversation_id": "c",
        "number": number,
        "kind": "fact",
        "text": f"I live in town {number}",
        "said_at_ms": START_MS,
    }
    return Note.model_validate(fields | overrides)


# --- what is said -----------------------------------------------------------------------------------------------------


def test_buttons_carry_ids_and_never_words():
    """A button's meaning is stored: it must not repeat what is to be forgotten."""
    said = {"turn_id": "t_9", "user_text": "zebrafish?", "assistant_text": "", "created_at_ms": 1}
    found = found_in([note(text="The codeword is zebrafish")], [said], "Zebrafish", START_MS, "UTC")
    keys = word_keys("c", asked_words("Zebrafish").values())
    messages = [
        menu(),
        found_list("zebrafish", found, keys),
        question(
            "last", {"what": "last", "turn_ids": ["t_9"]}, Foreseen(ForgetCounts(1), ("zebrafish",)), private=True
        ),
        page(found_notes("zebrafish", [note(each, text="zebrafish") for each in range(1, 9)], START_MS, "UTC")),
        question("notes", {"note_ids": ["n_1"]}, Foreseen(ForgetCounts(0, 1)), private=True),
    ]

    payloads = [dict(button.payload) for message in messages for row in message.buttons for button in row]
    assert b"zebrafish" not in orjson.dumps(payloads)
    assert not any(carries(orjson.dumps(payload).decode(), (), ()) for payload in payloads)


def test_all_that_was_found_is_one_button():
    """Memories and turns together, with every id."""
    rows = [{"turn_id": f"t_{n}", "user_text": "rex", "assistant_text": "", "created_at_ms": 1} for n in range(12)]
    shown = found_list("rex", found_in([], rows, "rex", START_MS, "UTC"), ("w_1",))

    everything = shown.buttons[-2][0]
    assert everything.payload == {"turn_ids": [f"t_{n}" for n in range(12)], "beside_stays": True, "words": ["w_1"]}
    assert "and 4 more" in shown.text


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"what": "everything"}, {"everything": True}),
        ({"what": "session", "session_ids": ["s_1"]}, {"session_ids": ("s_1",)}),
        ({"what": "last", "turn_ids": ["t_1"]}, {"turn_ids": ("t_1",)}),
        ({"note_ids": ["n_1"]}, {"note_ids": ("n_1",)}),
        ({"note_ids": ["n_1"], "messages_too": True}, {"note_ids": ("n_1",), "messages_too": True}),
    ],
)
def test_a_button_becomes_a_wish(payload, expected):
    """Nothing but what was confirmed, in this conversation, restricted to one person when asked."""
    request = request_of(payload, "c", 7)

    assert (request.conversation_id, request.user_id) == ("c", 7)
    empty = {
        "turn_ids": (),
        "note_ids": (),
        "messages_too": False,
        "kept_ids": (),
        "beside_stays": False,
        "words": (),
        "session_ids": (),
        "everything": False,
    }
    assert {name: getattr(request, name) for name in empty} == empty | expected


@pytest.mark.parametrize(
    ("proof", "emptied", "sentence"),
    [
        (None, True, replies.say("forgotten_looking")),
        (Proof(4, 0), True, "I've checked: nothing of it is left."),
        (Proof(4, 2), True, replies.say("forgotten_traces")),
        (Proof(4, 0), False, replies.say("forgotten_traces")),
        (Proof(4, None), True, replies.say("forgotten_unknown")),
    ],
)
def test_the_report_claims_no_more_than_was_found(proof, emptied, sentence):
    """That there is no trace is said only after a look that found none, with the log emptied."""
    text = report_text(ForgetCounts(turns=12, notes=3, summaries=1), proof, log_emptied=emptied)

    assert text == f"Okay, that's forgotten: the messages with my answers and my notes.\n{sentence}"


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_report_names_what_is_gone_and_counts_nothing(code):
    """One of a kind and several of it, whatever goes with them; a summary is nothing that a person knows of."""
    one = ForgetCounts(turns=1, notes=1, summaries=1, jobs=1, parts=1, beside={"file": 1})
    several = ForgetCounts(turns=21, notes=21, summaries=2, jobs=21, parts=21, beside={"file": 21})
    with replies.speaking(code):
        told = [report_text(one), report_text(several)]
        names = {name: replies.say(f"forgotten_what.{name}") for name in (*KINDS, *(f"{kind}s" for kind in KINDS))}

    assert all(names[kind] in told[0] and names[f"{kind}s"] in told[1] for kind in KINDS)
    assert not [text for text in told if any(character.isdigit() for character in text)]


def test_a_question_counts_only_what_a_person_knows_of():
    """How much they said, noted, set and sent; a summary is the bot's own affair."""
    counts = ForgetCounts(turns=12, notes=3, summaries=2, jobs=1, beside={"file": 2})

    asked = question("everything", {"what": "everything"}, Foreseen(counts), private=True)
    assert "That's 12 messages and their answers, 3 notes, 1 reminder, 2 files." in asked.text


def test_a_short_note_is_found_beside_the_message_that_says_it_in_more_words():
    """“60 €” is noted for “60 euros”: the message alone would have taken the rest that it says along."""
    noted = note(text="Bea te debe 60 € de la cena")
    row = {
        "turn_id": "t_5",
        "user_text": "y bea me debe 60 euros d la cena, el bus son 1850",
        "assistant_text": "",
        "created_at_ms": START_MS,
    }
    others = [noted, note(2, text="Bea tiene tu libro")]

    found = found_in(others, [row], "los 60 euros de Bea", START_MS, "UTC")
    assert [list(each.payload) for each in found] == [["note_ids"], ["turn_ids"]]


def test_a_note_in_other_words_is_found_beside_the_message_that_has_them_all():
    """“livre” is no form of “livraison”: only a message about the eggs' delivery was offered for the butter's."""
    notes = [note(text="La ferme Blanc te livre le beurre"), note(2, text="La ferme Blanc te livre les œufs")]
    row = {
        "turn_id": "t_5",
        "user_text": "le beurre aussi",
        "assistant_text": "Mardi, pour la livraison, préviens-le.",
        "created_at_ms": START_MS,
    }

    found = found_in(notes, [row], "la livraison du beurre", START_MS, "UTC")
    assert [each.payload for each in found] == [{"note_ids": ["n_1"]}, {"turn_ids": ["t_5"]}]


def test_notes_are_found_in_any_case_and_order():
    """Also beyond ASCII; all words count when none of the notes holds them in a row."""
    assert holding([note(text="Я живу в Москве")], "москве", START_MS, "UTC")
    assert holding([note(text="Rui paid Halden in May")], "halden rui", START_MS, "UTC")
    assert not holding([note()], "москве", START_MS, "UTC")


# --- what goes --------------------------------------------------------------------------------------------------------


def test_turns_that_are_left_count_and_chain_again():
    """Those before the gap keep their rows; those behind it move up, lowest first."""
    before = chain("", [make_turn(seq=seq) for seq in range(1, 6)])
    after = renumbered([logged for logged in before if logged.turn.seq != 3])

    assert [logged.turn.seq for logged in after] == [1, 2, 3, 4]
    assert [logged.digest for logged in after] == [one.digest for one in chain("", [each.turn for each in after])]
    assert [(logged.turn.turn_id, logged.turn.seq) for logged in moved(before, after)] == [("t_4", 3), ("t_5", 4)]


def test_traces_are_what_is_said_nowhere_else():
    """Short pieces without anything that JSON escapes; what is left elsewhere is no trace."""
    found = traces(['He said "the codeword is zebrafish". Good morning everybody!'], ["Good morning everybody!"])

    assert found == ["the codeword is zebrafish"]
    assert traces(["Rex"], []) == []
    assert traces(["Rexy"], []) == ["Rexy"]


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ('{"text":"Any words of anybody"}', True),
        ('{"turn_id":"t_1"}', True),
        ('{"turn_id":"t_2","until":"tomorrow"}', False),
        ('{"offset":8}', False),
        ("not json", True),
    ],
)
def test_buttons_that_carry_words_go(payload, expected):
    """Ids of what is gone and anybody's words go; ids of others and choices stay."""
    assert carries(payload, {"t_1"}, []) is expected


@pytest.mark.parametrize(
    ("words", "places"),
    [("2", (2,)), ("#3", (3,)), ("1, 2 4", (1, 2, 4)), ("room 12", ()), ("2 dogs", ()), ("the last one", ())],
)
def test_numbers_alone_name_places_on_a_list(words, places):
    """A number among words is looked for like any word."""
    assert places_in(words) == places


def test_a_note_alone_can_go_without_its_messages():
    """[Delete the messages too] asks once more; the plain yes takes the note alone."""
    asked = question("notes", {"note_ids": ["n_1"]}, Foreseen(ForgetCounts(0, 1), notes=("Rex",)), private=True)
    more, yes, _ = asked.buttons[0]

    assert (yes.action, yes.payload) == ("forget_yes", {"note_ids": ["n_1"]})
    assert (more.action, more.payload) == ("forget_ask", {"note_ids": ["n_1"], "messages_too": True})
    assert "• what I noted: Rex" in asked.text


def test_the_question_says_what_stays_of_the_messages_that_go():
    """What else they told is no secret of the one that goes."""
    said = ("the code is 4711, dentist on the 20th",)
    foreseen = Foreseen(ForgetCounts(1, 1), said, notes=("Code: 4711",), stays=("Dentist: 20th.",))
    asked = question("found", {"note_ids": ["n_1"], "messages_too": True}, foreseen, private=True)

    assert "I'll keep what else I noted from there:\n• Dentist: 20th\n" in asked.text


def test_words_are_found_with_or_without_accents_and_little_words():
    """Who writes “el melocoton de Nerea” finds the note that says “Nerea es alérgica al melocotón”."""
    noted = note(text="Nerea es celíaca y alérgica al melocotón")
    row = {
        "turn_id": "t_1",
        "user_text": "mi hija Nerea es alérgica al melocotón",
        "assistant_text": "",
        "created_at_ms": START_MS,
    }

    assert holding([noted], "el melocoton de nerea", START_MS, "UTC") == [noted]
    assert [each.payload for each in found_in([noted], [row], "el melocoton de Nerea", START_MS, "UTC")] == [
        {"note_ids": ["n_1"]},
        {"turn_ids": ["t_1"]},
    ]
    assert found_in([noted], [row], "el platano de nerea", START_MS, "UTC") == []


def test_a_matter_that_is_named_with_a_remark_is_found():
    """“the card for joan, alasdair's getting that one”: there was nothing to forget, with the card on the list."""
    notes = [note(text=f"Buy a birthday card for {name}", note_id=f"n_{name}") for name in ("Jean", "Joan")]
    found = found_in(notes, [], "the card for joan, alasdair's getting that one", START_MS, "UTC")

    assert [each.payload for each in found] == [{"note_ids": ["n_Joan"]}]
