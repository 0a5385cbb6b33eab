"""Languages as data, and the guess which one a text is in."""

import pytest

from memory.search.guess import LanguageGuess
from memory.search.languages import Languages
from memory.text import sentences

LANGUAGES = Languages.load()
CUES = set(LANGUAGES.get("en").cues)


def test_the_six_languages_are_there():
    """English and the five further ones have a data file each."""
    assert set(LANGUAGES.codes) >= {"en", "ru", "es", "pt", "de", "fr"}


@pytest.mark.parametrize("code", ["ru", "es", "pt", "de", "fr"])
def test_no_language_lacks_a_cue_that_english_has(code):
    """Every kind of cue is written down in every language, so that no rule is silently dead."""
    assert CUES - set(LANGUAGES.get(code).cues) == set()


@pytest.mark.parametrize("code", LANGUAGES.codes)
def test_every_language_knows_times_facts_ordinals_and_actions(code):
    """A data file covers more than cues: time words, facts, ordinals, actions, references."""
    language = LANGUAGES.get(code)

    assert language.known
    assert all([language.time, language.facts, language.ordinals, language.actions, language.references])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I would like to know when the train leaves.", "en"),
        ("Ich muss morgen noch Milch kaufen.", "de"),
        ("Tengo que llamar al banco mañana.", "es"),
        ("Preciso ligar para o banco amanhã.", "pt"),
        ("Lembra-me de comprar pão", "pt"),
        ("Lembre-me de pagar a renda", "pt"),
        ("Diz-me as horas", "pt"),
        ("Je dois appeler la banque demain.", "fr"),
        ("Мне надо завтра позвонить в банк.", "ru"),
        ("Domani devo chiamare la banca per il mutuo.", "it"),
        ("il padrone vuole le chiavi entro il 5 dicembre", "it"),
        ("hecho", "es"),
        ("готово", "ru"),
        ("ok", "en"),
        ("", "en"),
        ("👍", "en"),
    ],
)
def test_the_language_of_a_text(text, code):
    """Frequent words decide; a text that says nothing is in the default language."""
    assert LANGUAGES.detect(text).code == code


def test_the_default_language_wins_a_tie():
    """A word that many languages share does not change the language of the conversation."""
    assert LANGUAGES.detect("ok", default="de").code == "de"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("whats left", "en"), ("btw im dave", "en"),
        ("im hungry", "en"), ("im late", "en"), ("yo whats up", "en"), ("what's left?", "en"),
        ("me llamo lucía", "es"), ("mi chiamo chiara", "it"), ("me chamo rita", "pt"), ("je m'appelle inès", "fr"),
        ("ich heisse jonas", "de"), ("меня зовут аня", "ru"), ("im Garten", "de"), ("yo tengo hambre", "es"),
        ("was fehlt noch", "de"), ("que queda", "es"), ("cosa resta", "it"), ("o que falta", "pt"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("default", ["en", "de", "es", "fr", "it", "pt", "ru"])
def test_a_short_text_is_in_its_own_language_whatever_was_spoken_before(text, code, default):
    """Words that one language alone has tell it; "yo" and "im" are words of two."""
    assert LANGUAGES.detect(text, default=default).code == code


@pytest.mark.parametrize("code", ["en", "de", "es", "fr", "it", "pt", "ru"])
@pytest.mark.parametrize("text", ["pizza", "taxi", "ok", "no", "Tom", "42"])
def test_one_word_that_is_said_anywhere_changes_no_language(text, code):
    """It stays what was spoken."""
    assert LANGUAGES.detect(text, default=code).code == code


def test_an_unknown_language_knows_nothing_and_raises_nothing():
    """A language without a data file has no stop words and finds no cue."""
    language = LANGUAGES.get("xx")

    assert (language.known, language.has("request", "please"), language.stem("running")) == (False, False, "running")


def test_a_text_in_a_language_without_data_is_not_taken_for_english():
    """The library tells foreign texts apart, so that English rules do not misread them."""
    assert not LANGUAGES.detect("Hej, hur mår du? Jag undrar vad det blir för väder i Stockholm imorgon").known
    assert not LANGUAGES.detect("こんにちは、お元気ですか。明日は東京に行きます。").known


def test_a_region_is_left_out_of_the_code():
    """Telegram's `pt-br` is Portuguese."""
    assert LANGUAGES.get("pt-BR").code == "pt"


def test_nobody_waits_for_the_library_while_it_is_loaded():
    """While one thread loads the library the others do without it: the loop is never held for a second."""
    library = LanguageGuess()
    with library._loading:
        assert library.guess("een tekst die in een andere taal is geschreven") is None
    library.load()

    assert library.guess("een tekst die in een andere taal is geschreven") == "nl"


def test_only_the_beginning_of_a_text_has_a_vote():
    """A pasted book costs no more than a message."""
    assert (
        LANGUAGES.detect("Wo ist denn das Haus von dem du sprichst? " * 20 + "where is the house " * 9_000).code == "de"
    )


def test_a_short_text_in_the_letters_of_the_talk_is_in_its_language():
    """It was guessed to be Bulgarian, and answered in English."""
    assert LANGUAGES.detect("устала ужасно, на работе завал", default="ru").code == "ru"
    assert LANGUAGES.detect("Лене фотки скинул", default="ru").code == "ru"
    assert not LANGUAGES.detect("Привіт, як твої справи? Їдемо завтра?", default="ru").known


def test_accents_that_were_left_out_are_found_again():
    """A word known only with its accent gets it back, from somebody who writes accents only what is often misspelt."""
    spanish = LANGUAGES.get("es")

    assert spanish.accented("el miercoles no, despues te digo") == "el miércoles no, después te digo"
    assert spanish.accented("está ademas") == "está ademas"
    assert spanish.accented("está despues") == "está después"  # often misspelt, and nothing else
    assert spanish.accented("reserve la mesa") == "reserve la mesa"


def test_a_title_ends_no_sentence_and_a_word_that_ends_like_one_does():
    """The full stop of "Dr." or "z. B." parts nothing, that of "quiz." does."""
    said = [text for text, _ in pieces("Dr. Who failed the quiz. It was hard, z. B. for him.")]

    assert said == ["Dr. Who failed the quiz.", "It was hard, z. B.", "for him."]


@pytest.mark.parametrize(
    ("text", "code"),
    [("quando a Carla casa?", "pt"), ("haha ok", "de"), ("kkkk ta", "pt"), ("lol ok", "ru"), ("im kev", "en")],
)
def test_words_of_several_languages_are_in_that_of_the_talk(text, code):
    """An answer in Italian to a question in Portuguese surprises."""
    assert LANGUAGES.detect(text, default=code).code == code
