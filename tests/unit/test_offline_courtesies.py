"""Good night, a laugh, a nod: what is said back where nothing is told."""

from __future__ import annotations

import pytest
from test_offline import MINUTE_S, Talk

from bot.answers.offline.request import read_request
from bot.answers.offline.words import words_of
from memory.language.languages import Languages
from memory.language.names import name_in

LANGUAGES = Languages.load()
RENT = {
    "en": "I have to pay the rent tomorrow",
    "de": "Ich muss morgen die Miete zahlen",
    "es": "tengo que pagar el alquiler mañana",
    "fr": "je dois payer le loyer demain",
    "it": "devo pagare l'affitto domani",
    "pt": "preciso pagar o aluguel amanhã",
    "ru": "мне надо завтра заплатить за квартиру",
}
NIGHTS = [
    ("en", "good night"),
    ("en", "ok gn8"),
    ("de", "Gute Nacht"),
    ("de", "ok dann schlaf gut"),
    ("es", "buenas noches"),
    ("es", "vale, que descanses"),
    ("fr", "ok bonne nuit"),
    ("it", "buonanotte"),
    ("pt", "boa noite"),
    ("pt", "ok boa noite"),
    ("ru", "спокойной ночи"),
]


@pytest.mark.parametrize(("language", "night"), NIGHTS)
async def test_who_says_good_night_is_wished_one(language, night):
    """With what is to be done on the next day, and nothing of later."""
    talk = Talk()
    await talk.say(RENT[language])
    first, _, rest = (await talk.say(night)).partition("\n")

    assert first == words_of(language).say("good_night")
    assert rest


@pytest.mark.parametrize(("language", "evening"), [("es", "buenas noches"), ("pt", "boa noite")])
async def test_an_evening_greeting_at_the_beginning_of_a_talk_is_greeted(language, evening):
    """Two hours later the next talk begins."""
    talk = Talk()
    await talk.say(RENT[language])
    talk.clock.advance(s=200 * MINUTE_S)

    await talk.say(evening)
    assert talk.answer.action_name == "greet"


@pytest.mark.parametrize(
    ("language", "laugh"),
    [
        ("en", "lol ok"),
        ("de", "haha ja"),
        ("de", "haha ok"),
        ("es", "jajaja vale"),
        ("fr", "mdr ok"),
        ("pt", "kkkkk ta"),
        ("pt", "kkkk ok"),
        ("ru", "ахах ок"),
        ("ru", "лол ага"),
        ("it", "ahah ok"),
    ],
)
async def test_a_nod_with_a_laugh_is_a_nod_in_the_language_of_the_talk(language, laugh):
    """A laugh is written alike in many languages, and is no name for something to be noted."""
    talk = Talk()
    await talk.say(RENT[language])

    assert await talk.say(laugh) == words_of(language).say("ok")
    assert talk.state.language == language


@pytest.mark.parametrize(
    ("language", "laugh"),
    [("en", "lol"), ("de", "haha"), ("es", "jaja"), ("fr", "mdr"), ("pt", "kkkk"), ("ru", "ахах")],
)
async def test_a_laugh_alone_is_laughed_with(language, laugh):
    """Drawn out as it may be."""
    assert read_request(laugh, LANGUAGES, fallback=language).kind == "laughs"
    assert read_request(f"{laugh}!!", LANGUAGES, fallback=language).kind == "laughs"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "hang on, Kyle's ringing"),
        ("en", "I'm on the bus to Leeds now"),
        ("de", "bin gleich wieder da"),
        ("de", "sitze gerade im Meeting mit Sarah"),
        ("es", "espera, llama Marta"),
        ("fr", "je suis dans le bus pour Lyon"),
        ("pt", "peraí, a Carla tá ligando"),
        ("ru", "погоди, Коля звонит"),
        ("it", "aspetta un attimo"),
    ],
)
async def test_what_is_only_so_this_minute_gets_a_nod(language, said):
    """It is no fact to be noted: who is on the bus now is not tomorrow."""
    talk = Talk()
    await talk.say(RENT[language])

    assert await talk.say(said) == words_of(language).say("ok")


@pytest.mark.parametrize(
    ("language", "back"),
    [
        ("en", "I'm back"),
        ("de", "bin wieder da"),
        ("pt", "voltei"),
        ("ru", "я вернулась"),
        ("de", "na servus, bin wieder da"),
        ("es", "aquí estoy otra vez"),
        ("fr", "re, me revoilà"),
        ("pt", "tô de volta"),
        ("ru", "ну вот и я"),
    ],
)
async def test_who_is_back_within_the_talk_is_not_told_again_what_is_open(language, back):
    """They know: they said it a minute ago."""
    talk = Talk()
    await talk.say(RENT[language])

    assert "\n" not in await talk.say(back)


@pytest.mark.parametrize(
    ("language", "said", "listed"),
    [
        ("en", "and call the caterer on Thursday", "call the caterer"),
        ("de", "und am Donnerstag den Partyservice anrufen", "den Partyservice anrufen"),
        ("pt", "e ligar pro buffet na quinta", "ligar pro buffet"),
    ],
)
async def test_what_goes_on_with_an_and_is_listed_without_it(language, said, listed):
    """Nothing stands before it in the list."""
    talk = Talk()
    await talk.say(RENT[language])
    await talk.say(said)

    assert listed in talk.answer.text
    assert (
        said.split()[0] not in talk.answer.text.split(listed)[0].replace("\u201c", " ").replace("\u201e", " ").split()
    )


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "the doctor told me to have my blood taken by Friday"),
        ("de", "der Arzt hat gesagt, ich soll bis Freitag Blut abnehmen lassen"),
        ("es", "el médico me dijo que me haga un análisis antes del viernes"),
        ("fr", "le médecin m'a dit de faire une prise de sang avant vendredi"),
        ("pt", "o médico mandou fazer exame de sangue até sexta"),
        ("ru", "врач сказал сдать кровь до пятницы"),
    ],
)
def test_what_somebody_was_told_to_do_is_not_done(language, said):
    """Somebody said so, and that alone is over."""
    assert read_request(said, LANGUAGES, fallback=language).kind not in {"done", "drop"}


@pytest.mark.parametrize(
    ("language", "glad", "sad"),
    [
        ("en", "got the job!!!", "if I got the job I would move"),
        ("en", "Mia and I got engaged", "I didn't get the job"),
        ("de", "hab die Stelle bekommen!", "ich hab die Stelle nicht bekommen"),
        ("es", "me han dado el trabajo", "no me han dado el trabajo"),
        ("fr", "j'ai eu mon permis", "j'ai pas eu mon permis"),
        ("it", "mi hanno assunta", "non mi hanno assunta"),
        ("pt", "passei na prova!", "não passei na prova"),
        ("ru", "меня взяли на работу", "меня не взяли на работу"),
    ],
)
async def test_good_news_is_congratulated_on(language, glad, sad):
    """And what did not come about is not."""
    congratulations = words_of(language).say("congrats")
    talk = Talk()
    await talk.say(RENT[language])

    assert (await talk.say(glad)).startswith(congratulations)
    assert congratulations not in await talk.say(sad)


@pytest.mark.parametrize(
    ("language", "well", "badly"),
    [
        ("en", "the op went well!!", "i failed the exam"),
        ("de", "die OP ist gut gelaufen!!", "bin durch die Prüfung durchgefallen"),
        ("es", "la operación salió bien!!", "suspendí el examen"),
        ("fr", "l'opération s'est bien passée", "j'ai raté l'examen"),
        ("it", "l'operazione è andata bene!", "l'esame è andato male"),
        ("pt", "a cirurgia correu bem!", "reprovei no exame"),
        ("ru", "операция прошла хорошо!", "провалила экзамен"),
    ],
)
async def test_news_is_met_as_a_friend_meets_it(language, well, badly):
    """What went well gladdens, what failed is a pity; a question about it is neither."""
    glad, sorry = (words_of(language).say(key) for key in ("relieved", "sorry_it_failed"))
    talk = Talk()
    await talk.say(RENT[language])

    assert (await talk.say(well)).startswith(glad)
    assert (await talk.say(badly)).startswith(sorry)
    assert glad not in await talk.say(f"{well.rstrip('!')}?")


@pytest.mark.parametrize(
    ("language", "said", "name"),
    [
        ("de", "hey, bin der Schorsch", "Schorsch"), ("es", "ey, soy Paco", "Paco"),
        ("fr", "hello c'est Julien", "Julien"), ("pt", "e aí, sou o Zeca", "Zeca"), ("ru", "хай, я Антон", "Антон"),
        ("de", "hallo, bin müde", ""), ("es", "ey, soy alérgica", ""), ("fr", "hello c'est lundi", ""),
    ],
)  # fmt: skip
def test_who_greets_as_among_friends_is_called_by_their_name(language, said, name):
    """A "hey" or "ey" greets as "hallo" and "hola" do."""
    assert name_in(said, LANGUAGES.get(language)) == name


@pytest.mark.parametrize(
    ("language", "asked", "bored"),
    [
        ("en", "are you there?", "do you ever get bored?"),
        ("de", "bist du noch da?", "wird dir nie langweilig?"),
        ("es", "¿sigues ahí?", "¿te aburres?"),
        ("fr", "tu es là ?", "tu t'ennuies ?"),
        ("pt", "você está aí?", "você se sente sozinho?"),
        ("ru", "ты тут?", "тебе не скучно?"),
        ("it", "ci sei?", "ti annoi?"),
    ],
)
async def test_who_asks_whether_one_is_there_is_told_so(language: str, asked: str, bored: str):
    """That is beyond nobody: it was answered that no language model is connected."""
    talk, words = Talk(), words_of(language)
    await talk.say(RENT[language])

    assert await talk.say(asked) == words.say("here")
    assert await talk.say(bored) == words.say("how_are_you")


@pytest.mark.parametrize(
    ("language", "told", "said"),
    [
        ("en", "actually scrap the rent", "scraping the ice off the car"),
        ("de", "ach, streich die Miete", "ich streiche morgen die Küche"),
        ("es", "no, quita lo del alquiler", "mañana quitan el árbol"),
        ("fr", "bon, raye le loyer", "il a rayé la voiture"),
        ("pt", "ok, risca o aluguel", "o risco é grande"),
        ("ru", "ладно, вычеркни квартиру", "она вычеркнула моё имя"),
    ],
)
async def test_what_is_to_be_crossed_off_is_off_the_list(language: str, told: str, said: str):
    """It was only noted, and stayed open; the same verb tells other things."""
    talk = Talk()
    await talk.say(RENT[language])
    head = words_of(language).answers["dropped"].split("{")[0]

    assert not (await talk.say(said)).startswith(head)
    assert (await talk.say(told)).startswith(head)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the window cleaner comes every 2 weeks on a tuesday", "comes every 2 weeks on a tuesday"),
        ("the scan got moved to friday, machine broke", "got moved to friday, machine broke"),
        ("we are on holiday till the 30th", "we are on holiday"),
    ],
)
async def test_a_line_of_the_list_keeps_a_day_that_its_words_lean_on(text, shown):
    """The day stands apart, unless a word would be left hanging there."""
    talk = Talk()
    await talk.say(text)

    lines = (await talk.say("what's still open?")).lower().replace("you are", "we are")
    assert shown in lines
    assert not [line for line in lines.splitlines() if line.partition(" (")[0].endswith((" a", " to", " the", " on"))]
