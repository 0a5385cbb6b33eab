"""A question is one without its mark, too; what only begins like one is not."""

from __future__ import annotations

import pytest
from test_offline import Talk

from memory.language.intents import read_sentences
from memory.language.languages import Languages
from memory.language.sentences import lowered

LANGUAGES = Languages.load()
ASKED = {
    "en": [
        "what am I allergic to", "wots my name", "whats my name", "what cats does joan have", "who owes me money",
        "what time is it", "what colour is my car", "who called yesterday", "where do i live", "how old is rex",
        "how much does it cost", "how many cats has joan got", "which train does she take", "whose turn is it",
        "who is my dentist", "whats joans phone number", "when is my appointment", "how long does the trip take",
        "what happened", "where did i put the keys", "do i have a dog", "is my dog old",
    ],
    "de": [
        "wie heißt mein hund", "wer schuldet mir geld", "wo wohne ich", "wie alt ist Rex",
        "wie viele katzen hat joan", "welche katzen hat joan", "wann kommt anna", "was kostet die wohnung",
        "wogegen bin ich allergisch", "wem gehört das auto", "warum ist der himmel blau", "worauf bin ich allergisch",
        "wann ist mein termin", "wer ist mein zahnarzt", "was isst rex gern", "mit wem treffe ich mich",
        "um wie viel uhr kommt anna",
    ],
    "es": [
        "qué gatos tiene joan", "quién me debe dinero", "quien me debe dinero", "dónde vivo", "donde vivo",
        "cómo se llama mi perro", "como se llama mi perro", "cuántos años tiene rex", "cuantos años tiene rex",
        "a qué soy alérgica", "a que soy alérgica", "cuál es mi dirección", "cuando es mi cita", "cuándo es mi cita",
        "a qué hora llega ana", "con quién voy al cine",
    ],
    "fr": [
        "où j'habite", "où est-ce que j'habite", "comment s'appelle mon chien", "comment je m'appelle",
        "qui me doit de l'argent", "quels chats a joan", "quel âge a rex", "à quoi je suis allergique",
        "quand est mon rendez-vous", "combien de chats a joan", "combien coûte l'appartement",
        "à quelle heure arrive anna", "pourquoi le ciel est bleu", "c'est quand mon rendez-vous",
        "mon chien s'appelle comment", "avec qui je dîne demain",
    ],
    "it": [
        "come si chiama il mio cane", "chi mi deve dei soldi", "dove abito", "quanti anni ha rex",
        "che gatti ha joan", "a cosa sono allergica", "quando è il mio appuntamento", "qual è il mio indirizzo",
        "a che ora arriva anna", "quanto costa l'appartamento", "che cosa mangia rex", "con chi ceno domani",
    ],
    "pt": [
        "como se chama o meu cachorro", "quem me deve dinheiro", "onde eu moro", "onde moro",
        "quantos anos tem o rex", "que gatos tem a joan", "a que sou alérgica", "quando é a minha consulta",
        "qual é o meu endereço", "a que horas chega a ana", "quanto custa o apartamento", "o que o rex come",
        "com quem vou jantar",
    ],
    "ru": [
        "как зовут мою собаку", "кто мне должен денег", "где я живу", "сколько лет рексу", "какие кошки у джоан",
        "на что у меня аллергия", "когда мой приём", "какой у меня адрес", "во сколько приедет аня",
        "сколько стоит квартира", "что ест рекс", "с кем я ужинаю завтра", "почему небо синее",
    ],
}  # fmt: skip
TOLD = {
    "en": [
        "what a day", "What a lovely morning that was", "when I get home I'll call", "who knows", "who cares",
        "where I live it rains a lot", "what I meant was Friday", "how nice of you", "how lovely",
        "what matters is the price", "what he said is true", "which is great", "do the dishes", "do my taxes",
        "had a great day", "had to call the bank", "was a nice evening", "why not", "what the doctor said worries me",
        "whatever works is fine", "whenever you want",
    ],
    "de": [
        "wie gesagt, der Termin ist am Freitag", "wie schön", "was für ein Tag", "wer weiß",
        "wenn ich heimkomme, rufe ich an", "was mich stört, ist der Lärm", "wo ich wohne, regnet es viel",
        "wie immer habe ich den Schirm vergessen", "wie geplant fahren wir morgen", "was das angeht, bin ich froh",
        "wann immer du willst", "wie ich schon sagte", "wer das macht, ist verrückt",
    ],
    "es": [
        "qué bonito", "qué día", "qué pena", "quién sabe", "cuando llegue a casa llamo",
        "como te dije, es el viernes", "donde vivo llueve mucho", "que te vaya bien", "que bueno",
        "como siempre olvidé el paraguas",
    ],
    "fr": [
        "quelle belle journée", "quand je rentre j'appelle", "qui sait", "quel bonheur",
        "comme je disais c'est vendredi", "où je travaille il fait très froid", "que du bonheur", "pourquoi pas",
        "rendez-vous demain à midi", "c'est noté",
    ],
    "it": [
        "che bello", "che giornata", "chi lo sa", "chissà", "quando arrivo a casa chiamo", "come ti dicevo è venerdì",
        "dove abito io piove molto", "perché sono stanca", "è arrivato il pacco", "che peccato",
    ],
    "pt": [
        "que bom", "que dia lindo", "quem sabe", "quando eu chegar em casa eu ligo", "como eu disse, é na sexta",
        "onde eu moro chove muito", "o que importa é o preço", "porque estou cansada", "quem me dera",
    ],
    "ru": [
        "какой день", "как хорошо", "кто знает", "когда я приду домой, позвоню", "как я говорил, это в пятницу",
        "где я живу, часто идёт дождь", "что касается работы, всё хорошо", "кто бы мог подумать", "что-то я устала",
    ],
}  # fmt: skip


def asks(text, code):
    """Return whether it is read as a question, by the state and by the notes: those read it mended."""
    language = LANGUAGES.get(code)
    return (
        any(sentence.asks for sentence in read_sentences(text, language)),
        language.has("question", language.mended(lowered(text))),
    )


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in ASKED.items() for text in texts])
def test_a_question_needs_no_mark(code: str, text: str):
    """A capital or a full stop changes nothing."""
    for written in (text, text.capitalize(), f"{text}."):
        assert asks(written, code) == (True, True), written


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in TOLD.items() for text in texts])
def test_what_only_begins_with_a_question_word_is_told(code: str, text: str):
    """An exclamation, a clause before the main one, a turn of phrase."""
    for written in (text, text.capitalize(), f"{text}."):
        assert asks(written, code) == (False, False), written


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in ASKED.items() for text in texts])
async def test_a_question_opens_nothing_and_is_no_note(code: str, text: str):
    """What is asked of the concierge is not taken as something told."""
    talk = Talk()
    await talk.say(text)
    await talk.say(text)

    assert talk.open_texts == []
    assert talk.answer is not None
    assert not talk.answer.buttons, code


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "the scan is on wednesday isn't it"),
        ("en", "the scan is on wednesday, right"),
        ("de", "die Untersuchung ist am Mittwoch, oder"),
        ("es", "la prueba es el miércoles, verdad"),
        ("fr", "l'examen est mercredi, n'est-ce pas"),
        ("pt", "o exame é na quarta, né"),
        ("ru", "обследование в среду, верно"),
    ],
)
def test_what_asks_to_be_told_that_it_is_so_is_a_question(language, text):
    """It was noted as if it were told, and kept the old day when the matter moved."""
    assert read_sentences(text, LANGUAGES.get(language))[-1].asks


@pytest.mark.parametrize(("language", "text"), [("en", "no it isn't"), ("en", "turn right"), ("de", "mal so, mal so")])
def test_what_only_ends_so_is_none(language, text):
    """The same words end statements."""
    assert not read_sentences(text, LANGUAGES.get(language))[-1].asks
