"""What the bot says: every language has every sentence, and everybody hears their own."""

from __future__ import annotations

import ast
import asyncio
import re
import tomllib
from pathlib import Path
from string import Formatter

import pytest

from bot import replies
from bot.offline.times import moment_in
from bot.sentences import DEFAULT, LANGUAGES, forms, sentences
from memory.testing import START_MS

BOT = Path(replies.__file__).parent
OTHERS = [code for code in LANGUAGES if code != DEFAULT]


def placeholders(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name)


def asked_for() -> set[tuple[str, frozenset[str]]]:
    """Every literal key that the bot says, with the names of the values it gives."""
    found = set()
    for file in BOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "say":
                said_by = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
                is_whole = all(each.arg for each in node.keywords)  # what a `**` gives is seen when it is said
                if said_by == "replies" and isinstance(node.args[0], ast.Constant) and is_whole:
                    values = frozenset(each.arg for each in node.keywords if each.arg)
                    found.add((node.args[0].value, values))
    return found


def test_every_sentence_that_is_said_exists_and_gets_its_values():
    """A key in the code stands in the English file, and its placeholders are the values that the code gives."""
    english = sentences(DEFAULT)
    said = asked_for()

    assert len(said) > 150
    assert {key for key, _ in said} <= english.keys()
    assert not [(key, values) for key, values in said if not set(placeholders(english[key])) <= values]


@pytest.mark.parametrize("code", OTHERS)
def test_a_language_lacks_no_sentence_and_no_value(code):
    """Each file has the keys of the English one, each sentence its placeholders, none is left empty."""
    english, other = sentences(DEFAULT), sentences(code)
    missing = [key for key in english if other[key] is english[key]]

    assert not missing
    assert other.keys() == english.keys()
    assert not [key for key in english if placeholders(other[key]) != placeholders(english[key])]
    assert not [key for key in english if bool(other[key]) != bool(english[key])]


def said_in(code: str) -> str:
    """Everything that the bot says in a language."""
    return str(list(tomllib.loads((BOT / "languages" / f"{code}.toml").read_text(encoding="utf-8")).values()))


def test_french_punctuation_stays_with_its_word():
    """A colon, a question mark or a quotation mark never begins or ends a line alone: its space does not break."""
    found = re.findall(r".{12}\w [:;!?»]|« .{12}", said_in("fr"))
    assert not found, "the space before : and inside « » is U+00A0, before ? ! and ; U+202F"


@pytest.mark.parametrize(
    ("code", "formal"),
    [
        ("de", r"\b(?:Ihnen|Ihre?[mnrs]?|sagen Sie|können Sie)\b"),
        ("es", r"\b(?:usted|ustedes|dígame|quiere usted)\b"),
        ("fr", r"\b(?:vous|votre|vos)\b"),
        ("it", r"\b(?:Lei|Suo|Sua|Le dico)\b"),
        ("pt", r"(?i)\b(?:o senhor|a senhora|tu|te|ti|teus?|tuas?|contigo|vós|vocês?|seus?|suas?|lhe)\b"),
        ("ru", r"\b(?:[Вв]ы|[Вв]ас|[Вв]ам|[Вв]аш\w*)\b"),
    ],
)
def test_a_person_is_spoken_to_as_a_friend(code, formal):
    """Du, tú, tu, ты: one form of address in all that is said in a language; none in Portuguese, which has two."""
    assert re.findall(formal, said_in(code)) == []


def test_portuguese_is_at_home_in_lisbon_and_in_sao_paulo():
    """No word, no “estou fazendo” and no “estou a fazer”, and no order, that only one of them says so."""
    word = r"\b(?:arquivos?|ficheiros?|tela|ecrã|celular|telemóvel|salvar|ônibus|autocarro|jeito|a gente|fac?tos?)\b"
    goes_on = r"\best(?:ou|á|ão|amos) (?:\w+ndo|a \w+r)\b"
    order = r"\b(?:toque|escreva|mande|envie|abra|diga|peça|tente|copie|me pergunte|pergunta-me|diz-me)\b"
    assert re.findall(f"(?i){word}|{goes_on}|{order}", said_in("pt")) == []


@pytest.mark.parametrize("code", OTHERS)
def test_a_language_counts_everything_that_english_counts(code):
    """Every counted word has its forms, three where the language tells few from many; the one for one may have no {n}.

    Russian says that of 21, too.
    """
    english, other = forms(DEFAULT), forms(code)

    assert other.keys() == english.keys()
    assert {len(written) for written in other.values()} == {3 if code == "ru" else 2}
    assert all("{n}" in form for written in other.values() for form in written[code != "ru" :])
    assert not [word for word in other if other[word] is english[word]]


@pytest.mark.parametrize("code", LANGUAGES)
def test_commands_keep_their_names_in_every_language(code):
    """A sentence names the same commands as the English one: they are typed as they are."""
    command = re.compile(r"(?<!\w)/[a-z]+")
    english, other = sentences(DEFAULT), sentences(code)

    assert not [key for key in english if set(command.findall(other[key])) != set(command.findall(english[key]))]


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_menu_fits_telegram(code):
    """Every command has a description of at most 256 characters."""
    assert all(0 < len(what) <= 256 for what in replies.command_menu(code).values())


@pytest.mark.parametrize(
    ("code", "count", "said"),
    [
        ("en", 1, "1 message"),
        ("en", 12_000, "12,000 messages"),
        ("de", 12_000, "12.000 Nachrichten"),
        ("ru", 21, "21 сообщение"),
        ("ru", 3, "3 сообщения"),
        ("ru", 12, "12 сообщений"),
        ("fr", 0, "0 message"),
    ],
)
def test_numbers_take_the_form_of_the_language(code, count, said):
    """1 message, 21 сообщение, 12.000 Nachrichten."""
    with replies.speaking(code):
        assert replies.counted(count, "message") == said


async def test_people_who_are_answered_at_the_same_time_keep_their_languages():
    """The language holds for one task and those it begins, not for its neighbours."""
    spoken: dict[str, str] = {}
    both = asyncio.Barrier(2)

    async def answer(code: str) -> None:
        with replies.speaking(code):
            await both.wait()
            spoken[code] = await asyncio.create_task(asyncio.to_thread(replies.spoken))

    await asyncio.gather(answer("de"), answer("ru"))

    assert spoken == {"de": "de", "ru": "ru"}
    assert replies.spoken() == DEFAULT


def test_a_language_that_the_bot_does_not_speak_is_answered_in_english():
    """Neither an unknown code nor none at all is an error."""
    for code in ("nl", "und", "", None):
        with replies.speaking(code):
            assert replies.say("tap_done") == "Done"


@pytest.mark.parametrize("code", LANGUAGES)
def test_what_is_given_as_an_example_is_understood(code):
    """Every `/remind …` that people are shown has a time ahead and a matter in their language."""
    with replies.speaking(code):
        told = replies.say("remind_how", zone="UTC", when="now").splitlines()
    examples = [line.removeprefix("/remind ") for line in told if line.startswith("/remind ")]
    read = [(example, moment_in(example, START_MS, "UTC", code)) for example in examples]

    assert len(examples) == 3
    assert all(moment and moment.at_ms("UTC") > START_MS for _, moment in read), read
    assert all(moment and len(moment.rest_of(example).split()) in {2, 3, 4} for example, moment in read), read


@pytest.mark.parametrize(
    ("size_bytes", "language", "said"),
    [
        (12, "en", "1 KB"),
        (1_640, "de", "2 KB"),
        (400_000, "en", "0.4 MB"),
        (400_000, "de", "0,4 MB"),
        (16_200_000, "fr", "16 MB"),
    ],
)
def test_a_size_is_told_in_a_unit_that_fits(size_bytes, language, said):
    """A letter of two kilobytes is none of 0.1 MB, and the decimal mark is the language's."""
    with replies.speaking(language):
        assert replies.size(size_bytes) == said
