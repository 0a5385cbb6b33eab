"""Languages as data, and the guess which one a text is in."""

import pytest

from memory.search.guess import LanguageGuess
from memory.search.languages import Languages

LANGUAGES = Languages.load()
CODES = ("de", "en", "es", "fr", "it", "pt", "ru")


def test_the_seven_languages_are_there():
    """Each with a name, a stemmer and stop words: none has only half of its data."""
    assert sorted(LANGUAGES.codes) == list(CODES)
    assert all(each.name and each.stemmer and len(each.stop_words) > 50 and each.vote_words for each in LANGUAGES)


@pytest.mark.parametrize(
    ("code", "text", "content"),
    [
        ("en", "where is the house of my sister's friend", ("house", "sister's", "friend")),
        ("de", "wo ist das haus von meiner schwester", ("haus", "schwester")),
        ("fr", "où est l'hôtel de ma soeur", ("hôtel", "soeur")),
        ("en", "i'll paint a 5", ("paint",)),
        ("xx", "where is it", ("where", "is", "it")),
    ],
)
def test_the_words_that_carry_meaning(code, text, content):
    """Neither stop words nor single letters, nor what stands before an apostrophe in French; all of an unknown one."""
    assert LANGUAGES.get(code).content(text) == content


@pytest.mark.parametrize(
    ("code", "one", "other"),
    [
        ("en", "the invoices were paid", "paying an invoice"),
        ("de", "die Häuser", "ein Haus"),
        ("es", "las reservas canceladas", "cancelar la reserva"),
        ("fr", "les réservations", "une reservation"),
        ("ru", "о книгах", "книга"),
        ("en", "my sister's house", "a sister and houses"),
    ],
)
def test_forms_of_a_word_share_their_stem(code, one, other):
    """Also without the accents that people leave out, and without a possessive ending."""
    language = LANGUAGES.get(code)

    assert language.stems(one.lower()) & language.stems(other.lower())
    assert len(language.stems(one.lower()) - language.stems(other.lower())) <= 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I would like to know when the train leaves.", "en"),
        ("Ich muss morgen noch Milch kaufen.", "de"),
        ("Tengo que llamar al banco mañana.", "es"),
        ("Preciso ligar para o banco amanhã.", "pt"),
        ("Lembra-me de comprar pão", "pt"),
        ("Je dois appeler la banque demain.", "fr"),
        ("Мне надо завтра позвонить в банк.", "ru"),
        ("Domani devo chiamare la banca per il mutuo.", "it"),
        ("il padrone vuole le chiavi entro il 5 dicembre", "it"),
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
        ("whats left", "en"), ("what's left?", "en"), ("yo whats up", "en"), ("je m'appelle inès", "fr"),
        ("ich heisse jonas", "de"), ("меня зовут аня", "ru"), ("yo tengo hambre", "es"), ("was fehlt noch", "de"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("default", ["en", "de", "es", "fr", "it", "pt", "ru"])
def test_a_short_text_is_in_its_own_language_whatever_was_spoken_before(text, code, default):
    """Words that one language alone has tell it; "yo" is a word of two."""
    assert LANGUAGES.detect(text, default=default).code == code


@pytest.mark.parametrize("code", ["en", "de", "es", "fr", "it", "pt", "ru"])
@pytest.mark.parametrize("text", ["pizza", "taxi", "ok", "no", "Tom", "42"])
def test_one_word_that_is_said_anywhere_changes_no_language(text, code):
    """It stays what was spoken."""
    assert LANGUAGES.detect(text, default=code).code == code


def test_an_unknown_language_knows_nothing_and_raises_nothing():
    """A language without data has no stop words, and every word counts as it is written."""
    language = LANGUAGES.get("xx")

    assert (language.stop_words, language.stem("running")) == (frozenset(), "running")
    assert language is LANGUAGES.get("XX-yy")


def test_a_text_in_a_language_without_data_is_not_taken_for_english():
    """The library tells foreign texts apart, so that English stems do not garble them."""
    assert LANGUAGES.detect("Hej, hur mår du? Jag undrar vad det blir för väder i Stockholm imorgon").code == "sv"
    assert LANGUAGES.detect("こんにちは、お元気ですか。明日は東京に行きます。").code == "ja"


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
    assert LANGUAGES.detect("Привіт, як твої справи? Їдемо завтра?", default="ru").code == "uk"


@pytest.mark.parametrize(
    ("text", "code"),
    [("quando a Carla casa?", "pt"), ("haha ok", "de"), ("im kev", "en"), ("im hungry", "de"), ("o que queda", "es")],
)
def test_words_of_several_languages_are_in_that_of_the_talk(text, code):
    """An answer in Italian to a question in Portuguese surprises."""
    assert LANGUAGES.detect(text, default=code).code == code
