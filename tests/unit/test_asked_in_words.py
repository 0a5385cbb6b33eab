"""How people ask for what is open, and how they say hello: with and without a mark, whatever the apostrophe."""

from __future__ import annotations

import pytest
from test_offline import Talk

from bot.answers.offline.request import read_request
from bot.answers.offline.words import words_of
from memory.language.languages import Languages

LANGUAGES = Languages.load()
OPEN = {
    "en": [
        "whats left", "what's left", "whats left to do", "what is left", "anything i need to do",
        "anything i have to do today", "anything to do", "anything left to do", "anything still open",
        "is there anything i need to do", "what do I still have to do", "what do i have to do",
        "what do i need to do", "what else do i have to do", "what should i do today", "what must I still do",
        "whats open", "what still needs doing", "whats on my list", "what's on the list", "what's on my plate",
        "show me my list", "do i have anything to do", "do i still have something to do",
        "have i got anything left to do", "whats still to do", "what needs to be done", "what have i got to do",
        "anything pending", "what am i supposed to do", "what was i supposed to do", "what was I going to do",
        "any open tasks", "what remains to be done",
    ],
    "de": [
        "Was liegt noch an", "Was liegt an", "was steht an", "Hab ich noch was zu tun",
        "habe ich noch etwas zu erledigen", "Was ist noch offen", "was muss ich noch machen",
        "was muss ich heute noch erledigen", "was hab ich noch zu tun", "was habe ich zu erledigen",
        "muss ich noch was machen", "Muss ich noch etwas erledigen", "gibts noch was zu tun",
        "gibt es noch was zu erledigen", "gibt's noch offene Sachen", "ist noch was offen", "steht noch was an",
        "was fehlt noch", "was bleibt noch", "was bleibt zu tun", "was steht auf meiner liste",
        "was ist auf der Liste", "zeig mir meine Liste", "was wollte ich noch machen",
        "was sollte ich noch erledigen", "noch was offen", "noch was zu tun",
    ],
    "es": [
        "¿Qué me queda por hacer", "que me queda por hacer", "qué queda", "¿Qué tengo que hacer",
        "que tengo que hacer hoy", "¿Tengo algo que hacer", "tengo algo pendiente", "¿Me queda algo por hacer",
        "qué hay pendiente", "¿Hay algo pendiente", "¿Queda algo por hacer", "¿Qué debo hacer", "¿qué me falta",
        "qué falta por hacer", "¿Qué hay en mi lista", "muéstrame mi lista", "¿qué cosas tengo pendientes",
        "¿Qué más tengo que hacer", "¿qué tenía que hacer",
    ],
    "fr": [
        "Il reste quoi", "il reste quoi à faire", "il me reste quoi à faire", "Qu'est-ce que j'ai à faire",
        "qu'est ce que j'ai a faire", "quest-ce que je dois faire", "Qu'est-ce que je dois encore faire",
        "qu'est-ce qu'il me reste à faire", "qu'est-ce qu'il reste", "qu'est-ce qui reste à faire",
        "que me reste-t-il à faire", "que dois-je faire", "que dois-je encore faire aujourd'hui", "j'ai quoi à faire",
        "je dois faire quoi", "j'ai encore quelque chose à faire", "est-ce que j'ai encore quelque chose à faire",
        "y a-t-il encore quelque chose à faire", "il y a encore des choses à faire", "quoi d'autre à faire",
        "qu'est-ce qu'il y a sur ma liste", "montre-moi ma liste", "qu'est-ce qui est encore ouvert",
        "c'est quoi ma liste",
    ],
    "it": [
        "Cosa mi resta da fare", "cosa resta", "cosa devo fare", "Cosa devo ancora fare", "che cosa ho da fare",
        "ho ancora qualcosa da fare", "Ho qualcosa da fare", "c'è ancora qualcosa da fare", "c'è qualcosa in sospeso",
        "che cosa mi manca", "cosa manca", "cosa c'è da fare", "cosa c'è nella mia lista", "cosa c'è sulla lista",
        "mostrami la lista", "che devo fare", "cosa dovevo fare", "cosa è ancora aperto", "che cosa c'è in sospeso",
    ],
    "pt": [
        "O que falta", "o que falta fazer", "O que me falta fazer", "O que eu tenho que fazer",
        "o que tenho de fazer hoje", "o que ainda tenho para fazer", "Tenho algo para fazer",
        "Ainda tenho alguma coisa pra fazer", "tem algo pendente", "Tem alguma coisa pendente", "o que está pendente",
        "O que preciso fazer", "o que eu preciso fazer ainda", "O que resta", "o que sobrou",
        "o que há na minha lista", "o que tem na minha lista", "mostra a minha lista", "o que devo fazer",
        "falta alguma coisa",
    ],
    "ru": [
        "Что осталось", "что осталось сделать", "Что мне осталось сделать", "Что ещё нужно сделать",
        "что мне надо сделать", "Что я должен сделать", "что я должна ещё сделать", "Мне нужно что-то сделать",
        "Мне ещё что-нибудь надо сделать", "есть что-нибудь открытое", "есть ли ещё дела", "Какие у меня дела",
        "какие дела остались", "какие задачи остались", "что в списке", "Что у меня в списке", "покажи список",
        "покажи мой список", "что ещё делать", "что у меня не сделано", "что там по делам",
    ],
}  # fmt: skip
SOMETHING_ELSE = {
    "en": [
        "what's left of the cake?", "anything I need to know about Tom?", "what should I do about Tom?",
        "what's on at the cinema?", "do I have anything for Anna?", "what did I do yesterday?", "what can I do here?",
        "what is there to see in Lisbon?", "show me my notes",
    ],
    "de": [
        "was ist auf dem Dach los?", "was steht in dem Vertrag?", "was ist heute los?", "was gibt's",
        "was soll ich anziehen?", "was hab ich dir erzählt?",
    ],
    "es": [
        "¿qué hay?", "¿qué tengo que llevar a la fiesta?", "¿Cuánto queda de pastel?",
    ],
    "fr": [
        "il reste quoi du gâteau ?", "qu'est-ce qu'il y a ?", "qu'est-ce que je dois apporter à Marie ?",
    ],
    "it": [
        "cosa c'è da mangiare?", "che devo portare a Maria?",
    ],
    "pt": [
        "o que tem na geladeira?", "o que é isso?",
    ],
    "ru": [
        "что делать с Томом?", "что осталось от торта?", "что в холодильнике?",
    ],
}  # fmt: skip
HELLO = {
    "en": [
        "hiya", "Hiya!", "I'm back", "im back", "hey im Dave",
    ],
    "de": [
        "Huhu", "bin wieder da", "Da bin ich wieder",
    ],
    "es": [
        "ya estoy aquí", "He vuelto",
    ],
    "fr": [
        "Me revoilà", "me revoila!", "je suis de retour",
    ],
    "it": [
        "Eccomi", "rieccomi!",
    ],
    "pt": [
        "Voltei!", "estou de volta",
    ],
    "ru": [
        "Я вернулась", "приветик",
    ],
}  # fmt: skip


def read(text, code):
    request = read_request(text, LANGUAGES, fallback=code)
    return request.kind, request.language


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in OPEN.items() for text in texts])
def test_what_is_open_is_asked_in_many_words(code: str, text: str):
    """A mark, an apostrophe or a capital more or less changes nothing."""
    for written in (text, f"{text}?", f"{text} ?", text.replace("'", "\u2019"), text.lower(), text.capitalize()):
        assert read(written, code) == ("open", code), written


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in SOMETHING_ELSE.items() for text in texts])
def test_a_question_about_something_else_is_not_answered_with_the_list(code: str, text: str):
    """What is left of the cake is on no list."""
    assert read(text, code)[0] != "open"


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in HELLO.items() for text in texts])
def test_who_comes_back_is_greeted(code: str, text: str):
    """Also whoever writes "hiya" or "me revoilà"."""
    assert read(text, code) == ("greeting", code)


async def test_a_name_without_an_apostrophe_is_kept():
    """Whoever says "hey im Dave" is Dave from then on."""
    talk = Talk()

    assert (await talk.say("hey im Dave")).startswith("Nice to meet you, Dave!")
    assert await talk.say("wots my name") == "Your name is Dave."


@pytest.mark.parametrize(
    ("text", "code"),
    [("hey im Dave", "en"), ("Zahnarzt im Mai", "de"), ("olvida mi dirección", "es"), ("Me revoilà", "fr"),
     ("no", "en"), ("покажи список", "ru"), ("полку собрала", "ru")],
)  # fmt: skip
def test_a_few_words_are_told_by_what_only_one_language_says(text: str, code: str):
    """A word of two languages does not decide alone, neither does the library for so short a text."""
    assert LANGUAGES.detect(text).code == code


@pytest.mark.parametrize("code", OPEN)
def test_what_stands_on_the_button_may_be_typed(code: str):
    """[Undo] in words is the same."""
    assert read(words_of(code).say("undo"), code) == ("undo", code)
