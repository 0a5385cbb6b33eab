"""The concierge in seven languages: it answers what it knows in the person's own, and no sentence leaves a trace."""

from __future__ import annotations

import string
import tomllib
from pathlib import Path

import pytest
from test_offline import LANGUAGES, Talk

import bot.answers.offline.words as offline
from bot.answers.offline.corrections import put_right
from bot.answers.offline.request import read_request
from bot.answers.offline.words import words_of
from memory.language.names import name_in
from memory.state.loops import alive
from memory.state.state_manager import apply_turn, new_state
from memory.testing import make_turn
from memory.types import UNDOES

CODES = ("en", "de", "es", "fr", "it", "pt", "ru")
DATA = Path(offline.__file__).parent / "languages"


@pytest.fixture
def talk() -> Talk:
    """Return an empty conversation."""
    return Talk()


def answers_of(code):
    return tomllib.loads((DATA / f"{code}.toml").read_text(encoding="utf-8"))["answers"]


def fields_of(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("code", CODES[1:])
def test_every_sentence_is_there_in_every_language_with_its_own_fields(code):
    """None falls back to English, none lacks what it is about."""
    english, own = answers_of("en"), answers_of(code)

    assert own.keys() == english.keys()
    for key, text in english.items():
        theirs, ours = fields_of(text) - {"Day", "day"}, fields_of(own[key]) - {"Day", "day"}
        assert theirs == ours, key
        assert own[key] != text or key in {"note_line", "item_fact", "reminder_due", "since_day", "ok",
                                           "due_day", "hello_to", "on_day", "talked_earlier", "talked_earlier_plain",
                                           "one_message", "messages", "loop_event"}, key  # fmt: skip


@pytest.mark.parametrize("code", CODES)
def test_no_sentence_of_the_concierge_leaves_a_matter_or_a_question_behind(code):
    """The session state reads each reply; what only tells what was done is no promise, no refusal and no question."""
    words, wrong = words_of(code), []
    hello = {
        "en": "the weather was nice over there", "de": "das Wetter war dort schön", "es": "hacía buen tiempo allí",
        "fr": "il faisait beau là-bas", "it": "il tempo lì era bello",
        "pt": "o tempo estava bom lá", "ru": "погода там была хорошая",
    }  # fmt: skip
    asking = {"more", "did_you"}
    for key, text in answers_of(code).items():
        filled = words.say(key, **dict.fromkeys(fields_of(text), "Rex"))
        turn = make_turn(seq=1, user_text=hello[code], assistant_text=filled)
        state = apply_turn(new_state(turn.session_id, turn.conversation_id), turn, LANGUAGES, "UTC")
        if alive(state.open_loops) or (state.pending_clarifications and key not in asking):
            wrong.append((key, [loop.text for loop in state.open_loops], state.pending_clarifications))
    assert not wrong


SPOKEN = {
    "en": ("Hi, I'm Jonas", "What's my name?", "Jonas", "My dog Rex is 4 years old.", "How old is Rex?",
           "I live in Hamburg", "Sorry, I meant Bremen, not Hamburg", "Where do I live?", "Bremen",
           "We decided to use Postgres for the database.", "What did we decide about the database?"),
    "de": ("Hallo, ich bin Jonas", "Wie heiße ich?", "Jonas", "Mein Hund Rex ist 4 Jahre alt.", "Wie alt ist Rex?",
           "Ich wohne in Hamburg", "Sorry, ich meinte Bremen, nicht Hamburg", "Wo wohne ich?", "Bremen",
           "Wir haben uns für Postgres als Datenbank entschieden.", "Was haben wir zur Datenbank entschieden?"),
    "es": ("Hola, soy Jonás", "¿Cómo me llamo?", "Jonás", "Mi perro Rex tiene 4 años.", "¿Cuántos años tiene Rex?",
           "Vivo en Sevilla", "Perdona, quería decir Granada, no Sevilla", "¿Dónde vivo?", "Granada",
           "Decidimos usar Postgres para la base de datos.", "¿Qué decidimos sobre la base de datos?"),
    "fr": ("Salut, je m'appelle Jonas", "Comment je m'appelle ?", "Jonas", "Mon chien Rex a 4 ans.", "Quel âge a Rex ?",
           "J'habite à Lyon", "Pardon, je voulais dire Nantes, pas Lyon", "Où est-ce que j'habite ?", "Nantes",
           "On a décidé d'utiliser Postgres pour la base de données.",
           "Qu'est-ce qu'on a décidé pour la base de données ?"),
    "it": ("Ciao, sono Jonas", "Come mi chiamo?", "Jonas", "Il mio cane Rex ha 4 anni.", "Quanti anni ha Rex?",
           "Abito a Torino", "Scusa, volevo dire Milano, non Torino", "Dove abito?", "Milano",
           "Abbiamo deciso di usare Postgres per il database.", "Cosa abbiamo deciso per il database?"),
    "pt": ("Olá, sou o Jonas", "Como me chamo?", "Jonas", "O meu cão Rex tem 4 anos.", "Quantos anos tem o Rex?",
           "Moro em Lisboa", "Desculpa, queria dizer Porto, não Lisboa", "Onde moro?", "Porto",
           "Decidimos usar Postgres para a base de dados.", "O que decidimos sobre a base de dados?"),
    "ru": ("Привет, меня зовут Иван", "Как меня зовут?", "Иван", "Моей собаке Рексу 4 года.", "Сколько лет Рексу?",
           "Я живу в Москве", "Извини, я имел в виду Казань, а не Москву", "Где я живу?", "Казань",
           "Мы решили использовать Postgres для базы данных.", "Что мы решили про базу данных?"),
}  # fmt: skip
OLD_HOME = {
    "en": "Hamburg",
    "de": "Hamburg",
    "es": "Sevilla",
    "fr": "Lyon",
    "it": "Torino",
    "pt": "Lisboa",
    "ru": "Москве",
}
BEYOND = {
    "en": "language model", "de": "Sprachmodell", "es": "modelo de lenguaje", "fr": "modèle de langage",
    "it": "modello linguistico", "pt": "modelo de linguagem", "ru": "языковая модель",
}  # fmt: skip


@pytest.mark.parametrize("code", CODES)
async def test_what_it_was_told_it_knows_in_that_language(talk: Talk, code: str):
    """Name, number, a corrected home and a decision; never that a language model would be needed for it."""
    hi, name_asked, name, dog, age_asked, home, correction, home_asked, where, decision, decided = SPOKEN[code]
    assert name in await talk.say(hi)
    assert name in await talk.say(name_asked)
    await talk.say(dog)
    age = await talk.say(age_asked)
    assert "4" in age
    await talk.say(home)
    await talk.say(correction)
    told = await talk.say(home_asked)
    assert where in told
    await talk.say(decision)
    known = await talk.say(decided)
    assert "Postgres" in known
    for text in (age, told, known):
        assert BEYOND[code] not in text


@pytest.mark.parametrize(
    ("told", "asked", "when"),
    [
        ("im getting married on 12 june", "when is my wedding", "12 Jun"),
        ("im sitting my finals on the 3rd", "when's my exam", "3 Dec"),
        ("my flight's on 4 december", "when do i fly", "4 Dec"),
        ("the op is on 4 december", "when is my surgery?", "4 Dec"),
        ("ich ziehe am 3. mai um", "wann ist mein umzug", "3. Mai"),
        ("mein Flug geht am 4. Dezember", "wann fliege ich?", "4. Dez"),
        ("me caso el 12 de junio", "¿cuándo es mi boda?", "12 de jun"),
        ("vuelo a Oslo el 4 de diciembre", "¿cuándo es mi vuelo?", "4 de dic"),
        ("je me marie le 12 juin", "c'est quand mon mariage ?", "12 juin"),
        ("on déménage le 4 décembre", "quand est le déménagement ?", "4 déc"),
        ("mi sposo il 12 giugno", "quando è il mio matrimonio?", "12 giu"),
        ("caso-me no dia 12 de junho", "quando é o meu casamento?", "12 de jun"),
        ("лечу в Осло 4 декабря", "когда у меня рейс?", "4 дек"),
        ("женюсь 12 июня", "когда моя свадьба?", "12 июн"),
    ],
)
async def test_a_day_is_found_by_noun_and_by_verb(talk: Talk, told, asked, when):
    """Who asks for the wedding asks for "getting married"."""
    await talk.say(told)

    assert when in await talk.say(asked)


@pytest.mark.parametrize("code", CODES)
def test_every_language_has_each_family_of_words(code):
    """None is missing, and each finds something."""
    families = LANGUAGES.get(code).families

    assert families.keys() == LANGUAGES.get("en").families.keys()
    assert all(families.values())


async def test_in_a_group_what_somebody_else_said_is_not_yours(talk: Talk):
    """Neither their name nor their dog: theirs is quoted as it was said."""
    await talk.say("I'm Jonas", user_id=1)
    await talk.say("My dog Rex is 4 years old", user_id=1)

    assert "Jonas" not in await talk.say("What's my name?", user_id=2)
    assert "“My dog Rex is 4 years old”" in await talk.say("How old is Rex?", user_id=2)
    assert "Jonas" in await talk.say("What's my name?", user_id=1)


async def test_a_picture_is_not_seen_and_its_kind_is_no_word_of_the_person(talk: Talk):
    """It says so, and answers the caption."""
    text = await talk.say("[photo] what is this?")

    assert text.startswith("I can't see what you sent")
    assert "photo" not in text


@pytest.mark.parametrize("code", CODES)
async def test_how_to_delete_names_forget_in_that_language(talk: Talk, code: str):
    """The command, and what it does, in the words of the language."""
    asked = {"en": "How do I delete my data?", "de": "Wie lösche ich meine Daten?", "es": "¿Cómo borro mis datos?",
             "fr": "Comment supprimer mes données ?", "it": "Come cancello i miei dati?",
             "pt": "Como apago os meus dados?",
             "ru": "Как удалить мои данные?"}  # fmt: skip
    text = await talk.say(asked[code])

    assert text == words_of(code).answers["forget_all"]
    assert "/forget" in text


@pytest.mark.parametrize("code", CODES)
async def test_a_wrong_note_is_taken_back_in_that_language(talk: Talk, code: str):
    """What was undone is neither known nor quoted any more, also when it is asked for by its words."""
    wrong = {"en": "that's wrong", "de": "Das stimmt nicht", "es": "eso está mal", "fr": "c'est faux",
             "it": "è sbagliato", "pt": "isso está errado", "ru": "Это неправда"}  # fmt: skip
    await talk.say(SPOKEN[code][9])
    undone = await talk.say(wrong[code])

    assert "Postgres" in undone
    assert "Postgres" not in await talk.say(SPOKEN[code][10])


@pytest.mark.parametrize(
    ("code", "text", "kind"),
    [
        ("en", "what do i have today", "open"), ("en", "anything on friday?", "open"),
        ("en", "what day is it today", "clock"), ("en", "what is on tv tonight", "question"),
        ("de", "was war nochmal heute?", "open"), ("de", "hab ich am freitag was vor", "open"),
        ("de", "was habe ich heute gegessen", "question"), ("de", "hab ich morgen was", "open"),
        ("es", "que tengo para hoy?", "open"), ("es", "qué hay esta semana", "open"),
        ("fr", "j'ai quoi aujourd'hui ?", "open"), ("fr", "c'est quoi le programme de la semaine ?", "open"),
        ("fr", "c'est quoi le plat du jour ?", "question"),
        ("it", "cosa ho oggi?", "open"), ("it", "ho qualcosa venerdì?", "open"),
        ("pt", "o que tenho hoje?", "open"), ("pt", "o que tem amanhã", "open"),
        ("ru", "что у меня сегодня?", "open"), ("ru", "есть что-нибудь завтра?", "open"),
    ],
)  # fmt: skip
def test_what_there_is_on_a_day_asks_for_what_is_open(code, text, kind):
    """It was beyond the concierge, which had it all on its list."""
    assert read_request(text, LANGUAGES, fallback=code).kind == kind


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("the dentist is on tuesday at 10", "oops, at 11"),
        ("der Zahnarzt ist am 1.12. um 10:00", "äh um 11:00"),
        ("el dentista es el martes a las 10", "uy, a las 11"),
        ("le dentiste c'est mardi à 10h", "euh à 11h"),
        ("il dentista è martedì alle 10", "ops, alle 11"),
        ("o dentista é terça às 10h", "opa, às 11h"),
        ("к стоматологу во вторник в 10", "ой, в 11"),
    ],
)
async def test_an_hour_behind_an_oops_puts_the_hour_right(talk: Talk, told, meant):
    """It was noted for itself, and the appointment stood at the wrong hour."""
    await talk.say(told)
    said = await talk.say(meant)

    assert "11:00" in said
    assert "10" not in said
    assert meant not in said


@pytest.mark.parametrize(
    ("open_", "told"),
    [
        ("ich muss morgen die Überweisung machen", "überweisung gemacht"),
        ("tengo que pagar el seguro antes del viernes", "ya pague el seguro"),
    ],
)
async def test_what_a_reading_ends_is_said_to_have_ended(talk: Talk, open_, told):
    """It went off the list in silence, with "noted" for an answer."""
    await talk.say(open_)
    said = await talk.say(told)

    assert said.startswith(words_of(talk.state.language or "en").answers["closed"].partition(":")[0])


@pytest.mark.parametrize(
    ("open_", "done", "not_yet"),
    [
        ("I need to call the landlord by Friday", "called the landlord", "oh no, not yet"),
        ("I need to call the landlord by Friday", "I called the landlord, done", "wait, i havent called yet"),
        ("ich muss morgen die Überweisung machen", "überweisung ist erledigt", "ach ne, doch noch nicht"),
        ("tengo que pagar el seguro antes del viernes", "ya está pagado el seguro", "uy no, me he equivocado"),
        ("je dois payer la nounou le 30", "c'est fait pour la nounou", "euh non pas encore"),
        ("preciso pagar o condomínio até sexta", "ja paguei o condomínio", "desfaz isso, ainda nao paguei"),
        ("devo pagare il condominio entro venerdì", "ho pagato il condominio", "ah no, non ancora"),
        ("мне надо оплатить интернет завтра", "интернет оплатила", "ой нет, еще не оплатила"),
    ],
)
async def test_a_report_is_taken_back_with_not_yet(talk: Talk, open_, done, not_yet):
    """What was reported by mistake is open again, and "not yet" itself is nothing to do."""
    await talk.say(open_)
    await talk.say(done)

    await talk.say(not_yet)

    assert talk.answer.action_name == UNDOES
    assert {loop.turn_id for loop in talk.state.open_loops if loop.status == "open"} == {"t_s_1_1"}


async def test_i_was_wrong_takes_back_a_report_and_nothing_further_back(talk: Talk):
    """Where nothing was reported just before, it is not clear what was wrong: what was put on the list stays there."""
    await talk.say("I need to call the landlord by Friday")
    await talk.say("it rains")
    await talk.say("oh no, i was wrong")

    assert talk.answer.action_name != UNDOES


async def test_what_is_on_the_list_no_more_is_not_said_to_go_off_it(talk: Talk):
    """A matter that was dropped is done all the same: there is nothing to close."""
    await talk.say("hay que pedirle la furgoneta a mi cuñado raul el sabado")
    await talk.say("olvida lo de la furgoneta")
    said = await talk.say("ya esta hecho lo de la furgoneta, raul dice que si")

    assert "furgoneta a mi cuñado" not in said


async def test_what_is_dropped_of_two_errands_leaves_the_other_to_be_done(talk: Talk):
    """The van was off the list with the paint."""
    await talk.say("hay que comprar pintura y pedirle la furgoneta a mi cuñado raul el sabado")
    await talk.say("olvida lo de la pintura")
    said = await talk.say("ya esta hecho lo de la furgoneta, raul dice que si")

    assert "furgoneta a mi cuñado" in said


@pytest.mark.parametrize("said", ["the parcel is not here yet", "i haven't slept well", "did i not call yet?"])
async def test_what_speaks_of_something_else_takes_nothing_back(talk: Talk, said):
    """Behind a report one may go on to speak of what has not happened elsewhere."""
    await talk.say("I need to call the landlord by Friday")
    await talk.say("I called the landlord, done")
    await talk.say(said)

    assert talk.answer.action_name != UNDOES


@pytest.mark.parametrize(
    ("code", "text", "name"),
    [
        ("en", "I'm Jonas.", "Jonas"), ("en", "I'm German.", ""), ("en", "I'm tired", ""), ("en", "I'm Danish", ""),
        ("en", "My name is Ana Maria Lopez", "Ana Maria Lopez"), ("de", "Ich bin Lehrer.", ""),
        ("de", "Ich bin der Max", "Max"), ("es", "Soy médico", ""), ("fr", "Je suis fatigué", ""),
        ("ru", "Я устал", ""), ("en", "call me Bob", "Bob"),
        ("en", "my name is priya", "Priya"), ("en", "my name's priya sharma", "Priya Sharma"),
        ("en", "i'm priya btw", "Priya"), ("en", "btw im dave", "Dave"), ("en", "hi im dave", "Dave"),
        ("en", "hi im tired", ""), ("en", "hey, i'm starving btw", ""), ("en", "call me ana", "Ana"),
        ("en", "call me tomorrow", ""), ("en", "call me back at 5", ""), ("en", "call me Monday", ""),
        ("en", "my name is not important", ""), ("de", "ich heiße jonas", "Jonas"),
        ("de", "ich heisse jonas und wohne in bonn", "Jonas"), ("de", "hallo, ich bin die lena", "Lena"),
        ("de", "hallo, ich bin müde", ""), ("de", "ich bin übrigens jonas", "Jonas"), ("de", "nenn mich morgen", ""),
        ("es", "me llamo lucía", "Lucía"), ("es", "hola, soy lucía", "Lucía"), ("es", "hola, soy vegana", ""),
        ("es", "llámame mañana", ""), ("fr", "je m'appelle inès", "Inès"), ("fr", "salut, moi c'est inès", "Inès"),
        ("fr", "salut, je suis fatiguée", ""), ("fr", "appelle-moi demain", ""), ("it", "mi chiamo chiara", "Chiara"),
        ("it", "ciao, sono marco", "Marco"), ("it", "ciao, sono stanca", ""), ("it", "chiamami domani", ""),
        ("pt", "me chamo joão", "João"), ("pt", "oi, sou a rita", "Rita"), ("pt", "oi, sou vegana", ""),
        ("ru", "меня зовут аня", "Аня"), ("ru", "привет, я аня", "Аня"), ("ru", "привет, я устала", ""),
    ],
)  # fmt: skip
def test_a_name_is_what_somebody_gives_as_theirs(code, text, name):
    """Not what they are or how they feel."""
    assert name_in(text, LANGUAGES.get(code)) == name


def test_a_value_alone_is_put_right_in_german():
    """In the order that the language has."""
    found = put_right("Nein, eigentlich sind es 9000", ["Unser Budget sind 8000 Euro"], words_of("de"))

    assert found == (0, "Unser Budget sind 9000 Euro")


@pytest.mark.parametrize(
    ("text", "earlier", "reads"),
    [
        ("Sorry, I meant Bremen, not Hamburg", ["My dog is Rex", "I live in Hamburg"], "I live in Bremen"),
        ("actually it's 5", ["My dog Rex is 4 years old"], "My dog Rex is 5 years old"),
        ("I meant Max", ["My brother is called Tom"], "My brother is called Max"),
        ("not Tuesday, Thursday", ["The course is on Tuesday"], "The course is on Thursday"),
        ("actually it's 5", ["I have 2 dogs and 3 cats"], None),
        ("I did not see Hamburg", ["I live in Hamburg"], None),
        ("sorry, I meant it", ["I live in Hamburg"], None),
    ],
)  # fmt: skip
def test_a_value_is_put_right_only_where_it_is_clear_which(text, earlier, reads):
    """The statement reads with the new value; where two could be meant, none is touched."""
    found = put_right(text, earlier, words_of("en"))

    assert (found and found[1]) == reads
