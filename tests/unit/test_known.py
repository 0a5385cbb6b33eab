"""What the concierge answers from what it was told: names, days, places and numbers, in the person's language."""

from __future__ import annotations

import pytest
from test_offline import DAY_S, Talk

from bot.answers.offline.known import name_of
from bot.answers.offline.notes import stems
from bot.answers.offline.words import words_of


@pytest.fixture
def talk() -> Talk:
    """Return an empty conversation."""
    return Talk()


DAUGHTER = {
    "en": ("My daughter Ella has a piano exam on 3 December", "what's my daughter called?",
           "Your daughter's called Ella.", "and when is the exam?", "On Sun 3 Dec. You told me"),
    "de": ("Meine Tochter Ella hat am 3. Dezember Klavierprüfung", "Wie heißt meine Tochter?",
           "Deine Tochter heißt Ella.", "Wann ist die Klavierprüfung?", "Am So, 3. Dez. Das hast du"),
    "es": ("Mi hija Ella tiene un examen de piano el 3 de diciembre", "¿Cómo se llama mi hija?",
           "Tu hija se llama Ella.", "¿Cuándo es el examen?", "El dom 3 de dic. Me lo dijiste"),
    "fr": ("J'habite à Lyon et ma fille Ella a un examen de piano le 3 décembre", "Comment s'appelle ma fille ?",
           "Ta fille s'appelle Ella.", "C'est quand, l'examen ?", "Le dim. 3 déc. Tu me l'as dit"),
    "it": ("Mia figlia Giulia ha un esame di piano il 3 dicembre", "Come si chiama mia figlia?",
           "Tua figlia si chiama Giulia.", "Quando è l'esame?", "Dom 3 dic. Me l'hai detto"),
    "pt": ("A minha filha Ella tem uma prova de piano no dia 3 de dezembro", "Como se chama a minha filha?",
           "A sua filha se chama Ella.", "Quando é a prova?", "Dom, 3 de dez. Você disse"),
    "ru": ("Мою дочь зовут Элла, 3 декабря у неё экзамен", "Как зовут мою дочь?", "Твою дочь зовут Элла.",
           "Когда экзамен?", "В вс, 3 дек. Твои слова"),
}  # fmt: skip


@pytest.mark.parametrize("code", DAUGHTER)
async def test_a_name_and_a_day_are_answered_in_the_language_of_the_question(talk: Talk, code: str):
    """No list of quotes, no word of a language model: the name, and the day with what it rests on."""
    told, name_asked, name, day_asked, day = DAUGHTER[code]
    await talk.say(told)

    assert await talk.say(name_asked) == name
    assert (await talk.say(day_asked)).startswith(day)


MOVES = {
    "en": ("Helen moves on 14 December. I have to pack on 10 December", "when does Helen move?", "when do I pack?"),
    "de": ("Helen zieht am 14. Dezember um. Ich muss am 10. Dezember packen", "wann zieht Helen um?",
           "wann muss ich packen?"),
    "es": ("Helena se muda el 14 de diciembre. Tengo que empacar el 10 de diciembre", "¿cuándo se muda Helena?",
           "¿cuándo tengo que empacar?"),
    "fr": ("Hélène déménage le 14 décembre. Je dois emballer le 10 décembre", "quand déménage Hélène ?",
           "quand est-ce que je dois emballer ?"),
    "pt": ("A Helena se muda no dia 14 de dezembro. Tenho que empacotar no dia 10 de dezembro",
           "quando é a mudança da Helena?", "quando tenho que empacotar?"),
    "ru": ("Елена переезжает 14 декабря. Мне надо собрать вещи 10 декабря", "когда переезд Елены?",
           "когда мне собирать вещи?"),
}  # fmt: skip
EXAMS = {
    "en": ("Leo has his exam on 3 December and his birthday is on 5 December", "when is leo's exam?",
           "whens leos birthday"),
    "de": ("Leo hat am 3. Dezember Prüfung und am 5. Dezember hat er Geburtstag", "wann hat Leo Prüfung?",
           "wann ist Leos Geburtstag?"),
    "es": ("Leo tiene el examen el 3 de diciembre y su cumpleaños es el 5 de diciembre", "¿cuándo es el examen de Leo?",
           "¿cuándo es el cumpleaños de Leo?"),
    "fr": ("Léo a son examen le 3 décembre et son anniversaire est le 5 décembre", "c'est quand l'examen de Léo ?",
           "c'est quand l'anniversaire de Léo ?"),
    "pt": ("O Leo tem prova no dia 3 de dezembro e o aniversário dele é no dia 5 de dezembro",
           "quando é a prova do Leo?", "quando é o aniversário do Leo?"),
    "ru": ("У Лёвы экзамен 3 декабря, а день рождения 5 декабря", "когда экзамен у Лёвы?",
           "когда день рождения у Лёвы?"),
}  # fmt: skip


@pytest.mark.parametrize("code", MOVES)
async def test_the_day_is_that_of_the_sentence_whose_verb_is_asked_about(talk: Talk, code: str):
    """Another day stands right beside it."""
    told, move_asked, packing_asked = MOVES[code]
    await talk.say(told)

    move, packing = await talk.say(move_asked), await talk.say(packing_asked)

    assert told.split()[1] in move
    assert "10" not in move
    assert "10" in packing


@pytest.mark.parametrize("code", EXAMS)
async def test_of_two_days_in_one_sentence_the_one_that_is_asked_for_is_told(talk: Talk, code: str):
    """The exam on the third, the birthday on the fifth."""
    told, exam_asked, birthday_asked = EXAMS[code]
    await talk.say(told)

    exam, birthday = await talk.say(exam_asked), await talk.say(birthday_asked)

    assert "3" in exam
    assert "5" not in exam
    assert "5" in birthday
    assert "3" not in birthday


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("Leo has his exam on 3 December", "how old is leo?"),
        ("Leo's birthday is on 5 December and his party is on the 7th", "how old is leo?"),
        ("Leo hat am 3. Dezember Prüfung", "Wie alt ist Leo?"),
        ("Leo tiene el examen el 3 de diciembre", "¿cuántos años tiene Leo?"),
        ("Léo a son examen le 3 décembre", "Quel âge a Léo ?"),
        ("O Leo tem prova no dia 3 de dezembro", "quantos anos tem o Leo?"),
        ("У Лёвы экзамен 3 декабря", "сколько лет Лёве?"),
    ],
)
async def test_a_date_tells_nobodys_age(talk: Talk, told: str, asked: str):
    """What was said of them may be shown, but it is no answer."""
    said = await talk.say(told)

    assert await talk.say(asked) not in {f"{told}.", said}
    assert not talk.answer.text.startswith(told[:8])


@pytest.mark.parametrize(
    ("code", "told", "aged", "asked"),
    [
        ("en", "I have 2 grandkids, Max and Sophie", "Max is 9 and Sophie is twelve", "how old is max"),
        ("de", "Ich habe 2 Enkel, Max und Sophie", "Max ist 9 und Sophie ist zwölf", "wie alt ist Max?"),
        ("es", "Tengo 2 nietos, Max y Sofía", "Max tiene 9 años y Sofía doce", "¿cuántos años tiene Max?"),
        ("fr", "J'ai 2 petits-enfants, Max et Sophie", "Max a 9 ans et Sophie douze", "quel âge a Max ?"),
        ("it", "Ho 2 nipoti, Max e Sofia", "Max ha 9 anni e Sofia dodici", "quanti anni ha Max?"),
        ("pt", "Tenho 2 netos, o Max e a Sofia", "O Max tem 9 anos e a Sofia doze", "quantos anos tem o Max?"),
        ("ru", "У меня 2 внука, Макс и Соня", "Максу 9 лет, а Соне двенадцать", "сколько лет Максу?"),
    ],
)
async def test_an_age_is_a_number_of_years(talk: Talk, code: str, told: str, aged: str, asked: str):
    """How many grandchildren there are is not how old one of them is."""
    await talk.say(told)
    assert (await talk.say(asked)).startswith(words_of(code).say("beyond_found"))
    await talk.say(aged)

    assert "9" in await talk.say(asked)


@pytest.mark.parametrize(
    ("asked", "corrected"),
    [("when am I going to Brighton?", "no I meant the 6th"), ("when do I go to my sister", "no, the 6th")],
)
async def test_a_value_alone_corrects_what_was_asked_about(talk: Talk, asked: str, corrected: str):
    """The answer told the wrong day, and so much else was said since."""
    await talk.say("my sister lives in Brighton")
    await talk.say("I'm going there on the 5th of December for a week")
    for said in ("Sophie has her piano recital on 12 December", "Max is nine", "the cat is fed"):
        await talk.say(said)
    talk.clock.advance(s=DAY_S)
    talk.begin("s_2")
    await talk.say(asked)

    assert (await talk.say(corrected)).startswith("Okay, changed: you are going there")
    assert (await talk.say(asked)).startswith("On Wed 6 Dec.")


async def test_what_is_told_beside_a_day_is_not_on_that_day(talk: Talk):
    """The football is on Tuesdays, the twelfth is the recital's."""
    await talk.say("Max plays football on tuesdays and Sophie has her piano recital on 12 December")

    assert (await talk.say("what day is football?")).startswith("Max plays football on tuesdays")
    assert (await talk.say("when is Sophie's recital?")).startswith("On Tue 12 Dec.")


@pytest.mark.parametrize(
    ("code", "asked"),
    [
        ("en", "whats this?"), ("en", "what is this thing"), ("de", "was ist das hier?"), ("es", "¿qué es esto?"),
        ("fr", "c'est quoi ?"), ("it", "cos'è questo?"), ("pt", "o que é isso?"), ("ru", "что это такое?"),
    ],
)  # fmt: skip
async def test_who_asks_what_this_is_is_told_who_answers(talk: Talk, code: str, asked: str):
    """It is among the first things that people ask."""
    assert await talk.say(asked) == words_of(code).say("who")


async def test_who_has_no_such_day_is_told_what_was_said_of_them(talk: Talk):
    """When somebody packs is not when they move."""
    await talk.say("Helen needs boxes for packing on Saturday")

    assert (await talk.say("when does Helen move?")).startswith("Here's what we've said about it:")


async def test_what_somebody_has_takes_the_place_of_nothing_else_of_theirs(talk: Talk):
    """The wedding was lost with the flight, and that with the exam."""
    await talk.say("My sister's wedding is on 20 June")
    assert "replaces" not in await talk.say("My sister's flight lands on 18 June")
    assert "replaces" not in await talk.say("my sister has an exam on 2 June")


@pytest.mark.parametrize(
    ("told", "noted"),
    [
        ("La boda de mi hermana es el 20 de junio", "La boda"),
        ("O casamento da minha irmã é no dia 20 de junho", "O casamento"),
        ("The wedding of my sister is on 20 June", "the wedding"),
        ("Le mariage de ma sœur est le 20 juin", "Le mariage"),
    ],
)
async def test_what_is_of_somebody_is_no_fact_about_them(talk: Talk, told: str, noted: str):
    """It was noted that the sister is on a day in June."""
    assert noted in await talk.say(told)


async def test_a_corrected_day_is_the_answer(talk: Talk):
    """The newest word on it counts, days later and in another session too."""
    await talk.say("My daughter Ella has a piano exam on 3 December")
    await talk.say("sorry, the exam is on the 4th")
    talk.clock.advance(s=5 * DAY_S)
    talk.begin("s_2")

    assert (await talk.say("hi again\nwhen is the exam?")).startswith("On Mon 4 Dec. You told me on 14 Nov: ")


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        ("I live in Bremen. My sister lives in Lisbon", "where do I live?", "You live in Bremen."),
        ("Max is my brother", "who's Max?", "Max is your brother."),
        ("the wifi password is tulip42", "hey, what's the wifi password?", "The wifi password is tulip42."),
        ("Our budget is 12,000 euros", "what was our budget again?", "Our budget is 12,000 euros."),
        ("My dog is called Rex", "what's the name of my dog?", "Your dog's called Rex."),
        ("Моя жена Оля прилетает в пятницу", "как зовут мою жену?", "Твою жену зовут Оля."),
        ("Rex is my dog and he's 4 years old", "what's my dog's name?", "Your dog's called Rex."),
    ],
)
async def test_what_was_told_is_the_answer(talk: Talk, told: str, asked: str, answer: str):
    """One short sentence, turned to the person who asks."""
    await talk.say(told)

    assert await talk.say(asked) == answer


FACTS = {
    "en": ("my dog is called Rex and he is four years old", "how old is Rex", "joan has two cats, Miso and Tofu",
           "what cats does joan have", "tom owes me 50 euros", "who owes me money", "the rent is 900 euros"),
    "de": ("Mein Hund heißt Rex und er ist vier Jahre alt", "wie alt ist Rex", "Joan hat zwei Katzen, Miso und Tofu",
           "wie viele katzen hat joan", "Tom schuldet mir 50 Euro", "wer schuldet mir geld", "die Miete ist 900 Euro"),
    "es": ("Mi perro se llama Rex y tiene cuatro años", "cuántos años tiene Rex", "Joan tiene dos gatos, Miso y Tofu",
           "qué gatos tiene joan", "Tom me debe 50 euros", "quién me debe dinero", "el alquiler son 900 euros"),
    "fr": ("Mon chien s'appelle Rex et il a quatre ans", "quel âge a Rex", "Joan a deux chats, Miso et Tofu",
           "quels chats a joan", "Tom me doit 50 euros", "qui me doit de l'argent", "le loyer est de 900 euros"),
    "it": ("Il mio cane si chiama Rex e ha quattro anni", "quanti anni ha Rex", "Joan ha due gatti, Miso e Tofu",
           "che gatti ha joan", "Tom mi deve 50 euro", "chi mi deve dei soldi", "l'affitto è di 900 euro"),
    "pt": ("Meu cão se chama Rex e tem quatro anos", "quantos anos tem o Rex", "A Joan tem dois gatos, Miso e Tofu",
           "que gatos tem a joan", "O Tom me deve 50 euros", "quem me deve dinheiro", "o aluguel é 900 euros"),
    "ru": ("Мою собаку зовут Рекс, ей четыре года", "сколько лет Рексу", "У Джоан две кошки, Мисо и Тофу",
           "какие кошки у джоан", "Том должен мне 50 евро", "кто мне должен денег", "аренда стоит 900 евро"),
}  # fmt: skip


@pytest.mark.parametrize("code", FACTS)
async def test_a_number_in_words_and_a_sum_are_answers(talk: Talk, code: str):
    """An age is told in words, a debt as a sum, cats by their names; each is the one answer, without a list."""
    aged, age_asked, cats, cats_asked, debt, debt_asked, rent = FACTS[code]
    rex, miso = ("Рекс", "Мисо") if code == "ru" else ("Rex", "Miso")
    for told in (aged, cats, debt, rent):
        await talk.say(told)

    for asked, named in ((age_asked, rex), (cats_asked, miso), (debt_asked, "50")):
        answer = await talk.say(asked)
        assert named in answer, asked
        assert "\n" not in answer, asked
        assert "900" not in answer, asked


async def test_the_number_may_stand_in_the_sentence_behind(talk: Talk):
    """The words "he is four years old" speaks of the dog before it; those of two cats don't."""
    await talk.say("My dog is called Rex. He is four years old.")
    assert await talk.say("how old is Rex?") == "Today at 22:14 you said: “My dog is called Rex. He is four years old”"

    other = Talk()
    await other.say("My dog is called Rex. We bought two cats.")
    assert "two cats" not in await other.say("how old is Rex?")


async def test_a_sum_that_nobody_owes_is_no_debt(talk: Talk):
    """The rent is money, too."""
    await talk.say("le loyer est de 900 euros")

    assert not (await talk.say("qui me doit de l'argent")).startswith("Aujourd'hui")


async def test_what_was_meant_for_another_day_is_told_with_its_day(talk: Talk):
    """Yesterday's "tomorrow" is today: it isn't said back as if it were said now."""
    await talk.say("Priya will look at the connection pool tomorrow morning")
    talk.clock.advance(s=DAY_S)

    told = await talk.say("did Priya look at the pool?")
    assert told == "Yesterday you said: “Priya will look at the connection pool tomorrow morning”"


async def test_a_day_that_nobody_said_is_not_made_up(talk: Talk):
    """An hour alone is said back as it was; it may be of any day."""
    await talk.say("My flight leaves at 9 in the morning")

    assert await talk.say("when does my flight leave?") == "Your flight leaves at 9 in the morning."


async def test_what_was_not_told_is_not_answered(talk: Talk):
    """Half of what is asked about is no answer, and neither is somebody else's daughter."""
    await talk.say("My daughter Ella has a piano exam on 3 December")

    assert "no language model is connected" in await talk.say("what's my son called?")
    assert "Here's what we've said about it" in await talk.say("does Ella hate the piano?")
    assert "“My daughter Ella" in await talk.say("what's my daughter called?", user_id=1)


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        ("My sister Carol lives in Leeds with her dog Biscuit", "what's my sister's dog called?",
         "Your sister's dog's called Biscuit."),
        ("Meine Schwester Carol wohnt in Leeds mit ihrem Hund Biscuit", "wie heißt der Hund meiner Schwester?",
         "Der Hund deiner Schwester heißt Biscuit."),
        ("Mi hermana Carol vive en Leeds con su perro Biscuit", "¿cómo se llama el perro de mi hermana?",
         "El perro de tu hermana se llama Biscuit."),
        ("Ma sœur Carol vit à Leeds avec son chien Biscuit", "comment s'appelle le chien de ma sœur ?",
         "Le chien de ta sœur s'appelle Biscuit."),
        ("A minha irmã Carol mora em Leeds com o cachorro Biscuit", "como se chama o cachorro da minha irmã?",
         "O cachorro da sua irmã se chama Biscuit."),
        ("Моя сестра Кэрол живёт в Лидсе, её собаку зовут Бисквит", "как зовут собаку моей сестры?",
         "Собаку твоей сестры зовут Бисквит."),
        ("Mia sorella Carol vive a Leeds con il suo cane Biscuit", "come si chiama il cane di mia sorella?",
         "Il cane di tua sorella si chiama Biscuit."),
    ],
)  # fmt: skip
async def test_the_name_of_what_is_somebodys_is_not_that_of_its_owner(talk: Talk, told: str, asked: str, answer: str):
    """The dog had been called what the sister is."""
    await talk.say(told)

    assert await talk.say(asked) == answer


async def test_the_name_of_an_owner_is_no_name_of_whom_nobody_told(talk: Talk):
    """A brother's name is known, and not his wife's; another's cat is not his."""
    await talk.say("My brother Tim came round")
    await talk.say("My cat Mog is ill")

    for asked in ("what's my brother's wife called?", "what's my brother's cat called?"):
        assert "called Tim" not in (told := await talk.say(asked))
        assert "called Mog" not in told
    assert await talk.say("what's my brother called?") == "Your brother's called Tim."


@pytest.mark.parametrize(
    ("text", "whose", "code", "name"),
    [
        ("my daughter Ella sings", "my daughter", "en", "Ella"),
        ("My daughter's name is Ella Marie", "my daughter", "en", "Ella Marie"),
        ("Ella is our daughter", "my daughter", "en", "Ella"),
        ("my daughter sings with Ella", "my daughter", "en", ""),
        ("I called my daughter. Max came later", "my daughter", "en", ""),
        ("Der Name meiner Tochter ist Ella", "meine Tochter", "de", "Ella"),
        ("Meine Tochter hat Klavierprüfung", "meine Tochter", "de", ""),
    ],
)
def test_a_name_stands_beside_who_bears_it(text: str, whose: str, code: str, name: str):
    """Only small words of saying so may stand in between."""
    assert name_of(text, stems(whose, code), words_of(code)) == name


@pytest.mark.parametrize(
    ("before", "told", "asked"),
    [
        ("The wedding is on 20 June", "The exam is on 3 December", "when is it now?"),
        ("Die Hochzeit ist am 20. Juni", "Die Prüfung ist am 3. Dezember", "wann ist das jetzt?"),
        ("La boda es el 20 de junio", "El examen es el 3 de diciembre", "¿cuándo es?"),
        ("Le mariage est le 20 juin", "L'examen est le 3 décembre", "c'est quand ?"),
        ("O casamento é dia 20 de junho", "A prova é dia 3 de dezembro", "quando é?"),
        ("Свадьба 20 июня", "Экзамен 3 декабря", "когда это?"),
    ],
)
async def test_when_it_is_asks_for_what_was_just_told(talk: Talk, before: str, told: str, asked: str):
    """Another day was told before."""
    await talk.say(before)
    await talk.say(told)

    answer = await talk.say(asked)

    assert told in answer
    assert "3" in answer.split(told)[0]
