"""Where sentences end: dates, titles and shortened words of seven languages do not part one."""

import doctest

import pytest

import memory.text
from memory.context.transcript import clip
from memory.text import _STOP, sentence_ends, sentences, whole_sentences

SAID = [
    "Offen ist meine Frage, ob ich dich am 11.12. an den Anruf bei Dr. Brandis erinnern soll. | Gut so.",
    "Ihr schlaft am 5./6. Dezember dort, Bruno bleibt bei Petra. | Vom 5.-6.12. seid ihr weg.",
    "logo für dr. brandis muss raus. | elternabend is auch",
    "Am 12. Mai um 8.30 Uhr, z. B. bzw. ca. 20 €. | Bring d.h. etwas. | Ja!",
    "Mr. Li sees Mrs. Ott at 9 a.m. or so vs. ten. | Bye.",
    "El Sr. Pérez vive en la av. mayor, pág. 12, n. 5. mañana",
    "A Sra. Silva chega às 9 h. e o prof. Dias, tel. 5, vem. | Tudo bem.",
    "Le M. Dupont habite au 3. étage, av. Foch, env. 20 m² de plus. | Il vient.",
    "Il dott. Rossi e la sig. Bianchi abitano qui. | Viene.",
    "Встреча на ул. Мира, д. 5, в 10.30. | Приду, т.е. буду.",
    "私は行く。| 君も？| はい！",
    "It costs 1.200. | Then 3,50. | Done in 2027. | Wait... | what?",
]


@pytest.mark.parametrize("text", SAID)
def test_a_sentence_ends_where_it_ends(text):
    """A stop that belongs to its word parts nothing; one behind any other word does."""
    pieces = [piece.strip() for piece in text.split("|")]
    if "10.30" in text:  # a stop behind a time is not sure to end anything
        pieces = [" ".join(pieces)]

    assert whole_sentences(" ".join(pieces)) == pieces


def test_a_cut_and_a_summary_end_at_the_same_places():
    """No text is cut behind a date, and none begins behind a title."""
    text = "Ob ich dich am 11.12. an den Anruf bei Dr. Brandis erinnern soll, ist offen. Sonst nichts mehr zu sagen."

    assert clip(text, 85) == "Ob ich dich am 11.12. an den Anruf bei Dr. Brandis erinnern soll, ist offen. …"
    assert len(list(sentences(text))) == 2
    assert [text[end:].strip() for end in sentence_ends(text)] == ["Sonst nichts mehr zu sagen."]


@pytest.mark.parametrize("run", [".", "?!", "\u2026", ".\u2026"])
@pytest.mark.parametrize("times", [2, 200, 20_000])
def test_a_run_of_stops_is_read_once(run, times):
    """It's one find, however long it is: looked for again from each of its stops it would hold up everybody."""
    text = run * times

    assert [found.span() for found in _STOP.finditer(text)] == [(0, len(text))]
    assert list(sentence_ends(text)) == []
    assert list(sentence_ends(f"{text} Yes")) == [len(text)]


def test_the_examples_of_the_docstrings_are_true():
    assert doctest.testmod(memory.text).failed == 0
