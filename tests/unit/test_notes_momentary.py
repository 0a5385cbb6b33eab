"""What is only so this minute, and what is said about the talk itself, is no matter of anybody's."""

from __future__ import annotations

import pytest
from test_notes_endings import MONDAY_MS, notes_of

from memory.language.languages import Languages
from memory.notes.types import DAY_MS
from memory.notes.view import loops, merge, preview

MOMENTARY = [
    ("en", "I'm at Aldi right now with Leo"),
    ("en", "ok got 5 minutes before Tim wakes up"),
    ("en", "sorry, was on the phone with Ana"),
    ("en", "hang on kyles ringing"),
    ("de", "warte kurz, Jonas klingelt"),
    ("de", "bin gleich wieder da, Mama ruft an"),
    ("de", "bin grad im Bus nach Köln"),
    ("de", "sitze gerade im Meeting mit Sarah"),
    ("es", "espera, llama Marta"),
    ("es", "estoy en una reunión con Sara"),
    ("es", "estoy en el Mercadona con Leo"),
    ("fr", "je suis dans le bus pour Lyon"),
    ("fr", "je suis en réunion avec Sarah là"),
    ("pt", "tô numa reunião com a Sara agora"),
    ("pt", "peraí, o João tá ligando"),
    ("ru", "погоди, Коля звонит"),
    ("ru", "еду в автобусе в Тверь"),
    ("it", "aspetta, Marta mi sta chiamando"),
]
SMALL_TALK = [
    ("en", "how was your weekend?"),
    ("de", "wie war dein Wochenende?"),
    ("es", "¿qué tal tu fin de semana?"),
    ("fr", "c'était comment ton week-end ?"),
    ("pt", "como foi seu fim de semana?"),
    ("ru", "как прошли выходные?"),
    ("it", "com'è andato il weekend?"),
]
HOME = {
    "en": "I'm Ann and I live in York with my two kids and the dog",
    "de": "Ich bin Anna und wohne mit meinen zwei Kindern in York",
    "es": "Soy Ana y vivo en York con mis dos hijos y el perro",
    "fr": "Je suis Anne et j'habite à York avec mes deux enfants",
    "pt": "Eu sou a Ana e moro em York com meus dois filhos",
    "ru": "Меня зовут Аня, я живу в Твери с двумя детьми",
    "it": "Sono Anna e vivo a York con i miei due figli",
}


def shown(language, said, answer="Which one do you mean, Kyle Brown or Kyle Smith from Leeds?"):
    """Return the texts of what is noted of a message that follows a first one, and is shown somewhere."""
    notes = notes_of(language, (HOME[language], answer), (said, "Sure. What next?"))
    view = merge([notes], MONDAY_MS + DAY_MS, Languages.load())
    return {each.note.text for each in (*loops(view), *preview(view)) if "t_2" in each.note.turn_ids}


@pytest.mark.parametrize(("language", "said"), MOMENTARY)
def test_what_is_only_so_this_minute_is_not_listed(language, said):
    """Whoever comes back the next day is on no bus any more, and nobody rings."""
    assert shown(language, said) == set()


@pytest.mark.parametrize(("language", "said"), SMALL_TALK)
def test_small_talk_with_the_assistant_is_not_listed(language, said):
    """It was answered at once, and it answers no question of the assistant's either."""
    assert shown(language, said) == set()


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "at the vet right now, Rex has a fracture"),
        ("en", "on the train to York for the interview"),
        ("en", "brb, then I have to call Ann about the rent"),
        ("en", "in a meeting with Sarah on Friday about the budget"),
        ("de", "muss los, und morgen muss ich Anna anrufen"),
        ("es", "espera, el lunes tengo que llamar a Marta"),
        ("fr", "je reviens, et demain je dois appeler Anne"),
        ("pt", "já volto, amanhã tenho que ligar pra Ana"),
        ("ru", "щас вернусь, завтра надо позвонить Ане"),
        ("it", "torno subito, domani devo chiamare Anna"),
    ],
)
def test_what_is_told_beside_it_counts(language, said):
    """A task, a day or news of somebody make it a matter."""
    assert shown(language, said)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "lol ok"),
        ("de", "haha ja"),
        ("es", "jajaja vale"),
        ("fr", "mdr ok"),
        ("pt", "kkkk ta"),
        ("ru", "ахах ок"),
    ],
)
def test_a_laugh_is_no_line(language, said):
    """Nor does it answer a question that was asked."""
    assert shown(language, said) == set()
