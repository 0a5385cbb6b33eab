"""Asking in plain words that something be forgotten: off the list where it is open, else the command is named."""

from __future__ import annotations

import pytest
from test_offline import LANGUAGES, Talk

from bot.answers.offline.words import words_of
from memory.language.sentences import lowered
from memory.longterm.promotion import candidates
from memory.notes.rules import read_by_rules
from memory.notes.types import ReadingRequest
from memory.testing import make_turn

ASKED = [
    ("en", "Forget Elm Street", "Elm Street"),
    ("en", "forget what I said about Tom", "Tom"),
    ("en", "please forget that I am vegetarian", "vegetarian"),
    ("en", "can you forget my address?", "address"),
    ("en", "delete my phone number", "phone number"),
    ("de", "Vergiss die Wilhelmstraße", "Wilhelmstraße"),
    ("de", "vergiss, was ich über Tom gesagt habe", "Tom"),
    ("de", "Vergiss, dass ich Vegetarierin bin", "Vegetarierin"),
    ("de", "kannst du bitte meine Adresse vergessen?", "Adresse"),
    ("de", "lösch meine Adresse", "Adresse"),
    ("es", "Olvida mi dirección, por favor", "dirección"),
    ("es", "olvida lo que te dije de Tom", "Tom"),
    ("es", "Olvida que soy vegetariana", "vegetariana"),
    ("fr", "Oublie que je suis végétarienne", "végétarienne"),
    ("fr", "oublie ce que j'ai dit sur Tom", "Tom"),
    ("fr", "oublie mon adresse", "adresse"),
    ("it", "dimentica il mio indirizzo", "indirizzo"),
    ("it", "Dimentica quello che ho detto di Tom", "Tom"),
    ("it", "Dimentica che sono vegetariana", "vegetariana"),
    ("pt", "esquece o meu endereço", "endereço"),
    ("pt", "Esqueça o que eu disse sobre Tom", "Tom"),
    ("pt", "Esqueça que sou vegetariana", "vegetariana"),
    ("ru", "забудь мой адрес", "адрес"),
    ("ru", "забудь, что я говорил про Тома", "Тома"),
    ("ru", "Забудь, что я вегетарианка", "вегетарианка"),
]
PROMISED = {
    "en": ("I need to renew my passport", "forget the passport"),
    "de": ("Ich muss den Reisepass verlängern", "Vergiss den Reisepass"),
    "es": ("Tengo que renovar el pasaporte", "olvida el pasaporte"),
    "fr": ("Je dois renouveler mon passeport", "oublie le passeport"),
    "it": ("Devo rinnovare il passaporto", "dimentica il passaporto"),
    "pt": ("Preciso renovar o passaporte", "esquece o passaporte"),
    "ru": ("Мне нужно продлить паспорт", "забудь про паспорт"),
}
REMINDED = {
    "en": ("I need to buy milk", "don't forget the milk"),
    "de": ("Ich muss Milch kaufen", "vergiss die Milch nicht"),
    "es": ("Tengo que comprar leche", "no olvides la leche"),
    "fr": ("Je dois acheter du lait", "n'oublie pas le lait"),
    "it": ("Devo comprare il latte", "non dimenticare il latte"),
    "pt": ("Preciso comprar leite", "não esqueça o leite"),
    "ru": ("Мне нужно купить молоко", "не забудь про молоко"),
}


@pytest.mark.parametrize(("code", "text", "about"), ASKED)
async def test_what_is_to_be_forgotten_is_named_with_its_command(code: str, text: str, about: str):
    """Nothing on the list is meant, so the answer says how it is forgotten for good; and the request is no note."""
    talk = Talk()
    answer = await talk.say(text)

    assert f"/forget {about}" in answer
    assert not talk.state.open_loops
    assert not candidates(make_turn(seq=1, user_text=text).model_copy(update={"language": code}), LANGUAGES)


@pytest.mark.parametrize(("code", "text", "about"), ASKED)
def test_a_request_to_forget_is_nothing_to_remember(code: str, text: str, about: str):
    """Whoever says "forget that I am vegetarian" does not tell that they are."""
    turn = make_turn(seq=1, user_text=text).model_copy(update={"language": code})
    request = ReadingRequest(
        session_id=turn.session_id, conversation_id=turn.conversation_id, turns=(turn,), language=code,
        now_ms=turn.created_at_ms,
    )  # fmt: skip
    notes = read_by_rules(request, LANGUAGES)

    assert not notes.lasting, about
    assert not [matter for matter in notes.matters if not matter.faint]


@pytest.mark.parametrize("code", PROMISED)
async def test_what_is_open_is_dropped_by_the_same_words(talk: Talk, code: str):
    """A matter on the list is called off, and no command is named."""
    told, asked = PROMISED[code]
    await talk.say(told)
    answer = await talk.say(asked)

    assert "/forget" not in answer
    assert talk.open_texts == []


@pytest.mark.parametrize("code", REMINDED)
async def test_what_must_not_be_forgotten_stays_on_the_list(talk: Talk, code: str):
    """Whoever says "don't forget the milk" wants the opposite."""
    told, asked = REMINDED[code]
    await talk.say(told)
    answer = await talk.say(asked)

    assert talk.open_texts == [told]
    assert not LANGUAGES.get(code).has("forget", lowered(asked))
    assert not answer.startswith(words_of(code).answers["corrected"].partition("{")[0])


async def test_whom_not_to_forget_is_no_correction(talk: Talk):
    """The "pas" of "n'oublie pas Mme Petit" denies no name."""
    await talk.say("Je dois appeler Mme Petit jeudi")
    await talk.say("n'oublie pas Mme Petit")

    assert "appeler Mme Petit" in await talk.say("il reste quoi ?")


async def test_what_else_was_said_is_noted_beside_it(talk: Talk):
    """The rest of the message is taken in."""
    answer = await talk.say("Forget that my dog is called Rex. I like green tea.")

    assert answer.startswith("Got it: you like green tea.\n")
    assert "/forget dog is called Rex" in answer


@pytest.mark.parametrize("text", ["I always forget my umbrella", "I forget the details", "forget-me-nots are blue"])
async def test_whoever_tells_of_forgetting_asks_for_nothing(talk: Talk, text: str):
    """It is no request, and calls nothing off."""
    answer = await talk.say(text)

    assert "/forget" not in answer
    assert "on the list" not in answer


@pytest.fixture
def talk() -> Talk:
    """Return an empty conversation."""
    return Talk()


@pytest.mark.parametrize(
    ("shopping", "task", "dropped", "named"),
    [
        ("I need to buy milk, bread and nappies", "I need to call Ann", "forget that with the nappies", "nappies"),
        ("ich muss Milch, Brot und Windeln kaufen", "ich muss Ana anrufen", "vergiss das mit den Windeln", "Windeln"),
        ("tengo que comprar leche, pan y huevos", "tengo que llamar a Ana", "olvida eso de los huevos", "huevos"),
        ("je dois acheter du lait, du pain et du beurre", "je dois appeler Ana", "oublie ça pour le beurre", "beurre"),
        ("devo comprare latte, pane e uova", "devo chiamare Ana", "dimentica le uova", "uova"),
        ("preciso comprar leite, pão e ovos", "preciso ligar para a Ana", "esquece isso dos ovos", "ovos"),
        ("мне надо купить молоко, хлеб и корм", "мне надо позвонить Ане", "забудь про корм", "корм"),
    ],
)
async def test_one_thing_of_a_list_drops_neither_the_list_nor_what_came_after_it(
    talk: Talk, shopping, task, dropped, named
):
    """It is off the list, and that alone: the task said last was dropped for it, or the list said to name no such."""
    await talk.say(shopping)
    await talk.say(task)
    said = await talk.say(dropped)

    assert named not in said
    assert any(word in said for word in shopping.split()[-5:-2])
    assert "/forget" not in said
    assert not [loop for loop in talk.state.open_loops if loop.status == "dropped"]


async def test_what_is_on_no_list_drops_nothing(talk: Talk):
    """The article of "das Paket" is no "das"."""
    await talk.say("ich muss Ana anrufen")
    await talk.say("vergiss das Paket")

    assert not [loop for loop in talk.state.open_loops if loop.status == "dropped"]


@pytest.mark.parametrize(
    ("code", "text", "about"),
    [
        ("en", "dont forget the inhaler", "the inhaler"),
        ("en", "don't forget to call the plumber", "call the plumber"),
        ("de", "vergiss den Inhalator nicht", "„den Inhalator“"),
        ("de", "nicht vergessen: Brot kaufen", "„Brot kaufen“"),
        ("de", "denk an den Inhalator", "„den Inhalator“"),
        ("es", "no olvides comprar pan", "«comprar pan»"),
        ("fr", "n'oublie pas l'inhalateur", "l'inhalateur"),
        ("fr", "pense à acheter du pain", "acheter du pain"),
        ("it", "non dimenticare il pane", "«il pane»"),
        ("pt", "não esquece a bombinha", "“a bombinha”"),
        ("ru", "не забудь ингалятор", "«ингалятор»"),
    ],
)
async def test_what_must_not_be_forgotten_is_open(talk: Talk, code: str, text: str, about: str):
    """Without a time it is kept as something to do, and said back; it was called off, or too much to do."""
    answer = await talk.say(text)

    assert about in answer.partition("\n")[0]
    assert about.strip("„“”«»") in await talk.say(
        {
            "en": "what's open?",
            "de": "was ist offen?",
            "es": "¿qué está pendiente?",
            "fr": "qu'est-ce qui est ouvert ?",
            "it": "cosa è aperto?",
            "pt": "o que está em aberto?",
            "ru": "что открыто?",
        }[code]
    )


@pytest.mark.parametrize("code", REMINDED)
def test_it_is_noted_once_with_what_it_recalls(code: str):
    """What only recalls "buy milk" is no second matter beside it."""
    turns = tuple(make_turn(seq=n, user_text=text) for n, text in enumerate(REMINDED[code], 1))
    turns = tuple(turn.model_copy(update={"language": code}) for turn in turns)
    request = ReadingRequest(
        session_id=turns[0].session_id, conversation_id=turns[0].conversation_id, turns=turns, language=code,
        now_ms=turns[-1].created_at_ms,
    )  # fmt: skip

    assert [matter.text for matter in read_by_rules(request, LANGUAGES).matters] == [REMINDED[code][0]]


async def test_who_is_not_to_be_forgotten_is_no_task(talk: Talk):
    """Nobody is a thing to do."""
    await talk.say("don't forget about me")
    await talk.say("dont forget it")

    assert talk.open_texts == []
