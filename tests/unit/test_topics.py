"""Topics: named by the conversation's own words, decaying, capped, shifting."""

import pytest

from memory.language.intents import read_sentences
from memory.language.languages import Languages
from memory.state.topics import MAX_TOPICS, is_shift, key_phrases, title, touch

LANGUAGES = Languages.load()
ENGLISH = LANGUAGES.get("en")


def read(text):
    return read_sentences(text, ENGLISH)


def talk(*messages):
    topics = ()
    for seq, text in enumerate(messages, 1):
        topics = touch(topics, read(text), (), seq, ENGLISH, shifted=False)
    return topics


def test_a_topic_is_named_by_neighbouring_content_words():
    """Words that stand together make one name; small words make none."""
    names = [name for name, _ in key_phrases(read("The budget report for Madrid is late."), ENGLISH)]

    assert "budget report" in names
    assert "madrid" in names
    assert not {"the", "for", "is"} & set(names)


def test_a_topic_that_comes_back_rises():
    """A topic that is touched again weighs more and keeps the turn it began in."""
    before, after = (
        talk("We have a garden and many roses."),
        talk("We have a garden and many roses.", "The roses are in the garden."),
    )
    garden = next(topic for topic in after if topic.name == "garden")

    assert garden.weight > next(topic for topic in before if topic.name == "garden").weight
    assert (garden.first_seq, garden.last_seq) == (1, 2)


def test_a_topic_that_is_left_alone_fades_away():
    """Untouched topics decay and are forgotten in the end."""
    topics = talk("We have a garden and many roses.", *["Tell me about penguins."] * 20)

    assert "garden" not in [topic.name for topic in topics]


def test_there_are_at_most_eight_topics():
    """However much is talked about, the list stays short."""
    topics = talk(
        *(f"The {word} project and the {word} market matter." for word in ["abc", "def", "ghi", "jkl", "mno", "pqr"])
    )

    assert len(topics) <= MAX_TOPICS


def test_a_new_question_starts_a_topic():
    """A question about something that was not spoken of is a shift."""
    topics = talk("My dog loves the beach.")

    assert is_shift(topics, read("That is sweet. Do you like vintage cars?"), ENGLISH, answering=False)


def test_a_question_about_the_same_matter_is_no_shift():
    """A question that takes up known words stays on the topic."""
    topics = talk("My dog loves the beach.")

    assert not is_shift(topics, read("How old is your dog?"), ENGLISH, answering=False)


def test_an_answer_with_new_words_is_no_shift():
    """What follows a question brings new words without changing the topic."""
    topics = talk("Where do you work?")

    assert not is_shift(topics, read("In a small bakery near the old harbour in Hamburg"), ENGLISH, answering=True)


def test_by_the_way_announces_a_shift():
    """A phrase of transition makes even a statement a shift."""
    topics = talk("My dog loves the beach.")

    assert is_shift(topics, read("By the way, the rent went up."), ENGLISH, answering=False)


def test_the_first_message_is_no_shift():
    """Without a topic there is nothing to leave."""
    assert not is_shift((), read("Do you like cars?"), ENGLISH, answering=False)


def test_the_title_is_made_of_the_heaviest_topics():
    """A title names three topics at most; none give an empty one."""
    assert title(()) == ""
    assert len(title(talk("Roses, tulips and daisies bloom near the old harbour in Hamburg.")).split(", ")) <= 3


def test_a_language_without_stop_words_gives_no_topics():
    """Junk topics are worse than none."""
    unknown = Languages.load().get("xx")

    assert key_phrases(read_sentences("lorem ipsum dolor", unknown), unknown) == ()


def test_a_question_handed_back_is_no_shift():
    """The words "and you?" stay with what was asked, whatever words come with it."""
    topics = talk("Do you like vintage cars?", "I work in a homeless shelter downtown.")

    assert not is_shift(topics, read("I teach chemistry. What about you?"), ENGLISH, answering=True)


def test_a_question_that_leans_back_is_no_shift():
    """A question with "it" goes on with what was said, though its words are new."""
    topics = talk("My day job is wrestling.")

    assert not is_shift(topics, read("Is it dangerous?"), ENGLISH, answering=False)


@pytest.mark.parametrize("code", LANGUAGES.codes)
def test_signs_of_a_shift_are_known_in_every_language(code):
    """Each language says how one speaks to the other, leans back and hands a question back."""
    assert {"shift", "to_you", "leaning", "returned"} <= set(LANGUAGES.get(code).cues)
